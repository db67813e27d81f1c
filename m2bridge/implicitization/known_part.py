"""The part of the ideal in one weight that lower degrees generate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import flint

from m2bridge.implicitization.blocks import Neighbour, SparseRow
from m2bridge.implicitization.evaluation import reduced_echelon
from m2bridge.implicitization.weight_spaces import Monomial

SPARE_ROWS = 16


@dataclass(frozen=True, slots=True)
class Products:
    """The products x_j · g, g in the basis of the ideal in the weight below, restricted to free monomials.

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
        places = [[number.get(m, -1) for m in neighbour.products] for neighbour in neighbours]
        return cls(neighbours, places, len(free))

    def indices(self) -> list[tuple[int, int]]:
        """The pairs (neighbour, row) of all products."""
        return [(i, row) for i, neighbour in enumerate(self.neighbours) for row in range(len(neighbour.block.ideal))]

    def coefficients(self, index: tuple[int, int]) -> SparseRow:
        """The nonzero coefficients of one product at the free monomials."""
        neighbour, row = index
        places = self.places[neighbour]
        terms = self.neighbours[neighbour].block.ideal[row]
        return tuple([(place, c) for position, c in terms if (place := places[position]) >= 0])

    def polynomial(self, index: tuple[int, int], position: Mapping[Monomial, int]) -> SparseRow:
        """One product as a polynomial, its monomials numbered by ``position``."""
        neighbour, row = index
        products = self.neighbours[neighbour].products
        return tuple([(position[products[i]], c) for i, c in self.neighbours[neighbour].block.ideal[row]])

    def independent(self, prime: int, random: Random) -> list[tuple[int, int]]:
        """Products that are linearly independent modulo the prime, as many as there are.

        The products are taken in random order and in portions; the search stops once they fill the ideal.
        """
        remaining = self.indices()
        random.shuffle(remaining)
        chosen: list[tuple[int, int]] = []
        columns: list[SparseRow] = []
        while remaining and len(chosen) < self.size:
            portion = max(self.size // 2, self.size - len(chosen)) + SPARE_ROWS
            batch, remaining = remaining[:portion], remaining[portion:]
            chosen += batch
            columns += [self.coefficients(index) for index in batch]
            kept = reduced_echelon(matrix_with_columns(columns, flint.nmod_mat(self.size, len(columns), prime)))[1]
            chosen, columns = [chosen[i] for i in kept], [columns[i] for i in kept]
        return chosen

    def rational_rank(self) -> int:
        """Dimension over QQ of what all products span."""
        columns = sorted({self.coefficients(index) for index in self.indices()})
        return int(matrix_with_columns(columns, flint.fmpz_mat(self.size, len(columns))).rank())


def matrix_with_columns(columns: Sequence[Sequence[tuple[int, int]]], zero: Any) -> Any:
    """Fill a zero matrix with sparse columns."""
    for j, column in enumerate(columns):
        for i, coefficient in column:
            zero[i, j] = coefficient
    return zero
