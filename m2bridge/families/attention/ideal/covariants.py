"""Covariants of products of linear forms: products of determinants, with exact values at points.

W^{⊗n} has n factors W = X ⊗ H ⊗ S²Y, so n factors of X and of H, and 2n of Y; they are numbered
from 0, and the factor s of W has the factors 2s and 2s + 1 of Y. A covariant of type (λ, μ, ν)
gives the boxes of λ, μ and ν to the factors of X, H and Y. The product T of the determinants of the
columns, of the first r coordinates for a column of length r, is a highest weight functional on
W^{⊗n}, and these span all of them. On products of c = Σ x_i ⊗ h_k ⊗ l_i·v_k and x ⊗ h ⊗ y·y' it is
a sum over a permutation for each column of λ and μ, and over the orders of the two factors of Y;
each term is a product of determinants of the columns of ν, which are in tables. What ranks of such
values say is in :mod:`.representations`; the proofs are in docs/representations.md.

A point of the source is a pair of matrices (A, V): l_i is column i of A, v_k is row k of V, both
vectors of Y, and x_i, h_k are the standard bases of X and H. The boxes of a partition are listed
column by column; the place of a box is the number of the factor that it has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial
from itertools import islice, product
from math import prod
from random import Random
from typing import Any

import numpy

from m2bridge.algebra.schur import PartitionTuple, columns, signed_permutations
from m2bridge.errors import TooLargeError
from m2bridge.families.attention.ideal.sections import PartitionTriple
from m2bridge.limits import check

TERMS_PER_BLOCK = 1 << 18
"""The number of terms, at all points, that are computed at once."""

GENERIC, FIRST, SECOND = 0, 1, 2
"""The element in a factor of W: c, or the first or second of two elements x ⊗ h ⊗ y·y'."""


@dataclass(frozen=True, eq=False)
class Determinants:
    """The determinants of the first r coordinates of any r vectors, at points."""

    # A row for each choice of r vectors, a column for each point. The number of the row has the
    # numbers of the vectors as digits, in base their number N: vectors 2 and 5 have the row 2N + 5.
    table: Any
    is_nonzero_row: Any  # whether the determinant is nonzero at some point
    largest_absolute_value: int

    @classmethod
    def of(cls, table: Any) -> Determinants:
        """Return a table of determinants with its nonzero rows and its largest absolute value."""
        largest_value = int(abs(table).max())
        return cls(table, is_nonzero_row=table.any(axis=1), largest_absolute_value=largest_value)


