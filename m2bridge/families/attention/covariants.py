"""Covariants of products of linear forms: products of determinants, with their exact values at
points.

The boxes of λ are given to n factors of W = X ⊗ H ⊗ S²Y, so are those of μ, and the boxes of ν to
the 2n factors of Y. The product T of the determinants of the columns, of the first r coordinates
for a column of length r, is a highest weight functional on W^{⊗n}, and these span all of them. On
products of c = Σ x_i ⊗ h_k ⊗ l_i·v_k and x ⊗ h ⊗ y·y' it is a sum over a permutation for each
column of λ and μ, and over the orders of the two factors of Y; each term is a product of
determinants of the columns of ν, which are in tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, product
from math import prod
from random import Random
from typing import Any

import numpy

from m2bridge.algebra.schur import Partition, columns, signed_permutations
from m2bridge.errors import TooLargeError
from m2bridge.limits import check

Shapes = tuple[Partition, Partition, Partition]
"""Partitions of n, n and 2n, for X, H and Y."""

LARGEST_ENTRY = 3
SMALL = 1 << 62
MOST_TERMS = 1 << 22
TRIES = 1000

GENERIC, FIRST, SECOND = 0, 1, 2
"""What stands in a factor of W: c, or one of two elements x ⊗ h ⊗ y·y'."""


@dataclass(frozen=True, eq=False)
class Points:
    """Points (A, V) of the source with small integers, and two elements x ⊗ h ⊗ y·y' of W at each.

    Parameters
    ----------
    columns, rows, variables : int
        Dimensions of X, H, Y.
    vectors : array
        The l_i, the v_k, and y, y' of the two elements; then the points, then coordinates.
    scalars : array
        The x_i h_k of the two elements; indices element, i, k, point.
    """

    columns: int
    rows: int
    variables: int
    vectors: Any
    scalars: Any

    @classmethod
    def random(cls, sizes: tuple[int, int, int], rank: int, count: int, random: Random) -> Points:
        """Points with l_i in a space of dimension at most ``rank``."""
        generator = numpy.random.default_rng(random.getrandbits(64))

        def integers(*shape: int) -> Any:
            return generator.integers(-LARGEST_ENTRY, LARGEST_ENTRY + 1, shape)

        x, h, y = sizes
        free = integers(min(rank, x), count, y)
        combined = numpy.einsum("ijp,jpq->ipq", integers(x - len(free), len(free), count), free)
        vectors = numpy.concatenate([free, combined, integers(h, count, y), integers(4, count, y)])
        scalars = numpy.einsum("wip,wkp->wikp", integers(2, x, count), integers(2, h, count))
        return cls(x, h, y, vectors, scalars)

    @cached_property
    def tables(self) -> list[Any]:
        """The determinants, for each r, of the first r coordinates of any r vectors: an index for
        each, then points.
        """
        number, count = self.vectors.shape[:2]
        tables = [numpy.ones((1, count), dtype=numpy.int64)]
        for r in range(1, self.variables + 1):
            total = numpy.zeros((number**r, count), dtype=numpy.int64)
            lower = tables[-1].reshape((number,) * (r - 1) + (count,))
            for place in range(r):  # Laplace's rule for the last coordinate
                last = self.vectors[:, :, r - 1].reshape(
                    (number,) + (1,) * (r - 1 - place) + (count,)
                )
                term = numpy.expand_dims(lower, place) * last
                total += (-1) ** (r - 1 - place) * term.reshape(total.shape)
            tables.append(total)
        return tables

    @cached_property
    def bounds(self) -> list[int]:
        """The largest absolute value of a determinant, for each r."""
        return [int(abs(table).max()) for table in self.tables]

    @cached_property
    def largest_scalar(self) -> int:
        """The largest absolute value of an x_i h_k."""
        return int(abs(self.scalars).max())


