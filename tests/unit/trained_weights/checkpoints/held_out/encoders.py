"""BERT and its variants, T5 and translators."""

from __future__ import annotations

from tests.unit.trained_weights.checkpoints.held_out.files import (
    BERT,
    POST_LAYER,
    PRE_LAYER,
    PRE_RMS,
    QKV_OUT,
    SIZES,
    File,
    P,
    bert_block,
    beside,
    drawn,
    fairseq_block,
    four,
    norm,
    one,
)
from tests.unit.trained_weights.checkpoints.test_layouts import HEADS, A, D

e = "encoder.layer.0."
t5 = "encoder.block.0.layer.0."
FILES = {
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
        refused="layer_norm1",
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
        state=four(P, f"{t5}LocalSelfAttention.", "q k v o") | norm(f"{t5}layer_norm", bias=False),
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
        | one(P.stacked, P, "decoder.layers.0.", "multihead_attn.in_proj multihead_attn.out_proj")
        | norm("decoder.layers.0.norm1", "decoder.layers.0.norm2", "decoder.layers.0.norm3"),
        norm=POST_LAYER,
    ),
}
transformer = FILES["nn.Transformer"].state
for name in list(transformer):
    transformer[name.replace("in_proj.weight", "in_proj_weight")] = transformer.pop(name)
