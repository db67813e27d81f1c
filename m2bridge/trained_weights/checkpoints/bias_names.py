"""Biases of a layer, by the names that libraries give them.

A bias has the name of its matrix, with ``bias`` in place of ``weight``, ``b_Q`` of ``W_Q`` or
``Q_bias`` of ``Q``; a few models have names of their own, which the table of layouts says. Biases
come out in the form in which they are cut as their matrices are. A = KᵀQ has none of its own.

A *layout* is a row of the table of usual names in ``names.toml``, by the letters Q, K, V, A, O, and
KV for one array with K and V; the *star* is the text that ``*`` stands for in its names, as
``layers.0.attn.``. Q, K and V are *stacked* if one array holds all three.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from operator import itemgetter
from typing import Any

import numpy

from m2bridge.trained_weights.checkpoints.arrays import Tensor
from m2bridge.trained_weights.checkpoints.layouts import Layout, arrays_called


def biases_beside(
    stored: Mapping[str, Tensor], star: str, layout: Layout, available: Mapping[str, Tensor]
) -> dict[str, Tensor]:
    """Return the biases beside the matrices of a layer, by the letters of the matrices; a matrix
    without a bias is left out.

    Under O there may be a bias although the layer has no output matrix.

    Parameters
    ----------
    stored : dict
        The matrices by their letters, as they are in the file.
    star : str
        What ``*`` stands for in the names of the layout.
    layout : Layout
    available : dict
        All arrays by their names.
    """
    biases = {}
    for letter, name in layout.names.items():
        # Empty if the name of the matrix is of another form. An array of the file may have an empty
        # name, too, which is not a bias.
        usual_name = _bias_name(name.replace("*", star), letter)
        if usual_name and usual_name in available:
            biases[letter] = available[usual_name]
    # The layout may say names of biases that are not usual ones.
    unusual_biases = arrays_called(layout.biases, star, available)
    if unusual_biases:
        biases |= _cut_as_matrices(unusual_biases, stored)
    return biases


def _cut_as_matrices(
    biases: Mapping[str, Tensor], stored: Mapping[str, Tensor]
) -> Mapping[str, Tensor]:
    """Return biases with names that a layout says, by their letters, in the form in which they can
    be cut as the matrices are: as one array if Q, K and V are one array, and one by one if not.

    * Beside one array with Q, K and V two biases of Q and V, as BEiT has them, are put together,
      with zeros for K. Other biases beside one array are left out here, and refused later, as they
      belong to the layer.
    * Beside three matrices one bias for all, as PyTorch has it, is cut into three. Other biases are
      returned as they are.

    ``biases`` and ``stored``, the matrices, are by their letters; Q and K are among the matrices.
    """
    is_stacked = stored["Q"].name == stored["K"].name
    if is_stacked:
        can_be_stacked = biases.keys() == {"Q", "V"} and biases["Q"].shape == biases["V"].shape
        return _stacked_with_zeros(biases["Q"], biases["V"]) if can_be_stacked else {}
    names = {bias.name for bias in biases.values()}
    is_one_bias = biases.keys() == set("QKV") and len(names) == 1
    return _biases_in_thirds(biases["Q"]) if is_one_bias else biases


def _stacked_with_zeros(query: Tensor, value: Tensor) -> dict[str, Tensor]:
    """Return one array with the bias ``query`` of Q, then as many zeros for K, then the bias
    ``value`` of V; it is under both letters, Q and V. Both biases have the same shape.
    """

    def read() -> Any:
        """Return the biases of Q, then zeros for K, then those of V."""
        of_Q, of_V = query.array(), value.array()
        return numpy.concatenate([of_Q, numpy.zeros_like(of_Q), of_V])

    # Three vectors as one; other shapes do not change, and are refused where the bias is read.
    shape = (3 * query.shape[0],) if len(query.shape) == 1 else query.shape
    both = Tensor(f"{query.name}, {value.name}", shape, query.kind, read, sources=(query, value))
    return {"Q": both, "V": both}


def _biases_in_thirds(bias: Tensor) -> dict[str, Tensor]:
    """Return by their letters the biases of Q, K and V, in this order the thirds of one vector. For
    an array without thirds the result is empty; it is refused later, as it belongs to the layer.
    """
    if len(bias.shape) != 1 or bias.shape[0] % 3:
        return {}
    length = bias.shape[0] // 3
    found = {}
    for place, letter in enumerate("QKV"):
        own_entries = slice(place * length, (place + 1) * length)
        part = bias.changed(itemgetter(own_entries), (length,))
        found[letter] = replace(part, name=f"{bias.name} ({letter})")
    return found


def _bias_name(name: str, letter: str) -> str:
    """Return the usual name of the bias beside the matrix of this name, the Q, K, V, KV or O of a
    layer by ``letter``: ``q.bias`` for ``q.weight``, ``b_Q`` for ``W_Q``, ``Q_bias`` for ``Q``;
    empty for other names, and for A, which has no bias.
    """
    if letter == "A":
        return ""
    # ``weight`` or ``kernel`` as the last word of the name, in TensorFlow with ``:0`` after it.
    if match := re.search(r"(?<![^._/])(weight|kernel)(:0)?$", name):
        return f"{name[: match.start()]}bias{match[2] or ''}"
    if name.endswith(f"W_{letter}"):
        return name.removesuffix(f"W_{letter}") + f"b_{letter}"
    if re.search(rf"(?<![^._]){letter}$", name):
        return f"{name}_bias"
    return ""
