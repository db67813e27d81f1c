"""Layers as libraries store them, with all that stands beside them, and what is right of each.

Each file has planted heads of attention. The norm is that of the model, by the code of its library;
a file whose layers are no layers of this model, or do not show what they are, has to be refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy

from tests.unit.trained_weights.checkpoints.test_layouts import HEADS, A, D, Planted

Arrays = dict[str, Any]
PRE_LAYER, PRE_RMS = ("pre", "layer", False), ("pre", "rms", False)
POST_LAYER = ("post", "layer", False)


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A file of weights.

    Parameters
    ----------
    state : dict
    heads : Planted
        The heads of each of its layers.
    layers : int
        As many layers of attention to the same tokens.
    norm : tuple or None
        Place, kind, and whether it multiplies by 1 + γ.
    factor : int
        That of its outputs (LayerScale).
    refused : str
        What is said where it is refused, as a regular expression; empty if it is read.
    assumed : str
        What is said to be taken for granted, in part; empty if nothing has to be.
    config : dict
        The content of config.json, if there is one.
    options : dict
        Options of ``weights``.
    """

    state: Arrays
    heads: Planted = field(default_factory=Planted)
    layers: int = 1
    norm: tuple[str, str, bool] | None = None
    factor: int = 1
    refused: str = ""
    assumed: str = ""
    config: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)


def drawn(*shape: int) -> Any:
    random = numpy.random.default_rng(sum(shape) + 17 * len(shape))
    return random.integers(1, 50, shape).astype(numpy.float32)


def norm(*names: str, bias: bool = True, size: int = D) -> Arrays:
    """The arrays of norms of these names."""
    found = {f"{name}.weight": drawn(size) for name in names}
    return found | ({f"{name}.bias": drawn(size) for name in names} if bias else {})


def beside(prefix: str, *names: str) -> Arrays:
    """Square matrices of these names, such as those of MLPs."""
    return {f"{prefix}{name}.weight": drawn(D, D) for name in names}


def four(p: Planted, prefix: str, names: str, *, bias: bool = False, end: str = "weight") -> Arrays:
    """Q, K, V and O of these names, which are separated by spaces."""
    letters = dict(zip("QKVO", names.split(), strict=True))
    found = {f"{prefix}{name}.{end}": getattr(p, letter) for letter, name in letters.items()}
    if bias:
        for letter, name in letters.items():
            rows = getattr(p, letter).shape[0]
            found[f"{prefix}{name}.bias"] = drawn(rows)
    return found


def one(array: Any, p: Planted, prefix: str, names: str, *, bias: bool = False) -> Arrays:
    """One array with Q, K and V, and O."""
    stacked, output = names.split()
    found = {f"{prefix}{stacked}.weight": array, f"{prefix}{output}.weight": p.O}
    if bias:
        found |= {f"{prefix}{stacked}.bias": drawn(len(array)), f"{prefix}{output}.bias": drawn(D)}
    return found


P, SHARED = Planted(), Planted(2)
QKVO = "q_proj k_proj v_proj o_proj"
QKV_OUT = "q_proj k_proj v_proj out_proj"
BERT = "self.query self.key self.value output.dense"
SIZES = {"num_attention_heads": HEADS, "hidden_size": D}
RMS, LAYER = {"norm": "rms"}, {"norm": "layer"}


def llama_block(p: Planted, prefix: str, *, bias: bool = False) -> Arrays:
    """The block of a LLaMA, but for its norms."""
    block = four(p, f"{prefix}self_attn.", QKVO, bias=bias)
    return block | beside(f"{prefix}mlp.", "gate_proj", "up_proj", "down_proj")


def llama_norms(prefix: str, *, bias: bool = False) -> Arrays:
    return norm(f"{prefix}input_layernorm", f"{prefix}post_attention_layernorm", bias=bias)


def llama_file(prefix: str = "model.layers.0.", *, p: Planted = P, **biases: bool) -> Arrays:
    ends = {"model.embed_tokens.weight": drawn(9, D), "lm_head.weight": drawn(9, D)}
    return (
        llama_block(p, prefix, **biases)
        | llama_norms(prefix)
        | ends
        | norm("model.norm", bias=False)
    )


def bert_block(p: Planted, prefix: str, attention: str = BERT) -> Arrays:
    block = four(p, f"{prefix}attention.", attention, bias=True)
    return block | beside(prefix, "intermediate.dense", "output.dense")


def vit_block(p: Planted, prefix: str, *, array: Any = None) -> Arrays:
    array = p.stacked if array is None else array
    block = one(array, p, prefix, "attn.qkv attn.proj", bias=True)
    return block | beside(prefix, "mlp.fc1", "mlp.fc2")


def fairseq_block(p: Planted, prefix: str, attention: str = "self_attn") -> Arrays:
    block = four(p, f"{prefix}{attention}.", QKV_OUT, bias=True)
    return block | beside(prefix, "fc1", "fc2")


def x_transformers(kinds: str) -> Arrays:
    """Modules of a decoder in a row: a for attention, c for cross-attention, f for an MLP."""
    state: Arrays = {}
    for number, kind in enumerate(kinds):
        prefix = f"attn_layers.layers.{number}."
        state[f"{prefix}0.0.gamma"] = drawn(D)
        if kind == "f":
            state |= beside(f"{prefix}1.", "ff.0.0", "ff.2")
        else:
            state |= four(P, f"{prefix}1.", "to_q to_k to_v to_out")
    return state


