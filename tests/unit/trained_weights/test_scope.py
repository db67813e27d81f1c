"""Statements name, before the word *proved*, what they leave out of the model of the file.

Dimensions are compared with ranks of differentials of forward passes in NumPy, by complex steps.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest
from safetensors.numpy import save_file

from m2bridge import weights

D, HEADS = 4, 2
Arrays = dict[str, Any]
Forward = Callable[[Arrays, Any], Any]


def numerical_rank(forward: Forward, state: Arrays, names: list[str], tokens: int) -> int:
    """The rank of the differential of a forward pass by the arrays with these names.

    The imaginary part of a value at a complex step of 1e-20 is the derivative, without rounding.
    """
    random = numpy.random.default_rng(1)
    inputs = [random.normal(size=(3, D)) for _ in range(tokens)]
    columns = []
    for name in names:
        for place in numpy.ndindex(state[name].shape):
            moved = {one: array.astype(complex) for one, array in state.items()}
            moved[name][place] += 1e-20j
            values = [forward(moved, X).imag.ravel() / 1e-20 for X in inputs]
            columns.append(numpy.concatenate(values))
    singular_values = numpy.linalg.svd(numpy.array(columns), compute_uv=False)
    ratios = singular_values / singular_values[0]
    rank = int((ratios > 1e-9).sum())
    # No singular value is near the threshold.
    assert not ((ratios > 1e-12) & (ratios < 1e-8)).any()
    return rank


def layer_norm(X: Any, gamma: Any, beta: Any) -> Any:
    """LayerNorm of the rows; without conjugation, so that complex steps pass."""
    centered = X - X.mean(axis=1, keepdims=True)
    variance = (centered**2).mean(axis=1, keepdims=True)
    return centered / numpy.sqrt(variance + 1e-5) * gamma + beta


def attention(state: Arrays, prefix: str, X: Any, *, softmax: bool) -> Any:
    """Attention of the names of BERT, to tokens that are rows."""
    query, key, value = (
        X @ state[f"{prefix}self.{x}.weight"].T + state[f"{prefix}self.{x}.bias"]
        for x in ("query", "key", "value")
    )
    outputs = []
    for rows in numpy.split(numpy.arange(D), HEADS):
        scores = query[:, rows] @ key[:, rows].T
        if softmax:
            scores = numpy.exp(scores)
            scores = scores / scores.sum(axis=1, keepdims=True)
        outputs.append(scores @ value[:, rows])
    output = numpy.concatenate(outputs, axis=1)
    return output @ state[f"{prefix}output.dense.weight"].T + state[f"{prefix}output.dense.bias"]


def bert(*, norms: tuple[bool, bool]) -> Forward:
    """The forward pass of two layers, with the LayerNorm after the first, and after the second."""

    def forward(state: Arrays, X: Any) -> Any:
        for layer, has_norm in enumerate(norms):
            prefix = f"encoder.layer.{layer}.attention."
            X = X + attention(state, prefix, X, softmax=True)
            if has_norm:
                norm = f"{prefix}output.LayerNorm"
                X = layer_norm(X, state[f"{norm}.weight"], state[f"{norm}.bias"])
        return X

    return forward


def bert_state() -> Arrays:
    random = numpy.random.default_rng(0)
    state: Arrays = {}
    for layer in (0, 1):
        prefix = f"encoder.layer.{layer}.attention."
        for name in ("self.query", "self.key", "self.value", "output.dense"):
            state[f"{prefix}{name}.weight"] = random.normal(size=(D, D)) * 0.7
            state[f"{prefix}{name}.bias"] = random.normal(size=D) * 0.5
        state[f"{prefix}output.LayerNorm.weight"] = random.uniform(0.5, 1.5, size=D)
        state[f"{prefix}output.LayerNorm.bias"] = random.normal(size=D)
    return state


def saved(state: Arrays, folder: Path, config: dict[str, Any]) -> Path:
    save_file(
        {name: numpy.ascontiguousarray(x) for name, x in state.items()}, folder / "m.safetensors"
    )
    (folder / "config.json").write_text(json.dumps(config))
    return folder


@pytest.mark.slow
def test_the_norms_of_bert_are_named_as_they_change_the_dimension(tmp_path: Path) -> None:
    state = bert_state()
    config = {"model_type": "bert", "num_attention_heads": HEADS, "num_hidden_layers": 2}
    found = weights(saved(state, tmp_path, config))
    parameters = [name for name in state if "LayerNorm" not in name]
    ranks = [
        numerical_rank(bert(norms=norms), state, parameters, 20)
        for norms in ((False, False), (True, False), (True, True))
    ]
    assert ranks == [108, 95, 90]
    assert found.network is not None
    assert found.network.dimension.exact == ranks[0]
    noun = "the LayerNorm after each layer"
    assert found.summary is not None
    before, _, _ = found.summary.partition("proved")
    assert f"The network of 2 layers, without {noun}, is determined" in before
    assert found.assumed[0] == f"the layers are taken without {noun}"
    assert found.to_json()["assumed"][0] == found.assumed[0]
    facts = dict(found.network.facts(found.scope.words))
    assert facts["dimension"] == f"{ranks[0]}, without {noun} (proved)"
    assert str(facts["regular point"]).startswith(f"yes, without {noun} (proved")


def test_the_group_between_layers_is_that_without_the_norm_between_them() -> None:
    """Two layers of lightning attention without skip connections, as in examples/weights.npz."""
    random = numpy.random.default_rng(2)
    state: Arrays = {}
    names = {"query": "Q", "key": "K", "value": "V"}
    prefixes = [f"encoder.layer.{layer}.attention." for layer in (0, 1)]
    for prefix in prefixes:
        for name in (*(f"self.{x}" for x in names), "output.dense"):
            state[f"{prefix}{name}.weight"] = random.normal(size=(D, D))
            state[f"{prefix}{name}.bias"] = random.normal(size=D)
        state[f"{prefix}output.LayerNorm.weight"] = numpy.ones(D)
        state[f"{prefix}output.LayerNorm.bias"] = numpy.zeros(D)
    found = weights(state, heads=HEADS)
    assert found.summary is not None
    assert "GL(4) between layers" in found.summary
    assert "without the LayerNorm after each layer, is" in found.summary.partition("proved")[0]

    def output(state: Arrays, X: Any, *, norms: bool) -> Any:
        for prefix in prefixes:
            X = attention(state, prefix, X, softmax=False)
            if norms:
                norm = f"{prefix}output.LayerNorm"
                X = layer_norm(X, state[f"{norm}.weight"], state[f"{norm}.bias"])
        return X

    g, moved = random.normal(size=(D, D)), dict(state)
    first, second = prefixes
    moved[f"{first}output.dense.weight"] = g @ state[f"{first}output.dense.weight"]
    moved[f"{first}output.dense.bias"] = g @ state[f"{first}output.dense.bias"]
    for x in names:
        weight = state[f"{second}self.{x}.weight"]
        moved[f"{second}self.{x}.weight"] = weight @ numpy.linalg.inv(g)
    X = random.normal(size=(3, D))
    assert numpy.allclose(output(state, X, norms=False), output(moved, X, norms=False))
    assert not numpy.allclose(output(state, X, norms=True), output(moved, X, norms=True), rtol=0.1)


def gpt2() -> Arrays:
    random = numpy.random.default_rng(3)
    state: Arrays = {
        "wte.weight": random.normal(size=(9, 2)),
        "wpe.weight": random.normal(size=(5, 2)),
    }
    for layer in (0, 1):
        prefix = f"h.{layer}."
        state |= {
            f"{prefix}attn.c_attn.weight": random.normal(size=(2, 6)),
            f"{prefix}attn.c_attn.bias": random.normal(size=6),
            f"{prefix}attn.c_proj.weight": random.normal(size=(2, 2)),
            f"{prefix}attn.c_proj.bias": random.normal(size=2),
            f"{prefix}mlp.c_fc.weight": random.normal(size=(2, 4)),
            f"{prefix}mlp.c_fc.bias": random.normal(size=4),
            f"{prefix}mlp.c_proj.weight": random.normal(size=(4, 2)),
            **{f"{prefix}{norm}.weight": random.uniform(1, 2, size=2) for norm in ("ln_1", "ln_2")},
            **{f"{prefix}{norm}.bias": random.normal(size=2) for norm in ("ln_1", "ln_2")},
        }
    return state | {"ln_f.weight": numpy.ones(2), "lm_head.weight": random.normal(size=(9, 2))}


GPT2 = {"model_type": "gpt2", "n_head": 1, "n_layer": 2}
PARTS = ("embeddings", "positions", "MLPs", "norms", "the head of the model")
CASES: dict[str, tuple[dict[str, Any], dict[str, Any], tuple[str, ...]]] = {
    "all that is around the layers": (GPT2, {}, PARTS),
    "what config.json says": (GPT2, {"as_": "lightning"}, (*PARTS, "softmax", "skip connections")),
    "more layers": (GPT2 | {"n_layer": 5}, {}, (*PARTS, "3 further layers")),
    "a window": (GPT2 | {"sliding_window": 7}, {}, (*PARTS, "the limit of attention to 7 tokens")),
    "biases": (GPT2, {"biases": "ignore"}, (*PARTS, "biases")),
    "norms": (GPT2, {"norm": "none"}, (*PARTS, "the LayerNorm before each layer")),
    "another norm": (GPT2, {"norm": "rms"}, (*PARTS, "the LayerNorm before each layer")),
    "ignored": (GPT2, {"ignore": "*mlp*"}, ("ignored arrays", "norms")),
    "rotations": (GPT2 | {"rope_theta": 10000}, {}, (*PARTS, "rotary positions")),
    "caps": (
        GPT2 | {"attn_logit_softcap": 5},
        {"as_": "softmax"},
        ("what else changes its scores",),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_left_out_stands_before_the_word_proved(name: str, tmp_path: Path) -> None:
    config, options, nouns = CASES[name]
    found = weights(saved(gpt2(), tmp_path, config), **options)
    summary = found.summary
    assert summary is not None
    # Where the dimension is not decided, nothing is proved; the subject is the same.
    subject, _, _ = summary.partition(" is ")
    for noun in nouns:
        assert noun in subject, noun
        assert noun in found.assumed[0]


@pytest.mark.parametrize("rotary", [True, False])
@pytest.mark.parametrize("softmax", [True, False])
def test_a_layer_of_llama_has_the_dimension_of_its_forward_pass(
    softmax: bool, rotary: bool, tmp_path: Path
) -> None:
    """With rotary positions, or without them, which is then said; two heads share K and V."""
    random = numpy.random.default_rng(6)
    block = "model.layers.0."
    shapes = {"q": (4, 4), "k": (2, 4), "v": (2, 4), "o": (4, 4)}
    state = {f"{block}self_attn.{x}_proj.weight": random.normal(size=s) for x, s in shapes.items()}
    state[f"{block}input_layernorm.weight"] = random.uniform(1, 2, size=4)

    def rotated(rows: Any) -> Any:
        turned = []
        for place, row in enumerate(rows):
            c, s = numpy.cos(place), numpy.sin(place)
            turned.append(numpy.array([[c, -s], [s, c]]) @ row)
        return numpy.array(turned)

    def forward(state: Arrays, X: Any) -> Any:
        query, key, value, output = (state[f"{block}self_attn.{x}_proj.weight"] for x in "qkvo")
        gamma = state[f"{block}input_layernorm.weight"]
        X = X / numpy.sqrt((X**2).mean(axis=1, keepdims=True) + 1e-5) * gamma
        out = 0
        for rows in (slice(0, 2), slice(2, 4)):
            q, k, v = X @ query[rows].T, X @ key.T, X @ value.T
            if rotary:
                q, k = rotated(q), rotated(k)
            scores = q @ k.T
            if softmax:
                scores = numpy.exp(scores)
                scores = scores / scores.sum(axis=1, keepdims=True)
            out = out + scores @ v @ output[:, rows].T
        return out

    config = {"model_type": "llama", "num_attention_heads": 2, "num_key_value_heads": 1}
    options: dict[str, Any] = {"as_": "softmax" if softmax else "lightning"}
    if rotary:
        options = {} if softmax else {"normalization": "none"}
    found = weights(saved(state, tmp_path, config), **options)
    assert found.network is not None
    rank = numerical_rank(forward, state, list(state), 6)
    assert (found.network.parameters, found.network.dimension.exact) == (52, rank)
    assert rank == (42 if softmax else 38) - (0 if rotary else 2)
    assert found.summary is not None
    subject, _, _ = found.summary.partition(" is ")
    assert ("rotary positions" in subject) is not rotary
    assert ("softmax" in subject) is not softmax


@pytest.mark.parametrize(("a", "v"), [(1, 3), (3, 1), (1, 2), (3, 3)])
def test_redundant_directions_of_wide_heads_are_fewer_than_the_groups_have(a: int, v: int) -> None:
    """d = d' = 2: for a > d or v > d some elements of GL(a), GL(v) move no generic weights."""
    random = numpy.random.default_rng(7)
    shapes = {"K": (a, 2), "Q": (a, 2), "V": (v, 2), "O": (2, v)}
    state = {letter: random.normal(size=shape) for letter, shape in shapes.items()}

    def forward(state: Arrays, X: Any) -> Any:
        X = X[:, :2]
        return (X @ state["Q"].T @ state["K"] @ X.T) @ X @ state["V"].T @ state["O"].T

    shape = weights(**state).heads[0].shape
    assert shape.dimension == numerical_rank(forward, state, list(state), 6)
    redundant = sum(size for _, size in shape.redundant())
    assert redundant == shape.parameters - shape.dimension
    assert (redundant == a**2 + v**2 + 1) is (a <= 2 and v <= 2)
    if (a, v) == (1, 3):
        assert (redundant, a**2 + v**2 + 1) == (10, 11)


def test_layers_alone_need_no_words() -> None:
    random = numpy.random.default_rng(4)
    found = weights(**{x: random.normal(size=(2, 3)) for x in "KQV"})
    assert found.scope.words == ""
    assert found.assumed == ()


def test_a_bias_that_the_file_lacks_is_not_added() -> None:
    """With biases of K and V alone, K, Q, V and O of 4 × 4 have 72 parameters, not 76."""
    random = numpy.random.default_rng(5)
    state = {f"{x}_proj.weight": random.normal(size=(4, 4)) for x in "qkvo"}
    state |= {f"{x}_proj.bias": random.normal(size=4) for x in "kv"}
    state = {f"layers.0.self_attn.{name}": array for name, array in state.items()}
    found = weights(state, heads=1)
    assert found.scope.words == ""
    assert found.heads[0].shape.parameters == 72
    assert "no bias of Q" in str(found)
