"""Zariski closures verified without Macaulay2: Gröbner bases, completeness, and certificates made false on purpose."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from math import comb
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from m2bridge.certificate.closures import closure_content
from m2bridge.checker.completeness import hilbert_series, incomplete, leading_ideal
from m2bridge.checker.polynomials import read_polynomials
from sympy import groebner, symbols
from sympy.polys.rings import PolyElement

from m2bridge import SingleLayerAttention
from m2bridge.algebra import groebner as our_groebner
from m2bridge.algebra.field import QQ
from m2bridge.algebra.groebner import divides, groebner_basis, hilbert_numerator, leading_monomials
from m2bridge.algebra.hilbert_series import HilbertSeries
from m2bridge.algebra.ring import Ideal, PolynomialRing, total_degree
from m2bridge.algebra.sparse_polynomial import Terms
from m2bridge.certificate.files import read
from m2bridge.certificate.schema import Certificate
from m2bridge.certifying.verified import verify
from m2bridge.errors import MethodUnavailableError
from m2bridge.families.attention.formulas import degree_formula, dimension_formula
from m2bridge.families.attention.structure import multigraded_attention
from m2bridge.implicitization import implicitize

FOLDER = Path(__file__).parents[1] / "certificates" / "accepted"


def found(*case: int, degree: int = 4) -> tuple[SingleLayerAttention, list[Terms], int]:
    model = SingleLayerAttention(*case)
    source = multigraded_attention(model)
    return model, list(implicitize(source, degree).sparse_generators()), len(source.grading.degrees)


@pytest.mark.parametrize("case", [(2, 1), (2, 1, 1), (2, 2), (2, 2, 1), (2, 3), (3, 1, 1), (1, 3), (3, 1)])
def test_the_series_of_the_generators_has_dimension_and_degree_of_the_variety(case: tuple[int, ...]) -> None:
    """Dimension and degree from closed formulas; the Hilbert function from the ranks of implicitization."""
    model, generators, size = found(*case)
    leading = leading_ideal(generators, size)
    series = hilbert_series(leading, size)
    assert (series.dimension, series.degree) == (dimension_formula(model), degree_formula(model))
    values = implicitize(multigraded_attention(model), 4).hilbert_function
    assert tuple(series.value(n) for n in range(5)) == values
    assert incomplete(model, generators, leading) is None


@pytest.mark.parametrize("case", [(2, 2), (3, 1), (2, 4), (3, 2, 1)])
def test_generators_of_low_degree_are_not_all(case: tuple[int, ...]) -> None:
    model, generators, size = found(*case, degree=3 if case[:2] != (2, 2) else 2)
    difference = incomplete(model, generators, leading_ideal(generators, size))
    assert difference is not None
    assert difference.place == "generators"


def test_a_component_at_the_origin_is_noticed() -> None:
    """The quartic of (2, 1, 2) times each coordinate: right on the chart, and not saturated."""
    model, (quartic,), size = found(2, 1)
    multiples = [tuple((tuple(sorted((*monomial, j))), c) for monomial, c in quartic) for j in range(size)]
    difference = incomplete(model, multiples, leading_ideal(multiples, size))
    assert difference is not None
    assert "zero divisor" in difference.stored


@settings(max_examples=60)
@given(st.lists(st.tuples(*[st.integers(0, 3)] * 3), max_size=6))
def test_the_numerator_counts_the_monomials_outside(monomials: list[tuple[int, ...]]) -> None:
    numerator = hilbert_numerator(monomials)
    for n in range(8):
        every = [e for e in product(range(n + 1), repeat=3) if sum(e) == n]
        outside = sum(not any(divides(m, e) for m in monomials) for e in every)
        assert outside == sum(c * comb(n - i + 2, 2) for i, c in numerator.items() if i <= n)


def test_leading_monomials_are_those_of_sympy() -> None:
    x, y, z, w = symbols("x y z w")
    equations = [x * z - y**2, x * w - y * z, y * w - z**2, x**3 - w**3]
    ring = PolynomialRing(QQ, ("x", "y", "z", "w"))
    ours = groebner_basis([{m: int(c) for m, c in ring.polynomial(e).items()} for e in equations], 4)
    theirs = groebner(equations, x, y, z, w, order="grevlex")
    assert leading_monomials(ours) == {p.LM(order="grevlex").exponents for p in theirs.polys}
    assert HilbertSeries.from_numerator(hilbert_numerator(leading_monomials(ours)), 4).degree == 9


def test_a_basis_that_becomes_too_large_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(our_groebner, "LIMITS", (3, 10, 100))
    _, generators, size = found(2, 2)
    with pytest.raises(MethodUnavailableError, match="too large"):
        leading_ideal(generators, size)


def tampered(name: str, change: Callable[[list[PolyElement]], Sequence[PolyElement]]) -> Certificate:
    """A certificate with other generators, everything else made to fit, and a digest."""
    certificate = read(FOLDER / name)
    ring = PolynomialRing(QQ, tuple(certificate.evidence["coordinates"]))
    generators = list(read_polynomials(certificate.evidence["generators"], ring))
    ideal = Ideal(ring, tuple(change(generators)))
    stored = certificate.answer["hilbert_series"]
    series = HilbertSeries(tuple(stored["numerator"]), stored["denominator_exponent"])
    answer = certificate.answer
    content = closure_content(certificate.model, ideal, answer["dimension"], answer["degree"], series)
    return replace(
        certificate,
        answer=content.answer,
        evidence=content.evidence,
        recheckable=list(content.recheckable),
        trusted=list(content.trusted),
    ).sealed()


def without_quartics(generators: list[PolyElement]) -> list[PolyElement]:
    return [g for g in generators if total_degree(g) < 4]


def one_quartic_with_tails(generators: list[PolyElement]) -> list[PolyElement]:
    low, high = without_quartics(generators), [g for g in generators if total_degree(g) == 4]
    return [*low, high[0], *(high[0] + g for g in low[: len(high) - 1])]


def times_a_power(generators: list[PolyElement]) -> list[PolyElement]:
    return [*generators[:-1], generators[-1] * generators[0].ring.gens[0] ** 40]


NAMES = ("d2-dout2-a1-t2-closure.json", "d2-dout1-a2-t2-closure.json", "d2-dout2-a2-t1-closure.json")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("change", [without_quartics, times_a_power, lambda g: [*g, g[-1] * g[0].ring.gens[0]]])
def test_other_generators_are_rejected(name: str, change: Callable[[list[PolyElement]], Sequence[PolyElement]]) -> None:
    certificate = tampered(name, change)
    same = certificate == read(FOLDER / name)
    assert verify(certificate).outcome == ("accepted" if same else "rejected")


def test_generators_that_differ_only_in_lower_degree_are_rejected() -> None:
    finding = verify(tampered(NAMES[0], one_quartic_with_tails))
    assert (finding.outcome, finding.check) == ("rejected", "homogeneous generators")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("degree", [1, 5, 10])
def test_a_series_that_is_wrong_in_one_degree_is_rejected(name: str, degree: int) -> None:
    """h(T) + T^n (1 − T)^dimension: all values of the Hilbert function but one are right."""
    certificate = read(FOLDER / name)
    stored = certificate.answer["hilbert_series"]
    numerator, dimension = list(stored["numerator"]), stored["denominator_exponent"]
    numerator += [0] * (degree + dimension + 1 - len(numerator))
    for i in range(dimension + 1):
        numerator[degree + i] += (-1) ** i * comb(dimension, i)
    series = {"numerator": numerator, "denominator_exponent": dimension}
    changed = replace(certificate, answer=certificate.answer | {"hilbert_series": series}).sealed()
    assert verify(changed).outcome == "rejected"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("number", ["degree", "dimension"])
def test_another_number_is_rejected(name: str, number: str) -> None:
    certificate = read(FOLDER / name)
    answer = certificate.answer | {number: certificate.answer[number] + 1}
    assert verify(replace(certificate, answer=answer).sealed()).check == f"answer.{number}"
