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
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import islice, product
from math import prod
from random import Random
from typing import Any

import numpy

from m2bridge.algebra.schur import PartitionTuple, columns, signed_permutations
from m2bridge.errors import TooLargeError
from m2bridge.limits import check

PartitionTriple = tuple[PartitionTuple, PartitionTuple, PartitionTuple]
"""Partitions of n, n and 2n, for X, H and Y."""

MAX_POINT_ENTRY = 3
"""The largest entry of a point, so small that values of high degree are machine integers."""
MAX_INT64_VALUE = 1 << 62
"""Sums and products of machine integers below this bound are exact, with one bit to spare."""
MAX_COVARIANT_TERMS = 1 << 28
"""The largest number of terms of one covariant, at all points together."""
TERMS_PER_BLOCK = 1 << 18
"""The number of terms, at all points, that are computed at once."""
MAX_COVARIANT_TRIES = 1000
"""The number of products of determinants that are drawn until one has a nonzero value."""

GENERIC, FIRST, SECOND = 0, 1, 2
"""The element in a factor of W: c, or one of two elements x ⊗ h ⊗ y·y'."""


@dataclass(frozen=True, eq=False)
class Determinants:
    """The determinants of the first r coordinates of any r vectors, at points.

    Parameters
    ----------
    table : array
        An entry has an index for each vector, as digits of one number; then the points.
    is_present : array
        Whether the determinant of r vectors is nonzero at some point, for each choice of them.
    largest : int
        The largest absolute value.
    """

    table: Any
    is_present: Any
    largest: int

    @classmethod
    def of(cls, table: Any) -> Determinants:
        """Return what these values prove about the determinants."""
        return cls(table=table, is_present=table.any(axis=1), largest=int(abs(table).max()))


@dataclass(frozen=True, eq=False)
class SourcePoints:
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
    _determinants: dict[int, Determinants] = field(default_factory=dict, init=False)

    @classmethod
    def random(
        cls, sizes: tuple[int, int, int], rank: int, count: int, random: Random
    ) -> SourcePoints:
        """Return points with l_i in a space of dimension at most ``rank``."""
        generator = numpy.random.default_rng(random.getrandbits(64))

        def integers(*shape: int) -> Any:
            return generator.integers(-MAX_POINT_ENTRY, MAX_POINT_ENTRY + 1, shape)

        x, h, y = sizes
        # The other l_i are combinations of the first ones, with coefficients for each point p.
        free = integers(min(rank, x), count, y)
        combined = numpy.einsum("ijp,jpq->ipq", integers(x - len(free), len(free), count), free)
        # The l_i, the v_k, and y and y' of both elements w of W.
        vectors = numpy.concatenate([free, combined, integers(h, count, y), integers(4, count, y)])
        # The products x_i h_k of both.
        scalars = numpy.einsum("wip,wkp->wikp", integers(2, x, count), integers(2, h, count))
        return cls(x, h, y, vectors, scalars)

    @property
    def count(self) -> int:
        """The number of points."""
        return int(self.vectors.shape[1])

    def first(self, count: int) -> SourcePoints:
        """Return the first ``count`` of the points."""
        return replace(self, vectors=self.vectors[:, :count], scalars=self.scalars[..., :count])

    def determinants(self, r: int) -> Determinants:
        """Return the determinants of the first r coordinates of any r vectors."""
        if r not in self._determinants:
            self._determinants[r] = Determinants.of(self._table(r))
        return self._determinants[r]

    def _table(self, r: int) -> Any:
        """The determinants of all r-tuples of vectors at all points: a row for each tuple."""
        if r == 0:
            return numpy.ones((1, self.count), dtype=numpy.int64)
        number = len(self.vectors)
        table = numpy.zeros((number**r, self.count), dtype=numpy.int64)
        minors = self.determinants(r - 1).table.reshape((number,) * (r - 1) + (self.count,))
        # Laplace's rule for the last coordinate, which is that of each vector in turn.
        for place in range(r):
            after = r - 1 - place
            last = self.vectors[:, :, r - 1].reshape((number,) + (1,) * after + (self.count,))
            term = numpy.expand_dims(minors, place) * last
            table += (-1) ** after * term.reshape(table.shape)
        return table

    @cached_property
    def largest_scalar(self) -> int:
        """The largest absolute value of an x_i h_k."""
        return int(abs(self.scalars).max())


