"""The degree by the projection formula and by a linear section: both find what is wrong with the
closed formula.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from math import comb

import pytest

from m2bridge import Orbit, SingleLayerAttention
from m2bridge.algebra.determinantal import determinantal_degree, determinantal_hilbert_function
from m2bridge.algebra.weighted_algebra import WeightedAlgebra
from m2bridge.certification.make import question_of
from m2bridge.crosscheck.verdict import compare
from m2bridge.errors import ContradictionError
from m2bridge.families.attention import sizes as formulas
from m2bridge.families.attention.checker import degree as degrees, evidence as checked
from m2bridge.families.attention.observations import linear_section, observe as source_degree
from m2bridge.families.attention.observations.linear_section import (
    MAX_SECTION_POINTS,
    is_section_counted,
    section_algebra,
    section_points,
)
from m2bridge.families.attention.observations.observe import (
    BY_SECTION,
    deduce_observations,
    degree_by_projection,
    degree_of_low_rank,
)
from m2bridge.families.attention.orbits.fibres import Fibre, Fibres
from m2bridge.families.attention.orbits.orbits import generic_orbit, orbits
from m2bridge.families.attention.sizes import degree_formula, dimension_formula
from m2bridge.families.attention.statements import REGISTRY
from m2bridge.results.base import Decision
from m2bridge.statements.statement import sharing_one_observation
from tests.changing import _observations, fibres_at, recheck
from tests.tiers import slow

GRID = [
    SingleLayerAttention(d, d_out, a)
    for d in range(1, 5)
    for d_out in range(1, 5)
    for a in range(1, d + 1)
]
SQUARES, SQUARES_FREE = [(2, 0, 0), (0, 2, 0), (0, 0, 2)], [(1, 1, 0), (1, 0, 1), (0, 1, 1)]
(DEGREE,) = (statement for statement in REGISTRY if statement.key == "degree")


@pytest.mark.parametrize(
    ("weights", "relations", "length"),
    [
        ((), (), 1),
        ((1,), ((4, {(4,): 1}),), 4),
        ((1, 1), ((2, {(2, 0): 1}), (3, {(0, 3): 1})), 6),
        ((1, 1), ((2, {(2, 0): 1, (0, 2): 1}), (2, {(1, 1): 5})), 4),
        ((1, 2), ((4, {(4, 0): 1, (0, 2): -1}), (3, {(1, 1): 1})), 6),
        (
            (1, 1, 1),
            tuple((2, {s: 1, m: 1}) for s, m in zip(SQUARES, reversed(SQUARES_FREE), strict=True)),
            8,
        ),
    ],
)
def test_lengths(weights: tuple[int, ...], relations: tuple, length: int) -> None:  # type: ignore[type-arg]
    assert WeightedAlgebra(weights, relations).length() == length


def test_an_infinite_length_is_noticed() -> None:
    with pytest.raises(ContradictionError, match="not"):
        WeightedAlgebra((1, 1), ((2, {(2, 0): 1}), (2, {(1, 1): 1}))).length()
    # x of weight 1 is zero, and y of weight 3 is free: no part below weight 3 says so
    with pytest.raises(ContradictionError, match="has to be finite"):
        WeightedAlgebra((1, 3), ((1, {(1, 0): 1}), (1, {(1, 0): 1}))).length()


def test_the_section_of_the_smallest_case() -> None:
    """V = 1 + v T, A = 1/V up to T³; the coefficient of T⁴ is −v·A_4, and v⁴ = 0 remains."""
    algebra = section_algebra(SingleLayerAttention(2, 1))
    assert algebra.weights == (1,)
    ((weight, relation),) = algebra.relations
    assert (weight, list(relation)) == (4, [(4,)])


@pytest.mark.parametrize("model", [m for m in GRID if is_section_counted(m)], ids=str)
def test_the_formula_is_what_is_counted(model: SingleLayerAttention) -> None:
    sheets = 2 if model.alpha == model.d_out == 1 < model.d else 1
    assert section_points(model) == sheets * degree_formula(model)


def test_cases_that_are_counted() -> None:
    counted = {(m.d, m.d_out, m.a) for m in GRID if is_section_counted(m)}
    assert {(3, 2, 1), (3, 2, 3), (4, 1, 4)} <= counted
    assert all(m.alpha in (1, m.d) for m in GRID if is_section_counted(m))
    for case in [(3, 2, 2), (4, 4, 4), (3, 4, 1), (10**5, 10**5, 1), (10**4, 3)]:
        assert section_points(SingleLayerAttention(*case)) is None


def test_a_limit_that_is_reached_by_size() -> None:
    """(2, d', 1): the section has n (n + 1) points for n = 2 d'."""
    for d_out in range(1, 25):
        model, points = SingleLayerAttention(2, d_out, 1), comb(2 * d_out + 1, 2) * 2
        assert section_points(model) == (points if points <= MAX_SECTION_POINTS else None)


PLANTED = {
    "product_degree": lambda model: comb(sum(linear_section._factor_lengths(model)), model.d),
    "determinantal_degree": lambda rows, columns, rank: 13,
}


@pytest.mark.parametrize("name", PLANTED)
@pytest.mark.parametrize(
    "case", [slow((3, 2, 1)), (2, 2, 2), (2, 1, 1), slow((3, 2, 2)), slow((4, 4, 4))]
)
def test_a_wrong_product_formula_is_refuted(
    monkeypatch: pytest.MonkeyPatch, name: str, case: tuple[int, int, int]
) -> None:
    """Planted in the module that everything shares, before anything is computed: what is computed
    stays right.
    """
    model = SingleLayerAttention(*case)
    right = degree_formula(model)
    _observations.cache_clear()
    monkeypatch.setattr(formulas, name, PLANTED[name])
    verdict = compare(DEGREE, recheck(model))
    assert verdict.decision is Decision.REFUTED
    assert verdict.witness is not None
    assert (verdict.witness.observed, verdict.witness.predicted) == (right, degree_formula(model))
    assert degree_formula(model) != right


def test_the_issue_that_was_seen() -> None:
    """1638 at (3, 2, 1) used to be confirmed by 1638."""
    seen = recheck(SingleLayerAttention(3, 2, 1))
    assert seen.degree == 756
    assert compare(replace(DEGREE, predict=lambda model: 1638), seen).decision is Decision.REFUTED


@pytest.mark.slow
@pytest.mark.parametrize("model", GRID, ids=str)
def test_the_degree_of_every_small_case_is_decided(model: SingleLayerAttention) -> None:
    """40 cases; (4, 4, 4) has too many points of a linear section, and 1 < α < d has no such
    section.
    """
    seen = recheck(model)
    assert compare(DEGREE, seen).decision is Decision.CONFIRMED
    assert (BY_SECTION in seen.remarks) == is_section_counted(model)
    content = question_of("attention", "degree").content(model, seen)
    evidence, _ = checked.observe(model.d, model.d_out, model.alpha)
    assert content.evidence["degree"] == evidence["degree"] == degree_formula(model)


@pytest.mark.parametrize("case", [(4, 4, 4), slow((3, 2, 2)), slow((4, 3, 2)), (5, 2, 3)])
@pytest.mark.parametrize("wrong", [lambda degree: degree + 1, lambda degree: degree // 2])
def test_a_wrong_degree_is_refuted_where_no_section_is_counted(
    case: tuple[int, int, int], wrong: Callable[[int], int]
) -> None:
    model = SingleLayerAttention(*case)
    assert not is_section_counted(model)
    planted = replace(DEGREE, predict=lambda model: wrong(degree_formula(model)))
    assert compare(planted, recheck(model)).decision is Decision.REFUTED


def test_it_holds_at_any_size() -> None:
    """Bézout's number and three determinants, whatever the size."""
    for d, d_out, alpha in [(20, 20, 10), (40, 1, 39), (12, 30, 1)]:
        model = SingleLayerAttention(d, d_out, alpha)
        seen = degree_by_projection(model, dimension_formula(model), Fibre(1, 1))
        assert seen == degree_formula(model)


@pytest.mark.parametrize("size", range(1, 6))
def test_the_degree_of_matrices_of_low_rank_in_five_ways(size: int) -> None:
    """Bitableaux and paths as determinants, the product formula; bitableaux and paths one
    by one.
    """
    for rank in range(1, size + 1):
        dimension = rank * (2 * size - rank) - 1
        values = [determinantal_hilbert_function(size, size, rank, n) for n in range(dimension + 2)]
        assert difference(values, dimension + 1) == 0
        degree = difference(values, dimension)
        assert degree == degree_of_low_rank(size, rank) == determinantal_degree(size, size, rank)
        assert degree == degrees.paths(size, rank) == families(size, rank)


def difference(values: list[int], order: int) -> int:
    """Of the first values."""
    return sum((-1) ** (order - n) * comb(order, n) * values[n] for n in range(order + 1))


def families(size: int, rank: int) -> int:
    """Sets of α paths in a square that do not meet, one by one; from (i, 1) to (1, i), i = d, d −
    1, …, α of them.
    """

    def count(last: int, taken: frozenset[tuple[int, int]]) -> int:
        if last < size - rank:
            return 1
        return sum(
            count(last - 1, taken | path) for path in paths(last, 0, last) if not path & taken
        )

    def paths(row: int, column: int, end: int) -> Iterator[frozenset[tuple[int, int]]]:
        here = frozenset({(row, column)})
        if (row, column) == (0, end):
            yield here
        for further in ((row - 1, column), (row, column + 1)):
            if further[0] >= 0 and further[1] <= end:
                yield from (here | path for path in paths(*further, end))

    return count(size - 1, frozenset())


def test_a_section_that_disagrees(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "m2bridge.families.attention.observations.observe.section_points", lambda model: 7
    )
    model = SingleLayerAttention(2, 1, 1)
    at = {orbit: Fibre(2, 2) if orbit == Orbit(1, 1, 0) else Fibre(2, 1) for orbit in orbits(model)}
    with pytest.raises(ContradictionError, match="7 points"):
        deduce_observations(model, Fibres(at=at, base_locus_empty=True, boundary_family=True))


@pytest.mark.parametrize(
    ("case", "wrong"),
    [slow((3, 2, 2), Fibre(2, 2)), ((2, 1, 1), Fibre(1, 1)), ((3, 2, 2), Fibre(2, 1))],
)
def test_a_wrong_generic_fibre_is_noticed(case: tuple[int, int, int], wrong: Fibre) -> None:
    """By the points that solve the equations, or by the rank of the differential."""
    model = SingleLayerAttention(*case)
    at = fibres_at(model) | {generic_orbit(model): wrong}
    with pytest.raises(ContradictionError, match="orbit"):
        deduce_observations(model, Fibres(at=at, base_locus_empty=True, boundary_family=True))


@pytest.mark.parametrize("wrong", [Fibre(2, 2), Fibre(3, 3), Fibre(2, 1), Fibre(5, 5)])
def test_a_wrong_number_of_points_gives_another_degree_or_none(wrong: Fibre) -> None:
    """Where nothing else notices it; the degree is 2376 for one point, which 5 does not divide."""
    model = SingleLayerAttention(3, 2, 2)
    right = degree_by_projection(model, 13, Fibre(1, 1))
    if wrong.reduced and right % wrong.points == 0:
        planted = replace(recheck(model), degree=degree_by_projection(model, 13, wrong))
        assert compare(DEGREE, planted).decision is Decision.REFUTED
    else:
        with pytest.raises(ContradictionError, match="source"):
            degree_by_projection(model, 13, wrong)


@pytest.mark.slow
def test_a_wrong_degree_of_matrices_of_low_rank_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a linear section where one is counted; else it refutes the formula, rather than confirm
    it.
    """
    monkeypatch.setattr(source_degree, "degree_of_low_rank", lambda size, rank: 4)
    for case in [(3, 2, 1), (2, 2, 2)]:
        model = SingleLayerAttention(*case)
        with pytest.raises(ContradictionError, match="section"):
            deduce_observations(
                model, Fibres(at=fibres_at(model), base_locus_empty=True, boundary_family=True)
            )
    model = SingleLayerAttention(3, 2, 2)
    seen = deduce_observations(
        model, Fibres(at=fibres_at(model), base_locus_empty=True, boundary_family=True)
    )
    verdict = compare(DEGREE, seen)
    assert (verdict.decision, seen.degree) == (Decision.REFUTED, 3168)


def test_with_base_points_there_is_no_degree() -> None:
    model = SingleLayerAttention(2, 2)
    seen = deduce_observations(
        model, Fibres(at=fibres_at(model), base_locus_empty=False, boundary_family=True)
    )
    assert (seen.degree, compare(DEGREE, seen).decision) == (None, Decision.UNDECIDED)
    assert BY_SECTION not in seen.remarks


def test_nothing_is_undecided_by_size() -> None:
    for case in [(3, 3, 2), (4, 4, 4)]:
        seen = recheck(SingleLayerAttention(*case))
        assert Decision.UNDECIDED not in {
            compare(statement, seen).decision for statement in sharing_one_observation(REGISTRY)
        }
