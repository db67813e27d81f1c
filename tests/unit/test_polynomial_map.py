"""Maps from SymPy expressions: exact, never evaluated from text, and reduced modulo p only where that makes sense."""

from fractions import Fraction
from pathlib import Path

import pytest
from sympy import Float, Rational, Symbol, symbols

from m2bridge import CoefficientField, PolynomialMap, SingleLayerAttention, closure, dimension, singular_locus
from m2bridge.algebra.field import QQ
from m2bridge.algebra.linear_span import reduce_linearly
from m2bridge.algebra.ring import PolynomialRing
from m2bridge.errors import ConversionError, InvalidCaseError, MethodUnavailableError
from m2bridge.maps.elimination import elimination_values
from m2bridge.maps.map_model import as_model

s, t = symbols("s t")
LINE = PolynomialMap.from_expressions([s], {"x": s})


def test_text_is_never_run(tmp_path: Path) -> None:
    trap = f"__import__('pathlib').Path({str(tmp_path / 'made')!r}).touch()"
    for build in (
        lambda: PolynomialMap.from_expressions([s], {"x": trap}),
        lambda: PolynomialMap.from_expressions([s], {"x": s}, [trap]),
        lambda: PolynomialMap.from_expressions([trap], {"x": 1}),
        lambda: PolynomialMap.from_expressions([s], {trap: s}),
        lambda: PolynomialRing(QQ, ("s",)).polynomial(trap),
    ):
        with pytest.raises(ConversionError):
            build()
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ConversionError, match="read_polynomial"):
        PolynomialMap.from_expressions([s], {"x": "s^2"})


@pytest.mark.parametrize("value", [3.14, 3.14 * s, s ** Float(2), Float(1), True, None, [s], 1j, {"s": 1}])
def test_what_is_no_exact_polynomial_is_refused(value: object) -> None:
    with pytest.raises(ConversionError):
        PolynomialMap.from_expressions([s], {"x": value})  # type: ignore[dict-item]


def test_exact_numbers_are_accepted() -> None:
    found = PolynomialMap.from_expressions(["s", t], {"x": 3, "y": Fraction(1, 3), "z": Rational(2, 5) * s})
    assert list(map(str, found.images)) == ["3", "1/3", "2/5*s"]
    with pytest.raises(ConversionError, match="is not a name"):
        PolynomialMap.from_expressions(["s t"], {"x": 1})
    assert PolynomialMap.from_expressions([Symbol("s'")], {"x": 1}).source.variables == ("s'",)


def test_relations_that_say_nothing_are_left_out() -> None:
    assert PolynomialMap.from_expressions([s], {"x": s}, [0, s - s]).relations == ()


def test_who_knows_that_relations_are_prime() -> None:
    low_rank = SingleLayerAttention(3, 1, 1)
    known = low_rank.parametrization()
    assert known.prime
    assert not known.maybe_reducible
    assert known.restricted_to([0, 1]).prime
    for prime in (False, True):
        circle = PolynomialMap.from_expressions([s, t], {"x": s, "y": t}, [s**2 + t**2 - 1], prime=prime)
        assert circle.restricted_to([1]).maybe_reducible is not prime
    assert not LINE.maybe_reducible


def test_denominators_that_the_characteristic_divides() -> None:
    halved = PolynomialMap.from_expressions([s, t], {"x": s, "y": t / 14}, [s / 3 - t])
    for p, said in [(7, "the coordinate y"), (2, "the coordinate y"), (3, "a relation")]:
        with pytest.raises(InvalidCaseError, match=said) as refused:
            dimension(halved, field=CoefficientField(p))
        assert refused.value.option == "field"
    halved.check_field(CoefficientField(5))
    halved.check_field(QQ)


def test_linear_relations_modulo_a_prime() -> None:
    """2s and 3s: over QQ each is a multiple of the other, over GF(2) the first is zero, over GF(3) the second."""
    multiples = PolynomialMap.from_expressions([s, t], {"x": 2 * s, "y": 3 * s, "z": t**2})
    expected = {
        0: ((0, 2), {1: 1, 0: Fraction(-3, 2)}),
        2: ((1, 2), {0: 1}),
        3: ((0, 2), {1: 1}),
        5: ((0, 2), {0: 1, 1: 1}),
    }
    for p, (basis, form) in expected.items():
        field = CoefficientField(p)
        reduction = reduce_linearly(multiples, field=field)
        assert reduction.basis == basis
        (found,) = reduction.linear_forms(multiples, field=field)
        ring = multiples.target(field=field).sympy_ring
        assert found == sum(ring.gens[i] * ring.domain.from_sympy(Rational(c)) for i, c in form.items())


def test_radicals_need_primes_that_macaulay2_factors_over() -> None:
    crossing = PolynomialMap.from_expressions([s, t], {"x": s}, [s * t])
    with pytest.raises(MethodUnavailableError, match="radical"):
        elimination_values(crossing, CoefficientField(2147483647))
    assert elimination_values(crossing, CoefficientField(32003))["radical"] is True
    assert elimination_values(LINE, CoefficientField(2147483647))["radical"] is False


@pytest.mark.parametrize("timeout", [0, -1, 0.0, float("nan"), float("inf"), "5", True])
def test_a_limit_is_a_number_of_seconds(timeout: object) -> None:
    with pytest.raises(InvalidCaseError, match="timeout"):
        closure(LINE, max_degree=1, timeout=timeout)  # type: ignore[arg-type]


@pytest.mark.parametrize("case", [3, "d=2", None, (2, 1)])
def test_what_is_no_case_is_refused(case: object) -> None:
    for compute in (closure, dimension, singular_locus, as_model):
        with pytest.raises(InvalidCaseError, match="must be a model or a PolynomialMap"):
            compute(case)  # type: ignore[operator]


@pytest.mark.parametrize("degree", ["4", 4.0, True])
def test_a_degree_is_an_integer(degree: object) -> None:
    with pytest.raises(InvalidCaseError, match="must be an integer"):
        closure(LINE, max_degree=degree)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [2.0, True, "2", None])
@pytest.mark.parametrize("option", ["d", "d_out", "a", "t"])
def test_the_numbers_of_a_model_are_integers(option: str, wrong: object) -> None:
    if (option, wrong) == ("a", None):
        return
    with pytest.raises(InvalidCaseError, match="must be an integer") as refused:
        SingleLayerAttention(**({"d": 2, "d_out": 1} | {option: wrong}))  # type: ignore[arg-type]
    assert refused.value.option == option


def test_a_map_without_parameters_is_a_point() -> None:
    point = PolynomialMap.from_expressions([], {"x": 3, "y": Rational(1, 2)})
    found = dimension(point)
    assert (found.dimension, found.status) == (0, "proved")
    values = elimination_values(point, QQ)
    assert (values["parameters"], values["relations"], values["radical"]) == ("noParameter", "{noParameter}", False)
