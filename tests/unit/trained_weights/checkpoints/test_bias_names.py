"""Biases and norms of the layers of a file: state dicts of documented shapes, cut by hand."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path
from typing import Any

import numpy
import pytest
from hypothesis import given, settings, strategies as st
from safetensors.numpy import save_file

from m2bridge import weights
from m2bridge.errors import InvalidCaseError, M2BridgeError
from m2bridge.trained_weights.checkpoints.files import tensors
from m2bridge.trained_weights.checkpoints.find_layers import find_layers
from m2bridge.trained_weights.checkpoints.layouts import StoredAs
from m2bridge.trained_weights.checkpoints.names import named_layers, usual_layers
from m2bridge.trained_weights.checkpoints.tensors import HeadArrays
from tests.tiers import examples

D, HEADS, A = 6, 2, 3
"""The dimension of the tokens, the heads, and the rows of Q, K and V of each."""


_COUNT = count(1)


def numbers(*shape: int) -> Any:
    """Entries that are all different, and different from those of all other arrays."""
    size = int(numpy.prod(shape))
    return numpy.array(list(islice(_COUNT, size)), numpy.float32).reshape(shape)


def linear(name: str, outputs: int = D, inputs: int = D) -> dict[str, Any]:
    """A linear layer of PyTorch."""
    return {f"{name}.weight": numbers(outputs, inputs), f"{name}.bias": numbers(outputs)}


def conv1d(name: str, inputs: int, outputs: int) -> dict[str, Any]:
    """Conv1D of GPT-2, whose weight is transposed."""
    return {f"{name}.weight": numbers(inputs, outputs), f"{name}.bias": numbers(outputs)}


def norm(name: str, size: int = D) -> dict[str, Any]:
    return {f"{name}.weight": numbers(size), f"{name}.bias": numbers(size)}


def gpt2() -> dict[str, Any]:
    return (
        norm("h.0.ln_1")
        | conv1d("h.0.attn.c_attn", D, 3 * D)
        | conv1d("h.0.attn.c_proj", D, D)
        | norm("h.0.ln_2")
        | conv1d("h.0.mlp.c_fc", D, 4 * D)
        | {"h.0.attn.bias": numpy.ones((1, 1, 8, 8), numpy.float32)}
    )


def nanogpt() -> dict[str, Any]:
    block = "transformer.h.0"
    return (
        norm(f"{block}.ln_1")
        | {f"{block}.attn.bias": numpy.ones((1, 1, 5, 5))}
        | linear(f"{block}.attn.c_attn", 3 * D)
        | linear(f"{block}.attn.c_proj")
        | norm(f"{block}.ln_2")
    )


def bert() -> dict[str, Any]:
    layer = "bert.encoder.layer.0"
    return (
        linear(f"{layer}.attention.self.query")
        | linear(f"{layer}.attention.self.key")
        | linear(f"{layer}.attention.self.value")
        | linear(f"{layer}.attention.output.dense")
        | norm(f"{layer}.attention.output.LayerNorm")
        | linear(f"{layer}.output.dense", D, 4 * D)
        | norm(f"{layer}.output.LayerNorm")
    )


def llama() -> dict[str, Any]:
    """With two heads to a key and no biases."""
    layer = "model.layers.0"
    return {
        f"{layer}.self_attn.q_proj.weight": numbers(2 * D, D),
        f"{layer}.self_attn.k_proj.weight": numbers(D, D),
        f"{layer}.self_attn.v_proj.weight": numbers(D, D),
        f"{layer}.self_attn.o_proj.weight": numbers(D, 2 * D),
        f"{layer}.input_layernorm.weight": numbers(D),
        f"{layer}.post_attention_layernorm.weight": numbers(D),
    }


def qwen() -> dict[str, Any]:
    layer = "model.layers.0"
    biases = {
        f"{layer}.self_attn.q_proj.bias": numbers(2 * D),
        f"{layer}.self_attn.k_proj.bias": numbers(D),
        f"{layer}.self_attn.v_proj.bias": numbers(D),
    }
    return llama() | biases


def encoder_layer() -> dict[str, Any]:
    """nn.TransformerEncoderLayer, in which nn.MultiheadAttention is."""
    return (
        {"self_attn.in_proj_weight": numbers(3 * D, D), "self_attn.in_proj_bias": numbers(3 * D)}
        | linear("self_attn.out_proj")
        | linear("linear1", 8)
        | norm("norm1")
        | norm("norm2")
    )


def vit() -> dict[str, Any]:
    layer = "vit.encoder.layer.0"
    return (
        linear(f"{layer}.attention.attention.query")
        | linear(f"{layer}.attention.attention.key")
        | linear(f"{layer}.attention.attention.value")
        | linear(f"{layer}.attention.output.dense")
        | norm(f"{layer}.layernorm_before")
        | norm(f"{layer}.layernorm_after")
    )


def timm() -> dict[str, Any]:
    return (
        norm("blocks.0.norm1")
        | linear("blocks.0.attn.qkv", 3 * D)
        | linear("blocks.0.attn.proj")
        | norm("blocks.0.norm2")
    )


def opt() -> dict[str, Any]:
    layer = "model.decoder.layers.0"
    parts = norm(f"{layer}.self_attn_layer_norm") | norm(f"{layer}.final_layer_norm")
    for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
        parts |= linear(f"{layer}.self_attn.{name}")
    return parts


def t5() -> dict[str, Any]:
    layer = "encoder.block.0.layer.0"
    weights = {f"{layer}.SelfAttention.{x}.weight": numbers(D, D) for x in "qkvo"}
    return weights | {f"{layer}.layer_norm.weight": numbers(D)}


def heads_of(state: dict[str, Any], heads: int = HEADS) -> list[HeadArrays]:
    (layer,) = usual_layers(tensors(state))
    return list(layer.heads(1, heads))


def is_equal(found: Any, expected: Any) -> bool:
    """Whether both are none, or the same arrays."""
    if found is None or expected is None:
        return found is expected
    return bool(numpy.array_equal(found, expected))


def compare(found: HeadArrays, **expected: Any) -> None:
    for letter in ("Q_bias", "K_bias", "V_bias", "O_bias"):
        assert is_equal(getattr(found, letter), expected.get(letter)), letter


def compare_norm(found: HeadArrays, kind: str, place: str, gamma: Any, beta: Any) -> None:
    assert found.norm is not None
    assert (found.norm.kind, found.norm.place) == (kind, place)
    assert is_equal(found.norm.gamma, gamma)
    assert is_equal(found.norm.beta, beta)


def test_gpt2() -> None:
    state = gpt2()
    bias = state["h.0.attn.c_attn.bias"]
    weight = state["h.0.attn.c_attn.weight"]
    for h, head in enumerate(heads_of(state)):
        compare(
            head,
            Q_bias=bias[3 * h : 3 * h + 3],
            K_bias=bias[6 + 3 * h : 6 + 3 * h + 3],
            V_bias=bias[12 + 3 * h : 12 + 3 * h + 3],
            O_bias=state["h.0.attn.c_proj.bias"],
        )
        # The outputs of the linear map with these columns.
        assert is_equal(head.matrices["K"], weight[:, 6 + 3 * h : 6 + 3 * h + 3].T)
        compare_norm(head, "layer", "pre", state["h.0.ln_1.weight"], state["h.0.ln_1.bias"])
        assert head.norm is not None
        assert head.norm.name == "h.0.ln_1.weight"


def test_nanogpt() -> None:
    """The names of GPT-2 with the shapes of PyTorch; norms may have no bias."""
    state = nanogpt()
    bias = state["transformer.h.0.attn.c_attn.bias"]
    first, second = heads_of(state)
    output = state["transformer.h.0.attn.c_proj.bias"]
    compare(first, Q_bias=bias[0:3], K_bias=bias[6:9], V_bias=bias[12:15], O_bias=output)
    compare(second, Q_bias=bias[3:6], K_bias=bias[9:12], V_bias=bias[15:18], O_bias=output)
    without = {name: array for name, array in state.items() if not name.endswith(".bias")}
    gamma = state["transformer.h.0.ln_1.weight"]
    for head in heads_of(without):
        compare(head)
        compare_norm(head, "layer", "pre", gamma, None)


def test_bert() -> None:
    state = bert()
    attention = "bert.encoder.layer.0.attention"
    first, second = heads_of(state)
    query, key = state[f"{attention}.self.query.bias"], state[f"{attention}.self.key.bias"]
    value, output = state[f"{attention}.self.value.bias"], state[f"{attention}.output.dense.bias"]
    compare(first, Q_bias=query[:3], K_bias=key[:3], V_bias=value[:3], O_bias=output)
    compare(second, Q_bias=query[3:], K_bias=key[3:], V_bias=value[3:], O_bias=output)
    norm_name = f"{attention}.output.LayerNorm"
    gamma, beta = state[f"{norm_name}.weight"], state[f"{norm_name}.bias"]
    compare_norm(second, "layer", "post", gamma, beta)
    # The names of its files of 2018.
    old = {name: array for name, array in state.items() if norm_name not in name}
    old |= {f"{norm_name}.gamma": gamma, f"{norm_name}.beta": beta}
    compare_norm(heads_of(old)[0], "layer", "post", gamma, beta)


def test_llama_has_a_norm_alone() -> None:
    state = llama()
    found = heads_of(state, 4)
    assert len(found) == 4
    for head in found:
        compare(head)
        compare_norm(head, "rms", "pre", state["model.layers.0.input_layernorm.weight"], None)
    # Phi has the same name for a LayerNorm, which has a bias.
    beta = numbers(D)
    with_bias = heads_of(state | {"model.layers.0.input_layernorm.bias": beta}, 4)
    gamma = state["model.layers.0.input_layernorm.weight"]
    compare_norm(with_bias[0], "layer", "pre", gamma, beta)


def test_biases_of_shared_keys_are_shared() -> None:
    state = qwen()
    attention = "model.layers.0.self_attn"
    query = state[f"{attention}.q_proj.bias"]
    key, value = state[f"{attention}.k_proj.bias"], state[f"{attention}.v_proj.bias"]
    for h, head in enumerate(heads_of(state, 4)):
        group = h // 2
        compare(
            head,
            Q_bias=query[3 * h : 3 * h + 3],
            K_bias=key[3 * group : 3 * group + 3],
            V_bias=value[3 * group : 3 * group + 3],
        )
    # Stacked in one array, as in Phi-3.
    rows = [state[f"{attention}.{x}_proj.weight"] for x in "qkv"]
    stacked = {
        f"{attention}.qkv_proj.weight": numpy.vstack(rows),
        f"{attention}.qkv_proj.bias": numpy.concatenate([query, key, value]),
        f"{attention}.o_proj.weight": state[f"{attention}.o_proj.weight"],
    }
    for one, other in zip(heads_of(stacked, 4), heads_of(state, 4), strict=True):
        compare(one, Q_bias=other.Q_bias, K_bias=other.K_bias, V_bias=other.V_bias)


def test_multihead_attention() -> None:
    state = encoder_layer()
    bias = state["self_attn.in_proj_bias"]
    first, second = heads_of(state)
    output = state["self_attn.out_proj.bias"]
    compare(first, Q_bias=bias[0:3], K_bias=bias[6:9], V_bias=bias[12:15], O_bias=output)
    compare(second, Q_bias=bias[3:6], K_bias=bias[9:12], V_bias=bias[15:18], O_bias=output)
    compare_norm(first, "layer", "post", state["norm1.weight"], state["norm1.bias"])


def test_in_proj_bias_of_pytorch_itself() -> None:
    """The biases that nn.MultiheadAttention adds, seen by its own linear map."""
    torch = pytest.importorskip("torch")
    layer = torch.nn.TransformerEncoderLayer(D, HEADS, 8)
    for part in layer.parameters():
        torch.nn.init.normal_(part)
    found = heads_of(layer.state_dict())
    zero = torch.zeros(1, D)
    attention = layer.self_attn
    moved = torch.nn.functional.linear(zero, attention.in_proj_weight, attention.in_proj_bias)
    for place, letter in enumerate("QKV"):
        biases = numpy.concatenate([getattr(head, f"{letter}_bias") for head in found])
        assert is_equal(biases, moved.detach().numpy()[0, place * D : place * D + D])


def test_vit() -> None:
    state = vit()
    layer = "vit.encoder.layer.0"
    second = heads_of(state)[1]
    compare(
        second,
        Q_bias=state[f"{layer}.attention.attention.query.bias"][3:],
        K_bias=state[f"{layer}.attention.attention.key.bias"][3:],
        V_bias=state[f"{layer}.attention.attention.value.bias"][3:],
        O_bias=state[f"{layer}.attention.output.dense.bias"],
    )
    before = f"{layer}.layernorm_before"
    compare_norm(second, "layer", "pre", state[f"{before}.weight"], state[f"{before}.bias"])


def test_timm() -> None:
    state = timm()
    bias = state["blocks.0.attn.qkv.bias"]
    first = heads_of(state)[0]
    output = state["blocks.0.attn.proj.bias"]
    compare(first, Q_bias=bias[0:3], K_bias=bias[6:9], V_bias=bias[12:15], O_bias=output)
    compare_norm(
        first, "layer", "pre", state["blocks.0.norm1.weight"], state["blocks.0.norm1.bias"]
    )


def test_opt_and_bart() -> None:
    state = opt()
    attention = "model.decoder.layers.0.self_attn"
    first = heads_of(state)[0]
    compare(
        first,
        Q_bias=state[f"{attention}.q_proj.bias"][:3],
        K_bias=state[f"{attention}.k_proj.bias"][:3],
        V_bias=state[f"{attention}.v_proj.bias"][:3],
        O_bias=state[f"{attention}.out_proj.bias"],
    )
    gamma, beta = state[f"{attention}_layer_norm.weight"], state[f"{attention}_layer_norm.bias"]
    compare_norm(first, "layer", "pre", gamma, beta)
    # A whole model ends with a norm where norms stand before layers, and BART does not.
    whole = state | {"model.decoder.embed_positions.weight": numbers(8, D)}
    compare_norm(heads_of(whole)[0], "layer", "post", gamma, beta)
    ended = whole | norm("model.decoder.final_layer_norm")
    compare_norm(heads_of(ended)[0], "layer", "pre", gamma, beta)


def test_t5() -> None:
    state = t5()
    for head in heads_of(state):
        compare(head)
        compare_norm(head, "rms", "pre", state["encoder.block.0.layer.0.layer_norm.weight"], None)


def test_a_bias_may_be_missing() -> None:
    """Whisper's keys have none."""
    state = opt()
    key = "model.decoder.layers.0.self_attn.k_proj.bias"
    without = {name: array for name, array in state.items() if name != key}
    for head, other in zip(heads_of(without), heads_of(state), strict=True):
        compare(head, Q_bias=other.Q_bias, V_bias=other.V_bias, O_bias=other.O_bias)


