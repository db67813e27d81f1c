"""Biases and norms: what is said of a layer against ranks of the Jacobian of its real forward pass.

The forward pass of one layer is exact (:mod:`tests.forward_pass`), and knows no lemma. That of
several layers is in floating point, with derivatives of a complex step, without error of
truncation.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import numpy
import pytest

from m2bridge import weights
from m2bridge.algebra.numbers import LARGE_PRIME
from m2bridge.errors import InvalidCaseError
from m2bridge.trained_weights.checkpoints.architecture import configuration, norms_add_one
from m2bridge.trained_weights.checkpoints.arrays import tensor
from m2bridge.trained_weights.checkpoints.norms import Norm, NormTensors
from m2bridge.trained_weights.checkpoints.tensors import HeadArrays
from m2bridge.trained_weights.heads.token_space import reduce_head
from m2bridge.trained_weights.networks.layers import analyse_layers, find_heads, find_network
from m2bridge.trained_weights.networks.traits import AnalysisOptions
from tests.forward_pass import (
    Layer,
    Parameters,
    attention as forward,
    constant,
    drawn,
    drawn_tokens,
    exact_rank,
    residues,
)
from tests.tiers import few

STEP = 1e-30
EPSILON = 1e-1
"""Of LayerNorm: so large that tokens fill a ball."""


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


def behind_norm(layer: Layer, p: Parameters, X: Any) -> Any:
    """The layer with the norm before it."""
    return attention(layer, p, normalized(layer, p, X))


def jacobian_rank(layer: Layer, p: Parameters, forward: Callable[..., Any]) -> int:
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
            outputs = [forward(layer, moved, X) for X in inputs]
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

    def head_count(self, count: int | None) -> int:
        return self.layer.heads

    def heads(self, number: int, count: int | None) -> Iterator[HeadArrays]:
        layer, p = self.layer, self.p
        norm = None
        if layer.norm:
            kind: Any = layer.norm
            norm = Norm(kind, p["gamma"], p.get("beta"), "norm.weight", "pre")
        for h in range(layer.heads):
            biases = {f"{x}_bias": p[f"{x}_bias"][h] for x in layer.biases}
            matrices = {x: part[h] for x, part in self.parts.items()}
            output = p.get("O_bias")
            yield HeadArrays(number, h + 1, matrices, "float64", **biases, O_bias=output, norm=norm)


def verdict(layer: Layer, p: Parameters, **options: Any) -> tuple[Any, Any, Any]:
    """The heads, the layer and the network."""
    normalization = "softmax" if layer.softmax else "none"
    reading = AnalysisOptions(
        heads=layer.heads,
        normalization=normalization,
        skip=False,
        biases=options.get("biases", True),
        norm=options.get("norm"),
    )
    layers: Any = [Given(layer, p)]
    found = find_heads(layers, reading, None, None)
    symmetries = dict(analyse_layers(layers, found, reading))
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


@pytest.mark.parametrize("name", few(LAYERS, 6))
def test_dimension_and_symmetries_are_those_of_the_forward_pass(name: str) -> None:
    """All redundant directions are named, and their number is the kernel of the Jacobian."""
    layer = LAYERS[name]
    p = drawn(layer, 5)
    rank = exact_rank(layer, p)
    _, found, _ = verdict(layer, p)
    assert found["dimension"] == rank
    assert found["parameters"] == sum(array.size for array in p.values())
    assert found["redundant"] == found["parameters"] - rank
    assert found["unnamed"] == 0
    assert sum(part["dimension"] for part in found["symmetries"]) == found["redundant"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("d", "d_out", "a", "heads", "gained"),
    [
        # heads with all functions, among them the constants, for one number of tokens
        *((1, 1, 1, 2, 0), (1, 2, 2, 3, 0), (2, 1, 2, 3, 0)),
        # heads that lack fewer than d' of all functions
        *((1, 3, 1, 2, 2), (1, 3, 2, 2, 2), (2, 3, 1, 4, 2)),
        # n − (H − 1)a is at least 2, for n = d + 1: docs/weights.md, Output biases
        *((1, 3, 1, 1, 3), (3, 2, 2, 2, 2), (4, 3, 1, 4, 3)),
    ],
)
def test_an_output_bias_adds_what_heads_have_not(
    d: int, d_out: int, a: int, heads: int, gained: int
) -> None:
    layer = Layer(d, d_out, a, v=max(a, d_out), heads=heads, biases="QKV", output_bias=True)
    p = drawn(layer, 5)
    rank = exact_rank(layer, p)
    assert rank == exact_rank(layer, p, fixed=["O_bias"]) + gained
    _, found, network = verdict(layer, p)
    assert found["dimension"] == rank
    assert found["redundant"] == found["parameters"] - rank
    if heads > 1:  # of one head no network is made
        assert (network.rank, network.regular) == (rank, True)


def test_an_output_bias_adds_nothing_for_one_token() -> None:
    """One head of d = d' = a = 1 has all cubic polynomials: the lemma needs t ≥ 2."""
    for tokens, gained in ((1, 0), (2, 1)):
        layer = Layer(1, 1, 1, v=1, biases="QKV", output_bias=True, tokens=tokens)
        p = drawn(layer, 5)
        assert exact_rank(layer, p) == exact_rank(layer, p, fixed=["O_bias"]) + gained


