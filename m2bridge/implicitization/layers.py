"""Degree after degree, dominant weight after dominant weight, until the last degree or the deadline."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from m2bridge.implicitization.blocks import Block, Layer, layer_zero, orbits_of_degree
from m2bridge.implicitization.weight_spaces import WeightSystem

BlockComputation = Callable[[int, int, Mapping[int, Layer], int], Block]
"""(weight, degree, degrees below, orbit size) → the block of a dominant weight."""


def complete_layers(
    system: WeightSystem, max_degree: int, compute: BlockComputation, deadline: float | None
) -> dict[int, Layer]:
    """The degrees 0, …, max_degree; only those that were completed before the deadline (a time.monotonic value)."""
    layers = {0: layer_zero(system)}
    for degree in range(1, max_degree + 1):
        orbits = orbits_of_degree(system, degree, layers)
        blocks: dict[int, Block] = {}
        for weight, members in orbits.members.items():
            if deadline is not None and time.monotonic() > deadline:
                return layers
            blocks[weight] = compute(weight, degree, layers, len(members))
        layers[degree] = Layer(orbits, blocks)
    return layers
