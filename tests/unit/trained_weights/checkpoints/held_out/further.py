"""Files of further libraries, and of others with less usual norms, cuts and names."""

from __future__ import annotations

import numpy

from tests.unit.trained_weights.checkpoints.held_out.files import (
    BERT,
    POST_LAYER,
    PRE_LAYER,
    PRE_RMS,
    QKVO,
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
    vit_block,
)
from tests.unit.trained_weights.checkpoints.test_layouts import HEADS, A, D

L, e, b = "model.layers.0.", "encoder.layer.0.", "blocks.0."
vit = "attention.query attention.key attention.value output.dense"
stacked = {"Q": P.Q, "K": P.K, "V": P.V, "O": P.O}
FILES = {
    "GPT-2 in TensorFlow": File(
        state={
            "tfgpt2/transformer/h_._0/attn/c_attn/weight:0": P.stacked.T,
            "tfgpt2/transformer/h_._0/attn/c_proj/weight:0": P.O.T,
            "tfgpt2/transformer/h_._0/ln_1/gamma:0": drawn(D),
            "tfgpt2/transformer/h_._0/ln_1/beta:0": drawn(D),
        },
        norm=PRE_LAYER,
    ),
    "BERT of Google": File(
        state={
            f"bert/encoder/layer_0/attention/{name}/kernel": stacked[letter].T
            for letter, name in zip("QKVO", BERT.replace(".", "/").split(), strict=True)
        }
        | {"bert/encoder/layer_0/attention/output/LayerNorm/gamma": drawn(D)}
        | {"bert/encoder/layer_0/attention/output/LayerNorm/beta": drawn(D)},
        norm=POST_LAYER,
    ),
    "T5 in Flax": File(
        state={
            f"encoder/block/0/layer/0/SelfAttention/{letter.lower()}/kernel": array.T
            for letter, array in stacked.items()
        }
        | {"encoder/block/0/layer/0/layer_norm/weight": drawn(D)},
        norm=PRE_RMS,
    ),
    "RoFormer": File(
        state=bert_block(P, f"roformer.{e}")
        | norm(f"roformer.{e}attention.output.LayerNorm", f"roformer.{e}output.LayerNorm")
        | {"roformer.encoder.embed_positions.weight": drawn(9, A)},
        norm=POST_LAYER,
    ),
    "DeiT": File(
        state=four(P, f"deit.{e}attention.", vit, bias=True)
        | norm(f"deit.{e}layernorm_before", f"deit.{e}layernorm_after", "deit.layernorm"),
        norm=PRE_LAYER,
    ),
    "Twins": File(
        state=vit_block(P, "blocks.0.0.")
        | norm("blocks.0.0.norm1")
        | beside("blocks.0.1.attn.", "q", "kv", "proj", "sr"),
        refused="blocks.0.1.attn",
    ),
    "PVT, the last stage": File(
        state={
            "stages.3.blocks.0.attn.q.weight": P.Q,
            "stages.3.blocks.0.attn.kv.weight": numpy.vstack([P.K, P.V]),
            "stages.3.blocks.0.attn.proj.weight": P.O,
        }
        | norm("stages.3.blocks.0.norm1", "stages.3.blocks.0.norm2"),
        norm=PRE_LAYER,
    ),
    "the original CLIP": File(
        state=one(P.stacked, P, "transformer.resblocks.0.", "attn.in_proj attn.out_proj")
        | norm("transformer.resblocks.0.ln_1", "transformer.resblocks.0.ln_2")
        | one(P.stacked, P, "visual.transformer.resblocks.0.", "attn.in_proj attn.out_proj")
        | norm("visual.transformer.resblocks.0.ln_1"),
        norm=PRE_LAYER,
    ),
    "ViT of torchvision": File(
        state=one(
            P.stacked,
            P,
            "encoder.layers.encoder_layer_0.",
            "self_attention.in_proj self_attention.out_proj",
        )
        | norm("encoder.layers.encoder_layer_0.ln_1", "encoder.ln"),
        norm=PRE_LAYER,
    ),
    "Swin of torchvision": File(
        state=vit_block(P, "features.1.0.")
        | norm("features.1.0.norm1", "features.1.0.norm2")
        | {"features.1.0.attn.relative_position_bias_table": drawn(9, HEADS)},
        norm=PRE_LAYER,
    ),
    "DINO with its teacher": File(
        state=vit_block(P, "student.backbone.blocks.0.")
        | norm("student.backbone.blocks.0.norm1")
        | vit_block(P, "teacher.backbone.blocks.0.")
        | norm("teacher.backbone.blocks.0.norm1"),
        norm=PRE_LAYER,
    ),
    "GPT-2 with cross-attention": File(
        state={
            "h.0.attn.c_attn.weight": P.stacked.T,
            "h.0.attn.c_proj.weight": P.O.T,
            "h.0.crossattention.c_attn.weight": drawn(D, 2 * D),
            "h.0.crossattention.q_attn.weight": drawn(D, D),
            "h.0.crossattention.c_proj.weight": drawn(D, D),
        }
        | norm("h.0.ln_1", "h.0.ln_cross_attn", "h.0.ln_2"),
        norm=PRE_LAYER,
    ),
    "MusicGen": File(
        state=one(P.stacked, P, "transformer.layers.0.", "self_attn.in_proj self_attn.out_proj")
        | one(P.stacked, P, "transformer.layers.0.", "cross_attention.in_proj cross_attention.o")
        | norm("transformer.layers.0.norm1", "transformer.layers.0.norm_cross"),
        norm=POST_LAYER,
        assumed="norm1 stands after the layer",
    ),
    "ESPnet": File(
        state=four(
            P, "encoder.encoders.0.self_attn.", "linear_q linear_k linear_v linear_out", bias=True
        )
        | norm("encoder.encoders.0.norm1", "encoder.encoders.0.norm2"),
        refused="norm1",
    ),
    "SpeechBrain": File(
        state=one(P.stacked, P, "encoder.layers.0.self_att.att.", "in_proj out_proj")
        | norm("encoder.layers.0.norm1.norm", "encoder.layers.0.norm2.norm"),
        refused="norm1",
    ),
    "Orion": File(
        state=llama_block(P, L) | llama_norms(L, bias=True) | norm("model.norm"), norm=PRE_LAYER
    ),
    "PLaMo": File(
        state=four(P, "model.layers.layers.0.self_attn.", QKVO)
        | norm("model.layers.layers.0.norm", bias=False),
        refused="layers.0.norm",
    ),
    "PLaMo, said": File(
        state=four(P, "model.layers.layers.0.self_attn.", QKVO)
        | norm("model.layers.layers.0.norm", bias=False),
        options={"norm": "rms"},
        norm=PRE_RMS,
    ),
    "Yuan 2": File(
        state=llama_file() | beside(f"{L}self_attn.", "lf_gate.conv1"), refused="lf_gate"
    ),
    "SASRec, where only queries are normed": File(
        state=one(P.stacked, P, "attention_layers.0.", "in_proj out_proj")
        | norm("attention_layernorms.0", "forward_layernorms.0", "last_layernorm"),
        refused="attention_layernorms",
    ),
    "FT-Transformer": File(
        state=four(P, "blocks.0.attention.", "W_q W_k W_v W_out", bias=True)
        | norm("blocks.0.attention_normalization"),
        refused="W_out",
    ),
    "TabTransformer": File(
        state=one(P.stacked, P, "transformer.layers.0.0.fn.fn.", "to_qkv to_out")
        | norm("transformer.layers.0.0.fn.norm"),
        norm=PRE_LAYER,
    ),
    "Set Transformer": File(
        state=four(P, "enc.0.mab.", "fc_q fc_k fc_v fc_o", bias=True), refused="no usual names"
    ),
    "RoBERTa of fairseq": File(
        state=fairseq_block(P, "decoder.sentence_encoder.layers.0.")
        | norm("decoder.sentence_encoder.layers.0.self_attn_layer_norm")
        | norm("decoder.sentence_encoder.emb_layer_norm")
        | {"decoder.sentence_encoder.embed_positions.weight": drawn(9, D)},
        norm=POST_LAYER,
    ),
    "wav2vec 2.0 of fairseq, whose last norm stands before its layers": File(
        state=fairseq_block(P, "encoder.layers.0.")
        | norm("encoder.layers.0.self_attn_layer_norm", "encoder.layer_norm")
        | {"encoder.pos_conv.0.weight_g": drawn(1, 1, 3)},
        refused="self_attn_layer_norm",
    ),
    "mBART by its names": File(
        state=fairseq_block(P, "model.encoder.layers.0.")
        | norm("model.encoder.layers.0.self_attn_layer_norm", "model.encoder.layer_norm")
        | norm("model.encoder.layernorm_embedding"),
        norm=PRE_LAYER,
    ),
    "BigBird-Pegasus": File(
        state=four(P, "model.encoder.layers.0.self_attn.", "self.query self.key self.value output"),
        refused="self_attn.output",
    ),
    "MLX in four bits": File(
        state={
            f"{L}self_attn.{x}_proj.{end}": numpy.ones((D, 1), kind)
            for x in "qkvo"
            for end, kind in (
                ("weight", numpy.uint32),
                ("scales", numpy.float16),
                ("biases", numpy.float16),
            )
        },
        refused="MLX",
    ),
    "IDEFICS 2, with its resampler": File(
        state=llama_file("model.text_model.layers.0.")
        | four(P, "model.connector.perceiver_resampler.layers.0.self_attn.", QKVO)
        | norm(
            "model.connector.perceiver_resampler.layers.0.input_latents_norm",
            "model.connector.perceiver_resampler.layers.0.input_context_norm",
            bias=False,
        ),
        norm=PRE_RMS,
    ),
    "the Q-Former of BLIP-2": File(
        state=four(P, f"qformer.{e}attention.", vit, bias=True)
        | norm(f"qformer.{e}attention.output.LayerNorm")
        | four(P, f"qformer.{e}crossattention.", vit, bias=True)
        | norm(f"qformer.{e}crossattention.output.LayerNorm"),
        norm=POST_LAYER,
    ),
    "MONAI": File(
        state=one(P.stacked, P, f"vit.{b}attn.", "qkv out_proj") | norm(f"vit.{b}norm1"),
        refused="out_proj",
    ),
    "DUSt3R": File(
        state=vit_block(P, "dec_blocks.0.")
        | norm("dec_blocks.0.norm1", "dec_blocks.0.norm_y")
        | beside("dec_blocks.0.cross_attn.", "projq", "projk", "projv", "proj"),
        norm=PRE_LAYER,
    ),
    "the text of CLAP beside its sounds": File(
        state=bert_block(P, f"text_model.{e}")
        | norm(f"text_model.{e}attention.output.LayerNorm")
        | bert_block(P, "audio_model.audio_encoder.layers.0.blocks.0."),
        norm=POST_LAYER,
    ),
    "GroundingDINO": File(
        state=llama_file()
        | beside("fusion_layers.0.attn.", "v_proj", "l_proj", "values_v_proj", "out_v_proj"),
        refused="fusion_layers.0.attn",
    ),
    "a VQGAN": File(
        state={
            f"decoder.mid.attn_1.{x}.weight": y[:, :, None, None]
            for x, y in {"q": P.Q, "k": P.K, "v": P.V, "proj_out": P.O}.items()
        },
        refused="no usual names",
    ),
    "Stable Diffusion": File(
        state=four(
            P, "model.diffusion_model.1.transformer_blocks.0.attn1.", "to_q to_k to_v to_out.0"
        )
        | four(P, "model.diffusion_model.1.transformer_blocks.0.attn2.", "to_q to_k to_v to_out.0")
        | norm("model.diffusion_model.1.transformer_blocks.0.norm1")
        | fairseq_block(P, "cond_stage_model.text_model.encoder.layers.0.")
        | norm("cond_stage_model.text_model.encoder.layers.0.layer_norm1"),
        layers=2,
        norm=PRE_LAYER,
    ),
    "Megatron-DeepSpeed": File(
        state=one(P.by_group, P, "transformer.layers.0.attention.", "query_key_value dense"),
        refused="layout",
    ),
    "Llama with several experts": File(
        state=llama_file() | beside(f"{L}block_sparse_moe.", "gate", "experts.0.w1"), norm=PRE_RMS
    ),
    "PatchTST, with a BatchNorm": File(
        state=fairseq_block(P, "encoder.layers.0.")
        | norm("encoder.layers.0.norm_sublayer1.batchnorm")
        | {"encoder.layers.0.norm_sublayer1.batchnorm.running_mean": drawn(D)},
        refused="BatchNorm",
    ),
    "TinyViT, with a BatchNorm of convolutions": File(
        state=vit_block(P, "stages.1.blocks.0.", array=P.by_group)
        | norm("stages.1.blocks.0.attn.norm", "stages.1.blocks.0.mlp.norm")
        | norm("stages.1.blocks.0.local_conv.bn")
        | {"stages.1.blocks.0.local_conv.bn.running_mean": drawn(D)}
        | {"stages.1.blocks.0.attn.attention_biases": drawn(HEADS, 49)},
        norm=PRE_LAYER,
    ),
    "TimesFM": File(
        state=one(P.stacked, P, "layers.0.self_attn.", "qkv_proj o_proj")
        | {"layers.0.self_attn.scaling": drawn(A)}
        | norm("layers.0.input_layernorm", bias=False),
        refused="scaling",
    ),
    "Lag-Llama": File(
        state=four(P, "transformer.h.0.attn.", "q_proj kv_proj v c_proj"), refused="no usual names"
    ),
    "Enformer": File(
        state=four(P, "transformer.0.0.fn.1.", "to_q to_k to_v to_out")
        | beside("transformer.0.0.fn.1.", "to_rel_k")
        | {"transformer.0.0.fn.0.weight": drawn(D), "transformer.0.0.fn.0.bias": drawn(D)},
        refused="to_rel_k",
    ),
    "a Sequential of a norm and a layer": File(
        state=four(P, "layers.0.0.1.", "to_q to_k to_v to_out.0")
        | {"layers.0.0.0.weight": drawn(D), "layers.0.0.0.bias": drawn(D)},
        refused="layers.0.0.0.weight",
    ),
    "a Sequential of a norm and a layer, said": File(
        state=four(P, "layers.0.0.1.", "to_q to_k to_v to_out.0")
        | {"layers.0.0.0.weight": drawn(D), "layers.0.0.0.bias": drawn(D)},
        options={"norm": "layer"},
        norm=PRE_LAYER,
    ),
    "PEGASUS-X, with global tokens": File(
        state=fairseq_block(P, "model.encoder.layers.0.")
        | norm("model.encoder.layers.0.self_attn_layer_norm", "model.encoder.layer_norm")
        | norm("model.encoder.layers.0.global_self_attn_layer_norm"),
        refused="global tokens",
    ),
    "a StarCoder before it was one": File(
        state={
            "transformer.h.0.attn.q_attn.weight": P.Q,
            "transformer.h.0.attn.kv_attn.weight": numpy.vstack([P.K, P.V]),
            "transformer.h.0.attn.c_proj.weight": P.O,
        },
        refused="no usual names",
    ),
    "OLMoE": File(
        state=llama_file() | norm(f"{L}self_attn.q_norm", bias=False),
        config={"model_type": "olmoe", **SIZES},
        refused="norms queries or keys",
    ),
    "H3": File(
        state=four(P, "layers.0.mixer.", "q_proj k_proj v_proj output_linear")
        | {"layers.0.mixer.kernel.C": drawn(D, 4)},
        refused="mixer",
    ),
    "Yi without the matrix of its outputs": File(
        state={name: x for name, x in llama_file().items() if name != "lm_head.weight"},
        refused="1 \\+ γ",
    ),
    "Megatron BERT": File(
        state=bert_block(P, f"bert.{e}") | norm(f"bert.{e}attention.ln", f"bert.{e}ln"),
        norm=PRE_LAYER,
    ),
    "a layer with an adaptive norm of ones": File(
        state=vit_block(P, b) | {"final_layer.adaLN_modulation.1.weight": drawn(2 * D, D)},
        norm=None,
    ),
}
for file in FILES.values():
    for name in [name for name in file.state if name.endswith("in_proj.weight")]:
        file.state[name.replace("in_proj.weight", "in_proj_weight")] = file.state.pop(name)
