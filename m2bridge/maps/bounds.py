"""Upper bounds for the dimension of the image of a composition that need no computation."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

from m2bridge.maps.layer import Layer, Row, support
from m2bridge.maps.model import UpperBound

Interval = tuple[int, int]


def chain_bounds(layers: Sequence[Layer]) -> tuple[UpperBound, ...]:
    """Bounds from the number of coordinates, and from the number of variables between two layers."""
    ambient = UpperBound(coordinate_bound(layers), "the number of coordinates")
    return (ambient,) if layers[0].inputs else (ambient, _narrow_place(layers))


def _narrow_place(layers: Sequence[Layer]) -> UpperBound:
    """Without inputs, the outputs of layer k have at most u_k = min(outputs, u_{k−1} + parameters) dimensions.

    Everything after layer k depends on these outputs and on the parameters that follow.
    """
    bound, place = 0, 0
    for number, layer in enumerate(layers, 1):
        bound += len(layer.parameters)
        if len(layer.outputs) < bound:
            bound, place = len(layer.outputs), number
    where = f"the outputs of layer {place} and the parameters after it" if place else "the number of parameters"
    return UpperBound(bound, where)


def coordinate_bound(layers: Sequence[Layer]) -> int:
    """The number of coordinates, or with inputs the number of monomials in them of the degrees that can occur.

    Each hidden variable is a polynomial in the inputs whose monomials have degrees in an interval; it is followed from
    layer to layer.
    """
    size = len(layers[0].inputs)
    if not size:
        return len(layers[-1].outputs)
    flowing: list[Interval | None] = [(1, 1)] * size
    for layer in layers:
        degrees = flowing + [(0, 0)] * len(layer.parameters)
        flowing = [_image_degrees(image, degrees) for image in layer.polynomial_map.images]
    return sum(_monomial_count(size, *interval) for interval in flowing if interval)


def _image_degrees(monomials: Sequence[Row], degrees: Sequence[Interval | None]) -> Interval | None:
    """The degrees of a polynomial in variables of such degrees; ``None`` is the zero polynomial."""
    found = []
    for monomial in monomials:
        factors = [(exponent, degrees[i]) for i, exponent in support(monomial)]
        known = [(exponent, interval) for exponent, interval in factors if interval]
        if len(known) == len(factors):
            found.append([sum(exponent * interval[end] for exponent, interval in known) for end in (0, 1)])
    return (min(low for low, _ in found), max(high for _, high in found)) if found else None


def _monomial_count(variables: int, low: int, high: int) -> int:
    """Number of monomials in this many variables with degree from ``low`` to ``high``."""
    return comb(variables + high, variables) - (comb(variables + low - 1, variables) if low else 0)