def test_each_layer_has_its_own() -> None:
    state = {}
    for number in range(3):
        for name, array in gpt2().items():
            state[name.replace("h.0.", f"h.{number}.")] = array
    for number, layer in enumerate(usual_layers(tensors(state))):
        first = next(layer.heads(number + 1, HEADS))
        assert is_equal(first.Q_bias, state[f"h.{number}.attn.c_attn.bias"][:3])
        assert first.norm is not None
        assert is_equal(first.norm.gamma, state[f"h.{number}.ln_1.weight"])


def test_given_names() -> None:
    state = linear("ask") | linear("answer") | linear("what") | linear("out")
    names = {"query": "ask.weight", "key": "answer.weight", "value": "what.weight"}
    (layer,) = named_layers(tensors(state), names | {"output": "out.weight"})
    second = list(layer.heads(1, HEADS))[1]
    compare(
        second,
        Q_bias=state["ask.bias"][3:],
        K_bias=state["answer.bias"][3:],
        V_bias=state["what.bias"][3:],
        O_bias=state["out.bias"],
    )
    assert second.norm is None
    # Without the ending there is none, whatever else is called a bias.
    others = {"ask": numbers(D, D), "answer": numbers(D, D), "what": numbers(D, D)}
    others |= {"askbias": numbers(D), "bias": numbers(D), "ask.bias": numbers(D)}
    names = {"query": "ask", "key": "answer", "value": "what"}
    (layer,) = named_layers(tensors(others), names)
    for head in layer.heads(1, HEADS):
        compare(head)
    one = {"all_weight": numbers(3 * D, D), "all_bias": numbers(3 * D)}
    (layer,) = named_layers(tensors(one), {"stacked": "all_weight"}, StoredAs(cut="q-k-v"))
    bias = one["all_bias"]
    compare(next(layer.heads(1, 2)), Q_bias=bias[:3], K_bias=bias[6:9], V_bias=bias[12:15])


