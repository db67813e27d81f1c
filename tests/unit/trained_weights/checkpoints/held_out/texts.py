"""Models of texts with matrices of their own for Q, K and V."""

from __future__ import annotations

import numpy

from tests.unit.trained_weights.checkpoints.held_out.files import (
    POST_LAYER,
    PRE_LAYER,
    PRE_RMS,
    QKV_OUT,
    QKVO,
    SHARED,
    SIZES,
    File,
    P,
    bert_block,
    beside,
    drawn,
    fairseq_block,
    four,
    llama_block,
    llama_file,
    llama_norms,
    norm,
    one,
)
from tests.unit.trained_weights.checkpoints.test_layouts import HEADS, A, D

L = "model.layers.0."
FILES = {
    "ESM-2": File(
        state=bert_block(P, "esm.encoder.layer.0.")
        | norm("esm.encoder.layer.0.attention.LayerNorm", "esm.encoder.layer.0.LayerNorm")
        | norm("esm.encoder.emb_layer_norm_after")
        | {"esm.encoder.layer.0.attention.self.rotary_embeddings.inv_freq": drawn(1)},
        config={"model_type": "esm", "position_embedding_type": "rotary", **SIZES},
        norm=PRE_LAYER,
    ),
    "the original ESM-2": File(
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
    "the original Phi-1": File(
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
    "the original OLMo 2": File(
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
        refused="half of its rows are gates",
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
        state=llama_file() | {f"{L}self_attn.k_proj.ia3_l.default": drawn(D, 1)}, refused="ia3_l"
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
