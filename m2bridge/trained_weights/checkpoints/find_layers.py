"""The layers of attention of a file, with what ``config.json`` beside it says of them.

What is not understood is refused: an array that belongs to a layer, and a number of heads, sides or
a cut that neither names nor shapes nor the configuration say.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

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
    check_factors,
    check_heads_are_known,
    check_no_bare_integers,
    check_norms,
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


def find_layers(
    source: Any,
    matrices: Mapping[str, Any],
    names: Mapping[str, str | None],
    heads: int | None,
    options: StoredOptions | None = None,
) -> tuple[list[LayerTensors], Mapping[str, Tensor], int | None]:
    """Return the layers, all arrays of the source by their names, and the number of heads of each
    layer, ``None`` if it is not known.

    Parameters
    ----------
    source : path, mapping or None
        A file, a folder, or a mapping from names to arrays; ``None`` if matrices are given.
    matrices : dict
        Matrices that are given by their letters K, Q, V, A, O; ``None`` for those that are not.
    names : dict
        Given names: see :func:`~.names.named_layers`.
    heads : int or None
        The number of heads that is given.
    options : StoredOptions or None

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
    ignored = options.ignored
    weights = {name: part for name, part in weights.items() if not ignored.fullmatch(name)}
    has_names = any(names.values())
    # What is merged has its arrays no longer under these names.
    if not has_names and (reason := refused_form(weights)):
        raise InvalidCaseError("weights", reason)
    weights = dequantized(weights)
    config = configuration(source) if isinstance(source, str | Path) else {}
    if has_names:
        layers = named_layers(weights, names, said)
        check_sides(layers, said)
    elif not (layers := _of_texts(usual_layers(weights, said))):
        raise InvalidCaseError(
            "query",
            "no usual names are in it: say query, key and value, or stacked; it holds"
            f" {listed(available)}",
        )
    # A layer whose names are given may lack what is usually read beside them, as its output matrix.
    usual = usual_layers(weights, said) if has_names else []
    if not has_names:
        check_outputs(layers, known_architecture(config, weights))
        check_no_bare_integers(layers)
    layers = [with_factors(layer, weights) for layer in layers]
    if not has_names:
        check_same_tokens(layers)
    check_accounted(layers, weights, options, known=usual)
    architecture = read_architecture(config)
    layers = with_norms_beside(layers, weights, said=options.norm, architecture=architecture)
    if architecture is None and options.norm is None:
        check_norms(layers)
        check_factors(layers, weights)
    if heads is None:
        heads = number_in(text_model(config), "heads")
        check_sizes(config, layers)
        check_shared_keys(config, layers)
    counts = _counts_of_heads(weights)
    layers = [_with_its_heads(layer, counts, heads) for layer in layers]
    if heads is None:
        check_heads_are_known(layers, is_configured=bool(config))
    layers = [_as_configured(layer, config, said) for layer in layers]
    if norms_add_one(config):
        layers = [_with_one_added(layer) for layer in layers]
    return layers, available, heads


def _of_texts(layers: list[LayerTensors]) -> list[LayerTensors]:
    """Return the layers of a model of texts, where there are some beside those of images or sounds,
    as the numbers of heads differ; else those of the encoder of images, without what stands behind
    it; else all.
    """
    behind = NAMES["behind_images"]
    before = [layer for layer in layers if not re.search(behind, layer.name)]
    texts = [layer for layer in before if not re.search(NAMES["images"], layer.name)]
    return texts or before or layers


def _counts_of_heads(available: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the matrices with a column for each head, by their names: positions of T5 and Swin."""
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
    """Return what the names of all arrays of the module of a layer begin with, in the file."""
    name = layer.parts["V"].name
    # The names of layers have dots for the slashes of a file, and of a module that is counted.
    place = name.replace("/", ".").find(layer.name)
    return name[: max(place, 0) + len(layer.name)]


def _is_of_same_model(name: str, layer: LayerTensors) -> bool:
    """Return whether an array is in the list of layers of which this one is: its name begins as
    that of the layer does, up to the first number.
    """
    beginning = re.split(r"\d", _beginning(layer), maxsplit=1)[0]
    return name.startswith(beginning)


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
    # Which tokens keys are of is known of a known model.
    return replace(
        layer, norm=norm, cut=cut, key_value_heads=architecture.key_value_heads, assumed=""
    )


def _with_one_added(layer: LayerTensors) -> LayerTensors:
    """The layer with the factors 1 + γ in its norm, if it has one."""
    if layer.norm is None:
        return layer
    return replace(layer, norm=replace(layer.norm, adds_one=True))


@dataclass(frozen=True, slots=True)
class Contents(Result):
    """The arrays in a file: what can be named in ``--query``, ``--key`` and ``--value``."""

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
        names = (item.name.encode("utf-8", "surrogatepass") for item in self.tensors)
        return f"names = {{{', '.join(map(quoted, names))}}}"


def contents(source: Any) -> Contents | None:
    """Return the arrays in a file without usual names; ``None`` where layers are recognized."""
    available = tensors(source)
    # What is refused by name is recognized, too.
    if refused_form(available) or usual_layers(without_copies(available)):
        return None
    return Contents(str(source), tuple(available.values()))
