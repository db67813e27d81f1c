"""Multigraded implicitization: the ideal of the image of a polynomial map, degree by degree and weight by weight.

Source: MATH.md section 5 of this project. The same idea for general maps: Cummings, Hollering, *Computing implicitizations
of multi-graded polynomial maps*, J. Symbolic Computation (2026), arXiv 2311.07678.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

from m2bridge.implicitization.blocks import Block, Layer, layer_zero, orbits_of_degree
from m2bridge.implicitization.generators import Workshop, compute_block
from m2bridge.implicitization.multigraded_map import MultigradedMap
from m2bridge.implicitization.result import GeneratorOrbit, Implicitization


def implicitize(
    source: MultigradedMap, max_degree: int, *, deadline: float | None = None, seed: int = 0
) -> Implicitization:
    """All minimal generators of degree ≤ max_degree of the ideal of the image, with proof, and the Hilbert function.

    Parameters
    ----------
    source : MultigradedMap
    max_degree : int
        In the degrees of the grading; for most maps total degree in the coordinates.
    deadline : float, optional
        A value of :func:`time.monotonic`. When it has passed, the degrees completed so far are returned.
    seed : int
        Choice of random points. It can change running time and choice of generators, not dimensions or numbers.

    Examples
    --------
    >>> from m2bridge.implicitization import multigraded_attention
    >>> from m2bridge.model.attention import SingleLayerAttention
    >>> implicitize(multigraded_attention(SingleLayerAttention(2, 2)), 4).generator_counts
    {2: 5, 4: 10}
    """
    workshop = Workshop.of(source, max_degree, seed)
    layers = {0: layer_zero(workshop.system)}
    for degree in range(1, max_degree + 1):
        layer = _layer(degree, layers, workshop, deadline, keep_ideal=degree < max_degree)
        if layer is None:
            break
        layers[degree] = layer
    return _result(source, layers, max_degree)


def _layer(
    degree: int, layers: Mapping[int, Layer], workshop: Workshop, deadline: float | None, *, keep_ideal: bool
) -> Layer | None:
    """All dominant weights of one degree; None if the time is over."""
    orbits = orbits_of_degree(workshop.system, degree, layers)
    blocks: dict[int, Block] = {}
    for weight, members in orbits.members.items():
        if deadline is not None and time.monotonic() > deadline:
            return None
        blocks[weight] = compute_block(weight, degree, layers, len(members), workshop, keep_ideal=keep_ideal)
    return Layer(orbits, blocks)


def _result(source: MultigradedMap, layers: Mapping[int, Layer], max_degree: int) -> Implicitization:
    blocks = [list(layer.blocks.values()) for layer in layers.values()]
    generator_orbits = [
        GeneratorOrbit(
            degree,
            block.weight,
            block.generators,
            tuple(layer.orbits.transport(member)[1] for member in layer.orbits.members[weight]),
        )
        for degree, layer in layers.items()
        for weight, block in layer.blocks.items()
        if block.generators
    ]
    return Implicitization(
        source=source,
        max_degree=max(layers),
        requested_degree=max_degree,
        hilbert_function=tuple(sum(block.rank * block.orbit_size for block in row) for row in blocks),
        ideal_dimensions=tuple(sum(block.nullity * block.orbit_size for block in row) for row in blocks),
        orbits=tuple(generator_orbits),
        exact=True,
        minimal=all(block.minimal for row in blocks for block in row),
    )
