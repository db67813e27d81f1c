"""The predicted Hilbert function against ranks, degrees and representations counted in another way."""

from dataclasses import replace
from math import comb

import pytest

from m2bridge.algebra.determinantal import determinantal_hilbert_function
from m2bridge.algebra.field import QQ
from m2bridge.algebra.hilbert_series import HilbertSeries
from m2bridge.algebra.ring import PolynomialRing
from m2bridge.cli.output import exit_code
from m2bridge.families.attention import questions as hilbert_check
from m2bridge.families.attention.completeness import no_prediction, predicted_hilbert_function, predicted_series
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.parametrization import multigraded_attention
from m2bridge.families.attention.questions import HilbertCheck
from m2bridge.families.attention.shape import degree_formula, dimension_formula
from m2bridge.ideals.ideal import Ideal
from m2bridge.implicitization.implicitize import implicitize
from m2bridge.maps.closure import closure
from m2bridge.maps.closure_result import Closure
from m2bridge.maps.map_model import as_model

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
    assert found.hilbert_function == tuple(predicted_hilbert_function(model, n) for n in range(CASES[case] + 1))


def test_where_nothing_is_predicted_the_formula_is_wrong() -> None:
    model = SingleLayerAttention(4, 2, 2)
    assert "d ≥ 4" in no_prediction(model)
    assert "t ≥ 2" in no_prediction(SingleLayerAttention(2, 1, 2, 1))
    found = implicitize(multigraded_attention(model), 2)
    assert predicted_hilbert_function(model, 2) == found.hilbert_function[2] + 90


@pytest.mark.parametrize("case", [*CASES, (3, 3, 3), (4, 1, 4), (5, 1, 3), (6, 2, 1)], ids=str)
def test_series_has_the_dimension_and_the_degree_of_the_closure(case: tuple[int, int, int]) -> None:
    model = SingleLayerAttention(*case)
    dimension = dimension_formula(model)
    numerator = predicted_series(model, dimension).numerator
    assert sum(numerator) == degree_formula(model)
    series = HilbertSeries(numerator, dimension)
    assert all(series.value(n) == predicted_hilbert_function(model, n) for n in range(dimension + 9))


def test_functions_on_determinantal_varieties() -> None:
    """Rank 1: a Segre cone; rank d − 1: a hypersurface of degree d; rank d: all matrices."""
    for n in range(9):
        assert determinantal_hilbert_function(3, 3, 1, n) == comb(n + 2, 2) ** 2
        assert determinantal_hilbert_function(3, 3, 2, n) == comb(n + 8, 8) - (comb(n + 5, 8) if n >= 3 else 0)
        assert determinantal_hilbert_function(3, 3, 3, n) == comb(n + 8, 8)


def with_series(series: HilbertSeries | None) -> Closure:
    """A closure of which only the Hilbert series matters."""
    ring = PolynomialRing(QQ, ("x",))
    model = as_model(SingleLayerAttention(2, 1), None)
    return Closure(model, QQ, "elimination", Ideal(ring, ring.sympy_ring.gens), 5, "proved", 4, series, "1.0", 0.1)


def test_verdicts(monkeypatch: pytest.MonkeyPatch) -> None:
    model = SingleLayerAttention(2, 1)
    right = predicted_series(model, 5)

    def check(found: Closure) -> HilbertCheck:
        monkeypatch.setattr(hilbert_check, "closure", lambda *arguments, **options: found)
        return hilbert_check.hilbert_check(model, engine=None)  # type: ignore[arg-type]

    found = check(with_series(right))
    assert (found.verdict, found.all_degrees) == ("CONFIRMED", True)
    assert "for all n" in found.reason
    found = check(with_series(HilbertSeries((1, 1, 1, 2), 5)))
    assert (found.verdict, found.refuted) == ("REFUTED", True)
    assert found.reason == "H(3) is 57, and 56 is predicted"
    found = check(with_series(HilbertSeries((*right.numerator, *(0,) * 9, 1), 5)))
    assert (found.verdict, found.reason) == ("REFUTED", "the Hilbert series, which is proved, is another one")
    found = check(with_series(None))
    assert (found.verdict, found.undecided) == ("UNDECIDED", True)
    proved = implicitize(multigraded_attention(model), 3)
    found = check(replace(with_series(None), equations=proved))
    assert (found.verdict, found.undecided, found.all_degrees) == ("UNDECIDED", True, False)
    assert found.reason == "H(0), …, H(3) are as predicted; the statement is about all n, and n > 3 is not decided"
    assert exit_code(found) == 3
    assert "  3         56          56" in str(found)
    found = check(replace(with_series(None), equations=replace(proved, exact=False)))
    assert found.verdict == "UNDECIDED"
    wrong = replace(proved, hilbert_function=(1, 6, 20, 56))
    found = check(replace(with_series(None), equations=wrong))
    assert found.reason == "H(2) is 20, and 21 is predicted"
    assert found.to_json()["verdicts"][0]["verdict"] == "REFUTED"


def test_without_a_prediction_nothing_is_computed() -> None:
    found = hilbert_check.hilbert_check(SingleLayerAttention(4, 2, 2), engine=None)  # type: ignore[arg-type]
    assert found.verdict == "NOT_APPLICABLE"
    assert found.computed == ()
    assert "NOT_APPLICABLE  hilbert" in str(found)
    assert "not applicable" in found.to_latex()


def test_closure_shows_the_prediction_beside_what_was_computed() -> None:
    found = closure(SingleLayerAttention(2, 1), strategy="multigraded", max_degree=3)
    assert "H(0), …, H(3) as computed (by a formula for all sizes, proved in large degrees only)" in str(found)
    assert found.to_json()["predicted_hilbert_function"] == [1, 6, 21, 56]
    assert found.predicted_hilbert_function == found.hilbert_function
    wrong = replace(found, equations=replace(found.equations, hilbert_function=(1, 6, 20, 56)))
    assert " 1, 6, 21, 56, … and not what was computed (" in str(wrong)
    for model in (SingleLayerAttention(2, 1, 2, 1), SingleLayerAttention(4, 2, 2)):
        other = closure(model, strategy="multigraded", max_degree=2)
        assert other.predicted_hilbert_function is None
        assert "predicted" not in str(other)
