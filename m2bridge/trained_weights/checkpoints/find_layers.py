"""The layers of attention of a file, with what ``config.json`` beside it says of them.

What is not understood is refused: an array that belongs to a layer, and a number of heads, sides or
a cut that neither names nor shapes nor the configuration say.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from m2bridge.errors import InvalidCaseError
from m2bridge.results.sheet import visible
from m2bridge.trained_weights.checkpoints.accounting import StoredOptions, check_accounted
from m2bridge.trained_weights.checkpoints.architecture import (
    Architecture,
    architecture_by_names,
    norms_add_one,
    number_in,
    read_architecture,
    text_model,
)
from m2bridge.trained_weights.checkpoints.configuration import configuration
from m2bridge.trained_weights.checkpoints.factors import with_factors
from m2bridge.trained_weights.checkpoints.files import Tensor, tensors
from m2bridge.trained_weights.checkpoints.layouts import StoredAs, stored_as
from m2bridge.trained_weights.checkpoints.names import (
    given_layer,
    listed,
    named_layers,
    usual_layers,
)
from m2bridge.trained_weights.checkpoints.stored import (
    dequantized,
    merged,
    refused_form,
    without_copies,
)
from m2bridge.trained_weights.checkpoints.tensors import NAMES, LayerTensors


def is_understood(available: Mapping[str, Tensor]) -> bool:
    """Whether these arrays have usual names, of layers or of what is refused by name."""
    return bool(refused_form(available)) or bool(usual_layers(without_copies(available)))


def find_layers(
    source: Any,
    matrices: Mapping[str, Any],
    names: Mapping[str, str | None],
    heads: int | None,
    options: StoredOptions | None = None,
) -> tuple[list[LayerTensors], Mapping[str, Tensor], int | None]:
    """The layers, all arrays, and the number of heads of each layer if it is known.

    Raises
    ------
    InvalidCaseError
        If an array that belongs to a layer is not understood, or what is known of a layer does not
        fit.
    """
    options = options or StoredOptions()
    said = stored_as(options.layout)
    if heads is not None and (not isinstance(heads, int) or isinstance(heads, bool) or heads < 1):
        raise InvalidCaseError("heads", f"must be at least 1, not {heads!r:.60}")
    given = {letter: array for letter, array in matrices.items() if array is not None}
    if (source is None) == (not given):
        raise InvalidCaseError("weights", "give a file or a dictionary, or K, Q and V, or A and V")
    if given:
        return [given_layer(given)], {}, heads
    available = tensors(source)
    weights = available
    if options.adapter is not None:
        weights = merged(available, options.adapter)
    weights = without_copies(weights)
    has_names = any(names.values())
    # What is merged has its arrays no longer under these names.
    if not has_names and (reason := refused_form(weights)):
        raise InvalidCaseError("weights", reason)
    weights = dequantized(weights)
    config = configuration(source) if isinstance(source, str | Path) else {}
    if has_names:
        layers = named_layers(weights, names, said)
        _check_sides(layers, said)
    elif not (layers := _of_texts(usual_layers(weights, said))):
        raise InvalidCaseError(
            "query",
            "no usual names are in it: say query, key and value, or stacked; it holds"
            f" {listed(available)}",
        )
    # A layer whose names are given may lack what is usually read beside them, as its output matrix.
    usual = usual_layers(weights, said) if has_names else []
    if not has_names:
        _check_outputs(layers, read_architecture(config) or architecture_by_names(weights))
        _check_no_bare_integers(layers)
    layers = [with_factors(layer, weights, options.ignored) for layer in layers]
    check_accounted(layers, weights, options, known=usual)
    if read_architecture(config) is None and options.norm is None:
        _check_norms(layers)
        _check_factors(layers, weights)
    if heads is None:
        heads = number_in(text_model(config), "heads")
        _check_sizes(config, layers)
        _check_shared_keys(config, layers)
    counts = _counts_of_heads(weights)
    layers = [_with_its_heads(layer, counts, heads) for layer in layers]
    if heads is None:
        _check_heads_are_known(layers, is_configured=bool(config))
    layers = [_as_configured(layer, config, said) for layer in layers]
    if norms_add_one(config):
        layers = [_with_one_added(layer) for layer in layers]
    return layers, available, heads


def _of_texts(layers: list[LayerTensors]) -> list[LayerTensors]:
    """The layers without those of images or sounds, where there are others: the numbers of heads
    differ.
    """
    behind = NAMES["behind_images"]
    before = [layer for layer in layers if not re.search(behind, layer.name)]
    texts = [layer for layer in before if not re.search(NAMES["images"], layer.name)]
    return texts or before or layers


def _counts_of_heads(available: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The matrices with a column for each head, by their names."""
    expressions = NAMES["counts_heads"].values()
    return {
        name: part
        for name, part in available.items()
        if len(part.shape) == 2 and any(re.search(expression, name) for expression in expressions)
    }


