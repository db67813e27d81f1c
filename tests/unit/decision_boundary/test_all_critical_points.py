"""Complete lists of critical points, against local searches in all variables and closed formulas."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy
import pytest

from m2bridge import robustness
from m2bridge.decision_boundary.boundary import BoundaryProblem
from m2bridge.decision_boundary.critical_points import AllCriticalPoints, all_critical_points
from m2bridge.decision_boundary.nearest import Enclosure, distance_to
from m2bridge.decision_boundary.reading import read_problem
from m2bridge.decision_boundary.search import descended

Layer = dict[str, Any]
SPECIAL: Layer = {"K": [[1, 0]], "Q": [[2, 1]], "V": [[1, 0]], "w": [1]}
"""In docs/robustness.md: a list would say 1.04694 for 0.79561 at the first of these inputs."""


def problem_of(layer: Layer, bias: float, **options: Any) -> BoundaryProblem:
    chosen: dict[str, Any] = {"pool": "first", "skip": False, "scores_over": "1"} | options
    return read_problem(layer, bias=bias, **chosen)


def listed(layer: Layer, bias: float, **options: Any) -> AllCriticalPoints | None:
    problem = problem_of(layer, bias, **options)
    return all_critical_points(problem, problem.in_units())


def distances(layer: Layer, bias: float, **options: Any) -> list[float]:
    problem = problem_of(layer, bias, **options)
    found = all_critical_points(problem, problem.in_units())
    assert found is not None
    unit = 2.0 ** problem.in_units().size
    return [float(distance.mid()) * unit for distance in found.distances]


def random_layer(random: numpy.random.Generator, d: int, t: int, *, integers: bool) -> Layer:
    def matrix(*shape: int) -> numpy.ndarray[Any, Any]:
        nonzero = (-3, -2, -1, 1, 2, 3)
        entries: numpy.ndarray[Any, Any] = random.normal(size=shape)
        return random.choice(nonzero, shape) if integers else entries

    layer = {"K": matrix(1, d), "Q": matrix(1, d), "V": matrix(2, d), "w": matrix(2)}
    return layer | {"X": matrix(d, t)}


@pytest.mark.parametrize("seed", [*range(11), *range(12, 21)])  # 11 has no boundary
def test_what_searches_find_is_in_the_list(seed: int) -> None:
    random = numpy.random.default_rng(seed)
    d, t = int(random.integers(1, 5)), int(random.integers(1, 6))
    layer = random_layer(random, d, t, integers=seed % 3 > 0)
    pool = ("mean", "first", "last")[seed % 3]
    problem = problem_of(layer, 7.0 * (-1) ** seed, pool=pool)
    boundary = problem.in_floats(problem.in_units())
    found = all_critical_points(problem, problem.in_units())
    assert found is not None
    known = numpy.array([float(distance.mid()) for distance in found.distances])
    assert abs(boundary.value(boundary.U + found.nearest)) < 1e-9
    assert numpy.linalg.norm(found.nearest) == pytest.approx(known[0])
    for number in range(15):
        start = (0.0, 0.3, 1.0)[number % 3] * random.normal(size=boundary.U.shape)
        step = descended(boundary, start, whole_steps=60 * (number % 2))
        if step is None or abs(boundary.value(boundary.U + step)) > 1e-9:
            continue
        gradient = boundary.gradient(boundary.U + step)
        multiplier = (gradient * step).sum() / (gradient**2).sum()
        length = numpy.linalg.norm(step)
        if numpy.linalg.norm(step - multiplier * gradient) < 1e-6 * length:
            assert numpy.abs(known - length).min() < 1e-5 * length


@pytest.mark.parametrize(("d", "t"), [(3, 3), (3, 5), (6, 4)])
def test_twenty_points_of_a_generic_input(d: int, t: int) -> None:
    found = listed(random_layer(numpy.random.default_rng(d * t), d, t, integers=False), 1.0)
    assert found is not None
    assert found.number == 20


def test_tokens_with_one_entry() -> None:
    """d = 1, two tokens: g = y(y² + z²) − s³ at (0, s), against the least of many values."""
    s = 2.0
    layer = {"K": [[1]], "Q": [[1]], "V": [[1]], "w": [1], "X": [[0, s]]}
    y = numpy.linspace(1e-3, s, 2_000_001)
    z = numpy.sqrt(numpy.maximum(0, s**3 / y - y**2))
    by_values = float(numpy.hypot(y, z - s).min())
    assert distances(layer, -(s**3))[0] == pytest.approx(by_values, rel=1e-9)


def test_the_special_input_has_no_list() -> None:
    layer = SPECIAL | {"X": [[-2 / 3, 0, 0], [2, 0, 0]]}
    assert listed(layer, -1.0) is None
    near = SPECIAL | {"X": [[-2 / 3, 1e-6, 0], [2, 0, 0]]}
    assert distances(near, -1.0)[:3] == pytest.approx([0.7956, 0.7956, 1.0469], abs=1e-4)
    found = robustness(layer, pool="first", bias=-1)
    assert found.distance is not None
    assert found.distance[1] == pytest.approx(0.79561, abs=5e-6)
    assert found.real_critical_points is None


def test_layers_without_a_list() -> None:
    """A head of rank two, two heads, a skip connection, no bias, a readout of rank two, an
    input of zeros, and β = 0.
    """
    layer = random_layer(numpy.random.default_rng(0), d=3, t=3, integers=False)
    assert listed(layer | {"K": numpy.eye(2, 3), "Q": numpy.eye(2, 3)}, 1.0) is None
    twice = {name: numpy.array([layer[name]] * 2) for name in "KQV"}
    assert listed(layer | twice, 1.0) is None
    square = layer | {"V": numpy.eye(3), "w": [1, 2, 3]}
    assert listed(square, 1.0, skip=True) is None
    assert listed(layer, 0.0) is None
    by_R = {name: array for name, array in layer.items() if name != "w"} | {"R": numpy.eye(2, 3)}
    assert listed(by_R, 1.0, pool=None) is None
    assert listed(layer | {"X": numpy.zeros((3, 3))}, 1.0) is None
    assert listed(layer | {"V": [[1, 2, 3], [1, 2, 3]], "w": [1, -1]}, 1.0) is None


def test_matrices_of_rank_one_have_the_list_of_their_rows() -> None:
    """A = KᵀQ; and K and Q of two rows with the same product."""
    layer = random_layer(numpy.random.default_rng(3), d=3, t=4, integers=True)
    expected = distances(layer, 5.0)
    A = layer["K"].T @ layer["Q"]
    without = {name: array for name, array in layer.items() if name not in ("K", "Q")}
    assert distances(without | {"A": A}, 5.0) == pytest.approx(expected, rel=1e-12)
    K, Q = numpy.vstack([3 * layer["K"], layer["K"]]), numpy.vstack([layer["Q"], -2 * layer["Q"]])
    assert distances(without | {"K": K, "Q": Q}, 5.0) == pytest.approx(expected, rel=1e-12)
    K, Q = numpy.vstack([layer["K"], layer["K"]]), numpy.vstack([[[1, 0, 2]], [[0, 5, 1]]])
    sums = distances(without | {"K": layer["K"], "Q": Q.sum(axis=0)[None]}, 5.0)
    assert distances(without | {"K": K, "Q": Q}, 5.0) == pytest.approx(sums, rel=1e-12)


def test_one_direction_of_tokens_by_R() -> None:
    """R = w cᵀ with a column c that is no unit vector, as a matrix, and divided by t."""
    layer = random_layer(numpy.random.default_rng(4), d=3, t=4, integers=False)
    without = {name: array for name, array in layer.items() if name != "w"}
    R = numpy.outer([1.0, 2.0], [1.0, 1.0, 1.0, 1.0])
    mean = distances(layer | {"w": [4.0, 8.0]}, 5.0, pool="mean")
    assert distances(without | {"R": R}, 5.0, pool=None) == pytest.approx(mean, rel=1e-12)
    fourth = distances(layer | {"w": [1.0, 2.0]}, 5.0, pool="mean", scores_over="1")
    over_t = distances(layer | {"w": [4.0, 8.0]}, 5.0, pool="mean", scores_over="t")
    assert over_t == pytest.approx(fourth, rel=1e-12)


@pytest.mark.parametrize("exponent", [-480, 480])
def test_lists_in_any_units(exponent: int) -> None:
    layer = random_layer(numpy.random.default_rng(5), d=3, t=3, integers=False)
    size = 2.0**exponent
    expected = [size * distance for distance in distances(layer, 5.0)]
    scaled = layer | {"X": size * layer["X"], "K": layer["K"] / size, "Q": layer["Q"] / size}
    assert distances(scaled, 5.0 * size) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("skip", [False, True])
def test_an_input_that_is_tiny_has_no_list(skip: bool) -> None:
    """Roots nearly coincide then, and FLINT would not end. The distance differs from the distance of
    the input 0 by 10⁻¹⁰⁰ at most.
    """
    layer = random_layer(numpy.random.default_rng(5), d=2, t=2, integers=False)
    sizes = [
        robustness(layer | {"X": size * layer["X"]}, bias=1.0, skip=skip).distance
        for size in (0.0, 1e-100)
    ]
    assert sizes[0] is not None
    assert sizes[1] is not None
    assert max(low for low, _ in sizes) <= min(high for _, high in sizes)


def test_a_far_boundary_is_proved_by_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where bounds prove a nearest point, the list has the same distance; where they do not, it
    decides.
    """

    def unproved(*arguments: Any) -> Enclosure:
        return replace(distance_to(*arguments), is_proved=False)

    layer = random_layer(numpy.random.default_rng(6), d=4, t=3, integers=False)
    usual = robustness(layer, bias=0.3)
    assert usual.is_proved
    assert usual.critical_points is None
    monkeypatch.setattr("m2bridge.decision_boundary.result.distance_to", unproved)
    found = robustness(layer, bias=0.3)
    assert usual.distance is not None
    assert found.distance is not None
    assert found.distance == pytest.approx(usual.distance, rel=1e-13)
    assert found.distance[1] < found.distance[0] * (1 + 1e-15)
    assert found.is_proved
    assert found.because == "complete list of critical points (Theorem R3)"
    assert usual.nearest == pytest.approx(found.nearest, abs=1e-9)
    data = found.to_json()
    assert data["critical_points"] == 20
    assert data["real_critical_points"] >= 2
    assert "20 complex" in found.to_text()