def test_heads_as_first_index() -> None:
    """A bias has the shape of its matrices without their columns."""
    names = {"query": "q.weight", "key": "k.weight", "value": "v.weight"}
    state = {f"{x}.weight": numbers(HEADS, A, D) for x in "qkv"}
    state |= {f"{x}.bias": numbers(HEADS, A) for x in "qkv"}
    (layer,) = named_layers(tensors(state), names)
    for h, head in enumerate(layer.heads(1, None)):
        compare(
            head, Q_bias=state["q.bias"][h], K_bias=state["k.bias"][h], V_bias=state["v.bias"][h]
        )

    # Those of all heads may stand in one row.
    flat = state | {"q.bias": state["q.bias"].ravel()}
    (layer,) = named_layers(tensors(flat), names)
    assert is_equal(list(layer.heads(1, None))[1].Q_bias, state["q.bias"][1])


@pytest.mark.parametrize(("matrix", "bias"), [("{}", "{}_bias"), ("l.0.W_{}", "l.0.b_{}")])
def test_letters(matrix: str, bias: str) -> None:
    state = {matrix.format(x): numbers(D, D) for x in "QKVO"}
    state |= {bias.format(x): numbers(D) for x in "QKVO"}
    given = {x: state[bias.format(x)] for x in "QKVO"}
    second = heads_of(state)[1]
    compare(
        second,
        Q_bias=given["Q"][3:],
        K_bias=given["K"][3:],
        V_bias=given["V"][3:],
        O_bias=given["O"],
    )
    # A has none of its own, and what has no name is none.
    beside = {"A": numpy.eye(3), "V": numpy.eye(3), "V_bias": numpy.ones(3)}
    found = weights(beside | {"A_bias": numpy.ones(3), "": [1, 2, 3]})
    assert found.heads[0].shape.token_dimension == 4
    assert set(found.left_out) == {"biases (1)", "''"}


