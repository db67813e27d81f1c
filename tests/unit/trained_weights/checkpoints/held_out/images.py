"""Models of images, texts beside images, and of networks of two kinds of attention."""

from __future__ import annotations

import numpy

from tests.unit.trained_weights.checkpoints.held_out.files import (
    BERT,
    PRE_LAYER,
    PRE_RMS,
    QKVO,
    SIZES,
    File,
    P,
    beside,
    drawn,
    fairseq_block,
    four,
    llama_file,
    norm,
    one,
    vit_block,
)
from tests.unit.trained_weights.checkpoints.test_layouts import HEADS, A, D

b = "blocks.0."
hf = "encoder.layer.0."
vit = "attention.query attention.key attention.value output.dense"
FILES = {
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
        assumed="--norm-before none if it stands after it, as in Swin 2",
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
            P.stacked, P, "vision_model.encoder.layers.0.self_attn.", "qkv projection", bias=True
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
        state=vit_block(P, b) | {f"{b}adaLN_modulation.1.weight": drawn(6 * D, D)}, refused="adaLN"
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
        state=beside("stages.0.blocks.0.", "mlp.fc1", "mlp.fc2") | norm("stages.0.blocks.0.norm1"),
        refused="no usual names",
    ),
    "FastViT": File(
        state=one(P.stacked, P, "stages.3.blocks.0.token_mixer.", "qkv proj"),
        refused="no usual names",
    ),
}
clip = FILES["open_clip with factors"].state
bind = FILES["ImageBind"].state
for state in (clip, bind):
    for name in list(state):
        state[name.replace("in_proj.weight", "in_proj_weight")] = state.pop(name)
