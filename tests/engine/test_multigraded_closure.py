"""Closures by multigraded implicitization: against elimination, and the proof of completeness."""

import json
import re
from math import prod

import pytest
from sympy import Expr, symbols

from m2bridge import CoefficientField, PolynomialMap, SingleLayerAttention, closure, read_ideal
from m2bridge.algebra.hilbert_series import HilbertSeries
from m2bridge.convert import m2_syntax
from m2bridge.convert.answers import parse
from m2bridge.convert.m2_syntax import all_to_macaulay2
from m2bridge.engine import Engine
from m2bridge.engine.script import Script
from m2bridge.errors import InvalidCaseError, MethodUnavailableError
from m2bridge.families.attention.sizes import degree_formula, dimension_formula
from m2bridge.ideals.ideal import Ideal
from m2bridge.maps import closure as closure_module, completeness
from m2bridge.maps.closure import Closure
from tests.tiers import few, slow

pytestmark = pytest.mark.macaulay2("any")

s, t = symbols("s t")
PRIMES_TRIED = (32003, 31991, 31981, 31973, 31963)
CUBIC = PolynomialMap.from_expressions([s, t], {f"x_{i}": s ** (3 - i) * t**i for i in range(4)})


CASES = [
    (2, 1),
    (2, 1, 1),
    (2, 2),
    (2, 2, 1),
    (2, 3),
    (2, 3, 1),
    (3, 1, 1),
    (1, 2),
    (2, 1, 2, 1),
    (2, 1, 2, 3),
    (2, 2, 2, 1),
    (2, 3, 2, 1),
]


@pytest.mark.parametrize("case", few(CASES, 4))
def test_the_proved_ideal_is_that_of_elimination(engine: Engine, case: tuple[int, ...]) -> None:
    model = SingleLayerAttention(*case)
    coordinates = "full" if len(case) == 4 else "reduced"
    by_weights = closure(model, engine=engine, coordinates=coordinates)
    eliminated = closure(model, engine=engine, coordinates=coordinates, strategy="elimination")
    assert (by_weights.strategy, str(by_weights.completeness), by_weights.unfinished) == (
        "multigraded",
        "proved",
        "",
    )
    for name in (
        "dimension",
        "degree",
        "hilbert_series",
        "generator_degrees",
        "homogeneous",
        "codimension",
    ):
        assert getattr(by_weights, name) == getattr(eliminated, name)
    assert by_weights.degree == model.fibre_degree()
    if model.t == 2:
        assert by_weights.dimension == dimension_formula(model)


@pytest.mark.slow
@pytest.mark.parametrize(("a", "degree", "counts"), [(1, 15, {4: 35}), (2, 21, {8: 35})])
def test_the_degree_for_one_token_is_that_of_the_ideal(
    engine: Engine, a: int, degree: int, counts: dict[int, int]
) -> None:
    """Products of three linear forms, each of which can be v; and of a quadratic and a linear one,
    whose ideal has generators of degree 8 only. Every quadratic form has a matrix of rank 2 or less,
    so that a = 3 is the same. So no closure with d = 3 and a ≥ 2 is generated in low degrees.
    """
    model = SingleLayerAttention(3, 1, a, t=1)
    found = closure(model, engine=engine)
    assert (str(found.completeness), found.degree, model.fibre_degree()) == (
        "proved",
        degree,
        degree,
    )
    assert (found.dimension, found.generator_degrees) == (6 + a, counts)


@pytest.mark.parametrize(
    ("case", "counts"),
    [
        ((3, 1, 2), {3: 30, 4: 90}),
        ((3, 1, 3), {3: 20, 4: 90}),
        ((2, 4, 2), {2: 30, 3: 16, 4: 135}),
        slow((4, 1, 1), {2: 270, 3: 200}),
        slow((3, 2, 1), {2: 198, 3: 40, 4: 225}),
        slow((2, 6, 2), {2: 75, 3: 80, 4: 651}),
        ((3, 1, 3, 2, "full"), {1: 38, 3: 20, 4: 90}),
    ],
)
def test_the_core_proves_more(
    engine: Engine, case: tuple[int, ...], counts: dict[int, int]
) -> None:
    """Numbers of generators from elimination; the degree from the projection formula."""
    model = SingleLayerAttention(*case[:4])
    found = closure(model, engine=engine, coordinates=case[4] if len(case) > 4 else None)
    assert (str(found.completeness), found.generator_degrees) == ("proved", counts)
    assert (found.dimension, found.degree) == (dimension_formula(model), degree_formula(model))