def test_a_head_with_constants_only_hides_the_output_bias() -> None:
    """At these weights a bias of V does what a part of the output bias does."""
    layer = Layer(2, 2, 1, v=1, heads=2, biases="QKV", output_bias=True)
    p = drawn(layer, 5)
    _, found, network = verdict(layer, p)
    assert network.rank == found["dimension"] == exact_rank(layer, p) == 18
    assert network.regular
    for letter in "KQ":
        p[letter][0] = 0
    _, found, network = verdict(layer, p)
    assert found["dimension"] == 18
    assert network.rank == exact_rank(layer, p) == 17
    assert network.regular is None


SOME_BIASES = ["K", "Q", "V", "KQ", "KV", "QV"]
LAYERS_WITH_SOME_BIASES = {
    "one head": Layer(3, 2, 2),
    "one coordinate": Layer(1, 2, 1, v=1, output_bias=True),
    "small ranks": Layer(2, 2, 1, v=1, output_bias=True),
    "two heads": Layer(2, 2, 1, v=1, heads=2, output_bias=True),
    "more heads than tensors": Layer(1, 1, 1, v=1, heads=3),
    "behind LayerNorm": Layer(3, 2, 2, norm="layer"),
    "behind LayerNorm with beta": Layer(3, 2, 2, norm="layer", beta=True),
    "behind RMSNorm with beta": Layer(2, 2, 2, norm="rms", beta=True),
}


@pytest.mark.parametrize("biases", few(SOME_BIASES, 2))
@pytest.mark.parametrize("name", few(LAYERS_WITH_SOME_BIASES, 2))
def test_biases_of_some_matrices_are_those_of_the_forward_pass(name: str, biases: str) -> None:
    """A matrix that has no bias gets none: a layer with one of Q too has more functions."""
    layer = replace(LAYERS_WITH_SOME_BIASES[name], biases=biases)
    p = drawn(layer, 5)
    heads, found, _ = verdict(layer, p)
    # A norm that the biases cannot undo is taken as it is, and is no parameter.
    is_counted = found["parameters"] == sum(array.size for array in p.values())
    taken_as_it_is = [] if is_counted else [part for part in ("gamma", "beta") if part in p]
    rank = exact_rank(layer, p, fixed=taken_as_it_is)
    counted = [array.size for part, array in p.items() if part not in taken_as_it_is]
    assert found["parameters"] == sum(counted)
    assert found["dimension"] == rank
    assert found["redundant"] == found["parameters"] - rank
    if layer.heads == 1:
        assert found["unnamed"] == 0
        assert heads[0].to_json()["dimension"] == rank - layer.d_out * layer.output_bias


def test_two_rank_one_factors_are_exchanged_only_where_both_have_a_bias() -> None:
    """A = k qᵀ and V = h vᵀ, where v has an entry at the coordinate 1, and k none."""
    for biases, singular, classes in (("KV", True, "two classes"), ("V", None, "at the coord")):
        layer = Layer(2, 2, 2, biases=biases)
        p = drawn(layer, 5)
        K, V = [[1.0, 2.0], [2.0, 4.0]], [[3.0, 1.0], [6.0, 2.0]]
        p |= {"K": numpy.array([K]), "V": numpy.array([V])}
        p |= {f"{x}_bias": numpy.array([[2.0, 4.0]]) for x in biases}
        heads, _, _ = verdict(layer, p)
        assert heads[0].ranks.numbers == (1, 1, 0)
        assert heads[0].singular is singular
        assert classes in heads[0].words()


