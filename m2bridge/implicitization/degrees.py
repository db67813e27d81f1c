"""Degree after degree, and in each degree one multidegree of each orbit after the other.

Kept for each: its monomials, a basis of the coordinate ring of the image, a basis of the ideal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING

from m2bridge.clock import check, watched
from m2bridge.errors import EngineTimeoutError
from m2bridge.implicitization.multidegrees import MultidegreeOrbits, PackedGrading, multiply

if TYPE_CHECKING:
    from m2bridge.algebra.lattice import Vector
    from m2bridge.algebra.sparse_polynomial import Monomial, Terms

SparseRow = tuple[tuple[int, int], ...]
"""A polynomial of the ideal in one multidegree: positions of its monomials and their coefficients."""


@dataclass(frozen=True, slots=True)
class GradedPiece:
    """One dominant multidegree of one degree.

    Parameters
    ----------
    multidegree : vector of int
    orbit_size : int
        Number of multidegrees that the symmetries make of this one.
    monomials : tuple of monomials
        All of this multidegree.
    basis : tuple of int
        Positions of monomials that form a basis of the coordinate ring of the image in this multidegree.
    proved : int
        Number of linearly independent polynomials of this multidegree proved to be in the ideal.
    ideal : tuple of sparse rows
        A basis of the ideal in this multidegree; left out in the last degree.
    generators : tuple of polynomials
        Minimal generators of the ideal in this multidegree.
    """

    multidegree: Vector
    orbit_size: int
    monomials: tuple[Monomial, ...]
    basis: tuple[int, ...]
    proved: int = 0
    ideal: tuple[SparseRow, ...] = ()
    generators: tuple[Terms, ...] = ()

    @property
    def rank(self) -> int:
        """Dimension of the coordinate ring of the image in this multidegree."""
        return len(self.basis)

    @property
    def nullity(self) -> int:
        """Dimension of the ideal in this multidegree."""
        return len(self.monomials) - len(self.basis)

    @property
    def exact(self) -> bool:
        """Whether both dimensions are proved: the lower bounds for coordinate ring and ideal add up."""
        return len(self.basis) + self.proved == len(self.monomials)


@dataclass(frozen=True, slots=True)
class Degree:
    """All multidegrees of one degree; pieces for the dominant ones."""

    orbits: MultidegreeOrbits
    pieces: Mapping[int, GradedPiece]


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A coordinate times the graded piece below.

    Parameters
    ----------
    piece : GradedPiece
        The dominant piece below.
    products : tuple of monomials
        The image of each of its monomials under the symmetry that leads to the multidegree below, times the coordinate.
    """

    piece: GradedPiece
    products: tuple[Monomial, ...]

    @property
    def candidates(self) -> list[Monomial]:
        """The products of the basis of the coordinate ring."""
        return [self.products[i] for i in self.piece.basis]


def degree_zero(grading: PackedGrading) -> Degree:
    """Degree 0: the constants."""
    orbits = MultidegreeOrbits.of(grading, {0: ()})
    return Degree(orbits, {0: GradedPiece((0,) * grading.length, 1, ((),), (0,))})


def orbits_of_degree(grading: PackedGrading, degree: int, lower: Mapping[int, Degree]) -> MultidegreeOrbits:
    """The multidegrees of one degree, each with one monomial, from the degrees below."""
    samples: dict[int, Monomial] = {}
    for j, (packed, own_degree) in enumerate(zip(grading.packed, grading.degrees, strict=True)):
        below = lower.get(degree - own_degree)
        if below is None:
            continue
        for multidegree, monomial in watched(below.orbits.samples.items()):
            if multidegree + packed not in samples:
                samples[multidegree + packed] = tuple(sorted((*monomial, j)))
    return MultidegreeOrbits.of(grading, samples)


def neighbours_below(
    multidegree: int, degree: int, grading: PackedGrading, lower: Mapping[int, Degree]
) -> list[Neighbour]:
    """The graded piece below, for each coordinate that divides a monomial of this multidegree.

    Their products are all monomials of the multidegree; the products of their bases span the coordinate ring in this
    multidegree; the products of their ideals span what lower degrees generate of the ideal.
    """
    result = []
    for j, (packed, own_degree) in enumerate(watched(zip(grading.packed, grading.degrees, strict=True))):
        below = lower.get(degree - own_degree)
        if below is None or multidegree - packed not in below.orbits.samples:
            continue
        root, permutation = below.orbits.transport(multidegree - packed)
        piece = below.pieces[root]
        result.append(Neighbour(piece, tuple([multiply(m, permutation, j) for m in piece.monomials])))
    return result


@dataclass(frozen=True, slots=True)
class MonomialSpace:
    """The monomials of one multidegree and where they come from.

    ``candidates``, products of a coordinate and a basis monomial of lower degree, span the coordinate ring in this
    multidegree. The ``others`` are congruent to combinations of candidates modulo what lower degrees generate.
    """

    neighbours: Sequence[Neighbour]
    candidates: tuple[Monomial, ...]
    others: tuple[Monomial, ...]

    @classmethod
    def of(cls, multidegree: int, degree: int, grading: PackedGrading, lower: Mapping[int, Degree]) -> MonomialSpace:
        """The monomials, from the degrees below."""
        neighbours = neighbours_below(multidegree, degree, grading, lower)
        everything = {monomial for neighbour in neighbours for monomial in neighbour.products}
        candidates = {monomial for neighbour in neighbours for monomial in neighbour.candidates}
        # Any order is correct. Comparing the last coordinates first gave the shortest generators in experiments.
        order = itemgetter(slice(None, None, -1))
        return cls(neighbours, tuple(sorted(candidates, key=order)), tuple(sorted(everything - candidates, key=order)))

    @property
    def monomials(self) -> tuple[Monomial, ...]:
        """All of them, the candidates first."""
        return self.candidates + self.others


PieceComputation = Callable[[int, int, Mapping[int, Degree], int], GradedPiece]
"""(multidegree, degree, degrees below, orbit size) → the piece of a dominant multidegree."""


def complete_degrees(grading: PackedGrading, max_degree: int, compute: PieceComputation) -> dict[int, Degree]:
    """The degrees 0, …, max_degree; those that are completed within the time limit."""
    lower = {0: degree_zero(grading)}
    for degree in range(1, max_degree + 1):
        try:
            lower[degree] = _degree(grading, degree, lower, compute)
        except EngineTimeoutError:
            break
    return lower


def _degree(grading: PackedGrading, degree: int, lower: Mapping[int, Degree], compute: PieceComputation) -> Degree:
    orbits = orbits_of_degree(grading, degree, lower)
    pieces: dict[int, GradedPiece] = {}
    for multidegree, members in orbits.members.items():
        check()
        pieces[multidegree] = compute(multidegree, degree, lower, len(members))
    return Degree(orbits, pieces)