@pytest.mark.slow
def test_the_series_of_sections_is_that_of_a_groebner_basis(engine: Engine) -> None:
    """The Hilbert series that linear algebra proves, against Macaulay2's of the generators modulo a
    prime.
    """
    for case in [(2, 3, 2), (3, 1, 2), (4, 1, 1)]:
        found = closure(SingleLayerAttention(*case), engine=engine)
        assert found.ideal is not None
        assert found.hilbert_series is not None
        assert found.hilbert_series == series_modulo_a_prime(found.ideal, engine)


def series_modulo_a_prime(ideal: Ideal, engine: Engine) -> HilbertSeries:
    names = all_to_macaulay2(ideal.ring.variables)
    generators = m2_syntax.sequence(m2_syntax.polynomial(g, names) for g in ideal.generators)
    body = f"mbEmitInvariants ideal matrix(ZZ/32003[{', '.join(names)}], {{{generators}}})\n"
    answer = parse(engine.run(Script("series", body, ("wire", "invariants"))).records)
    return HilbertSeries.from_numerator(answer.integer_pairs("hilbert_numerator"), len(names))


@pytest.mark.macaulay2("each")
def test_the_proof_asks_for_the_degree_that_it_needs(engine: Engine) -> None:
    """A hypersurface of degree 6 is beyond the first degrees tried."""
    sextic = PolynomialMap.from_expressions([s, t], {"x": s**6, "y": s * t**5, "z": t**6})
    found = closure(sextic, engine=engine)
    assert (str(found.completeness), found.generator_degrees, found.degree) == ("proved", {6: 1}, 6)


def test_auto_falls_back_to_elimination(engine: Engine) -> None:
    circle = PolynomialMap.from_expressions([s, t], {"x": s, "y": t}, [s**2 + t**2 - 1])
    parabola = PolynomialMap.from_expressions([s], {"x": s + 1, "y": s**2})
    for case in (circle, parabola):
        assert closure(case, engine=engine).strategy == "elimination"
        with pytest.raises(MethodUnavailableError):
            closure(case, strategy="multigraded")
    assert closure(CUBIC, engine=engine, field=CoefficientField(7)).strategy == "elimination"


def test_bad_combinations_name_the_option() -> None:
    for option, arguments in [
        ("max_degree", {"max_degree": 0}),
        ("max_degree", {"max_degree": 2, "strategy": "elimination"}),
        ("field", {"strategy": "multigraded", "field": CoefficientField(7)}),
    ]:
        with pytest.raises(InvalidCaseError) as refused:
            closure(CUBIC, **arguments)  # type: ignore[arg-type]
        assert refused.value.option == option


def test_generators_up_to_a_degree_need_no_engine() -> None:
    found = closure(SingleLayerAttention(3, 2), strategy="multigraded")
    assert (str(found.completeness), found.generator_degrees) == (
        "up to degree 4",
        {2: 45, 3: 80, 4: 675},
    )
    assert (found.dimension, found.dimension_status, found.degree, found.hilbert_series) == (
        14,
        "proved",
        None,
        None,
    )
    assert found.to_json()["hilbert_function"] == [1, 36, 621, 6792, 51975]
    assert found.to_json()["engine"] == {"version": None}
    assert "and 788 more" in found.to_text()
    assert str(closure(SingleLayerAttention(3, 2), max_degree=2).completeness) == "up to degree 2"


def test_the_dimension_is_proved_by_equations_where_the_fibres_are_large() -> None:
    a, b = symbols("a_1:3"), symbols("b_1:4")
    segre = PolynomialMap.from_expressions(
        [*a, *b], {f"x_{i}_{j}": a[i] * b[j] for i in range(2) for j in range(3)}
    )
    found = closure(segre, max_degree=2)
    assert (found.dimension, found.dimension_status, found.generator_degrees) == (
        4,
        "proved",
        {2: 3},
    )


def test_weighted_degrees_are_said() -> None:
    umbrella = PolynomialMap.from_expressions([s, t], {"x": s * t, "y": s, "z": t**2})
    found = closure(umbrella, max_degree=4)
    assert not found.homogeneous
    assert "degrees 2, 1, 2" in found.completeness.reason
    assert [str(g) for g in found.ideal.generators] == list(found.generator_texts())


@pytest.mark.slow
def test_large_results_are_written_and_read() -> None:
    """1810 generators."""
    found = closure(SingleLayerAttention(4, 2), max_degree=3)
    record = json.dumps(found.to_json())
    found.to_text()
    ideal = read_ideal(json.loads(record))
    assert len(ideal.generators) == 1810
    assert ideal == found.ideal


