"""Degree after degree, dominant weight after dominant weight, until the last degree or the end of the time."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from m2bridge.clock import check
from m2bridge.errors import EngineTimeoutError
from m2bridge.implicitization.blocks import Block, Layer, layer_zero, orbits_of_degree
from m2bridge.implicitization.weight_spaces import WeightSystem

BlockComputation = Callable[[int, int, Mapping[int, Layer], int], Block]
"""(weight, degree, degrees below, orbit size) → the block of a dominant weight."""


def complete_layers(system: WeightSystem, max_degree: int, compute: BlockComputation) -> dict[int, Layer]:
    """The degrees 0, …, max_degree; only those that were completed in the time that there is."""
    layers = {0: layer_zero(system)}
    for degree in range(1, max_degree + 1):
        try:
            layers[degree] = _layer(system, degree, layers, compute)
        except EngineTimeoutError:
            break
    return layers


def _layer(system: WeightSystem, degree: int, layers: Mapping[int, Layer], compute: BlockComputation) -> Layer:
    orbits = orbits_of_degree(system, degree, layers)
    blocks: dict[int, Block] = {}
    for weight, members in orbits.members.items():
        check()
        blocks[weight] = compute(weight, degree, layers, len(members))
    return Layer(orbits, blocks)
