"""Weights exactly: floating-point numbers are dyadic rationals, and A = KᵀQ is never rounded.

The product of two matrices of floating-point numbers, rounded, has full rank. A rank modulo a prime
is a lower bound, and is the rank where it attains the number of rows or columns, as it does for
almost all weights. Where it does not, ranks are computed over QQ.

With an output matrix the values are OV, of rank at most v: functions are then those of {rk A ≤ α} ×
{rk V ≤ β}, where α = min(a, d) and β = min(v, d, d'), a smaller variety than that of the paper, for
which β = min(d, d'). The lemmas hold for it with the same proofs, which are in ``docs/weights.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from math import comb
from operator import mul
from typing import Any, NamedTuple

import flint
import numpy

from m2bridge.algebra.determinantal import determinantal_dimension, matrices_of_rank
from m2bridge.algebra.linear_algebra import elimination_price, rank_of
from m2bridge.algebra.numbers import LARGE_PRIME, without_denominators
from m2bridge.errors import InvalidCaseError, TimeLimitError
from m2bridge.limits import check

_SPARE = 8
"""Columns beyond the largest possible rank that are looked at first."""
_MOST_SECONDS = 60.0
"""For one rank over QQ."""


def residues(array: Any) -> flint.nmod_mat:
    """A matrix modulo :data:`LARGE_PRIME`.

    Raises
    ------
    InvalidCaseError
        If the prime divides a denominator.
    """
    check(2e-7 * array.size)
    if array.dtype == object:
        try:
            entries = [
                x.numerator * pow(x.denominator, -1, LARGE_PRIME) % LARGE_PRIME for x in array.flat
            ]
        except ValueError:
            raise InvalidCaseError(
                "weights", f"a denominator is divisible by {LARGE_PRIME}"
            ) from None
    else:
        whole, exponent = _dyadic(array)
        shifted = whole % LARGE_PRIME << exponent % 31  # 2^31 is 1 modulo the prime 2^31 − 1
        entries = (shifted % LARGE_PRIME).ravel().tolist()
    return flint.nmod_mat(*array.shape, entries, LARGE_PRIME)


def integers(array: Any) -> flint.fmpz_mat:
    """A multiple of a matrix with integer entries."""
    if array.dtype == object:
        return flint.fmpz_mat(*array.shape, without_denominators(array.flat))
    whole, exponent = (part.ravel().tolist() for part in _dyadic(array))
    least = min((e for w, e in zip(whole, exponent, strict=True) if w), default=0)
    return flint.fmpz_mat(
        *array.shape, [w << e - least if w else 0 for w, e in zip(whole, exponent, strict=True)]
    )


def _dyadic(array: Any) -> tuple[Any, Any]:
    """Integers w and e with the entries w·2^e."""
    mantissa, exponent = numpy.frexp(array.astype(float))
    return numpy.ldexp(mantissa, 53).astype(numpy.int64), exponent.astype(numpy.int64) - 53


def factors(matrices: Mapping[str, Any]) -> tuple[list[Any], list[Any]]:
    """Aᵀ = QᵀK and V (or OV) as lists of factors; their rows span the column space of A and the row
    space of V.
    """
    attention = [matrices["A"].T] if "A" in matrices else [matrices["Q"].T, matrices["K"]]
    return attention, [matrices[letter] for letter in "OV" if letter in matrices]


def exact_rank(array: Any) -> int | None:
    """The rank of an array; modulo the prime where that is full, by few columns where these
    suffice.
    """
    wide = array if array.shape[0] <= array.shape[1] else array.T
    for columns in (wide.shape[0] + _SPARE, wide.shape[1]):
        if int(residues(wide[:, :columns]).rank()) == wide.shape[0]:
            return int(wide.shape[0])
    return _rank(integers(wide))


def _rank(matrix: flint.fmpz_mat) -> int | None:
    """The rank of an integer matrix; ``None`` where that would take too long."""
    rank = int(flint.nmod_mat(matrix, LARGE_PRIME).rank())
    if rank == min(matrix.nrows(), matrix.ncols()):
        return rank
    bits = (rank + 1) * max(int(entry).bit_length() for entry in matrix.entries())
    # Modulo a prime of 61 bits after the other, up to the length of minors.
    price = elimination_price(matrix.nrows(), matrix.ncols()) * (1 + bits / 61)
    return rank_of(matrix) if price < _MOST_SECONDS else None


@dataclass(frozen=True, slots=True)
class HeadShape:
    """The numbers of a head.

    Parameters
    ----------
    d, d_out, a : int
    v : int or None
        The dimension of the values, where an output matrix takes them to dimension d'.
    factored : bool
        Whether K and Q are given, and not A.
    softmax : bool
    """

    d: int
    d_out: int
    a: int
    v: int | None
    factored: bool
    softmax: bool

    @classmethod
    def of(cls, matrices: Mapping[str, Any], a: int | None, softmax: bool) -> HeadShape:
        """The ranks of K and Q, or A, and V, and perhaps O; ``a`` is the largest rank of A where A
        is given.
        """
        V, O = matrices["V"], matrices.get("O")
        d_out, v = (V.shape[0], None) if O is None else (O.shape[0], V.shape[0])
        own = matrices["K"].shape[0] if "K" in matrices else (a or V.shape[1])
        return cls(V.shape[1], d_out, own, v, "K" in matrices, softmax)

    @property
    def alpha(self) -> int:
        """The largest rank of A."""
        return min(self.a, self.d)

    @property
    def most_V(self) -> int:
        """The largest rank of a d' × d matrix."""
        return min(self.d, self.d_out)

    @property
    def beta(self) -> int:
        """The largest rank of V."""
        return min(self.most_V, self.v or self.most_V)

    @property
    def parameters(self) -> int:
        """The number of entries of K and Q (or A) and of V (and O)."""
        attention = 2 * self.a * self.d if self.factored or self.a < self.d else self.d**2
        return attention + (
            self.d_out * self.d if self.v is None else self.v * (self.d + self.d_out)
        )

    @property
    def dimension(self) -> int:
        """The dimension of the neuromanifold for t ≥ 2; softmax has no rescaling (Theorem S)."""
        values = determinantal_dimension(self.d_out, self.d, self.beta)
        return matrices_of_rank(self.d, self.alpha) + values - (not self.softmax)

    def redundant(self) -> list[tuple[str, int]]:
        """The directions of generic weights in which the function does not change, by name, with
        their numbers.
        """
        found = []
        if self.factored or self.a < self.d:
            square = (f"GL({self.a}) on K and Q", self.a**2)
            found.append(
                square
                if self.a <= self.d
                else ("K and Q with the same KᵀQ", 2 * self.a * self.d - self.d**2)
            )
        if self.v is not None:
            same = (
                "O and V with the same OV",
                self.v * (self.d + self.d_out) - self.d * self.d_out,
            )
            found.append((f"GL({self.v}) on O and V", self.v**2) if self.v <= self.most_V else same)
        return found + ([] if self.softmax else [("rescaling of A against V", 1)])

    def is_singular(self, r: int, s: int, m: int) -> bool:
        """Whether a function of lightning attention in this orbit is a singular point of the
        Zariski closure.

        Where α > 1 or β > 1 the parametrization is finite and birational: a point is smooth exactly
        if its fibre is one reduced point, where the source is smooth. For α = β = 1 the closure is
        the cone over a Segre product of projective spaces and the quadrics of rank at most 2, which
        are singular at rank 1 if d ≥ 3.
        """
        d = self.d
        if d == 1:
            return False
        if not (r and s):
            return self.dimension < self.d_out * d * comb(d + 1, 2)
        if self.alpha == self.beta == 1:
            return m == 1 and d >= 3
        return r == s == 1 or r < self.alpha < d or s < self.beta < self.most_V

    def is_boundary(self, r: int, s: int, m: int) -> bool:
        """Whether it is a limit of real functions of the closure without real weights."""
        return self.d > 1 and (not (r and s) or (r, s, m) == (1, 1, 1))