@dataclass(frozen=True, eq=False)
class Covariant:
    """A product T of determinants.

    Parameters
    ----------
    shapes : PartitionTriple
    places : tuple of sequences of int
        The factors of the boxes of λ, μ, ν, column by column; the factor s of W has the factors 2s
        and 2s + 1 of Y.
    """

    shapes: PartitionTriple
    places: tuple[Sequence[int], Sequence[int], Sequence[int]]

    @classmethod
    def random(cls, shapes: PartitionTriple, random: Random) -> Covariant | None:
        """Return one that is not zero at first sight; ``None`` if none was seen."""
        n = sum(shapes[0])
        for _ in range(MAX_COVARIANT_TRIES):
            x, h, y = (_permutation(size, random) for size in (n, n, 2 * n))
            covariant = cls(shapes, (x, h, y))
            if covariant._may_be_nonzero():
                return covariant
        return None

    def _may_be_nonzero(self) -> bool:
        """Whether no factor of W has both factors of Y in one column.

        A determinant changes its sign when they are exchanged, and an element of S²Y does not.
        """
        column_of = dict(zip(self.places[2], _columns_of_boxes(self.shapes[2]), strict=True))
        return all(column_of[2 * s] != column_of[2 * s + 1] for s in range(self.degree))

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

    def exchanged(self) -> Covariant:
        """Return the one whose first two factors of W are exchanged."""
        moved = (1, 0, *range(2, self.degree))
        x, h, y = self.places
        return Covariant(
            shapes=self.shapes,
            places=(
                [moved[s] for s in x],
                [moved[s] for s in h],
                [2 * moved[place // 2] + place % 2 for place in y],
            ),
        )

    @property
    def symmetric_factors(self) -> int:
        """The number of factors of W with both factors of Y in columns of length 1."""
        return self.degree - int(_has_two_orders(self.shapes[2], self.places[2]).sum())


def values(
    covariants: Sequence[Covariant],
    points: SourcePoints,
    factors: Sequence[int] = (),
    *,
    symmetric: bool = True,
) -> Any:
    """Return covariants of one type at the points, where the first factors of W are given.

    All other factors are c. There is a row for each covariant.

    Parameters
    ----------
    covariants : sequence of Covariant
    points : SourcePoints
    factors : sequence of GENERIC, FIRST or SECOND
    symmetric : bool
        Without it l_i stands before v_k always: these are the covariants of the source.

    Raises
    ------
    TooLargeError
        If there are too many terms, or a value could leave the range of machine integers.
    """
    found: Any = numpy.zeros((len(covariants), points.count), dtype=numpy.int64)
    if not covariants:
        return found
    shapes = covariants[0].shapes
    x, h, y = (numpy.array([T.places[space] for T in covariants]) for space in range(3))
    has_two_orders = _has_two_orders(shapes[2], y) & symmetric
    exponents = has_two_orders.sum(axis=1)
    # Those with the same number of orders are computed together, in blocks.
    for exponent in set(exponents.tolist()):
        alike = numpy.flatnonzero(exponents == exponent)
        step = max(1, TERMS_PER_BLOCK // (points.count << exponent))
        for start in range(0, len(alike), step):
            some = alike[start : start + step]
            found[some] = _values(
                shapes=shapes,
                places=(x[some], h[some], y[some]),
                orders=_orders(has_two_orders[some], exponent),
                points=points,
                factors=factors,
            )
    return found


def _permutation(size: int, random: Random) -> list[int]:
    """Return 0, …, size − 1 in random order: ``random.sample``, without its checks.

    These would take longer than all the rest.
    """
    digits = random.getrandbits
    left = list(range(size))
    found = []
    for count in range(size, 0, -1):
        length = count.bit_length()
        chosen = digits(length)
        while chosen >= count:
            chosen = digits(length)
        found.append(left[chosen])
        left[chosen] = left[count - 1]
    return found


@lru_cache(maxsize=1000)
def _columns_of_boxes(shape: PartitionTuple) -> tuple[int, ...]:
    """Return the number of its column for each box."""
    found: list[int] = []
    for column, length in enumerate(columns(shape)):
        found += [column] * length
    return tuple(found)


def _has_two_orders(shape: PartitionTuple, places: Any) -> Any:
    """Return for each factor of W whether both orders of its factors of Y are terms.

    Where both are in columns of length 1, the other order has the same value.
    """
    lengths: Any = numpy.take(columns(shape), _columns_of_boxes(shape))
    length_at = lengths[numpy.argsort(places)]
    return numpy.maximum(length_at[..., 0::2], length_at[..., 1::2]) > 1


def _orders(has_two_orders: Any, exponent: int) -> Any:
    """Return whether factors of Y are exchanged; indices are covariant, factor of W, order."""
    # The factors with two orders have a binary digit each.
    digit = numpy.cumsum(has_two_orders, axis=1) - 1
    exchanged = numpy.arange(1 << exponent) >> digit[:, :, None]
    return exchanged & has_two_orders[:, :, None]


def _values(
    shapes: PartitionTriple,
    places: tuple[Any, Any, Any],
    orders: Any,
    points: SourcePoints,
    factors: Sequence[int],
) -> Any:
    """Return the values of covariants at points, a row for each covariant.

    All covariants have the same shapes, and ``places`` and ``orders`` describe them: which boxes of
    the three shapes belong to which factor of W, and the orders of the factors of Y that are
    summed.
    """
    x, h, y = places
    i, i_signs = words(shapes[0], x)
    k, k_signs = words(shapes[1], h)
    terms = len(i_signs) * len(k_signs)
    number, degree, order_count = orders.shape
    width = order_count * points.count
    # No sum is larger than all terms times the largest determinants and two scalars.
    largest = prod(points.determinants(r).largest for r in columns(shapes[2]))
    bound = terms * order_count * largest * points.largest_scalar**2
    if bound >= MAX_INT64_VALUE or terms * width > MAX_COVARIANT_TERMS:
        raise TooLargeError(f"a covariant of degree {degree} has too many terms")
    each = numpy.arange(number)[:, None]
    # The places 2s or 2s + 1 of the boxes of ν in each order.
    boxes = y[:, :, None] ^ orders[each, y // 2]
    total = numpy.zeros((number, points.count), dtype=numpy.int64)
    step = max(1, TERMS_PER_BLOCK // (number * width))
    for start in range(0, terms, step):
        check()
        # A term of the product is a term of the one sum with a term of the other.
        block: Any = numpy.arange(start, min(start + step, terms))
        i_term, k_term = divmod(block, len(k_signs))
        vectors, scalars = _factors(i[:, :, i_term], k[:, :, k_term], points, factors)
        scalars = scalars * (i_signs[i_term] * k_signs[k_term])[:, None]
        total += _sums(vectors[each[:, :, None], boxes], scalars, shapes[2], points)
    return total


def _sums(vectors: Any, scalars: Any, shape: PartitionTuple, points: SourcePoints) -> Any:
    """Return for each covariant the sum over all orders and terms, at each point.

    A summand is a scalar times a product of determinants, one for each column of ν, of the vectors
    in its boxes.

    Parameters
    ----------
    vectors : array
        Numbers of vectors; the indices are covariant, box of the columns of ν, order, term.
    scalars : array
        The indices are covariant, term, point.
    """
    is_present: Any = True
    indices = []
    box = 0
    for r in columns(shape):
        # the row of the r vectors of this column in the table of all determinants
        index = vectors[:, box]
        for other in range(box + 1, box + r):
            index = index * len(points.vectors) + vectors[:, other]
        indices.append((r, index))
        is_present = is_present & points.determinants(r).is_present[index]
        box += r
    # Most terms have a vector twice in a column, and are zero.
    covariant, _, term = is_present.nonzero()
    summands = scalars[covariant, term]
    for r, index in indices:
        summands = summands * points.determinants(r).table.take(index[is_present], axis=0)
    total: Any = numpy.zeros((len(vectors), points.count), dtype=numpy.int64)
    with_summands, starts = numpy.unique(covariant, return_index=True)
    total[with_summands] = numpy.add.reduceat(summands, starts)
    return total


def _factors(i: Any, k: Any, points: SourcePoints, factors: Sequence[int]) -> tuple[Any, Any]:
    """Return the numbers of the vectors at the places of Y in each term, and its scalars.

    Where c stands, its term x_i ⊗ h_k ⊗ l_i·v_k does.
    """
    # v_k comes after all l_i, and then the y and y' of the two elements.
    vectors = numpy.stack([i, points.columns + k], axis=2)
    number, degree, terms = i.shape
    scalars: Any = numpy.ones((number, terms, 1), dtype=numpy.int64)
    for s, factor in enumerate(factors):
        if factor != GENERIC:
            first = points.columns + points.rows + 2 * (factor - 1)
            vectors[:, s, 0] = first
            vectors[:, s, 1] = first + 1
            scalars = scalars * points.scalars[factor - 1][i[:, s], k[:, s]]
    return vectors.reshape(number, 2 * degree, terms), scalars


def words(shape: PartitionTuple, places: Any) -> tuple[Any, Any]:
    """Return the terms of the product of the determinants of the columns of a shape, with signs.

    There is an index for each factor, and then one for the term. Places of several covariants
    have an index in front of these.
    """
    terms, signs = _terms(shape)
    return terms[numpy.argsort(places)], signs


@lru_cache(maxsize=1000)
def _terms(shape: PartitionTuple) -> tuple[Any, Any]:
    """Return the terms, for the factors in the order of the columns, with signs."""
    found = []
    signs = []
    for chosen in product(*map(signed_permutations, columns(shape))):
        word: list[int] = []
        sign = 1
        for order, sign_of_order in chosen:
            word += order
            sign *= sign_of_order
        found.append(word)
        signs.append(sign)
    return numpy.array(found).T, numpy.array(signs, dtype=numpy.int64)
