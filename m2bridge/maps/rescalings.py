"""Rescalings of the parameters that do not change a composition: a torus in its gauge group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from m2bridge.algebra.linear_algebra import sparse_rank
from m2bridge.clock import watched
from m2bridge.maps.layer import Layer, support

Variable = str | tuple[int, int]
"""A parameter, or the hidden variable that is input i of a layer, as (number of the layer, i)."""


def rescaling_dimension(layers: Sequence[Layer]) -> int:
    """Dimension of the torus that rescales parameters and hidden variables and keeps inputs and outputs.

    Multiplying every variable v by λ^u(v), with integers u(v), commutes with all layers iff Σ e_v u(v) = u(y) for every
    monomial Π v^e_v in every output y. With u = 0 on the inputs and the outputs of the whole, the function stays the
    same. Generic parameters are not zero, so the orbits of this torus on them have the dimension
    dim {u} − dim {u : u = 0 on the parameters}. Both dimensions are exact ranks over QQ. All of this holds in every
    characteristic: a coefficient that vanishes modulo p only removes conditions.
    """
    rows = list(_conditions(layers))
    hidden = [{v: entry for v, entry in row.items() if not isinstance(v, str)} for row in watched(rows)]
    return sum(len(layer.parameters) for layer in layers) - sparse_rank(rows) + sparse_rank(hidden)


def _conditions(layers: Sequence[Layer]) -> Iterator[dict[Variable, int]]:
    """The coefficients of one linear equation in u for each monomial of each output."""
    for number, layer in enumerate(layers):
        inputs = len(layer.inputs)
        for j, image in enumerate(layer.polynomial_map.images):
            for monomial in watched(image):
                row: dict[Variable, int] = {} if number == len(layers) - 1 else {(number + 1, j): -1}
                for i, exponent in support(monomial):
                    if i >= inputs:
                        row[layer.parameters[i - inputs]] = exponent
                    elif number:
                        row[number, i] = exponent
                yield row