def of_texts() -> dict[str, File]:
    """Models of texts with matrices of their own for Q, K and V."""
    L = "model.layers.0."
    return {
        "ESM-2": File(
            state=bert_block(P, "esm.encoder.layer.0.")
            | norm("esm.encoder.layer.0.attention.LayerNorm", "esm.encoder.layer.0.LayerNorm")
            | norm("esm.encoder.emb_layer_norm_after")
            | {"esm.encoder.layer.0.attention.self.rotary_embeddings.inv_freq": drawn(1)},
            config={"model_type": "esm", "position_embedding_type": "rotary", **SIZES},
            norm=PRE_LAYER,
        ),
        "ESM-2 of its authors": File(
            state=fairseq_block(P, "layers.0.")
            | norm("layers.0.self_attn_layer_norm", "layers.0.final_layer_norm")
            | norm("emb_layer_norm_after")
            | {"embed_tokens.weight": drawn(9, D)}
            | {"layers.0.self_attn.rot_emb.inv_freq": drawn(1)},
            norm=PRE_LAYER,
        ),
        "OPT": File(
            state=fairseq_block(P, "model.decoder.layers.0.")
            | norm("model.decoder.layers.0.self_attn_layer_norm")
            | norm("model.decoder.layers.0.final_layer_norm", "model.decoder.final_layer_norm")
            | {"model.decoder.embed_positions.weight": drawn(9, D)},
            norm=PRE_LAYER,
        ),
        "OPT with 350 million weights": File(
            state=fairseq_block(P, "model.decoder.layers.0.")
            | norm("model.decoder.layers.0.self_attn_layer_norm")
            | norm("model.decoder.layers.0.final_layer_norm"),
            config={"model_type": "opt", "do_layer_norm_before": False, **SIZES},
            norm=POST_LAYER,
        ),
        "Phi-2": File(
            state=four(P, f"{L}self_attn.", "q_proj k_proj v_proj dense", bias=True)
            | beside(f"{L}mlp.", "fc1", "fc2")
            | norm(f"{L}input_layernorm", "model.final_layernorm"),
            norm=PRE_LAYER,
        ),
        "Phi-1 of its authors": File(
            state=one(P.stacked, P, "layers.1.mixer.", "Wqkv out_proj", bias=True)
            | norm("layers.1.ln")
            | beside("layers.1.mlp.", "fc1", "fc2"),
            norm=PRE_LAYER,
        ),
        "StarCoder2": File(
            state=four(SHARED, f"{L}self_attn.", QKVO, bias=True)
            | beside(f"{L}mlp.", "c_fc", "c_proj")
            | llama_norms(L, bias=True),
            heads=SHARED,
            norm=PRE_LAYER,
        ),
        "Gemma 2": File(
            state=llama_file()
            | norm(f"{L}pre_feedforward_layernorm", f"{L}post_feedforward_layernorm", bias=False),
            config={"model_type": "gemma2", "attn_logit_softcapping": 50.0, **SIZES},
            refused="caps the scores",
        ),
        "Gemma 2 with no cap": File(
            state=llama_file()
            | norm(f"{L}pre_feedforward_layernorm", f"{L}post_feedforward_layernorm", bias=False),
            config={"model_type": "gemma2", "attn_logit_softcapping": None, **SIZES},
            refused="norms the outputs",
        ),
        "Gemma 3": File(
            state=llama_file() | norm(f"{L}self_attn.q_norm", f"{L}self_attn.k_norm", size=A),
            config={"model_type": "gemma3_text", **SIZES},
            refused="norms queries or keys",
        ),
        "Cohere": File(
            state=llama_block(P, L) | norm(f"{L}input_layernorm", "model.norm", bias=False),
            config={"model_type": "cohere", **SIZES},
            norm=PRE_LAYER,
        ),
        "Cohere with norms of queries": File(
            state=llama_block(P, L) | norm(f"{L}input_layernorm", bias=False),
            config={"model_type": "cohere", "use_qk_norm": True, **SIZES},
            refused="norms queries and keys",
        ),
        "OLMo 2": File(
            state=llama_block(P, L)
            | norm(f"{L}self_attn.q_norm", f"{L}self_attn.k_norm", bias=False)
            | norm(f"{L}post_attention_layernorm", f"{L}post_feedforward_layernorm", bias=False),
            refused="norms queries or keys",
        ),
        "OLMo 2 of its authors": File(
            state=one(P.stacked, P, "transformer.blocks.0.", "att_proj attn_out")
            | norm("transformer.blocks.0.q_norm", "transformer.blocks.0.k_norm", bias=False)
            | norm("transformer.blocks.0.attn_norm", bias=False),
            refused="norms queries or keys",
        ),
        "Granite": File(
            state=llama_file(p=SHARED),
            heads=SHARED,
            config={"model_type": "granite", "attention_multiplier": 0.01, **SIZES}
            | {"num_key_value_heads": 2},
            norm=PRE_RMS,
        ),
        "DeepSeek-V2-Lite": File(
            state={
                f"{L}self_attn.q_proj.weight": P.Q,
                f"{L}self_attn.kv_a_proj_with_mqa.weight": drawn(6, D),
                f"{L}self_attn.kv_a_layernorm.weight": drawn(4),
                f"{L}self_attn.kv_b_proj.weight": drawn(16, 4),
                f"{L}self_attn.o_proj.weight": P.O,
            },
            refused="multi-head latent attention",
        ),
        "MiniCPM3": File(
            state={
                f"{L}self_attn.q_a_proj.weight": drawn(4, D),
                f"{L}self_attn.q_b_proj.weight": drawn(16, 4),
                f"{L}self_attn.kv_a_proj_with_mqa.weight": drawn(6, D),
                f"{L}self_attn.o_proj.weight": P.O,
            },
            refused="multi-head latent attention",
        ),
        "Jamba": File(
            state=llama_block(P, "model.layers.4.")
            | beside("model.layers.0.mamba.", "in_proj", "x_proj", "out_proj")
            | norm("model.layers.4.input_layernorm", "model.layers.4.pre_ff_layernorm", bias=False)
            | norm("model.layers.0.input_layernorm", bias=False),
            config={"model_type": "jamba", "num_hidden_layers": 8, **SIZES},
            norm=PRE_RMS,
        ),
        "RecurrentGemma": File(
            state=four(P, "model.layers.2.temporal_block.", QKVO)
            | norm("model.layers.2.temporal_pre_norm", bias=False)
            | norm("model.layers.2.channel_pre_norm", bias=False)
            | beside("model.layers.0.temporal_block.", "linear_x", "linear_y", "linear_out"),
            config={"model_type": "recurrent_gemma", **SIZES},
            norm=("pre", "rms", True),
        ),
        "Nemotron-H": File(
            state=four(P, "backbone.layers.5.mixer.", QKVO)
            | norm("backbone.layers.5.norm", bias=False)
            | beside("backbone.layers.4.mixer.", "in_proj", "out_proj"),
            refused="backbone.layers.5.norm",
        ),
        "RWKV": File(
            state=beside("rwkv.blocks.0.attention.", "key", "value", "receptance", "output")
            | {"rwkv.blocks.0.attention.time_decay": drawn(D)},
            refused="no usual names",
        ),
        "RetNet": File(
            state=four(P, "decoder.layers.0.retention.", QKV_OUT)
            | beside("decoder.layers.0.retention.", "g_proj"),
            refused="g_proj",
        ),
        "MiniMax": File(
            state=one(P.by_group, P, f"{L}self_attn.", "qkv_proj out_proj")
            | beside(f"{L}self_attn.", "output_gate")
            | norm(f"{L}self_attn.norm", bias=False),
            refused="output_gate",
            options={"layout": "by-head"},
        ),
        "gpt-oss": File(
            state=llama_file(bias=True) | {f"{L}self_attn.sinks": drawn(HEADS)},
            refused="attention sinks",
        ),
        "Diff LLaMA": File(
            state=llama_file() | {f"{L}self_attn.lambda_q1": drawn(A)}, refused="lambda_q1"
        ),
        "StableLM 2 with norms of heads": File(
            state=llama_block(P, L)
            | llama_norms(L, bias=True)
            | {f"{L}self_attn.q_layernorm.norms.0.weight": drawn(A)},
            refused="norms queries or keys",
        ),
        "Nemotron": File(
            state=four(P, f"{L}self_attn.", QKVO)
            | beside(f"{L}mlp.", "up_proj", "down_proj")
            | llama_norms(L, bias=True),
            config={"model_type": "nemotron", **SIZES},
            norm=("pre", "layer", True),
        ),
        "EXAONE": File(
            state=four(P, "transformer.h.0.attn.attention.", QKV_OUT)
            | beside("transformer.h.0.mlp.", "c_fc_0", "c_fc_1", "c_proj")
            | norm("transformer.h.0.ln_1", "transformer.h.0.ln_2", bias=False),
            norm=PRE_RMS,
        ),
        "Qwen3-Next": File(
            state=four(P, f"{L}self_attn.", QKVO)
            | {f"{L}self_attn.q_proj.weight": drawn(2 * D, D)}
            | norm(f"{L}input_layernorm", bias=False),
            config={"model_type": "qwen3_next", **SIZES},
            refused="heads|O has a column",
        ),
        "Kosmos-2": File(
            state=fairseq_block(P, "text_model.model.layers.0.")
            | norm("text_model.model.layers.0.self_attn.inner_attn_ln")
            | norm("text_model.model.layers.0.self_attn_layer_norm"),
            refused="inner_attn_ln",
        ),
        "BitNet": File(
            state=llama_file() | norm(f"{L}self_attn.attn_sub_norm", bias=False),
            refused="attn_sub_norm",
        ),
        "Gemma 3n, where layers share keys": File(
            state=llama_file() | {"model.layers.1.self_attn.q_proj.weight": P.Q},
            refused="of attention by its name",
        ),
        "an IA3 adapter in it": File(
            state=llama_file() | {f"{L}self_attn.k_proj.ia3_l.default": drawn(D, 1)},
            refused="ia3_l",
        ),
        "LLaMA with adapters that are not merged": File(
            state=llama_file() | {f"{L}self_attn.q_proj.lora_A.default.weight": drawn(1, D)},
            refused="LoRA adapter",
        ),
        "Mistral by its consolidated file": File(
            state=four(SHARED, "layers.0.attention.", "wq wk wv wo")
            | beside("layers.0.feed_forward.", "w1", "w2", "w3")
            | norm("layers.0.attention_norm", "layers.0.ffn_norm", "norm", bias=False)
            | {"tok_embeddings.weight": drawn(9, D)},
            heads=SHARED,
            norm=PRE_RMS,
        ),
        "fla": File(
            state=four(P, "model.layers.0.attn.", QKVO)
            | norm("model.layers.0.attn_norm", "model.layers.0.mlp_norm", bias=False),
            refused="attn_norm",
        ),
        "CTRL": File(
            state=four(P, "h.0.multi_head_attention.", "Wq Wk Wv dense", bias=True),
            refused="no usual names",
        ),
        "Zamba, whose tokens stand beside those of the beginning": File(
            state=llama_block(P, "model.layers.5.shared_transf.")
            | norm("model.layers.5.shared_transf.input_layernorm", bias=False),
            norm=PRE_RMS,
        ),
        "GPT-J": File(
            state=four(P, "transformer.h.0.attn.", QKV_OUT)
            | {"transformer.h.0.attn.bias": numpy.ones((1, 1, 4, 4))}
            | {"transformer.h.0.attn.masked_bias": numpy.array(-1e9)}
            | norm("transformer.h.0.ln_1", "transformer.ln_f"),
            norm=PRE_LAYER,
        ),
        "GPT-Neo": File(
            state=four(P, "transformer.h.0.attn.attention.", QKV_OUT)
            | {"transformer.h.0.attn.attention.bias": numpy.ones((1, 1, 4, 4))}
            | norm("transformer.h.0.ln_1", "transformer.h.0.ln_2", "transformer.ln_f"),
            norm=PRE_LAYER,
        ),
    }