@dataclass(frozen=True, eq=False)
class SourcePoints:
    """Points (A, V) of the source with small integers, and two elements of W at each."""

    columns: int  # dim X
    rows: int  # dim H
    variables: int  # dim Y
    # all vectors of Y, by vector, point, coordinate: the l_i, then the v_k, then y and y' of the
    # first element, y and y' of the second
    vectors: Any
    scalars: Any  # the products x_i h_k of the two elements, by element, i, k, point
    _determinants: dict[int, Determinants] = field(default_factory=dict, init=False)

    @classmethod
    def random(
        cls, sizes: tuple[int, int, int], rank: int, count: int, random: Random
    ) -> SourcePoints:
        """Return random points where the l_i span a space of dimension at most ``rank``."""
        generator = numpy.random.default_rng(random.getrandbits(64))
        # arrays of random integers from −3 to 3, by the dimensions of the array: so small that
        # values of high degree are machine integers
        integers: Any = partial(generator.integers, -3, 4)
        x, h, y = sizes
        # The first l_i are arbitrary; all others, with the index i, are combinations of these, with
        # the index j, at each point p. Indices of vectors are vector, point, coordinate q.
        free_l = integers((min(rank, x), count, y))
        coefficients = integers((x - len(free_l), len(free_l), count))
        dependent_l = numpy.einsum("ijp,jpq->ipq", coefficients, free_l)
        v = integers((h, count, y))
        # y and y' of the two elements of W
        y_of_elements = integers((4, count, y))
        vectors = numpy.concatenate([free_l, dependent_l, v, y_of_elements])
        # The products x_i h_k of both elements, with the indices element w, i, k, point p.
        scalars = numpy.einsum("wip,wkp->wikp", integers((2, x, count)), integers((2, h, count)))
        return cls(x, h, y, vectors, scalars)

    @property
    def count(self) -> int:
        """The number of points."""
        return int(self.vectors.shape[1])

    def first_points(self, count: int) -> SourcePoints:
        """Return the first ``count`` of the points; tables of determinants are recomputed."""
        return replace(self, vectors=self.vectors[:, :count], scalars=self.scalars[..., :count])

    def determinants(self, r: int) -> Determinants:
        """Return the determinants of the first r coordinates of any r vectors, computed once."""
        if r not in self._determinants:
            self._determinants[r] = Determinants.of(self._determinant_table(r))
        return self._determinants[r]

    def _determinant_table(self, r: int) -> Any:
        """Return :attr:`Determinants.table` for r vectors: a row for each r-tuple of vectors."""
        if r == 0:
            # the only tuple is empty, and the empty determinant is 1
            return numpy.ones((1, self.count), dtype=numpy.int64)
        number = len(self.vectors)
        table = numpy.zeros((number**r, self.count), dtype=numpy.int64)
        # A term has an axis for each of the r vectors, and one for the point; numpy repeats its
        # factors along axes of length 1. Minors are the determinants of r − 1 vectors.
        minors = self.determinants(r - 1).table.reshape((number,) * (r - 1) + (self.count,))
        # Laplace's rule for the last of the r coordinates. A term is this coordinate of one of the
        # r vectors, that at ``place``, times the minor of the other vectors. The sign of a term is
        # + or − as the number of vectors after that at ``place`` is even or odd.
        for place in range(r):
            later_count = r - 1 - place
            # the last coordinate of the vector at this place; numpy adds the axes of those before
            last = self.vectors[:, :, r - 1].reshape((number,) + (1,) * later_count + (self.count,))
            # the minor of the others, with an axis of length 1 for the vector at this place
            term = numpy.expand_dims(minors, place) * last
            table += (-1) ** later_count * term.reshape(table.shape)
        return table

    @cached_property
    def largest_scalar(self) -> int:
        """The largest absolute value of an x_i h_k."""
        return int(abs(self.scalars).max())


