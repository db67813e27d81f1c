"""Distances to decision boundaries, against closed formulas and searches in all d·t variables."""

from __future__ import annotations

import json
import runpy
import sys
import warnings
from collections.abc import Callable
from fractions import Fraction
from math import sqrt
from pathlib import Path
from typing import Any, Literal

import flint
import numpy
import pytest

from m2bridge import InvalidCaseError, Robustness, robustness

Array = numpy.ndarray[Any, Any]


def layer_of(random: numpy.random.Generator, d: int, t: int, a: int, **more: Any) -> dict[str, Any]:
    return {
        "K": random.normal(size=(a, d)),
        "Q": random.normal(size=(a, d)),
        "V": random.normal(size=(3, d)),
        "w": random.normal(size=3),
        "X": random.normal(size=(d, t)),
    } | more


def value_of(layer: dict[str, Any], R: Array, *, skip: bool) -> Callable[[Array], float]:
    """⟨R, φ(X)⟩, token by token, from the definition of the layer."""
    heads = [layer] if numpy.ndim(layer["V"]) == 2 else _heads_of(layer)

    def value(X: Array) -> float:
        outputs = numpy.zeros((len(R), X.shape[1]))
        for head in heads:
            K, Q, V = (numpy.asarray(head[name]) for name in "KQV")
            V = numpy.asarray(head["O"]) @ V if "O" in head else V
            for j in range(X.shape[1]):
                for u in range(X.shape[1]):
                    score = float((K @ X[:, u]) @ (Q @ X[:, j]))
                    outputs[:, j] += score * (V @ X[:, u])
        if skip:
            outputs = outputs + X
        return float((R * outputs).sum())

    return value


def _heads_of(layer: dict[str, Any]) -> list[dict[str, Any]]:
    names = [name for name in ("K", "Q", "V", "O") if name in layer]
    return [{name: layer[name][h] for name in names} for h in range(len(layer["V"]))]


def nearest_by_search(
    value: Callable[[Array], float], U: Array, random: numpy.random.Generator
) -> float:
    """The least distance that local searches in all variables reach, with numerical gradients."""
    best = numpy.inf
    for number in range(12):
        X = U + (0.0, 0.1, 0.5)[number % 3] * random.normal(size=U.shape)
        for _ in range(80):
            gradient = numpy.zeros_like(X)
            for place in numpy.ndindex(*X.shape):
                step = numpy.zeros_like(X)
                step[place] = 1e-5
                gradient[place] = (value(X + step) - value(X - step)) / 2e-5
            square = float((gradient**2).sum())
            target = U + ((gradient * (X - U)).sum() - value(X)) / square * gradient
            moved = float(numpy.abs(target - X).max())
            X = X + 0.6 * (target - X)
            if moved < 1e-9 or not numpy.isfinite(X).all():
                break
        if numpy.isfinite(X).all() and abs(value(X)) < 1e-7:
            best = min(best, float(numpy.linalg.norm(X - U)))
    return best


def test_a_line_of_one_variable() -> None:
    """d = t = 1: g(x) = 6 x³ + b, whose real zero is a cube root: here 9/8."""
    line = {"K": [[2]], "Q": [[1]], "V": [[3]], "w": [1], "X": [[1]]}
    found = robustness(line, bias=-6 * (9 / 8) ** 3)
    assert found.distance is not None
    low, high = found.distance
    assert low <= 1 / 8 <= high < low * (1 + 1e-14)
    assert found.sign == -1
    assert found.is_proved


def test_special_input_needs_a_direction_more_than_its_rows() -> None:
    """In docs/robustness.md: 1.04694… with the rows of the input only, 0.79561 with one more."""
    layer = {"K": [[1, 0]], "Q": [[2, 1]], "V": [[1, 0]], "w": [1]}
    X = [[-2 / 3, 0, 0], [2, 0, 0]]
    found = robustness(layer | {"X": X}, pool="first", bias=-1)
    assert found.distance is not None
    assert found.distance[0] < 0.79561
    assert found.distance[1] == pytest.approx(0.79561, abs=5e-6)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.slow
