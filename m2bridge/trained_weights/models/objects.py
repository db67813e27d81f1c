"""The layers of a model in memory, of any library that is known.

An object is a module of PyTorch, or one around it, as PEFT, ``DataParallel`` and ``torch.compile``
make it. Its class says the library; a class that none of them has is refused, with the modules in
it that are known. Arrays are accounted for as in files: an array of a layer that is not
understood is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from m2bridge.errors import InvalidCaseError
from m2bridge.trained_weights.checkpoints.accounting import StoredOptions, check_accounted
from m2bridge.trained_weights.checkpoints.arrays import file_names
from m2bridge.trained_weights.checkpoints.checks import (
    check_entries,
    check_no_bare_integers,
    check_queries,
)
from m2bridge.trained_weights.checkpoints.find_layers import LayersInSource
from m2bridge.trained_weights.checkpoints.names import in_order
from m2bridge.trained_weights.checkpoints.stored import merged, with_factors
from m2bridge.trained_weights.checkpoints.tensors import LayerTensors
from m2bridge.trained_weights.models.description import ReadModel
from m2bridge.trained_weights.models.modules import (
    ModuleTree,
    class_name,
    classes_of,
    computing_class,
    is_of,
    not_known,
)
from m2bridge.trained_weights.models.torch_modules import KNOWN, read_torch
from m2bridge.trained_weights.models.transformer_lens import (
    BRIDGE,
    ENCODER,
    HOOKED,
    read_bridge,
    read_hooked,
)
from m2bridge.trained_weights.models.transformers_models import (
    PRETRAINED,
    read_part,
    read_transformers,
)


class LayersInObject(NamedTuple):
    """What is found in a model in memory: as in a file, and what the model says of itself."""

    found: LayersInSource
    model: ReadModel


_AROUND = {
    "torch._dynamo.eval_frame.OptimizedModule": "_orig_mod",
    "torch.nn.parallel.data_parallel.DataParallel": "module",
    "torch.nn.parallel.distributed.DistributedDataParallel": "module",
}
"""Modules around a whole model: the attribute that has it."""
_PEFT = "peft.peft_model.PeftModel"


def find_layers_in_object(
    source: Any, matrices: Mapping[str, Any], heads: int | None, options: StoredOptions
) -> LayersInObject:
    """Return the layers of a module of PyTorch, beside which no ``matrices`` may be given.
    InvalidCaseError for what is not understood.
    """
    if any(array is not None for array in matrices.values()):
        raise InvalidCaseError("weights", "give an object, or K, Q and V, or A and V")
    if options.layout is not None:
        raise InvalidCaseError(
            "layout", "is not for an object, whose modules say how it is stored: leave it out"
        )
    tree, model = _read(_unwrapped(source), options)
    ignored = options.ignored
    layers = list(_without_ignored(model.layers, ignored))
    if not layers:
        raise InvalidCaseError("ignore", "leaves no layer of the object")
    layers = in_order(layers)
    idle = _arrays_of_idle_adapters(layers, tree.tensors)
    available = {name: part for name, part in tree.tensors.items() if name not in idle}
    weights = {name: part for name, part in available.items() if not ignored.fullmatch(name)}
    check_entries(layers)
    check_no_bare_integers(layers)
    layers = [with_factors(layer, weights) for layer in layers]
    check_accounted(layers, weights, options)
    check_queries(layers)
    counts = {layer.head_count(None) for layer in layers}
    if heads is not None and counts != {heads}:
        numbers = " and ".join(map(str, sorted(counts)))
        raise InvalidCaseError("heads", f"the object says {numbers}, and not {heads}: leave it out")
    head_count = counts.pop() if len(counts) == 1 else None
    return LayersInObject(LayersInSource(layers, available, head_count), model)


def _unwrapped(source: Any) -> Any:
    """Return the model inside modules that are around whole models."""
    while True:
        classes = classes_of(source)
        if _PEFT in classes:
            kinds = {
                str(getattr(one.peft_type, "value", one.peft_type))
                for one in source.peft_config.values()
            }
            if kinds != {"LORA"}:
                raise not_known(
                    "",
                    source,
                    f"has adapters of the kind {', '.join(sorted(kinds)):.60}, not only of LoRA",
                    "merge them first (merge_and_unload)",
                )
            source = source.base_model.model
            continue
        inner = [attribute for name, attribute in _AROUND.items() if name in classes]
        if not inner:
            return source
        source = getattr(source, inner[0])


def _read(source: Any, options: StoredOptions) -> tuple[ModuleTree, ReadModel]:
    """Return the modules and the layers of a model, with the adapter of the options merged."""
    classes = classes_of(source)
    if BRIDGE in classes:
        if options.adapter is not None:
            raise InvalidCaseError("adapter", "is not for a bridge: give the model inside it")
        return read_bridge(source)
    tree = ModuleTree.of(source)
    if options.adapter is not None:
        tree = replace(tree, tensors=merged(tree.tensors, options.adapter))
    if PRETRAINED in classes:
        return tree, read_transformers(tree)
    if HOOKED in classes or ENCODER in classes:
        return tree, read_hooked(tree)
    if computing_class(source) in KNOWN:
        return tree, read_torch(tree)
    if is_of(source, "transformers.models"):
        return tree, read_part(tree)
    raise not_known("", source, "is not a model that is known", _known_inside(tree))


def _known_inside(tree: ModuleTree) -> str:
    """Return the advice to give one of the modules in a module that are known, if there are any."""
    known: list[tuple[str, str]] = []
    for path, (*_, module) in tree.chains.items():
        is_inside = any(path.startswith(f"{other}.") for other, _ in known)
        is_known = computing_class(module) in KNOWN or PRETRAINED in classes_of(module)
        if path and is_known and not is_inside:
            known.append((path, class_name(module)))
    if not known:
        return ""
    first = ", ".join(f"'.{path:.80}' ({name:.60})" for path, name in known[:3])
    return f"give one of the modules inside it, {first}"


def _without_ignored(
    layers: Iterable[LayerTensors], ignored: re.Pattern[str]
) -> Iterator[LayerTensors]:
    """Yield the layers without arrays that are ignored: biases and norms; a layer whose matrices
    all are ignored is left out.
    """
    for layer in layers:
        matrices = [bool(ignored.fullmatch(name)) for name in file_names(layer.parts.values())]
        if all(matrices):
            continue
        if any(matrices):
            raise InvalidCaseError(
                "ignore", f"names some matrices of the layer '{layer.name:.120}', and not all"
            )
        biases = {
            letter: bias
            for letter, bias in layer.biases.items()
            if not any(map(ignored.fullmatch, bias.file_names))
        }
        norm = layer.norm
        if norm is not None and ignored.fullmatch(norm.gamma.name):
            norm = None
        elif norm is not None and norm.beta is not None and ignored.fullmatch(norm.beta.name):
            norm = replace(norm, beta=None)
        yield replace(layer, biases=biases, norm=norm)


def _arrays_of_idle_adapters(
    layers: Iterable[LayerTensors], available: Iterable[str]
) -> frozenset[str]:
    """Return the names of the arrays of adapters beside matrices of layers that the matrices do not
    have in them, as these adapters are not active, or merged already.
    """
    parts = [part for layer in layers for part in layer.parts.values()]
    places = tuple(f"{part.name.rpartition('.')[0]}.lora_" for part in parts)
    used = file_names(parts)
    return frozenset(name for name in available if name.startswith(places) and name not in used)


def arrays_of_object(source: Any) -> dict[str, Any]:
    """Return all arrays of a module of PyTorch by their names."""
    return {name: part.read() for name, part in ModuleTree.of(_unwrapped(source)).tensors.items()}
