"""Answers of Macaulay2 about ideals are checked: wrong ones, put into its programs, are refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from sympy import symbols

from m2bridge import Engine, Ideal, PolynomialMap, ideal
from m2bridge.engine.script import Script, render
from m2bridge.errors import WrongAnswerError
from m2bridge.ideals import program

pytestmark = pytest.mark.macaulay2("each")

FIELDS = ("QQ", "GF(7)", "GF(9)", "QQ(t)")
I = ("x^2*y", "x*y^3")
"""With the minimal primes (x) and (y), and (x, y) embedded."""

WRONG_QUOTIENTS = [
    ("quotient(givenIdeal, otherIdeal)", "ideal 1_givenRing", "products with the divisor"),
    ("quotient(givenIdeal, otherIdeal)", "ideal(givenRing_0^5)", "the quotient contains"),
    ("quotient(givenIdeal, otherIdeal)", "givenIdeal", "no other element has products"),
]
WRONG_SATURATIONS = [
    ("saturate(givenIdeal, otherIdeal)", "ideal 1_givenRing", "products with powers"),
    ("saturate(givenIdeal, otherIdeal)", "ideal(givenRing_0^5)", "the saturation contains"),
    ("saturate(givenIdeal, otherIdeal)", "givenIdeal", "its own quotient"),
]
WRONG_RADICALS = [
    ("radical givenIdeal", "ideal 1_givenRing", "powers of its generators"),
    ("radical givenIdeal", "ideal(givenRing_0^5)", "the radical contains"),
]
X = "ideal givenRing_0"
Y = "ideal givenRing_1"
WRONG_PRIMES = [
    # one is missing
    (f"{{{X}}}", "what lies in all primes"),
    (f"{{{X}, {Y}, ideal(givenRing_0 - 1)}}", "each prime contains"),
    (f"{{{X}, {Y}, {X} + {Y}}}", "no prime contains another"),
]


def wrong_answer(
    monkeypatch: pytest.MonkeyPatch, right: str, wrong: str, method: Callable[..., Any], *args: Any
) -> str:
    """The message about a computation in whose program a right expression is replaced."""

    def changed(name: str, *values: Any) -> Script:
        script = render(name, *values)
        if right not in script.body:  # another question that the computation asks
            return script
        return replace(script, body=script.body.replace(right, wrong))

    monkeypatch.setattr(program, "render", changed)
    with pytest.raises(WrongAnswerError, match="please report it, with the input") as raised:
        method(*args)
    return str(raised.value)


def of_field(field: str, *generators: str) -> Ideal:
    return ideal(*generators, variables="x y", field=field)


@pytest.mark.parametrize("field", FIELDS)
def test_right_answers_pass(field: str, engine: Engine) -> None:
    given = of_field(field, *I)
    x, y = of_field(field, "x"), of_field(field, "y")
    assert given.quotient("y", engine=engine) == of_field(field, "x^2", "x*y^2")
    assert given.saturate("x", engine=engine) == y
    assert given.intersect(of_field(field, "x^3"), engine=engine).equals(
        of_field(field, "x^3*y"), engine=engine
    )
    assert given.radical(engine=engine) == of_field(field, "x*y")
    assert set(given.minimal_primes(engine=engine)) == {x, y}
    assert len(given.associated_primes(engine=engine)) == 3
    assert len(given.primary_decomposition(engine=engine)) == 3
    assert not given.is_radical(engine=engine)


@pytest.mark.parametrize(("right", "wrong", "words"), WRONG_QUOTIENTS)
def test_wrong_quotients(
    right: str, wrong: str, words: str, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    for field in ("QQ", "GF(9)"):
        quotient = partial(of_field(field, *I).quotient, engine=engine)
        assert words in wrong_answer(monkeypatch, right, wrong, quotient, "y")


@pytest.mark.parametrize(("right", "wrong", "words"), WRONG_SATURATIONS)
def test_wrong_saturations(
    right: str, wrong: str, words: str, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    # over GF(9) it is asked about an ideal that is not homogeneous, with the minimal polynomial
    fields = ("QQ", "GF(7)") if words == "its own quotient" else ("QQ", "GF(9)")
    for field in fields:
        saturate = partial(of_field(field, *I).saturate, engine=engine)
        assert words in wrong_answer(monkeypatch, right, wrong, saturate, "x")


@pytest.mark.parametrize(("right", "wrong", "words"), WRONG_RADICALS)
@pytest.mark.parametrize("method", ["radical", "is_radical"])
def test_wrong_radicals(
    method: str, right: str, wrong: str, words: str, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = partial(getattr(of_field("QQ", *I), method), engine=engine)
    assert words in wrong_answer(monkeypatch, right, wrong, ask)


@pytest.mark.parametrize(("wrong", "words"), WRONG_PRIMES)
def test_wrong_primes(
    wrong: str, words: str, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    for field in ("QQ", "GF(7)", "QQ(t)"):
        minimal = partial(of_field(field, *I).minimal_primes, engine=engine)
        assert words in wrong_answer(monkeypatch, "minimalPrimes givenIdeal", wrong, minimal)
    if "another" not in words:  # associated primes may contain others
        associated = partial(of_field("QQ", *I).associated_primes, engine=engine)
        assert words in wrong_answer(monkeypatch, "associatedPrimes givenIdeal", wrong, associated)


@pytest.mark.parametrize(
    ("method", "arguments", "right", "wrong", "words"),
    [
        # the embedded component is missing
        (
            "primary_decomposition",
            (),
            "primaryDecomposition givenIdeal",
            f"{{{X}, {Y}}}",
            "the components intersect",
        ),
        (
            "primary_decomposition",
            (),
            "primaryDecomposition givenIdeal",
            "{ideal(givenRing_0^3)}",
            "each component contains",
        ),
        ("intersect", ("x - 1",), "intersect ideals", "first ideals", "lies in each ideal"),
        ("intersect", ("x - 1",), "intersect ideals", "ideal 0_givenRing", "products of elements"),
        ("intersect", ("x^3",), "intersect ideals", "ideals#0 * ideals#1", "no other element lies"),
        ("eliminate", ("y",), "eliminate({y}, givenIdeal)", X, "lies in the ideal"),
        ("eliminate", ("y",), "eliminate({y}, givenIdeal)", "givenIdeal", "none of the variables"),
        ("groebner_basis", (), "gens gb givenIdeal", "matrix {{x^2*y}}", "remainder zero"),
        (
            "betti_table",
            (),
            'mbEmit("betti_numbers"',
            'modules = take(modules, 2); mbEmit("betti_numbers"',
            "Hilbert series",
        ),
        (
            "resolution",
            (),
            "modules = apply(",
            "freeModules = resolve ideal(x^2*y); modules = apply(",
            "the first matrix",
        ),
    ],
)
def test_other_wrong_answers(
    method: str,
    arguments: tuple[str, ...],
    right: str,
    wrong: str,
    words: str,
    engine: Engine,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given = of_field("QQ", *I)
    others = map(given._as_ideal, arguments) if method == "intersect" else arguments
    ask = partial(getattr(given, method), engine=engine)
    assert words in wrong_answer(monkeypatch, right, wrong, ask, *others)


def test_a_wrong_image(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    t = symbols("t")
    cusp = PolynomialMap.from_expressions([t], {"x": t**2, "y": t**3})
    line = Ideal.without_zeros(ideal("t").ring, [])
    assert line.image(cusp, engine=engine) == ideal("x^3 - y^2")
    image = partial(line.image, engine=engine)
    words = "become zero on the source"
    right = "kernel map(sourceRing, targetRing, sub(images, sourceRing))"
    assert words in wrong_answer(monkeypatch, right, "ideal(targetRing_0)", image, cusp)


def test_a_wrong_component_of_a_singular_locus(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    umbrella = ideal("x^2 - y^2*z")
    right = "primes = singularPrimes("
    wrong = "primes = {ideal(givenRing_0 - 1)}; unused = singularPrimes("
    locus = partial(umbrella.singular_locus, engine=engine)
    words = "each component of the locus lies in"
    assert words in wrong_answer(monkeypatch, right, wrong, locus)


def test_a_saturation_whose_power_is_large(engine: Engine) -> None:
    """The remainders of twenty products are not zero, and the last step decides."""
    assert ideal("x^30*y").saturate("x", engine=engine) == ideal("y", variables="x y")
