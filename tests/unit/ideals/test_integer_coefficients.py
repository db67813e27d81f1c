"""Ideals over ZZ without Macaulay2: how they are read, written and refused."""

import pickle
from collections.abc import Callable
from typing import Any

import flint
import pytest
from sympy import ZZ as SYMPY_ZZ, Eq, Poly, Rational, sqrt, symbols

from m2bridge import (
    CoefficientField,
    PolynomialMap,
    dimension,
    ed_degree,
    ideal,
    polar_degrees,
    read_ideal,
    read_sage_text,
)
from m2bridge.algebra.field import QQ, ZZ, IntegerCoefficients, check_is_field
from m2bridge.algebra.ring import GeneratingSet, PolynomialRing
from m2bridge.convert.decode import decode
from m2bridge.convert.encode import encode
from m2bridge.convert.fields import parse_coefficients, parse_field
from m2bridge.convert.m2_syntax import ring as ring_code
from m2bridge.errors import ConversionError, InvalidCaseError, M2BridgeError, MethodUnavailableError
from m2bridge.ideals.construct import read_ideal_file
from m2bridge.ideals.program import (
    QUESTIONS_OVER_INTEGERS,
    WORDS_OF_QUESTIONS_OVER_FIELDS,
    normalized_generators,
    question,
    tidy,
)
from m2bridge.system import folder

x, y, t = symbols("x y t")
PLANE = PolynomialRing(ZZ, ("x", "y"))
GIVEN = ideal("6x^2 - 4x", "2y", field="ZZ")


def test_the_integers_are_no_field() -> None:
    assert not ZZ.is_field
    assert QQ.is_field
    assert CoefficientField(7).is_field
    assert ZZ != QQ
    assert len({ZZ, QQ}) == 2
    assert IntegerCoefficients() == ZZ
    assert ZZ.domain == SYMPY_ZZ
    assert parse_coefficients(" ZZ ") == ZZ
    with pytest.raises(InvalidCaseError, match="ZZ is not a field"):
        parse_field("ZZ")
    with pytest.raises(InvalidCaseError, match="ZZ, which is not a field"):
        check_is_field(ZZ)
    with pytest.raises(InvalidCaseError, match="characteristic 0"):
        IntegerCoefficients(5)


@pytest.mark.parametrize(
    "given",
    [
        ideal("6x^2 - 4x", "2y", field=ZZ),
        ideal(6 * x**2 - 4 * x, 2 * y, field="ZZ"),
        ideal(Poly(6 * x**2 - 4 * x, x, y), Poly(2 * y, x, y), field="ZZ"),
        ideal(Eq(6 * x**2, 4 * x), "2y = 0", field="ZZ", variables="x y"),
        ideal(*GIVEN.to_sympy(), field="ZZ"),
        ideal(*GIVEN.to_flint(), field="ZZ"),
        ideal(*GIVEN.generators, field="ZZ"),
        ideal(str(GIVEN)),
        ideal("Ideal (6*x^2 - 4*x, 2*y) of Multivariate Polynomial Ring in x, y over Integer Ring"),
        read_ideal(GIVEN.to_json()),
        read_sage_text(GIVEN.to_sage_text()),
        pickle.loads(pickle.dumps(GIVEN)),
        read_ideal_file(
            '[ideal]\nfield = "ZZ"\nvariables = ["x", "y"]\ngenerators = ["6x^2 - 4x", "2y"]'
        )[0],
        read_ideal_file("6x^2 = 4x\n2y\n", field=ZZ)[0],
    ],
)
def test_integers_stay_as_they_are(given: GeneratingSet) -> None:
    """Neither content nor leading coefficients are divided out."""
    assert given.ring == PLANE
    x, y = PLANE.sympy_ring.gens
    assert given.generators == (6 * x**2 - 4 * x, 2 * y)
    assert all(type(c) is SYMPY_ZZ.dtype for c in given.generators[0].values())


def test_the_integers_are_taken_only_when_they_are_asked_for() -> None:
    """SymPy has the domain ZZ for all polynomials with integer coefficients."""
    for given in (
        ideal(Poly(2 * x, x, domain=SYMPY_ZZ)),
        ideal("Poly(2*x, x, domain='ZZ')"),
        ideal(*GIVEN.to_sympy()),
        ideal(*GIVEN.generators),
        ideal("2x"),
    ):
        assert given.ring.field == QQ
    assert ideal("2x", field="QQ") == ideal("x", field="QQ")
    assert ideal(str(GIVEN), field="QQ").ring.field == QQ
    modular = ideal(*GIVEN.generators, field="GF(2)")
    assert not modular.generators  # 2 is zero there


@pytest.mark.parametrize(
    "given", ["x/2", x / 2, Poly(x / 2, x), "0.5*x", Rational(1, 2), ideal("x/2").generators[0]]
)
def test_fractions_are_refused(given: Any) -> None:
    """A denominator is not cleared: x/2 is not in ZZ[x], and x generates another ideal."""
    with pytest.raises(ConversionError, match="1/2 is not in ZZ: write integers"):
        ideal(given, variables="x", field="ZZ")