def of_one_array() -> dict[str, File]:
    """Models of texts with one array for Q, K and V."""
    L = "model.layers.0."
    h = "transformer.h.0."
    blocks = "transformer.blocks.0."
    return {
        "Phi-3": File(
            state=one(SHARED.stacked, SHARED, f"{L}self_attn.", "qkv_proj o_proj")
            | beside(f"{L}mlp.", "gate_up_proj", "down_proj")
            | llama_norms(L),
            heads=SHARED,
            norm=PRE_RMS,
        ),
        "Phi-3-small": File(
            state=one(SHARED.by_group, SHARED, f"{L}self_attn.", "query_key_value dense", bias=True)
            | beside(f"{L}mlp.", "up_proj", "down_proj")
            | llama_norms(L, bias=True),
            heads=SHARED,
            norm=PRE_LAYER,
        ),
        "Qwen": File(
            state=one(P.stacked, P, f"{h}attn.", "c_attn c_proj", bias=True)
            | beside(f"{h}mlp.", "w1", "w2", "c_proj")
            | norm(f"{h}ln_1", f"{h}ln_2", bias=False),
            config={"model_type": "qwen", **SIZES},
            norm=PRE_RMS,
        ),
        "nanoGPT without biases": File(
            state=one(P.stacked, P, f"{h}attn.", "c_attn c_proj")
            | beside(f"{h}mlp.", "c_fc", "c_proj")
            | norm(f"{h}ln_1", f"{h}ln_2", bias=False),
            norm=PRE_LAYER,
        ),
        "DBRX": File(
            state=one(SHARED.stacked, SHARED, f"{blocks}norm_attn_norm.attn.", "Wqkv out_proj")
            | norm(f"{blocks}norm_attn_norm.norm_1", f"{blocks}norm_attn_norm.norm_2", bias=False),
            config={"model_type": "dbrx", "n_heads": HEADS, "d_model": D}
            | {"attn_config": {"clip_qkv": 8, "kv_n_heads": 2}},
            refused="clips queries",
        ),
        "DBRX by its names": File(
            state=one(SHARED.stacked, SHARED, f"{blocks}norm_attn_norm.attn.", "Wqkv out_proj")
            | norm(f"{blocks}norm_attn_norm.norm_1", f"{blocks}norm_attn_norm.norm_2", bias=False),
            refused="clips queries",
        ),
        "MPT": File(
            state=one(P.stacked, P, f"{blocks}attn.", "Wqkv out_proj")
            | beside(f"{blocks}ffn.", "up_proj", "down_proj")
            | norm(f"{blocks}norm_1", f"{blocks}norm_2", bias=False),
            config={"model_type": "mpt", "n_heads": HEADS, "d_model": D},
            norm=PRE_LAYER,
        ),
        "MPT with norms of queries": File(
            state=one(P.stacked, P, f"{blocks}attn.", "Wqkv out_proj")
            | norm(f"{blocks}attn.q_ln", f"{blocks}attn.k_ln")
            | norm(f"{blocks}norm_1", bias=False),
            refused="norms queries or keys",
        ),
        "Baichuan": File(
            state=one(P.stacked, P, f"{L}self_attn.", "W_pack o_proj") | llama_norms(L),
            norm=PRE_RMS,
        ),
        "GPT-NeoX": File(
            state=one(
                P.by_group, P, "gpt_neox.layers.0.attention.", "query_key_value dense", bias=True
            )
            | norm(
                "gpt_neox.layers.0.input_layernorm", "gpt_neox.layers.0.post_attention_layernorm"
            ),
            norm=PRE_LAYER,
        ),
        "GPT-NeoX in Japanese, with a bias of its own name": File(
            state=one(
                P.by_group, P, "gpt_neox_japanese.layers.0.attention.", "query_key_value dense"
            )
            | {"gpt_neox_japanese.layers.0.attention.dense_bias": drawn(D)}
            | norm("gpt_neox_japanese.layers.0.input_layernorm"),
            refused="dense_bias",
        ),
        "BLOOM": File(
            state=one(P.by_group, P, f"{h}self_attention.", "query_key_value dense", bias=True)
            | beside(f"{h}mlp.", "dense_h_to_4h", "dense_4h_to_h")
            | llama_norms(h, bias=True),
            norm=PRE_LAYER,
        ),
        "Falcon with one key": File(
            state=one(
                Planted(1).by_group, Planted(1), f"{h}self_attention.", "query_key_value dense"
            )
            | norm(f"{h}input_layernorm"),
            heads=Planted(1),
            config={"model_type": "falcon", "multi_query": True, **SIZES},
            norm=PRE_LAYER,
        ),
        "Falcon 40B": File(
            state=one(SHARED.by_group, SHARED, f"{h}self_attention.", "query_key_value dense")
            | norm(f"{h}ln_attn", f"{h}ln_mlp"),
            heads=SHARED,
            config={"model_type": "falcon", "new_decoder_architecture": True, "num_kv_heads": 2}
            | SIZES,
            norm=PRE_LAYER,
        ),
        "CodeGen": File(
            state=one(P.by_quarter, P, f"{h}attn.", "qkv_proj out_proj")
            | norm(f"{h}ln_1", "transformer.ln_f"),
            config={"model_type": "codegen", "n_head": HEADS, "n_embd": D},
            norm=PRE_LAYER,
        ),
        "CodeGen2, in eight parts": File(
            state=one(P.by_quarter, P, f"{h}attn.", "qkv_proj out_proj") | norm(f"{h}ln_1"),
            config={"model_type": "codegen", "n_head": HEADS, "n_embd": D}
            | {"auto_map": {"AutoModel": "modeling_codegen.CodeGenModel"}},
            refused="layout.*CodeGen2",
        ),
        "CodeGen or CodeGen2, which names do not tell": File(
            state=one(P.by_quarter, P, f"{h}attn.", "qkv_proj out_proj") | norm(f"{h}ln_1"),
            refused="layout.*CodeGen2",
        ),
        "CodeGen with heads that four does not divide": File(
            state=one(P.by_quarter, P, f"{h}attn.", "qkv_proj out_proj") | norm(f"{h}ln_1"),
            config={"model_type": "codegen", "n_head": 2, "n_embd": D},
            refused="4 does not divide 2 heads",
        ),
        "OpenELM": File(
            state=one(P.stacked, P, "transformer.layers.0.attn.", "qkv_proj out_proj")
            | norm("transformer.layers.0.attn.q_norm", "transformer.layers.0.attn.k_norm", size=A)
            | norm("transformer.layers.0.attn_norm", bias=False),
            refused="norms queries or keys",
        ),
        "Persimmon": File(
            state=one(P.by_group, P, f"{L}self_attn.", "query_key_value dense", bias=True)
            | norm(f"{L}self_attn.q_layernorm", f"{L}self_attn.k_layernorm", size=A)
            | llama_norms(L, bias=True),
            refused="norms queries or keys",
        ),
        "Persimmon without its norms of queries": File(
            state=one(P.by_group, P, f"{L}self_attn.", "query_key_value dense", bias=True)
            | norm(f"{L}self_attn.q_layernorm", f"{L}self_attn.k_layernorm", size=A)
            | llama_norms(L, bias=True),
            options={"ignore": "*_layernorm.weight, *q_layernorm*, *k_layernorm*"},
            norm=None,
        ),
        "MosaicBERT": File(
            state=one(
                P.stacked, P, "bert.encoder.layer.0.attention.", "self.Wqkv output.dense", bias=True
            )
            | norm("bert.encoder.layer.0.attention.output.LayerNorm"),
            norm=POST_LAYER,
        ),
        "ModernBERT": File(
            state=one(P.stacked, P, "model.layers.1.attn.", "Wqkv Wo")
            | beside("model.layers.1.mlp.", "Wi", "Wo")
            | norm("model.layers.1.attn_norm", "model.layers.1.mlp_norm", bias=False),
            norm=PRE_LAYER,
        ),
        "Nomic BERT": File(
            state=one(P.stacked, P, "encoder.layers.0.attn.", "Wqkv out_proj")
            | beside("encoder.layers.0.mlp.", "fc11", "fc12", "fc2")
            | norm("encoder.layers.0.norm1", "encoder.layers.0.norm2"),
            config={"model_type": "nomic_bert", "n_head": HEADS, "n_embd": D, "prenorm": False},
            norm=POST_LAYER,
        ),
        "LitGPT, later": File(
            state=one(SHARED.stacked, SHARED, f"{h}attn.", "qkv proj")
            | beside(f"{h}mlp.", "fc_1", "fc_2", "proj")
            | norm(f"{h}norm_1", f"{h}norm_2", bias=False),
            heads=SHARED,
            refused="norm_1",
        ),
        "TransformerEngine": File(
            state=one(P.by_group, P, "layers.0.self_attention.", "layernorm_qkv proj"),
            refused="no usual names",
        ),
        "Megatron Core": File(
            state=one(
                SHARED.by_group,
                SHARED,
                "decoder.layers.0.self_attention.",
                "linear_qkv linear_proj",
            )
            | {"decoder.layers.0.self_attention.linear_qkv.layer_norm_weight": drawn(D)},
            heads=SHARED,
            norm=PRE_RMS,
        ),
        "Bark": File(
            state=one(P.stacked, P, "layers.0.attn.", "att_proj out_proj")
            | norm("layers.0.layernorm_1", "layers.0.layernorm_2", bias=False),
            norm=PRE_LAYER,
        ),
        "scGPT": File(
            state=one(P.stacked, P, "transformer_encoder.layers.0.self_attn.", "Wqkv out_proj")
            | norm("transformer_encoder.layers.0.norm1", "transformer_encoder.layers.0.norm2"),
            refused="norm1",
        ),
        "a hybrid of Mamba": File(
            state=one(P.stacked, P, "backbone.layers.9.mixer.", "in_proj out_proj"),
            refused="no usual names",
        ),
        "ESM-3": File(
            state=one(P.stacked, P, f"{blocks}attn.", "layernorm_qkv.1 out_proj")
            | norm(f"{blocks}attn.layernorm_qkv.0", f"{blocks}attn.q_ln"),
            refused="no usual names",
        ),
    }