def with_common_factor(primes: int) -> dict[str, Expr]:
    """Three cubics; modulo the first primes they have a common factor, s + t, and the curve is a
    conic.
    """
    return {
        "x": s**3 + (1 + prod(PRIMES_TRIED[:primes])) * t**3,
        "y": s**2 * t - t**3,
        "z": s * t**2 + t**3,
    }


@pytest.fixture
def only_elimination(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only elimination proves that generators are all."""
    monkeypatch.setattr(completeness, "hypersurface_equation", lambda source, rank: None)
    monkeypatch.setattr(completeness, "_by_minimal_prime", lambda equations, rank: equations)


@pytest.mark.usefixtures("only_elimination")
@pytest.mark.parametrize(
    ("prime", "images"),
    [
        (32003, {"x": s, "y": 32003 * t}),  # in other linear coordinates no prime is unlucky
        (32003, {"x": s**2 / 32003, "y": s * t, "z": t**2}),
        (32003, {"x": s**2 + t**2, "y": s**2 + 32004 * t**2, "z": s * t}),
        (31991, {"x": s**3 + 32003 * t**3, "y": s**2 * t, "z": s * t**2}),  # divides a coefficient
        (31991, with_common_factor(1)),
        (31963, with_common_factor(4)),
    ],
)
def test_after_an_unlucky_prime_another_one_is_tried(
    engine: Engine, prime: int, images: dict[str, Expr]
) -> None:
    """What elimination over QQ gives, proved modulo a prime that divides neither coefficients nor
    determinants.
    """
    curve = PolynomialMap.from_expressions([s, t], images)
    found, expected = (
        closure(curve, engine=engine),
        closure(curve, engine=engine, strategy="elimination"),
    )
    assert (str(found.completeness), found.unfinished, found.strategy) == (
        "proved",
        "",
        "multigraded",
    )
    assert f"modulo {prime} " in found.completeness.reason
    assert numbers(found) == numbers(expected)


def numbers(found: Closure) -> tuple[object, ...]:
    return found.dimension, found.degree, found.hilbert_series, found.generator_degrees


@pytest.mark.usefixtures("only_elimination")
def test_unlucky_primes_prove_nothing(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Modulo five primes the cone is that over a conic; over QQ over a cubic."""
    # elimination over QQ, which would decide, has no early turn
    monkeypatch.setattr(closure_module, "MAX_QUICK_COORDINATES", 0)
    found = closure(PolynomialMap.from_expressions([s, t], with_common_factor(5)), engine=engine)
    assert str(found.completeness).startswith("up to degree")
    assert f"the primes {', '.join(map(str, PRIMES_TRIED))} are unlucky" in found.unfinished
    assert (found.degree, found.generator_degrees, found.dimension) == (None, {3: 1}, 2)


def test_the_first_degree_counts_independent_coordinates() -> None:
    """48 coordinates, of which 6 are independent, satisfy a quartic."""
    found = closure(SingleLayerAttention(2, 1, 2, 3), coordinates="full", strategy="multigraded")
    assert found.generator_degrees == {1: 42, 4: 1}


def test_completeness_says_what_elimination_gave(engine: Engine) -> None:
    linear = closure(
        PolynomialMap.from_expressions([s, t], {"x": s, "y": t, "z": s - t}), engine=engine
    )
    assert linear.generator_degrees == {1: 1}
    assert linear.completeness.reason.endswith("gives, in addition to linear ones, no generators")
    assert "gives generators of degree ≤ 2 and" in closure(CUBIC, engine=engine).completeness.reason
    eliminated = closure(CUBIC, engine=engine, strategy="elimination")
    assert eliminated.completeness.reason == "all generators: elimination by Macaulay2"
    assert re.search(r"complete +all generators: elimination by Macaulay2", eliminated.to_text())
    assert eliminated.to_macaulay2().startswith(
        "-- all generators: elimination by Macaulay2\nR = QQ["
    )


def test_what_is_written_says_what_it_is() -> None:
    found = closure(SingleLayerAttention(2, 2), max_degree=2)
    assert r"$\langle I_{\le 2} \rangle = \langle f_1, \ldots, f_{5} \rangle$" in found.to_latex()
    assert r"\deg" not in found.to_latex()
    assert found.to_macaulay2().startswith("-- all minimal generators of degree ≤ 2")
