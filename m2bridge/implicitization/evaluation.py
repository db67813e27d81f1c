"""Values of coordinates and monomials at random points of the image, modulo a prime."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import flint

from m2bridge.algebra.linear_algebra import LARGE_PRIME, elimination_price
from m2bridge.clock import check, watched
from m2bridge.implicitization.multigraded_map import IntegerPolynomial, MultigradedMap
from m2bridge.implicitization.weight_spaces import Monomial

Column = list[int]
SPARE_POINTS = 5


@dataclass(slots=True)
class RandomPoints:
    """Random points of the image over GF(prime), more of them whenever more are asked for.

    Parameters
    ----------
    images : tuple of polynomials with integer coefficients
    columns : list of lists of int
        For each coordinate its values at all points so far.
    """

    images: tuple[IntegerPolynomial, ...]
    parameters: int
    random: Random
    prime: int = LARGE_PRIME
    columns: list[Column] = field(default_factory=list)

    @classmethod
    def of(cls, source: MultigradedMap, random: Random, prime: int = LARGE_PRIME) -> RandomPoints:
        """Points of the image of a map, drawn when needed."""
        images = source.integral_images
        return cls(images, len(source.polynomial_map.source.variables), random, prime, [[] for _ in images])

    def require(self, count: int) -> None:
        """Have at least ``count`` points."""
        missing = count - (len(self.columns[0]) if self.columns else 0)
        if missing <= 0:
            return
        size = max(missing, 32)
        values = [[self.random.randrange(self.prime) for _ in range(size)] for _ in range(self.parameters)]
        powers: dict[Monomial, Column] = {(): [1] * size}
        for column, image in watched(zip(self.columns, self.images, strict=True)):
            column += _evaluate(image, values, powers, self.prime)

    def monomials(self, monomials: Sequence[Monomial], start: int, stop: int) -> list[Column]:
        """The values of monomials at the points with numbers start, …, stop − 1."""
        self.require(stop)
        columns = [column[start:stop] for column in self.columns]
        prefixes: dict[Monomial, Column] = {(): [1] * (stop - start)}
        return [_monomial(monomial, columns, prefixes, self.prime) for monomial in watched(monomials)]

    def echelon(self, monomials: Sequence[Monomial]) -> tuple[Any, tuple[int, ...]]:
        """Reduced echelon form of the matrix of values, one column per monomial, and its pivot columns.

        The rank is at most that over QQ of the monomials as functions on the image, and equal to it unless the
        points or the prime are unlucky. As it is often less than half the number of monomials, half as many points are
        tried first, and more are added as long as the rank is nearly the number of points.
        """
        most = len(monomials) + SPARE_POINTS
        count = most // 2 + SPARE_POINTS
        start = 0
        values: list[Column] = [[] for _ in monomials]
        while True:
            count = min(count, most)
            for column, more in zip(values, self.monomials(monomials, start, count), strict=True):
                column += more
            entries = [value for column in values for value in column]
            matrix = flint.nmod_mat(len(monomials), count, entries, self.prime).transpose()
            echelon, pivots = reduced_echelon(matrix)
            if len(pivots) <= count - SPARE_POINTS or count == most:
                return echelon, pivots
            start, count = count, 2 * count


def reduced_echelon(matrix: Any) -> tuple[Any, tuple[int, ...]]:
    """Reduced row echelon form of a matrix over GF(p) and its pivot columns."""
    check(elimination_price(matrix.nrows(), matrix.ncols()))
    echelon, height = matrix.rref()
    pivots = []
    column = 0
    for row in range(height):
        while not int(echelon[row, column]):
            column += 1
        pivots.append(column)
    return echelon, tuple(pivots)


def _monomial(monomial: Monomial, columns: list[Column], prefixes: dict[Monomial, Column], prime: int) -> Column:
    known = prefixes.get(monomial)
    if known is None:
        first = _monomial(monomial[:-1], columns, prefixes, prime)
        known = [a * b % prime for a, b in zip(first, columns[monomial[-1]], strict=True)]
        prefixes[monomial] = known
    return known


def _evaluate(image: IntegerPolynomial, values: list[Column], products: dict[Monomial, Column], prime: int) -> Column:
    total = [0] * len(products[()])
    for exponents, coefficient in watched(image.items()):
        factors = tuple(i for i, exponent in enumerate(exponents) for _ in range(exponent))
        c = coefficient % prime
        total = [(t + c * v) % prime for t, v in zip(total, _monomial(factors, values, products, prime), strict=True)]
    return total
