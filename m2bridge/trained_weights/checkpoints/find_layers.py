"""The layers of attention of a file, with what ``config.json`` beside it says of them.

What is not understood is refused: an array that belongs to a layer, and a number of heads, sides or
a cut that neither names nor shapes nor the configuration say.

A layer, ``LayerTensors``, has its matrices as ``parts`` by the letters Q, K, V, O, their biases,
and the norm beside it; *sides* are whether matrices have the shape (out, in) or (in, out), and a
*cut* is how one array is divided into Q, K and V. What a user says of sides and cut, ``said``, is
taken before all else. ``NAMES`` are the tables of regular expressions in ``names.toml``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from m2bridge.errors import InvalidCaseError
from m2bridge.results.base import Result
from m2bridge.results.sheet import Sheet, Table, quoted, visible
from m2bridge.trained_weights.checkpoints.accounting import StoredOptions, check_accounted
from m2bridge.trained_weights.checkpoints.architecture import (
    known_architecture,
    norms_add_one,
    number_in,
    read_architecture,
    text_model,
)
from m2bridge.trained_weights.checkpoints.arrays import Tensor
from m2bridge.trained_weights.checkpoints.checks import (
    check_entries,
    check_factors,
    check_heads_are_known,
    check_no_bare_integers,
    check_norms,
    check_output_biases,
    check_outputs,
    check_same_tokens,
    check_shared_keys,
    check_sides,
    check_sizes,
)
from m2bridge.trained_weights.checkpoints.configuration import configuration
from m2bridge.trained_weights.checkpoints.factors import with_factors
from m2bridge.trained_weights.checkpoints.files import tensors
from m2bridge.trained_weights.checkpoints.layouts import StoredAs, stored_as
from m2bridge.trained_weights.checkpoints.names import (
    given_layer,
    listed,
    named_layers,
    usual_layers,
)
from m2bridge.trained_weights.checkpoints.norms_beside import with_norms_beside
from m2bridge.trained_weights.checkpoints.stored import (
    dequantized,
    merged,
    refused_form,
    without_copies,
)
from m2bridge.trained_weights.checkpoints.tensors import NAMES, LayerTensors


class LayersInSource(NamedTuple):
    """What is found in a file, a folder or a mapping.

    ``layers`` are the layers of attention in their order, and ``available`` all arrays of the
    source by their names, empty for matrices that are given by letters. ``head_count`` is the
    number of heads of each layer that an option or config.json says; ``None`` if neither does, so
    that shapes, or arrays beside a layer, say it, or each layer has one head.
    """

    layers: list[LayerTensors]
    available: Mapping[str, Tensor]
    head_count: int | None


def find_layers(
    source: Any,
    matrices: Mapping[str, Any],
    names: Mapping[str, str | None],
    heads: int | None,
    options: StoredOptions | None = None,
) -> LayersInSource:
    """Return the layers of attention, all arrays of the source, and the number of heads of each
    layer. Either a source or matrices are given.

    Parameters
    ----------
    source : path, mapping or None
        A file, a folder, or a mapping from names to arrays; ``None`` if matrices are given.
    matrices : dict
        Matrices that are given by their letters K, Q, V, A, O; ``None`` for those that are not.
    names : dict
        Given names of arrays by the options ``query``, ``key``, ``value``, ``stacked`` and
        ``output``; ``None`` for those that are not given.
    heads : int or None
        The number of heads that is given; ``None`` if none is.
    options : StoredOptions or None
        How weights are stored, and what is left out; ``None`` for what is usual.

    Raises
    ------
    InvalidCaseError
        If an array that belongs to a layer is not understood, or what is known of a layer does not
        fit.
    ConversionError, MethodUnavailableError, TooLargeError
        If a file cannot be read, a package for it is missing, or an array is too large.
    """
    options = options or StoredOptions()
    said = stored_as(options.layout)
    _check_head_count(heads)
    given = {letter: array for letter, array in matrices.items() if array is not None}
    if (source is None) == (not given):
        raise InvalidCaseError("weights", "give a file or a dictionary, or K, Q and V, or A and V")
    if given:
        layer = given_layer(given)
        check_entries([layer])
        return LayersInSource([layer], available={}, head_count=heads)
    available = tensors(source)
    has_names = any(names.values())
    weights = _weights_among(available, options, has_names=has_names)
    config = configuration(source) if isinstance(source, str | Path) else {}
    if has_names:
        layers = _layers_of_given_names(weights, names, said)
        # Where only some names are given, arrays with usual names beside them, as an output matrix,
        # are not read, but they are understood, and so not refused.
        check_accounted(layers, weights, options, known=usual_layers(weights, said))
    else:
        usual = usual_layers(weights, said)
        if not usual:
            raise _has_no_usual_names(available)
        layers = _understood_layers(usual, weights, config, count_biases=options.biases)
        check_accounted(layers, weights, options)
    layers = _with_known_norms(layers, weights, config, options.norm)
    # The number of heads is that of the option, else that of config.json.
    head_count = heads
    if heads is None:
        head_count = _configured_head_count(config, layers)
    # An array beside a layer may show the number of its heads, too, which has to be the same.
    counts = _counts_of_heads(weights)
    layers = [_with_its_heads(layer, counts, head_count) for layer in layers]
    if head_count is None:
        check_heads_are_known(layers, is_configured=bool(config))
    layers = [_as_configured(layer, config, said) for layer in layers]
    if norms_add_one(config):
        layers = [_with_one_added(layer) for layer in layers]
    return LayersInSource(layers, available=available, head_count=head_count)


def _check_head_count(heads: Any) -> None:
    """Check that a given number of heads is a positive integer, or ``None``, as it is not given;
    InvalidCaseError if it is something else.
    """
    # True is an int in Python, and no number of heads.
    is_number = isinstance(heads, int) and not isinstance(heads, bool)
    if heads is not None and (not is_number or heads < 1):
        raise InvalidCaseError("heads", f"must be at least 1, not {heads!r:.60}")


def _has_no_usual_names(available: Mapping[str, Tensor]) -> InvalidCaseError:
    """Return the error for a source none of whose arrays have usual names; it lists the arrays."""
    return InvalidCaseError(
        "query",
        "no usual names are in it: say query, key and value, or stacked; it holds"
        f" {listed(available)}",
    )


def _configured_head_count(config: Mapping[str, Any], layers: Sequence[LayerTensors]) -> int | None:
    """Return the number of heads of each layer that config.json says; ``None`` if it says none.

    ``config`` is the content of config.json, empty if there is no such file. InvalidCaseError if
    the shapes of Q and K of a layer contradict it.
    """
    check_sizes(config, layers)
    check_shared_keys(config, layers)
    return number_in(text_model(config), "heads")


def _layers_of_given_names(
    weights: Mapping[str, Tensor], names: Mapping[str, str | None], said: StoredAs
) -> list[LayerTensors]:
    """Return the layers whose arrays have the names that a user gives; where there are factors of
    the outputs (LayerScale), they are multiplied into O.

    ``weights`` are all arrays by their names, ``names`` the given names by their options, as in
    :func:`find_layers`, and ``said`` is what a user says of how arrays are stored.

    Raises
    ------
    InvalidCaseError
        If a name is missing, or fits no array, or nothing says if matrices are (out, in).
    """
    layers = named_layers(weights, names, said)
    check_entries(layers)
    check_sides(layers, said)
    return [with_factors(layer, weights) for layer in layers]


def _understood_layers(
    usual: list[LayerTensors],
    weights: Mapping[str, Tensor],
    config: Mapping[str, Any],
    *,
    count_biases: bool,
) -> list[LayerTensors]:
    """Return the layers of the model of texts, as :func:`_layers_of_texts` chooses them; where
    there are factors of the outputs (LayerScale), they are multiplied into O.

    Parameters
    ----------
    usual : list of LayerTensors
        All layers with usual names.
    weights : dict
        All arrays by their names.
    config : dict
        The content of config.json, empty if there is none.
    count_biases : bool
        Whether the biases of layers count: if not, an output bias without O is not refused.

    Raises
    ------
    InvalidCaseError
        If a matrix has no entries; if an output matrix, or the scales of integers, are missing; or
        if a layer may have keys of other tokens.
    """
    layers = _layers_of_texts(usual)
    check_entries(layers)
    check_outputs(layers, known_architecture(config, weights))
    if count_biases:
        check_output_biases(layers)
    check_no_bare_integers(layers)
    layers = [with_factors(layer, weights) for layer in layers]
    check_same_tokens(layers)
    return layers


def _with_known_norms(
    layers: list[LayerTensors],
    weights: Mapping[str, Tensor],
    config: Mapping[str, Any],
    said: str | None,
) -> list[LayerTensors]:
    """Return the layers, each with the norm before or after it, as names and config.json say.

    ``weights`` are all arrays by their names, ``config`` is the content of config.json, empty if
    there is none, and ``said`` the option ``norm``, ``None`` if it is not given.

    Raises
    ------
    InvalidCaseError
        If nothing says of a norm of which kind it is, where it stands, or what its factors are.
    """
    architecture = read_architecture(config)
    found = with_norms_beside(layers, weights, said=said, architecture=architecture)
    # Without config.json and option, names have to say what norms are.
    if architecture is None and said is None:
        check_norms(found)
        check_factors(found, weights)
    return found


def _weights_among(
    available: Mapping[str, Tensor], options: StoredOptions, *, has_names: bool
) -> Mapping[str, Tensor]:
    """Return the arrays that are weights, by their names: changed by the adapter if one is given,
    without copies and ignored arrays, and with integers multiplied by their scales.

    ``has_names`` is whether a user gives names of matrices; then no form is refused by its names.

    Raises
    ------
    InvalidCaseError
        If arrays have a form that is not read, such as blocks of few bits.
    """
    weights = available
    if options.adapter is not None:
        weights = merged(available, options.adapter)
    weights = without_copies(weights)
    ignored = options.ignored
    weights = {name: part for name, part in weights.items() if not ignored.fullmatch(name)}
    # An adapter was merged before, so that its arrays, which would be refused, are gone.
    reason = "" if has_names else refused_form(weights)
    if reason:
        raise InvalidCaseError("weights", reason)
    return dequantized(weights)


def _layers_of_texts(layers: list[LayerTensors]) -> list[LayerTensors]:
    """Return those of the layers that are of a model of texts, as layers of images or sounds beside
    them may have other numbers of heads.

    If there are none, return the layers of the encoder of images without those of decoders that
    take its outputs, as in SAM; if there are none of these either, all layers.
    """
    decoders = NAMES["behind_images"]
    not_of_decoders = [layer for layer in layers if not re.search(decoders, layer.name)]
    of_texts = [layer for layer in not_of_decoders if not re.search(NAMES["images"], layer.name)]
    return of_texts or not_of_decoders or layers


def _counts_of_heads(available: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return by their names the matrices of relative positions, as in T5 and Swin: they have a
    column for each head, and so show the number of heads.
    """
    expressions = NAMES["counts_heads"].values()
    found = {}
    for name, part in available.items():
        has_name = any(re.search(expression, name) for expression in expressions)
        if has_name and len(part.shape) == 2:
            found[name] = part
    return found