def of_encoders() -> dict[str, File]:
    """BERT and its variants, T5 and translators."""
    e = "encoder.layer.0."
    t5 = "encoder.block.0.layer.0."
    files = {
        "ELECTRA": File(
            state=bert_block(P, f"electra.{e}")
            | norm(f"electra.{e}attention.output.LayerNorm", f"electra.{e}output.LayerNorm"),
            config={"model_type": "electra", **SIZES},
            norm=POST_LAYER,
        ),
        "ALBERT": File(
            state=four(
                P,
                "albert.encoder.albert_layer_groups.0.albert_layers.0.attention.",
                "query key value dense",
                bias=True,
            )
            | norm("albert.encoder.albert_layer_groups.0.albert_layers.0.attention.LayerNorm")
            | beside("albert.encoder.albert_layer_groups.0.albert_layers.0.", "ffn", "ffn_output"),
            norm=POST_LAYER,
        ),
        "DeBERTa": File(
            state=beside(f"deberta.{e}attention.self.", "in_proj", "pos_proj", "pos_q_proj"),
            refused="DeBERTa",
        ),
        "DeBERTa v3": File(
            state=four(P, f"deberta.{e}attention.", BERT.replace("query", "query_proj"), bias=True),
            refused="DeBERTa",
        ),
        "XLM": File(
            state=four(P, "transformer.attentions.0.", "q_lin k_lin v_lin out_lin", bias=True)
            | norm("transformer.layer_norm1.0", "transformer.layer_norm2.0")
            | beside("transformer.ffns.0.", "lin1", "lin2"),
            norm=None,
        ),
        "Longformer": File(
            state=bert_block(P, f"longformer.{e}")
            | beside(f"longformer.{e}attention.self.", "query_global", "key_global"),
            refused="_global",
        ),
        "Nyströmformer": File(
            state=bert_block(P, f"nystromformer.{e}")
            | {f"nystromformer.{e}attention.self.conv.weight": drawn(HEADS, 1, 3, 1)},
            refused="self.conv",
        ),
        "YOSO": File(
            state=bert_block(P, f"yoso.{e}")
            | {"yoso.embeddings.word_embeddings.weight": drawn(9, D)}
            | {"yoso.embeddings.position_embeddings.weight": drawn(9, D)}
            | norm(f"yoso.{e}attention.output.LayerNorm"),
            refused="YOSO",
        ),
        "ConvBERT": File(
            state=bert_block(P, f"convbert.{e}")
            | beside(f"convbert.{e}attention.self.", "conv_kernel_layer", "conv_out_layer"),
            refused="conv_",
        ),
        "BERT with relative keys": File(
            state=bert_block(P, f"bert.{e}")
            | {f"bert.{e}attention.self.distance_embedding.weight": drawn(9, A)},
            refused="distance_embedding",
        ),
        "BERT with adapters": File(
            state=bert_block(P, f"bert.{e}")
            | beside(f"bert.{e}attention.output.adapters.a.", "adapter_down.0", "adapter_up"),
            refused="adapters",
        ),
        "Funnel": File(
            state=four(P, "funnel.encoder.blocks.0.0.attention.", "q_head k_head v_head post_proj"),
            refused="no usual names",
        ),
        "Transformer-XL": File(
            state=one(P.stacked, P, "transformer.layers.0.dec_attn.", "qkv_net o_net"),
            refused="no usual names",
        ),
        "Reformer, by local attention": File(
            state=four(P, "reformer.encoder.layers.0.attention.", "query key value dense") | {},
            layers=1,
            norm=None,
        ),
        "Reformer": File(
            state={
                "reformer.encoder.layers.0.attention.self_attention.query.weight": P.Q,
                "reformer.encoder.layers.0.attention.self_attention.key.weight": P.K,
                "reformer.encoder.layers.0.attention.self_attention.value.weight": P.V,
                "reformer.encoder.layers.0.attention.output.dense.weight": P.O,
                "reformer.encoder.layers.0.attention.layer_norm.weight": drawn(D),
            },
            refused="output|layer_norm",
        ),
        "T5": File(
            state=four(P, f"{t5}SelfAttention.", "q k v o")
            | {f"{t5}SelfAttention.relative_attention_bias.weight": drawn(32, HEADS)}
            | norm(f"{t5}layer_norm", bias=False)
            | {"shared.weight": drawn(9, D)}
            | beside("encoder.block.0.layer.1.DenseReluDense.", "wi", "wo"),
            norm=PRE_RMS,
        ),
        "LongT5 with local attention": File(
            state=four(P, f"{t5}LocalSelfAttention.", "q k v o")
            | norm(f"{t5}layer_norm", bias=False),
            norm=PRE_RMS,
        ),
        "LongT5 with global tokens": File(
            state=four(P, f"{t5}TransientGlobalSelfAttention.", "q k v o")
            | norm(f"{t5}layer_norm", bias=False)
            | norm(f"{t5}TransientGlobalSelfAttention.global_input_layer_norm", bias=False),
            refused="[gG]lobal",
        ),
        "a decoder of T5": File(
            state=four(P, "decoder.block.0.layer.0.SelfAttention.", "q k v o")
            | four(P, "decoder.block.0.layer.1.EncDecAttention.", "q k v o")
            | norm("decoder.block.0.layer.0.layer_norm", bias=False)
            | norm("decoder.block.0.layer.1.layer_norm", bias=False),
            norm=PRE_RMS,
        ),
        "T5X": File(
            state={
                f"target/encoder/layers_0/attention/{x}/kernel": y.T
                for x, y in {"query": P.Q, "key": P.K, "value": P.V, "out": P.O}.items()
            }
            | {"target/encoder/layers_0/pre_attention_layer_norm/scale": drawn(D)},
            norm=PRE_RMS,
        ),
        "T5X, a decoder": File(
            state={
                f"target/decoder/layers_0/{module}/{x}/kernel": y.T
                for module in ("self_attention", "encoder_decoder_attention")
                for x, y in {"query": P.Q, "key": P.K, "value": P.V, "out": P.O}.items()
            }
        ),
        "Marian": File(
            state=fairseq_block(P, "model.encoder.layers.0.")
            | norm("model.encoder.layers.0.self_attn_layer_norm"),
            config={"model_type": "marian", "encoder_attention_heads": HEADS, "d_model": D},
            norm=POST_LAYER,
        ),
        "Pegasus": File(
            state=fairseq_block(P, "model.encoder.layers.0.")
            | norm("model.encoder.layers.0.self_attn_layer_norm", "model.encoder.layer_norm"),
            norm=PRE_LAYER,
        ),
        "BART, a decoder": File(
            state=fairseq_block(P, "model.decoder.layers.0.")
            | four(P, "model.decoder.layers.0.encoder_attn.", QKV_OUT)
            | norm("model.decoder.layers.0.self_attn_layer_norm")
            | norm("model.decoder.layers.0.encoder_attn_layer_norm")
            | {"model.decoder.embed_positions.weight": drawn(9, D)},
            norm=POST_LAYER,
        ),
        "ERNIE-M": File(
            state={
                **{
                    f"ernie_m.encoder.layers.0.self_attn.self_attn.{x}_proj.weight": y
                    for x, y in {"q": P.Q, "k": P.K, "v": P.V}.items()
                },
                "ernie_m.encoder.layers.0.self_attn.out_proj.weight": P.O,
            },
            refused="out_proj",
        ),
        "Pix2Struct": File(
            state=four(P, f"{e}attention.", "query key value output")
            | norm(f"{e}pre_attention_layer_norm", bias=False),
            refused="output|pre_attention_layer_norm",
        ),
        "nn.Transformer": File(
            state=one(P.stacked, P, "decoder.layers.0.", "self_attn.in_proj self_attn.out_proj")
            | one(
                P.stacked, P, "decoder.layers.0.", "multihead_attn.in_proj multihead_attn.out_proj"
            )
            | norm("decoder.layers.0.norm1", "decoder.layers.0.norm2", "decoder.layers.0.norm3"),
            norm=POST_LAYER,
        ),
    }
    transformer = files["nn.Transformer"].state
    for name in list(transformer):
        transformer[name.replace("in_proj.weight", "in_proj_weight")] = transformer.pop(name)
    return files


