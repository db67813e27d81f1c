"""Layouts of files: heads with planted ranks, stored as libraries document it, are found again."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest
from click.testing import CliRunner
from safetensors.numpy import save_file

from m2bridge import weights
from m2bridge.cli.commands import cli
from m2bridge.errors import ConversionError, InvalidCaseError
from m2bridge.trained_weights.checkpoints.accounting import StoredOptions
from m2bridge.trained_weights.checkpoints.architecture import Architecture, read_architecture
from m2bridge.trained_weights.checkpoints.array_names import without_last_word
from m2bridge.trained_weights.checkpoints.arrays import tensor
from m2bridge.trained_weights.checkpoints.find_layers import find_layers
from m2bridge.trained_weights.checkpoints.layouts import LAYOUTS as KNOWN_LAYOUTS, stored_as
from m2bridge.trained_weights.checkpoints.names import _joined_heads
from tests.tiers import few

D, A, HEADS = 8, 2, 4
"""The dimension of the tokens, the rows of a head, and the heads, of which two may share a key."""

Arrays = dict[str, Any]


class Planted:
    """Heads of attention whose A and V have ranks 1 and 2, in all four ways."""

    ranks = ((2, 1), (1, 2), (1, 1), (2, 2))

    def __init__(self, groups: int = HEADS, d: int = D, seed: int = 1) -> None:
        random = numpy.random.default_rng(seed)

        def drawn(*shape: int) -> Any:
            return random.integers(1, 50, shape).astype(numpy.float32)

        self.q, self.k = drawn(HEADS, A, d), drawn(groups, A, d)
        self.v, self.o = drawn(groups, A, d), drawn(HEADS, d, A)
        self.groups = groups
        for h, (a, v) in enumerate(self.ranks):
            if a == 1:
                self.q[h, 1] = 2 * self.q[h, 0]
            if v == 1:
                self.o[h, :, 1] = 3 * self.o[h, :, 0]

    @property
    def Q(self) -> Any:
        return self.q.reshape(-1, self.q.shape[-1])

    @property
    def K(self) -> Any:
        return self.k.reshape(-1, self.k.shape[-1])

    @property
    def V(self) -> Any:
        return self.v.reshape(-1, self.v.shape[-1])

    @property
    def O(self) -> Any:  # noqa: E743  (the letter of the output matrix)
        return numpy.concatenate(list(self.o), axis=1)

    @property
    def stacked(self) -> Any:
        return numpy.vstack([self.Q, self.K, self.V])

    @property
    def by_group(self) -> Any:
        """For each group its queries, its key, its value: [g, heads/g + 2, a, d]."""
        shared = HEADS // self.groups
        rows = []
        for g in range(self.groups):
            rows += [*self.q[g * shared : (g + 1) * shared], self.k[g], self.v[g]]
        return numpy.concatenate(rows)

    @property
    def by_quarter(self) -> Any:
        """Four parts, each with rows of Q, V and K: ``mp_num = 4`` in CodeGen."""
        rows = []
        for part in range(4):
            own = slice(part * HEADS * A // 4, (part + 1) * HEADS * A // 4)
            rows += [self.Q[own], self.V[own], self.K[own]]
        return numpy.concatenate(rows)


def found_ranks(*given: Any, **options: Any) -> tuple[tuple[int, int], ...]:
    found = weights(*given, **options)
    return tuple((head.ranks.r, head.ranks.s) for head in found.heads)


def separate(query: str, key: str, value: str, output: str) -> Callable[[Planted], Arrays]:
    def state(p: Planted) -> Arrays:
        return {query: p.Q, key: p.K, value: p.V, output: p.O}

    return state


def stacked(name: str, output: str, cut: str = "stacked") -> Callable[[Planted], Arrays]:
    return lambda p: {name: getattr(p, cut), output: p.O}


L = "model.layers.0.self_attn"
LAYOUTS: dict[str, Callable[[Planted], Arrays]] = {
    "nn.MultiheadAttention of PyTorch": stacked("in_proj_weight", "out_proj.weight"),
    "nn.MultiheadAttention of PyTorch with other keys": separate(
        "q_proj_weight", "k_proj_weight", "v_proj_weight", "out_proj.weight"
    ),
    "LLaMA, Mistral, Qwen2, Gemma": separate(*(f"{L}.{x}_proj.weight" for x in "qkvo")),
    "OPT, BART, Whisper, CLIP, GPT-J, GPT-Neo": separate(
        *(f"decoder.{L}.{x}_proj.weight" for x in ("q", "k", "v", "out"))
    ),
    "torchtune, fairseq2": separate(
        *(f"layers.0.attn.{x}_proj.weight" for x in ("q", "k", "v", "output"))
    ),
    "Phi": separate(*(f"{L}.{x}.weight" for x in ("q_proj", "k_proj", "v_proj", "dense"))),
    "Phi-3": stacked(f"{L}.qkv_proj.weight", f"{L}.o_proj.weight"),
    "Baichuan": stacked(f"{L}.W_pack.weight", f"{L}.o_proj.weight"),
    "InternLM2": stacked(
        "model.layers.0.attention.wqkv.weight", "model.layers.0.attention.wo.weight", "by_group"
    ),
    "Megatron Core": stacked(
        "decoder.layers.0.self_attention.linear_qkv.weight",
        "decoder.layers.0.self_attention.linear_proj.weight",
        "by_group",
    ),
    "GPT-NeoX, BLOOM, Falcon": stacked(
        "gpt_neox.layers.0.attention.query_key_value.weight",
        "gpt_neox.layers.0.attention.dense.weight",
        "by_group",
    ),
    "LitGPT": stacked(
        "transformer.h.0.attn.attn.weight", "transformer.h.0.attn.proj.weight", "by_group"
    ),
    "MPT, flash-attn": stacked(
        "transformer.blocks.0.attn.Wqkv.weight", "transformer.blocks.0.attn.out_proj.weight"
    ),
    "MosaicBERT": stacked(
        "encoder.layer.0.attention.self.Wqkv.weight",
        "encoder.layer.0.attention.output.dense.weight",
    ),
    "BLIP": stacked(
        "encoder.layers.0.self_attn.qkv.weight", "encoder.layers.0.self_attn.projection.weight"
    ),
    "Bark": stacked("layers.0.attn.att_proj.weight", "layers.0.attn.out_proj.weight"),
    "ModernBERT": stacked("layers.0.attn.Wqkv.weight", "layers.0.attn.Wo.weight"),
    "BERT": separate(
        *(f"bert.encoder.layer.0.attention.self.{x}.weight" for x in ("query", "key", "value")),
        "bert.encoder.layer.0.attention.output.dense.weight",
    ),
    "ViT": separate(
        *(f"vit.encoder.layer.0.attention.attention.{x}.weight" for x in ("query", "key", "value")),
        "vit.encoder.layer.0.attention.output.dense.weight",
    ),
    "DistilBERT": separate(
        *(f"transformer.layer.0.attention.{x}_lin.weight" for x in ("q", "k", "v", "out"))
    ),
    "T5": separate(*(f"encoder.block.0.layer.0.SelfAttention.{x}.weight" for x in "qkvo")),
    "Meta's original LLaMA": separate(*(f"layers.0.attention.w{x}.weight" for x in "qkvo")),
    "diffusers": separate(
        *(f"blocks.0.attn1.to_{x}.weight" for x in ("q", "k", "v")),
        "blocks.0.attn1.to_out.0.weight",
    ),
    "keys and values in one array": lambda p: {
        "layers.0.attn.to_q.weight": p.Q,
        "layers.0.attn.to_kv.weight": numpy.vstack([p.K, p.V]),
        "layers.0.attn.to_out.0.weight": p.O,
    },
    "keys and values in one array, without dropout": lambda p: {
        "layers.0.attn.to_q.weight": p.Q,
        "layers.0.attn.to_kv.weight": numpy.vstack([p.K, p.V]),
        "layers.0.attn.to_out.weight": p.O,
    },
    "x-transformers": separate(
        *(f"attn_layers.layers.0.1.to_{x}.weight" for x in ("q", "k", "v", "out"))
    ),
    "vit-pytorch, one head": stacked(
        "transformer.layers.0.0.to_qkv.weight", "transformer.layers.0.0.to_out.weight"
    ),
    "TinyViT": lambda p: {
        "stages.1.blocks.0.attn.qkv.weight": p.by_group,
        "stages.1.blocks.0.attn.proj.weight": p.O,
        "stages.1.blocks.0.attn.attention_biases": numpy.ones((HEADS, 49)),
    },
    "ESPnet, NeMo": separate(
        *(f"encoder.layers.0.self_attn.linear_{x}.weight" for x in ("q", "k", "v", "out"))
    ),
    "PVT": lambda p: {
        "block4.0.attn.q.weight": p.Q,
        "block4.0.attn.kv.weight": numpy.vstack([p.K, p.V]),
        "block4.0.attn.proj.weight": p.O,
    },
    "AI2's original OLMo": stacked(
        "model.transformer.blocks.0.att_proj.weight", "model.transformer.blocks.0.attn_out.weight"
    ),
    "KerasHub": lambda p: {
        "decoder_block_0/self_attention/query_dense/kernel": p.q.transpose(2, 0, 1),
        "decoder_block_0/self_attention/key_dense/kernel": p.k.transpose(2, 0, 1),
        "decoder_block_0/self_attention/value_dense/kernel": p.v.transpose(2, 0, 1),
        "decoder_block_0/self_attention/output_dense/kernel": p.o.transpose(0, 2, 1),
    },
    "vit-pytorch": stacked(
        "transformer.layers.0.0.to_qkv.weight", "transformer.layers.0.0.to_out.0.weight"
    ),
    "timm": stacked("blocks.0.attn.qkv.weight", "blocks.0.attn.proj.weight"),
    "minGPT": separate(*(f"blocks.0.attn.{x}.weight" for x in ("query", "key", "value", "proj"))),
    "OpenAI's original Whisper": separate(
        *(f"encoder.blocks.0.attn.{x}.weight" for x in ("query", "key", "value", "out"))
    ),
    "heads of their own modules": lambda p: {
        "blocks.0.sa.proj.weight": p.O,
        **{
            f"blocks.0.sa.heads.{h}.{name}.weight": array[h]
            for h in range(HEADS)
            for name, array in (("query", p.q), ("key", p.k), ("value", p.v))
        },
        **{f"blocks.0.sa.heads.{h}.tril": numpy.ones((5, 5)) for h in range(HEADS)},
    },
    "The Annotated Transformer": separate(
        *(f"encoder.layers.0.self_attn.linears.{i}.weight" for i in range(4))
    ),
    "Attention is all you need, in PyTorch": separate(
        *(f"encoder.layer_stack.0.slf_attn.{x}.weight" for x in ("w_qs", "w_ks", "w_vs", "fc"))
    ),
    "Build a Large Language Model (From Scratch)": separate(
        *(f"trf_blocks.0.att.{x}.weight" for x in ("W_query", "W_key", "W_value", "out_proj"))
    ),
    "Dive into Deep Learning": separate(*(f"blks.0.attention.W_{x}.weight" for x in "qkvo")),
    "q-linear": separate(
        *(f"layers.0.attn.{x}.weight" for x in ("q_linear", "k_linear", "v_linear", "out"))
    ),
    "queries": separate(
        *(f"layers.0.attention.{x}.weight" for x in ("queries", "keys", "values", "fc_out"))
    ),
    "Flax": lambda p: {
        "layer_0/attention/query/kernel": p.q.transpose(2, 0, 1),
        "layer_0/attention/key/kernel": p.k.transpose(2, 0, 1),
        "layer_0/attention/value/kernel": p.v.transpose(2, 0, 1),
        "layer_0/attention/out/kernel": p.o.transpose(0, 2, 1),
    },
    "Flax, by its own names": lambda p: {
        "MultiHeadDotProductAttention_0.query.kernel": p.q.transpose(2, 0, 1),
        "MultiHeadDotProductAttention_0.key.kernel": p.k.transpose(2, 0, 1),
        "MultiHeadDotProductAttention_0.value.kernel": p.v.transpose(2, 0, 1),
        "MultiHeadDotProductAttention_0.out.kernel": p.o.transpose(0, 2, 1),
    },
    "Google's ViT, in Flax": lambda p: {
        f"Transformer/encoderblock_0/MultiHeadDotProductAttention_1/{name}/kernel": array
        for name, array in {
            "query": p.q.transpose(2, 0, 1),
            "key": p.k.transpose(2, 0, 1),
            "value": p.v.transpose(2, 0, 1),
            "out": p.o.transpose(0, 2, 1),
        }.items()
    },
    "ALBERT": separate(
        *(
            f"encoder.albert_layer_groups.0.albert_layers.0.attention.{x}.weight"
            for x in ("query", "key", "value", "dense")
        )
    ),
    "MPNet": separate(*(f"encoder.layer.0.attention.attn.{x}.weight" for x in "qkvo")),
    "w-concat": separate(
        *(f"encoder.layers.0.attention.{x}.weight" for x in ("w_q", "w_k", "w_v", "w_concat"))
    ),
    "fc_q": separate(*(f"encoder.layers.0.self_attention.fc_{x}.weight" for x in "qkvo")),
    "Keras": lambda p: {
        "multi_head_attention/query/kernel:0": p.q.transpose(2, 0, 1),
        "multi_head_attention/key/kernel:0": p.k.transpose(2, 0, 1),
        "multi_head_attention/value/kernel:0": p.v.transpose(2, 0, 1),
        "multi_head_attention/attention_output/kernel:0": p.o.transpose(0, 2, 1),
    },
    "XLNet": lambda p: {
        "transformer.layer.0.rel_attn.q": p.q.transpose(2, 0, 1),
        "transformer.layer.0.rel_attn.k": p.k.transpose(2, 0, 1),
        "transformer.layer.0.rel_attn.v": p.v.transpose(2, 0, 1),
        "transformer.layer.0.rel_attn.o": p.o.transpose(1, 0, 2),
        "transformer.layer.0.rel_attn.r": p.q.transpose(2, 0, 1),
    },
    "GPT-2 of Hugging Face": lambda p: {
        "h.0.attn.c_attn.weight": p.stacked.T,
        "h.0.attn.c_proj.weight": p.O.T,
        "h.0.attn.bias": numpy.ones((1, 1, 4, 4)),
    },
    "TransformerLens": lambda p: {
        "blocks.0.attn.W_Q": p.q.transpose(0, 2, 1),
        "blocks.0.attn.W_K": p.k.transpose(0, 2, 1),
        "blocks.0.attn.W_V": p.v.transpose(0, 2, 1),
        "blocks.0.attn.W_O": p.o.transpose(0, 2, 1),
        "blocks.0.attn.mask": numpy.ones((4, 4)),
    },
    "letters at the end": separate("l.0.Q", "l.0.K", "l.0.V", "l.0.O"),
    "letters at the beginning": separate("Q0", "K0", "V0", "O0"),
}
SHARED: dict[str, Callable[[Planted], Arrays]] = {
    "TransformerLens, shared keys": lambda p: {
        "blocks.0.attn.W_Q": p.q.transpose(0, 2, 1),
        "blocks.0.attn._W_K": p.k.transpose(0, 2, 1),
        "blocks.0.attn._W_V": p.v.transpose(0, 2, 1),
        "blocks.0.attn.W_O": p.o.transpose(0, 2, 1),
    },
    **{
        name: LAYOUTS[name]
        for name in (
            "LLaMA, Mistral, Qwen2, Gemma",
            "Phi-3",
            "InternLM2",
            "Megatron Core",
            "GPT-NeoX, BLOOM, Falcon",
            "LitGPT",
            "MPT, flash-attn",
            "keys and values in one array",
        )
    },
}
"""Those that are used with fewer keys than queries."""


ASKED: dict[str, tuple[str, str, str]] = {
    "ChatGLM2, Megatron": (
        "encoder.layers.0.self_attention.query_key_value",
        "encoder.layers.0.self_attention.dense",
        "q-k-v in ChatGLM2",
    ),
    "GLM, ChatGLM, CogVLM": (
        "transformer.layers.0.attention.query_key_value",
        "transformer.layers.0.attention.dense",
        "q-k-v in GLM and CogVLM, and by-head in ChatGLM",
    ),
    "CodeGen": (
        "transformer.h.0.attn.qkv_proj",
        "transformer.h.0.attn.out_proj",
        "by-quarter in CodeGen, by-eighth in CodeGen2, and q-k-v in others",
    ),
    "gpt-fast, InternLM2": (
        "layers.0.attention.wqkv",
        "layers.0.attention.wo",
        "q-k-v in gpt-fast, and by-group in InternLM2",
    ),
    "timm's MaxViT": (
        "stages.0.blocks.0.attn_block.attn.qkv",
        "stages.0.blocks.0.attn_block.attn.proj",
        "by-head in MaxViT",
    ),
    "nanoGPT, StarCoder": (
        "transformer.h.0.attn.c_attn",
        "transformer.h.0.attn.c_proj",
        "q-k-v in nanoGPT, minGPT and Qwen, and by-head in StarCoder",
    ),
}
"""Names that models cut in several ways: of the array, of the output, and what is said of them."""


@pytest.mark.parametrize("name", ASKED)
def test_a_name_that_models_cut_in_several_ways_is_asked_for(name: str) -> None:
    p = Planted()
    array, output, said = ASKED[name]
    for cut, stored in (("q-k-v", p.stacked), ("by-head", p.by_group)):
        state = {f"{array}.weight": stored, f"{output}.weight": p.O}
        assert found_ranks(state, heads=HEADS, layout=cut) == p.ranks
        for names in ({}, {"stacked": f"{array}.weight", "output": f"{output}.weight"}):
            with pytest.raises(InvalidCaseError, match=f"Argument 'layout': .* cut {said}"):
                weights(state, heads=HEADS, **names)


@pytest.mark.parametrize("name", few(LAYOUTS, 8))
def test_planted_ranks_are_found_in_each_layout(name: str) -> None:
    planted = Planted()
    state = LAYOUTS[name](planted)
    assert found_ranks(state, heads=HEADS) == planted.ranks
    prefixed = {f"module._orig_mod.{key}": array for key, array in state.items()}
    if not name.endswith("at the beginning"):
        assert found_ranks(prefixed, heads=HEADS) == planted.ranks


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("name", SHARED)
def test_planted_ranks_are_found_where_heads_share_keys(name: str, groups: int) -> None:
    planted = Planted(groups)
    assert found_ranks(SHARED[name](planted), heads=HEADS) == planted.ranks


def test_each_row_of_the_table_is_planted() -> None:
    rows = [layout.whose for layout in KNOWN_LAYOUTS]
    tested = {*LAYOUTS, *SHARED, *ASKED} - {"nanoGPT, StarCoder"}
    assert {name for name in rows if not name.startswith("A and V")} == tested
    assert len(set(rows)) == len(rows)


@pytest.mark.parametrize(
    ("whose", "names"),
    [
        ("BERT", ("*self.query.weight", "*self.key.weight", "*self.value.weight")),
        ("DistilBERT", ("*q_lin.weight", "*k_lin.weight", "*v_lin.weight")),
        ("queries", ("*queries.weight", "*keys.weight", "*values.weight")),
        ("Attention is all you need, in PyTorch", ("*w_qs.weight", "*w_ks.weight", "*w_vs.weight")),
        ("letters at the beginning", ("Q*", "K*", "V*")),
        ("TransformerLens, shared keys", ("*W_Q", "*_W_K", "*_W_V")),
        ("BLIP", ("*self_attn.qkv.weight",) * 3),
    ],
)
def test_keys_and_values_are_called_as_queries(whose: str, names: tuple[str, ...]) -> None:
    (layout,) = (layout for layout in KNOWN_LAYOUTS if layout.whose == whose)
    assert tuple(layout.names[letter] for letter in "QKV") == names


def test_groups_have_their_queries_then_a_key_then_a_value() -> None:
    """GPT-NeoX, BLOOM, Falcon: rows 0, 1 are queries of heads 1 and 2, which share a key."""
    rows = numpy.arange(8.0)[:, None] * numpy.ones(4)
    state = {"query_key_value.weight": rows, "dense.weight": numpy.ones((4, 4))}
    found = find_layers(state, {}, {}, 4, StoredOptions(norm="none"))
    heads = [
        [int(head.matrices[letter][0, 0]) for letter in "QKV"]
        for head in found.layers[0].heads(1, 4)
    ]
    assert heads == [[0, 2, 3], [1, 2, 3], [4, 6, 7], [5, 6, 7]]


def test_the_command_prints_the_table_of_layouts() -> None:
    """Whose layout it is, its arrays, and how one with Q, K and V is cut; the page has a part."""
    found = CliRunner().invoke(cli, ["weights", "--layouts"])
    assert found.exit_code == 0
    lines = found.stdout.splitlines()
    # Long cells are wrapped: their cells are put together by the columns under the rule.
    (rule,) = (number for number, line in enumerate(lines) if line.strip().startswith("─"))
    columns = [match.span() for match in re.finditer("─+", lines[rule])]
    rows: dict[str, list[str]] = {}
    for line in lines[rule + 1 :]:
        whose, *cells = (line[start:end].strip() for start, end in columns)
        cells_so_far = rows.setdefault(whose, ["", ""]) if whose else list(rows.values())[-1]
        cells_so_far[:] = [f"{x} {y}".strip() for x, y in zip(cells_so_far, cells, strict=True)]
    for layout in KNOWN_LAYOUTS:
        names = [name.removeprefix("*") for name in dict.fromkeys(layout.names.values())]
        cut = layout.cut.replace("unknown", "as --layout says") if layout.is_stacked else ""
        assert rows[layout.whose] == [", ".join(names), cut]
    page = Path("docs/weights.md").read_text(encoding="utf-8")
    example = page.partition("$ m2bridge weights --layouts\n")[2].partition("```")[0]
    shown = example.splitlines()
    assert len(shown) > 5
    assert all(line in lines for line in shown if line.strip() != "…")


def transformer_lens(d: int = 8, heads: int = 8, a: int = 2) -> Arrays:
    random = numpy.random.default_rng(0)
    state = {f"blocks.0.attn.W_{x}": random.standard_normal((heads, d, a)) for x in "QKV"}
    return state | {"blocks.0.attn.W_O": random.standard_normal((heads, a, d))}


@pytest.mark.slow
def test_transformer_lens_has_the_tokens_as_second_index() -> None:
    """Shapes (heads, d, a): dimension 2·a·d − a² + 2·d·v − v² − 1 of a head."""
    state = transformer_lens()
    head = weights(state).heads[0]
    assert (head.shape.width, head.shape.d_out, head.shape.a) == (8, 8, 2)
    assert head.shape.dimension == 2 * 2 * 8 - 4 + 2 * 8 * 2 - 4 - 1 == 55
    biases = {f"blocks.0.attn.b_{x}": numpy.ones((8, 2)) for x in "QKV"}
    found = weights(state | biases | {"blocks.0.attn.b_O": numpy.ones(8)})
    assert {head.shape.token_dimension for head in found.heads} == {9}
    assert found.left_out == ()
    # By names that are given, too.
    names = {"query": "*W_Q", "key": "*W_K", "value": "*W_V", "output": "*W_O"}
    assert weights(state, **names).heads[0].shape == head.shape


def test_other_names_with_three_indices() -> None:
    planted = Planted()
    state = {
        "x": planted.q.transpose(0, 2, 1),
        "y": planted.k.transpose(0, 2, 1),
        "z": planted.v.transpose(0, 2, 1),
        "o": planted.o.transpose(0, 2, 1),
    }
    names = {"query": "x", "key": "y", "value": "z", "output": "o"}
    assert found_ranks(state, **names, layout="heads-d-a") == planted.ranks
    with pytest.raises(InvalidCaseError, match=r"Argument 'layout': 'x' is 4 × 8 × 2: which index"):
        weights(state, **names)
    letters = dict(zip("QKVO", state.values(), strict=True))
    with pytest.raises(InvalidCaseError, match=r"Argument 'layout': 'Q' is 4 × 8 × 2: which index"):
        weights(letters)
    # The bias has as many entries as a head has rows.
    of_heads = letters | {"Q_bias": numpy.ones((HEADS, A))}
    found = weights(of_heads)
    assert {(head.shape.width, head.shape.a) for head in found.heads} == {(D, A)}
    assert tuple((h.ranks.r, h.ranks.s) for h in weights(of_heads, biases="ignore").heads) == (
        planted.ranks
    )


def test_what_the_configuration_says_of_shared_keys_fits(tmp_path: Path) -> None:
    save_file(llama(Planted(2)), tmp_path / "model.safetensors")
    config = {"model_type": "llama", "num_attention_heads": HEADS, "num_key_value_heads": 1}
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(InvalidCaseError, match=r"the configuration says 4 heads and 1 of keys"):
        weights(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps(config | {"num_key_value_heads": 2}))
    assert found_ranks(tmp_path) == Planted(2).ranks


@pytest.mark.parametrize(("layout", "order"), [("by-head", (0, 2, 1, 3)), ("by-row", (0, 2, 1, 3))])
def test_the_option_layout_names_the_cut(layout: str, order: tuple[int, ...]) -> None:
    p = Planted()
    of_heads = numpy.stack([p.q, p.k, p.v], axis=1)
    if layout == "by-row":
        of_heads = of_heads.transpose(order)
    state = {"any": of_heads.reshape(-1, D), "o.weight": p.O}
    names = {"stacked": "any", "output": "o.weight"}
    assert found_ranks(state, **names, heads=HEADS, layout=layout) == p.ranks
    with pytest.raises(InvalidCaseError, match="Argument 'layout': 'by-hand' is not rows"):
        weights(state, **names, layout="by-hand")
    with pytest.raises(InvalidCaseError, match="rows and columns exclude"):
        weights(state, **names, layout="rows,columns")


def test_known_names_are_cut_where_they_are_given() -> None:
    p = Planted(2)
    state = LAYOUTS["InternLM2"](p)
    names = {"stacked": "*wqkv.weight", "output": "*wo.weight"}
    assert found_ranks(state, **names, heads=HEADS) == p.ranks
    with pytest.raises(InvalidCaseError, match=r"'heads': .* nothing says how many heads"):
        weights(state)


def test_the_configuration_of_chatglm_says_its_cut(tmp_path: Path) -> None:
    p = Planted(2)
    name = "transformer.encoder.layers.0.self_attention.{}.weight"
    state = {name.format("query_key_value"): p.stacked, name.format("dense"): p.O}
    with pytest.raises(InvalidCaseError, match=r"Argument 'layout': .*cut q-k-v in ChatGLM2"):
        weights(state, heads=HEADS)
    assert found_ranks(state, heads=HEADS, layout="q-k-v") == p.ranks
    save_file(state, tmp_path / "model.safetensors")
    config = {"model_type": "chatglm", "num_attention_heads": HEADS}
    config |= {"multi_query_attention": True, "multi_query_group_num": 2}
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert found_ranks(tmp_path) == p.ranks


def test_starcoder_is_cut_by_heads_where_its_configuration_is(tmp_path: Path) -> None:
    for groups in (1, HEADS):
        p = Planted(groups)
        state = {"h.0.attn.c_attn.weight": p.by_group, "h.0.attn.c_proj.weight": p.O}
        save_file(state, tmp_path / "model.safetensors")
        config = {"model_type": "gpt_bigcode", "n_head": HEADS, "multi_query": groups == 1}
        (tmp_path / "config.json").write_text(json.dumps(config))
        assert found_ranks(tmp_path, as_="lightning") == p.ranks


def test_kernels_are_stored_by_columns() -> None:
    p = Planted()
    names = {x: f"l/{x}/kernel:0" for x in ("query", "key", "value", "output")}
    arrays = {"query": p.Q.T, "key": p.K.T, "value": p.V.T, "output": p.O.T}
    state = {names[x]: arrays[x] for x in names}
    assert found_ranks(state, **names, heads=HEADS) == p.ranks
    # Square matrices under names that say nothing.
    bare = {x: f"{x}s" for x in names}
    state = {bare[x]: arrays[x] for x in names}
    with pytest.raises(
        InvalidCaseError, match="Argument 'layout': 'querys' is 8 × 8: neither its name nor"
    ):
        weights(state, **bare, heads=HEADS)
    assert found_ranks(state, **bare, heads=HEADS, layout="columns") == p.ranks
    assert found_ranks(state, **bare, heads=HEADS, layout="rows") != p.ranks


def test_the_sides_of_one_array_are_asked_for() -> None:
    """One array 24 × 12 with Q, K and V: a = 8 and d = 12 by rows, a = 4 and d = 24 by columns."""
    stacked = numpy.arange(24 * 12).reshape(24, 12) % 7
    with pytest.raises(InvalidCaseError, match="'layout': 'x' is 24 × 12: neither its name nor"):
        weights({"x": stacked}, stacked="x")
    for layout, size in {"rows": (12, 8), "columns": (24, 4)}.items():
        (head,) = weights({"x": stacked}, stacked="x", layout=layout).heads
        assert (head.shape.width, head.shape.a) == size
    # The name says it, or the array has no other reading: 8 columns are no multiple of 3, and with
    # a square O as many as it has; or Q would have more rows than columns.
    cut: Arrays = {"stacked": "x", "layout": "q-k-v"}
    for shape in ((24, 8), (6, 24)):
        (head,) = weights({"x": numpy.ones(shape)}, **cut, heads=1).heads
        assert head.shape.width == shape[1]
    shared = {"x": stacked, "y": numpy.eye(12)}
    assert weights(shared, **cut, output="y", heads=2).heads[0].shape.width == 12
    (head,) = weights({"x.weight": stacked}, stacked="x.weight").heads
    assert head.shape.width == 12


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ({"h.0.attn.c_attn.weight": 1.0}, "is a number: give matrices"),
        ({"h.0.attn.c_attn.weight": numpy.ones((0, 12))}, "is 0 × 12: a matrix has no entries"),
        ({"l.0.query_key_value.weight": numpy.ones((4, 0))}, "is 4 × 0: a matrix has no entries"),
        ({x: numpy.ones((0, 4, 2)) for x in "AV"}, "is 0 × 4 × 2: a matrix has no entries"),
        ({x: numpy.ones((0, 2, 4)) for x in "KQV"}, "is 0 × 2 × 4: a matrix has no entries"),
    ],
)
def test_arrays_without_entries_are_refused(state: Arrays, said: str) -> None:
    with pytest.raises(InvalidCaseError, match=said):
        weights(state, heads=4, layout="by-row", as_="softmax", norm="rms")
    if "V" in state:
        with pytest.raises(InvalidCaseError, match=said):
            weights(**state)


def llama(p: Planted, layer: int = 0) -> Arrays:
    name = f"model.layers.{layer}.self_attn"
    return {f"{name}.{x}_proj.weight": getattr(p, x.upper()) for x in "qkvo"}


@pytest.mark.parametrize(
    "prefix", few(["optimizer.state.", "ema.", "ema_model.", "model_ema.", "teacher."], 2)
)
def test_copies_are_no_layers(prefix: str) -> None:
    state = llama(Planted())
    copied = state | {f"{prefix}{name}": array for name, array in llama(Planted(seed=2)).items()}
    found = weights(copied, heads=HEADS)
    assert [head.layer for head in found.heads] == [1] * HEADS
    assert any(x.endswith("(4)") and ("optimizer" in x or "averages" in x) for x in found.left_out)
    named = state | {f"{name}_ema": array for name, array in state.items()}
    assert len(weights(named, heads=HEADS).heads) == HEADS


def test_averages_alone_are_the_weights() -> None:
    p = Planted()
    assert found_ranks({f"ema.{x}": y for x, y in llama(p).items()}, heads=HEADS) == p.ranks


def sharded(folder: Path) -> None:
    files = {}
    for number in (1, 2):
        file = f"model-{number:05}-of-00002.safetensors"
        state = llama(Planted(seed=number), number - 1)
        save_file(state, folder / file)
        files |= dict.fromkeys(state, file)
    index = {"metadata": {}, "weight_map": files}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))


def test_an_index_says_which_files_are_a_model(tmp_path: Path) -> None:
    sharded(tmp_path)
    other = {x.replace("model.", ""): y for x, y in llama(Planted(seed=3)).items()}
    save_file(other, tmp_path / "consolidated.safetensors")
    for source in (tmp_path, tmp_path / "model.safetensors.index.json"):
        found = weights(source, heads=HEADS)
        assert [head.layer for head in found.heads] == [1] * HEADS + [2] * HEADS
    with pytest.raises(ConversionError, match="is one of 2 files of a model"):
        weights(tmp_path / "model-00001-of-00002.safetensors", heads=HEADS)
    (tmp_path / "model-00002-of-00002.safetensors").unlink()
    for source in (tmp_path, tmp_path / "model.safetensors.index.json"):
        with pytest.raises(
            ConversionError, match=r"model-00002-of-00002.safetensors' of the model"
        ):
            weights(source, heads=HEADS)
    (tmp_path / "model.safetensors.index.json").unlink()
    with pytest.raises(ConversionError, match=r"model-00002-of-00002.safetensors' of the model"):
        weights(tmp_path, heads=HEADS)


def test_an_index_names_files_beside_it_and_arrays_in_them(tmp_path: Path) -> None:
    sharded(tmp_path)
    index = tmp_path / "model.safetensors.index.json"
    content = json.loads(index.read_text())
    content["weight_map"]["x"] = "model-00001-of-00002.safetensors"
    index.write_text(json.dumps(content))
    with pytest.raises(ConversionError, match="says that 'x' is in"):
        weights(tmp_path, heads=HEADS)
    content["weight_map"]["x"] = "../other.safetensors"
    index.write_text(json.dumps(content))
    with pytest.raises(ConversionError, match="which is not a file beside it"):
        weights(tmp_path, heads=HEADS)


def test_a_second_copy_beside_the_model_is_not_read(tmp_path: Path) -> None:
    save_file(llama(Planted()), tmp_path / "model.safetensors")
    other = {x.replace("model.", ""): y for x, y in llama(Planted(seed=3)).items()}
    save_file(other, tmp_path / "consolidated.safetensors")
    assert len(weights(tmp_path, heads=HEADS).heads) == HEADS


@pytest.mark.parametrize(
    ("file", "config"),
    [
        ("config.json", {"model_type": "llava", "text_config": {"num_attention_heads": HEADS}}),
        ("params.json", {"dim": D, "n_heads": HEADS, "n_layers": 1, "norm_eps": 1e-5}),
    ],
)
def test_the_number_of_heads_is_read(file: str, config: Any, tmp_path: Path) -> None:
    p = Planted(2)
    images = {f"vision_tower.{x}": y[:3, :3] for x, y in llama(p).items()}
    save_file(llama(p) | images, tmp_path / "model.safetensors")
    (tmp_path / file).write_text(json.dumps(config))
    found = weights(tmp_path)
    assert tuple((head.ranks.r, head.ranks.s) for head in found.heads) == p.ranks
    assert "models of images or sounds (4)" in found.left_out
    (tmp_path / file).write_text(json.dumps({"text_config": {"model_type": "llama"}}))
    (tmp_path / "config.json").write_text(json.dumps({"text_config": {"model_type": "llama"}}))
    with pytest.raises(
        InvalidCaseError, match=r"Argument 'heads': config.json does not say how many heads"
    ):
        weights(tmp_path)


@pytest.mark.parametrize(
    "name",
    ["q_norm.weight", "sinks", "q_proj.weight_g", "gate_proj.weight", "inner_attn_ln.weight"],
)
def test_what_belongs_to_a_layer_is_understood_or_refused(name: str) -> None:
    state = llama(Planted())
    other = {f"{L}.{name}": numpy.ones(4)}
    with pytest.raises(
        InvalidCaseError, match=rf"Argument 'ignore': '{L}.{name}' \(4\) belongs to the layer"
    ):
        weights(state | other, heads=HEADS)
    found = weights(state | other, heads=HEADS, ignore=f"*{name}")
    assert len(found.left_out) == 1
    if "norm" in name:
        assert weights(state | other, heads=HEADS, norm="none").left_out == ("norms (1)",)


def test_the_further_token_of_pytorch_is_refused() -> None:
    state = LAYOUTS["nn.MultiheadAttention of PyTorch"](Planted())
    with pytest.raises(InvalidCaseError, match="Argument 'ignore': 'bias_k'"):
        weights(state | {"bias_k": numpy.ones((1, 1, D))}, heads=HEADS)


def test_architectures() -> None:
    classes = {"architectures": ["GPT2LMHeadModel"]}
    gpt2 = read_architecture({"model_type": "gpt2", "n_head": 12, "n_embd": 768} | classes)
    assert gpt2 == Architecture(
        name="GPT-2",
        softmax=True,
        skip=True,
        norm="layer",
        norm_place="pre",
        rotary=False,
        heads=12,
        key_value_heads=12,
        head_size=64,
        tied_embeddings=True,
        cut="q-k-v",
    )
    meta = {"dim": 4096, "n_heads": 32, "n_kv_heads": 8, "n_layers": 32, "norm_eps": 1e-5}
    llama3 = read_architecture(meta)
    assert llama3 is not None
    assert (llama3.name, llama3.norm, llama3.rotary) == ("LLaMA", "rms", True)
    assert (llama3.heads, llama3.key_value_heads, llama3.head_size) == (32, 8, 128)
    assert not llama3.tied_embeddings
    text = {"model_type": "gemma3_text", "num_attention_heads": 8, "num_key_value_heads": 4}
    gemma = read_architecture({"model_type": "gemma3", "text_config": text | {"head_dim": 256}})
    assert gemma is not None
    assert (gemma.norm, gemma.key_value_heads, gemma.head_size) == ("rms1", 4, 256)
    falcon = {"model_type": "falcon", "num_attention_heads": 71, "hidden_size": 4544}
    found = read_architecture(falcon | {"multi_query": True, "alibi": False})
    assert found is not None
    assert (found.key_value_heads, found.rotary) == (1, True)
    opt = {"model_type": "opt", "num_attention_heads": 16, "do_layer_norm_before": False}
    after = read_architecture(opt)
    assert after is not None
    assert after.norm_place == "post"
    for unknown in ({}, {"model_type": "gpt9"}, {"model_type": ["gpt2"], "n_head": 2}):
        assert read_architecture(unknown) is None
    without_number = read_architecture({"model_type": "gpt2"})
    assert without_number is not None
    assert without_number.heads is None
    assert read_architecture(meta | {"kv_lora_rank": 512}) is None


def test_files_of_tensorflow_and_flax_have_the_names_with_kernels() -> None:
    """BERT as its authors store it, and GPT-2 in Flax, whose Conv1D is stored (out, in)."""
    p = Planted()
    layer = "bert/encoder/layer_0/attention"
    bert = {
        f"{layer}/self/query/kernel:0": p.Q.T,
        f"{layer}/self/key/kernel:0": p.K.T,
        f"{layer}/self/value/kernel:0": p.V.T,
        f"{layer}/output/dense/kernel:0": p.O.T,
        f"{layer}/output/LayerNorm/gamma:0": numpy.ones(D),
        f"{layer}/output/LayerNorm/beta:0": numpy.ones(D),
    }
    assert found_ranks(bert, heads=HEADS) == p.ranks
    block = "transformer.h.0.attn"
    gpt2 = {f"{block}.c_attn.kernel": p.stacked, f"{block}.c_proj.kernel": p.O}
    assert found_ranks(gpt2, heads=HEADS) == p.ranks


def test_one_array_for_keys_and_values_alone_is_refused() -> None:
    state = {"q": numpy.ones((2, D)), "kv": numpy.ones((4, D))}
    with pytest.raises(InvalidCaseError, match="must not be the array of the keys") as error:
        weights(state, query="q", key="kv", value="kv")
    assert error.value.option == "value"


def test_sizes_in_messages_are_those_of_the_file() -> None:
    """Also of an array that is changed twice, as one of K and V that is turned and cut."""
    stored = tensor("kv", numpy.zeros((2, 6)))
    turned = stored.changed(numpy.transpose, (6, 2))
    half = turned.changed(lambda array: array[:3], (3, 2))
    assert (half.array().shape, half.size_text) == ((3, 2), "2 × 6")


def test_heads_of_different_types_are_not_put_together() -> None:
    """An array has one type of entries, which says how precise they are."""
    single = tensor("heads.0.query.weight", numpy.ones((2, 4), numpy.float32))
    other = tensor("heads.1.query.weight", numpy.ones((2, 4), numpy.float32))
    double = tensor("heads.1.query.weight", numpy.ones((2, 4)))
    found = dict(_joined_heads({part.name: part for part in (single, other)}))
    assert found["heads.#.query.weight"].shape == (2, 2, 4)
    assert found["heads.#.query.weight"].kind == "float32"
    assert list(_joined_heads({part.name: part for part in (single, double)})) == []


@pytest.mark.parametrize("star", ["layers.{}.attn.", "{}", "1{}3.", "0.heads.{}.", "layers.{}.1."])
@pytest.mark.parametrize("number", ["1" * 50_000, "²"], ids=["long", "superscript"])
def test_numbers_in_names_that_python_does_not_read(star: str, number: str) -> None:
    beginning = star.format(number)
    state = {f"{beginning}{x}_proj.weight": numpy.eye(2) for x in "qkvo"}
    assert len(weights(state, heads=1).heads) == 1


@pytest.mark.parametrize(
    ("module", "around"),
    [
        ("layers.0.attn.", "layers.0."),
        ("layers/0/attn.", "layers/0/"),
        ("attn/", ""),
        ("attn", "attn"),
        ("a..", "a.."),
        (".", "."),
        ("", ""),
    ],
)
def test_the_module_around_a_module(module: str, around: str) -> None:
    assert without_last_word(module) == around == re.sub(r"[^./]+[./]$", "", module)
    assert without_last_word("a/b.c.", ".") == "a/b."


def test_a_word_said_twice_says_the_same() -> None:
    assert stored_as("rows, by-head,rows") == stored_as("by-head,rows")


def test_layers_are_in_the_order_of_their_numbers() -> None:
    numbers = (10, 2, 30_000_000, 9)
    state = {}
    for number in numbers:
        for x in "qkvo":
            matrix = numpy.diag([number, 1])
            state[f"layers.{number}.attn.{x}_proj.weight"] = matrix
    found = weights(state, heads=1)
    assert [head.numerical.singular_values_V[0] for head in found.heads] == [
        pytest.approx(number**2, rel=1e-5) for number in sorted(numbers)
    ]
    # The first number that is missing, of thirty million.
    assert any("no layer 3 between" in remark for remark in found.remarks)
