"""Graded pieces: degree after degree, and in each degree one multidegree of each orbit.

The ideal of the image is homogeneous for the grading and invariant under the symmetries (what
:func:`.multigraded_map.multigraded` proves), so one multidegree of each orbit is enough: the
dominant one, the largest. Kept for each: its monomials, a basis of the coordinate ring of the
image, a basis of the ideal. A multidegree is stored as one integer, so that multidegrees add as
integers do; its leading part is the degree. How a piece is computed stands in ``generators``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, repeat
from operator import add, itemgetter

from m2bridge.algebra.linear_algebra import IntegerVector
from m2bridge.algebra.sparse_polynomial import Monomial, Terms
from m2bridge.errors import TimeLimitError
from m2bridge.implicitization.multigraded_map import MultigradedMap, Permutation
from m2bridge.limits import check_deadline_in


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedGrading:
    """The multidegrees of the coordinates, packed, and how the symmetries move them.

    Parameters
    ----------
    multidegrees : tuple of vectors
    degrees : vector
    packed : tuple of int
        The multidegree of each coordinate, degree first, as digits of one integer.
    permutations : tuple of permutations of the coordinates
    moved : tuple of tuples of int
        For each coordinate j, the packed multidegrees of π(j) for all permutations π.
    """

    multidegrees: tuple[IntegerVector, ...]
    degrees: IntegerVector
    packed: tuple[int, ...]
    permutations: tuple[Permutation, ...]
    moved: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, source: MultigradedMap, max_degree: int) -> PackedGrading:
        """A grading, packed for monomials of at most the given degree."""
        grading = source.grading
        entries = map(abs, chain.from_iterable(grading.multidegrees))
        # Digits of sums of max_degree multidegrees stay below half of the base: packing is
        # injective also with signs.
        base = 2 * (max_degree + 1) * max([1, *entries, *grading.degrees]) + 2
        packed = []
        for degree, multidegree in zip(grading.degrees, grading.multidegrees, strict=True):
            number = degree
            for entry in multidegree:
                number = number * base + entry
            packed.append(number)
        moved_by_each = [[packed[j] for j in permutation] for permutation in source.symmetries]
        moved = zip(*moved_by_each, strict=True) if moved_by_each else repeat((), len(packed))
        return cls(
            multidegrees=grading.multidegrees,
            degrees=grading.degrees,
            packed=tuple(packed),
            permutations=source.symmetries,
            moved=tuple(moved),
        )

    def vector(self, monomial: Monomial) -> IntegerVector:
        """The multidegree of a monomial of degree at least 1, spelled out."""
        return tuple(map(sum, zip(*[self.multidegrees[j] for j in monomial], strict=True)))


@dataclass(frozen=True, slots=True)
class MultidegreeOrbits:
    """All multidegrees of one degree that occur, in orbits, each represented by the largest one.

    Parameters
    ----------
    images : mapping from multidegree to tuple of int
        The multidegrees to which the permutations carry it. They act on a multidegree as on any
        monomial of it: this is well defined because they carry the finest grading to itself.
    members : mapping from dominant multidegree to its orbit, which it begins, breadth first
    steps : mapping from multidegree to (previous multidegree, number of a permutation)
        A spanning forest of the orbits, where the permutation leads from the previous one;
        dominant multidegrees are its roots and not listed.
    transports : dict
        Filled by :meth:`transport`.
    """

    grading: PackedGrading
    images: Mapping[int, tuple[int, ...]]
    members: Mapping[int, tuple[int, ...]]
    steps: Mapping[int, tuple[int, int]]
    transports: dict[int, tuple[int, Permutation]] = field(
        default_factory=dict, repr=False, compare=False
    )

    @classmethod
    def of(cls, grading: PackedGrading, images: Mapping[int, tuple[int, ...]]) -> MultidegreeOrbits:
        """Sort multidegrees into orbits."""
        members: dict[int, tuple[int, ...]] = {}
        steps: dict[int, tuple[int, int]] = {}
        for multidegree in check_deadline_in(sorted(images, reverse=True)):
            if multidegree not in steps:
                members[multidegree] = _explore(multidegree, images, steps)
        return cls(grading, images, members, steps)

    def transport(self, multidegree: int) -> tuple[int, Permutation]:
        """The dominant multidegree of the orbit, and a product of symmetries from there to this
        one.
        """
        if multidegree in self.members:
            return multidegree, tuple(range(len(self.grading.packed)))
        if multidegree not in self.transports:
            previous, number = self.steps[multidegree]
            dominant, first = self.transport(previous)
            last = self.grading.permutations[number]
            self.transports[multidegree] = dominant, tuple(last[j] for j in first)
        return self.transports[multidegree]

    def tree(self, dominant: int) -> tuple[tuple[int, int], ...]:
        """The place of an earlier multidegree and the step from there, for each but the first."""
        members = self.members[dominant]
        place = {multidegree: i for i, multidegree in enumerate(members)}
        steps = [self.steps[multidegree] for multidegree in members[1:]]
        return tuple((place[previous], number) for previous, number in steps)


def _explore(
    root: int, images: Mapping[int, tuple[int, ...]], steps: dict[int, tuple[int, int]]
) -> tuple[int, ...]:
    """The orbit of a multidegree, breadth first; the steps to its members are noted."""
    orbit = [root]
    for multidegree in check_deadline_in(orbit):  # which grows meanwhile
        for number, image in enumerate(images[multidegree]):
            if image != root and image not in steps:
                steps[image] = (multidegree, number)
                orbit.append(image)
    return tuple(orbit)


SparseRow = tuple[tuple[int, int], ...]
"""A polynomial of one multidegree: positions of its monomials and their coefficients."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GradedPiece:
    """One dominant multidegree of one degree.

    Parameters
    ----------
    monomials : tuple of monomials
        All of this multidegree.
    basis : tuple of int
        Positions of monomials that form a basis of the coordinate ring of the image in this
        multidegree.
    proved : int
        Number of linearly independent polynomials of this multidegree proved to be in the ideal.
    ideal : tuple of sparse rows
        A basis of the ideal in this multidegree; left out in the last degree.
    generators : tuple of polynomials
        Minimal generators of the ideal in this multidegree.
    """

    monomials: tuple[Monomial, ...]
    basis: tuple[int, ...]
    proved: int = 0
    ideal: tuple[SparseRow, ...] = ()
    generators: tuple[Terms, ...] = ()

    @property
    def rank(self) -> int:
        """The dimension of the coordinate ring of the image in this multidegree."""
        return len(self.basis)

    @property
    def exact(self) -> bool:
        """Whether both dimensions are proved: lower bounds for coordinate ring and ideal add up."""
        return len(self.basis) + self.proved == len(self.monomials)


