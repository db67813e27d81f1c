"""Multigraded implicitization: the ideal of the image of a polynomial map, degree by degree and weight by weight.

The same idea for general maps: Cummings, Hollering, *Computing implicitizations of multi-graded polynomial maps*,
arXiv 2311.07678. Ours: symmetries, proofs by substitution, and dimensions that are exact and not only probable.
"""

from __future__ import annotations

from collections.abc import Mapping

from m2bridge.errors import InvalidCaseError
from m2bridge.implicitization.blocks import Block, Layer
from m2bridge.implicitization.generators import Workshop, compute_block
from m2bridge.implicitization.layers import complete_layers
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
        A value of :func:`time.monotonic`, looked at between weights. When it has passed, the degrees completed so far
        are returned.
    seed : int
        Choice of random points. It can change the running time and the choice of generators, not dimensions or numbers.

    Raises
    ------
    InvalidCaseError
        If the degree is negative.

    Examples
    --------
    >>> from m2bridge.implicitization import multigraded_attention
    >>> from m2bridge.model.attention import SingleLayerAttention
    >>> implicitize(multigraded_attention(SingleLayerAttention(2, 2)), 4).generator_counts
    {2: 5, 4: 10}
    """
    if max_degree < 0:
        raise InvalidCaseError("max_degree", f"max_degree must not be negative, not {max_degree}")
    workshop = Workshop.of(source, max_degree, seed)

    def compute(weight: int, degree: int, layers: Mapping[int, Layer], orbit_size: int) -> Block:
        return compute_block(weight, degree, layers, orbit_size, workshop, keep_ideal=degree < max_degree)

    layers = complete_layers(workshop.system, max_degree, compute, deadline)
    blocks = [list(layer.blocks.values()) for layer in layers.values()]
    return Implicitization(
        source=source,
        max_degree=max(layers),
        requested_degree=max_degree,
        hilbert_function=tuple(sum(block.rank * block.orbit_size for block in row) for row in blocks),
        ideal_dimensions=tuple(sum(block.nullity * block.orbit_size for block in row) for row in blocks),
        orbits=_generator_orbits(layers),
        exact=all(block.exact for row in blocks for block in row),
        minimal=all(block.minimal for row in blocks for block in row),
    )


def _generator_orbits(layers: Mapping[int, Layer]) -> tuple[GeneratorOrbit, ...]:
    return tuple(
        GeneratorOrbit(
            degree,
            block.weight,
            block.generators,
            tuple(layer.orbits.transport(member)[1] for member in layer.orbits.members[weight]),
        )
        for degree, layer in layers.items()
        for weight, block in layer.blocks.items()
        if block.generators
    )