def of_images() -> dict[str, File]:
    """Models of images, texts beside images, and of networks of two kinds of attention."""
    b = "blocks.0."
    hf = "encoder.layer.0."
    vit = "attention.query attention.key attention.value output.dense"
    files = {
        "Qwen2-VL beside its vision": File(
            state=llama_file(bias=True)
            | vit_block(P, "visual.blocks.0.")
            | norm("visual.blocks.0.norm1", "visual.blocks.0.norm2"),
            norm=PRE_RMS,
        ),
        "the vision of Qwen2.5-VL": File(
            state=vit_block(P, "visual.blocks.0.")
            | norm("visual.blocks.0.norm1", "visual.blocks.0.norm2", bias=False),
            refused="norm1.*RMSNorm",
        ),
        "Swin": File(
            state=vit_block(P, "layers.0.blocks.0.")
            | norm("layers.0.blocks.0.norm1", "layers.0.blocks.0.norm2")
            | {"layers.0.blocks.0.attn.relative_position_bias_table": drawn(9, HEADS)}
            | {"layers.0.blocks.0.attn.relative_position_index": numpy.ones((4, 4))}
            | {"layers.0.blocks.0.attn_mask": numpy.zeros((2, 4, 4))},
            norm=PRE_LAYER,
        ),
        "Swin 2": File(
            state=vit_block(P, "layers.0.blocks.0.")
            | norm("layers.0.blocks.0.norm1")
            | {"layers.0.blocks.0.attn.logit_scale": drawn(HEADS, 1, 1)},
            refused="cosine",
        ),
        "Swin 2 without its scales": File(
            state=vit_block(P, "layers.0.blocks.0.")
            | norm("layers.0.blocks.0.norm1")
            | {"layers.0.blocks.0.attn.logit_scale": drawn(HEADS, 1, 1)},
            options={"ignore": "*logit_scale"},
            norm=PRE_LAYER,
            assumed="--norm none if it stands after it, as in Swin 2",
        ),
        "BEiT": File(
            state=four(P, f"beit.{hf}attention.", vit, bias=True)
            | {f"beit.{hf}lambda_1": numpy.ones(D), f"beit.{hf}lambda_2": numpy.ones(D)}
            | norm(f"beit.{hf}layernorm_before", f"beit.{hf}layernorm_after"),
            norm=PRE_LAYER,
        ),
        "MAE": File(
            state=vit_block(P, b)
            | norm(f"{b}norm1", f"{b}norm2")
            | vit_block(P, f"decoder_{b}")
            | norm(f"decoder_{b}norm1"),
            layers=2,
            norm=PRE_LAYER,
        ),
        "MAE without its decoder": File(
            state=vit_block(P, b)
            | norm(f"{b}norm1", f"{b}norm2")
            | vit_block(P, f"decoder_{b}")
            | norm(f"decoder_{b}norm1"),
            options={"ignore": "decoder_*"},
            norm=PRE_LAYER,
        ),
        "MAE of transformers": File(
            state=four(P, f"vit.{hf}attention.", vit, bias=True)
            | norm(f"vit.{hf}layernorm_before")
            | four(P, "decoder.decoder_layers.0.attention.", vit, bias=True)
            | norm("decoder.decoder_layers.0.layernorm_before"),
            config={"model_type": "vit_mae", "decoder_num_attention_heads": 2, **SIZES},
            refused="heads",
        ),
        "DINOv2": File(
            state=vit_block(P, b)
            | norm(f"{b}norm1", f"{b}norm2")
            | {f"{b}ls1.gamma": numpy.ones(D), f"{b}ls2.gamma": numpy.ones(D)},
            norm=PRE_LAYER,
        ),
        "DINOv2 in parts": File(
            state=vit_block(P, "blocks.0.0.") | norm("blocks.0.0.norm1", "blocks.0.0.norm2"),
            norm=PRE_LAYER,
        ),
        "DINOv3": File(
            state=four(P, "layer.0.attention.", QKVO, bias=True)
            | {"layer.0.layer_scale1.lambda1": numpy.ones(D)}
            | norm("layer.0.norm1", "layer.0.norm2"),
            norm=PRE_LAYER,
        ),
        "InternViT": File(
            state=vit_block(P, "vision_model.encoder.layers.0.")
            | {"vision_model.encoder.layers.0.ls1": 2 * numpy.ones(D)}
            | {"vision_model.encoder.layers.0.ls2": numpy.ones(D)}
            | norm("vision_model.encoder.layers.0.norm1"),
            factor=2,
            norm=PRE_LAYER,
        ),
        "open_clip with factors": File(
            state=one(P.stacked, P, "transformer.resblocks.0.", "attn.in_proj attn.out_proj")
            | {"transformer.resblocks.0.ls_1.gamma": 2 * numpy.ones(D)}
            | norm("transformer.resblocks.0.ln_1", "transformer.resblocks.0.ln_2"),
            factor=2,
            norm=PRE_LAYER,
        ),
        "SAM": File(
            state=vit_block(P, "image_encoder.blocks.0.")
            | norm("image_encoder.blocks.0.norm1")
            | {"image_encoder.blocks.0.attn.rel_pos_h": drawn(7, A)},
            norm=PRE_LAYER,
        ),
        "SAM of transformers": File(
            state=vit_block(P, "vision_encoder.layers.0.")
            | norm("vision_encoder.layers.0.layer_norm1", "vision_encoder.layers.0.layer_norm2"),
            norm=PRE_LAYER,
        ),
        "SAM 2, whose queries are pooled": File(
            state=vit_block(P, "image_encoder.trunk.blocks.2.")
            | {"image_encoder.trunk.blocks.2.proj.weight": drawn(D, D)}
            | norm("image_encoder.trunk.blocks.2.norm1"),
            refused="pool",
        ),
        "SigLIP": File(
            state=fairseq_block(P, "text_model.encoder.layers.0.")
            | norm("text_model.encoder.layers.0.layer_norm1")
            | fairseq_block(P, "vision_model.encoder.layers.0.")
            | norm("vision_model.encoder.layers.0.layer_norm1"),
            norm=PRE_LAYER,
        ),
        "BLIP's vision": File(
            state=one(
                P.stacked,
                P,
                "vision_model.encoder.layers.0.self_attn.",
                "qkv projection",
                bias=True,
            )
            | norm("vision_model.encoder.layers.0.layer_norm1"),
            norm=PRE_LAYER,
        ),
        "SegFormer, where keys are reduced": File(
            state=four(P, "segformer.encoder.block.0.0.attention.", BERT, bias=True)
            | {"segformer.encoder.block.0.0.attention.self.sr.weight": drawn(D, D, 2, 2)}
            | norm("segformer.encoder.block.0.0.attention.self.layer_norm")
            | norm("segformer.encoder.block.0.0.layer_norm_1"),
            refused="attention.self",
        ),
        "SegFormer, the last stage": File(
            state=four(P, "segformer.encoder.block.3.0.attention.", BERT, bias=True)
            | norm("segformer.encoder.block.3.0.layer_norm_1")
            | norm("segformer.encoder.block.3.0.layer_norm_2"),
            norm=PRE_LAYER,
        ),
        "DETR": File(
            state=fairseq_block(P, "model.encoder.layers.0.")
            | norm("model.encoder.layers.0.self_attn_layer_norm"),
            refused="self_attn_layer_norm",
        ),
        "DaViT of timm": File(
            state=vit_block(P, "stages.0.blocks.0.0.")
            | norm("stages.0.blocks.0.0.norm1")
            | vit_block(P, "stages.0.blocks.0.1.")
            | norm("stages.0.blocks.0.1.norm1")
            | {f"stages.0.blocks.0.{i}.cpe1.proj.weight": drawn(D, 1, 3, 3) for i in (0, 1)},
            refused="channels",
        ),
        "DaViT with names of its blocks": File(
            state=one(P.stacked, P, "blocks.0.0.spatial_block.attn.", "qkv proj")
            | one(P.stacked, P, "blocks.0.0.channel_block.attn.", "qkv proj"),
            refused="channels",
        ),
        "XCiT": File(
            state=vit_block(P, b)
            | norm(f"{b}norm1")
            | {f"{b}attn.temperature": drawn(HEADS, 1, 1)}
            | {f"{b}local_mp.conv1.weight": drawn(D, 1, 3, 3)},
            refused="channels",
        ),
        "CaiT": File(
            state=vit_block(P, b)
            | norm(f"{b}norm1")
            | {f"{b}attn.proj_l.weight": drawn(HEADS, HEADS)}
            | {f"{b}gamma_1": numpy.ones(D)},
            refused="proj_l",
        ),
        "EVA-02": File(
            state=four(P, f"{b}attn.", "q_proj k_proj v_proj proj") | norm(f"{b}norm1"),
            refused="attn.proj",
        ),
        "a ViT with a norm before its output matrix": File(
            state=vit_block(P, b) | norm(f"{b}norm1", f"{b}attn.norm"), refused="attn.norm"
        ),
        "DiT, whose norms depend on the step": File(
            state=vit_block(P, b) | {f"{b}adaLN_modulation.1.weight": drawn(6 * D, D)},
            refused="adaLN",
        ),
        "diffusers, whose norms depend on the step": File(
            state=four(P, "transformer_blocks.0.attn1.", "to_q to_k to_v to_out.0")
            | {"transformer_blocks.0.norm1.linear.weight": drawn(6 * D, D)},
            refused="norm1.linear",
        ),
        "a VAE of diffusers": File(
            state=four(P, "decoder.mid_block.attentions.0.", "to_q to_k to_v to_out.0", bias=True)
            | norm("decoder.mid_block.attentions.0.group_norm"),
            refused="group_norm",
        ),
        "Flux": File(
            state=four(P, "transformer_blocks.0.attn.", "to_q to_k to_v to_out.0")
            | beside("transformer_blocks.0.attn.", "add_q_proj", "add_k_proj", "to_add_out"),
            refused="add_",
        ),
        "ViT in several branches": File(
            state=one(P.stacked, P, f"{b}attns.0.attn.", "qkv proj") | norm(f"{b}attns.0.norm"),
            refused="attns.0.norm",
        ),
        "AIMv2": File(
            state=vit_block(P, "trunk.blocks.0.") | norm("trunk.blocks.0.norm_1", bias=False),
            refused="norm_1",
        ),
        "ImageBind": File(
            state=one(P.stacked, P, "trunk.blocks.0.", "attn.in_proj attn.out_proj")
            | norm("trunk.blocks.0.norm_1", "trunk.blocks.0.norm_2"),
            norm=PRE_LAYER,
        ),
        "MobileViT 2, with linear attention": File(
            state={
                "stages.2.1.transformer.0.attn.qkv_proj.weight": drawn(1 + 2 * D, D, 1, 1),
                "stages.2.1.transformer.0.attn.out_proj.weight": drawn(D, D, 1, 1),
            },
            refused="17 × 8 × 1 × 1",
        ),
        "CoAtNet": File(
            state={
                "stages.2.blocks.0.attn.qkv.weight": P.by_group[:, :, None, None],
                "stages.2.blocks.0.attn.proj.weight": P.O[:, :, None, None],
            },
            refused="24 × 8 × 1 × 1",
        ),
        "PoolFormer": File(
            state=beside("stages.0.blocks.0.", "mlp.fc1", "mlp.fc2")
            | norm("stages.0.blocks.0.norm1"),
            refused="no usual names",
        ),
        "FastViT": File(
            state=one(P.stacked, P, "stages.3.blocks.0.token_mixer.", "qkv proj"),
            refused="no usual names",
        ),
    }
    clip = files["open_clip with factors"].state
    bind = files["ImageBind"].state
    for state in (clip, bind):
        for name in list(state):
            state[name.replace("in_proj.weight", "in_proj_weight")] = state.pop(name)
    return files


