"""Graded pieces: degree after degree, and in each degree one multidegree of each orbit.

The ideal of the image is homogeneous for the grading and invariant under the symmetries (what
:func:`.multigraded_map.multigraded` proves), so one multidegree of each orbit is enough: the
dominant one, the largest. Kept for each: its monomials, a basis of the coordinate ring of the
image, a basis of the ideal. A multidegree is stored as one integer, so that multidegrees add as
integers do; its leading part is the degree. How a piece is computed stands in ``generators``.

A monomial lists the numbers of its coordinates in ascending order, with repetition: x_0² x_3 is
(0, 0, 3). A permutation π, given by π(0), π(1), …, carries it to x_π(0)² x_π(3). ``lower`` maps
each smaller degree, from 0 on, to its pieces. Positions in the ``monomials`` of a piece are its
``basis``, the basis of the coordinate ring, ``rank`` in number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, repeat
from operator import add, itemgetter
from typing import NamedTuple

from m2bridge.algebra.linear_algebra import IntegerVector
from m2bridge.algebra.sparse_polynomial import Monomial, Terms
from m2bridge.errors import TimeLimitError
from m2bridge.implicitization.multigraded_map import Grading, MultigradedMap, Permutation
from m2bridge.limits import check_deadline_in


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedGrading:
    """The multidegrees of the coordinates, packed, and how the symmetries move them."""

    multidegrees: tuple[IntegerVector, ...]
    degrees: IntegerVector  # of the coordinates, at least 1
    # The degree and the multidegree of each coordinate, as digits of one integer; the degree is the
    # leading digit. The packed multidegree of a monomial is the sum over its coordinates.
    packed: tuple[int, ...]
    permutations: tuple[Permutation, ...]  # the symmetries
    moved: tuple[tuple[int, ...], ...]  # moved[j][k] is packed[π(j)] for symmetry number k, π

    @classmethod
    def of(cls, source: MultigradedMap, max_degree: int) -> PackedGrading:
        """Return the grading of a map, packed for monomials of degree ≤ max_degree."""
        grading = source.grading
        packed = _pack(grading, max_degree)
        # For each symmetry π a list with the packed multidegree of π(j) at place j; ``moved`` has
        # the places first.
        moved_by_each = [[packed[j] for j in permutation] for permutation in source.symmetries]
        # without symmetries each coordinate has an empty tuple
        moved = zip(*moved_by_each, strict=True) if moved_by_each else repeat((), len(packed))
        return cls(
            multidegrees=grading.multidegrees,
            degrees=grading.degrees,
            packed=packed,
            permutations=source.symmetries,
            moved=tuple(moved),
        )

    def vector(self, monomial: Monomial) -> IntegerVector:
        """Return the multidegree of a monomial of degree at least 1, as a vector."""
        factors = [self.multidegrees[j] for j in monomial]
        return tuple(map(sum, zip(*factors, strict=True)))


def _pack(grading: Grading, max_degree: int) -> tuple[int, ...]:
    """Return the degree and the multidegree of each coordinate, as digits of one integer, which
    differ for monomials of degree ≤ max_degree with different multidegrees.
    """
    entries = map(abs, chain.from_iterable(grading.multidegrees))
    # A monomial has at most max_degree factors, since coordinates have degree ≥ 1; so its digits
    # are in absolute value less than half of the base. Different vectors then have different packed
    # integers, also with negative entries.
    base = 2 * (max_degree + 1) * max([1, *entries, *grading.degrees]) + 2
    packed = []
    for degree, multidegree in zip(grading.degrees, grading.multidegrees, strict=True):
        number = degree
        for entry in multidegree:
            number = number * base + entry
        packed.append(number)
    return tuple(packed)


class SymmetryStep(NamedTuple):
    """A member of an orbit, by its packed multidegree or its number in the orbit, and the number of
    the symmetry that carries it to a later member.
    """

    earlier: int
    symmetry_number: int


class Transport(NamedTuple):
    """The dominant multidegree of an orbit, and the permutation of the coordinates, a product of
    symmetries, that carries it to another member.
    """

    dominant: int
    permutation: Permutation


@dataclass(frozen=True, slots=True)
class MultidegreeOrbits:
    """The multidegrees of all monomials of one degree, in orbits under the symmetries, each with
    its largest multidegree, the dominant one, as representative.
    """

    grading: PackedGrading
    # From a multidegree to those to which the symmetries carry it, by their numbers. Symmetries act
    # on a multidegree as on any monomial of it: this is well defined because they carry the finest
    # grading to itself.
    images: Mapping[int, tuple[int, ...]]
    members: Mapping[int, tuple[int, ...]]  # the orbit of each dominant one, breadth first
    steps: Mapping[int, SymmetryStep]  # a spanning forest, without its roots, the dominant ones
    transports: dict[int, Transport] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, grading: PackedGrading, images: Mapping[int, tuple[int, ...]]) -> MultidegreeOrbits:
        """Return the multidegrees that are keys of ``images``, divided into orbits."""
        members: dict[int, tuple[int, ...]] = {}
        steps: dict[int, SymmetryStep] = {}
        # the first multidegree of an orbit that is met, in decreasing order, is the dominant one
        for multidegree in check_deadline_in(sorted(images, reverse=True)):
            if multidegree not in steps:  # it is in none of the orbits that were found
                members[multidegree] = _orbit(multidegree, images, steps)
        return cls(grading, images, members, steps)

    def dominant(self, multidegree: int) -> int:
        """Return the dominant multidegree of the orbit of a multidegree."""
        while multidegree not in self.members:  # up to the root of the tree of its orbit
            multidegree = self.steps[multidegree].earlier
        return multidegree

    def transport(self, multidegree: int) -> Transport:
        """Return the dominant multidegree of the orbit, and what carries it to ``multidegree``."""
        if multidegree in self.members:  # it is dominant: the permutation is the identity
            return Transport(multidegree, tuple(range(len(self.grading.packed))))
        if multidegree not in self.transports:
            previous, symmetry_number = self.steps[multidegree]
            dominant, to_previous = self.transport(previous)
            last_step = self.grading.permutations[symmetry_number]
            # First to the previous multidegree, then by the last step to this one.
            permutation = tuple(last_step[j] for j in to_previous)
            self.transports[multidegree] = Transport(dominant, permutation)
        return self.transports[multidegree]

    def tree(self, dominant: int) -> tuple[SymmetryStep, ...]:
        """Return the spanning tree of an orbit, with its members numbered as in ``members``: the
        step to each but number 0.
        """
        members = self.members[dominant]
        place = {multidegree: i for i, multidegree in enumerate(members)}
        steps = [self.steps[multidegree] for multidegree in members[1:]]
        return tuple(SymmetryStep(place[step.earlier], step.symmetry_number) for step in steps)


def _orbit(
    root: int, images: Mapping[int, tuple[int, ...]], steps: dict[int, SymmetryStep]
) -> tuple[int, ...]:
    """Return the orbit of a multidegree, ``root``, breadth first, and add the steps to
    its members.
    """
    orbit = [root]
    for multidegree in check_deadline_in(orbit):  # members that are found are visited too
        for number, image in enumerate(images[multidegree]):
            if image != root and image not in steps:  # a new member of the orbit
                steps[image] = SymmetryStep(multidegree, number)
                orbit.append(image)
    return tuple(orbit)


SparseRow = tuple[tuple[int, int], ...]
"""A polynomial of one multidegree: pairs (position of a monomial, coefficient). The list in which
the monomials have these positions is named where it is used.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class GradedPiece:
    """The ideal and the coordinate ring of the image in one dominant multidegree."""

    monomials: tuple[Monomial, ...]  # all of this multidegree
    basis: tuple[int, ...]
    proved: int = 0  # the number of independent polynomials proved to be in the ideal
    # a basis of the ideal, with positions in ``monomials``; empty in the last degree, where it is
    # not needed
    ideal: tuple[SparseRow, ...] = ()
    generators: tuple[Terms, ...] = ()

    @property
    def rank(self) -> int:
        """The dimension of the coordinate ring of the image in this multidegree."""
        return len(self.basis)

    @property
    def exact(self) -> bool:
        """Whether both dimensions are proved: the lower bounds ``rank`` and ``proved`` add up to
        the number of monomials.
        """
        return len(self.basis) + self.proved == len(self.monomials)