@pytest.mark.parametrize(
    ("matrix", "bias"),
    [("{}", "O_bias"), ("W_{}", "b_O"), ("l.0.attn.{}_proj.weight", "l.0.attn.o_proj.bias")],
)
def test_an_output_bias_needs_the_output_matrix(matrix: str, bias: str) -> None:
    """Without O it is not known to which outputs b is added; without biases nothing is missing."""
    letters = "qkv" if "proj" in matrix else "QKV"
    state = {matrix.format(x): numbers(D, D) for x in letters}
    with pytest.raises(InvalidCaseError, match=f"'{bias}' is the bias of an output matrix that"):
        weights(state | {bias: numbers(D)}, heads=1)
    found = weights(state | {bias: numbers(D)}, heads=1, biases="ignore")
    alone = weights(state, heads=1).summary
    assert alone is not None
    assert found.summary == alone.replace("The head", "The head, without biases,")
    assert [(use.name, use.used_for) for use in found.arrays][-1] == (bias, "")


def test_a_product_of_keys_and_queries_has_no_bias() -> None:
    """b_A is not said to be used: scores have the biases of K and Q, and A = KᵀQ has none."""
    state = {"W_A": numpy.eye(3), "W_V": numpy.eye(3), "b_A": numpy.ones(3)}
    found = weights(state)
    assert found.left_out == ("'b_A'",)
    assert [use.used_for for use in found.arrays] == ["A of layer 1", "V of layer 1", ""]


