"""Which monomials are linearly independent on the image, by linear algebra modulo a prime.

Monomials in the coordinates are expanded in the parameters, on a slice of the parameter space, or evaluated at random
points of the image.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from random import Random
from typing import TYPE_CHECKING, Any

import flint

from m2bridge.algebra.integers import LARGE_PRIME
from m2bridge.algebra.linear_algebra import elimination_price, reduced_echelon
from m2bridge.algebra.sparse_polynomial import IntegerPolynomial, Monomial, gradient_at, monomial_of, restricted
from m2bridge.clock import check, watched

if TYPE_CHECKING:
    from m2bridge.implicitization.multigraded_map import MultigradedMap

Column = list[int]
PackedPolynomial = dict[int, int]
"""Coefficients of monomials in the parameters; the exponents are digits of one integer, so that they add as it does."""

SPARE_POINTS = 5
MOST_ROWS = 2
"""With this many times as many coefficients as monomials, random points give the smaller matrix."""


@dataclass(frozen=True, slots=True)
class ModularElimination:
    """Coefficients of expanded monomials where the expansions are short; else values at random points."""

    expansions: Expansions
    points: RandomPoints

    @classmethod
    def of(
        cls, source: MultigradedMap, max_degree: int, random: Random, prime: int = LARGE_PRIME
    ) -> ModularElimination:
        """For monomials of at most the given degree."""
        return cls(Expansions.of(source, max_degree, random, prime), RandomPoints.of(source, random, prime))

    def modulo(self, prime: int, random: Random) -> ModularElimination:
        """The same on the same slice modulo another prime."""
        images = self.points.images
        points = RandomPoints(images, self.points.parameters, random, prime, [[] for _ in images])
        return ModularElimination(replace(self.expansions, prime=prime), points)

    def echelon(self, monomials: Sequence[Monomial]) -> tuple[Any, tuple[int, ...]]:
        """Reduced echelon form of a matrix with one column per monomial, and its pivot columns.

        The rank is at most that over QQ of the monomials as functions on the image, and equal to it unless slice,
        points or prime are unlucky. The echelon form depends on these accidents only.
        """
        size = len(monomials) + SPARE_POINTS
        if self.expansions.work(monomials) <= size * size:
            rows = self.expansions.rows(monomials)
            if len(rows) <= MOST_ROWS * size:
                return self.expansions.echelon(rows, len(monomials))
        return self.points.echelon(monomials)


@dataclass(slots=True)
class RandomPoints:
    """Random points of the image over GF(prime); more are drawn when they are needed.

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
        c, column = coefficient % prime, _monomial(monomial_of(exponents), values, products, prime)
        total = [(t + c * v) % prime for t, v in zip(total, column, strict=True)]
    return total


@dataclass(frozen=True, slots=True)
class Expansions:
    """The images restricted to a slice, and products of them.

    Parameters
    ----------
    images : tuple of packed polynomials
    prime : int
    """

    images: tuple[PackedPolynomial, ...]
    prime: int

    @classmethod
    def of(cls, source: MultigradedMap, max_degree: int, random: Random, prime: int) -> Expansions:
        """For monomials of at most the given degree."""
        images = source.integral_images
        fixed = dense_slice(images, len(source.polynomial_map.source.variables), prime, random)
        largest = max((exponent for image in images for exponents in image for exponent in exponents), default=0)
        # A monomial of degree n has at most n factors, so no digit runs over.
        width = (max_degree * largest).bit_length()
        return cls(tuple(_packed(restricted(image, fixed), width) for image in watched(images)), prime)

    def work(self, monomials: Sequence[Monomial]) -> int:
        """A bound for the number of terms of all expansions together."""
        return sum(prod([len(self.images[j]) for j in monomial]) for monomial in watched(monomials))

    def rows(self, monomials: Sequence[Monomial]) -> set[tuple[tuple[int, int], ...]]:
        """The different rows of the matrix of coefficients, one column per monomial, without their zeros."""
        products: dict[Monomial, PackedPolynomial] = {(): {0: 1}}
        rows: dict[int, list[tuple[int, int]]] = {}
        for column, monomial in enumerate(watched(monomials)):
            for exponents, c in self._expand(monomial, products).items():
                rows.setdefault(exponents, []).append((column, c))
        return set(map(tuple, rows.values()))

    def _expand(self, monomial: Monomial, products: dict[Monomial, PackedPolynomial]) -> PackedPolynomial:
        known = products.get(monomial)
        if known is None:
            known = _product(self._expand(monomial[:-1], products), self.images[monomial[-1]])
            products[monomial] = known
        return known

    def echelon(self, rows: set[tuple[tuple[int, int], ...]], width: int) -> tuple[Any, tuple[int, ...]]:
        """Reduced echelon form modulo the prime of such rows, and its pivot columns."""
        matrix = flint.nmod_mat(len(rows), width, self.prime)
        for i, row in enumerate(watched(rows)):
            for j, c in row:
                matrix[i, j] = c % self.prime
        return reduced_echelon(matrix)


def _packed(polynomial: IntegerPolynomial, width: int) -> PackedPolynomial:
    return {sum(e << width * i for i, e in enumerate(exponents) if e): c for exponents, c in polynomial.items()}


def _product(first: PackedPolynomial, second: PackedPolynomial) -> PackedPolynomial:
    result: PackedPolynomial = {}
    for exponents, c in watched(second.items()):
        for others, value in first.items():
            total = exponents + others
            result[total] = result.get(total, 0) + c * value
    return {exponents: c for exponents, c in result.items() if c}


def dense_slice(images: Sequence[IntegerPolynomial], parameters: int, prime: int, random: Random) -> dict[int, int]:
    """Parameters that may be fixed, each to 0 or 1, so that the closure of the image stays the same.

    The Jacobian matrix of the restricted map has at one point modulo the prime the rank that the whole one has at
    another. If that is the dimension of the closure of the whole image, the closure of the restricted image, which is
    irreducible and contained in it, is no smaller. Otherwise the point or prime is unlucky, and functions that are
    different on the image may agree on the slice; ranks on the slice are in any case lower bounds for those on the
    image.
    """
    point = [random.randrange(prime) for _ in range(parameters)]
    fixed: dict[int, int] = {}
    rank = _differential_rank(images, point, fixed, prime)
    for parameter in range(parameters):
        if rank == parameters - len(fixed):
            break
        for value in (0, 1):
            attempt = {**fixed, parameter: value}
            if _differential_rank(images, point, attempt, prime) == rank:
                fixed = attempt
                break
    return fixed


def _differential_rank(
    images: Sequence[IntegerPolynomial], point: Sequence[int], fixed: Mapping[int, int], prime: int
) -> int:
    """Rank of the Jacobian matrix in the parameters that are not fixed, at the point with the others replaced."""
    place = [fixed.get(i, value) for i, value in enumerate(point)]
    matrix = flint.nmod_mat(len(images), len(point), prime)
    for row, image in enumerate(watched(images)):
        for column, value in gradient_at(image, place, prime).items():
            if column not in fixed:
                matrix[row, column] = value % prime
    check(elimination_price(len(images), len(point)))
    return int(matrix.rank())