def test_no_search_in_all_variables_finds_a_nearer_point(seed: int) -> None:
    random = numpy.random.default_rng(seed)
    d, t, heads = 2 + seed % 3, 1 + seed % 4, 1 + seed % 2
    layer = layer_of(random, d, t, a=2)
    skip = seed % 3 == 2
    rank = 2 if seed == 4 else 1
    d_out = d if skip else 3
    layer["V"] = random.normal(size=(heads, 2, d))
    layer["O"] = random.normal(size=(heads, d_out, 2))
    layer["K"], layer["Q"] = random.normal(size=(2, heads, 2, d))
    del layer["w"]
    R = random.normal(size=(d_out, rank)) @ random.normal(size=(rank, t))
    layer["R"] = R
    value = value_of(layer, R, skip=skip)
    bias = -value(layer["X"]) + 0.3
    found = robustness(layer, bias=bias, skip=skip)
    by_search = nearest_by_search(lambda X: value(X) + bias, layer["X"], random)
    assert found.distance is not None
    low, high = found.distance
    assert low <= by_search * (1 + 1e-5)
    assert high == pytest.approx(by_search, rel=1e-4)
    assert not found.is_proved or high <= low * (1 + 1e-9)


def test_the_nearest_input_is_on_the_other_side() -> None:
    """By rational numbers, from the definition: beyond it g has the other sign."""
    random = numpy.random.default_rng(5)
    layer = layer_of(random, d=6, t=4, a=2)
    found = robustness(layer, bias=-2.0)
    assert found.is_proved
    assert found.nearest is not None
    beyond = layer["X"] + (1 + 1e-9) * (found.nearest - layer["X"])
    R = numpy.outer(layer["w"], numpy.ones(4) / 4)
    signs = [numpy.sign(value_of(layer, R, skip=False)(X) - 2.0) for X in (layer["X"], beyond)]
    assert signs[0] == found.sign == -signs[1]


def test_a_real_size() -> None:
    """The number of another program for the same weights: 0.311322."""
    random = numpy.random.default_rng(64)
    d, t, a = 768, 128, 64
    K, Q = random.normal(size=(a, d)) / sqrt(d), random.normal(size=(a, d)) / sqrt(d * a)
    beta = random.normal(size=d) / sqrt(d)
    U = random.normal(size=(d, t))
    layer = {"K": K, "Q": Q, "V": beta[None], "w": [1], "X": U}
    without_bias = robustness(layer).value[0]
    found = robustness(layer, bias=-without_bias - 0.001 * slope(K, Q, beta, U) * norm(U))
    assert found.is_proved
    assert found.distance is not None
    low, high = found.distance
    assert low == pytest.approx(0.311322, abs=5e-7)
    assert high < low * (1 + 3e-14)


def norm(X: Array) -> float:
    return float(numpy.linalg.norm(X))


def slope(K: Array, Q: Array, beta: Array, U: Array) -> float:
    """The norm of the gradient at U for the mean of the tokens."""
    gamma = numpy.ones(U.shape[1]) / U.shape[1]
    f, KU, z = U.T @ beta, K @ U, Q @ (U @ gamma)
    gradient = numpy.outer(beta, KU.T @ z) + numpy.outer(K.T @ z, f)
    return norm(gradient + numpy.outer(Q.T @ (KU @ f), gamma))