def test_a_norm_that_is_said_is_before_the_layer() -> None:
    """Where a name is that of norms in both places."""
    state = encoder_layer()
    after = weights(state, heads=HEADS)
    before = weights(state, heads=HEADS, norm="layer")
    assert {head.shape.token_dimension for head in after.heads} == {D + 1}
    assert {head.shape.token_dimension for head in before.heads} == {D}
    assert set(after.left_out) == {"norms (4)", "MLPs (2)"}
    assert set(before.left_out) == {"norms (2)", "MLPs (2)"}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (
            {"h.0.attn.c_attn.bias": numpy.ones(7)},
            r"'h.0.attn.c_attn.bias' is 7, a bias of 18 entries is needed, one for each output of"
            r" 'h.0.attn.c_attn.weight'; say biases='ignore', or give it another name if it"
            r" does not belong to this layer",
        ),
        (
            {"h.0.attn.c_proj.bias": numpy.ones((6, 1))},
            r"c_proj.bias' is 6 × 1, a bias of 6 entries is needed",
        ),
        (
            {"h.0.attn.c_proj.bias": numpy.array(1.0)},
            r"c_proj.bias' is a number, a bias of 6 entries is needed",
        ),
        (
            {"h.0.ln_1.weight": numpy.ones(5)},
            r"ln_1.weight' is 5, a norm of 6 entries is needed, one for each coordinate",
        ),
        (
            {"h.0.ln_1.bias": numpy.ones((2, 3))},
            r"ln_1.bias' is 2 × 3, a norm of 6 entries is needed",
        ),
        ({"h.0.ln_1.bias": numpy.full(6, numpy.nan)}, r"entry \(1\) of 'h.0.ln_1.bias' is nan"),
        ({"h.0.attn.c_attn.bias": numpy.full(18, numpy.inf)}, r"c_attn.bias' is inf"),
    ],
)
def test_wrong_biases_and_norms(changed: dict[str, Any], said: str) -> None:
    with pytest.raises(M2BridgeError, match=said):
        heads_of(gpt2() | changed)


