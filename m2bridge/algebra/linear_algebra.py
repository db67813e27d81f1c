"""Exact linear algebra over ZZ, QQ and GF(p), by FLINT: ranks, echelon forms, quotients by sparse
vectors.

Matrices are sequences of rows of Python integers or fractions. Nothing here is approximate. FLINT
cannot look at the clock: what it is given is priced before, and what takes long over QQ is done
modulo one prime after the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain
from math import gcd
from typing import Any, TypeVar

import flint

from m2bridge.algebra.numbers import primes_from
from m2bridge.limits import check, watched

Row = Sequence[int]
Column = TypeVar("Column", bound=Hashable)

_PRIME_BITS = 61
LONG_PRIME = 2**62 - 57
"""Ranks over QQ are found modulo primes from this one down to 2^61, which take hardly longer than
smaller ones.
"""

_PRIMES_OF_AN_ECHELON = 4
"""An echelon form over QQ costs FLINT as much as this many modulo primes, where the entries are
small.
"""


def elimination_price(rows: int, columns: int) -> float:
    """Seconds, more or less, that FLINT takes to eliminate in a matrix modulo a prime, and Python
    to fill it.
    """
    return 5e-10 * rows * columns * min(rows, columns) + 2e-7 * rows * columns


def _price_of(rows: Sequence[Row]) -> float:
    return elimination_price(len(rows), len(rows[0])) if rows else 0.0


def rank_mod(rows: Sequence[Row], prime: int) -> int:
    """The rank over GF(prime) of an integer matrix."""
    check(_price_of(rows))
    return int(flint.nmod_mat(rows, prime).rank())


def rank(rows: Sequence[Row]) -> int:
    """The rank over QQ of an integer matrix."""
    return rank_of(flint.fmpz_mat(rows))


def rank_of(matrix: Any) -> int:
    """The rank over QQ of a ``flint.fmpz_mat``.

    The rank modulo a prime is at most the rank over QQ. Where it is not full, let r be the largest
    one modulo the primes tried: each of them divides all (r + 1)-minors, so these are zero when the
    product of the primes exceeds Hadamard's bound for them.
    """
    rows, columns = matrix.nrows(), matrix.ncols()
    largest = -1
    for tried, prime in enumerate(primes_from(LONG_PRIME), 1):
        check(elimination_price(rows, columns))
        modulo = int(flint.nmod_mat(matrix, prime).rank())
        if modulo > largest:
            largest = modulo
            minor_bits = 0 if largest == min(rows, columns) else _minor_bits(matrix, largest + 1)
        if minor_bits < tried * _PRIME_BITS:
            return largest
    raise AssertionError("unreachable")


def _minor_bits(matrix: Any, size: int) -> int:
    """An upper bound for the bits of all minors of this size, each at most the product of the norms
    of its rows.
    """
    listed = matrix.tolist()
    return min(_norm_bits(listed, size), _norm_bits(zip(*listed, strict=True), size)) // 2 + 1


def _norm_bits(vectors: Iterable[Sequence[Any]], number: int) -> int:
    """An upper bound for the bits of the product of the squared norms of this many of the
    vectors.
    """
    bits = [
        int(sum([entry * entry for entry in vector])).bit_length() for vector in watched(vectors)
    ]
    return sum(sorted(bits, reverse=True)[:number])


def sparse_rank(rows: Iterable[Mapping[Column, int]]) -> int:
    """The rank over QQ of an integer matrix whose rows are given by their nonzero entries.

    Zero and repeated rows and columns are dropped, and the matrix is cut into blocks without common
    columns, before FLINT sees it.
    """
    kept = {
        frozenset(row.items())
        for row in ({c: v for c, v in row.items() if v} for row in watched(rows))
        if row
    }
    listed = list(kept)
    blocks = connected([[column for column, _ in row] for row in listed])
    return sum(_block_rank([listed[i] for i in block]) for block in watched(blocks))


def connected(supports: Sequence[Iterable[Column]]) -> list[list[int]]:
    """The positions of some sets in groups; sets of different groups have no element in common."""
    leader = list(range(len(supports)))

    def find(position: int) -> int:
        while leader[position] != position:
            leader[position] = position = leader[leader[position]]
        return position

    first: dict[Column, int] = {}
    for position, support in enumerate(watched(supports)):
        for column in support:
            other, own = find(first.setdefault(column, position)), find(position)
            leader[max(own, other)] = min(own, other)
    groups: dict[int, list[int]] = {}
    for position in range(len(supports)):
        groups.setdefault(find(position), []).append(position)
    return list(groups.values())


def _block_rank(rows: Sequence[frozenset[tuple[Column, int]]]) -> int:
    if len(rows) == 1:
        return 1
    columns: dict[Column, list[tuple[int, int]]] = {}
    for number, row in enumerate(rows):
        for column, value in row:
            columns.setdefault(column, []).append((number, value))
    distinct = {tuple(entries) for entries in columns.values()}
    return rank_of(filled(flint.fmpz_mat(len(distinct), len(rows)), distinct))


def filled(matrix: Any, rows: Iterable[Iterable[tuple[int, int]]]) -> Any:
    """A matrix of FLINT, zero before, with rows that are given by their nonzero entries."""
    for i, row in enumerate(watched(rows)):
        for j, c in row:
            matrix[i, j] = c
    return matrix


def leading_columns(echelon: Any, height: int) -> tuple[int, ...]:
    """The pivot columns of a FLINT matrix in row echelon form, from left to right; it has
    ``height`` nonzero rows.
    """
    columns = iter(range(echelon.ncols()))  # each row goes on where the one above has its pivot
    return tuple(
        next(column for column in columns if echelon[row, column]) for row in range(height)
    )


def reduced_echelon(matrix: Any) -> tuple[Any, tuple[int, ...]]:
    """Reduced row echelon form of a ``flint.nmod_mat`` and its pivot columns."""
    check(elimination_price(matrix.nrows(), matrix.ncols()))
    echelon, height = matrix.rref()
    return echelon, leading_columns(echelon, height)


def pivot_columns(rows: Sequence[Row], prime: int = 0) -> tuple[list[int], list[list[Fraction]]]:
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
        scale = 1
    else:
        check(_PRIMES_OF_AN_ECHELON * _price_of(rows))
        matrix, denominator, height = flint.fmpz_mat(rows).rref()
        pivots, scale = leading_columns(matrix, height), int(denominator)
    nonzero = matrix.tolist()[: len(pivots)]
    return list(pivots), [
        [Fraction(int(entry), scale) for entry in row] for row in watched(nonzero)
    ]


Vector = tuple[int, ...]


def integer_kernel(rows: Sequence[Vector], width: int) -> list[Vector]:
    """Integer vectors that form a QQ-basis of the common kernel of the rows."""
    check(_PRIMES_OF_AN_ECHELON * elimination_price(len(rows), width))
    matrix, nullity = flint.fmpz_mat(len(rows), width, list(chain.from_iterable(rows))).nullspace()
    return [tuple(int(matrix[i, j]) for i in range(width)) for j in range(nullity)]


def short_basis(rows: Sequence[Vector]) -> list[Vector]:
    """Short independent integer vectors with the same QQ-span."""
    check(_PRIMES_OF_AN_ECHELON * _price_of(rows))
    echelon, _, height = flint.fmpz_mat(rows).rref()
    independent = [list(map(int, row)) for row in echelon.tolist()[:height]]
    short = flint.fmpz_mat([[entry // gcd(*row) for entry in row] for row in independent]).lll()
    return [tuple(map(int, row)) for row in short.tolist()]


Index = tuple[int, int]
SparseVector = dict[Any, int]
"""The nonzero coefficients by the basis vectors, which are numbers, or monomials."""
Rows = Sequence[tuple[SparseVector, Index]]
DENSE = 4
"""A matrix goes to FLINT when at least one in this many entries is nonzero."""


@dataclass(slots=True)
class Quotient:
    """Rows that are independent, and the basis vectors that they lead, in terms of the others.

    Rows are eliminated in rounds. In each, rows with different leading places are independent
    without any computation; they express their leading places in the remaining ones, and by this
    the other rows become rows of the next round. After some rounds the remaining rows are dense and
    few, and FLINT eliminates in them.

    Parameters
    ----------
    chosen : list of indices of rows
        Linearly independent, as many as there are.
    forms : dict
        For each place that is dependent modulo the rows its expression in independent places.
    """

    prime: int
    chosen: list[Index] = field(default_factory=list)
    forms: dict[Any, SparseVector] = field(default_factory=dict)

    @classmethod
    def of(cls, rows: Rows, prime: int) -> Quotient:
        """Eliminate."""
        result = cls(prime)
        rounds = []
        while rows := [item for item in rows if item[0]]:
            if _is_dense(rows):
                rounds.append(result._dense_round(rows))
                break
            forms, rows = result._sparse_round(rows)
            rounds.append(forms)
        for forms in reversed(rounds):
            result.forms |= {
                place: combination(form, result.forms, prime) for place, form in forms.items()
            }
        return result

    def classes(self, size: int) -> list[SparseVector]:
        """The classes of all basis vectors, in terms of those of the independent ones."""
        return [self.forms.get(place, {place: 1}) for place in range(size)]

    def _sparse_round(self, rows: Rows) -> tuple[dict[Any, SparseVector], Rows]:
        # Places that occur in few rows lead: expressing them in others changes few rows.
        counts = Counter(place for row, _ in rows for place in row)
        rank = {
            place: i
            for i, (place, _) in enumerate(
                sorted(counts.items(), key=lambda item: (item[1], item[0]))
            )
        }
        leaders: dict[Any, SparseVector] = {}
        rest = []
        for row, index in watched(sorted(rows, key=lambda item: len(item[0]))):
            place = min(row, key=rank.__getitem__)
            if place in leaders:
                rest.append((row, index))
            else:
                leaders[place] = row
                self.chosen.append(index)
        forms: dict[Any, SparseVector] = {}
        for place in watched(sorted(leaders, key=rank.__getitem__, reverse=True)):
            others = dict(leaders[place])
            factor = -pow(others.pop(place), -1, self.prime)
            forms[place] = combination(
                {k: c * factor for k, c in others.items()}, forms, self.prime
            )
        return forms, [(combination(row, forms, self.prime), index) for row, index in watched(rest)]

    def _dense_round(self, rows: Rows) -> dict[Any, SparseVector]:
        places = sorted({place for row, _ in rows for place in row})
        number = {place: i for i, place in enumerate(places)}
        numbered = (((number[place], c) for place, c in row.items()) for row, _ in rows)
        matrix = filled(flint.nmod_mat(len(rows), len(places), self.prime), numbered)
        self.chosen += [rows[i][1] for i in reduced_echelon(matrix.transpose())[1]]
        echelon, pivots = reduced_echelon(matrix)
        free = sorted(set(range(len(places))) - set(pivots))
        return {
            places[pivot]: {places[j]: self.prime - c for j in free if (c := int(echelon[i, j]))}
            for i, pivot in enumerate(watched(pivots))
        }


def combination(
    vector: Mapping[Any, int], forms: Mapping[Any, SparseVector], prime: int
) -> SparseVector:
    """Replace basis vectors by their expressions in others."""
    total: SparseVector = {}
    for place, coefficient in vector.items():
        form = forms.get(place)
        if form is None:
            total[place] = total.get(place, 0) + coefficient
        else:
            for k, c in form.items():
                total[k] = total.get(k, 0) + coefficient * c
    return {k: r for k, c in total.items() if (r := c % prime)}


def _is_dense(rows: Rows) -> bool:
    places = {place for row, _ in watched(rows) for place in row}
    return DENSE * sum(len(row) for row, _ in rows) > len(rows) * len(places)
