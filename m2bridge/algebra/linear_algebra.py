"""Exact linear algebra over ZZ, QQ and GF(p), by FLINT: ranks, echelon forms, quotients.

Matrices are sequences of rows of Python integers, or rows given by their nonzero entries; nothing
here is approximate. Two facts carry most of it. A rank modulo a prime is at most the rank over QQ,
and equal to it unless the prime divides all minors of that size. The pivots of an echelon form are
the columns that do not depend on columns further left.

FLINT cannot check the deadline: the cost of each call is estimated before it, and long computations
over QQ are done modulo one prime after another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain, pairwise
from math import gcd
from operator import itemgetter, mul
from typing import Any, TypeVar

import flint

from m2bridge.algebra.numbers import primes_from
from m2bridge.limits import check, check_deadline_in

IntegerRows = Sequence[Sequence[int]]
IntegerVector = tuple[int, ...]
ColumnT = TypeVar("ColumnT", bound=Hashable)
"""The key of a column in a sparse row: a number, a monomial or a name."""
SparseVector = dict[Any, int]
"""The nonzero coefficients by the basis vectors, which are numbers, or monomials."""

PRIME_BITS = 61
LONG_PRIME = 2**62 - 57
"""Ranks over QQ are found modulo primes from this one down to 2^61; they take hardly longer
than shorter ones, and fewer are needed.
"""

PRIMES_PER_RATIONAL_ECHELON = 4
"""An echelon form over QQ costs FLINT as much as this many modulo primes, where the entries are
small.
"""

DENSE_ONE_IN = 4
"""A matrix goes to FLINT when at least one in this many entries is nonzero; sparser rows
are dictionaries.
"""


def elimination_price(rows: int, columns: int) -> float:
    """Roughly the seconds in which Python fills a matrix and FLINT eliminates modulo a prime."""
    return 5e-10 * rows * columns * min(rows, columns) + 2e-7 * rows * columns


def _price_of(rows: IntegerRows) -> float:
    if not rows:
        return 0.0
    return elimination_price(len(rows), len(rows[0]))


def rank_mod(rows: IntegerRows, prime: int) -> int:
    """The rank over GF(prime) of an integer matrix."""
    check(_price_of(rows))
    return int(flint.nmod_mat(rows, prime).rank())


def column_products(left: flint.nmod_mat, right: flint.nmod_mat) -> list[Any]:
    """The scalar products of the columns of two matrices, in pairs."""
    columns = zip(left.transpose().table(), right.transpose().table(), strict=True)
    return [sum(map(mul, *pair)) for pair in columns]


def rank(rows: IntegerRows) -> int:
    """The rank over QQ of an integer matrix."""
    return rank_of(flint.fmpz_mat(rows))


def rank_of(matrix: Any) -> int:
    """The rank over QQ of a ``flint.fmpz_mat``.

    The rank modulo a prime is at most the rank over QQ. Where it is not full, let r be the largest
    one modulo the primes tried: each of them divides all (r + 1)-minors, so these are zero when the
    product of the primes exceeds Hadamard's bound for them.
    """
    rows, columns = matrix.nrows(), matrix.ncols()
    primes = primes_from(LONG_PRIME)
    largest = -1
    product_bits = 0
    while True:
        check(elimination_price(rows, columns))
        modulo = int(flint.nmod_mat(matrix, next(primes)).rank())
        product_bits += PRIME_BITS
        if modulo == min(rows, columns):  # full, and a lower bound for the rank over QQ
            return modulo
        if modulo > largest:
            largest = modulo
            minor_bits = _minor_bits(matrix, largest + 1)
        if minor_bits < product_bits:
            return largest


def signature(form: Sequence[Sequence[flint.fmpq]]) -> int:
    """The signature of a symmetric rational matrix.

    All roots of its characteristic polynomial are real, so by Descartes' rule there are as many
    positive ones as there are changes of sign of the coefficients.
    """
    size = len(form)
    entries = [entry for row in form for entry in row]
    coefficients = flint.fmpq_mat(size, size, entries).charpoly().coeffs()
    signs = [1 if x > 0 else -1 for x in coefficients if x != 0]
    positive = sum(x != y for x, y in pairwise(signs))
    zero = next(j for j, x in enumerate(coefficients) if x != 0)
    return positive - (size - zero - positive)


def _minor_bits(matrix: Any, size: int) -> int:
    """An upper bound for the bits of all minors of this size.

    By Hadamard a minor is at most the product of the norms of its rows, and of its columns.
    """
    rows = matrix.tolist()
    columns = zip(*rows, strict=True)
    return min(_norm_bits(rows, size), _norm_bits(columns, size)) // 2 + 1


def _norm_bits(vectors: Iterable[Sequence[Any]], number: int) -> int:
    """An upper bound for the bits of a product of squared norms of ``number`` of the vectors."""
    bits = []
    for vector in check_deadline_in(vectors):
        squared_norm = sum([entry * entry for entry in vector])
        bits.append(int(squared_norm).bit_length())
    bits.sort(reverse=True)
    return sum(bits[:number])


def sparse_rank(rows: Iterable[Mapping[ColumnT, int]]) -> int:
    """The rank over QQ of an integer matrix whose rows are given by their entries.

    Zero and repeated rows and columns are dropped, and the matrix is cut into blocks without common
    columns, before FLINT sees it.
    """
    distinct: set[frozenset[tuple[ColumnT, int]]] = set()
    for row in check_deadline_in(rows):
        distinct.add(frozenset([entry for entry in row.items() if entry[1]]))
    distinct.discard(frozenset())
    listed = list(distinct)
    total = 0
    for block in check_deadline_in(connected([map(itemgetter(0), row) for row in listed])):
        total += _block_rank([listed[i] for i in block])
    return total


def connected(supports: Sequence[Iterable[ColumnT]]) -> list[list[int]]:
    """The positions of some sets in groups; sets of different groups have no element in common.

    Each group is a tree whose root is its first position (union by the smaller root).
    """
    leader = list(range(len(supports)))

    def root(position: int) -> int:
        """Return the first position of the group of this one."""
        while leader[position] != position:
            leader[position] = leader[leader[position]]  # halves the way for the next one
            position = leader[position]
        return position

    first: dict[ColumnT, int] = {}
    for position, support in enumerate(check_deadline_in(supports)):
        own = position
        for column in support:
            other = root(first.setdefault(column, position))
            if other != own:
                leader[max(own, other)] = min(own, other)
                own = min(own, other)
    groups: dict[int, list[int]] = {}
    for position in range(len(supports)):
        # No leader is larger than its members, and leaders of smaller positions are roots already.
        leader[position] = leader[leader[position]]
        groups.setdefault(leader[position], []).append(position)
    return list(groups.values())


def _block_rank(rows: Sequence[frozenset[tuple[ColumnT, int]]]) -> int:
    """The rank of nonzero rows; equal columns are taken once, which leaves it the same."""
    if len(rows) == 1:
        return 1
    columns: dict[ColumnT, list[tuple[int, int]]] = {}
    for number, row in enumerate(rows):
        for column, value in row:
            columns.setdefault(column, []).append((number, value))
    distinct = set(map(tuple, columns.values()))
    return rank_of(filled(flint.fmpz_mat(len(distinct), len(rows)), distinct))


def filled(matrix: Any, rows: Iterable[Iterable[tuple[int, int]]]) -> Any:
    """A matrix of FLINT, zero before, with rows that are given by their nonzero entries."""
    for i, row in enumerate(check_deadline_in(rows)):
        for j, c in row:
            matrix[i, j] = c
    return matrix


def leading_columns(echelon: Any, height: int) -> tuple[int, ...]:
    """The pivot columns of a FLINT matrix in row echelon form with ``height`` nonzero rows."""
    pivots = []
    column = 0
    for row in range(height):
        # No row leads further left than the one above, so the search starts where that one ended.
        while not echelon[row, column]:
            column += 1
        pivots.append(column)
        column += 1
    return tuple(pivots)


def reduced_echelon(matrix: Any) -> tuple[Any, tuple[int, ...]]:
    """Reduced row echelon form of a ``flint.nmod_mat`` and its pivot columns."""
    check(elimination_price(matrix.nrows(), matrix.ncols()))
    echelon, height = matrix.rref()
    return echelon, leading_columns(echelon, height)


def pivot_columns(rows: IntegerRows, prime: int = 0) -> tuple[list[int], list[list[Fraction]]]:
    """Reduced row echelon form of an integer matrix over QQ, or over GF(prime).

    Returns
    -------
    pivots : list of int
        Pivot columns, from left to right.
    echelon : list of rows of Fraction
        The nonzero rows; row ``i`` has 1 in column ``pivots[i]``, the only nonzero entry of that
        column. Residues are from 0 to prime − 1.
    """
    if prime:
        matrix, pivots = reduced_echelon(flint.nmod_mat(rows, prime))
        denominator = 1
    else:
        check(PRIMES_PER_RATIONAL_ECHELON * _price_of(rows))
        matrix, denominator, height = flint.fmpz_mat(rows).rref()
        pivots = leading_columns(matrix, height)
    scale = int(denominator)
    nonzero = check_deadline_in(matrix.tolist()[: len(pivots)])
    echelon = [[Fraction(int(entry), scale) for entry in row] for row in nonzero]
    return list(pivots), echelon


def integer_kernel(rows: Sequence[IntegerVector], width: int) -> list[IntegerVector]:
    """Integer vectors that form a QQ-basis of the common kernel of the rows."""
    check(PRIMES_PER_RATIONAL_ECHELON * elimination_price(len(rows), width))
    entries = list(chain.from_iterable(rows))
    matrix, nullity = flint.fmpz_mat(len(rows), width, entries).nullspace()
    columns = matrix.transpose().tolist()
    return [tuple(map(int, column)) for column in columns[:nullity]]


def short_basis(rows: Sequence[IntegerVector]) -> list[IntegerVector]:
    """Short independent integer vectors with the same QQ-span: LLL reduces the rows of the echelon
    form, each scaled to coprime integers.
    """
    check(PRIMES_PER_RATIONAL_ECHELON * _price_of(rows))
    echelon, _, height = flint.fmpz_mat(rows).rref()
    primitive = []
    for entries in echelon.tolist()[:height]:
        row = list(map(int, entries))
        content = gcd(*row)
        primitive.append([entry // content for entry in row])
    return [tuple(map(int, row)) for row in flint.fmpz_mat(primitive).lll().tolist()]


NumberedRow = tuple[int, SparseVector]


@dataclass(slots=True)
class Quotient:
    """Rows that are independent, and the basis vectors that they lead, in terms of the others.

    Rows are eliminated in rounds. In each, rows with different leading places are independent
    without any computation; they express their leading places in the remaining ones, and by this
    the other rows become rows of the next round. After some rounds the remaining rows are dense and
    few, and FLINT eliminates in them.

    Parameters
    ----------
    prime : int
    chosen : list of numbers of rows
        Linearly independent, as many as there are.
    forms : dict
        For each place that is dependent modulo the rows its expression in independent places.
    """

    prime: int
    chosen: list[int] = field(default_factory=list)
    forms: dict[Any, SparseVector] = field(default_factory=dict)

    @classmethod
    def of(cls, rows: Iterable[SparseVector], prime: int) -> Quotient:
        """Return the quotient by the span of some rows; FLINT eliminates in those left dense."""
        result = cls(prime)
        rounds = []
        remaining = [numbered for numbered in enumerate(rows) if numbered[1]]
        while remaining and not _is_dense(remaining):
            forms, remaining = result._sparse_round(remaining)
            rounds.append(forms)
        if remaining:
            rounds.append(result._dense_round(remaining))
        # The forms of a round may use places that later rounds eliminate; those of the last round
        # use independent places only.
        for forms in reversed(rounds):
            for place, form in forms.items():
                result.forms[place] = combination(form, result.forms, prime)
        return result

    def classes(self, size: int) -> list[SparseVector]:
        """The classes of all basis vectors, in terms of those of the independent ones."""
        return [self.forms.get(place, {place: 1}) for place in range(size)]

    def _sparse_round(
        self, rows: list[NumberedRow]
    ) -> tuple[dict[Any, SparseVector], list[NumberedRow]]:
        """The form of each leading place by the first row with it, and the remaining rows."""
        counts = Counter(chain.from_iterable(map(itemgetter(1), rows)))
        # Places that occur in few rows lead: expressing them in others changes few rows.
        order = sorted(counts, key=lambda place: (counts[place], place))
        position = {place: i for i, place in enumerate(order)}
        leaders: dict[Any, SparseVector] = {}
        others = []
        for number, row in check_deadline_in(sorted(rows, key=_length)):
            place = min(row, key=position.__getitem__)
            if place in leaders:
                others.append((number, row))
            else:
                leaders[place] = row
                self.chosen.append(number)
        forms = self._solved(leaders, order)
        rest = []
        for number, row in check_deadline_in(others):
            reduced = combination(row, forms, self.prime)
            if reduced:
                rest.append((number, reduced))
        return forms, rest

    def _solved(
        self, leaders: dict[Any, SparseVector], order: list[Any]
    ) -> dict[Any, SparseVector]:
        """Each leading place by places that lead no row, from the last place to the first."""
        forms: dict[Any, SparseVector] = {}
        for place in check_deadline_in(reversed(order)):
            if place in leaders:
                form = dict(leaders[place])
                factor = -pow(form.pop(place), -1, self.prime)
                scaled = {other: c * factor for other, c in form.items()}
                forms[place] = combination(scaled, forms, self.prime)
        return forms

    def _dense_round(self, rows: list[NumberedRow]) -> dict[Any, SparseVector]:
        """The forms of the pivots by FLINT's reduced echelon form, which ends the elimination."""
        places = sorted(set(chain.from_iterable(map(itemgetter(1), rows))))
        position = {place: j for j, place in enumerate(places)}
        entries = ([(position[place], c) for place, c in row.items()] for _, row in rows)
        matrix = filled(flint.nmod_mat(len(rows), len(places), self.prime), entries)
        # pivots of the transposed matrix are rows, which the caller needs to know by number
        independent = reduced_echelon(matrix.transpose())[1]
        self.chosen += [rows[i][0] for i in independent]
        echelon, pivots = reduced_echelon(matrix)
        free = sorted(set(range(len(places))).difference(pivots))
        forms: dict[Any, SparseVector] = {}
        for i, pivot in enumerate(check_deadline_in(pivots)):
            form = forms[places[pivot]] = {}
            for j in free:
                value = int(echelon[i, j])
                if value:
                    form[places[j]] = self.prime - value
        return forms


def combination(
    vector: Mapping[Any, int], forms: Mapping[Any, SparseVector], prime: int
) -> SparseVector:
    """The vector modulo the prime, with its form in place of each basis vector that has one."""
    total: SparseVector = {}
    for place, coefficient in vector.items():
        form = forms.get(place)
        if form is None:
            total[place] = total.get(place, 0) + coefficient
        else:
            for other, c in form.items():
                total[other] = total.get(other, 0) + coefficient * c
    result = {}
    for place, c in total.items():
        residue = c % prime
        if residue:
            result[place] = residue
    return result


def _length(numbered: NumberedRow) -> int:
    return len(numbered[1])


def _is_dense(rows: list[NumberedRow]) -> bool:
    """Whether one entry in :data:`DENSE_ONE_IN` is nonzero, in the columns that occur."""
    places: set[Any] = set()
    entries = 0
    for _, row in check_deadline_in(rows):
        places.update(row)
        entries += len(row)
    return DENSE_ONE_IN * entries > len(rows) * len(places)
