"""The degree by a linear section: it shares nothing with the closed formula, and finds what is wrong with it."""

from dataclasses import replace
from math import comb

import pytest

from m2bridge import Orbit, SingleLayerAttention
from m2bridge.algebra.weighted_algebra import WeightedAlgebra
from m2bridge.certifying.questions import question_of
from m2bridge.crosscheck import Outcome, compare
from m2bridge.errors import ContradictionError
from m2bridge.families.attention import formulas, linear_section
from m2bridge.families.attention.deduction import deduce
from m2bridge.families.attention.fibres import Fibre, Fibres
from m2bridge.families.attention.formulas import degree_formula
from m2bridge.families.attention.linear_section import MOST_POINTS, not_counted, section_algebra, section_points
from m2bridge.families.attention.orbits import orbits
from m2bridge.families.attention.statements import REGISTRY, degree
from tests.rechecking import _observations, recheck

GRID = [SingleLayerAttention(d, d_out, a) for d in range(1, 5) for d_out in range(1, 5) for a in range(1, d + 1)]
SQUARES, SQUARES_FREE = [(2, 0, 0), (0, 2, 0), (0, 0, 2)], [(1, 1, 0), (1, 0, 1), (0, 1, 1)]
(DEGREE,) = degree.STATEMENTS


@pytest.mark.parametrize(
    ("weights", "relations", "length"),
    [
        ((), (), 1),
        ((1,), ((4, {(4,): 1}),), 4),
        ((1, 1), ((2, {(2, 0): 1}), (3, {(0, 3): 1})), 6),
        ((1, 1), ((2, {(2, 0): 1, (0, 2): 1}), (2, {(1, 1): 5})), 4),
        ((1, 2), ((4, {(4, 0): 1, (0, 2): -1}), (3, {(1, 1): 1})), 6),
        ((1, 1, 1), tuple((2, {s: 1, m: 1}) for s, m in zip(SQUARES, reversed(SQUARES_FREE), strict=True)), 8),
    ],
)
def test_lengths(weights: tuple[int, ...], relations: tuple, length: int) -> None:  # type: ignore[type-arg]
    assert WeightedAlgebra(weights, relations).length() == length


def test_an_infinite_length_is_noticed() -> None:
    with pytest.raises(ContradictionError, match="not"):
        WeightedAlgebra((1, 1), ((2, {(2, 0): 1}), (2, {(1, 1): 1}))).length()


def test_the_section_of_the_smallest_case() -> None:
    """V = 1 + v T, A = 1/V up to T³; the coefficient of T⁴ is −v·A_4, and v⁴ = 0 remains."""
    algebra = section_algebra(SingleLayerAttention(2, 1))
    assert algebra.weights == (1,)
    ((weight, relation),) = algebra.relations
    assert (weight, list(relation)) == (4, [(4,)])


@pytest.mark.parametrize("model", [m for m in GRID if not not_counted(m)], ids=str)
def test_the_formula_is_what_is_counted(model: SingleLayerAttention) -> None:
    sheets = 2 if model.alpha == model.d_out == 1 < model.d else 1
    assert section_points(model) == sheets * degree_formula(model)


def test_cases_that_are_counted() -> None:
    counted = {(m.d, m.d_out, m.a) for m in GRID if not not_counted(m)}
    assert {(3, 2, 1), (3, 2, 3), (4, 1, 4)} <= counted
    assert all(m.alpha in (1, m.d) for m in GRID if not not_counted(m))
    for case in [(3, 2, 2), (4, 4, 4), (3, 4, 1), (10**5, 10**5, 1), (10**4, 3)]:
        assert section_points(SingleLayerAttention(*case)) is None
    assert "1 < α < d" in not_counted(SingleLayerAttention(3, 2, 2))
    assert str(MOST_POINTS) in not_counted(SingleLayerAttention(4, 4))


def test_a_limit_that_is_reached_by_size() -> None:
    """(2, d', 1): the section has n (n + 1) points for n = 2 d'."""
    for d_out in range(1, 25):
        model, points = SingleLayerAttention(2, d_out, 1), comb(2 * d_out + 1, 2) * 2
        assert section_points(model) == (points if points <= MOST_POINTS else None)


PLANTED = {
    "product_degree": lambda model: comb(sum(linear_section._sizes(model)), model.d),
    "determinantal_degree": lambda rows, columns, rank: 13,
}


@pytest.mark.parametrize("name", PLANTED)
@pytest.mark.parametrize("case", [(3, 2, 1), (2, 2, 2), (2, 1, 1)])
def test_a_wrong_product_formula_is_refuted(
    monkeypatch: pytest.MonkeyPatch, name: str, case: tuple[int, int, int]
) -> None:
    """Planted in the module that everything shares, before anything is computed: what is computed stays right."""
    model = SingleLayerAttention(*case)
    right = degree_formula(model)
    _observations.cache_clear()
    monkeypatch.setattr(formulas, name, PLANTED[name])
    verdict = compare(DEGREE, recheck(model))
    assert verdict.verdict is Outcome.REFUTED
    assert verdict.witness is not None
    assert (verdict.witness.observed, verdict.witness.predicted) == (right, degree_formula(model))
    assert degree_formula(model) != right


def test_the_issue_that_was_seen() -> None:
    """1638 at (3, 2, 1) used to be confirmed by 1638."""
    seen = recheck(SingleLayerAttention(3, 2, 1))
    assert seen.degree == 756
    assert compare(replace(DEGREE, predict=lambda model: 1638), seen).verdict is Outcome.REFUTED


def test_what_is_not_counted_is_undecided() -> None:
    model = SingleLayerAttention(3, 2, 2)
    verdict = compare(DEGREE, recheck(model))
    assert verdict.verdict is Outcome.UNDECIDED
    assert "1 < α < d" in verdict.reason
    content = question_of("attention", "degree").content(model, recheck(model))
    assert (content.evidence["degree"], content.trusted) == (None, ())


def test_a_section_that_fibres_do_not_divide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("m2bridge.families.attention.deduction.section_points", lambda model: 7)
    model = SingleLayerAttention(2, 1, 1)
    at = {orbit: Fibre(2, 2) if orbit == Orbit(1, 1, 0) else Fibre(2, 1) for orbit in orbits(model)}
    with pytest.raises(ContradictionError, match="7 points"):
        deduce(model, Fibres(at, base_locus_empty=True, boundary_family=True))


def test_only_the_degree_is_undecided_by_size() -> None:
    seen = recheck(SingleLayerAttention(3, 3, 2))
    outcomes = {statement.key: compare(statement, seen).verdict for statement in REGISTRY}
    assert [key for key, outcome in outcomes.items() if outcome is Outcome.UNDECIDED] == ["degree"]
