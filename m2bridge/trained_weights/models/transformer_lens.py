"""TransformerLens: the matrices of heads in ``HookedTransformer`` and ``TransformerBridge``.

These are W_Q, W_K and W_V of the shape (heads, d, a), and W_O of the shape (heads, a, d).

TransformerLens writes tokens as rows, x·W_Q: with tokens as columns, as here, Q of a head is the
transpose of its W_Q. Where heads share keys, a ``HookedTransformer`` has ``_W_K`` with an index of
groups, and its attribute ``W_K`` repeats them; a bridge has W_K with an index of groups. Query head
h reads group ⌊h·groups/heads⌋.

A bridge is around a model of transformers, which says the norms and the architecture; the matrices
are those of the bridge. Or it is around a model that TransformerLens builds from a configuration.
Where a bridge has processed its weights (``enable_compatibility_mode``: norms are folded into
matrices, and matrices centered), these are read, with the norms that are left, whose γ is 1.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from m2bridge.trained_weights.checkpoints.architecture import Architecture
from m2bridge.trained_weights.checkpoints.arrays import Tensor, torch_kind
from m2bridge.trained_weights.checkpoints.layouts import ORDERS, Layout, oriented
from m2bridge.trained_weights.checkpoints.norms import NormTensors
from m2bridge.trained_weights.checkpoints.tensors import LayerTensors
from m2bridge.trained_weights.models.description import ObjectDescription, ReadModel
from m2bridge.trained_weights.models.modules import (
    ModuleTree,
    class_name,
    classes_of,
    computing_class,
    is_of,
    not_known,
)
from m2bridge.trained_weights.models.transformers_models import PRETRAINED, read_transformers

HOOKED = "transformer_lens.HookedTransformer.HookedTransformer"
ENCODER = "transformer_lens.HookedEncoder.HookedEncoder"
BRIDGE = "transformer_lens.model_bridge.transformer_bridge.TransformerBridge"
_NATIVE = "transformer_lens.model_bridge.sources.native.model.NativeModel"
_NATIVE_ATTENTION = "transformer_lens.model_bridge.sources.native.model.NativeAttention"
_ATTENTIONS = (
    "transformer_lens.components.abstract_attention.AbstractAttention",
    "transformer_lens.components.attention.Attention",
    "transformer_lens.components.grouped_query_attention.GroupedQueryAttention",
)
_BY_HEAD = Layout(
    names={letter: f"W_{letter}" for letter in "QKVO"},
    index_orders=ORDERS["heads-d-a"],
    index_orders_said=True,
)
"""How TransformerLens stores matrices."""
_POSITIONS = {
    "standard": "",
    "rotary": "",
    "alibi": "ALiBi",
    "relative_positional_bias": "relative positions",
}
"""What scores say of positions in addition to rotations, by ``positional_embedding_type``."""
_NORMS = {"LN": "layer", "LNPRE": "layer", "RMS": "rms", "RMSPRE": "rms", "NONE": None}
"""The kinds of norms by ``normalization_type``; those that end in Pre have no arrays."""


def read_hooked(tree: ModuleTree) -> ReadModel:
    """Return the layers of a ``HookedTransformer``, or of the blocks of a ``HookedEncoder``."""
    model, cfg = tree.root, tree.root.cfg
    for block in (model, *model.blocks):
        if not is_of(block, "transformer_lens"):
            raise not_known("", block, "has methods that are not of TransformerLens itself")
    architecture = _architecture(model, cfg, is_encoder=ENCODER in classes_of(model))
    paths = [f"blocks.{number}" for number in range(len(model.blocks))]
    return ReadModel(
        description=ObjectDescription(
            library="transformer_lens",
            class_name=class_name(model),
            scales=tuple(1 / float(block.attn.attn_scale) for block in model.blocks),
            causal=cfg.attention_dir == "causal",
        ),
        layers=tuple(_hooked_layer(tree, path, architecture) for path in paths),
        config=_configuration(cfg, architecture),
        architecture=architecture,
    )


def _architecture(model: Any, cfg: Any, *, is_encoder: bool = False) -> Architecture:
    """Return the architecture that the configuration of TransformerLens says."""
    positions = _POSITIONS.get(str(cfg.positional_embedding_type).lower())
    if positions is None:
        raise not_known(
            "", model, f"has positions of the kind '{cfg.positional_embedding_type!s:.60}'"
        )
    if cfg.use_normalization_before_and_after:
        raise not_known("", model, "norms the outputs of its layers before they are added")
    kind = str(cfg.normalization_type).upper()
    if kind not in _NORMS:
        raise not_known("", model, f"has norms of the kind '{cfg.normalization_type!s:.60}'")
    return Architecture(
        name=f"{class_name(model)} of TransformerLens",
        softmax=True,
        skip=True,
        norm=_NORMS[kind],
        norm_place="post" if is_encoder else "pre",
        rotary=str(cfg.positional_embedding_type).lower() == "rotary",
        heads=int(cfg.n_heads),
        key_value_heads=int(cfg.n_key_value_heads or cfg.n_heads),
        head_size=int(cfg.d_head),
        tied_embeddings=False,  # the outputs have an array of their own
        positions=positions,
        norm_has_arrays=not kind.endswith("PRE"),
    )


def _configuration(cfg: Any, architecture: Architecture) -> dict[str, Any]:
    """Return in the words of config.json what a configuration of TransformerLens says."""
    config: dict[str, Any] = {"num_hidden_layers": int(cfg.n_layers), "norm_eps": float(cfg.eps)}
    if cfg.use_local_attn:
        config["sliding_window"] = cfg.window_size
    if cfg.attn_scores_soft_cap > 0:
        config["attn_logit_softcapping"] = cfg.attn_scores_soft_cap
    if cfg.use_qk_norm:
        config["use_qk_norm"] = True
    if architecture.rotary:
        config["rotary_dim"] = cfg.rotary_dim or cfg.d_head
    return config


def _hooked_layer(tree: ModuleTree, path: str, architecture: Architecture) -> LayerTensors:
    """Return the layer of a block of a ``HookedTransformer``."""
    attention = tree.module(f"{path}.attn")
    if computing_class(attention) not in _ATTENTIONS:
        raise not_known(f"{path}.attn", attention, "is not an attention of TransformerLens")
    parts: dict[str, Tensor] = {}
    biases: dict[str, Tensor] = {}
    for letter in "QKVO":
        for kind, found in (("W", parts), ("b", biases)):
            # Of shared keys and values only these are stored.
            names = (f"{path}.attn._{kind}_{letter}", f"{path}.attn.{kind}_{letter}")
            stored = [tree.tensors[name] for name in names if name in tree.tensors]
            if stored:
                found[letter] = stored[0]
    norm = None
    if architecture.norm is not None and architecture.norm_has_arrays:
        norm = NormTensors(
            kind=architecture.norm,
            gamma=tree.tensors[f"{path}.ln1.w"],
            beta=tree.tensors.get(f"{path}.ln1.b"),
            place=architecture.norm_place,
        )
    return LayerTensors(
        name=f"{path}.attn.",
        parts=oriented(parts, {}, _BY_HEAD),
        biases=biases,
        norm=norm,
        key_value_heads=architecture.key_value_heads,
    )


def read_bridge(bridge: Any) -> tuple[ModuleTree, ReadModel]:
    """Return the modules of the model in a ``TransformerBridge``, and its layers with the matrices
    of the bridge.
    """
    model = bridge.original_model
    tree = ModuleTree.of(model)
    if _NATIVE in classes_of(model):
        return tree, _read_native(tree, bridge)
    if PRETRAINED not in classes_of(model):
        raise not_known("", model, "is in the bridge, and is not a model of transformers")
    found = read_transformers(tree)
    layers = tuple(_bridge_layer(tree, layer) for layer in found.layers)
    description = replace(
        found.description,
        library="transformer_lens, around a model of transformers",
        class_name=f"{class_name(bridge)} of {found.description.class_name}",
        is_processed=bool(getattr(bridge, "_weights_processed", False)),
    )
    return tree, replace(found, layers=layers, description=description)


def _read_native(tree: ModuleTree, bridge: Any) -> ReadModel:
    """Return the layers of a model that TransformerLens builds itself (``boot_native``)."""
    cfg = bridge.cfg
    architecture = _architecture(bridge, cfg)
    layers, attentions = [], []
    for number in range(int(cfg.n_layers)):
        path = f"layers.{number}"
        attention = tree.module(f"{path}.attn")
        if computing_class(attention) != _NATIVE_ATTENTION:
            raise not_known(f"{path}.attn", attention, "is not an attention of TransformerLens")
        linear = {letter: tree.linear(f"{path}.attn.{letter.lower()}") for letter in "QKVO"}
        norm = None
        if architecture.norm is not None and architecture.norm_has_arrays:
            norm = NormTensors(
                kind=architecture.norm,
                gamma=tree.tensors[f"{path}.ln1.weight"],
                beta=tree.tensors.get(f"{path}.ln1.bias"),
                place="pre",
            )
        layers.append(
            LayerTensors(
                name=f"{path}.attn.",
                parts={letter: one.weight for letter, one in linear.items()},
                biases={letter: one.bias for letter, one in linear.items() if one.bias is not None},
                norm=norm,
                key_value_heads=architecture.key_value_heads,
                own_heads=architecture.heads,
            )
        )
        attentions.append(attention)
    return ReadModel(
        description=ObjectDescription(
            library="transformer_lens",
            class_name=class_name(bridge),
            is_processed=bool(getattr(bridge, "_weights_processed", False)),
            scales=tuple(1 / float(attention.scale) for attention in attentions),
            causal=cfg.attention_dir == "causal",
        ),
        layers=tuple(layers),
        config=_configuration(cfg, architecture),
        architecture=architecture,
    )


def _bridge_layer(tree: ModuleTree, layer: LayerTensors) -> LayerTensors:
    """Return a layer with the matrices and biases that its component of the bridge has."""
    path = layer.name.removesuffix(".")
    chains = (tree.chains[path], tree.chains.get(path.rpartition(".")[0], ()))
    components = [module for chain in chains for module in chain if hasattr(module, "W_Q")]
    if not components:
        raise not_known(path, tree.module(path), "has no W_Q, W_K, W_V and W_O in the bridge")
    component = components[0]
    parts, biases = {}, {}
    for letter in "QKVO":
        parts[letter] = _of_bridge(component, f"W_{letter}", layer.parts[letter])
        if getattr(component, f"b_{letter}", None) is not None and letter in layer.biases:
            biases[letter] = _of_bridge(component, f"b_{letter}", layer.biases[letter])
        elif letter in layer.biases:
            raise not_known(path, component, f"has no b_{letter}, and its model has this bias")
    if layer.norm is not None:
        _check_norm(tree, layer.norm.gamma.name.rpartition(".")[0])
    heads = layer.own_heads or 1
    if any(len(part.shape) != 3 for part in parts.values()) or parts["Q"].shape[0] != heads:
        raise not_known(path, component, "has no W_Q, W_K, W_V and W_O by heads")
    return replace(layer, parts=oriented(parts, {}, _BY_HEAD), biases=biases, cut="q-k-v")


def _check_norm(tree: ModuleTree, path: str) -> None:
    """Check that a component of a bridge has the γ of the norm inside it, also after weights were
    processed.
    """
    component, norm = tree.chains[path][0], tree.module(path)
    of_component = getattr(component, "weight", None)
    if of_component is None or of_component.data_ptr() != norm.weight.data_ptr():
        raise not_known(path, component, "has other factors γ than the norm inside it")


def _of_bridge(component: Any, name: str, source: Tensor) -> Tensor:
    """Return an attribute of a component of a bridge, computed when it is read; ``source`` is the
    array of the model from which it is made.
    """
    value = getattr(component, name)
    shape = tuple(map(int, value.shape))
    read = partial(getattr, component, name)
    return Tensor(f"{source.name} ({name})", shape, torch_kind(value), read, sources=(source,))