@pytest.mark.parametrize("exponent", [-150, 150])
def test_units_change_nothing(exponent: int) -> None:
    """Weights of any size, with a bias of that size: the same boundary."""
    random = numpy.random.default_rng(1)
    layer = layer_of(random, d=4, t=3, a=1)
    usual = robustness(layer, bias=1.0)
    factor = 2.0 ** (exponent * 10 // 3)
    scaled = robustness(layer | {"K": factor * layer["K"]}, bias=factor)
    assert usual.distance is not None
    assert scaled.distance is not None
    assert scaled.distance[1] == pytest.approx(usual.distance[1], rel=1e-12)
    assert scaled.is_proved == usual.is_proved


def test_inputs_of_any_size() -> None:
    random = numpy.random.default_rng(2)
    layer = layer_of(random, d=3, t=2, a=1)
    usual = robustness(layer, bias=1.0)
    size = 2.0**400
    large = robustness(layer | {"X": size * layer["X"], "K": layer["K"] / size}, bias=size**2)
    assert usual.distance is not None
    assert large.distance is not None
    assert large.distance[1] / size == pytest.approx(usual.distance[1], rel=1e-12)


def test_scores_that_are_divided() -> None:
    """By √a and by t: as with keys that are divided by 2 and by 4."""
    random = numpy.random.default_rng(3)
    layer = layer_of(random, d=5, t=4, a=4)
    overs: tuple[tuple[Literal["sqrt(a)", "t"], int], ...] = (("sqrt(a)", 2), ("t", 4))
    for over, divisor in overs:
        divided = robustness(layer, bias=0.7, scores_over=over)
        expected = robustness(layer | {"K": layer["K"] / divisor}, bias=0.7)
        assert divided.distance == pytest.approx(expected.distance, rel=1e-12)


def test_pools() -> None:
    random = numpy.random.default_rng(4)
    layer = layer_of(random, d=3, t=3, a=1)
    w = layer["w"]
    for pool, column in (("mean", [1 / 3] * 3), ("last", [0, 0, 1]), ("1", [0, 1, 0])):
        pooled = robustness(layer, pool=pool, bias=0.4)
        without_w = {name: array for name, array in layer.items() if name != "w"}
        by_R = robustness(without_w | {"R": numpy.outer(w, column)}, bias=0.4)
        assert pooled.distance == pytest.approx(by_R.distance, rel=1e-9)


def test_on_the_boundary() -> None:
    """g(X) = x³ − 1/27 at 1/3 is not zero, as 1/3 is no float; x³ − 27 at 3 is."""
    line = {"K": [[1]], "Q": [[1]], "V": [[1]], "w": [1]}
    on = robustness(line | {"X": [[3]]}, bias=-27)
    assert (on.sign, on.distance, on.is_proved) == (0, (0.0, 0.0), True)
    near = robustness(line | {"X": [[1 / 3]]}, bias=-1 / 27)
    third = Fraction(1 / 3)
    side = third**3 - Fraction(1 / 27)
    assert near.sign == (1 if side > 0 else -1)
    assert near.distance is not None
    assert 0 < near.distance[1] < 1e-16


def test_no_boundary_and_hyperplanes() -> None:
    layer = {"K": [[0, 0]], "Q": [[1, 2]], "V": [[1, 0], [0, 1]], "w": [3, 4], "X": [[1], [2]]}
    constant = robustness(layer, bias=2.0)
    assert constant.distance is None
    assert constant.to_json()["distance"] == [None, None]
    plane = robustness(layer, bias=2.0, skip=True)  # g = 3 x + 4 y + 2, at (1, 2): 13/5
    assert plane.distance == pytest.approx((2.6, 2.6))
    everywhere = robustness(layer)
    assert everywhere.distance == (0.0, 0.0)


def test_heads_whose_products_cancel() -> None:
    """V is orthogonal to w; A is skew and there is one token; the first head is the sum of others."""
    K, skew = numpy.eye(2), numpy.array([[0, 1], [-1, 0]])
    one = {"X": [[1], [2]], "w": [1, 1]}
    unread = one | {"A": K, "V": [[1, 2], [-1, -2]]}
    of_one_token = one | {"A": skew, "V": K}
    opposite = {
        "X": [[1, 2, 3], [4, 5, 6]],
        "w": [1, 1],
        "A": [K + skew, K, skew],
        "V": [K, -K, -K],
    }
    for layer in (unread, of_one_token, opposite):
        assert robustness(layer, bias=2.0).distance is None
        assert robustness(layer, bias=2.0).is_proved
    # with two tokens the cubic form of a skew A is not zero
    two = of_one_token | {"X": [[1, 0], [2, 1]]}
    found = robustness(two, bias=2.0).distance
    assert found is not None
    assert found[1] < 10
    # with a skip connection the boundary of the first is the line x + y + 2 = 0, at (1, 2)
    plane = robustness(unread, bias=2.0, skip=True)
    assert plane.distance == pytest.approx((5 / sqrt(2), 5 / sqrt(2)))


@pytest.mark.parametrize(
    ("change", "options", "words"),
    [
        ({"W_in": [[1.0]]}, {}, "not in the layer here: 'W_in'"),
        ({"X": [[1.0, float("nan")]]}, {}, "not a finite number"),
        ({"X": [[1.0]]}, {}, "X has 1 row, but"),
        ({"X": [1.0, 2.0]}, {}, "X has the shape 2; X is d × t"),
        ({"X": 1.0}, {}, "X has the shape of a number"),
        ({"w": numpy.zeros(0)}, {}, "w has the shape 0"),
        ({"w": [1.0]}, {}, "w has the length 1, and the layer 3 outputs"),
        ({"R": [[1.0]]}, {}, "one readout"),
        ({"bq": [0.0]}, {}, "norms, biases, positions"),
        ({}, {"skip": True, "bias": 1.0}, "as many outputs as inputs"),
        ({}, {"pool": "best"}, "mean, last, first"),
        ({}, {"pool": "7"}, "tokens 0 to 1"),
        ({}, {"bias": float("inf")}, "finite"),
        ({}, {"bias": 1.0, "threshold": 1.0}, "give one of them"),
        ({}, {"bias": Fraction(1, 3)}, "no float is equal"),
        ({"V": [[[1.0, 1], [1, 1], [1, 1]]] * 2}, {}, "all with the heads as first index"),
    ],
)
def test_what_is_refused(change: dict[str, Any], options: dict[str, Any], words: str) -> None:
    layer = layer_of(numpy.random.default_rng(0), d=2, t=2, a=1) | change
    with pytest.raises(InvalidCaseError, match=words):
        robustness(layer, **options)


def test_a_wrong_readout_is_another_boundary() -> None:
    """A sign in w moves the boundary, so that a test of distances alone would see it."""
    layer = layer_of(numpy.random.default_rng(8), d=3, t=2, a=1)
    usual = robustness(layer, bias=0.5)
    other = robustness(layer | {"w": layer["w"] * [1, -1, 1]}, bias=0.5)
    assert usual.distance is not None
    assert other.distance is not None
    assert abs(usual.distance[1] - other.distance[1]) > 1e-3


def test_json_has_the_interval(tmp_path: Any) -> None:
    layer = layer_of(numpy.random.default_rng(9), d=3, t=2, a=1)
    numpy.savez(tmp_path / "layer.npz", **layer)
    found: Robustness = robustness(tmp_path / "layer.npz", threshold=-0.5)
    data = found.to_json()
    assert data["distance"] == list(found.distance or ())
    assert data["is_proved"] is found.is_proved
    assert data["case"] == {"d": 3, "d_out": 3, "t": 2, "heads": 1}
    assert numpy.shape(data["nearest"]) == (3, 2)
    assert flint.ctx.prec == 53  # what is proved in balls leaves the precision of others alone


@pytest.mark.parametrize("small", [1e-15, 1e-25, 1e-30])
def test_inputs_that_are_nearly_on_the_boundary(small: float) -> None:
    """g(x, y) = x (x² + y²) − 1 at (1, ε) is ε², and its gradient there is nearly (3, 0)."""
    layer = {"K": [[1]], "Q": [[1]], "V": [[1]], "w": [1], "X": [[1, small]]}
    found = robustness(layer, pool="first", bias=-1)
    assert found.sign == 1
    assert found.is_proved
    assert found.distance is not None
    assert found.distance == pytest.approx((small**2 / 3, small**2 / 3), rel=1e-12, abs=0)


def test_an_input_nearer_to_the_boundary_than_floats_are_to_zero() -> None:
    layer = {"K": [[1]], "Q": [[1]], "V": [[1]], "w": [1], "X": [[1, 1e-100]]}
    found = robustness(layer, pool="first", bias=-1)
    assert found.distance is not None
    assert found.distance[0] <= 1e-200 / 3 <= found.distance[1] < 1e-200


def test_bounds_at_an_input_where_the_slope_is_zero() -> None:
    """x³ = 8 seen from 0: nothing proves that 2 is nearer than all others, but bounds are close."""
    found = robustness({"A": [[1]], "V": [[1]], "w": [1], "X": [[0]]}, threshold=8)
    assert found.distance is not None
    assert 1.99 < found.distance[0] <= 2 <= found.distance[1]


def test_small_rows_are_directions_that_count() -> None:
    """A row of keys that is 10⁻³⁵⁰ of another one, where its queries are as much larger."""
    e = numpy.eye(6)
    layer = {
        "K": [1e150 * e[0], 1e-200 * e[1]],
        "Q": [1e-150 * e[2], 1e200 * e[3]],
        "V": [e[4]],
        "w": [1],
        "X": numpy.ones((6, 1)),
    }
    assert robustness(layer, bias=-1).directions == 6


def test_the_example_is_what_its_program_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    examples = Path(__file__).parents[3] / "examples"
    monkeypatch.setattr(sys, "argv", ["", str(tmp_path / "written.npz")])
    runpy.run_path(str(examples / "distance_to_a_boundary.py"))
    kept = numpy.load(examples / "classifier.npz")
    written = numpy.load(tmp_path / "written.npz")
    assert set(kept) == set(written)
    assert all((kept[name] == written[name]).all() for name in kept)


def test_values_beyond_floats() -> None:
    """g(x) = x³ at ±10²⁰⁰ is no float, and the distance to 0 is 10²⁰⁰."""
    for sign, words in ((1, "at least 1.79769E+308"), (-1, "at most -1.79769E+308")):
        found = robustness({"A": [[1.0]], "V": [[1.0]], "w": [1.0], "X": [[sign * 1e200]]})
        assert found.sign == sign
        assert found.distance == pytest.approx((1e200, 1e200), rel=1e-12)
        assert f"{words}, " in str(found.to_sheet().blocks[0])
        json.loads(json.dumps(found.to_json(), allow_nan=False))


def test_no_warning_reaches_the_reader() -> None:
    """Searches from an input this small leave the range of floats."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        layer = {"K": [[1.0, 0.5]], "Q": [[1.0, 2.0]], "V": [[1.0, 1.0]], "w": [1.0]}
        assert robustness(layer | {"X": [[1e-60], [1e-61]]}, bias=1.0).sign == 1


def test_the_upper_end_is_the_least_distance_in_a_plane() -> None:
    """Searches by hyperplanes alone reach a point at the distance 3.10. On each ray from the input
    g is a cubic polynomial, here of 360 rays.
    """
    K, Q, V, x, w, b = [-3, 3], [-1, 0], [[-2, 2], [-1, 0]], [3, 2], [3, 0], -9
    layer = {"K": [K], "Q": [Q], "V": V, "w": w, "X": [[x[0]], [x[1]]]}
    found = robustness(layer, bias=float(b), skip=True)
    assert found.distance is not None
    least = numpy.inf
    for angle in numpy.arange(360) * numpy.pi / 180:
        ray = (numpy.poly1d([numpy.cos(angle), x[0]]), numpy.poly1d([numpy.sin(angle), x[1]]))
        scores = (K[0] * ray[0] + K[1] * ray[1]) * (Q[0] * ray[0] + Q[1] * ray[1])
        values = [w[0] * V[0][column] + w[1] * V[1][column] for column in (0, 1)]
        outputs = scores * (values[0] * ray[0] + values[1] * ray[1])
        roots = (outputs + w[0] * ray[0] + w[1] * ray[1] + b).roots
        least = min([least, *(root.real for root in roots if root.imag == 0 and root.real > 0)])
    assert found.distance[1] == pytest.approx(least, rel=0.02)