@dataclass(frozen=True, eq=False)
class Covariant:
    """A product T of determinants."""

    shapes: PartitionTriple
    # For λ, μ and ν the place of each box: (1, 0) for λ = (1, 1) is the determinant of the vectors
    # in the factors 1 and 0 of X, in this order.
    places: tuple[Sequence[int], Sequence[int], Sequence[int]]

    @classmethod
    def random(cls, shapes: PartitionTriple, random: Random) -> Covariant | None:
        """Return a random covariant of a type that may be nonzero; ``None`` if 1000 are zero."""
        n = sum(shapes[0])
        for _ in range(1000):
            x, h, y = (_random_permutation(size, random) for size in (n, n, 2 * n))
            covariant = cls(shapes, (x, h, y))
            if covariant._may_be_nonzero():
                return covariant
        return None

    def _may_be_nonzero(self) -> bool:
        """Return whether no factor of W has both of its factors of Y in one column of ν.

        If one has, the covariant is zero: a determinant changes its sign when two vectors are
        exchanged, and an element of S²Y does not. If none has, it can still be zero.
        """
        *_, nu = self.shapes
        *_, places_of_nu = self.places
        column_of = dict(zip(places_of_nu, _column_of_each_box(nu), strict=True))
        return all(column_of[2 * s] != column_of[2 * s + 1] for s in range(self.degree))

    @property
    def brackets(self) -> str:
        """The determinants as ``[12]_X [13]_Y``, by the numbers of the factors of W, from 1 on.

        Columns of length 1, whose determinants are first coordinates, are left out.
        """
        brackets = []
        for space, shape, places in zip("XHY", self.shapes, self.places, strict=True):
            # a factor of W has two factors of Y, but one of X and of H
            multiple = 2 if space == "Y" else 1
            boxes = iter(places)
            for length in columns(shape):
                factors = [place // multiple + 1 for place in islice(boxes, length)]
                if length > 1:
                    brackets.append(f"[{''.join(map(str, factors))}]_{space}")
        return " ".join(brackets)

    @property
    def degree(self) -> int:
        """The number n of factors of W."""
        return sum(self.shapes[0])

    def exchange_first_factors(self) -> Covariant:
        """Return the covariant in which the first two factors of W are exchanged."""
        new_number = (1, 0, *range(2, self.degree))
        x, h, y = self.places
        return Covariant(
            shapes=self.shapes,
            places=(
                [new_number[s] for s in x],
                [new_number[s] for s in h],
                # the factor 2s or 2s + 1 of Y belongs to the factor s of W
                [2 * new_number[place // 2] + place % 2 for place in y],
            ),
        )

    @property
    def symmetric_factor_count(self) -> int:
        """The number of factors of W with both factors of Y in columns of length 1.

        Both orders of these give the same term, so each would give a factor 2, which is left out of
        values and polynomials.
        """
        return self.degree - int(_factors_with_two_orders(self.shapes[2], self.places[2]).sum())


def covariant_values(
    covariants: Sequence[Covariant],
    points: SourcePoints,
    elements: Sequence[int] = (),
    *,
    symmetric: bool = True,
) -> Any:
    """Return the values of covariants of one type on an element of W^{⊗n}, at each point.

    The element is a product of n elements of W: the given ``elements``, and then c. Rows are
    covariants, columns points. Factors 2 of all terms are left out
    (:attr:`Covariant.symmetric_factor_count`). If not ``symmetric``, l_i is always the first factor
    of Y and v_k the second: then the values are of functions on the source, where l_i and v_k are
    known, and not only their product.
    """
    values: Any = numpy.zeros((len(covariants), points.count), dtype=numpy.int64)
    if not covariants:
        return values
    shapes = covariants[0].shapes
    # the places of the boxes of λ, μ, ν: a row for each covariant
    x, h, y = (numpy.array([T.places[space] for T in covariants]) for space in range(3))
    # which factors of W have two orders that differ: none if only one order is asked for
    has_two_orders = _factors_with_two_orders(shapes[2], y) & symmetric
    # a covariant with e factors of two orders is a sum over 2^e orders
    exponents = has_two_orders.sum(axis=1)
    # Covariants with the same number of orders are computed together, in blocks.
    for exponent in set(exponents.tolist()):
        rows_with_exponent = numpy.flatnonzero(exponents == exponent)
        step = max(1, TERMS_PER_BLOCK // (points.count << exponent))
        for start in range(0, len(rows_with_exponent), step):
            block = rows_with_exponent[start : start + step]
            values[block] = _values_with_same_orders(
                shapes=shapes,
                places=(x[block], h[block], y[block]),
                orders=_exchanges_by_order(has_two_orders[block], exponent),
                points=points,
                elements=elements,
            )
    return values


def _random_permutation(size: int, random: Random) -> list[int]:
    """Return 0, …, size − 1 in the order of ``random.sample(range(size), size)``, but faster."""
    random_bits = random.getrandbits
    numbers = list(range(size))
    permutation = []
    for count in range(size, 0, -1):
        length = count.bit_length()
        # random numbers of this many bits, until one is below count
        position = random_bits(length)
        while position >= count:
            position = random_bits(length)
        permutation.append(numbers[position])
        # the last of the remaining numbers takes the free place
        numbers[position] = numbers[count - 1]
    return permutation


@lru_cache(maxsize=1000)
def _column_of_each_box(shape: PartitionTuple) -> tuple[int, ...]:
    """Return for each box of a partition, column by column, the number of its column from 0 on."""
    column_numbers: list[int] = []
    for column, length in enumerate(columns(shape)):
        column_numbers += [column] * length
    return tuple(column_numbers)


def _factors_with_two_orders(shape: PartitionTuple, places: Any) -> Any:
    """Return for each factor of W whether both orders of its factors of Y are summed.

    Where both are in columns of length 1, the orders have the same value, and one is enough. The
    places of the boxes of ν are of one covariant, or have a row for each of several.
    """
    # for each box the length of its column
    lengths: Any = numpy.take(columns(shape), _column_of_each_box(shape))
    # For each factor of Y the length of the column in which it is: argsort inverts the permutation
    # ``places``, so it has the box of each factor.
    length_at = lengths[numpy.argsort(places)]
    # of the factors 2s and 2s + 1, for each factor s of W
    return numpy.maximum(length_at[..., 0::2], length_at[..., 1::2]) > 1


def _exchanges_by_order(has_two_orders: Any, exponent: int) -> Any:
    """Return for each order which factors of W have their two factors of Y exchanged: 1, else 0.

    The indices of the array are covariant, factor of W, order; each covariant has ``exponent``
    factors with two orders. For one with (1, 0, 1) the orders are (0, 0, 0), (1, 0, 0), (0, 0, 1),
    (1, 0, 1).
    """
    # The order with the number b exchanges the j-th factor with two orders, j = 0, 1, …, if b has
    # the binary digit 1 at 2^j. (Of factors with one order the position is not used.)
    digit_position = numpy.cumsum(has_two_orders, axis=1) - 1
    shifted_numbers = numpy.arange(1 << exponent) >> digit_position[:, :, None]
    # the last digit alone, and 0 for factors with one order
    return shifted_numbers & has_two_orders[:, :, None]


def _values_with_same_orders(
    shapes: PartitionTriple,
    places: tuple[Any, Any, Any],
    orders: Any,
    points: SourcePoints,
    elements: Sequence[int],
) -> Any:
    """Return the values of covariants with the same number of orders, a row for each covariant."""
    x, h, y = places
    # the indices i and k of the factors of X and H, as arrays with covariant, factor, term
    i, i_signs = determinant_terms(shapes[0], x)
    k, k_signs = determinant_terms(shapes[1], h)
    term_count = len(i_signs) * len(k_signs)
    covariant_count, degree, order_count = orders.shape
    _check_size(term_count * order_count, degree=degree, nu=shapes[2], points=points)
    # of one covariant, at all points
    summands_per_term = order_count * points.count
    # The places of the boxes of ν by covariant, box, order. The places 2s and 2s + 1, which differ
    # in the last binary digit only, are exchanged where the order has 1 for s.
    is_exchanged = orders[numpy.arange(covariant_count)[:, None], y // 2]
    boxes = y[:, :, None] ^ is_exchanged
    # an index for the covariant, which numpy repeats for each box and term
    covariant = numpy.arange(covariant_count)[:, None, None]
    total = numpy.zeros((covariant_count, points.count), dtype=numpy.int64)
    step = max(1, TERMS_PER_BLOCK // (covariant_count * summands_per_term))
    for start in range(0, term_count, step):
        check()
        # A term of the product is a term of the sum for λ with a term of the sum for μ.
        block: Any = numpy.arange(start, min(start + step, term_count))
        i_term, k_term = divmod(block, len(k_signs))
        vectors, scalars = _vectors_and_scalars(i[:, :, i_term], k[:, :, k_term], points, elements)
        scalars = scalars * (i_signs[i_term] * k_signs[k_term])[:, None]
        # the vector in each box; the indices are covariant, box, order, term
        in_boxes = vectors[covariant, boxes]
        total += _sum_over_terms(in_boxes, scalars, shapes[2], points)
    return total


def _check_size(count: int, *, degree: int, nu: PartitionTuple, points: SourcePoints) -> None:
    """Refuse values with so many summands that they take too long, or could be too large."""
    # the terms at all points together
    if count * points.count > 1 << 28:
        raise TooLargeError(f"a covariant of degree {degree} has too many terms")
    # A summand is a product of determinants and at most two scalars, as at most two elements of W
    # have one; the largest scalar is at least 1.
    largest_determinants = [points.determinants(r).largest_absolute_value for r in columns(nu)]
    largest_summand = prod(largest_determinants) * points.largest_scalar**2
    # sums and products of machine integers below 2^62 are exact, with one bit to spare
    if count * largest_summand >= 1 << 62:
        raise TooLargeError(
            f"a value of a covariant of degree {degree} could exceed the integers of 64 bits"
        )


def _sum_over_terms(vectors: Any, scalars: Any, shape: PartitionTuple, points: SourcePoints) -> Any:
    """Return for each covariant the sum over all orders and terms, at each point.

    A summand is a scalar times a product of determinants, one for each column of ν, of the vectors
    in the boxes of the column. ``vectors`` has the indices covariant, box, order, term, and
    ``scalars`` the indices covariant, term, point.
    """
    is_nonzero: Any = True
    rows_by_column = []
    first_box = 0
    for r in columns(shape):
        # the row of the r vectors of this column in the table of all determinants of size r: their
        # numbers are its digits, in base the number of all vectors
        row = vectors[:, first_box]
        for box in range(first_box + 1, first_box + r):
            row = row * len(points.vectors) + vectors[:, box]
        rows_by_column.append((r, row))
        is_nonzero = is_nonzero & points.determinants(r).is_nonzero_row[row]
        first_box += r
    # Only summands without a zero determinant are computed: most have a vector twice in a column.
    covariant, _, term = is_nonzero.nonzero()
    summands = scalars[covariant, term]
    for r, row in rows_by_column:
        summands = summands * points.determinants(r).table.take(row[is_nonzero], axis=0)
    total: Any = numpy.zeros((len(vectors), points.count), dtype=numpy.int64)
    # the summands of a covariant follow each other, from its start to the start of the next one
    with_summands, starts = numpy.unique(covariant, return_index=True)
    total[with_summands] = numpy.add.reduceat(summands, starts)
    return total


def _vectors_and_scalars(
    i: Any, k: Any, points: SourcePoints, elements: Sequence[int]
) -> tuple[Any, Any]:
    """Return for each term of the determinants of λ and μ its vectors of Y and its scalar.

    A term chooses x_i and h_k in each factor of W. On c this leaves l_i·v_k, as c is the sum of all
    x_i ⊗ h_k ⊗ l_i·v_k; on x ⊗ h ⊗ y·y' it leaves y·y' and the scalar x_i h_k. The indices of i and
    k are covariant, factor, term; of vectors covariant, factor of Y, term; of scalars covariant,
    term, point, with one entry for all points if all factors are c.
    """
    # v_k comes after all l_i in the numbering, and then the y and y' of the two elements.
    vectors = numpy.stack([i, points.columns + k], axis=2)
    covariant_count, degree, term_count = i.shape
    scalars: Any = numpy.ones((covariant_count, term_count, 1), dtype=numpy.int64)
    for s, element in enumerate(elements):
        if element != GENERIC:
            # FIRST is 1 and SECOND is 2, and each has two vectors: the number of y of this element;
            # y' has the next one
            number_of_y = points.columns + points.rows + 2 * (element - 1)
            vectors[:, s, 0] = number_of_y
            vectors[:, s, 1] = number_of_y + 1
            scalars = scalars * points.scalars[element - 1][i[:, s], k[:, s]]
    return vectors.reshape(covariant_count, 2 * degree, term_count), scalars


def determinant_terms(shape: PartitionTuple, places: Any) -> tuple[Any, Any]:
    """Return the terms of the product of the determinants of the columns of a shape, with signs.

    A term has the coordinate, from 0 on, that it takes of the vector in each factor; the indices
    are factor and term, after the covariant if ``places`` has a row for each of several.
    """
    terms, signs = _terms_in_order(shape)
    # argsort inverts the permutation: it has the box in which each factor is
    return terms[numpy.argsort(places)], signs


@lru_cache(maxsize=1000)
def _terms_in_order(shape: PartitionTuple) -> tuple[Any, Any]:
    """Return the terms of :func:`determinant_terms`, with signs, if box b has the factor b."""
    terms = []
    signs = []
    for permutations_of_columns in product(*map(signed_permutations, columns(shape))):
        term: list[int] = []
        sign = 1
        for permutation, sign_of_permutation in permutations_of_columns:
            term += permutation
            sign *= sign_of_permutation
        terms.append(term)
        signs.append(sign)
    # the terms become the columns
    return numpy.array(terms).T, numpy.array(signs, dtype=numpy.int64)