def _with_its_heads(
    layer: LayerTensors, available: Mapping[str, Tensor], heads: int | None
) -> LayerTensors:
    """Return the layer with the number of its heads, ``own_heads``, where an array beside it has a
    column for each head; else the layer as it is.

    ``available`` has by their names the matrices with a column for each head of some layer, and
    ``heads`` is the number that an option or config.json says, or ``None``.

    Raises
    ------
    InvalidCaseError
        If an array has another number of columns than ``heads``.
    """
    for name, part in available.items():
        if not _counts_heads_of(name, layer):
            continue
        columns = part.shape[1]
        if heads not in (None, columns):
            raise InvalidCaseError(
                "heads",
                f"'{visible(name):.120}' is {part.size_text}, with an entry for each of"
                f" {columns} heads, and not of {heads}",
            )
        return replace(layer, own_heads=columns)
    return layer


def _counts_heads_of(name: str, layer: LayerTensors) -> bool:
    """Return whether an array with a column for each head, by its name, is about this layer: it is
    in the module of the layer, as in Swin, or about all layers of its model, as in T5, which has
    one such array in the first layer.
    """
    counts = NAMES["counts_heads"]
    if re.search(counts["of_layer"], name) and name.startswith(_beginning(layer)):
        return True
    return re.search(counts["of_model"], name) is not None and _is_of_same_model(name, layer)


