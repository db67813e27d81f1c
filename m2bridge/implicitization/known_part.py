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

    def dense(self, index: tuple[int, int]) -> list[int]:
        """The coefficients of one product at the free monomials."""
        neighbour, row = index
        places = self.places[neighbour]
        result = [0] * self.size
        for position, coefficient in self.neighbours[neighbour].block.ideal[row]:
            place = places[position]
            if place >= 0:
                result[place] = coefficient
        return result

    def sparse(self, index: tuple[int, int], position: Mapping[Monomial, int]) -> SparseRow:
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
        rows: list[list[int]] = []
        while remaining and len(chosen) < self.size:
            portion = max(self.size // 2, self.size - len(chosen)) + SPARE_ROWS
            batch, remaining = remaining[:portion], remaining[portion:]
            chosen += batch
            rows += [self.dense(index) for index in batch]
            kept = reduced_echelon(modular_matrix(rows, prime).transpose())[1]
            chosen, rows = [chosen[i] for i in kept], [rows[i] for i in kept]
        return chosen

    def rational_rank(self) -> int:
        """Dimension over QQ of what all products span."""
        rows = {tuple(self.dense(index)) for index in self.indices()}
        return int(flint.fmpz_mat([list(row) for row in rows]).rank()) if rows and self.size else 0


def modular_matrix(rows: Sequence[Sequence[int]], prime: int) -> Any:
    """A matrix over GF(prime) from rows of integers."""
    return flint.nmod_mat(len(rows), len(rows[0]), [entry % prime for row in rows for entry in row], prime)
