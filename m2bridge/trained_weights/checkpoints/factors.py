"""LayerScale: the outputs of a layer times diag(γ), which O takes exactly.

diag(γ)·(Σ_h O_h V_h … + b) has the matrices diag(γ)·O_h and the bias γ∘b, so that the layer with
its factors is a layer of this model. Products of numbers with 24 bits or fewer are exact in double
precision; others are fractions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy

from m2bridge.trained_weights.checkpoints.arrays import Tensor, as_fractions
from m2bridge.trained_weights.checkpoints.stored import check_few_fractions
from m2bridge.trained_weights.checkpoints.tensors import NAMES, LayerTensors

_SHORT = ("float16", "bfloat16", "float32")
"""The types of which a product of two is exact in double precision."""


def with_factors(layer: LayerTensors, available: Mapping[str, Tensor]) -> LayerTensors:
    """Return the layer with the factors γ of its outputs multiplied into O and its bias; as it is
    if it has no factors.

    ``available`` has all arrays by their names. Factors beside a layer without O, or with another
    number of entries than its outputs have, are not read: they are refused later, as arrays that
    belong to the layer.
    """
    output = layer.parts.get("O")
    if output is None or len(output.shape) < 2:
        return layer
    gamma = _factors_beside(output, available)
    # O has the shape (d', heads·v), or (heads, d', v).
    outputs = output.shape[-2]
    if gamma is None or gamma.shape != (outputs,):
        return layer
    parts = {**layer.parts, "O": _scaled_rows(output, gamma, is_matrix=True)}
    biases = dict(layer.biases)
    if "O" in biases:
        biases["O"] = _scaled_rows(biases["O"], gamma, is_matrix=False)
    return replace(layer, parts=parts, biases=biases, has_factors=True)


def _factors_beside(output: Tensor, available: Mapping[str, Tensor]) -> Tensor | None:
    """Return the array of factors beside O, ``output``, by its name: the only one in the innermost
    block around O that has any. ``None`` if no block has one, or this block has several.
    """
    # The name of one array, also where O is made from several: these are in the same blocks.
    name = min(output.file_names)
    # The beginnings of the name up to each dot or slash: ``layers.``, ``layers.0.``, ….
    blocks = [name[: match.start() + 1] for match in re.finditer(r"[./]", name)]
    # The innermost block comes first: an outer one holds other layers too.
    for block in reversed(blocks):
        found = []
        for other, part in available.items():
            # The expression fits the rest of a name behind the block, with the dot or slash at the
            # end of the block in front.
            end = other[len(block) - 1 :]
            if other.startswith(block) and re.fullmatch(NAMES["factors"], end):
                found.append(part)
        if found:
            return found[0] if len(found) == 1 else None
    return None


def _scaled_rows(part: Tensor, gamma: Tensor, *, is_matrix: bool) -> Tensor:
    """Return the tensor with γ_i times row i of a matrix, or, without ``is_matrix``, times entry i
    of a bias, exactly; the products are computed when it is read. A matrix with three indices
    (heads, d', v) has the rows i of all heads multiplied.

    Products of two numbers of 24 bits or fewer are exact in double precision; else they are
    fractions. When it is read, TooLargeError is raised if these are too many.
    """
    is_short = part.kind in _SHORT and gamma.kind in _SHORT

    def read() -> Any:
        """Read both arrays and return the products."""
        entries, factors = part.array(), gamma.array()
        if is_short:
            entries, factors = entries.astype(float), factors.astype(float)
        else:
            check_few_fractions(part)
            entries, factors = as_fractions(entries), as_fractions(factors)
        # As a column, the factors multiply the rows of the last two indices.
        product = entries * (factors[:, None] if is_matrix else factors)
        return numpy.asarray(product)

    return Tensor(part.name, part.shape, part.kind, read, sources=(part, gamma))