@dataclass(frozen=True, slots=True)
class DegreePieces:
    """The graded pieces of one degree, by dominant multidegrees."""

    orbits: MultidegreeOrbits
    pieces: Mapping[int, GradedPiece]

    @property
    def dimension(self) -> int:
        """The dimension of the coordinate ring in this degree; the multidegrees of an orbit have
        the same.
        """
        members = self.orbits.members
        return sum(piece.rank * len(members[dominant]) for dominant, piece in self.pieces.items())


@dataclass(frozen=True, slots=True)
class Neighbour:
    """The products of a coordinate x with all monomials of one multidegree of lower degree, which
    is the image under a symmetry π of the dominant one, whose piece is stored.
    """

    piece: GradedPiece
    products: tuple[Monomial, ...]  # π(m) · x for each monomial m of the piece, in its order

    @classmethod
    def of(cls, piece: GradedPiece, permutation: Permutation, coordinate: int) -> Neighbour:
        """Return the products of the piece, carried along by a symmetry, with a coordinate."""
        products = []
        for monomial in piece.monomials:
            product = [permutation[i] for i in monomial]
            product.append(coordinate)
            products.append(tuple(sorted(product)))
        return cls(piece, tuple(products))


Products = dict[SparseRow, tuple[Neighbour, SparseRow]]
"""Maps the coefficients of a product x_j · g at the free monomials to the neighbour of x_j, and g,
an element of the ideal in its piece.
"""