def test_a_long_fraction_is_refused_in_one_line() -> None:
    """Python writes no integer of more than 4300 digits by itself."""
    with pytest.raises(ConversionError, match="is not in ZZ") as refused:
        ideal(f"1{'0' * 5000}/7*x", field="ZZ")
    assert len(str(refused.value)) < 200


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ideal(Poly(x, x, modulus=5), field="ZZ"), r"over GF\(5\) is not one over ZZ"),
        (lambda: ideal(sqrt(2) * x, field="ZZ"), "not a polynomial"),
        (lambda: ideal("x", field="ZZ[i]"), "not a field of coefficients"),
        (lambda: GIVEN + ideal("x", "y"), "different rings"),
        (lambda: ideal(str(GIVEN), Poly(x / 2, x, y)), "different fields"),
        (lambda: GIVEN.contains("x/3"), "1/3 is not in ZZ"),
        (lambda: read_ideal(GIVEN.to_json() | {"generators": ["1/2*x"]}), "1/2 is not in ZZ"),
        (lambda: PLANE.polynomial(x / 2), "not a polynomial over ZZ"),
    ],
)
def test_what_is_not_over_the_integers_is_refused(make: Callable[[], Any], message: str) -> None:
    with pytest.raises((ConversionError, InvalidCaseError), match=message):
        make()


def test_other_programs_get_integers() -> None:
    assert [polynomial.domain for polynomial in GIVEN.to_sympy()] == [SYMPY_ZZ, SYMPY_ZZ]
    assert GIVEN.to_sympy()[0].as_expr() == 6 * x**2 - 4 * x
    assert all(isinstance(polynomial, flint.fmpz_mpoly) for polynomial in GIVEN.to_flint())
    assert str(GIVEN.to_flint()[0]) == "6*x^2 - 4*x"
    assert 'PolynomialRing(ZZ, 2, names=["x", "y"]' in GIVEN.to_sage_text()
    assert GIVEN.to_macaulay2().startswith("R = ZZ[x, y]\nI = ideal {6*x^2-4*x,")
    constant = ideal("6", variables="x", field="ZZ")
    assert constant.to_macaulay2() == "R = ZZ[x]\nI = ideal {(6)_R}"
    assert GIVEN.to_json()["field"] == "ZZ"
    assert str(GIVEN) == "ideal(6*x**2 - 4*x, 2*y) of ZZ[x, y]"
    assert r"\mathbb{Z}[x, y]" in str(GIVEN._repr_latex_())
    assert ring_code(PLANE) == "ZZ[x, y]"
    assert encode(ZZ) == encode(PolynomialRing(ZZ, ()).field)
    assert "mbIntegerRing" in encode(ZZ)


def test_units_are_one_and_minus_one() -> None:
    ring = PolynomialRing(ZZ, ("x",))
    (x,) = ring.sympy_ring.gens
    given = GeneratingSet(ring, (-6 * x + 4, 3 * x))
    assert normalized_generators(given) == (6 * x - 4, 3 * x)
    assert tidy(given).generators == (3 * x, 6 * x - 4)  # the shorter one first
    rational = ideal("-6x + 4", "3x")
    assert normalized_generators(rational)[0] == rational.generators[0].monic()


def test_answers_over_the_integers() -> None:
    data = ["PolynomialRing", ["ZZ"], [["x"], ["y"]]]
    found = decode(["Ideal", data, [[[[1, 0], "2"]], [[[0, 2], "-3"], [[0, 0], "12"]]]])
    assert found.ring == PLANE
    x, y = PLANE.sympy_ring.gens
    assert found.generators == (2 * x, 12 - 3 * y**2)


def test_each_question_is_over_the_integers_or_not() -> None:
    """All programs about ideals are in one of the two lists."""
    programs = {path.name.partition(".")[0] for path in folder("templates").glob("ideal_*.m2.j2")}
    assert programs == QUESTIONS_OVER_INTEGERS | WORDS_OF_QUESTIONS_OVER_FIELDS.keys()
    assert not QUESTIONS_OVER_INTEGERS & WORDS_OF_QUESTIONS_OVER_FIELDS.keys()
    for name, words in WORDS_OF_QUESTIONS_OVER_FIELDS.items():
        with pytest.raises(MethodUnavailableError, match=f"{words} are not available over ZZ"):
            question(name, {"givenIdeal": GIVEN})
    for name in ("one_minimal_prime", "polar_conormal"):  # of other packages
        with pytest.raises(MethodUnavailableError, match="not available over ZZ"):
            question(name, {"givenIdeal": GIVEN})


@pytest.mark.parametrize(
    "compute",
    [
        lambda: polar_degrees(GIVEN),
        lambda: ed_degree(GIVEN),
        lambda: dimension(PolynomialMap.from_expressions([x], {"z": x**2}), field=ZZ),
        lambda: GIVEN.image(PolynomialMap.from_expressions([x, y], {"z": x})),
        lambda: GIVEN.preimage(PolynomialMap.from_expressions([t], {"x": t, "y": t})),
        GIVEN.to_mrdi,
    ],
)
def test_computations_over_fields_refuse_the_integers(compute: Callable[[], Any]) -> None:
    with pytest.raises(M2BridgeError, match="ZZ") as refused:
        compute()
    assert refused.value.exit_code == 2