def _beginning(layer: LayerTensors) -> str:
    """Return what the names of all arrays of the module of a layer begin with in the file: the name
    of V up to the end of the name of the layer in it, as ``encoder.layer_0.``.
    """
    name = layer.parts["V"].name
    # The name of the layer has dots where that of V has slashes. If it is not found, as the number
    # of a counted module was put in front, as many letters are taken from the beginning.
    place = max(name.replace("/", ".").find(layer.name), 0)
    return name[: place + len(layer.name)]


def _is_of_same_model(name: str, layer: LayerTensors) -> bool:
    """Return whether the array of this name is of the model of which the layer is: both names begin
    alike, up to the first number in that of the layer.
    """
    beginning = re.split(r"\d", _beginning(layer), maxsplit=1)[0]
    return name.startswith(beginning)


def _as_configured(
    layer: LayerTensors, configuration: Mapping[str, Any], said: StoredAs
) -> LayerTensors:
    """Return the layer with what its architecture says of the number of keys, of the kind and place
    of its norm, and of the cut of one array; as it is if the configuration names no known
    architecture.

    ``said`` is what a user says of how arrays are stored: a cut in it is kept.
    """
    architecture = read_architecture(configuration)
    if architecture is None:
        return layer
    norm = layer.norm
    if norm is not None and architecture.norm is not None:
        # A norm with β is a LayerNorm whatever is said.
        is_layer_norm = norm.beta is not None or architecture.norm.startswith("layer")
        kind: Any = "layer" if is_layer_norm else "rms"
        place: Any = {"before": "pre", "after": "post"}[architecture.norm_place]
        # What names leave open, or take for granted, is said by the configuration.
        norm = replace(norm, kind=kind, place=place, asks="", assumed="")
    cut = layer.cut
    if said.cut is None and layer.is_stacked:
        cut = architecture.cut or layer.cut
    # Of a known model it is known whether keys are of the same tokens: nothing is assumed.
    return replace(
        layer, norm=norm, cut=cut, key_value_heads=architecture.key_value_heads, assumed=""
    )


def _with_one_added(layer: LayerTensors) -> LayerTensors:
    """Return the layer with the factors 1 + γ, in place of γ, in its norm, if it has one."""
    if layer.norm is None:
        return layer
    return replace(layer, norm=replace(layer.norm, adds_one=True))


@dataclass(frozen=True, slots=True)
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
        return f"names = {{{', '.join(map(quoted, names))}}}"


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