def _with_its_heads(
    layer: LayerTensors, available: Mapping[str, Tensor], heads: int | None
) -> LayerTensors:
    """The layer with the number of its heads, where an array beside it has an entry for each.

    Raises
    ------
    InvalidCaseError
        If another number is known, or given.
    """
    counts = NAMES["counts_heads"]
    for name, part in available.items():
        # T5 has one for all layers, in the first of them.
        own = re.search(counts["of_layer"], name) and name.startswith(_beginning(layer))
        first = re.search(counts["of_model"], name) and _is_of_same_model(name, layer)
        if not (own or first):
            continue
        if heads not in (None, part.shape[1]):
            raise InvalidCaseError(
                "heads",
                f"'{visible(name):.120}' is {part.size_text}, with an entry for each of"
                f" {part.shape[1]} heads, and not of {heads}",
            )
        return replace(layer, own_heads=part.shape[1])
    return layer


def _beginning(layer: LayerTensors) -> str:
    """What the names of all arrays of a module of attention begin with."""
    name = layer.parts["V"].name
    # The names of layers have dots for the slashes of a file, and of a module that is counted.
    place = name.replace("/", ".").find(layer.name)
    return name[: max(place, 0) + len(layer.name)]


def _is_of_same_model(name: str, layer: LayerTensors) -> bool:
    """Whether an array is of the layers that differ from this one in their numbers only."""
    beginning = re.split(r"\d", _beginning(layer), maxsplit=1)[0]
    return name.startswith(beginning)


def _check_heads_are_known(layers: Iterable[LayerTensors], *, is_configured: bool) -> None:
    """Check that something says how many heads a layer has, if its shapes do not.

    Raises
    ------
    InvalidCaseError
        If nothing does.
    """
    for layer in layers:
        query = layer.parts.get("Q")
        # A is of one head; else the heads are the first index, if there are three.
        is_flat = query is not None and (layer.is_stacked or len(query.shape) == 2)
        if query is None or not is_flat or layer.is_one_head or layer.own_heads is not None:
            continue
        if is_configured:
            raise InvalidCaseError(
                "heads", "config.json does not say how many heads a layer has: give their number"
            )
        named = f"'{visible(query.name):.120}' is {query.size_text}"
        key = layer.parts["K"]
        is_shared = not layer.is_stacked and key.shape[:1] < query.shape[:1]
        if is_shared:
            named += f", '{visible(key.name):.120}' is {key.size_text}, as heads share their keys"
        raise InvalidCaseError(
            "heads",
            f"{named}, and nothing says how many heads a layer has: give their number, or the file"
            " in a folder with its config.json",
        )


def _check_outputs(layers: Iterable[LayerTensors], architecture: Architecture | None) -> None:
    """Check that layers of a known model have their output matrices.

    Raises
    ------
    InvalidCaseError
        If one has none: its outputs would be taken for other functions.
    """
    for layer in layers:
        if architecture is not None and "O" not in layer.parts and not layer.is_one_head:
            raise InvalidCaseError(
                "output",
                f"the layer of '{visible(layer.parts['V'].name):.120}' has no output matrix in this"
                f" file, which {architecture.name} has: give its name, or, for the layer without"
                " it, the names of query, key and value",
            )


_FEW_BITS = ("I8", "U8", "int8", "uint8")


def _check_no_bare_integers(layers: Iterable[LayerTensors]) -> None:
    """Check that no matrix under the name of a library holds integers of 8 bits as they are.

    Raises
    ------
    InvalidCaseError
        If one does: the weights are products with scales that are not in the file.
    """
    for layer in layers:
        for part in layer.parts.values():
            if part.kind in _FEW_BITS and not layer.is_one_head:
                raise InvalidCaseError(
                    "weights",
                    f"'{visible(part.name):.120}' holds integers of 8 bits, and no scales are"
                    " beside it: dequantize the model and save it in float16",
                )


def _check_norms(layers: Iterable[LayerTensors]) -> None:
    """Check that names say of which kind norms are, and on which side of their layers.

    Raises
    ------
    InvalidCaseError
        If models of one name differ in it.
    """
    for layer in layers:
        if layer.norm is not None and layer.norm.asks:
            raise InvalidCaseError(
                "norm", f"'{visible(layer.norm.gamma.name):.120}' {layer.norm.asks}"
            )


def _check_factors(layers: Iterable[LayerTensors], available: Iterable[str]) -> None:
    """Check that it is seen whether the norms of a whole model multiply by γ or by 1 + γ.

    Raises
    ------
    InvalidCaseError
        If it is not: its names are those of LLaMA and of Gemma.
    """
    names = list(available)
    gammas = NAMES["gammas"]
    if any(re.search(gammas["known"], name) for name in names):
        return
    if not any(re.search(gammas["model"], name) for name in names):
        return
    for layer in layers:
        norm = layer.norm
        if norm is not None and norm.kind == "rms" and re.search(gammas["norm"], norm.gamma.name):
            raise InvalidCaseError(
                "norm",
                f"'{visible(norm.gamma.name):.120}' has the name of an RMSNorm in LLaMA, which"
                " multiplies by γ, and of one in Gemma, which multiplies by 1 + γ: say rms or rms1",
            )


