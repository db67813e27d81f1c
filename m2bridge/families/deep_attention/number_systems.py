"""What a network is evaluated in: integers, residues, power series modulo a prime, real balls.

The matrices of each number system know ``*``, ``+`` and ``transpose()``; the number system itself makes them, lists
their entries, and knows the normalization σ of the scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import add, mul
from random import Random
from typing import Any, Protocol

import flint

Rows = Sequence[Sequence[Any]]
"""Of integers; for balls of rational numbers too."""
Matrix = Any
"""A matrix of FLINT, or a :class:`SeriesMatrix`."""


class NumberSystem(Protocol):
    """Matrices over a ring, and the normalization of scores."""

    def matrix(self, rows: Rows) -> Matrix:
        """The matrix with these entries."""
        ...

    def normalized(self, scores: Matrix) -> Matrix:
        """σ(Z)."""
        ...

    def scores_pullback(self, normalized: Matrix, covector: Matrix) -> Matrix:
        """The covector on Z that a covector on σ(Z) becomes; ``normalized`` is σ(Z)."""
        ...


class Lightning:
    """Scores are not normalized: σ is the identity."""

    __slots__ = ()

    def normalized(self, scores: Matrix) -> Matrix:
        """The scores."""
        return scores

    def scores_pullback(self, normalized: Matrix, covector: Matrix) -> Matrix:
        """The covector."""
        return covector


@dataclass(frozen=True, slots=True)
class Integers(Lightning):
    """ZZ."""

    def matrix(self, rows: Rows) -> Matrix:
        """See :class:`NumberSystem`."""
        return flint.fmpz_mat([list(row) for row in rows])


@dataclass(frozen=True, slots=True)
class Residues(Lightning):
    """GF(p)."""

    prime: int

    def matrix(self, rows: Rows) -> Matrix:
        """See :class:`NumberSystem`."""
        entries = [entry % self.prime for row in rows for entry in row]
        return flint.nmod_mat(len(rows), len(rows[0]), entries, self.prime)


@dataclass(frozen=True, slots=True)
class FormalSoftmax:
    """GF(p), with a random number for each exponential: softmax of two different tokens.

    Softmax is then (π_1, π_2; 1 − π_1, 1 − π_2) with random π_1, π_2, and only its derivative knows the scores. By Ax's
    theorem the exponentials are algebraically independent if no attention matrix is skew-symmetric, so that ranks are
    lower bounds (docs/deep-attention.md).
    """

    prime: int
    random: Random

    def matrix(self, rows: Rows) -> Matrix:
        """See :class:`NumberSystem`."""
        return Residues(self.prime).matrix(rows)

    def normalized(self, scores: Matrix) -> Matrix:
        """See :class:`NumberSystem`."""
        chosen = [self.random.randrange(self.prime) for _ in range(2)]
        return self.matrix([chosen, [1 - value for value in chosen]])

    def scores_pullback(self, normalized: Matrix, covector: Matrix) -> Matrix:
        """See :class:`NumberSystem`."""
        rows = _softmax_pullback(normalized.table(), covector.table(), mul)
        return self.matrix([list(map(int, row)) for row in rows])


@dataclass(frozen=True, slots=True)
class Balls:
    """Real numbers enclosed in balls, with softmax; the j-th token stands for ``multiplicities[j]`` equal ones.

    The precision is that of ``flint.ctx.prec``. The normalization of column i is w_j e^{Z_ji} / Σ_m w_m e^{Z_mi}.
    """

    multiplicities: tuple[int, ...]

    def matrix(self, rows: Rows) -> Matrix:
        """See :class:`NumberSystem`."""
        return flint.arb_mat([list(map(flint.arb, row)) for row in rows])

    def normalized(self, scores: Matrix) -> Matrix:
        """See :class:`NumberSystem`."""
        exponentials = [[w * entry.exp() for entry in row] for w, row in self._rows(scores)]
        totals = [sum(column[1:], column[0]) for column in zip(*exponentials, strict=True)]
        return flint.arb_mat([[e / total for e, total in zip(row, totals, strict=True)] for row in exponentials])

    def scores_pullback(self, normalized: Matrix, covector: Matrix) -> Matrix:
        """See :class:`NumberSystem`."""
        return flint.arb_mat(_softmax_pullback(normalized.table(), covector.table(), mul))

    def _rows(self, scores: Matrix) -> Any:
        return zip(self.multiplicities, scores.table(), strict=True)


@dataclass(frozen=True, slots=True)
class PowerSeries:
    """GF(p)[h]/(h^length), with softmax, for inputs εX where h = ε².

    Tokens are kept divided by ε, so the scores are h times what the matrices say; all scores have constant term 0, so
    their exponentials are power series, with denominators below ``length``, which must not exceed p. The constant term
    of a column's total is t, which p must not divide.
    """

    prime: int
    length: int
    multiplicities: tuple[int, ...]

    def matrix(self, rows: Rows) -> SeriesMatrix:
        """See :class:`NumberSystem`."""
        entries = [[flint.nmod_poly([entry], self.prime) for entry in row] for row in rows]
        return SeriesMatrix(entries, self.length)

    def normalized(self, scores: SeriesMatrix) -> SeriesMatrix:
        """See :class:`NumberSystem`."""
        n = self.length
        rows = zip(self.multiplicities, scores.rows, strict=True)
        exponentials = [[w * self._exponential(self._shifted(entry)) for entry in row] for w, row in rows]
        totals = [sum(column[1:], column[0]) for column in zip(*exponentials, strict=True)]
        inverses = [total.inverse_series_trunc(n) for total in totals]
        quotients = [[e.mul_low(inverse, n) for e, inverse in zip(row, inverses, strict=True)] for row in exponentials]
        return SeriesMatrix(quotients, n)

    def scores_pullback(self, normalized: SeriesMatrix, covector: SeriesMatrix) -> SeriesMatrix:
        """See :class:`NumberSystem`."""
        n = self.length
        pulled = _softmax_pullback(normalized.rows, covector.rows, lambda x, y: x.mul_low(y, n))
        return SeriesMatrix([[self._shifted(entry) for entry in row] for row in pulled], n)

    def _shifted(self, series: Any) -> Any:
        """h times the series."""
        return series.left_shift(1).truncate(self.length)

    def _exponential(self, series: Any) -> Any:
        """e^Z for a series Z without constant term, by Newton's iteration E ← E(1 + Z − log E)."""
        one = flint.nmod_poly([1], self.prime)
        value, known = one, 1
        while known < self.length:
            known = min(2 * known, self.length)
            logarithm = value.derivative().mul_low(value.inverse_series_trunc(known), known).integral().truncate(known)
            value = value.mul_low(one + series.truncate(known) - logarithm, known)
        return value


