"""Matrices of integers given by the nonzero entries of their rows: ranks by elimination.

FLINT is trusted with arithmetic alone. What is computed modulo a prime is a bound for a rank over
QQ, or is checked over ZZ by the caller.

*Notation.* A row is {column: entry}, with columns numbered from 0; entries that are left out are
zero. The *unit vector* of a column has the entry 1 there, and zeros elsewhere. The *span* of rows
is the vector space of their combinations, over QQ where no prime is named.
"""

from collections.abc import Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush
from typing import Any

import flint

ELIMINATION_PRIME = 2**26 - 5
"""FLINT eliminates fast modulo primes of this size. Nothing is concluded from it alone."""


def drop_unit_vectors(
    rows: Iterable[dict[int, int]], columns: Iterable[int]
) -> tuple[list[dict[int, int]], list[int]]:
    """The matrix without the columns whose unit vectors are seen to be in the span of its rows.

    ``columns`` are the numbers of all columns. Returned are the nonzero rows in the columns that
    stay, with these numbered from 0, and the former numbers of these columns. The number of columns
    less the rank does not change.
    """
    all_rows = list(rows)
    # A row with a single entry shows that the unit vector of its column is in the span, so this
    # column can be left out of all rows; then further rows may have a single entry, and so on.
    columns_kept = set(columns)
    count_before = -1  # so that there is a first round
    while len(columns_kept) != count_before:  # the last round has left out a column
        count_before = len(columns_kept)
        for row in all_rows:
            entries_left = columns_kept.intersection(row)  # the columns of the entries of the row
            if len(entries_left) == 1:
                columns_kept -= entries_left
    columns_left = sorted(columns_kept)
    position = {column: j for j, column in enumerate(columns_left)}
    rows_left = []
    for row in all_rows:
        shorter = {position[column]: c for column, c in row.items() if column in position}
        if shorter:
            rows_left.append(shorter)
    return rows_left, columns_left


def span_modulo_prime(rows: Iterable[Mapping[int, int]], width: int) -> bool:
    """Whether rows with ``width`` entries span all vectors modulo ELIMINATION_PRIME, so over QQ.

    This is Gaussian elimination. In turn the shortest row is taken out, and cleared is its column
    in which the fewest rows left have an entry, so that few new entries arise.
    """
    rows_left = RowsLeft(rows)
    for _rank in range(width):
        pivot_row = rows_left.pop_shortest()
        if pivot_row is None:  # all rows left are zero, and the rank is below the width
            return False
        pivot = min(pivot_row, key=lambda column: len(rows_left.rows_with[column]))
        rows_left.clear(pivot, pivot_row)
    return True


class RowsLeft:
    """The rows that are left in a Gaussian elimination modulo ELIMINATION_PRIME, by their numbers.

    ``rows_with`` has for each column the numbers of the rows with an entry there. ``by_length`` is
    a heap of pairs (length of a row, its number): a row is listed again whenever it changes.
    """

    def __init__(self, rows: Iterable[Mapping[int, int]]) -> None:
        """Take all rows modulo the prime."""
        self.rows: dict[int, dict[int, int]] = {}
        self.rows_with: dict[int, set[int]] = {}
        for number, row in enumerate(rows):
            residues = {column: c % ELIMINATION_PRIME for column, c in row.items()}
            self.rows[number] = {column: x for column, x in residues.items() if x}
            for column in self.rows[number]:
                self.rows_with.setdefault(column, set()).add(number)
        self.by_length = [(len(row), number) for number, row in self.rows.items()]
        heapify(self.by_length)

    def pop_shortest(self) -> dict[int, int] | None:
        """Take out the shortest row that is not zero, and return it; None if all left are zero."""
        while self.by_length:
            length, number = heappop(self.by_length)
            row = self.rows.get(number)
            if row is None or len(row) != length:
                continue  # a former pair of a row that was taken out, or has changed
            del self.rows[number]
            for column in row:
                self.rows_with[column].remove(number)
            if row:
                return row
        return None

    def clear(self, pivot: int, pivot_row: Mapping[int, int]) -> None:
        """Subtract multiples of ``pivot_row`` so that no row left has an entry in column
        ``pivot``.
        """
        inverse = pow(pivot_row[pivot], -1, ELIMINATION_PRIME)
        for number in tuple(self.rows_with[pivot]):
            row = self.rows[number]
            multiple = row[pivot] * inverse
            for column, c in pivot_row.items():
                entry = (row.get(column, 0) - multiple * c) % ELIMINATION_PRIME
                if entry:
                    row[column] = entry
                    self.rows_with[column].add(number)
                else:
                    row.pop(column, None)
                    self.rows_with[column].discard(number)
            heappush(self.by_length, (len(row), number))


def matrix(rows: Sequence[Mapping[int, int]], width: int) -> Any:
    """The matrix over ZZ with these rows, given by nonzero entries, and ``width`` columns."""
    dense = flint.fmpz_mat(len(rows), width)
    for i, row in enumerate(rows):
        for j, c in row.items():
            dense[i, j] = c
    return dense


def fraction(x: int, p: int) -> tuple[int, int]:
    """Numerator and denominator of the fraction with the residue x modulo p, both up to √(p/2).

    Wang's algorithm: in Euclid's algorithm for p and x each remainder is a multiple of x modulo p;
    the first one up to √(p/2) is the numerator, and the multiplier the denominator. There is one
    such fraction at most; where there is none, the denominator is larger.
    """
    previous_remainder, remainder = p, x % p
    previous_multiplier, multiplier = 0, 1
    while remainder * remainder > p // 2:
        quotient = previous_remainder // remainder
        next_remainder = previous_remainder - quotient * remainder
        next_multiplier = previous_multiplier - quotient * multiplier
        previous_remainder, remainder = remainder, next_remainder
        previous_multiplier, multiplier = multiplier, next_multiplier
    if multiplier < 0:
        return -remainder, -multiplier
    return remainder, multiplier
