"""Models of sounds, small libraries, and other kinds of attention under usual names."""

from __future__ import annotations

import numpy

from tests.unit.trained_weights.checkpoints.held_out.files import (
    LAYER,
    PRE_LAYER,
    QKV_OUT,
    QKVO,
    SIZES,
    File,
    P,
    beside,
    drawn,
    fairseq_block,
    four,
    norm,
    one,
    x_transformers,
)
from tests.unit.trained_weights.checkpoints.test_layouts import HEADS, A, D

c = "encoder.layers.0."
FILES = {
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
    "Google's ViT": File(
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
