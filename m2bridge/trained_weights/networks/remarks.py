"""Remarks on how the layers of a file were read, and for what the results hold."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from m2bridge.trained_weights.checkpoints.tensors import LayerTensors
from m2bridge.trained_weights.networks.layers import HeadResults


def find_remarks(
    layers: Sequence[LayerTensors],
    results: HeadResults,
    heads: int | None,
    *,
    separate: bool,
    rotary: bool,
) -> tuple[str, ...]:
    """Return remarks, as sentences.

    ``heads`` is the number of heads of each layer, as a user gave it; ``separate`` is whether the
    layers form no network, and ``rotary`` whether the model has rotary positions.
    """
    remarks = [*_remarks_on_arrays(layers, results, heads)]
    if any(traits.rotary for traits in results.traits.values()):
        remarks.append(
            "with rotary positions results on layers hold for all but finitely many numbers of"
            " tokens; results on a single head are about A = KᵀQ, for tokens at the same place"
        )
    elif rotary:
        remarks.append(
            "the model has rotary positions, which are left out: with them only those elements of"
            " GL(a) on K and Q preserve the function that commute with the rotations, and a bias of"
            " K changes it"
        )
    if separate:
        remarks.append(
            "nothing is said of a network as a whole: these layers do not follow one another, or"
            " have no output matrix"
        )
    elif (missing := _missing_number(layers)) is not None:
        remarks.append(
            "layers are taken to follow one another, though by their names there is no layer"
            f" {missing} between them"
        )
    for traits in results.traits.values():
        remarks.extend(traits.remarks())
    return tuple(dict.fromkeys(remarks))


def _remarks_on_arrays(
    layers: Sequence[LayerTensors], results: HeadResults, heads: int | None
) -> Iterator[str]:
    """Yield remarks on how arrays were divided among heads, and what was multiplied into them."""
    first, shape = layers[0], results.heads[0].shape
    are_matrices = all(len(part.shape) == 2 for part in first.parts.values())
    # One head seldom has a K with as many rows as tokens have entries.
    may_have_more = are_matrices and "K" in first.parts and shape.a >= shape.width > 1
    if heads is None and first.own_heads is None and may_have_more:
        yield "each layer is taken for one head: where it has more, give their number (--heads)"
    sharing = max(traits.sharing for traits in results.traits.values())
    if sharing > 1:
        yield (
            f"each {sharing} heads in a row share their keys and values, which are counted once;"
            " results on a head are about it alone"
        )
    if any(layer.is_stacked and layer.cut in ("by-head", "by-group") for layer in layers):
        yield (
            "Q, K and V are cut from one array head by head, or group by group, as models with this"
            " name or --layout say"
        )
    if any(map(_is_cut_by_assumption, layers)):
        yield (
            "Q, K and V are cut from one array as if values had as many entries as keys; otherwise"
            " give separate arrays"
        )
    norms = [layer.norm for layer in layers if layer.norm is not None]
    if any(norm.adds_one for norm in norms):
        title = "RMSNorm" if all(norm.kind.startswith("rms") for norm in norms) else "LayerNorm"
        yield f"the {title} multiplies by 1 + γ"
    if any(layer.has_factors for layer in layers):
        yield (
            "the factors of the outputs (LayerScale) are multiplied into O and its bias, exactly,"
            " and are counted with them"
        )


def _is_cut_by_assumption(layer: LayerTensors) -> bool:
    """Return whether Q, K and V of a layer are cut from one matrix on the assumption that each has
    a third of its rows: only of a matrix of three squares, 3n × n, that is certain.
    """
    shape = layer.parts["V"].shape
    return layer.is_stacked and len(shape) == 2 and max(shape) != 3 * min(shape)


def _missing_number(layers: Sequence[LayerTensors]) -> int | None:
    """Return the least number between the first and the last one in names of layers that no layer
    has: 5 for ``layers.4.attn`` and ``layers.6.attn``; ``None`` if there is none, or the names do
    not have one number each, of at most nine digits.
    """
    names_with_number = [re.fullmatch(r"\D*(\d{1,9})\D*", layer.name) for layer in layers]
    present = sorted({int(match[1]) for match in names_with_number if match is not None})
    if None in names_with_number:
        return None
    # The first gap between a number and the next one.
    return next((n + 1 for n, after in pairwise(present) if after > n + 1), None)
