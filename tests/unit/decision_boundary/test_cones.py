"""Cones of rank one: closed formulas, against searches on each part, and by a calculation by hand."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy
import pytest

from m2bridge import robustness
from m2bridge.decision_boundary.boundary import exponent
from m2bridge.decision_boundary.cones import nearest_of_cone
from m2bridge.decision_boundary.critical_points import AllCriticalPoints
from m2bridge.decision_boundary.options import ScoresOver
from m2bridge.decision_boundary.reading import read_problem

Layer = dict[str, Any]


def closed_form(
    layer: Layer, pool: str = "first", scores_over: ScoresOver = "1"
) -> AllCriticalPoints | None:
    problem = read_problem(layer, pool=pool, bias=0.0, skip=False, scores_over=scores_over)
    return nearest_of_cone(problem, problem.in_units())


def layer_of(d: int, t: int, seed: int) -> Layer:
    random = numpy.random.default_rng(seed)
    shapes = {"K": (1, d), "Q": (1, d), "V": (2, d), "w": (2,), "X": (d, t)}
    return {name: random.normal(size=shape) for name, shape in shapes.items()}


def test_two_coordinates_by_hand() -> None:
    """g = x·y·z at (x, y, z) = (3, 4, 5), d = 3, t = 1: the smallest coordinate; nearer to y = z
    when K is (0, 1, 1) and β is (0, 1, −1), where g = x (y² − z²).
    """
    e = numpy.eye(3)
    layer = {"Q": e[[0]], "K": e[[1]], "V": e[[2]], "w": [1], "X": [[3], [4], [5]]}
    planes = robustness(layer)
    assert planes.is_proved
    assert planes.distance == pytest.approx((3, 3), rel=1e-15)
    assert planes.nearest == pytest.approx(numpy.array([[0], [4], [5]]))
    squares = robustness(layer | {"K": [[0, 1, 1]], "V": [[0, 1, -1]]})
    assert squares.distance == pytest.approx((1 / sqrt(2), 1 / sqrt(2)), rel=1e-14)
    assert squares.nearest == pytest.approx(numpy.array([[3], [4.5], [4.5]]))


def test_a_singular_point_is_nearest() -> None:
    """β = K: the quadric is |XᵀK|² = 0, of which all points are singular, and g has one sign on both
    sides; here it is at 1, and the hyperplane at 2.
    """
    layer = {"Q": [[1, 0]], "K": [[0, 1]], "V": [[0, 1]], "w": [1], "X": [[2, 7], [0.6, 0.8]]}
    found = robustness(layer, pool="first")
    assert found.is_proved
    assert found.because == "closed form for a cone (Theorem R6)"
    assert found.distance == pytest.approx((1, 1), rel=1e-15)
    assert found.nearest == pytest.approx(numpy.array([[2, 7], [0, 0]]), abs=1e-12)
    assert found.critical_points is None


@pytest.mark.parametrize("seed", range(12))
def test_the_distance_to_the_quadric(seed: int) -> None:
    """By Lagrange: X = (1 − μ S)⁻¹U with S the symmetric part of βKᵀ, for the roots μ of a rational
    function of one variable.
    """
    d, t = 2 + seed % 3, 1 + seed % 4
    layer = layer_of(d, t, seed)
    found = closed_form(layer, "mean")
    assert found is not None
    beta, K, Q, U = layer["V"].T @ layer["w"], layer["K"][0], layer["Q"][0], layer["X"]
    values, vectors = numpy.linalg.eigh(numpy.outer(beta, K) + numpy.outer(K, beta))
    squares = ((vectors.T @ U) ** 2).sum(axis=1)
    # Σ value·square/(1 − μ·value)² = 0 for the two values that are not zero
    low, high = values[0], values[-1]
    ratio = sqrt(-squares[0] * low / (squares[-1] * high))
    distances = []
    for sign in (1, -1):
        # (1 − μ low) = ± ratio (1 − μ high)
        mu = (1 - sign * ratio) / (low - sign * ratio * high)
        moved = [(1 / (1 - mu * one) - 1) ** 2 for one in (low, high)]
        distances.append(sqrt(moved[0] * squares[0] + moved[1] * squares[-1]))
    plane = abs(Q @ U.mean(axis=1)) * sqrt(t) / numpy.linalg.norm(Q)
    unit = 2.0 ** exponent(U)
    expected = sorted([min(distances), plane])
    assert [unit * float(one.mid()) for one in found.distances] == pytest.approx(expected)
    X = U + unit * found.nearest
    assert numpy.linalg.norm(X - U) == pytest.approx(expected[0])
    assert abs((beta @ X @ X.T @ K) * (Q @ X.mean(axis=1))) < 1e-9


@pytest.mark.parametrize("second", [3.0, -3.0])
def test_an_input_that_is_orthogonal_to_a_difference(second: float) -> None:
    """g = x·y·(9x + 8y) at (3, ±3) in one of two tokens: the nearest points are on a circle."""
    layer = {"K": [[1, 0]], "V": [[0, 1]], "w": [1], "Q": [[9, 8]], "X": [[3, 0], [second, 0]]}
    found = closed_form(layer)
    assert found is not None
    to_plane = abs(3 * 9 + second * 8) / sqrt(145)
    assert sorted([3, to_plane]) == pytest.approx([4 * float(x.mid()) for x in found.distances])
    if to_plane > 3:
        X = numpy.array(layer["X"]) + 4 * found.nearest
        assert X[0] @ X[1] == pytest.approx(0, abs=1e-12)


def test_layers_without_a_closed_form() -> None:
    layer = layer_of(3, 3, 0)
    two_rows = layer | {"K": numpy.eye(2, 3), "Q": numpy.eye(2, 3)}
    assert closed_form(two_rows) is None
    twice = {name: numpy.array([layer[name]] * 2) for name in "KQV"}
    assert closed_form(layer | twice) is None
    found = robustness(two_rows, pool="first")
    assert found.distance is not None
    assert found.distance[0] <= found.distance[1]


@pytest.mark.parametrize("exponent", [-480, 480])
def test_cones_in_any_units(exponent: int) -> None:
    """Every multiple of g has the same boundary, also with scores over √a."""
    layer = layer_of(3, 4, 1)
    usual, size = robustness(layer).distance, 2.0**exponent
    assert usual is not None
    large = robustness(
        layer | {"X": size * layer["X"], "K": layer["K"] / size}, scores_over="sqrt(a)"
    )
    assert large.distance == pytest.approx((size * usual[0], size * usual[1]), rel=1e-13)


def test_a_divisor_of_scores_that_is_irrational() -> None:
    """Two equal rows, and scores over √2."""
    layer = layer_of(3, 4, 2)
    rows = {name: numpy.vstack([layer[name], layer[name]]) for name in "KQ"}
    divided = closed_form(layer | rows, scores_over="sqrt(a)")
    usual = closed_form(layer)
    assert divided is not None
    assert usual is not None
    assert divided.nearest == pytest.approx(usual.nearest)