def products_at(free: Sequence[Monomial], neighbours: Sequence[Neighbour]) -> Products:
    """Return the different products x_j · g, where for each coordinate x_j the polynomial g runs
    through the basis of the ideal in the piece of its neighbour; short products come first.

    They are given by their coefficients at the free monomials, pairs (place in ``free``,
    coefficient), sorted by place. An element of the ideal is determined by its coefficients there,
    since a polynomial of the ideal in basis monomials alone is zero. So ranks of products may be
    computed there.
    """
    number = {monomial: i for i, monomial in enumerate(free)}
    # ``neighbour.products`` are the monomials of a lower multidegree times x_j; a polynomial g of
    # that multidegree has terms (position among these monomials, coefficient).
    origin_of: Products = {}
    for neighbour in neighbours:
        # from positions in the piece of the neighbour to positions among the free monomials
        place_of: dict[int, int] = {}
        for i, monomial in enumerate(neighbour.products):
            if monomial in number:
                place_of[i] = number[monomial]
        for polynomial in check_deadline_in(neighbour.piece.ideal):
            at_free = sorted([(place_of[i], c) for i, c in polynomial if i in place_of])
            # of equal products the first one met is enough
            origin_of.setdefault(tuple(at_free), (neighbour, polynomial))
    return {product: origin_of[product] for product in sorted(origin_of, key=len)}


def orbits_of_degree(
    grading: PackedGrading, degree: int, lower: Mapping[int, DegreePieces]
) -> MultidegreeOrbits:
    """Return the multidegrees of the monomials of one degree ≥ 1, in orbits: every monomial is a
    coordinate x_j times a monomial of smaller degree.
    """
    images: dict[int, tuple[int, ...]] = {}
    coordinates = zip(grading.packed, grading.degrees, grading.moved, strict=True)
    for multidegree_of_x, degree_of_x, moved in check_deadline_in(coordinates):
        lower_pieces = lower.get(degree - degree_of_x)
        if lower_pieces is None:  # the degree of the coordinate is larger than ``degree``
            continue
        lower_images = lower_pieces.orbits.images
        # Multiplication by x_j adds its multidegree; the image of the product under a symmetry has
        # the sum of the multidegrees of both images.
        for multidegree in lower_images:
            product = multidegree + multidegree_of_x
            if product not in images:
                images[product] = tuple(map(add, lower_images[multidegree], moved))
    return MultidegreeOrbits.of(grading, images)