def test_a_norm_after_the_layer_has_the_size_of_its_outputs() -> None:
    state = encoder_layer()
    state["self_attn.out_proj.weight"] = numbers(4, D)
    state["self_attn.out_proj.bias"] = numbers(4)
    with pytest.raises(M2BridgeError, match=r"'norm1.weight' is 6, a norm of 4 entries is needed"):
        heads_of(state)
    state |= norm("norm1", 4)
    first = heads_of(state)[0]
    compare_norm(first, "layer", "post", state["norm1.weight"], state["norm1.bias"])


@pytest.mark.parametrize("layout", [gpt2, llama, encoder_layer])
def test_what_is_counted_is_not_listed_as_left_out(layout: Any) -> None:
    state = layout()
    heads = 4 if layout is llama else HEADS
    others = {
        gpt2: {"norms (2)", "MLPs (2)", "masks (1)"},
        llama: {"norms (1)"},
        # A norm after the layer changes nothing in what is said of the layer.
        encoder_layer: {"norms (4)", "MLPs (2)"},
    }
    assert set(weights(state, heads=heads).left_out) == others[layout]
    bare = {
        gpt2: {"norms (2)", "biases (5)", "MLPs (1)", "masks (1)"},
        llama: {"norms (2)"},
        encoder_layer: {"norms (2)", "biases (5)", "MLPs (1)"},
    }
    found = weights(state, heads=heads, biases="ignore", norm="none")
    assert set(found.left_out) == bare[layout]
    # γ is no bias.
    of_norm = {gpt2: {"norms (1)", "biases (5)", "MLPs (1)", "masks (1)"}, llama: others[llama]}
    found = weights(state, heads=heads, biases="ignore")
    assert set(found.left_out) == of_norm.get(layout, bare[layout])


def test_answers_are_about_biases_and_norms() -> None:
    """One coordinate of the tokens more, and one less; none by choice, where nothing is read."""
    state = gpt2()
    dimensions = {"biases": 7, "LayerNorm": 5, "both": 6}
    found = {
        "biases": weights(state, heads=HEADS, norm="none"),
        "LayerNorm": weights(state, heads=HEADS, biases="ignore"),
        "both": weights(state, heads=HEADS),
    }
    for name, answer in found.items():
        assert {head.shape.token_dimension for head in answer.heads} == {dimensions[name]}
    broken = state | {
        "h.0.attn.c_attn.bias": numpy.ones(4),
        "h.0.ln_1.bias": numpy.full(D, numpy.nan),
        "h.0.ln_1.weight": numpy.ones((2, 2)),
    }
    bare = {
        name: array for name, array in state.items() if name.endswith(("attn.weight", "j.weight"))
    }
    ignored = weights(broken, heads=HEADS, biases="ignore", norm="none").to_json()
    assert ignored["heads"] == weights(bare, heads=HEADS).to_json()["heads"]
    with pytest.raises(InvalidCaseError, match="say biases='ignore'"):
        weights(broken, heads=HEADS, norm="none")