def of_others() -> dict[str, File]:
    """Models of sounds, small libraries, and other kinds of attention under usual names."""
    c = "encoder.layers.0."
    return {
        "x-transformers": File(
            state=x_transformers("afaf"),
            layers=2,
            norm=PRE_LAYER,
            assumed="keys are of the same tokens as queries",
        ),
        "x-transformers with cross-attention": File(
            state=x_transformers("acfacf"), refused=r"'attn_layers.layers.1.1.*other tokens"
        ),
        "x-transformers without its cross-attention": File(
            state=x_transformers("acfacf"),
            options={"ignore": "*.layers.1.*, *.layers.4.*"},
            layers=2,
            norm=PRE_LAYER,
        ),
        "WavLM": File(
            state=four(P, f"{c}attention.", QKV_OUT, bias=True)
            | beside(f"{c}attention.", "gru_rel_pos_linear")
            | {f"{c}attention.gru_rel_pos_const": drawn(1, HEADS, 1, 1)}
            | {f"{c}attention.rel_attn_embed.weight": drawn(32, HEADS)}
            | norm(f"{c}layer_norm"),
            refused="rel_attn_embed",
            options=LAYER,
        ),
        "HuBERT": File(
            state=four(P, f"{c}attention.", QKV_OUT, bias=True) | norm(f"{c}layer_norm"),
            config={"model_type": "hubert", "do_stable_layer_norm": True, **SIZES},
            norm=PRE_LAYER,
        ),
        "Conformer of NeMo": File(
            state=four(P, f"{c}self_attn.", "linear_q linear_k linear_v linear_out", bias=True)
            | {f"{c}self_attn.pos_bias_u": drawn(HEADS, A)}
            | beside(f"{c}self_attn.", "linear_pos")
            | norm(f"{c}norm_self_att"),
            refused="pos_bias_u|linear_pos",
        ),
        "Conformer of torchaudio": File(
            state={
                "conformer_layers.0.self_attn.in_proj_weight": P.stacked,
                "conformer_layers.0.self_attn.out_proj.weight": P.O,
            }
            | norm("conformer_layers.0.self_attn_layer_norm"),
            refused="self_attn_layer_norm",
        ),
        "Whisper": File(
            state=fairseq_block(P, f"model.{c}")
            | norm(f"model.{c}self_attn_layer_norm", "model.encoder.layer_norm"),
            config={"model_type": "whisper", "encoder_attention_heads": HEADS, "d_model": D},
            norm=PRE_LAYER,
        ),
        "Performer": File(
            state=four(P, "performer.net.layers.0.0.fn.", "to_q to_k to_v to_out")
            | {"performer.net.layers.0.0.fn.fast_attention.projection_matrix": drawn(4, A)}
            | norm("performer.net.layers.0.0.norm"),
            refused="Performer",
        ),
        "Nyströmformer of lucidrains": File(
            state=one(P.stacked, P, "layers.0.0.fn.", "to_qkv to_out.0")
            | {"layers.0.0.fn.res_conv.weight": drawn(HEADS, 1, 3, 1)},
            refused="res_conv",
        ),
        "LSA of vit-pytorch": File(
            state=one(P.stacked, P, "transformer.layers.0.0.", "to_qkv to_out.0")
            | {"transformer.layers.0.0.temperature": drawn(1)},
            refused="multiplies scores",
        ),
        "Flamingo": File(
            state={
                "perceiver.layers.0.0.to_q.weight": P.Q,
                "perceiver.layers.0.0.to_kv.weight": numpy.vstack([P.K, P.V]),
                "perceiver.layers.0.0.to_out.weight": P.O,
            }
            | norm("perceiver.layers.0.0.norm_media", "perceiver.layers.0.0.norm_latents"),
            refused="norm_",
        ),
        "a diffusion model of images in convolutions": File(
            state={
                "mid_attn.fn.to_qkv.weight": P.stacked[:, :, None, None],
                "mid_attn.fn.to_out.weight": P.O[:, :, None, None],
            },
            refused="24 × 8 × 1 × 1",
        ),
        "Haiku": File(
            state={
                f"transformer/h0_attn/~/{x}/w": y.T
                for x, y in {"query": P.Q, "key": P.K, "value": P.V, "linear": P.O}.items()
            },
            refused="no usual names",
        ),
        "Keras in a file of NumPy": File(
            state={
                "multi_head_attention/query/kernel": P.q.transpose(2, 0, 1),
                "multi_head_attention/query/bias": drawn(HEADS, A),
                "multi_head_attention/key/kernel": P.k.transpose(2, 0, 1),
                "multi_head_attention/value/kernel": P.v.transpose(2, 0, 1),
                "multi_head_attention/attention_output/kernel": P.o.transpose(0, 2, 1),
            }
        ),
        "ViT of Google": File(
            state={
                f"Transformer/encoderblock_0/MultiHeadDotProductAttention_1/{x}/kernel": y
                for x, y in {
                    "query": P.q.transpose(2, 0, 1),
                    "key": P.k.transpose(2, 0, 1),
                    "value": P.v.transpose(2, 0, 1),
                    "out": P.o.transpose(0, 2, 1),
                }.items()
            }
            | {f"Transformer/encoderblock_0/LayerNorm_{i}/scale": drawn(D) for i in (0, 2)}
            | {f"Transformer/encoderblock_0/LayerNorm_{i}/bias": drawn(D) for i in (0, 2)},
            norm=PRE_LAYER,
        ),
        "music with relative positions": File(
            state={
                "encoder.layers.0.self_attn.in_proj_weight": P.stacked,
                "encoder.layers.0.self_attn.out_proj.weight": P.O,
                "encoder.layers.0.self_attn.Er": drawn(9, A),
            }
            | norm("encoder.layers.0.norm1"),
            refused="Er",
        ),
        "HQQ": File(
            state={
                f"model.layers.0.self_attn.{x}_proj.W_q": numpy.ones((D, D), numpy.uint8)
                for x in "qkvo"
            },
            refused="no usual names",
        ),
        "EETQ": File(
            state={
                name.replace(".weight", end): array
                for end, kind in ((".weight", numpy.int8), (".weight_scales", numpy.float16))
                for name, array in four(P, "model.layers.0.self_attn.", QKVO).items()
                for array in [array.astype(kind)[: D if end == ".weight" else 1]]
            },
            refused="8 bits|weight_scales",
        ),
        "AlphaFold": File(
            state=four(P, "evoformer.0.msa_att_row.mha.", "linear_q linear_k linear_v linear_o")
            | beside("evoformer.0.msa_att_row.mha.", "linear_g"),
            refused="no usual names",
        ),
        "GAT": File(
            state=beside("convs.0.", "lin") | {"convs.0.att_src": drawn(1, HEADS, A)},
            refused="no usual names",
        ),
    }


def held_out_files() -> dict[str, File]:
    """All files by their names."""
    return of_texts() | of_one_array() | of_encoders() | of_images() | of_others()