@dataclass(frozen=True, slots=True)
class DegreePieces:
    """The graded pieces of one degree: its multidegrees, and a piece for each dominant one."""

    orbits: MultidegreeOrbits
    pieces: Mapping[int, GradedPiece]

    @property
    def dimension(self) -> int:
        """The dimension of the coordinate ring of the image in this degree."""
        members = self.orbits.members
        return sum(piece.rank * len(members[dominant]) for dominant, piece in self.pieces.items())


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A coordinate times the graded piece below.

    Parameters
    ----------
    piece : GradedPiece
        The dominant piece below.
    products : tuple of monomials
        The image of each of its monomials under the symmetry that leads to the multidegree below,
        times the coordinate.
    """

    piece: GradedPiece
    products: tuple[Monomial, ...]

    @classmethod
    def of(cls, piece: GradedPiece, permutation: Permutation, coordinate: int) -> Neighbour:
        """The products of a piece that a symmetry carries to the multidegree below."""
        products = []
        for monomial in piece.monomials:
            product = [permutation[i] for i in monomial]
            product.append(coordinate)
            products.append(tuple(sorted(product)))
        return cls(piece, tuple(products))


def orbits_of_degree(
    grading: PackedGrading, degree: int, lower: Mapping[int, DegreePieces]
) -> MultidegreeOrbits:
    """The multidegrees of one degree, from the degrees below."""
    images: dict[int, tuple[int, ...]] = {}
    coordinates = zip(grading.packed, grading.degrees, grading.moved, strict=True)
    for packed, own_degree, moved in check_deadline_in(coordinates):
        below = lower.get(degree - own_degree)
        if below is None:
            continue
        images_below = below.orbits.images
        # multiplication by the coordinate adds its multidegree, and that of its image
        for multidegree in images_below:
            if multidegree + packed not in images:
                added = map(add, images_below[multidegree], moved)
                images[multidegree + packed] = tuple(added)
    return MultidegreeOrbits.of(grading, images)


@dataclass(frozen=True, slots=True)
class MonomialSpace:
    """The monomials of one multidegree and where they come from.

    The products of the ``neighbours``, one for each coordinate that divides a monomial of this
    multidegree, are all monomials; the products of their ideals span what lower degrees generate of
    the ideal. ``candidates``, the products of their bases, span the coordinate ring in this
    multidegree. The ``others`` are congruent to combinations of candidates modulo what lower
    degrees generate.
    """

    neighbours: Sequence[Neighbour]
    candidates: tuple[Monomial, ...]
    others: tuple[Monomial, ...]

    @classmethod
    def of(
        cls,
        multidegree: int,
        degree: int,
        grading: PackedGrading,
        lower: Mapping[int, DegreePieces],
    ) -> MonomialSpace:
        """The monomials, from the degrees below."""
        neighbours = []
        candidates: set[Monomial] = set()
        others: set[Monomial] = set()
        coordinates = zip(grading.packed, grading.degrees, strict=True)
        for j, (packed, own_degree) in enumerate(check_deadline_in(coordinates)):
            below = lower.get(degree - own_degree)
            if below is None or multidegree - packed not in below.orbits.images:
                continue
            dominant, permutation = below.orbits.transport(multidegree - packed)
            neighbour = Neighbour.of(below.pieces[dominant], permutation, j)
            neighbours.append(neighbour)
            candidates.update([neighbour.products[i] for i in neighbour.piece.basis])
            others.update(neighbour.products)
        others -= candidates
        # Any order is correct. Comparing the last coordinates first gave the shortest generators in
        # experiments.
        order = itemgetter(slice(None, None, -1))
        return cls(
            neighbours, tuple(sorted(candidates, key=order)), tuple(sorted(others, key=order))
        )

    @property
    def monomials(self) -> tuple[Monomial, ...]:
        """All monomials of the piece, the candidates first."""
        return self.candidates + self.others


PieceComputation = Callable[[int, int, Mapping[int, DegreePieces]], GradedPiece]
"""(multidegree, degree, degrees below) → the piece of a dominant multidegree."""


def complete_degrees(
    grading: PackedGrading, max_degree: int, compute: PieceComputation, *, first: bool = False
) -> dict[int, DegreePieces]:
    """The degrees 0, …, max_degree, as far as they are completed within the time limit.

    With ``first`` they end with the first degree in which there are generators.
    """
    unmoved = {0: (0,) * len(grading.permutations)}
    constants = GradedPiece(monomials=((),), basis=(0,))
    completed = {0: DegreePieces(MultidegreeOrbits.of(grading, unmoved), {0: constants})}
    for degree in range(1, max_degree + 1):
        try:
            orbits = orbits_of_degree(grading, degree, completed)
            pieces = {}
            for dominant in check_deadline_in(orbits.members):
                pieces[dominant] = compute(dominant, degree, completed)
        except TimeLimitError:
            break
        completed[degree] = DegreePieces(orbits, pieces)
        if first and any(piece.generators for piece in pieces.values()):
            break
    return completed