LAYOUTS = [gpt2, nanogpt, bert, qwen, encoder_layer, vit, timm, opt, t5]


def taken() -> Iterator[tuple[Any, str]]:
    """The biases and norms that belong to a layer, with their layouts."""
    for layout in LAYOUTS:
        state = layout()
        for layer in usual_layers(tensors(state)):
            names = {part.name for part in layer.biases.values()}
            assert layer.norm is not None
            names |= {layer.norm.gamma.name}
            names |= {layer.norm.beta.name} if layer.norm.beta else set()
            for name in sorted(names):
                yield layout, name


HARMFUL: list[Any] = [
    numpy.array(1.0),
    numpy.zeros(0),
    numpy.zeros((0, 3)),
    numpy.zeros((1,) * 20),
    numpy.full(D, numpy.nan),
    numpy.full(3 * D, -numpy.inf),
    numpy.ones(D, complex),
    numpy.ones(3 * D, bool),
    numpy.array(["x"] * D),
    numpy.array([None] * D),
    numpy.zeros(D, "datetime64[s]"),
    numpy.lib.stride_tricks.as_strided(numpy.ones(1), (2**40,), (0,)),
    numpy.lib.stride_tricks.as_strided(numpy.ones(1), (2**20, 2**20), (0, 0)),
    [],
    [[1], [1, 2]],
    "ones",
    None,
    True,
    object(),
    {1, 2},
]


@pytest.mark.parametrize(("layout", "name"), list(taken()))
def test_harmful_arrays_are_named(layout: Any, name: str) -> None:
    for value in HARMFUL:
        with pytest.raises(M2BridgeError) as error:
            heads_of(layout() | {name: value}, 4 if layout is qwen else HEADS)
        assert len(str(error.value)) < 600


@given(st.sampled_from(LAYOUTS), st.data())
@settings(max_examples=examples(150), deadline=None)
def test_any_shapes_are_heads_or_named_errors(layout: Any, data: st.DataObject) -> None:
    """Of all arrays: those of other layers are not looked at."""
    state = layout()
    sizes = st.lists(st.integers(0, 7) | st.sampled_from([D, 2 * D, 3 * D]), max_size=3)
    for name in data.draw(st.lists(st.sampled_from(sorted(state)), min_size=1, max_size=3)):
        state[name] = numpy.ones(data.draw(sizes), numpy.float32)
    try:
        layers, _, heads = find_layers(state, {}, {}, data.draw(st.sampled_from([None, 1, 2, 4])))
        found = [head for layer in layers for head in layer.heads(1, heads)]
    except M2BridgeError:
        return
    for head in found:
        rows = {letter: matrix.shape[0] for letter, matrix in head.matrices.items()}
        for letter in "KQVO":
            bias = getattr(head, f"{letter}_bias")
            assert bias is None or bias.shape == (rows[letter],)


def test_files(tmp_path: Path) -> None:
    """What is read from files is what is given in Python."""
    state = gpt2()
    save_file(
        {name: numpy.ascontiguousarray(x) for name, x in state.items()}, tmp_path / "x.safetensors"
    )
    numpy.savez(tmp_path / "x.npz", **state)
    for name in ("x.safetensors", "x.npz"):
        (layer,) = usual_layers(tensors(tmp_path / name))
        for head, other in zip(layer.heads(1, HEADS), heads_of(state), strict=True):
            compare(
                head,
                Q_bias=other.Q_bias,
                K_bias=other.K_bias,
                V_bias=other.V_bias,
                O_bias=other.O_bias,
            )
            assert other.norm is not None
            compare_norm(head, "layer", "pre", other.norm.gamma, other.norm.beta)


@pytest.mark.parametrize("kind", [bool, "V8", complex])
def test_files_with_other_types(kind: Any, tmp_path: Path) -> None:
    state = gpt2() | {"h.0.attn.c_attn.bias": numpy.zeros(3 * D, kind)}
    numpy.savez(tmp_path / "x.npz", **state)
    (layer,) = usual_layers(tensors(tmp_path / "x.npz"))
    with pytest.raises(M2BridgeError, match=r"'h.0.attn.c_attn.bias' holds"):
        list(layer.heads(1, HEADS))