@dataclass(frozen=True, eq=False)
class Covariant:
    """A product T of determinants.

    Parameters
    ----------
    shapes : Shapes
    places : tuple of sequences of int
        The factors of the boxes of λ, μ, ν, column by column; the factor s of W has the factors 2s
        and 2s + 1 of Y.
    """

    shapes: Shapes
    places: tuple[Sequence[int], Sequence[int], Sequence[int]]

    @classmethod
    def random(cls, shapes: Shapes, random: Random) -> Covariant | None:
        """One that is not zero at first sight: the two factors of Y of no factor of W are in the
        same column.

        ``None`` if none was seen.
        """
        n = sum(shapes[0])
        owner = [j for j, length in enumerate(columns(shapes[2])) for _ in range(length)]
        tall = columns(shapes[2])
        for _ in range(TRIES):
            places = tuple(random.sample(range(size), size) for size in (n, n, 2 * n))
            column = dict(zip(places[2], owner, strict=True))
            if all(
                column[2 * s] != column[2 * s + 1] or tall[column[2 * s]] == 1 for s in range(n)
            ):
                return cls(shapes, (places[0], places[1], places[2]))
        return None

    @property
    def brackets(self) -> str:
        """The determinants as ``[12]_X [13]_Y``, by the numbers of the factors; columns of length 1
        are left out.
        """
        found = []
        for space, shape, places, sides in zip(
            "XHY", self.shapes, self.places, (1, 1, 2), strict=True
        ):
            factors = iter(place // sides + 1 for place in places)
            for column in ([next(factors) for _ in range(length)] for length in columns(shape)):
                found += [f"[{''.join(map(str, column))}]_{space}"] if len(column) > 1 else []
        return " ".join(found)

    @property
    def degree(self) -> int:
        """The number n of factors of W."""
        return sum(self.shapes[0])

    @cached_property
    def symmetric_factors(self) -> int:
        """The factors of W that have both factors of Y in columns of length 1: their orders are not
        summed over.
        """
        return self.degree - (len(self._orders).bit_length() - 1)

    @cached_property
    def _terms(self) -> tuple[Any, Any, Any]:
        """The indices i and k of each factor of each term, and a sign."""
        (i, first), (k, second) = (words(self.shapes[j], self.places[j]) for j in (0, 1))
        signs = numpy.repeat(first, len(second)) * numpy.tile(second, len(first))
        return numpy.repeat(i, len(k), axis=0), numpy.tile(k, (len(i), 1)), signs

    @cached_property
    def _orders(self) -> Any:
        """The orders of the two factors of Y in each factor of W; one of them where both are in
        columns of length 1.
        """
        lengths = dict(
            zip(self.places[2], (r for r in columns(self.shapes[2]) for _ in range(r)), strict=True)
        )
        choices = [
            (0, 1) if max(lengths[2 * s], lengths[2 * s + 1]) > 1 else (0,)
            for s in range(self.degree)
        ]
        return numpy.array(list(product(*choices)))

    def values(self, points: Points, factors: Sequence[int] = (), *, symmetric: bool = True) -> Any:
        """T at the points, where the first factors of W are given and all others are c.

        Parameters
        ----------
        factors : sequence of GENERIC, FIRST or SECOND
        symmetric : bool
            Without it l_i stands before v_k always: these are the covariants of the source.

        Raises
        ------
        TooLargeError
            If there are too many terms, or the value could leave the range of machine integers.
        """
        orders, terms = self._orders if symmetric else self._orders[:1], len(self._terms[-1])
        bound = (
            terms
            * len(orders)
            * prod(points.bounds[r] for r in columns(self.shapes[2]))
            * points.largest_scalar**2
        )
        if bound >= SMALL or terms * len(orders) * points.vectors.shape[1] > MOST_TERMS * 64:
            raise TooLargeError(f"a covariant of degree {self.degree} has too many terms")
        check()
        total = 0
        for part in range(
            0, terms, step := max(1, MOST_TERMS // (len(orders) * points.vectors.shape[1]))
        ):
            total = total + self._sum(slice(part, part + step), orders, points, factors)
        return total

    def _sum(self, block: slice, orders: Any, points: Points, factors: Sequence[int]) -> Any:
        """The sum of these terms, in all orders."""
        i, k, signs = (part[block] for part in self._terms)
        left, right, weight = i.copy(), k + points.columns, signs[:, None]
        for s, factor in enumerate(factors):
            if factor != GENERIC:
                weight = weight * points.scalars[factor - 1][i[:, s], k[:, s]]
                left[:, s] = points.columns + points.rows + 2 * (factor - 1)
                right[:, s] = left[:, s] + 1
        sides = numpy.stack([left, right], axis=-1)  # term, factor of W, factor of Y
        number, values, boxes = len(points.vectors), weight[:, None, :], iter(self.places[2])
        for r in columns(self.shapes[2]):
            index: Any = 0
            for s, side in (divmod(box, 2) for box in islice(boxes, r)):
                index = index * number + sides[:, s][:, orders[:, s] ^ side]
            values = values * points.tables[r][index]
        return values.sum(axis=(0, 1))


def words(shape: Partition, places: Sequence[int]) -> tuple[Any, Any]:
    """The indices of the factors in the product of the determinants of the columns of a shape, with
    signs.
    """
    found, signs = [], []
    for chosen in product(*(signed_permutations(length) for length in columns(shape))):
        word = dict(zip(places, (index for order, _ in chosen for index in order), strict=True))
        found.append([word[s] for s in range(len(places))])
        signs.append(prod(sign for _, sign in chosen))
    return numpy.array(found), numpy.array(signs, dtype=numpy.int64)