def _softmax_pullback(normalized: Any, covector: Any, times: Any) -> list[list[Any]]:
    """σ_ji (G_ji − Σ_m σ_mi G_mi), entry by entry."""
    columns = []
    for sigma, g in zip(zip(*normalized, strict=True), zip(*covector, strict=True), strict=True):
        products = [times(s, entry) for s, entry in zip(sigma, g, strict=True)]
        mean = sum(products[1:], products[0])
        columns.append([product - times(s, mean) for s, product in zip(sigma, products, strict=True)])
    return [list(row) for row in zip(*columns, strict=True)]


@dataclass(frozen=True, slots=True)
class SeriesMatrix:
    """A matrix of power series modulo a prime, truncated to ``length`` coefficients; FLINT has none."""

    rows: list[list[Any]]
    length: int

    def __add__(self, other: SeriesMatrix) -> SeriesMatrix:
        pairs = zip(self.rows, other.rows, strict=True)
        return SeriesMatrix([list(map(add, row, other_row)) for row, other_row in pairs], self.length)

    def __mul__(self, other: SeriesMatrix) -> SeriesMatrix:
        n, columns = self.length, list(zip(*other.rows, strict=True))
        return SeriesMatrix([[_inner(row, column, n) for column in columns] for row in self.rows], n)

    def transpose(self) -> SeriesMatrix:
        """The transposed matrix."""
        return SeriesMatrix([list(row) for row in zip(*self.rows, strict=True)], self.length)

    def entries(self) -> list[Any]:
        """All entries, row by row."""
        return [entry for row in self.rows for entry in row]


def _inner(row: Sequence[Any], column: Sequence[Any], length: int) -> Any:
    products = [x.mul_low(y, length) for x, y in zip(row, column, strict=True)]
    return sum(products[1:], products[0])