SIZES = [(2, 1, 2, 2), (2, 2, 1, 2), (3, 2, 2, 2), (3, 1, 2, 3), (3, 3, 2, 2)]
"""d, d', a, t."""
SPHERE = {
    "biases": ({"biases": "QKV"}, [10, 10, 19, 15, 23]),
    "LayerNorm": ({"norm": "layer"}, [1, 2, 7, 5, 9]),
    "both": ({"norm": "layer", "biases": "QKV"}, [4, 5, 13, 10, 16]),
}
"""The dimensions of layers whose LayerNorm has ε = 0; behind it and with biases 4 and 5 for d = 2,
where the sphere is two points, and with ε > 0 one more each.
"""


@pytest.mark.parametrize("name", SPHERE)
def test_a_ball_has_other_functions_than_a_sphere_for_two_coordinates_only(name: str) -> None:
    """What m2bridge says is about ε > 0."""
    parts, on_sphere = SPHERE[name]
    for (d, d_out, a, tokens), dimension in zip(SIZES, on_sphere, strict=True):
        layer = Layer(d, d_out, a, tokens=tokens, **parts)
        p = drawn(layer, 5)
        assert exact_rank(layer, p, epsilon=0) == dimension
        two_points = name == "both" and d == 2
        assert exact_rank(layer, p) == dimension + two_points
        _, found, _ = verdict(layer, p)
        assert found["dimension"] == dimension + two_points


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


def joined(p: Parameters, letters: str, axis: int = 0) -> Any:
    """The rows of all heads, of one matrix after the other."""
    return numpy.concatenate([p[x].reshape(-1, *p[x].shape[2:]) for x in letters], axis)


def joined_biases(p: Parameters, letters: str) -> Any:
    return numpy.concatenate([p[f"{x}_bias"].ravel() for x in letters])


def output(p: Parameters) -> Any:
    """The output matrix with a column for each row of V of each head."""
    return numpy.concatenate(list(p["O"]), 1)


def gpt2(p: Parameters) -> Parameters:
    return {
        "h.0.attn.c_attn.weight": joined(p, "QKV").T,
        "h.0.attn.c_attn.bias": joined_biases(p, "QKV"),
        "h.0.attn.c_proj.weight": output(p).T,
        "h.0.attn.c_proj.bias": p["O_bias"],
        "h.0.ln_1.weight": p["gamma"],
        "h.0.ln_1.bias": p["beta"],
    }


def nano_gpt(p: Parameters) -> Parameters:
    """Without biases, and the shapes of PyTorch."""
    return {
        "transformer.h.0.attn.c_attn.weight": joined(p, "QKV"),
        "transformer.h.0.attn.c_proj.weight": output(p),
        "transformer.h.0.ln_1.weight": p["gamma"],
    }


def multihead(p: Parameters) -> Parameters:
    return {
        "in_proj_weight": joined(p, "QKV"),
        "in_proj_bias": joined_biases(p, "QKV"),
        "out_proj.weight": output(p),
        "out_proj.bias": p["O_bias"],
    }


def encoder_layer(p: Parameters) -> Parameters:
    own = {f"layers.0.self_attn.{name}": array for name, array in multihead(p).items()}
    return own | {"layers.0.norm1.weight": p["gamma"], "layers.0.norm1.bias": p["beta"]}


def bert(p: Parameters) -> Parameters:
    found = {}
    for letter, name in {"Q": "query", "K": "key", "V": "value"}.items():
        found[f"encoder.layer.0.attention.self.{name}.weight"] = joined(p, letter)
        found[f"encoder.layer.0.attention.self.{name}.bias"] = joined_biases(p, letter)
    dense = "encoder.layer.0.attention.output"
    found |= {f"{dense}.dense.weight": output(p), f"{dense}.dense.bias": p["O_bias"]}
    after = numpy.ones(p["K"].shape[2])
    return found | {f"{dense}.LayerNorm.weight": after, f"{dense}.LayerNorm.bias": after}


def llama(p: Parameters) -> Parameters:
    block = "model.layers.0"
    found = {f"{block}.self_attn.{x.lower()}_proj.weight": joined(p, x) for x in "QKV"}
    found[f"{block}.self_attn.o_proj.weight"] = output(p)
    return found | {f"{block}.input_layernorm.weight": p["gamma"]}


