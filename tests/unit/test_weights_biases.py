"""Biases and norms: what is said of a layer against ranks of the Jacobian of its real forward pass.

The forward pass is that of a framework, with biases, softmax and LayerNorm as they are defined, and
knows no lemma. Derivatives are those of a complex step, without error of truncation; for lightning
attention there are residues besides.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy
import pytest

from m2bridge.families.attention.layer_weights import (
    Reading,
    find_heads,
    find_network,
    find_symmetries,
)
from m2bridge.families.attention.weight_names import Head, Norm

STEP = 1e-30
EPSILON = 1e-1
"""Of LayerNorm: so large that tokens fill a ball."""

Parameters = dict[str, Any]


@dataclass(frozen=True)
class Layer:
    """The sizes of a layer, and what it has besides its matrices."""

    d: int
    d_out: int
    a: int
    v: int | None = None
    heads: int = 1
    biases: str = ""
    output_bias: bool = False
    norm: str = ""
    beta: bool = False
    softmax: bool = False
    tokens: int = 2

    def sizes(self) -> dict[str, tuple[int, ...]]:
        """The shapes of all parameters."""
        H, d = self.heads, self.d
        rows = {"K": self.a, "Q": self.a, "V": self.v or self.d_out}
        found: dict[str, tuple[int, ...]] = {x: (H, n, d) for x, n in rows.items()}
        if self.v:
            found["O"] = (H, self.d_out, self.v)
        found |= {f"{x}_bias": (H, rows[x]) for x in self.biases}
        if self.output_bias:
            found["O_bias"] = (self.d_out,)
        if self.norm:
            found["gamma"] = (d,)
        if self.beta:
            found["beta"] = (d,)
        return found


def normalized(layer: Layer, p: Parameters, X: Any) -> Any:
    """LayerNorm or RMSNorm of PyTorch on the columns, with its γ and β."""
    if not layer.norm:
        return X
    if layer.norm == "layer":
        X = X - X.mean(0)
    X = X / numpy.sqrt((X * X).mean(0) + EPSILON) * p["gamma"][:, None]
    return X + p["beta"][:, None] if layer.beta else X


def attention(layer: Layer, p: Parameters, X: Any) -> Any:
    """The layer behind its norm: one score is (K x_s + b)·(Q x_j + b)."""
    total = 0
    for h in range(layer.heads):
        K, Q, V = (
            p[x][h] @ X + (p[f"{x}_bias"][h][:, None] if x in layer.biases else 0) for x in "KQV"
        )
        scores = K.T @ Q
        if layer.softmax:
            scores = numpy.exp(scores)
            scores = scores / scores.sum(0)
        out = V @ scores
        total = total + (p["O"][h] @ out if layer.v else out)
    return total + p["O_bias"][:, None] if layer.output_bias else total


def drawn(layer: Layer, seed: int) -> Parameters:
    """Random parameters, as multiples of 1/8."""
    random = numpy.random.default_rng(seed)
    return {x: random.integers(-9, 10, size) / 8 + 1 / 16 for x, size in layer.sizes().items()}


def jacobian_rank(layer: Layer, p: Parameters) -> int:
    """The rank of the Jacobian matrix of the outputs at many inputs by all parameters."""
    random = numpy.random.default_rng(1)
    count = sum(array.size for array in p.values())
    samples = count // (layer.d_out * layer.tokens) + 4
    inputs = [random.standard_normal((layer.d, layer.tokens)) for _ in range(samples)]
    rows = []
    for name, array in p.items():
        for place in numpy.ndindex(array.shape):
            moved = {x: value.astype(complex) for x, value in p.items()}
            moved[name][place] += STEP * 1j
            outputs = [attention(layer, moved, normalized(layer, moved, X)) for X in inputs]
            rows.append(numpy.concatenate([out.imag.ravel() for out in outputs]) / STEP)
    values = numpy.linalg.svd(numpy.array(rows), compute_uv=False)
    rank = int((values > 1e-9 * values[0]).sum())
    # Where the rank is read off there is a gap.
    assert rank == len(values) or values[rank] < 1e-3 * values[rank - 1]
    return rank


class Given:
    """A layer whose heads are given, in place of one that was read from a file."""

    name = ""
    is_stacked = False

    def __init__(self, layer: Layer, p: Parameters) -> None:
        self.layer, self.p = layer, p
        self.parts = {x: p[x] for x in "KQVO" if x in p}

    def heads(self, number: int, count: int | None) -> Iterator[Head]:
        layer, p = self.layer, self.p
        norm = None
        if layer.norm:
            kind: Any = layer.norm
            norm = Norm(kind, p["gamma"], p.get("beta"), "norm.weight", "pre")
        for h in range(layer.heads):
            biases = {f"{x}_bias": p[f"{x}_bias"][h] for x in layer.biases}
            matrices = {x: part[h] for x, part in self.parts.items()}
            output = p.get("O_bias")
            yield Head(number, h + 1, matrices, "float64", **biases, O_bias=output, norm=norm)


def verdict(layer: Layer, p: Parameters, **options: Any) -> tuple[Any, Any, Any]:
    """The heads, the layer and the network."""
    normalization = "softmax" if layer.softmax else "none"
    reading = Reading(
        heads=layer.heads,
        normalization=normalization,
        skip=False,
        biases=options.get("biases", True),
        norm=options.get("norm"),
    )
    layers: Any = [Given(layer, p)]
    found = find_heads(layers, reading, None, None)
    symmetries = find_symmetries(layers, found, reading)
    network = find_network(layers, found, reading, symmetries) if layer.heads > 1 else None
    judged = network.symmetries if network is not None else symmetries[1]
    return found.heads, judged.to_json(), network


LAYERS = {
    "biases": Layer(3, 2, 2, biases="QKV"),
    "LayerNorm": Layer(3, 2, 2, norm="layer"),
    "LayerNorm and biases": Layer(3, 2, 2, norm="layer", biases="QKV", beta=True),
    "LayerNorm with beta": Layer(3, 2, 2, norm="layer", beta=True),
    "LayerNorm of two coordinates": Layer(2, 2, 1, norm="layer", biases="QKV", beta=True),
    "RMSNorm": Layer(3, 2, 2, norm="rms"),
    "RMSNorm and biases": Layer(3, 2, 1, norm="rms", biases="QKV"),
    "output bias": Layer(3, 2, 2, biases="QKV", output_bias=True),
    "output bias alone": Layer(3, 2, 2, output_bias=True),
    "heads": Layer(3, 3, 1, v=1, heads=2, biases="QKV", output_bias=True),
    "heads behind LayerNorm": Layer(4, 4, 1, v=2, heads=2, norm="layer", biases="QKV", beta=True),
    "mixed heads": Layer(2, 3, 3, heads=2, biases="QKV"),
    "mixed heads behind LayerNorm": Layer(4, 3, 3, v=3, heads=2, norm="layer"),
    "softmax": Layer(2, 2, 2, softmax=True),
    "softmax and biases": Layer(3, 2, 2, biases="QKV", softmax=True),
    "softmax and all biases": Layer(
        3, 3, 1, v=1, heads=2, biases="QKV", output_bias=True, softmax=True
    ),
    "softmax without output bias": Layer(3, 3, 1, v=1, heads=2, biases="QKV", softmax=True),
    "softmax, wide values": Layer(2, 2, 1, v=3, heads=2, biases="QKV", softmax=True),
    "softmax, bias of K": Layer(3, 2, 2, biases="K", softmax=True),
    "softmax, bias of Q": Layer(3, 2, 4, biases="Q", softmax=True),
    "softmax behind LayerNorm": Layer(
        3, 3, 1, v=2, heads=2, norm="layer", biases="QKV", beta=True, output_bias=True, softmax=True
    ),
    "softmax behind LayerNorm without biases": Layer(3, 2, 2, norm="layer", softmax=True),
    "softmax behind LayerNorm with beta": Layer(3, 2, 1, norm="layer", beta=True, softmax=True),
    "softmax behind RMSNorm": Layer(3, 3, 1, v=1, heads=2, norm="rms", softmax=True),
}


@pytest.mark.parametrize("name", LAYERS)
def test_dimension_and_symmetries_are_those_of_the_forward_pass(name: str) -> None:
    """All redundant directions are named, and their number is the kernel of the Jacobian."""
    layer = LAYERS[name]
    p = drawn(layer, 5)
    rank = jacobian_rank(layer, p)
    _, found, _ = verdict(layer, p)
    assert found["dimension"] == rank
    assert found["parameters"] == sum(array.size for array in p.values())
    assert found["redundant"] == found["parameters"] - rank
    assert found["unnamed"] == 0
    assert sum(part["dimension"] for part in found["symmetries"]) == found["redundant"]


@pytest.mark.parametrize(
    ("name", "dimension", "tokens"),
    [("biases", 19, 4), ("LayerNorm", 7, 2), ("LayerNorm and biases", 13, 3)],
)
def test_figures(name: str, dimension: int, tokens: int) -> None:
    layer = LAYERS[name]
    heads, _, _ = verdict(layer, drawn(layer, 5))
    assert heads[0].shape.dimension == dimension
    assert heads[0].to_json()["token_dimension"] == tokens
    assert heads[0].to_json()["dimension"] == dimension
    assert heads[0].to_json()["d"] == 3
