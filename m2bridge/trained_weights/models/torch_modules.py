"""PyTorch's own modules of attention: MultiheadAttention, and the layers and stacks made of it.

``nn.MultiheadAttention`` normalizes its scores by softmax, and multiplies them by 1/√a. A layer of
``nn.TransformerEncoder`` or ``Decoder`` adds its input, and has a LayerNorm before the attention,
with ``norm_first``, or after it. Cross-attention of a decoder acts on other tokens, and is left
out. Keys and values of other widths, further keys (``bias_k``, ``add_zero_attn``) and subclasses
with a ``forward`` of their own are refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from m2bridge.trained_weights.checkpoints.architecture import Architecture
from m2bridge.trained_weights.checkpoints.norms import NormTensors
from m2bridge.trained_weights.checkpoints.tensors import LayerTensors
from m2bridge.trained_weights.models.description import ObjectDescription, ReadModel
from m2bridge.trained_weights.models.modules import ModuleTree, computing_class, not_known

ATTENTION = "torch.nn.modules.activation.MultiheadAttention"
_LAYERS = (
    "torch.nn.modules.transformer.TransformerEncoderLayer",
    "torch.nn.modules.transformer.TransformerDecoderLayer",
)
_STACKS = (
    "torch.nn.modules.transformer.TransformerEncoder",
    "torch.nn.modules.transformer.TransformerDecoder",
    "torch.nn.modules.transformer.Transformer",
)
KNOWN = (ATTENTION, *_LAYERS, *_STACKS)
"""The computing classes of the modules that are read."""
_LAYER_NORM = "torch.nn.modules.normalization.LayerNorm"


def read_torch(tree: ModuleTree) -> ReadModel:
    """Return the layers of a module of PyTorch itself."""
    computing = computing_class(tree.root)
    paths = [""] if computing in (ATTENTION, *_LAYERS) else list(_paths_of_layers(tree))
    is_alone = computing == ATTENTION
    modules = [tree.module(path) for path in paths]
    places = {bool(getattr(module, "norm_first", False)) for module in modules}
    if not paths or len(places) > 1:
        raise not_known("", tree.root, "has no layers, or norms at different places of its layers")
    (norm_first,) = places
    layers = tuple(_layer(tree, path, norm_first=norm_first) for path in paths)
    attentions = [tree.module(layer.name.removesuffix(".")) for layer in layers]
    config: dict[str, Any] = {}
    epsilons = {module.norm1.eps for module in modules if not is_alone}
    if len(epsilons) == 1:
        config["layer_norm_eps"] = epsilons.pop()
    return ReadModel(
        description=ObjectDescription(
            library="torch",
            class_name=type(tree.root).__name__,
            scales=tuple(module.head_dim**-0.5 for module in attentions),
            dropout=max(float(module.dropout) for module in attentions),
        ),
        layers=layers,
        config=config,
        architecture=Architecture(
            name=f"nn.{computing.rpartition('.')[2]}",
            softmax=True,
            skip=not is_alone,
            norm=None if is_alone else "layer",
            norm_place="pre" if norm_first else "post",
            rotary=False,
            heads=None,  # each layer has its number
            key_value_heads=None,
            head_size=None,
            tied_embeddings=False,
        ),
    )


def _paths_of_layers(tree: ModuleTree) -> Iterator[str]:
    """Yield the paths of the layers in a stack, in its order; a layer of another class is refused,
    as what it computes, and where it stands in the stack, is not known.
    """
    for path, chain in tree.chains.items():
        stack, _, number = path.rpartition(".")
        if stack.rpartition(".")[2] != "layers" or not number.isdecimal():
            continue
        if computing_class(chain[-1]) not in _LAYERS:
            raise not_known(path, chain[-1], "is not a layer of PyTorch")
        around = tree.module(stack.rpartition(".")[0])
        if computing_class(around) not in _STACKS:
            raise not_known(stack, around, "is not a stack of PyTorch")
        yield path


def _layer(tree: ModuleTree, path: str, *, norm_first: bool) -> LayerTensors:
    """Return the attention of the tokens to themselves in the module of a path: a layer, or the
    attention itself.
    """
    module = tree.module(path)
    if computing_class(module) == ATTENTION:
        return _attention(tree, path, norm=None)
    prefix = f"{path}." if path else ""
    norm = tree.module(f"{prefix}norm1")
    if computing_class(norm) != _LAYER_NORM:
        raise not_known(f"{prefix}norm1", norm, "is not a LayerNorm of PyTorch")
    gamma = tree.tensors.get(f"{prefix}norm1.weight")
    if gamma is None:
        raise not_known(f"{prefix}norm1", norm, "has no factors γ")
    own_norm = NormTensors(
        kind="layer",
        gamma=gamma,
        beta=tree.tensors.get(f"{prefix}norm1.bias"),
        place="pre" if norm_first else "post",
    )
    return _attention(tree, f"{prefix}self_attn", norm=own_norm)


def _attention(tree: ModuleTree, path: str, *, norm: NormTensors | None) -> LayerTensors:
    """Return the layer of a module ``nn.MultiheadAttention``."""
    module = tree.module(path)
    prefix = f"{path}." if path else ""
    if computing_class(module) != ATTENTION:
        raise not_known(path, module, "is not an nn.MultiheadAttention whose function is known")
    if module.bias_k is not None or module.bias_v is not None or module.add_zero_attn:
        raise not_known(path, module, "has a further key and value (bias_k or add_zero_attn)")
    stacked = tree.tensors.get(f"{prefix}in_proj_weight")
    if stacked is None:
        raise not_known(
            path,
            module,
            f"has keys of {module.kdim} and values of {module.vdim} entries, and queries of"
            f" {module.embed_dim}, so that it is not self-attention",
        )
    output = tree.linear(f"{prefix}out_proj")
    biases = {}
    if (bias := tree.tensors.get(f"{prefix}in_proj_bias")) is not None:
        biases = dict.fromkeys("QKV", bias)
    if output.bias is not None:
        biases["O"] = output.bias
    return LayerTensors(
        name=prefix,
        parts={**dict.fromkeys("QKV", stacked), "O": output.weight},
        biases=biases,
        norm=norm,
        own_heads=int(module.num_heads),
    )
