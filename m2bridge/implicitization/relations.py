"""Degree after degree, and in each degree one multidegree of each orbit after the other.

Kept for each: its monomials, a basis of the coordinate ring of the image, a basis of the ideal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from math import gcd
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Protocol

import flint

from m2bridge.algebra.linear_algebra import elimination_price, leading_columns
from m2bridge.algebra.numbers import chinese_remainder, integral
from m2bridge.errors import TimeLimitError
from m2bridge.implicitization.multigraded_map import MultidegreeOrbits, PackedGrading, multiply
from m2bridge.limits import check, watched

if TYPE_CHECKING:
    from m2bridge.algebra.linear_algebra import Vector
    from m2bridge.algebra.sparse_polynomial import Monomial, Terms
    from m2bridge.implicitization.elimination import ModularElimination
    from m2bridge.implicitization.multigraded_map import MultigradedMap


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
        except TimeLimitError:
            break
    return lower


def _degree(grading: PackedGrading, degree: int, lower: Mapping[int, Degree], compute: PieceComputation) -> Degree:
    orbits = orbits_of_degree(grading, degree, lower)
    pieces: dict[int, GradedPiece] = {}
    for multidegree, members in orbits.members.items():
        check()
        pieces[multidegree] = compute(multidegree, degree, lower, len(members))
    return Degree(orbits, pieces)


ROWS_READ = 32
"""So many entries of a column are read at once where the shortest columns are looked for."""


class Echelon(Protocol):
    """A basis among monomials, and the expression of the others in it."""

    @property
    def monomials(self) -> tuple[Monomial, ...]:
        """All of them."""

    @property
    def pivots(self) -> tuple[int, ...]:
        """The monomials that form the basis."""

    def by_support(self, columns: Iterable[int]) -> Iterator[int]:
        """Monomials outside the basis, those first in whose expressions few basis monomials occur, then the last."""

    def relation(self, column: int) -> Terms:
        """The relation between a monomial outside the basis and the basis, with integer coefficients."""


@dataclass(frozen=True, slots=True)
class ModularEchelon:
    """Echelon forms modulo primes; their entries are lifted to QQ by Chinese remainders and rational reconstruction.

    Parameters
    ----------
    monomials : tuple of monomials
    matrices : tuple of flint.nmod_mat
        Reduced echelon forms with the same pivots, each modulo another prime.
    pivots : tuple of int
    """

    monomials: tuple[Monomial, ...]
    matrices: tuple[Any, ...]
    pivots: tuple[int, ...]

    @classmethod
    def of(cls, monomials: Sequence[Monomial], eliminations: Sequence[ModularElimination]) -> ModularEchelon:
        """Eliminate modulo one or more primes; those seen to be unlucky, because the rank is less, are left out."""
        forms = [elimination.echelon(monomials) for elimination in eliminations]
        best = min((pivots for _, pivots in forms), key=lambda pivots: (-len(pivots), pivots))
        return cls(tuple(monomials), tuple(matrix for matrix, pivots in forms if pivots == best), best)

    def by_support(self, columns: Iterable[int]) -> Iterator[int]:
        # Counts of nonzero entries so far; what turns out to have many is not read to its end.
        matrix, height = self.matrices[0], len(self.pivots)
        queue = [(0, 0, -column) for column in columns]
        heapify(queue)
        while queue:
            count, read, negative = heappop(queue)
            if read == height:
                yield -negative
            else:
                stop = min(read + ROWS_READ, height)
                count += len([1 for row in range(read, stop) if matrix[row, -negative]])
                heappush(queue, (count, stop, negative))

    def relation(self, column: int) -> Terms:
        modulus, weights = chinese_remainder([int(matrix.modulus()) for matrix in self.matrices])
        pairs = list(zip(weights, self.matrices, strict=True))
        rows = watched(range(len(self.pivots)))
        residues = [-sum([weight * int(matrix[row, column]) for weight, matrix in pairs]) % modulus for row in rows]
        return _terms(self, column, *integral(residues, modulus))


@dataclass(frozen=True, slots=True)
class ExactEchelon:
    """Echelon form over QQ of the coefficients of the expanded monomials."""

    monomials: tuple[Monomial, ...]
    numerators: Any
    denominator: int
    pivots: tuple[int, ...]

    @classmethod
    def of(cls, monomials: Sequence[Monomial], substitution: Substitution) -> ExactEchelon:
        """Expand the monomials in the parameters and eliminate."""
        return cls(tuple(monomials), *substitution.echelon(monomials))

    def by_support(self, columns: Iterable[int]) -> Iterator[int]:
        rows = range(len(self.pivots))
        return iter(sorted(columns, key=lambda column: (sum(1 for i in rows if self.numerators[i, column]), -column)))

    def relation(self, column: int) -> Terms:
        numerators = [-int(self.numerators[row, column]) for row in range(len(self.pivots))]
        return _terms(self, column, self.denominator, numerators)


def _terms(echelon: ModularEchelon | ExactEchelon, column: int, leading: int, others: Sequence[int]) -> Terms:
    """leading · monomial + Σ others · basis monomials, divided by the content, leading coefficient positive."""
    content = gcd(leading, *others) * (1 if leading > 0 else -1)
    terms = [(echelon.monomials[column], leading // content)]
    terms += [(echelon.monomials[j], c // content) for j, c in zip(echelon.pivots, others, strict=True) if c]
    return tuple(terms)


@dataclass(slots=True)
class Substitution:
    """Expands monomials in the coordinates as polynomials in the parameters over ZZ.

    Parameters
    ----------
    images : tuple of flint.fmpz_mpoly
    expansions : dict
        Products computed so far; forgotten by :meth:`forget`.
    """

    images: tuple[Any, ...]
    one: Any
    expansions: dict[Monomial, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, source: MultigradedMap) -> Substitution:
        """The substitution of a map's images, with denominators cleared."""
        size = len(source.polynomial_map.source.variables)
        context = flint.fmpz_mpoly_ctx.get(("x", size), flint.Ordering.degrevlex)  # FLINT takes ASCII names only
        images = tuple(context.from_dict(image) for image in watched(source.integral_images))
        return cls(images, context.from_dict({(0,) * size: 1}))

    def expand(self, monomial: Monomial) -> Any:
        """The product of the images of the coordinates in a monomial."""
        if not monomial:
            return self.one
        known = self.expansions.get(monomial)
        if known is None:
            known = self.expand(monomial[:-1]) * self.images[monomial[-1]]
            self.expansions[monomial] = known
        return known

    def vanishes(self, terms: Iterable[tuple[Monomial, int]]) -> bool:
        """Whether a polynomial is identically zero after substitution, over ZZ."""
        total = self.one * 0
        for monomial, coefficient in watched(terms):
            total += self.expand(monomial) * coefficient
        return bool(total == 0)

    def echelon(self, monomials: Sequence[Monomial]) -> tuple[Any, int, tuple[int, ...]]:
        """Reduced echelon form over QQ of the coefficients of the expansions, one column per monomial.

        Returns
        -------
        numerators : flint.fmpz_mat
        denominator : int
        pivots : tuple of int
        """
        expansions = [self.expand(monomial).to_dict() for monomial in watched(monomials)]
        rows = {exponents: i for i, exponents in enumerate(sorted(set().union(*expansions)))}
        check(4 * elimination_price(len(rows), len(monomials)))
        matrix = flint.fmpz_mat(len(rows), len(monomials))
        for column, expansion in enumerate(expansions):
            for exponents, coefficient in expansion.items():
                matrix[rows[exponents], column] = coefficient
        numerators, denominator, height = matrix.rref()
        return numerators, int(denominator), leading_columns(numerators, height)

    def forget(self) -> None:
        """Drop all stored products."""
        self.expansions.clear()