class Ranks(NamedTuple):
    """The numbers that name the orbit of a head, and how they are known.

    ``r`` is rk A, ``s`` is rk V, and ``m`` the dimension of the intersection of the column space of
    A with the row space of V. The ``method`` is ``modulo 2147483647`` or ``over QQ``; empty where
    they are not proved, and r and s are lower bounds. ``each`` has the ranks of the given matrices;
    ``None`` for those that are not known.
    """

    r: int
    s: int
    m: int
    method: str
    each: Mapping[str, int | None]

    @property
    def proved(self) -> bool:
        """Whether the three numbers are proved."""
        return bool(self.method)

    @property
    def numbers(self) -> tuple[int, int, int]:
        """The three numbers."""
        return self[:3]


def exact_ranks(matrices: Mapping[str, Any]) -> Ranks:
    """The ranks of a head, by its matrices K and Q, or A, and V, and perhaps O."""
    d, each = (
        matrices["V"].shape[1],
        {letter: exact_rank(array) for letter, array in matrices.items()},
    )
    # A left factor that is one-to-one changes no span of rows.
    alone = [
        len(span) == 2 and each[x] == span[0].shape[1]
        for x, span in zip("QO", factors(matrices), strict=True)
    ]
    spans = [span[one:] for one, span in zip(alone, factors(matrices), strict=True)]
    most = [min(n for factor in span for n in factor.shape) for span in spans]

    def three(
        convert: Callable[[Any], Any], columns: int, rank: Callable[[Any], int | None]
    ) -> tuple[Any, ...]:
        """The ranks of both matrices, and of one on top of the other."""
        L, U = (reduce(mul, map(convert, (*left, right[:, :columns]))) for *left, right in spans)
        stacked = (L.nrows() + U.nrows(), L.ncols(), L.entries() + U.entries())
        both = (
            flint.fmpz_mat(*stacked)
            if isinstance(L, flint.fmpz_mat)
            else flint.nmod_mat(*stacked, LARGE_PRIME)
        )
        return rank(L), rank(U), rank(both)

    for columns in (min(d, sum(most)) + _SPARE, d):
        r, s, both = three(residues, columns, lambda matrix: int(matrix.rank()))
        if [r, s, both] == [*most, min(d, r + s)]:
            return Ranks(r, s, r + s - both, f"modulo {LARGE_PRIME}", each)
    try:
        exact = three(integers, d, _rank)
    except TimeLimitError:
        exact = (None,)
    method = "" if None in exact else "over QQ"
    r, s, both = exact if method else (r, s, both)
    return Ranks(r, s, r + s - both, method, each)