def _check_sizes(configuration: Mapping[str, Any], layers: Iterable[LayerTensors]) -> None:
    """Check that Q has the rows of as many heads as the configuration says, each of its size.

    Raises
    ------
    InvalidCaseError
        If it has others, as where matrices are divided among several files.
    """
    architecture = read_architecture(configuration)
    if architecture is None or architecture.heads is None or architecture.head_size is None:
        return
    rows = architecture.heads * architecture.head_size
    for layer in layers:
        query = layer.parts.get("Q")
        if query is None or layer.is_stacked or len(query.shape) != 2 or query.shape[0] == rows:
            continue
        raise InvalidCaseError(
            "heads",
            f"'{visible(query.name):.120}' is {query.size_text}, and the configuration says"
            f" {architecture.heads} heads with {architecture.head_size} rows each: if it is a part"
            " of a matrix, put the parts together; else give the number of heads",
        )


def _check_shared_keys(configuration: Mapping[str, Any], layers: Iterable[LayerTensors]) -> None:
    """Check that the rows of K are those of as many heads as the configuration says."""
    architecture = read_architecture(configuration)
    # Where the number is not said, the shapes of K and V do.
    if architecture is None or number_in(text_model(configuration), "groups") is None:
        return
    if architecture.heads is None:
        return
    heads, groups = architecture.heads, architecture.key_value_heads or 0
    for layer in layers:
        if layer.is_stacked or "Q" not in layer.parts or len(layer.parts["Q"].shape) != 2:
            continue
        query, key = layer.parts["Q"], layer.parts["K"]
        # What the rows are not divisible by is refused where the arrays are cut.
        if query.shape[0] * groups != key.shape[0] * heads:
            raise InvalidCaseError(
                "heads",
                f"'{visible(query.name):.60}' is {query.size_text} and '{visible(key.name):.60}' is"
                f" {key.size_text}, and the configuration says {heads} heads and"
                f" {groups} of keys and values: give the number of heads",
            )


def _as_configured(
    layer: LayerTensors, configuration: Mapping[str, Any], said: StoredAs
) -> LayerTensors:
    """The layer with what its architecture says of shared keys, of its norm, and of the cut of one
    array.
    """
    architecture = read_architecture(configuration)
    if architecture is None:
        return layer
    norm = layer.norm
    if norm is not None and architecture.norm is not None:
        kind: Any = "layer" if architecture.norm.startswith("layer") else "rms"
        # A norm with β is a LayerNorm whatever is said.
        kind = "layer" if norm.beta is not None else kind
        place: Any = {"before": "pre", "after": "post"}[architecture.norm_place]
        # What names leave open, or take for granted, is said by the configuration.
        norm = replace(norm, kind=kind, place=place, asks="", assumed="")
    cut = layer.cut
    if said.cut is None and layer.is_stacked:
        cut = architecture.cut or layer.cut
    return replace(layer, norm=norm, cut=cut, key_value_heads=architecture.key_value_heads)


_SIDES_SAID = re.compile(
    r"(^|[^A-Za-z])(weight|kernel|[A-Za-z]*_weight)(:0)?$|(^|[^A-Za-z])(W_?)?[QKVOA]\d*(?![A-Za-z])"
)
"""Names of matrices whose shape is known, (out, in) or (in, out)."""


def _is_symmetric(part: Tensor) -> bool:
    """Whether a matrix is its transpose, so that its sides need not be known."""
    if len(part.shape) != 2 or part.shape[0] != part.shape[1]:
        return False
    array = part.array()
    return bool((array == array.T).all())


def _check_sides(layers: Iterable[LayerTensors], said: StoredAs) -> None:
    """Check that names or shapes of matrices with given names say whether these are (out, in).

    Raises
    ------
    InvalidCaseError
        If neither does.
    """
    for layer in layers:
        query = layer.parts["Q"]
        if said.columns is not None or layer.is_stacked or len(query.shape) != 2:
            continue
        parts = [layer.parts[letter] for letter in "QKV"]
        if all(_SIDES_SAID.search(part.name) for part in parts):
            continue
        sides = [
            len({part.shape[side] for part in parts if len(part.shape) == 2}) for side in (0, 1)
        ]
        if query.shape[0] < query.shape[1] or (sides[1] == 1 and sides[0] > 1):
            continue
        if all(map(_is_symmetric, parts)):
            continue
        raise InvalidCaseError(
            "layout",
            f"'{visible(query.name):.60}' is {query.size_text}: neither its name nor its shape says"
            " whether it is (out, in), as in PyTorch, or (in, out), as in Flax, Keras and"
            " TensorFlow; give the layout, rows or columns",
        )


def _with_one_added(layer: LayerTensors) -> LayerTensors:
    """The layer with the factors 1 + γ in its norm, if it has one."""
    if layer.norm is None:
        return layer
    return replace(layer, norm=replace(layer.norm, adds_one=True))
