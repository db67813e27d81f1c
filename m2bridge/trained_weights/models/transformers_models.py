"""Models of the library transformers: the modules say the matrices, the configuration the model.

A module of attention is known by its class, which is one of transformers itself, and by the linear
maps that it has, as ``q_proj``, ``k_proj``, ``v_proj`` and ``o_proj``. How many heads there are is
an attribute of the module, or of the configuration, and has to agree with the sizes. The
configuration says which model it is: the table ``architectures.toml`` has what its layers compute.
By which factors a norm multiplies, γ or 1 + γ, and of which kind it is, the class of the norm
shows, and the table has to agree with it.

Attention to other tokens is left out. Code from outside of the library (``trust_remote_code``) is
not known, and refused, as are models that are not in the table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from m2bridge.errors import InvalidCaseError
from m2bridge.trained_weights.checkpoints.architecture import (
    Architecture,
    norm_epsilon,
    number_in,
    read_architecture,
    text_model,
)
from m2bridge.trained_weights.checkpoints.array_names import kinds_of
from m2bridge.trained_weights.checkpoints.arrays import Tensor
from m2bridge.trained_weights.checkpoints.find_layers import layers_of_texts
from m2bridge.trained_weights.checkpoints.norms import NormTensors, norm_beside, norm_by_name
from m2bridge.trained_weights.checkpoints.tensors import LayerTensors
from m2bridge.trained_weights.models.adapters import merged_names
from m2bridge.trained_weights.models.description import ObjectDescription, ReadModel
from m2bridge.trained_weights.models.modules import ModuleTree, computing_class, is_of, not_known

PRETRAINED = "transformers.modeling_utils.PreTrainedModel"
"""The class of all models of transformers."""


class _Matrices(NamedTuple):
    """The names of the linear maps in a module of attention; O may stand in the module around."""

    Q: str
    K: str
    V: str
    O: str
    cut: str = "q-k-v"  # where one map has Q, K and V


_MATRICES = (
    *(_Matrices("q_proj", "k_proj", "v_proj", O) for O in ("o_proj", "out_proj", "dense")),
    _Matrices("q_lin", "k_lin", "v_lin", "out_lin"),
    _Matrices("q", "k", "v", "o"),
    _Matrices("query", "key", "value", "dense"),
    _Matrices("query", "key", "value", "../output.dense"),
    _Matrices("c_attn", "c_attn", "c_attn", "c_proj"),
    _Matrices("qkv_proj", "qkv_proj", "qkv_proj", "o_proj"),
    _Matrices("qkv_proj", "qkv_proj", "qkv_proj", "out_proj", cut="unknown"),
    _Matrices("query_key_value", "query_key_value", "query_key_value", "dense", cut="by-group"),
    _Matrices("Wqkv", "Wqkv", "Wqkv", "out_proj"),
    _Matrices("Wqkv", "Wqkv", "Wqkv", "Wo"),
)
"""What modules of attention have; the first that fits."""
_HEADS = ("num_attention_heads", "num_heads", "n_heads", "n_head")
_HEAD_SIZES = ("head_dim", "attention_head_size", "head_size", "key_value_proj_dim")
_SCALES = ("scaling", "scale", "inv_norm_factor")
"""The attributes of modules with the number of heads, of rows of each, and by what scores are
multiplied.
"""
_IDENTITY = "torch.nn.modules.linear.Identity"
_DROPOUTS = ("attention_dropout", "attn_dropout", "dropout", "attention_probs_dropout_prob")


def read_part(tree: ModuleTree) -> ReadModel:
    """Return the layers of a part of a model of transformers, as one of its blocks, whose modules
    of attention have the configuration. A module of attention alone may act on other tokens.
    """
    part = tree.root
    configs = [
        tree.module(path).config
        for path, _ in _attentions(tree)
        if path and hasattr(getattr(tree.module(path), "config", None), "to_dict")
    ]
    is_attention = "attention" in type(part).__name__.lower()
    if is_attention or not configs or any(config is not configs[0] for config in configs):
        raise not_known(
            "",
            part,
            "is a part of a model of transformers that is not known",
            "give a block, or the model, and leave out layers by ignore",
        )
    return read_transformers(tree, configs[0])


def read_transformers(tree: ModuleTree, config_of_part: Any = None) -> ReadModel:
    """Return the layers of a model of transformers, or of a part with this configuration."""
    model = tree.root
    config = (config_of_part or model.config).to_dict()
    architecture = read_architecture(config)
    if architecture is None:
        model_type = text_model(config).get("model_type") or config.get("model_type")
        raise not_known(
            "", model, f"has the model_type '{model_type!s:.60}', whose layers are not known"
        )
    layers = []
    for path, names in _attentions(tree):
        _check_is_of_the_library(tree, path)
        layers.append(_layer(tree, path, names, config, architecture))
    if not layers:
        raise not_known("", model, "has no module of attention that is understood")
    # The configuration is about texts, where a model has images, too.
    layers = layers_of_texts(layers)
    attentions = [tree.module(layer.name.removesuffix(".")) for layer in layers]
    layers = [_with_norm(layer, layers, tree, architecture) for layer in layers]
    config |= _epsilon_of_norms(layers, tree, config)
    scales = [_number(module, _SCALES) for module in attentions]
    causal = {getattr(module, "is_causal", None) for module in attentions}
    modules = [module for chain in tree.chains.values() for module in chain]
    return ReadModel(
        description=ObjectDescription(
            library="transformers",
            class_name=type(model).__name__,
            scales=() if None in scales else tuple(scale for scale in scales if scale is not None),
            causal=causal.pop() if len(causal) == 1 else None,
            dropout=max((_number(module, _DROPOUTS) or 0.0 for module in attentions), default=0.0),
            adapters=merged_names(modules),
        ),
        layers=tuple(layers),
        config=config,
        architecture=replace(architecture, tied_embeddings=_has_tied_embeddings(model)),
    )


def _attentions(tree: ModuleTree) -> Iterator[tuple[str, _Matrices]]:
    """Yield the paths of the modules of attention of tokens to themselves, and the names of their
    linear maps.
    """
    for path, chain in tree.chains.items():
        module = chain[-1]
        if not any("attention" in one.__name__.lower() for one in type(module).__mro__):
            continue
        children = tree.children(path)
        for names in _MATRICES:
            has_output = names.O in children or _around(path, names.O) in tree.chains
            if {names.Q, names.K, names.V} <= children and has_output:
                is_cross = "attention to other tokens" in kinds_of(f"{path}.")
                if not is_cross and not getattr(module, "is_cross_attention", False):
                    yield path, names
                break


def _around(path: str, name: str) -> str:
    """Return the path of a module by its name in the module of a path, or, after ``../``, in the
    one around it.
    """
    if name.startswith("../"):
        path, name = path.rpartition(".")[0], name.removeprefix("../")
    return f"{path}.{name}".removeprefix(".")


def _check_is_of_the_library(tree: ModuleTree, path: str) -> None:
    """Check that a module of attention, and the modules around it up to the model, belong to
    transformers, so that it is known what they compute.
    """
    words = path.split(".") if path else []
    for length in range(len(words) + 1):
        place = ".".join(words[:length])
        module = tree.module(place)
        # A place may have no module of its own, as where only its parts are around a module.
        if module is None or is_of(module, "transformers", "torch.nn.modules.container"):
            continue
        raise not_known(
            place,
            module,
            "is not of transformers itself, and what it computes is not known",
            "give the model of transformers inside it, if there is one",
        )


def _layer(
    tree: ModuleTree,
    path: str,
    names: _Matrices,
    config: Mapping[str, Any],
    architecture: Architecture,
) -> LayerTensors:
    """Return the layer of a module of attention, without its norm."""
    module = tree.module(path)
    parts, biases = {}, {}
    for letter in "QKVO":
        linear = tree.linear(_around(path, getattr(names, letter)))
        parts[letter] = _transposed(linear.weight) if linear.is_in_out else linear.weight
        if linear.bias is not None:
            biases[letter] = linear.bias
    layer = LayerTensors(
        name=f"{path}.".removeprefix("."),
        parts=parts,
        biases=biases,
        cut=names.cut,
        key_value_heads=architecture.key_value_heads,
    )
    heads = _head_count(module, layer, text_model(config), path)
    return replace(layer, own_heads=heads, cut=architecture.cut or layer.cut)


def _transposed(part: Tensor) -> Tensor:
    """Return a matrix (in, out) as (out, in)."""
    rows, columns = part.shape
    return part.changed(lambda array: array.T, (columns, rows))


def _head_count(module: Any, layer: LayerTensors, config: Mapping[str, Any], path: str) -> int:
    """Return the number of heads of a layer, as its module says it, or else the configuration; the
    number of rows of Q, divided by the number of rows of a head, has to be the same.
    """
    numbers = {getattr(module, name, None) for name in _HEADS}
    counts = {int(number) for number in numbers if type(number) is int}
    size = _whole(module, _HEAD_SIZES)
    if not layer.is_stacked and size:
        counts.add(layer.parts["Q"].shape[0] // size)
    if not counts and (number := number_in(config, "heads")) is not None:
        counts.add(number)
    if len(counts) != 1:
        said = f"says {' and '.join(map(str, sorted(counts)))} heads" if counts else "says no heads"
        raise not_known(path, module, said)
    (heads,) = counts
    columns = layer.parts["O"].shape[1]
    if size and heads * size != columns:
        raise InvalidCaseError(
            "weights",
            f"'{path:.120}' says {heads} heads with {size} rows each, and its output matrix has"
            f" {columns} columns: if the model is divided among devices, gather it first",
        )
    return heads


def _whole(module: Any, names: tuple[str, ...]) -> int | None:
    """Return the first of these attributes that is a positive integer."""
    for name in names:
        value = getattr(module, name, None)
        if type(value) is int and value > 0:
            return value
    return None


def _number(module: Any, names: tuple[str, ...]) -> float | None:
    """Return the first of these attributes that is a number, or a module of dropout."""
    for name in names:
        value = getattr(module, name, None)
        value = getattr(value, "p", value)  # the probability of a module of dropout
        if isinstance(value, float):
            return value
    return None


def _with_norm(
    layer: LayerTensors, layers: list[LayerTensors], tree: ModuleTree, architecture: Architecture
) -> LayerTensors:
    """Return a layer with its norm, of the kind and at the place that its architecture says, if the
    class of the norm is of this kind.
    """
    norm = norm_by_name(layer.parts["Q"].name, tree.tensors)
    if norm is None and architecture.norm_place == "pre" and architecture.norm_has_arrays:
        used = frozenset(
            name for other in layers for part in other.all_tensors() for name in part.file_names
        )
        norm = norm_beside(layer.name, layer.parts, tree.tensors, used, architecture.norm)
    if norm is None and architecture.norm_place == "pre" and architecture.norm_has_arrays:
        _check_has_no_norm(layer, tree, architecture)
    if norm is None or architecture.norm is None:
        return replace(layer, norm=None)
    path = norm.gamma.name.rpartition(".")[0]
    kind = _kind_of_norm(tree, path)
    if kind != architecture.norm:
        raise not_known(
            path,
            tree.module(path),
            f"is not a norm of the kind that {architecture.name} has ({architecture.norm})",
        )
    base = norm.in_model(architecture.norm, architecture.norm_place)
    return replace(
        layer, norm=NormTensors(kind=kind, gamma=base.gamma, beta=base.beta, place=base.place)
    )


def _check_has_no_norm(layer: LayerTensors, tree: ModuleTree, architecture: Architecture) -> None:
    """Check that a layer of a model with norms before its layers has the identity for a norm, as
    the first layer of ModernBERT has.
    """
    path = layer.name.removesuffix(".")
    block = path.rpartition(".")[0]
    identities = [
        name
        for name in tree.children(block)
        if computing_class(tree.module(f"{block}.{name}")) == _IDENTITY and "norm" in name
    ]
    if architecture.norm is not None and not identities:
        raise not_known(path, tree.module(path), "has no norm before it that is understood")


def _epsilon_of_norms(
    layers: list[LayerTensors], tree: ModuleTree, config: Mapping[str, Any]
) -> dict[str, Any]:
    """Return, as a part of a configuration that does not say it, what the norms of layers add to
    the variance, if all of them add the same.
    """
    if norm_epsilon(config) is not None:
        return {}
    gammas = [layer.norm.gamma.name for layer in layers if layer.norm is not None]
    norms = [tree.module(gamma.rpartition(".")[0]) for gamma in gammas]
    epsilons = {_number(norm, ("eps", "variance_epsilon")) for norm in norms}
    return {"norm_eps": epsilons.pop()} if len(epsilons) == 1 else {}


def _kind_of_norm(tree: ModuleTree, path: str) -> str:
    """Return the kind of a norm by its computing class: ``layer`` or ``rms``, with 1 where the
    factors are 1 + γ.
    """
    module = tree.module(path)
    *modules, name = computing_class(module).split(".")
    if name in ("NemotronLayerNorm1P",):
        return "layer1"
    if not is_of(module, "transformers", "torch", "apex"):
        raise not_known(path, module, "is a norm whose function is not known")
    if name.endswith("RMSNorm"):
        # The norms of all models of Gemma multiply by 1 + γ.
        return "rms1" if name.startswith("Gemma") else "rms"
    if name in ("T5LayerNorm", "MT5LayerNorm", "UMT5LayerNorm", "ImageGPTLayerNorm"):
        return "rms"
    if modules[:1] == ["torch"] and name == "LayerNorm":
        return "layer"
    if name in ("CohereLayerNorm", "Cohere2LayerNorm"):
        return "layer"
    raise not_known(path, module, "is a norm whose function is not known")


def _has_tied_embeddings(model: Any) -> bool:
    """Return whether the outputs of a model have the matrix of its embeddings, the same array."""
    try:
        inputs, outputs = model.get_input_embeddings(), model.get_output_embeddings()
    except (NotImplementedError, AttributeError):
        return False  # a model of several parts, as CLIP, has no outputs of this kind
    of_inputs, of_outputs = getattr(inputs, "weight", None), getattr(outputs, "weight", None)
    return of_outputs is not None and of_outputs is of_inputs
