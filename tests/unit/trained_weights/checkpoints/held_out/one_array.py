"""Models of texts with one array for Q, K and V."""

from __future__ import annotations

from tests.unit.trained_weights.checkpoints.held_out.files import (
    POST_LAYER,
    PRE_LAYER,
    PRE_RMS,
    SHARED,
    SIZES,
    File,
    P,
    beside,
    drawn,
    llama_norms,
    norm,
    one,
)
from tests.unit.trained_weights.checkpoints.test_layouts import HEADS, A, D, Planted

L = "model.layers.0."
h = "transformer.h.0."
blocks = "transformer.blocks.0."
FILES = {
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
        state=one(P.stacked, P, f"{L}self_attn.", "W_pack o_proj") | llama_norms(L), norm=PRE_RMS
    ),
    "GPT-NeoX": File(
        state=one(P.by_group, P, "gpt_neox.layers.0.attention.", "query_key_value dense", bias=True)
        | norm("gpt_neox.layers.0.input_layernorm", "gpt_neox.layers.0.post_attention_layernorm"),
        norm=PRE_LAYER,
    ),
    "GPT-NeoX in Japanese, with a bias of its own name": File(
        state=one(P.by_group, P, "gpt_neox_japanese.layers.0.attention.", "query_key_value dense")
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
        state=one(Planted(1).by_group, Planted(1), f"{h}self_attention.", "query_key_value dense")
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
            SHARED.by_group, SHARED, "decoder.layers.0.self_attention.", "linear_qkv linear_proj"
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