WHOLE: dict[str, Any] = {"heads": 2, "biases": "QKV", "output_bias": True}
FILES = {
    "GPT-2": (gpt2, Layer(4, 4, 2, v=2, norm="layer", beta=True, **WHOLE), {}),
    "nanoGPT": (nano_gpt, Layer(4, 4, 2, v=2, heads=2, norm="layer"), {}),
    "nn.MultiheadAttention": (multihead, Layer(4, 4, 2, v=2, **WHOLE), {}),
    "nn.TransformerEncoderLayer, norm_first": (
        encoder_layer,
        Layer(4, 4, 2, v=2, norm="layer", beta=True, **WHOLE),
        {"norm": "layer"},
    ),
    "BERT": (bert, Layer(4, 4, 2, v=2, **WHOLE), {}),
    "LLaMA": (llama, Layer(4, 4, 2, v=2, heads=2, norm="rms"), {}),
}


@pytest.mark.slow
@pytest.mark.parametrize("softmax", [False, True])
@pytest.mark.parametrize("name", FILES)
def test_layouts_of_libraries(name: str, softmax: bool) -> None:
    """The layer in a file has the Jacobian of the forward pass, with its biases and its norm."""
    layout, layer, options = FILES[name]
    layer = replace(layer, softmax=softmax)
    p = drawn(layer, 3)
    normalization = "softmax" if softmax else "none"
    found = weights(layout(p), heads=2, normalization=normalization, **options)
    (judged,) = found.to_json()["layers"]
    assert judged["dimension"] == exact_rank(layer, p)
    assert judged["parameters"] == sum(array.size for array in p.values())
    assert judged["unnamed"] == 0
    assert [head.regular for head in found.heads] == [True, True]
    after = any("norm after" in remark for remark in found.remarks)
    assert after is (name == "BERT")
    # Only what is after the layer is left out.
    assert bool(found.left_out) is after


AFTER = {
    "heads": Layer(4, 4, 2, v=2, heads=2, output_bias=True, biases="QKV"),
    "one head": Layer(4, 4, 2, v=4, output_bias=True, biases="QKV"),
    "heads of rank one": Layer(3, 3, 1, v=1, heads=3, output_bias=True, biases="QKV"),
    "mixed heads": Layer(3, 3, 4, v=4, heads=2, output_bias=True, biases="QKV"),
}


@pytest.mark.slow
@pytest.mark.parametrize("softmax", [False, True])
@pytest.mark.parametrize("name", AFTER)
def test_a_layer_norm_after_a_layer_hides_what_is_said(name: str, softmax: bool) -> None:
    """With and without a skip connection, by the forward pass through the norm."""
    layer = replace(AFTER[name], softmax=softmax)
    p = drawn(layer, 3)
    normalization = "softmax" if softmax else "none"
    found = weights(bert(p), heads=f"{layer.heads},all", normalization=normalization)
    (judged,) = found.to_json()["layers"]
    behind = judged["behind_norm"]
    for skip in (False, True):
        assert behind["dimension"] == exact_rank(replace(layer, norm_after="layer", skip=skip), p)
    named = {part["name"]: part["dimension"] for part in behind["hidden"]}
    assert sum(named.values()) == exact_rank(layer, p) - behind["dimension"]
    assert named["output bias + c·1 before LayerNorm"] == 1
    words = " ".join(str(found).split())
    own = named["O + 1·uᵀ before LayerNorm"]
    assert f"hides O + 1·uᵀ before LayerNorm ({own}), output bias + c·1" in words
    assert "hides the part of its outputs along (1, …, 1)" in words


@pytest.mark.parametrize("skip", [False, True])
def test_an_rms_norm_after_a_layer_hides_nothing(skip: bool) -> None:
    """ε > 0 keeps the scale of the outputs."""
    layer = Layer(4, 4, 2, v=2, heads=2, skip=skip)
    p = drawn(layer, 3)
    assert exact_rank(replace(layer, norm_after="rms"), p) == exact_rank(layer, p)


def test_what_a_norm_with_a_zero_hides_is_not_counted() -> None:
    layer = AFTER["heads"]
    state = bert(drawn(layer, 3))
    (name,) = [name for name in state if name.endswith("LayerNorm.weight")]
    (judged,) = weights(state, heads=2).to_json()["layers"]
    assert "behind_norm" in judged
    state[name] = numpy.array([1.0, 0, 1, 1])
    (judged,) = weights(state, heads=2).to_json()["layers"]
    assert "behind_norm" not in judged


