"""Ranks of the matrices of a head, exactly: floating-point numbers are dyadic rationals.

The product of two matrices of floating-point numbers, rounded, has full rank; so A = KᵀQ is never rounded. A rank
modulo a prime is a lower bound, and is the rank where it attains the number of rows or columns, as it does for almost
all weights. Where it does not, ranks are computed over QQ.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import flint
import numpy

from m2bridge.algebra.linear_algebra import rank_of, reduced_echelon
from m2bridge.algebra.numbers import LARGE_PRIME, without_denominators
from m2bridge.errors import TimeLimitError
from m2bridge.limits import check

_SPARE = 8
"""Columns beyond the largest possible rank that are looked at first."""
_MOST_SECONDS = 60.0
"""For one rank over QQ."""
_PRICE = 4e-9
"""Seconds for each of n·c·r² products, c rows of n entries in terms of r rows: r by the length of the numbers."""
_POWERS = numpy.array([pow(2, k, LARGE_PRIME) for k in range(31)])
"""2^31 is 1 modulo the prime 2^31 − 1."""


def residues(array: Any) -> flint.nmod_mat:
    """A matrix modulo :data:`LARGE_PRIME`; of fractions a multiple, which has the same rank over QQ."""
    check(2e-7 * array.size)
    if array.dtype == object:
        entries = [entry % LARGE_PRIME for entry in without_denominators(array.flat)]
    else:
        whole, exponent = _dyadic(array)
        entries = (whole % LARGE_PRIME * _POWERS[exponent % 31] % LARGE_PRIME).ravel().tolist()
    return flint.nmod_mat(*array.shape, entries, LARGE_PRIME)


def integers(array: Any) -> flint.fmpz_mat:
    """A multiple of a matrix with integer entries."""
    if array.dtype == object:
        return flint.fmpz_mat(*array.shape, without_denominators(array.flat))
    whole, exponent = (part.ravel().tolist() for part in _dyadic(array))
    least = min((e for w, e in zip(whole, exponent, strict=True) if w), default=0)
    return flint.fmpz_mat(*array.shape, [w << e - least if w else 0 for w, e in zip(whole, exponent, strict=True)])


def _dyadic(array: Any) -> tuple[Any, Any]:
    """Integers w and e with the entries w·2^e."""
    mantissa, exponent = numpy.frexp(array.astype(float))
    return numpy.ldexp(mantissa, 53).astype(numpy.int64), exponent.astype(numpy.int64) - 53


@dataclass(frozen=True, slots=True, eq=False)
class Product:
    """A matrix that is a product of two, of which the left one may be missing; its rows are what counts.

    Parameters
    ----------
    right : array
        k × d.
    left : array, optional
        n × k.
    """

    right: Any
    left: Any = None

    @property
    def most(self) -> int:
        """The largest rank that it can have."""
        return int(min(*self.right.shape, *(() if self.left is None else self.left.shape)))

    def modulo(self, columns: int) -> flint.nmod_mat:
        """A matrix whose rows span those of the first columns, modulo the prime."""
        right = residues(self.right[:, :columns])
        if self.left is None or rank_modulo(self.left.T) == self.left.shape[1]:
            return right  # the left factor is one-to-one
        return residues(self.left) * right

    def over_qq(self) -> flint.fmpz_mat:
        """An integer matrix with rows that span those of a multiple."""
        right = integers(self.right)
        if self.left is None or rank_modulo(self.left.T) == self.left.shape[1]:
            return right
        left = integers(self.left)
        _, pivots = reduced_echelon(flint.nmod_mat(left.transpose(), LARGE_PRIME))
        if len(pivots) == _rank(left):  # rows that are a basis of all
            left = flint.fmpz_mat([left.tolist()[i] for i in pivots]) if pivots else flint.fmpz_mat(1, left.ncols())
        return left * right


def rank_modulo(array: Any) -> int:
    """The rank modulo the prime, by few columns where these suffice: a lower bound."""
    rank = 0
    for columns in (array.shape[0] + _SPARE, array.shape[1]):
        rank = int(residues(array[:, :columns]).rank())
        if rank == min(array.shape):
            break
    return rank


def exact_rank(array: Any) -> int | None:
    """The rank over QQ; ``None`` where that would take too long."""
    rank = rank_modulo(array)
    return rank if rank == min(array.shape) else _rank(integers(array))


def _rank(matrix: flint.fmpz_mat) -> int | None:
    """The rank of an integer matrix; ``None`` where that would take too long.

    Let r be the rank modulo the prime. An r × r submatrix that is invertible modulo the prime is so over QQ. By it the
    other rows are expressed in r rows, in its columns; the rank is r if this holds in all columns.
    """
    for _ in range(2):
        rows = [row for row in matrix.tolist() if any(row)]
        if not rows:
            return 0
        matrix = flint.fmpz_mat(rows).transpose()
    matrix = matrix.transpose() if matrix.nrows() > matrix.ncols() else matrix
    rows, modulo = matrix.tolist(), flint.nmod_mat(matrix, LARGE_PRIME)
    if (rank := int(modulo.rank())) == len(rows):
        return rank
    independent, columns = reduced_echelon(modulo.transpose())[1], reduced_echelon(modulo)[1]
    others = sorted(set(range(len(rows))) - set(independent))
    price = _PRICE * len(others) * matrix.ncols() * rank**2
    if price > _MOST_SECONDS:
        return None
    check(price)
    basis, rest = (flint.fmpz_mat([rows[i] for i in chosen]) for chosen in (independent, others))
    square, wanted = (flint.fmpz_mat([[row[j] for j in columns] for row in part.tolist()]) for part in (basis, rest))
    numerators, denominator = square.transpose().solve(wanted.transpose()).transpose().numer_denom()
    return rank if numerators * basis == denominator * rest else rank_of(matrix)


@dataclass(frozen=True, slots=True)
class Ranks:
    """The numbers that name the orbit of a head, and how they are known.

    Parameters
    ----------
    r, s, m : int
        rk A, rk V and the dimension of the intersection of the column space of A with the row space of V.
    method : str
        ``modulo 2147483647`` or ``over QQ``; empty where they are not proved, and r and s are lower bounds.
    """

    r: int
    s: int
    m: int
    method: str

    @property
    def proved(self) -> bool:
        """Whether the three numbers are proved."""
        return bool(self.method)

    @property
    def known(self) -> str:
        """``proved``, or ``lower bound``."""
        return "proved" if self.method else "lower bound"

    @property
    def numbers(self) -> tuple[int, int, int]:
        """The three numbers."""
        return self.r, self.s, self.m


def factors(matrices: Mapping[str, Any]) -> tuple[Product, Product]:
    """Aᵀ = QᵀK and V (or OV), whose rows span the column space of A and the row space of V."""
    attention = Product(matrices["A"].T) if "A" in matrices else Product(matrices["K"], matrices["Q"].T)
    return attention, Product(matrices["V"], matrices.get("O"))


def exact_ranks(matrices: Mapping[str, Any]) -> Ranks:
    """The ranks of a head, by its matrices K and Q, or A, and V, and perhaps O."""
    A, V = factors(matrices)
    d = A.right.shape[1]
    found = 0, 0, 0
    for columns in (min(d, A.most + V.most) + _SPARE, d):
        found = _three(A.modulo(columns), V.modulo(columns), lambda matrix: int(matrix.rank()))
        r, s, both = found
        if (r, s, both) == (A.most, V.most, min(d, r + s)):
            return Ranks(r, s, r + s - both, f"modulo {LARGE_PRIME}")
    r, s, both = found
    try:
        exact = _three(A.over_qq(), V.over_qq(), _rank)
    except TimeLimitError:
        return Ranks(r, s, r + s - both, "")
    if None in exact:
        return Ranks(r, s, r + s - both, "")
    r, s, both = exact
    return Ranks(r, s, r + s - both, "over QQ")


def _three(L: Any, U: Any, rank: Any) -> tuple[Any, Any, Any]:
    """The ranks of two matrices, and of one on top of the other."""
    n, columns = L.nrows(), L.ncols()
    entries = L.entries() + U.entries()
    shape = n + U.nrows(), columns, entries
    stacked = flint.fmpz_mat(*shape) if isinstance(L, flint.fmpz_mat) else flint.nmod_mat(*shape, LARGE_PRIME)
    return rank(L), rank(U), rank(stacked)


def is_onto(matrices: Mapping[str, Any], letters: str) -> bool | None:
    """Whether one of two factors, K and Q of KᵀQ or O and V of OV, has the rank d or d' of its longer side.

    Then the products of factors near them are all matrices near theirs.
    """
    full = []
    for letter in letters:
        rank = exact_rank(matrices[letter])
        full.append(None if rank is None else rank == matrices[letter].shape[letter != "O"])
    return True if True in full else None if None in full else False
