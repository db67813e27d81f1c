"""Closures that are not complete, or have another series, are rejected; and the series of
generators by themselves.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from math import comb
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from sympy import groebner, symbols
from sympy.polys.rings import PolyElement

from m2bridge import read_ideal
from m2bridge.algebra.determinantal import determinantal_hilbert_function
from m2bridge.algebra.field import QQ
from m2bridge.algebra.hilbert_series import HilbertSeries
from m2bridge.algebra.ring import PolynomialRing, total_degree
from m2bridge.algebra.sparse_polynomial import Terms
from m2bridge.certificates.form import Certificate, read
from m2bridge.certification.verify import verify
from m2bridge.checker import algebra
from m2bridge.cli.common import exit_code
from m2bridge.convert.printing import polynomial_text
from m2bridge.crosscheck.cross_check import CrossCheck, cross_check
from m2bridge.crosscheck.verdict import Verdict
from m2bridge.errors import TooExpensiveError
from m2bridge.families.attention.hypotheses import WORDS, why_no_prediction
from m2bridge.families.attention.ideal.sections import predicted_hilbert_function, predicted_series
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.observations import by_degree as observed_by_degree
from m2bridge.families.attention.orbits.parametrization import multigraded_attention
from m2bridge.families.attention.sizes import degree_formula, dimension_formula
from m2bridge.families.attention.statements import REGISTRY
from m2bridge.ideals.ideal import Ideal
from m2bridge.implicitization.implicitize import implicitize
from m2bridge.maps.closure import Closure, closure
from m2bridge.maps.polynomial_map_model import as_model
from m2bridge.results.known import Bounds
from tests.exact_ideals import leading_monomials, series_of
from tests.limits import RecordedEngine
from tests.tiers import examples

FOLDER = Path(__file__).parents[2] / "certificates" / "accepted"


def found(*case: int, degree: int = 4) -> tuple[SingleLayerAttention, list[Terms], int]:
    model = SingleLayerAttention(*case)
    source = multigraded_attention(model)
    return model, list(implicitize(source, degree).sparse_generators()), len(source.grading.degrees)


@pytest.mark.slow
@pytest.mark.parametrize(
    "case", [(2, 1), (2, 1, 1), (2, 2), (2, 2, 1), (2, 3), (3, 1, 1), (1, 3), (3, 1)]
)
def test_the_series_of_the_generators_has_dimension_and_degree_of_the_variety(
    case: tuple[int, ...],
) -> None:
    """Dimension and degree from closed formulas; the Hilbert function from the ranks of
    implicitization.
    """
    model, generators, size = found(*case)
    series = series_of(generators, size)
    assert (series.dimension, series.degree) == (dimension_formula(model), degree_formula(model))
    values = implicitize(multigraded_attention(model), 4).hilbert_function
    assert tuple(series.value(n) for n in range(5)) == values


@settings(max_examples=examples(60))
@given(st.lists(st.tuples(*[st.integers(0, 3)] * 3), max_size=6))
def test_the_series_counts_the_monomials_outside(monomials: list[tuple[int, ...]]) -> None:
    series = algebra.hilbert_series(algebra.minimal(monomials), 3)
    for n in range(8):
        every = [e for e in product(range(n + 1), repeat=3) if sum(e) == n]
        outside = sum(
            not any(all(x <= y for x, y in zip(m, e, strict=True)) for m in monomials)
            for e in every
        )
        assert outside == algebra.hilbert_function(series, n)


def test_what_is_in_an_ideal() -> None:
    """In the zero ideal zero only."""
    context = algebra.ring(2)
    x, y = context.gens()
    for generators, inside in (([], [0 * x]), ([x**2, x + y], [0 * x, x + y, x * y])):
        basis = algebra.groebner_basis(generators, context)
        assert [f for f in (0 * x, x, y, x + y, x * y) if algebra.is_in(f, basis)] == inside


def test_leading_monomials_are_those_of_sympy() -> None:
    x, y, z, w = symbols("x y z w")
    equations = [x * z - y**2, x * w - y * z, y * w - z**2, x**3 - w**3]
    ring = PolynomialRing(QQ, ("x", "y", "z", "w"))
    ours = leading_monomials(
        [{m: int(c) for m, c in ring.polynomial(e).items()} for e in equations], 4
    )
    theirs = groebner(equations, x, y, z, w, order="grevlex")
    assert set(ours) == {p.LM(order="grevlex").exponents for p in theirs.polys}


def test_a_basis_that_becomes_too_large_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(algebra, "LIMITS", (3, 10, 100))
    _, generators, size = found(2, 2)
    with pytest.raises(TooExpensiveError, match="too large"):
        series_of(generators, size)


def tampered(
    name: str, change: Callable[[list[PolyElement]], Sequence[PolyElement]]
) -> Certificate:
    """A certificate with other generators, their degrees made to fit, and a digest."""
    certificate = read(FOLDER / name)
    evidence = certificate.evidence
    ideal = read_ideal(
        {"field": "QQ"} | {name: evidence[name] for name in ("coordinates", "generators")}
    )
    generators = sorted(change(list(ideal.generators)), key=total_degree)
    degrees = [total_degree(g) for g in generators]
    answer: dict[str, Any] = {
        "generator_degrees": {str(n): degrees.count(n) for n in sorted(set(degrees))}
    }
    return replace(
        certificate,
        answer=certificate.answer | answer,
        evidence=evidence | {"generators": list(map(polynomial_text, generators))},
    ).sealed()


def without_quartics(generators: list[PolyElement]) -> list[PolyElement]:
    return [g for g in generators if total_degree(g) < 4]


def one_quartic_with_tails(generators: list[PolyElement]) -> list[PolyElement]:
    low, high = without_quartics(generators), [g for g in generators if total_degree(g) == 4]
    return [*low, high[0], *(high[0] + g for g in low[: len(high) - 1])]


def times_a_power(generators: list[PolyElement]) -> list[PolyElement]:
    return [*generators[:-1], generators[-1] * generators[0].ring.gens[0] ** 40]


def with_a_multiple(generators: list[PolyElement]) -> list[PolyElement]:
    return [*generators, generators[-1] * generators[0].ring.gens[0]]


NAMES = (
    "d2-dout2-a1-t2-closure.json",
    "d2-dout1-a2-t2-closure.json",
    "d2-dout2-a2-t1-closure.json",
)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("change", [without_quartics, times_a_power, with_a_multiple])
def test_other_generators_are_rejected(
    name: str, change: Callable[[list[PolyElement]], Sequence[PolyElement]]
) -> None:
    certificate = tampered(name, change)
    same = certificate == read(FOLDER / name)
    outcome = verify(certificate).outcome
    assert outcome == "accepted" if same else outcome in ("rejected", "too-expensive")


@pytest.mark.slow
@pytest.mark.parametrize("degree", [5, 20])
def test_a_multiple_of_the_quartic_is_no_minimal_generator(degree: int) -> None:
    def change(generators: list[PolyElement]) -> list[PolyElement]:
        x = generators[0].ring.gens
        return [
            *generators,
            generators[0] * sum((g ** (degree - 4) for g in x[1:]), x[0] ** (degree - 4)),
        ]

    assert verify(tampered(NAMES[1], change)).check == f"minimal generators.{degree}"


def test_generators_that_differ_only_in_lower_degree_are_rejected() -> None:
    found = verify(tampered(NAMES[0], one_quartic_with_tails))
    assert (found.outcome, found.check) == ("rejected", "homogeneous generators")


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


# The predicted Hilbert function against ranks, degrees and representations counted in another way.

CASES = {
    (1, 1, 1): 5,
    (1, 3, 1): 4,
    (2, 1, 1): 5,
    (2, 1, 2): 5,
    (2, 2, 1): 4,
    (2, 2, 2): 4,
    (2, 3, 2): 3,
    (3, 1, 1): 4,
    (3, 1, 2): 3,
    (3, 1, 3): 3,
    (3, 2, 1): 3,
    (3, 2, 2): 2,
    (4, 1, 1): 3,
}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_prediction_is_what_implicitization_proves(case: tuple[int, int, int]) -> None:
    model = SingleLayerAttention(*case)
    found = implicitize(multigraded_attention(model), CASES[case])
    assert found.exact
    assert found.hilbert_function == tuple(
        predicted_hilbert_function(model, n) for n in range(CASES[case] + 1)
    )


def test_where_nothing_is_predicted_the_formula_is_wrong() -> None:
    model = SingleLayerAttention(4, 2, 2)
    assert "d ≥ 4" in why_no_prediction(model)
    assert "t ≥ 2" in why_no_prediction(SingleLayerAttention(2, 1, 2, 1))
    found = implicitize(multigraded_attention(model), 2)
    assert predicted_hilbert_function(model, 2) == found.hilbert_function[2] + 90


@pytest.mark.parametrize("case", [*CASES, (3, 3, 3), (4, 1, 4), (5, 1, 3), (6, 2, 1)], ids=str)
def test_series_has_the_dimension_and_the_degree_of_the_closure(case: tuple[int, int, int]) -> None:
    model = SingleLayerAttention(*case)
    dimension = dimension_formula(model)
    numerator = predicted_series(model, dimension).numerator
    assert sum(numerator) == degree_formula(model)
    series = HilbertSeries(numerator, dimension)
    assert all(
        series.value(n) == predicted_hilbert_function(model, n) for n in range(dimension + 9)
    )


def test_functions_on_determinantal_varieties() -> None:
    """Rank 1: a Segre cone; rank d − 1: a hypersurface of degree d; rank d: all matrices."""
    for n in range(9):
        assert determinantal_hilbert_function(3, 3, 1, n) == comb(n + 2, 2) ** 2
        assert determinantal_hilbert_function(3, 3, 2, n) == comb(n + 8, 8) - (
            comb(n + 5, 8) if n >= 3 else 0
        )
        assert determinantal_hilbert_function(3, 3, 3, n) == comb(n + 8, 8)


def with_series(series: HilbertSeries | None) -> Closure:
    """A closure of which only the Hilbert series matters."""
    ring = PolynomialRing(QQ, ("x",))
    model = as_model(SingleLayerAttention(2, 1), None)
    return Closure(
        model=model,
        field=QQ,
        strategy="elimination",
        equations=Ideal(ring, ring.sympy_ring.gens),
        known_dimension=Bounds.exactly(5),
        degree=4,
        hilbert_series=series,
        engine_version="1.0",
        seconds=0.1,
    )


def cross_checked(model: SingleLayerAttention) -> CrossCheck:
    hilbert = [statement for statement in REGISTRY if statement.key == "hilbert"]
    return cross_check(model, statements=hilbert, engine=RecordedEngine(Path()))


def only(found: CrossCheck) -> Verdict:
    (verdict,) = found.verdicts
    return verdict


def test_verdicts(monkeypatch: pytest.MonkeyPatch) -> None:
    model = SingleLayerAttention(2, 1)
    right = predicted_series(model, 5)

    def check(found: Closure) -> CrossCheck:
        monkeypatch.setattr(observed_by_degree, "closure", lambda *arguments, **options: found)
        return cross_checked(model)

    before = "Hilbert function: "

    found = check(with_series(right))
    assert (only(found).decision, found.to_json()["all_degrees"]) == ("CONFIRMED", True)
    assert "for all n" in only(found).reason
    assert r"$H = (1, 6, 21, 56, 125, " in found.to_latex()
    found = check(with_series(HilbertSeries((1, 1, 1, 2), 5)))
    assert (only(found).decision, found.refuted) == ("REFUTED", True)
    assert only(found).reason == f"{before}H(3) is 57, and 56 is predicted"
    found = check(with_series(HilbertSeries((*right.numerator, *(0,) * 9, 1), 5)))
    assert (only(found).decision, only(found).reason) == (
        "REFUTED",
        f"{before}the Hilbert series, which is proved, is a different one",
    )
    found = check(with_series(None))
    assert (only(found).decision, found.undecided) == ("UNDECIDED", True)
    proved = implicitize(multigraded_attention(model), 3)
    found = check(replace(with_series(None), equations=proved))
    assert (only(found).decision, found.undecided, found.to_json()["all_degrees"]) == (
        "UNDECIDED",
        True,
        False,
    )
    assert (
        only(found).reason
        == f"{before}H(0), …, H(3) are as predicted; the statement is about all n, and n > 3 is not decided"
    )
    assert exit_code(found) == 3
    assert re.search(r"\n +3 +56 +56\n", str(found))
    found = check(replace(with_series(None), equations=replace(proved, exact=False)))
    assert only(found).decision == "UNDECIDED"
    wrong = replace(proved, hilbert_function=(1, 6, 20, 56))
    found = check(replace(with_series(None), equations=wrong))
    assert only(found).reason == f"{before}H(2) is 20, and 21 is predicted"
    assert found.to_json()["verdicts"][0]["verdict"] == "REFUTED"


def test_without_a_prediction_nothing_is_computed() -> None:
    found = cross_checked(SingleLayerAttention(4, 2, 2))
    assert only(found).decision == "NOT_APPLICABLE"
    assert found.to_json()["computed"] == []
    assert "NOT_APPLICABLE  hilbert" in str(found)
    assert "not applicable" in found.to_latex()


def test_closure_shows_the_prediction_beside_what_was_computed() -> None:
    found = closure(SingleLayerAttention(2, 1), strategy="multigraded", max_degree=3)
    assert (
        "H(0), …, H(3) as computed (by a formula for all sizes, proved in large degrees only)"
        in str(found)
    )
    assert found.to_json()["predicted_hilbert_function"] == [1, 6, 21, 56]
    assert found.predicted_hilbert_function == found.hilbert_function
    wrong = replace(found, equations=replace(found.equations, hilbert_function=(1, 6, 20, 56)))
    assert " 1, 6, 21, 56, … and not what was computed (" in str(wrong)
    for model in (SingleLayerAttention(2, 1, 2, 1), SingleLayerAttention(4, 2, 2)):
        other = closure(model, strategy="multigraded", max_degree=2)
        assert other.predicted_hilbert_function is None
        assert "predicted" not in str(other)


def _worded(d: int, d_out: int, a: int, n: int) -> int:
    """The right side of the words of ``hilbert``, written once more from them, with dimensions by
    hooks in tableaux.
    """
    alpha = min(a, d)

    def s(k: int, p: int, degree: int) -> int:
        if degree <= k:
            return 0
        # Semistandard tableaux of the hook: the corner j, a row of numbers ≥ j, and k different
        # numbers > j below it.
        return sum(comb(degree - k - 1 + p - j, p - j) * comb(p - j, k) for j in range(1, p + 1))

    value = determinantal_hilbert_function(d, d, alpha, n) * comb(n + d * d_out - 1, n)
    value -= comb(n + d - 1, n) * comb(n + d_out - 1, n) * comb(comb(n + d - 1, n), 2)
    for i, j in product(range(alpha), range(d_out)):
        if 1 <= i + j <= d - 2:
            value -= s(i, d, n) * s(j, d_out, n) * s(i + j + 1, d, 2 * n)
    if d == 3 and d_out >= 2 and alpha >= 2:
        value -= {2: 3, 3: 8}.get(n, 0) * s(1, 3, n) * s(1, d_out, n)
    return value


def test_the_words_of_the_hilbert_function_are_what_is_predicted() -> None:
    """At (3, 2, 2) they give 621 in degree 2, as ranks do; without the last part of the sentence
    they gave 630.
    """
    words = WORDS.words("hilbert", "").text
    for part in (
        "C(n + d·d' − 1, n)",
        "1 ≤ i + j ≤ d − 2",
        "3·s_1(3, n)·s_1(d', n)",
        "8·s_1(3, n)·s_1(d', n)",
    ):
        assert part in words
    assert _worded(3, 2, 2, 2) == 621
    assert (
        implicitize(multigraded_attention(SingleLayerAttention(3, 2, 2)), 2).hilbert_function[2]
        == 621
    )
    for case in product(range(1, 5), range(1, 5), range(1, 5)):
        model = SingleLayerAttention(*case)
        if not why_no_prediction(model):
            assert [_worded(*case, n) for n in range(6)] == [
                predicted_hilbert_function(model, n) for n in range(6)
            ]