def test_a_singular_head_makes_a_layer_critical() -> None:
    """The rank at these weights is below the dimension, and within the bound by the heads."""
    layer = Layer(3, 3, 2, v=2, heads=2, biases="QKV", output_bias=True)
    p = drawn(layer, 3)
    _, _, network = verdict(layer, p)
    assert network.regular is True
    assert exact_rank(layer, p) == network.dimension.exact
    for x in ("K", "K_bias"):
        p[x][1, 1] = 2 * p[x][1, 0]
    heads, _, network = verdict(layer, p)
    assert heads[1].ranks.r == 1
    assert network.regular is False
    assert exact_rank(layer, p) <= network.most_rank < network.dimension.exact


def test_biases_and_norms_are_left_out_where_that_is_asked() -> None:
    layout, layer, _ = FILES["GPT-2"]
    p = drawn(layer, 3)
    bare = {name: array for name, array in layout(p).items() if "c_" in name and "bias" not in name}
    found = weights(layout(p), heads=2, biases="ignore", norm="none")
    known = [head.to_json() for head in weights(bare, heads=2).heads]
    assert [head.to_json() for head in found.heads] == known
    assert found.left_out == ("biases (3)", "norms (1)")


@pytest.mark.slow
@pytest.mark.parametrize("softmax", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_planted_drops_behind_a_norm(softmax: bool, seed: int) -> None:
    """K has rank one on the tokens behind LayerNorm, though not as a matrix; ranks are exact."""
    layer = Layer(4, 3, 2, norm="layer", biases="QKV", beta=True, softmax=softmax)
    p = drawn(layer, seed)
    p["gamma"] = numpy.array([1.0, 2.0, 4.0, 0.5])
    hidden = 1 / p["gamma"]
    p["K"][0, 1] = 2 * p["K"][0, 0] + hidden * (seed + 1)
    # On the hyperplane the second row of K is twice the first; so are the biases.
    shift = (seed + 1) * (hidden * p["beta"]).sum()
    p["K_bias"][0, 1] = 2 * p["K_bias"][0, 0] - shift
    (head,), _, _ = verdict(layer, p)
    assert numpy.linalg.matrix_rank(p["K"][0]) == 2
    assert head.ranks.r == 1
    assert head.ranks.proved
    assert head.regular is False
    assert exact_rank(layer, p) < verdict(layer, p)[1]["dimension"]
    assert head.numerical.singular_values_A[1] == 0.0


@pytest.mark.parametrize("norm", ["", "layer", "rms"])
def test_distances_are_those_on_an_orthonormal_basis(norm: str) -> None:
    """Singular values of KᵀQ between tokens, which are projected and have one coordinate more."""
    layer = Layer(5, 3, 2, norm=norm, biases="QKV", beta=norm == "layer")
    p = drawn(layer, 4)
    (head,), _, _ = verdict(layer, p)
    gamma = p.get("gamma", numpy.ones(5))
    beta = p.get("beta", numpy.zeros(5))
    projection = numpy.eye(5) - (numpy.ones((5, 5)) / 5 if norm == "layer" else 0)
    seen = {}
    for x in "KQV":
        linear = p[x][0] * gamma @ projection
        seen[x] = numpy.column_stack([linear, p[x][0] @ beta + p[f"{x}_bias"][0]])
    sigma = numpy.linalg.svd(seen["K"].T @ seen["Q"], compute_uv=False)[:2]
    assert head.numerical.singular_values_A == pytest.approx(sigma.tolist(), rel=1e-5)
    sigma = numpy.linalg.svd(seen["V"], compute_uv=False)
    assert head.numerical.singular_values_V == pytest.approx(sigma.tolist(), rel=1e-5)


def test_coordinates_that_gamma_hides() -> None:
    """A zero of γ takes a coordinate, and with it the relation that LayerNorm makes."""
    layer = Layer(4, 3, 2, norm="layer", biases="QKV")
    p = drawn(layer, 2)
    p["gamma"][1] = 0.0
    (head,), found, _ = verdict(layer, p)
    assert head.shape.token_dimension == 4
    # γ is taken as it is, as another one has other tokens.
    moved = [array.size for x, array in p.items() if x != "gamma"]
    assert found["parameters"] == sum(moved)
    assert found["dimension"] == exact_rank(layer, p, fixed=["gamma"])
    assert found["unnamed"] == 0


def test_gamma_beside_a_beta_that_no_bias_replaces() -> None:
    """γ is taken as it is then, as β is: another one is no other K, Q and V."""
    layer = Layer(2, 2, 1, norm="rms", beta=True)
    p = drawn(layer, 2)
    _, found, _ = verdict(layer, p)
    assert found["parameters"] == sum(p[x].size for x in "KQV")
    assert found["dimension"] == exact_rank(layer, p, fixed=["gamma", "beta"])
    assert found["dimension"] < exact_rank(layer, p, fixed=["beta"])
    p["beta"] = 0 * p["beta"]
    _, found, _ = verdict(layer, p)
    assert found["parameters"] == sum(p[x].size for x in "KQV") + 2
    assert found["dimension"] == exact_rank(layer, p, fixed=["beta"])
    assert found["unnamed"] == 0


@pytest.mark.parametrize(
    ("options", "said"), [({"biases": "no"}, "biases"), ({"norm": "batch"}, "norm")]
)
def test_options_that_are_refused(options: dict[str, str], said: str) -> None:
    with pytest.raises(InvalidCaseError, match=said):
        weights(K=[[1, 2]], Q=[[1, 2]], V=[[1, 2]], **options)


def test_a_bias_of_another_length_is_refused() -> None:
    layout, layer, _ = FILES["nn.MultiheadAttention"]
    wrong = layout(drawn(layer, 3)) | {"in_proj_bias": numpy.ones(5)}
    with pytest.raises(InvalidCaseError, match="a bias of 12 entries"):
        weights(wrong, heads=2)


def test_all_144_redundant_directions_of_four_unbounded_heads_are_named() -> None:
    layer = Layer(4, 4, 4, v=4, heads=4)
    p = drawn(replace(layer, v=None), 1)
    _, found, network = verdict(replace(layer, v=None), p)
    assert network.regular
    assert found["redundant"] == 4 * 16 + 16
    assert found["unnamed"] == 0
    named = {part["name"]: part["dimension"] for part in found["symmetries"]}
    assert named == {"GL(4) on K and Q": 64, "GL(4) that mixes heads": 16}
    _, found, _ = verdict(layer, drawn(layer, 1))
    assert found["redundant"] == 144
    assert found["unnamed"] == 0


# Without skips a second LayerNorm behind softmax has singular values down to the rounding.
TWO = [
    c for c in product(["", "layer"], [False, True], [False, True]) if c != ("layer", True, False)
]


@pytest.mark.slow
@pytest.mark.parametrize(("norm", "softmax", "skip"), TWO)
def test_two_layers_have_the_redundant_directions_that_are_said(
    norm: str, softmax: bool, skip: bool
) -> None:
    """The dimension of the network, or its bounds, against the forward pass of both layers."""
    layer = Layer(3, 3, 1, v=1, norm=norm, beta=bool(norm), softmax=softmax, **WHOLE)
    both = [drawn(layer, seed) for seed in (1, 2)]
    layout = encoder_layer if norm else multihead
    state = {
        f"{k}.{name.removeprefix('layers.0.')}": array / 2
        for k, p in enumerate(both)
        for name, array in layout(p).items()
    }
    together = {f"{k}.{x}": array / 2 for k, p in enumerate(both) for x, array in p.items()}

    def forward(layer: Layer, p: Parameters, X: Any) -> Any:
        for k in "01":
            own = {x[2:]: array for x, array in p.items() if x[0] == k}
            out = behind_norm(layer, own, X)
            X = X + out if skip else out
        return X

    network = weights(
        state, heads=2, skip=skip, norm=norm or None, normalization="softmax" if softmax else "none"
    ).network.to_json()
    rank = jacobian_rank(layer, together, forward=forward)
    assert network["parameters"] == sum(array.size for array in together.values())
    assert rank <= network["upper_bound"]["value"]
    # of the directions that widths without use leave free not all have a name
    assert network["redundant_at_least"] <= network["parameters"] - rank
    assert network["listed_symmetries"] <= network["parameters"] - rank
    assert network["dimension"] == rank


def test_keys_that_heads_share_have_biases_that_they_share() -> None:
    """Each bias is cut and repeated as the rows of its matrix are, in one array and in three."""
    random = numpy.random.default_rng(1)
    sizes = {"q": (8, 6), "k": (4, 6), "v": (4, 6)}
    state = {f"self_attn.{x}_proj.weight": random.standard_normal(n) for x, n in sizes.items()}
    state |= {f"self_attn.{x}_proj.bias": random.standard_normal(n[0]) for x, n in sizes.items()}
    state["self_attn.o_proj.weight"] = random.standard_normal((6, 8))
    found = weights(state, heads=4).heads
    K, Q = (
        numpy.column_stack([state[f"self_attn.{x}_proj.{y}"] for y in ("weight", "bias")])
        for x in "kq"
    )
    for h, group in enumerate([0, 0, 1, 1]):
        A = K[2 * group : 2 * group + 2].T @ Q[2 * h : 2 * h + 2]
        sigma = numpy.linalg.svd(A, compute_uv=False)[:2]
        assert found[h].numerical.singular_values_A == pytest.approx(sigma.tolist(), rel=1e-5)


WRONG: dict[str, dict[str, Any]] = {
    "no rows": {"Q": numpy.ones((0, 2)), "K": numpy.ones((0, 2)), "V": numpy.ones((1, 2))},
    "no columns": {x: numpy.ones((2, 0)) for x in "QKV"},
    "a bias of A": {"A": numpy.ones((2, 2)), "V": numpy.ones((2, 2)), "V_bias": numpy.ones(3)},
    "a bias that is a matrix": {x: numpy.eye(2) for x in ("Q", "K", "V", "V_bias")},
    "a bias that is not finite": {x: numpy.eye(2) for x in "QKV"} | {"K_bias": [1, numpy.nan]},
    "a norm of another length": {
        **{f"h.0.attn.{x}": numpy.ones((3, 3)) for x in ("W_Q", "W_K", "W_V")},
        "h.0.ln_1.weight": numpy.ones(2),
    },
    "a norm that is zero": {
        **{f"h.0.attn.{x}": numpy.ones((3, 3)) for x in ("W_Q", "W_K", "W_V")},
        "h.0.ln_1.weight": numpy.zeros(3),
    },
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_biases_and_norms_are_refused(name: str) -> None:
    with pytest.raises(InvalidCaseError):
        weights(WRONG[name])


def test_a_bias_of_values_beside_a_given_A() -> None:
    found = weights({"A": numpy.eye(2) + 1, "V": numpy.eye(2), "V_bias": numpy.ones(2)})
    assert found.heads[0].shape.token_dimension == 3


def gemma(p: Parameters) -> Parameters:
    """LLaMA's names; the factors of the norm are 1 + γ."""
    return llama(p | {"gamma": p["gamma"] - 1})


@pytest.mark.slow
@pytest.mark.parametrize("model_type", ["gemma", "gemma2", "gemma3"])
@pytest.mark.parametrize("softmax", [False, True])
def test_gemma_multiplies_by_one_more(tmp_path: Path, model_type: str, softmax: bool) -> None:
    """γ = −1 hides a coordinate, and γ = 0 does not: as in the forward pass."""
    layer = Layer(5, 5, 2, v=2, heads=2, norm="rms", softmax=softmax)
    p = drawn(layer, 3)
    p["gamma"][[1, 2]] = 0, 1
    numpy.savez(tmp_path / "model.npz", **gemma(p))
    configuration = {"model_type": model_type, "num_attention_heads": 2}
    (tmp_path / "config.json").write_text(json.dumps(configuration), encoding="utf-8")
    found = weights(tmp_path / "model.npz", as_="softmax" if softmax else "lightning")
    (judged,) = found.to_json()["layers"]
    assert judged["dimension"] == exact_rank(layer, p, fixed=["gamma"])
    assert found.heads[0].shape.token_dimension == 4
    assert "the RMSNorm multiplies by 1 + γ" in found.remarks
    said = weights(gemma(p), heads=2, norm="rms1", as_="softmax" if softmax else "lightning")
    assert said.to_json()["heads"] == found.to_json()["heads"]
    # γ itself hides the third coordinate.
    other = weights(tmp_path / "model.npz", norm="rms", as_="softmax" if softmax else "lightning")
    assert other.to_json()["heads"] != found.to_json()["heads"]
    assert other.remarks == ()


def test_folded_weights_of_gemma_are_those_of_the_forward_pass() -> None:
    """The layer behind the norm has the outputs of the folded matrices without one."""
    layer = Layer(4, 3, 2, norm="rms")
    p = drawn(layer, 6)
    norm = NormTensors(kind="rms1", gamma=tensor("γ", p["gamma"] - 1), beta=None, place="pre")
    head = HeadArrays(1, 1, {x: p[x][0] for x in "KQV"}, "float64", norm=norm.read(4))
    folded = reduce_head(head, softmax=False, biases=True, norm=None).matrices
    plain = {x: numpy.array([folded[x].entries(LARGE_PRIME)], dtype=object) for x in "KQV"}
    X = constant(drawn_tokens(layer, Random(1), epsilon=1))
    values = {name: constant(residues(array)) for name, array in p.items()}
    expected = forward(layer, values, X, None).value
    without = replace(layer, norm="")
    found = forward(without, {x: constant(part) for x, part in plain.items()}, X, None).value
    assert (found == expected).all()


def test_a_small_gamma_is_not_lost_beside_one() -> None:
    gamma = tensor("γ", numpy.array([2.0**-80, 0.5]))
    norm = NormTensors(kind="rms1", gamma=gamma, beta=None, place="pre").read(2)
    assert norm.gamma.tolist() == [1 + Fraction(1, 2**80), Fraction(3, 2)]


def test_only_norms_without_biases_add_one(tmp_path: Path) -> None:
    """The model of images beside that of texts has LayerNorms, and Gemma 3n multiplies by γ."""
    layer = Layer(4, 4, 2, v=2, heads=2, norm="layer", beta=True)
    state = {}
    for name, array in llama(drawn(layer, 3)).items():
        state[name.replace("input_layernorm", "layer_norm1")] = array
    state["model.layers.0.layer_norm1.bias"] = drawn(layer, 3)["beta"]
    numpy.savez(tmp_path / "model.npz", **state)
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"text_config": {"model_type": "gemma3_text"}}), encoding="utf-8")
    found = weights(tmp_path / "model.npz", heads=2, as_="lightning")
    assert "the RMSNorm multiplies by 1 + γ" not in found.remarks
    assert norms_add_one(configuration(tmp_path / "model.npz"))
    config.write_text(json.dumps({"model_type": "gemma3n"}), encoding="utf-8")
    assert not norms_add_one(configuration(tmp_path / "model.npz"))


