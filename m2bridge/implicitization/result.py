"""What multigraded implicitization returns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from sympy.polys.rings import PolyElement, PolyRing

from m2bridge.algebra.ring import Ideal, PolynomialRing
from m2bridge.algebra.sparse_polynomial import Terms, exponents_of
from m2bridge.clock import watched
from m2bridge.startup import collection_paused

if TYPE_CHECKING:
    from m2bridge.algebra.lattice import Vector
    from m2bridge.implicitization.multigraded_map import MultigradedMap, Permutation


@dataclass(frozen=True, slots=True)
class GeneratorOrbit:
    """Minimal generators of one multidegree, and the symmetries that carry them to the other multidegrees of its orbit.

    Parameters
    ----------
    degree : int
    multidegree : vector of int
    polynomials : tuple of polynomials
        Each a tuple of (monomial, integer coefficient); a monomial is the sorted tuple of its coordinates' numbers.
    symmetries : tuple of permutations of the coordinates
    tree : tuple of (int, int)
        For each further multidegree of the orbit, the number of an earlier one and the number of the symmetry that
        leads from there to it.
    """

    degree: int
    multidegree: Vector
    polynomials: tuple[Terms, ...]
    symmetries: tuple[Permutation, ...]
    tree: tuple[tuple[int, int], ...]

    @property
    def size(self) -> int:
        """The number of multidegrees in the orbit."""
        return len(self.tree) + 1

    @property
    def generator_count(self) -> int:
        """The number of generators in all multidegrees of the orbit together."""
        return self.size * len(self.polynomials)

    def expand(self) -> Iterator[Terms]:
        """The generators of all multidegrees of the orbit, one multidegree after the other."""
        images = [self.polynomials]
        yield from self.polynomials
        for previous, number in self.tree:
            symmetry = self.symmetries[number]
            images.append(tuple(_moved(polynomial, symmetry) for polynomial in images[previous]))
            yield from images[-1]


def _moved(polynomial: Terms, permutation: Permutation) -> Terms:
    return tuple([(tuple(sorted([permutation[j] for j in monomial])), c) for monomial, c in polynomial])


@dataclass(frozen=True, slots=True)
class Implicitization:
    """All minimal generators of the ideal of the image up to some degree, and its Hilbert function.

    Nothing is claimed about generators of higher degree.

    Parameters
    ----------
    source : MultigradedMap
        The map, its grading (``degrees`` say what degree means) and its symmetries.
    max_degree : int
        The last degree that was completed.
    requested_degree : int
        The degree asked for; larger than ``max_degree`` if the time ended first.
    hilbert_function : tuple of int
        H(0), …, H(max_degree), dimensions of the coordinate ring of the image.
    ideal_dimensions : tuple of int
        dim I_0, …, dim I_max_degree.
    orbits : tuple of GeneratorOrbit
    exact : bool
        Whether dimensions and generators are proved over QQ. In every multidegree the rank modulo a prime, a lower
        bound of H, and the number of independent relations proved over ZZ, a lower bound of dim I, add up to the number
        of monomials; so both are equalities. No random choice enters the truth of the result. That no generator can be
        left out is proved too, by ranks over QQ of what lower degrees generate.
    """

    source: MultigradedMap
    max_degree: int
    requested_degree: int
    hilbert_function: tuple[int, ...]
    ideal_dimensions: tuple[int, ...]
    orbits: tuple[GeneratorOrbit, ...]
    exact: bool

    @property
    def stopped_early(self) -> bool:
        """Whether the time ended before the degree asked for."""
        return self.max_degree < self.requested_degree

    @property
    def generator_counts(self) -> dict[int, int]:
        """The number of minimal generators by degree; degrees without are left out."""
        counts: dict[int, int] = {}
        for orbit in self.orbits:
            counts[orbit.degree] = counts.get(orbit.degree, 0) + orbit.generator_count
        return counts

    @property
    def ring(self) -> PolynomialRing:
        """The ring of polynomials in the coordinates, over QQ."""
        return self.source.polynomial_map.target()

    def sparse_generators(self) -> Iterator[Terms]:
        """All minimal generators found, in all multidegrees, by increasing degree; coprime integer coefficients.

        Each is a tuple of (sorted tuple of the numbers of the coordinates, coefficient): the shortest form for writing
        large results, where SymPy's exponent vectors take more space than all the rest.
        """
        for orbit in sorted(self.orbits, key=attrgetter("degree")):
            yield from orbit.expand()

    def generators(self) -> tuple[PolyElement, ...]:
        """The same generators as elements of ``ring.sympy_ring``."""
        ring = self.ring.sympy_ring
        coefficients = {c for orbit in self.orbits for polynomial in orbit.polynomials for _, c in polynomial}
        scalars = {c: ring.domain(c) for c in coefficients}
        with collection_paused():
            return tuple(_element(polynomial, ring, scalars) for polynomial in watched(self.sparse_generators()))

    def ideal(self) -> Ideal:
        """The ideal that they generate."""
        return Ideal(self.ring, self.generators())


def _element(polynomial: Terms, ring: PolyRing, scalars: Mapping[int, Any]) -> PolyElement:
    # Filled in place: PolyRing.from_dict would convert each coefficient again, which takes longer than all the rest.
    result = ring.zero
    for monomial, coefficient in polynomial:
        result[exponents_of(monomial, ring.ngens)] = scalars[coefficient]
    return result
