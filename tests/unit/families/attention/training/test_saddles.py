"""That exposed types below full rank are saddles: the Hessian of the loss of a forward pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

from m2bridge import SingleLayerAttention
from m2bridge.families.attention.training.types import WeightType

STEP = 1e-5
Array = numpy.ndarray[Any, Any]


def forward(weights: list[Array], X: Array, softmax: bool) -> Array:
    """The outputs on sequences X (sequences, d, t), as frameworks compute them."""
    K, Q, *values = weights
    V = values[0] if len(values) == 1 else values[0] @ values[1]
    scores = numpy.einsum("npt,pq,nqu->ntu", X, K.T @ Q, X)
    if softmax:
        scores = numpy.exp(scores)
        scores = scores / scores.sum(axis=1, keepdims=True)
    return numpy.einsum("kp,npt,ntu->nku", V, X, scores).ravel()


def weights_of(kind: WeightType, shape: SingleLayerAttention, random: Any) -> list[Array]:
    """Weights with equal ranks of K, Q and A, and of O, V and OV; all else is random."""
    pairing = random.standard_normal((shape.a, shape.a))
    K = pairing.T[:, : kind.r] @ random.standard_normal((kind.r, shape.d))
    Q = numpy.linalg.inv(pairing)[:, : kind.r] @ random.standard_normal((kind.r, shape.d))
    if kind.o is None:
        V = random.standard_normal((shape.d_out, kind.s)) @ random.standard_normal(
            (kind.s, shape.d)
        )
        return [K, Q, V]
    inner = random.standard_normal((shape.a, shape.a))
    O = random.standard_normal((shape.d_out, kind.s)) @ inner[: kind.s]
    V = numpy.linalg.inv(inner)[:, : kind.s] @ random.standard_normal((kind.s, shape.d))
    return [K, Q, O, V]


def flat(weights: list[Array]) -> Array:
    return numpy.concatenate([matrix.ravel() for matrix in weights])


def unflat(entries: Array, like: list[Array]) -> list[Array]:
    places = numpy.cumsum([matrix.size for matrix in like])[:-1]
    parts = numpy.split(entries, places)
    return [part.reshape(matrix.shape) for part, matrix in zip(parts, like, strict=True)]


def jacobian(outputs: Callable[[Array], Array], at: Array) -> Array:
    """By complex steps, exact up to rounding."""
    columns = [outputs(at + 1e-30j * unit).imag / 1e-30 for unit in numpy.eye(len(at))]
    return numpy.array(columns).T


@pytest.mark.parametrize("softmax", [False, True], ids=["lightning", "softmax"])
@pytest.mark.parametrize(
    ("size", "kind"),
    [
        ((2, 1, 2), WeightType(1, 1, 1, 1, 0)),
        ((3, 2, 2), WeightType(1, 1, 1, 2, 0)),
        ((3, 1, 3), WeightType(2, 2, 2, 1, 0)),
        # full rank of A, and values of rank one in a head of dimension two
        ((2, 2, 2), WeightType(2, 2, 2, 1, 1, 1, 1)),
    ],
    ids=str,
)
def test_the_hessian_takes_both_signs(
    size: tuple[int, int, int], kind: WeightType, softmax: bool
) -> None:
    """At random weights, for random targets for which they are critical."""
    shape = SingleLayerAttention(*size)
    assert kind.is_saddle(shape, shape.a)
    random = numpy.random.default_rng(3)
    X = random.standard_normal((12, shape.d, 3)) * 0.8
    weights = weights_of(kind, shape, random)

    def outputs(entries: Array) -> Array:
        return forward(unflat(entries, weights), X, softmax)

    at = flat(weights)
    left, values, _ = numpy.linalg.svd(jacobian(outputs, at))
    rank = int((values > 1e-9 * values[0]).sum())
    normal = left[:, rank:]
    target = outputs(at) + 2 * normal @ random.standard_normal(normal.shape[1])

    def gradient(entries: Array) -> Array:
        error = outputs(entries) - target
        found: Array = jacobian(outputs, entries).T @ error
        return found

    assert numpy.abs(gradient(at)).max() < 1e-9
    rows = [
        (gradient(at + STEP * unit) - gradient(at - STEP * unit)) / (2 * STEP)
        for unit in numpy.eye(len(at))
    ]
    hessian = (numpy.array(rows) + numpy.array(rows).T) / 2
    eigenvalues = numpy.linalg.eigvalsh(hessian)
    assert eigenvalues[0] < -1e-3
    assert eigenvalues[-1] > 1e-3
