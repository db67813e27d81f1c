"""Lists of critical points by msolve, against local searches, Theorem R3 and Theorem R4."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import flint
import numpy
import pytest

from m2bridge import robustness
from m2bridge.decision_boundary import result
from m2bridge.decision_boundary.boundary import BoundaryProblem
from m2bridge.decision_boundary.critical_points import AllCriticalPoints, all_critical_points
from m2bridge.decision_boundary.critical_systems import points_by_msolve
from m2bridge.decision_boundary.nearest import Enclosure, distance_to
from m2bridge.decision_boundary.reading import read_problem
from m2bridge.decision_boundary.search import descended
from m2bridge.engine import msolve
from m2bridge.errors import NotApplicableError
from m2bridge.limits import limited
from tests.tiers import few

Layer = dict[str, Any]


@pytest.fixture(autouse=True)
def needs_msolve() -> None:
    if msolve.usable() is None:
        pytest.skip(f"msolve is not here: {msolve.INSTALL}")


def integers(random: numpy.random.Generator, *shape: int) -> numpy.ndarray[Any, Any]:
    entries: numpy.ndarray[Any, Any] = random.choice((-3, -2, -1, 1, 2, 3), shape)
    return entries


def layer_of(seed: int, d: int, t: int, a: int) -> Layer:
    random = numpy.random.default_rng(seed)
    layer = {"K": integers(random, a, d), "Q": integers(random, a, d)}
    layer |= {"V": integers(random, 2, d), "w": integers(random, 2)}
    return layer | {"X": integers(random, d, t)}


def problem_of(layer: Layer, bias: float, **options: Any) -> BoundaryProblem:
    chosen: dict[str, Any] = {"pool": "first", "skip": False, "scores_over": "1"} | options
    return read_problem(layer, bias=bias, **chosen)


def listed(problem: BoundaryProblem) -> AllCriticalPoints:
    with limited(300):
        found = points_by_msolve(problem, problem.in_units())
    assert found is not None
    return found


def check_searches(problem: BoundaryProblem, found: AllCriticalPoints, starts: int) -> int:
    """Check that critical points which searches in all entries reach are in the list, that none is
    nearer than its first, and that this is on the boundary; return how many were reached.
    """
    boundary = problem.in_floats(problem.in_units())
    known = numpy.array([float(distance.mid()) for distance in found.distances])
    assert abs(boundary.value(boundary.U + found.nearest)) < 1e-9
    assert numpy.linalg.norm(found.nearest) == pytest.approx(known[0])
    random = numpy.random.default_rng(0)
    reached = 0
    for number in range(starts):
        start = (0.0, 0.1, 0.3, 1.0, 3.0)[number % 5] * random.normal(size=boundary.U.shape)
        step = descended(boundary, start, whole_steps=60 * (number % 2))
        if step is None or abs(boundary.value(boundary.U + step)) > 1e-9:
            continue
        gradient = boundary.gradient(boundary.U + step)
        multiplier = (gradient * step).sum() / (gradient**2).sum()
        length = numpy.linalg.norm(step)
        if numpy.linalg.norm(step - multiplier * gradient) < 1e-6 * length:
            reached += 1
            assert numpy.abs(known - length).min() < 1e-5 * length
    return reached


CASES = [(d, t, bias) for d, t in ((5, 4), (6, 5), (12, 9)) for bias in (40.0, -3000.0)]


@pytest.mark.parametrize(("d", "t", "bias"), few(CASES, 1, rows=True))
def test_a_hundred_points_for_rank_two(d: int, t: int, bias: float) -> None:
    """The generic number is 100; and Theorem R4, where it proves the nearest point, agrees."""
    problem = problem_of(layer_of(d, d, t, 2), bias)
    found = listed(problem)
    assert found.number == 100
    assert found.real == len(found.distances)
    assert found.real % 2 == 0
    assert "Theorem R5" in found.because
    assert check_searches(problem, found, 40)
    check_bounds(problem, found)


def check_bounds(problem: BoundaryProblem, found: AllCriticalPoints) -> None:
    """Check that the first distance lies between the bounds of Theorem R4."""
    with flint.ctx.workprec(128):
        units = problem.in_units()
        boundary = problem.in_balls(units)
        sign = 1 if boundary.value(boundary.U) > 0 else -1
        bounds = distance_to(problem, units, sign)
    assert not found.distances[0] < bounds.lower
    assert bounds.upper is not None
    assert not bounds.upper < found.distances[0]


@pytest.mark.parametrize("seed", few(range(6), 3))
def test_rank_one_has_the_list_of_the_polynomial_of_degree_twenty(seed: int) -> None:
    problem = problem_of(layer_of(seed, 3, 3, 1), 30.0)
    found, expected = listed(problem), all_critical_points(problem, problem.in_units())
    assert expected is not None
    assert (found.number, found.real) == (expected.number, expected.real)
    pairs = zip(found.distances, expected.distances, strict=True)
    assert all(left.overlaps(right) for left, right in pairs)
    assert found.nearest == pytest.approx(expected.nearest)


@pytest.mark.parametrize(("t", "number"), [(1, 24), pytest.param(2, 88, marks=pytest.mark.slow)])
def test_few_tokens_are_listed_in_all_entries(t: int, number: int) -> None:
    """The numbers that --count finds for rank two."""
    problem = problem_of(layer_of(3, 5, t, 2), 50.0)
    found = listed(problem)
    assert found.number == number
    assert "Theorems R1 and R2" in found.because
    assert check_searches(problem, found, 40)


@pytest.mark.parametrize(
    ("heads", "d", "t", "number"),
    [(1, 2, 2, 39), (2, 2, 2, None), pytest.param(1, 3, 2, 132, marks=pytest.mark.slow)],
)
def test_two_readouts(heads: int, d: int, t: int, number: int | None) -> None:
    random = numpy.random.default_rng(0)
    layer = {name: integers(random, heads, 2, d) for name in ("K", "Q")}
    layer |= {"V": integers(random, heads, 2, d), "R": integers(random, 2, t)}
    problem = problem_of(layer | {"X": integers(random, d, t)}, 500.0, pool=None)
    found = listed(problem)
    assert number is None or found.number == number
    assert check_searches(problem, found, 40)
    check_bounds(problem, found)


def test_the_special_input_needs_a_direction_more() -> None:
    """In docs/robustness.md: two nearest points at 0.79561, which Theorem R3 leaves out."""
    layer: Layer = {"K": [[1, 0]], "Q": [[2, 1]], "V": [[1, 0]], "w": [1]}
    layer |= {"X": [[-2 / 3, 0, 0], [2, 0, 0]]}
    found = robustness(layer, pool="first", bias=-1)
    assert found.is_proved
    assert found.distance == pytest.approx((0.7956086738186,) * 2, rel=1e-12)
    assert found.critical_points is None
    with pytest.raises(NotApplicableError, match="trusted; one says what Theorem R4 proves"):
        found.to_certificate()


def test_an_input_of_zeros_has_two_nearest_points() -> None:
    """g = x²y + b for one token: the points with x² = 2y² are nearest, at 3^(1/2)|b/2|^(1/3)."""
    layer: Layer = {"A": [[1, 0], [0, 0]], "V": [[0, 1]], "w": [1], "X": [[0], [0]]}
    found = robustness(layer, bias=-2)
    assert found.is_proved
    assert found.distance == pytest.approx((3**0.5,) * 2, rel=1e-12)


def test_critical_points_in_families_are_no_list() -> None:
    """g = (x² + y²)z + b on the axis: rotations."""
    layer: Layer = {"A": numpy.diag([1, 1, 0]), "V": [[0, 0, 1]], "w": [1], "X": [[0], [0], [5]]}
    found = robustness(layer, bias=-1)
    assert not found.is_proved
    assert "infinite in number" in found.because
    # the points (x, y, z) with x² + y² = 1/z
    z = numpy.linspace(1e-3, 10, 1_000_001)
    assert found.distance is not None
    least = float(numpy.sqrt(1 / z + (z - 5) ** 2).min())
    assert found.distance[0] <= least
    assert found.distance[1] == pytest.approx(least, rel=1e-6)


def test_a_far_boundary_is_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where Theorem R4 proves nothing the list does; where it does, both agree."""
    random = numpy.random.default_rng(0)
    layer = {name: integers(random, 2, 2) for name in ("K", "Q", "V", "R", "X")}
    usual = robustness(layer, bias=20)
    assert usual.is_proved
    assert usual.because.startswith("Theorem R4")

    def unproved(*arguments: Any) -> Enclosure:
        return replace(distance_to(*arguments), is_proved=False, because="bounds")

    monkeypatch.setattr(result, "distance_to", unproved)
    found = robustness(layer, bias=20, timeout=200)
    assert usual.distance is not None
    assert found.distance == pytest.approx(usual.distance, rel=1e-13)
    assert found.nearest == pytest.approx(usual.nearest, abs=1e-9)
    assert "by msolve" in found.because
    assert found.critical_points == 39
    assert "39 complex" in found.to_text()
