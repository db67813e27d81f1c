"""The layers of attention of a file, with what ``config.json`` beside it says of them.

What is not understood is an InvalidCaseError: an array that belongs to a layer, and a number of
heads, sides, a norm or a cut that neither names nor shapes nor the configuration say. A file that
cannot be read is a ConversionError, an array that is too large a TooLargeError.

A layer, ``LayerTensors``, has its matrices as ``parts`` by the letters Q, K, V, O, their biases,
and the norm beside it; *sides* are whether matrices have the shape (out, in) or (in, out), and a
*cut* is how one array is divided into Q, K and V. What a user says of sides and cut, ``said``, is
taken before all else. ``NAMES`` are the tables of regular expressions in ``names.toml``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from m2bridge.errors import InvalidCaseError
from m2bridge.results.base import Result
from m2bridge.results.sheet import Sheet, Table, m2_list, quoted, visible
from m2bridge.trained_weights.checkpoints.accounting import StoredOptions, check_accounted
from m2bridge.trained_weights.checkpoints.architecture import (
    Architecture,
    configuration,
    known_architecture,
    norms_add_one,
    number_in,
    read_architecture,
    text_model,
    unknown_model,
)
from m2bridge.trained_weights.checkpoints.array_names import NAMES
from m2bridge.trained_weights.checkpoints.arrays import Tensor, file_names
from m2bridge.trained_weights.checkpoints.checks import (
    check_entries,
    check_factors,
    check_heads_are_known,
    check_no_bare_integers,
    check_norms,
    check_output_biases,
    check_outputs,
    check_queries,
    check_same_tokens,
    check_shared_keys,
    check_sides,
    check_sizes,
    check_unknown_model,
)
from m2bridge.trained_weights.checkpoints.files import tensors
from m2bridge.trained_weights.checkpoints.layouts import StoredAs, stored_as
from m2bridge.trained_weights.checkpoints.names import (
    given_layer,
    listed,
    named_layers,
    usual_layers,
)
from m2bridge.trained_weights.checkpoints.norms import norm_beside
from m2bridge.trained_weights.checkpoints.stored import (
    dequantized,
    merged,
    refused_form,
    with_factors,
    without_copies,
)
from m2bridge.trained_weights.checkpoints.tensors import LayerTensors


class LayersInSource(NamedTuple):
    """What is found in a file, a folder or a mapping."""

    layers: list[LayerTensors]
    available: Mapping[str, Tensor]  # all arrays; empty for matrices that are given by letters
    head_count: int | None  # of each layer, that an option or config.json says


def find_layers(
    source: Any,
    matrices: Mapping[str, Any],
    names: Mapping[str, str | None],
    heads: int | None,
    options: StoredOptions | None = None,
) -> LayersInSource:
    """Return the layers of attention in a file, a folder, or a mapping from names to arrays, the
    source; or the layer of ``matrices`` by the letters K, Q, V, A, O, of which those that are not
    given are ``None``. Names of arrays are given by the options ``query``, ``key``, ``value``,
    ``stacked`` and ``output``, or ``None``.
    """
    options = options or StoredOptions()
    said = stored_as(options.layout)
    # True is an int in Python, and no number of heads.
    if heads is not None and (not isinstance(heads, int) or isinstance(heads, bool) or heads < 1):
        raise InvalidCaseError("heads", f"must be at least 1, not {heads!r:.60}")
    given = {letter: array for letter, array in matrices.items() if array is not None}
    if (source is None) == (not given):
        raise InvalidCaseError("weights", "give a file or a dictionary, or K, Q and V, or A and V")
    if given:
        layer = given_layer(given)
        check_entries([layer])
        return LayersInSource([layer], available={}, head_count=heads)
    available = tensors(source)
    config = configuration(source) if isinstance(source, str | Path) else {}
    architecture = read_architecture(config)
    weights = _weights_among(available, options, has_names=any(names.values()))
    if any(names.values()):
        layers = named_layers(weights, names, said)
        check_entries(layers)
        check_sides(layers, said)
        layers = [with_factors(layer, weights) for layer in layers]
        # Where only some names are given, arrays with usual names beside them, as an output matrix,
        # are not read, but they are understood, and so not refused.
        check_accounted(layers, weights, options, known=usual_layers(weights, said))
    else:
        layers = layers_of_texts(usual_layers(weights, said))
        if not layers:
            raise InvalidCaseError(
                "query",
                "no usual names are in it: give the names of Q, K and V, or of a stacked array; it"
                " holds"
                f" {listed(available)}",
            )
        check_entries(layers)
        check_outputs(layers, known_architecture(config, weights))
        if options.biases:
            check_output_biases(layers)
        check_no_bare_integers(layers)
        layers = [with_factors(layer, weights) for layer in layers]
        check_same_tokens(layers)
        check_accounted(layers, weights, options)
    check_queries(layers)
    layers = _with_norms_beside(layers, weights, options.norm, architecture)
    # Without config.json and option, names have to say what norms are.
    if architecture is None and options.norm is None:
        check_norms(layers)
        check_factors(layers, weights)
        check_unknown_model(layers, unknown_model(config))
    head_count = heads
    if heads is None:
        check_sizes(config, layers)
        check_shared_keys(config, layers)
        head_count = number_in(text_model(config), "heads")
    layers = [_with_its_heads(layer, weights, head_count) for layer in layers]
    if head_count is None:
        check_heads_are_known(layers, is_configured=bool(config))
    if architecture is not None:
        layers = [_as_in(architecture, layer, said) for layer in layers]
    if norms_add_one(config):
        layers = [replace(layer, norm=layer.norm and layer.norm.adding_one()) for layer in layers]
    return LayersInSource(layers, available=available, head_count=head_count)


def _weights_among(
    available: Mapping[str, Tensor], options: StoredOptions, *, has_names: bool
) -> Mapping[str, Tensor]:
    """Return the arrays that are weights: changed by the adapter, without copies and ignored
    arrays, and with integers multiplied by their scales. Forms that are not read, such as blocks of
    few bits, are refused by their names, unless a user gives names of matrices, ``has_names``.
    """
    if options.adapter is not None:
        available = merged(available, options.adapter)
    ignored = options.ignored
    weights = {
        name: part
        for name, part in without_copies(available).items()
        if not ignored.fullmatch(name)
    }
    if not has_names and (reason := refused_form(weights)):
        raise InvalidCaseError("weights", reason)
    return dequantized(weights)


def layers_of_texts(layers: list[LayerTensors]) -> list[LayerTensors]:
    """Return the layers of the model of texts, as layers of images or sounds beside them may have
    other numbers of heads; if there are none, of the encoder of images, as in SAM.
    """
    encoders = [one for one in layers if not re.search(NAMES["behind_images"], one.name)]
    of_texts = [one for one in encoders if not re.search(NAMES["images"], one.name)]
    return of_texts or encoders or layers


def _with_its_heads(
    layer: LayerTensors, weights: Mapping[str, Tensor], heads: int | None
) -> LayerTensors:
    """Return the layer with ``own_heads`` where a matrix of relative positions beside it has a
    column for each head; InvalidCaseError if that is not the number ``heads`` that is said.

    Such a matrix is in the module of the layer, as in Swin, or in the first layer for all layers of
    its model, as in T5.
    """
    counts = NAMES["counts_heads"]
    # The layer's name has dots where that of V in the file has slashes. If it is not found, as the
    # number of a counted module was put in front, as many letters are taken from the beginning.
    in_file = layer.parts["V"].name
    place = max(in_file.replace("/", ".").find(layer.name), 0)
    module = in_file[: place + len(layer.name)]
    model = re.split(r"\d", module, maxsplit=1)[0]
    for name, part in weights.items():
        of_layer = re.search(counts["of_layer"], name) and name.startswith(module)
        of_model = re.search(counts["of_model"], name) and name.startswith(model)
        if len(part.shape) != 2 or not (of_layer or of_model):
            continue
        columns = part.shape[1]
        if heads not in (None, columns):
            raise InvalidCaseError(
                "heads",
                f"{part.quoted} is {part.size_text}, with an entry for each of {columns} heads, and"
                f" not of {heads}",
            )
        return replace(layer, own_heads=columns)
    return layer


def _with_norms_beside(
    layers: list[LayerTensors],
    weights: Mapping[str, Tensor],
    norm: str | None,
    architecture: Architecture | None,
) -> list[LayerTensors]:
    """Return the layers, of which those whose norm no rule of names shows have the norm beside them
    that the option ``norm``, or else the architecture, says to be before them.
    """
    kind = norm
    if norm is None and architecture is not None:
        # A norm after a layer changes nothing of what the layer determines.
        kind = architecture.norm if architecture.norm_place == "pre" else "none"
    if kind == "none":
        return layers
    used = file_names(part for layer in layers for part in layer.all_tensors())
    found = []
    for layer in layers:
        # One head was taken out of its model.
        if layer.norm is None and not layer.is_one_head:
            own = norm_beside(layer.name, layer.parts, weights, used, kind)
            layer = replace(layer, norm=own)
        found.append(layer)
    return found


def _as_in(architecture: Architecture, layer: LayerTensors, said: StoredAs) -> LayerTensors:
    """Return the layer with what its architecture says of the number of keys, of the kind and place
    of its norm, and of the cut of one array, unless a user has ``said`` it.
    """
    norm = layer.norm
    if norm is not None and architecture.norm is not None:
        norm = norm.in_model(architecture.norm, architecture.norm_place)
    cut = layer.cut
    if said.cut is None and layer.is_stacked:
        cut = architecture.cut or layer.cut
    # Of a known model it is known whether keys are of the same tokens: nothing is assumed.
    return replace(
        layer, norm=norm, cut=cut, key_value_heads=architecture.key_value_heads, assumed=""
    )


@dataclass(frozen=True, slots=True, repr=False)
class Contents(Result):
    """The arrays in a file, ``source``: one of these names can be given to each of the options
    ``--query``, ``--key`` and ``--value``.
    """

    source: str
    tensors: tuple[Tensor, ...]

    def to_sheet(self) -> Sheet:
        """Return a table with a line for each array."""
        rows = [(visible(item.name), item.size_text, item.kind) for item in self.tensors]
        return Sheet(f"Arrays in {visible(self.source)}", [Table(("name", "shape", "type"), rows)])

    def to_json(self) -> dict[str, Any]:
        """Return names, shapes and types for ``json.dumps``."""
        arrays = [{"name": t.name, "shape": list(t.shape), "type": t.kind} for t in self.tensors]
        return {"source": self.source, "arrays": arrays}

    def to_macaulay2(self) -> str:
        """Return the names as a list of Macaulay2."""
        # As bytes, which :func:`quoted` writes for Macaulay2: a name need not be valid Unicode.
        names = (item.name.encode("utf-8", "surrogatepass") for item in self.tensors)
        return f"names = {m2_list(map(quoted, names))}"


def contents(source: Any) -> Contents | None:
    """Return the arrays in a file, if no layers in it have usual names, so that a user has to give
    names; ``None`` if some have.
    """
    available = tensors(source)
    # Names of a form that is refused are known, too: names that a user gives would not help.
    is_refused = refused_form(available) != ""
    if is_refused or usual_layers(without_copies(available)):
        return None
    return Contents(str(source), tuple(available.values()))
