"""Lists of critical points with a skip connection, against searches and by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy
import pytest

from m2bridge import robustness
from m2bridge.decision_boundary.boundary import Boundary
from m2bridge.decision_boundary.critical_points import AllCriticalPoints
from m2bridge.decision_boundary.nearest import Enclosure, distance_to
from m2bridge.decision_boundary.reading import read_problem
from m2bridge.decision_boundary.search import descended
from m2bridge.decision_boundary.skip_connections import all_points_with_skip

Layer = dict[str, Any]


def listed(
    layer: Layer, bias: float, *, pool: str = "first"
) -> tuple[Boundary, AllCriticalPoints | None]:
    problem = read_problem(layer, pool=pool, bias=bias, skip=True, scores_over="1")
    units = problem.in_units()
    return problem.in_floats(units), all_points_with_skip(problem, units)


def layer_of(d: int, t: int, seed: int, *, integers: bool = False) -> Layer:
    random = numpy.random.default_rng(seed)
    shapes = {"K": (1, d), "Q": (1, d), "V": (d, d), "w": (d,), "X": (d, t)}
    nonzero = (-3, -2, -1, 1, 2, 3)
    return {
        name: random.choice(nonzero, shape).astype(float) if integers else random.normal(size=shape)
        for name, shape in shapes.items()
    }


SIZES = [(2, 4, 21), (3, 4, 27), (4, 4, 29), (6, 4, 29), (3, 1, 15), (4, 1, 17), (6, 1, 17)]


@pytest.mark.parametrize(("d", "t", "number"), SIZES)
def test_the_number_of_points(d: int, t: int, number: int) -> None:
    """The numbers of docs/robustness.md, which robustness --count counts for these sizes."""
    _, found = listed(layer_of(d, t, d), 1.0, pool="mean")
    assert found is not None
    assert found.number == number


# for 20 ω and Q are parallel
SLOW = [pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 24) if seed != 20]


@pytest.mark.parametrize("seed", [0, 1, *SLOW])
def test_what_searches_find_with_skip_is_in_the_list(seed: int) -> None:
    random = numpy.random.default_rng(seed)
    d, t = (3 + seed % 3, 1) if seed % 5 == 1 else (2 + seed % 4, 2 + seed % 3)
    bias = (0.0, 1.0, -4.0)[seed % 3]
    layer = layer_of(d, t, seed, integers=seed % 2 == 0)
    boundary, found = listed(layer, bias, pool=("mean", "last")[seed % 2])
    assert found is not None
    known = numpy.array([float(distance.mid()) for distance in found.distances])
    assert abs(boundary.value(boundary.U + found.nearest)) < 1e-9
    assert numpy.linalg.norm(found.nearest) == pytest.approx(known[0])
    for number in range(20):
        start = (0.0, 0.3, 1.0, 3.0)[number % 4] * random.normal(size=boundary.U.shape)
        step = descended(boundary, start, whole_steps=60 * (number % 2))
        if step is None or abs(boundary.value(boundary.U + step)) > 1e-10:
            continue
        length = float(numpy.linalg.norm(step))
        assert numpy.abs(known - length).min() < 1e-5 * length


@pytest.mark.parametrize("move", [-0.1, -0.02, 0.02, 0.1])
def test_a_singular_point_is_not_nearest(move: float) -> None:
    """(β·y)(κ·y)(α·y) + ω·y + 2 = 0 with ω = −(β + κ + α) is singular where all three are 1. The
    input is near that point, and all that is nearer than the list says has its sign, on many lines.
    """
    rows = numpy.array([[1, 1, 0], [0, 1, 2], [1, 0, 2]])
    beta, kappa, alpha = rows
    omega = -rows.sum(axis=0)
    singular = numpy.zeros((3, 2))
    singular[:, 0] = numpy.linalg.solve(rows, [1, 1, 1])
    X = singular + move * numpy.array([[1, 0.1], [2, -0.1], [4, 0.2]])
    V = numpy.outer([1, 0, 0], beta / omega[0])
    boundary, found = listed({"K": [kappa], "Q": [alpha], "V": V, "w": omega, "X": X}, 2.0)
    assert found is not None
    unit = numpy.linalg.norm(X) / numpy.linalg.norm(boundary.U)
    assert abs(boundary.value(singular / unit)) < 1e-12
    assert numpy.abs(boundary.gradient(singular / unit)).max() < 1e-12
    length = float(found.distances[0].mid())
    assert length < 0.9 * numpy.linalg.norm(X - singular) / unit
    random = numpy.random.default_rng(0)
    sign = numpy.sign(boundary.value(boundary.U))
    for number in range(1000):
        line = found.nearest / length + (1.0, 0.1, 0.01)[number % 3] * random.normal(size=(3, 2))
        for part in (0.9, 0.9999):
            nearer = boundary.U + part * length / numpy.linalg.norm(line) * line
            assert numpy.sign(boundary.value(nearer)) == sign


def test_singular_points_that_could_be_nearest() -> None:
    """All rows parallel: |x|²x₁ − 3x₁ + 2 has the isolated zero (1, 0). And ω parallel to Q, b = 0:
    (|x|² − 1) y = 0, where x is the part in one token direction.
    """
    line = {"K": [[1, 0]], "Q": [[1, 0]], "V": [[-1 / 3, 0], [0, 0]], "w": [-3, 0]}
    X = [[1, 0.1], [0, 1]]
    assert listed(line | {"X": X}, 2.0)[1] is None
    parallel = {"K": [[1, 1]], "Q": [[2, 1]], "V": [[1, 0], [0, 3]], "w": [2, 1], "X": X}
    assert listed(parallel, 0.0)[1] is None
    assert listed(parallel | {"Q": [[2, 2]]}, 0.0)[1] is not None


def test_a_critical_point_of_one_token_with_D_0() -> None:
    """N = 1 − e₁e₂ᵀ − e₂e₁ᵀ for x = 1; the input is made from y, and y is in no list by D ≠ 0."""
    alpha, omega, y = (numpy.array(row) for row in ([1, 2, 3], [2, -1, 2], [1, 2, -1]))
    m, n = alpha @ y, y[0] * y[1]
    X = numpy.array([y[0] - y[1], y[1] - y[0], y[2]]) - (n * alpha + omega) / m
    bias = -float(n * m + omega @ y)
    V = numpy.outer([1, 0, 0], [1 / omega[0], 0, 0])
    layer = {"K": [[0, 1, 0]], "Q": [alpha], "V": V, "w": omega}
    boundary, found = listed(layer | {"X": X[:, None]}, bias)
    assert found is None
    unit = numpy.linalg.norm(X) / numpy.linalg.norm(boundary.U)
    point = y[:, None] / unit
    gradient, step = boundary.gradient(point), point - boundary.U
    assert abs(boundary.value(point)) < 1e-12
    assert numpy.linalg.matrix_rank(numpy.hstack([gradient, step]), tol=1e-12) == 1
    assert listed(layer | {"X": X[:, None] + 0.25}, bias)[1] is not None


def test_inputs_without_a_list() -> None:
    """One token of two entries; one direction; no skip connection."""
    assert listed(layer_of(2, 1, 0), 1.0)[1] is None
    assert listed(layer_of(1, 3, 0), 1.0)[1] is None
    problem = read_problem(layer_of(3, 3, 0), pool="first", bias=1.0, skip=False, scores_over="1")
    assert all_points_with_skip(problem, problem.in_units()) is None


def test_a_list_with_skip_proves_what_bounds_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same distance where bounds prove it, too."""

    def unproved(*arguments: Any) -> Enclosure:
        return replace(distance_to(*arguments), is_proved=False)

    layer = layer_of(5, 3, 2)
    value = robustness(layer, skip=True).value[0]
    usual = robustness(layer, bias=-value + 0.2, skip=True)
    assert usual.because.startswith("Theorem R4")
    monkeypatch.setattr("m2bridge.decision_boundary.result.distance_to", unproved)
    found = robustness(layer, bias=-value + 0.2, skip=True)
    assert found.is_proved
    assert found.because == "complete list of critical points (Theorem R7)"
    assert found.critical_points == 29
    assert usual.distance is not None
    assert found.distance == pytest.approx(usual.distance, rel=1e-13)
    assert found.nearest == pytest.approx(usual.nearest, abs=1e-9)
