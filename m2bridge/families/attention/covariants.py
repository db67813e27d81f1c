"""Covariants of products of linear forms: products of determinants, with exact values at points.

The boxes of λ are given to n factors of W = X ⊗ H ⊗ S²Y, so are those of μ, and the boxes of ν to
the 2n factors of Y. The product T of the determinants of the columns, of the first r coordinates
for a column of length r, is a highest weight functional on W^{⊗n}, and these span all of them. On
products of c = Σ x_i ⊗ h_k ⊗ l_i·v_k and x ⊗ h ⊗ y·y' it is a sum over a permutation for each
column of λ and μ, and over the orders of the two factors of Y; each term is a product of
determinants of the columns of ν, which are in tables. What ranks of such values say is in
:mod:`.representations`; the proofs are in docs/representations.md.
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
"""Of points: so small that values of high degree are still machine integers."""
SMALL = 1 << 62
"""Below it sums and products of machine integers are exact, with a bit to spare."""
MOST_TERMS = 1 << 22
"""Terms at points that are in memory together; the computation takes at most 64 such blocks."""
TRIES = 1000
"""Products of determinants that are drawn until one is not zero at first sight."""

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
        """Return points with l_i in a space of dimension at most ``rank``."""
        generator = numpy.random.default_rng(random.getrandbits(64))

        def integers(*shape: int) -> Any:
            return generator.integers(-LARGEST_ENTRY, LARGEST_ENTRY + 1, shape)

        x, h, y = sizes
        # The other l_i are combinations of the first ones.
        free = integers(min(rank, x), count, y)
        combined = numpy.einsum("ijp,jpq->ipq", integers(x - len(free), len(free), count), free)
        vectors = numpy.concatenate([free, combined, integers(h, count, y), integers(4, count, y)])
        scalars = numpy.einsum("wip,wkp->wikp", integers(2, x, count), integers(2, h, count))
        return cls(x, h, y, vectors, scalars)

    @cached_property
    def tables(self) -> list[Any]:
        """The determinants of the first r coordinates of any r vectors, for each r.

        An entry has an index for each vector, as digits of one number; then the points.
        """
        number, count = self.vectors.shape[:2]
        tables = [numpy.ones((1, count), dtype=numpy.int64)]
        for r in range(1, self.variables + 1):
            total = numpy.zeros((number**r, count), dtype=numpy.int64)
            minors = tables[-1].reshape((number,) * (r - 1) + (count,))
            # Laplace's rule for the last coordinate, which is that of each vector in turn.
            for place in range(r):
                after = r - 1 - place
                last = self.vectors[:, :, r - 1].reshape((number,) + (1,) * after + (count,))
                term = numpy.expand_dims(minors, place) * last
                total += (-1) ** after * term.reshape(total.shape)
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
        """Return one that is not zero at first sight; ``None`` if none was seen."""
        n = sum(shapes[0])
        for _ in range(TRIES):
            x, h, y = (random.sample(range(size), size) for size in (n, n, 2 * n))
            covariant = cls(shapes, (x, h, y))
            if covariant._may_be_nonzero():
                return covariant
        return None

    def _may_be_nonzero(self) -> bool:
        """Whether no factor of W has both factors of Y in one column of length 2 or more.

        A determinant changes its sign when they are exchanged, and an element of S²Y does not.
        """
        column_of: dict[int, int] = {}
        boxes = iter(self.places[2])
        for column, length in enumerate(columns(self.shapes[2])):
            if length > 1:
                column_of |= dict.fromkeys(islice(boxes, length), column)
        for s in range(self.degree):
            first = column_of.get(2 * s)
            if first is not None and first == column_of.get(2 * s + 1):
                return False
        return True

    @property
    def brackets(self) -> str:
        """The determinants as ``[12]_X [13]_Y``, by the numbers of the factors of W.

        Columns of length 1 are left out.
        """
        found = []
        for space, shape, places in zip("XHY", self.shapes, self.places, strict=True):
            # A factor of W has two factors of Y.
            sides = 2 if space == "Y" else 1
            boxes = iter(places)
            for length in columns(shape):
                factors = [place // sides + 1 for place in islice(boxes, length)]
                if length > 1:
                    found.append(f"[{''.join(map(str, factors))}]_{space}")
        return " ".join(found)

    @property
    def degree(self) -> int:
        """The number n of factors of W."""
        return sum(self.shapes[0])

    @cached_property
    def symmetric_factors(self) -> int:
        """The number of factors of W with both factors of Y in columns of length 1."""
        # All others have two orders of the factors of Y.
        return self.degree - (len(self._orders).bit_length() - 1)

    @cached_property
    def _terms(self) -> tuple[Any, Any, Any]:
        """The indices i and k of each factor of each term, and a sign."""
        # A term of the product is a term of the one sum with a term of the other.
        i, i_signs = words(self.shapes[0], self.places[0])
        k, k_signs = words(self.shapes[1], self.places[1])
        signs = numpy.repeat(i_signs, len(k)) * numpy.tile(k_signs, len(i))
        i_of_all = numpy.repeat(i, len(k), axis=0)
        k_of_all = numpy.tile(k, (len(i), 1))
        return i_of_all, k_of_all, signs

    @cached_property
    def _orders(self) -> Any:
        """The orders of the two factors of Y in each factor of W.

        It is one of them where both are in columns of length 1: the other has the same value.
        """
        lengths: list[int] = []
        for length in columns(self.shapes[2]):
            lengths += [length] * length
        length_at = dict(zip(self.places[2], lengths, strict=True))
        choices = []
        for s in range(self.degree):
            matters = max(length_at[2 * s], length_at[2 * s + 1]) > 1
            choices.append((0, 1) if matters else (0,))
        return numpy.array(list(product(*choices)))

    def values(self, points: Points, factors: Sequence[int] = (), *, symmetric: bool = True) -> Any:
        """Return T at the points, where the first factors of W are given and all others are c.

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
        orders = self._orders
        if not symmetric:
            orders = orders[:1]
        terms = len(self._terms[-1])
        width = len(orders) * points.vectors.shape[1]
        # No sum is larger than all terms times the largest determinants and two scalars.
        largest = prod(points.bounds[r] for r in columns(self.shapes[2]))
        bound = terms * len(orders) * largest * points.largest_scalar**2
        if bound >= SMALL or terms * width > MOST_TERMS * 64:
            raise TooLargeError(f"a covariant of degree {self.degree} has too many terms")
        check()
        total = 0
        step = max(1, MOST_TERMS // width)
        for start in range(0, terms, step):
            total = total + self._sum(slice(start, start + step), orders, points, factors)
        return total

    def _sum(self, block: slice, orders: Any, points: Points, factors: Sequence[int]) -> Any:
        """Return the sum of these terms, in all orders."""
        i, k, signs = (part[block] for part in self._terms)
        # Where c stands, its term x_i ⊗ h_k ⊗ l_i·v_k does: v_k comes after all l_i.
        left = i.copy()
        right = k + points.columns
        weight = signs[:, None]
        for s, factor in enumerate(factors):
            if factor != GENERIC:
                weight = weight * points.scalars[factor - 1][i[:, s], k[:, s]]
                left[:, s] = points.columns + points.rows + 2 * (factor - 1)
                right[:, s] = left[:, s] + 1
        # Indices: term, factor of W, factor of Y.
        sides = numpy.stack([left, right], axis=-1)
        number = len(points.vectors)
        values = weight[:, None, :]
        boxes = iter(self.places[2])
        for r in columns(self.shapes[2]):
            index: Any = 0
            for box in islice(boxes, r):
                s, side = divmod(box, 2)
                index = index * number + sides[:, s][:, orders[:, s] ^ side]
            values = values * points.tables[r][index]
        return values.sum(axis=(0, 1))


def words(shape: Partition, places: Sequence[int]) -> tuple[Any, Any]:
    """Return the terms of the product of the determinants of the columns of a shape, with signs.

    A term is the list of the indices of the factors.
    """
    found = []
    signs = []
    for chosen in product(*map(signed_permutations, columns(shape))):
        word = [0] * len(places)
        boxes = iter(places)
        sign = 1
        for order, sign_of_order in chosen:
            sign *= sign_of_order
            for index, box in zip(order, islice(boxes, len(order)), strict=True):
                word[box] = index
        found.append(word)
        signs.append(sign)
    return numpy.array(found), numpy.array(signs, dtype=numpy.int64)
