"""Multigraded implicitization: the ideal of the image of a polynomial map, degree by degree and weight by weight.

The same idea for general maps: Cummings, Hollering, *Computing implicitizations of multi-graded polynomial maps*,
and their Macaulay2 package MultigradedImplicitization (mathrepo.mis.mpg.de/MultigradedImplicitization). Added here:
symmetries, proofs by substitution, and dimensions that are exact and not only probable.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from m2bridge.clock import watched
from m2bridge.errors import EngineTimeoutError, InvalidCaseError
from m2bridge.implicitization.blocks import Block, Layer
from m2bridge.implicitization.generators import Workshop, compute_block
from m2bridge.implicitization.layers import complete_layers
from m2bridge.implicitization.linear_part import (
    LinearPart,
    extended,
    in_all_coordinates,
    in_independent_coordinates,
    linear_part,
)
from m2bridge.implicitization.multigraded_map import MultigradedMap
from m2bridge.implicitization.result import GeneratorOrbit, Implicitization
from m2bridge.implicitization.symmetry import Permutation
from m2bridge.implicitization.weight_spaces import Monomial


def implicitize(source: MultigradedMap, max_degree: int, *, seed: int = 0) -> Implicitization:
    """All minimal generators of degree ≤ max_degree of the ideal of the image, with proof, and the Hilbert function.

    Within a limit of :mod:`m2bridge.clock`, those of the degrees that were completed.

    Parameters
    ----------
    source : MultigradedMap
    max_degree : int
        In the degrees of the grading; for most maps total degree in the coordinates.
    seed : int
        Choice of random points. It can change the running time, not dimensions or numbers.

    Raises
    ------
    InvalidCaseError
        If the degree is negative.
    EngineTimeoutError
        If the limit was reached before the first degree was begun.

    Examples
    --------
    >>> from sympy import symbols
    >>> from m2bridge.algebra.polynomial_map import PolynomialMap
    >>> from m2bridge.implicitization import multigraded
    >>> s, t = symbols("s t")
    >>> cubic = PolynomialMap.from_expressions([s, t], {"x": s**3, "y": s**2*t, "z": s*t**2, "w": t**3})
    >>> implicitize(multigraded(cubic), 3).generator_counts
    {2: 3}
    """
    computation = _Computation.of(source, max_degree, seed)
    return computation.result(computation.layers(max_degree, keep_last=False), max_degree)


def implicitize_and_look_ahead(
    source: MultigradedMap, max_degree: int, monomial: Monomial, *, seed: int = 0
) -> tuple[Implicitization, int | None]:
    """The same, and how many minimal generators there are in one weight of the next degree.

    Parameters
    ----------
    source : MultigradedMap
        In the standard grading; its coordinates are linearly independent.
    monomial : tuple of int
        Of degree ``max_degree`` + 1: the numbers of its coordinates, increasing. It has the weight.

    Returns
    -------
    Implicitization
    int or None
        The number; ``None`` if the time ended before.

    Raises
    ------
    InvalidCaseError, EngineTimeoutError
        As :func:`implicitize`.
    """
    computation = _Computation.of(source, max_degree + 1, seed)
    layers = computation.layers(max_degree, keep_last=True)
    found = computation.result(layers, max_degree)
    if found.stopped_early:
        return found, None
    workshop = computation.workshop
    weight = sum(workshop.system.packed[j] for j in monomial)
    try:
        block = compute_block(weight, max_degree + 1, layers, 1, workshop, keep_ideal=False)
    except EngineTimeoutError:
        return found, None
    return found, len(block.generators)


@dataclass(frozen=True, slots=True)
class _Computation:
    """A map, its linear relations and its symmetries, and what the weight spaces in independent coordinates share."""

    source: MultigradedMap
    part: LinearPart
    symmetries: tuple[Permutation, ...]
    workshop: Workshop

    @classmethod
    def of(cls, source: MultigradedMap, last_degree: int, seed: int) -> _Computation:
        if last_degree < 0:
            raise InvalidCaseError("max_degree", f"max_degree must not be negative, not {last_degree}")
        part = linear_part(source)
        independent = in_independent_coordinates(source, part)
        size = len(source.grading.degrees)
        symmetries = tuple(extended(permutation, part, size) for permutation in watched(independent.symmetries))
        return cls(source, part, symmetries, Workshop.of(independent, last_degree, seed))

    def layers(self, max_degree: int, *, keep_last: bool) -> dict[int, Layer]:
        """Degree by degree; the ideal in the last one is stored only if it is to be kept."""

        def compute(weight: int, degree: int, layers: Mapping[int, Layer], orbit_size: int) -> Block:
            keep_ideal = keep_last or degree < max_degree
            return compute_block(weight, degree, layers, orbit_size, self.workshop, keep_ideal=keep_ideal)

        return complete_layers(self.workshop.system, max_degree, compute)

    def result(self, layers: Mapping[int, Layer], requested: int) -> Implicitization:
        source, part = self.source, self.part
        blocks = [list(layer.blocks.values()) for layer in layers.values()]
        hilbert_values = tuple(sum(block.rank * block.orbit_size for block in row) for row in blocks)
        monomials = monomial_counts(source.grading.degrees, max(layers))
        return Implicitization(
            source=source,
            max_degree=max(layers),
            requested_degree=requested,
            hilbert_function=hilbert_values,
            ideal_dimensions=tuple(count - h for count, h in zip(monomials, hilbert_values, strict=True)),
            orbits=(*_linear_orbits(source, part, max(layers)), *_generator_orbits(part, self.symmetries, layers)),
            exact=all(block.exact for row in blocks for block in row),
        )


def _linear_orbits(source: MultigradedMap, part: LinearPart, max_degree: int) -> Iterator[GeneratorOrbit]:
    grading = source.grading
    for relation in part.relations:
        ((j,), _), *_ = relation
        if grading.degrees[j] <= max_degree:
            yield GeneratorOrbit(grading.degrees[j], grading.weights[j], (relation,), (), ())


def _generator_orbits(
    part: LinearPart, symmetries: tuple[Permutation, ...], layers: Mapping[int, Layer]
) -> Iterator[GeneratorOrbit]:
    for degree, layer in layers.items():
        for weight, block in layer.blocks.items():
            if block.generators:
                polynomials = tuple(in_all_coordinates(generator, part) for generator in block.generators)
                yield GeneratorOrbit(degree, block.weight, polynomials, symmetries, layer.orbits.tree(weight))


def monomial_counts(degrees: Sequence[int], max_degree: int) -> tuple[int, ...]:
    """The number of monomials of degree 0, …, max_degree in variables of the given degrees."""
    counts = [1] + [0] * max_degree
    for degree in degrees:
        for n in range(degree, max_degree + 1):
            counts[n] += counts[n - degree]
    return tuple(counts)