@dataclass(frozen=True, slots=True)
class MonomialSpace:
    """The monomials of one multidegree, as products of a coordinate and a monomial of lower degree.

    There is a neighbour for each coordinate that divides a monomial of this multidegree. Together
    their products are all monomials of it; and the products of the coordinates with the ideals of
    the pieces span the part of the ideal that lower degrees generate. The candidates, products of
    coordinates with bases of the coordinate ring, span the coordinate ring: each other monomial is
    congruent to a combination of them modulo that part.
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
        """Return the monomials of a multidegree, packed, of the given degree."""
        neighbours = list(_neighbours(multidegree, degree, grading, lower))
        candidates: set[Monomial] = set()
        others: set[Monomial] = set()
        for neighbour in neighbours:
            # ``basis`` are positions among the monomials of the piece, and so among the products.
            candidates.update([neighbour.products[i] for i in neighbour.piece.basis])
            others.update(neighbour.products)
        others -= candidates
        # Any order is correct. Comparing the last coordinates first gave the shortest generators in
        # experiments.
        reversed_monomial = itemgetter(slice(None, None, -1))  # (0, 1, 3) becomes (3, 1, 0)
        return cls(
            neighbours,
            candidates=tuple(sorted(candidates, key=reversed_monomial)),
            others=tuple(sorted(others, key=reversed_monomial)),
        )

    @property
    def monomials(self) -> tuple[Monomial, ...]:
        """All monomials of the piece, the candidates first."""
        return self.candidates + self.others


def _neighbours(
    multidegree: int, degree: int, grading: PackedGrading, lower: Mapping[int, DegreePieces]
) -> Iterator[Neighbour]:
    """Yield a neighbour for each coordinate that divides a monomial of a multidegree, packed, of
    the given degree.
    """
    coordinates = zip(grading.packed, grading.degrees, strict=True)
    for j, (multidegree_of_x, degree_of_x) in enumerate(check_deadline_in(coordinates)):
        lower_pieces = lower.get(degree - degree_of_x)
        quotient = multidegree - multidegree_of_x
        # The keys of ``images`` are the multidegrees of that degree.
        if lower_pieces is None or quotient not in lower_pieces.orbits.images:
            continue  # coordinate j divides no monomial of this multidegree
        # Only the dominant piece of an orbit is stored; the permutation carries it to this one.
        transport = lower_pieces.orbits.transport(quotient)
        dominant_piece = lower_pieces.pieces[transport.dominant]
        yield Neighbour.of(dominant_piece, transport.permutation, j)


PieceComputation = Callable[[int, int, Mapping[int, DegreePieces]], GradedPiece]
"""A function that computes the piece of a dominant multidegree from this multidegree (packed), its
degree, and the pieces of all smaller degrees.
"""


class PiecesOnDemand(dict[int, GradedPiece]):
    """The pieces of one degree by their dominant multidegrees, each computed when it is asked
    for.
    """

    def __init__(
        self, degree: int, lower: Mapping[int, DegreePieces], compute: PieceComputation
    ) -> None:
        super().__init__()
        self._degree = degree
        self._lower = lower
        self._compute = compute

    def __missing__(self, dominant: int) -> GradedPiece:
        """Compute the piece of a dominant multidegree, and keep it."""
        self[dominant] = self._compute(dominant, self._degree, self._lower)
        return self[dominant]


def degree_zero(grading: PackedGrading) -> DegreePieces:
    """Return the only piece of degree 0, in which the monomial 1 is a basis."""
    unmoved = {0: (0,) * len(grading.permutations)}
    constants = GradedPiece(monomials=((),), basis=(0,))
    return DegreePieces(MultidegreeOrbits.of(grading, unmoved), {0: constants})


def next_degree(
    grading: PackedGrading, lower: Mapping[int, DegreePieces], compute: PieceComputation
) -> DegreePieces:
    """Return the pieces of the degree after ``lower``, which has no gap, computed when
    they are asked for.
    """
    degree = len(lower)
    # a copy: the pieces know the smaller degrees, and not themselves
    pieces = PiecesOnDemand(degree, dict(lower), compute)
    return DegreePieces(orbits_of_degree(grading, degree, lower), pieces)


def complete_degrees(
    grading: PackedGrading, max_degree: int, compute: PieceComputation, *, first: bool = False
) -> dict[int, DegreePieces]:
    """Return the pieces of the degrees 0, …, max_degree, or as many as the limit on time allows;
    with ``first`` end with the first degree in which there are generators.
    """
    completed = {0: degree_zero(grading)}
    for degree in range(1, max_degree + 1):
        try:
            part = next_degree(grading, completed, compute)
            # each piece is computed here, where it is looked up for the first time
            pieces = [part.pieces[dominant] for dominant in check_deadline_in(part.orbits.members)]
        except TimeLimitError:  # the pieces of this degree are dropped
            break
        completed[degree] = part
        if first and any(piece.generators for piece in pieces):
            break
    return completed