PLACED = {
    "lightning": Layer(4, 3, 2),
    "lightning with biases": Layer(4, 3, 2, biases="QKV", output_bias=True),
    "heads": Layer(4, 4, 2, v=2, heads=2),
    "two planes": Layer(5, 2, 4, tokens=3),
    "softmax": Layer(4, 3, 2, softmax=True),
    "softmax with biases": Layer(4, 3, 2, softmax=True, biases="QKV", tokens=3),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PLACED)
def test_masks_and_positions_have_the_ranks_that_the_table_says(name: str) -> None:
    """Causal masks and added positions change none; rotary ones leave a of a² dimensions."""
    layer = PLACED[name]
    p = drawn(layer, 3)
    rank = exact_rank(layer, p)
    _, found, _ = verdict(layer, p)
    assert found["dimension"] == rank
    assert exact_rank(replace(layer, causal=True), p) == rank
    assert exact_rank(replace(layer, positions=True), p) == rank
    more = layer.a**2 - layer.a
    if layer.softmax and layer.biases:
        more += layer.a
    assert exact_rank(replace(layer, rotary=True), p) == rank + layer.heads * more


def test_rotary_positions_are_remarked(tmp_path: Path) -> None:
    layer = Layer(4, 4, 2, v=2, heads=2, norm="rms")
    state = llama(drawn(layer, 3))
    remark = "the model has rotary positions"
    assert not any(x.startswith(remark) for x in weights(state, heads=2).remarks)
    named = state | {"model.layers.0.self_attn.rotary_emb.inv_freq": numpy.ones(1)}
    assert any(x.startswith(remark) for x in weights(named, heads=2).remarks)
    numpy.savez(tmp_path / "model.npz", **state)
    for content in ({"rope_theta": 10000.0}, {"text_config": {"rope_scaling": None}}):
        (tmp_path / "config.json").write_text(json.dumps(content), encoding="utf-8")
        found = weights(tmp_path / "model.npz", heads=2)
        assert any(x.startswith(remark) for x in found.remarks)


@pytest.mark.parametrize(
    "content",
    [
        [],
        {"model_type": ["gemma"]},
        {"model_type": None, "text_config": "gemma"},
        {"text_config": {"model_type": {"gemma": 1}}},
        {"text_config": [{"rope_theta": 1}]},
    ],
)
def test_a_strange_configuration_says_nothing(tmp_path: Path, content: Any) -> None:
    layer = Layer(4, 4, 2, v=2, heads=2, norm="rms")
    numpy.savez(tmp_path / "model.npz", **llama(drawn(layer, 3)))
    (tmp_path / "config.json").write_text(json.dumps(content), encoding="utf-8")
    assert weights(tmp_path / "model.npz", heads=2).remarks == ()
