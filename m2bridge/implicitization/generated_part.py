"""The part of the ideal in one multidegree that lower degrees generate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import flint

from m2bridge.algebra.linear_algebra import rank_of, reduced_echelon
from m2bridge.algebra.quotient import Index, Quotient, SparseVector, combination
from m2bridge.clock import watched

if TYPE_CHECKING:
    from m2bridge.algebra.sparse_polynomial import Monomial
    from m2bridge.implicitization.degrees import Neighbour, SparseRow


@dataclass(frozen=True, slots=True)
class Products:
    """The products x_j · g, g in the basis of the ideal in the multidegree below, restricted to free monomials.

    An element of the ideal is determined by its coefficients at the free monomials, those outside a basis of the
    coordinate ring: a relation among the others alone is zero. So ranks may be computed there.

    Parameters
    ----------
    neighbours : sequence of Neighbour
    places : list of lists of int
        For each neighbour and each of its products the number of the free monomial, −1 if it is not free.
    size : int
        Number of free monomials.
    """

    neighbours: Sequence[Neighbour]
    places: list[list[int]]
    size: int

    @classmethod
    def of(cls, neighbours: Sequence[Neighbour], free: Sequence[Monomial]) -> Products:
        """All products, seen at the free monomials."""
        number = {monomial: i for i, monomial in enumerate(free)}
        places = [[number.get(m, -1) for m in neighbour.products] for neighbour in watched(neighbours)]
        return cls(neighbours, places, len(free))

    def distinct(self) -> list[tuple[SparseRow, Index]]:
        """The different products: nonzero coefficients, and (neighbour, row); short ones first."""
        found: dict[SparseRow, Index] = {}
        for i, neighbour in enumerate(self.neighbours):
            places = self.places[i]
            for row, terms in enumerate(watched(neighbour.piece.ideal)):
                product = tuple(sorted([(place, c) for position, c in terms if (place := places[position]) >= 0]))
                found.setdefault(product, (i, row))
        return sorted(found.items(), key=_length)

    def polynomial(self, index: Index, position: Mapping[Monomial, int]) -> SparseRow:
        """One product as a polynomial, its monomials numbered by ``position``."""
        neighbour, row = index
        products = self.neighbours[neighbour].products
        return tuple([(position[products[i]], c) for i, c in self.neighbours[neighbour].piece.ideal[row]])


def _length(item: tuple[SparseRow, Index]) -> int:
    return len(item[0])


@dataclass(frozen=True, slots=True)
class GeneratedPart:
    """The span of the products modulo a prime, and the linear functionals that vanish on it.

    Parameters
    ----------
    products : list of sparse rows
        All, without repetitions.
    chosen : list of (neighbour, row)
        Products that are linearly independent modulo the prime, as many as there are.
    functionals : list of sparse vectors over GF(prime)
        For each free monomial its values under a basis of the linear functionals that vanish on the chosen products:
        its class modulo the span.
    """

    products: list[SparseRow]
    chosen: list[Index]
    functionals: list[SparseVector]
    prime: int

    @classmethod
    def of(cls, products: Products, prime: int) -> GeneratedPart:
        """Eliminate modulo a prime."""
        listed = products.distinct()
        rows = [({place: c % prime for place, c in row if c % prime}, index) for row, index in watched(listed)]
        quotient = Quotient.of(rows, prime)
        functionals = quotient.classes(products.size)
        return cls([row for row, _ in listed], quotient.chosen, functionals, prime)

    @property
    def corank(self) -> int:
        """Number of free monomials minus that of independent products."""
        return len(self.functionals) - len(self.chosen)

    def complement(self, columns: Iterable[int], place: Mapping[int, int]) -> list[int]:
        """Columns whose places are independent modulo the span, each taken if it does not depend on earlier ones.

        The search ends when as many are found as there can be.
        """
        chosen: list[int] = []
        rows: dict[int, SparseVector] = {}
        for column in watched(columns):
            vector = combination(self.functionals[place[column]], rows, self.prime)
            if vector:
                _add(vector, rows, self.prime)
                chosen.append(column)
                if len(chosen) == self.corank:
                    break
        return chosen

    def dual(self, places: Sequence[int]) -> list[list[int]]:
        """Functionals that vanish on the chosen products, dual to such monomials; all their values, mod the prime."""
        others = sorted({place for place, values in enumerate(self.functionals) if values}.difference(places))
        order = [*places, *others]
        numbers: dict[int, int] = {}
        columns = [
            [(numbers.setdefault(i, len(numbers)), value) for i, value in self.functionals[place].items()]
            for place in order
        ]
        matrix = matrix_with_columns(columns, flint.nmod_mat(len(numbers), len(order), self.prime))
        echelon, pivots = reduced_echelon(matrix)
        dual = []
        for row in watched(range(len(pivots))):
            vector = [0] * len(self.functionals)
            for column, place in enumerate(order):
                vector[place] = int(echelon[row, column])
            dual.append(vector)
        return dual

    def is_annihilated(self, functionals: Sequence[Sequence[int]]) -> bool:
        """Whether functionals over ZZ vanish on all products; then so do they on what these span over QQ.

        All functionals are evaluated at once, as digits of one large integer.
        """
        if not functionals:
            return True
        size = max((sum(abs(c) for _, c in row) for row in self.products), default=0)
        bound = size * max((abs(value) for vector in functionals for value in vector), default=0)
        # Sums are at most bound in absolute value, so no digit runs over and only zero has all digits zero.
        width = (2 * bound + 1).bit_length() + 1
        packed = [
            sum(c << width * k for k, c in enumerate(column) if c) for column in watched(zip(*functionals, strict=True))
        ]
        return not any(sum([c * packed[place] for place, c in row]) for row in watched(self.products))

    def rational_rank(self) -> int:
        """Dimension over QQ of what all products span."""
        columns = sorted(row for row in self.products if row)
        return rank_of(matrix_with_columns(columns, flint.fmpz_mat(len(self.functionals), len(columns))))


def _add(vector: SparseVector, forms: dict[int, SparseVector], prime: int) -> None:
    """Set a vector to zero: solve for one of its places, and substitute this in all other expressions."""
    place, leading = next(iter(vector.items()))
    factor = -pow(leading, -1, prime)
    solved = {place: {k: c * factor % prime for k, c in vector.items() if k != place}}
    for other, form in forms.items():
        if place in form:
            forms[other] = combination(form, solved, prime)
    forms |= solved


def matrix_with_columns(columns: Sequence[Sequence[tuple[int, int]]], zero: Any) -> Any:
    """Fill a zero matrix with sparse columns."""
    for j, column in enumerate(watched(columns)):
        for i, coefficient in column:
            zero[i, j] = coefficient
    return zero
