"""Exact ranks of A = KᵀQ and OV from their factors, whose entries are dyadic rationals.

The matrices of a head are in a dict by the letters K and Q, both a × d, or A, d × d, in their
place; V, v × d; and O, d' × v. Without O the values are V itself. Where biases or a norm change the
coordinates of tokens, they are :class:`LazyProduct` on the coordinates that are seen. *The prime*
is ``LARGE_PRIME`` = 2147483647.

The product of two matrices of floating-point numbers, rounded, has full rank. A rank modulo a prime
is a lower bound, and is the rank where it attains the number of rows or columns, as it does for
almost all weights. Where it does not, ranks are computed over QQ. A rank is ``None`` where that
would take longer than a minute; a TimeLimitError says that the time of the run does not suffice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import reduce
from math import sqrt
from operator import mul
from typing import Any, NamedTuple

import flint

from m2bridge.algebra.linear_algebra import elimination_price, rank_of
from m2bridge.algebra.numbers import LARGE_PRIME, without_denominators
from m2bridge.errors import TimeLimitError
from m2bridge.limits import check
from m2bridge.trained_weights.checkpoints.arrays import dyadic, modular
from m2bridge.trained_weights.heads.token_space import LazyProduct, ReducedHead

_SPARE = 8
"""Columns beyond the largest possible rank that are looked at first: of generic weights they have
the rank of all columns, and a layer has many more.
"""
_MAX_SECONDS = 60.0
"""A rank over QQ that would take more seconds than this is not computed."""


def residues(array: Any) -> flint.nmod_mat:
    """Return a matrix modulo the prime; InvalidCaseError if the prime divides a denominator."""
    # An entry takes 2e-7 seconds, as measured: TimeLimitError if so much time is not left.
    check(2e-7 * array.size)
    is_lazy = isinstance(array, LazyProduct)
    entries = array.entries(LARGE_PRIME) if is_lazy else modular(array)
    return flint.nmod_mat(*array.shape, entries.ravel().tolist(), LARGE_PRIME)


def residues_of(head: ReducedHead, letters: str = "KQAVO") -> dict[str, flint.nmod_mat]:
    """Return the matrices of a head with these letters modulo the prime."""
    chosen = [letter for letter in head.matrices if letter in letters]
    return {letter: residues(head.matrices[letter]) for letter in chosen}


def without_last_row(matrix: flint.nmod_mat) -> flint.nmod_mat:
    """Return the differences of all rows to the last row: as LayerNorm sees outputs, the rows, only
    up to multiples of (1, …, 1).
    """
    *rows, last = matrix.table()
    differences = [[x - y for x, y in zip(row, last, strict=True)] for row in rows]
    return flint.nmod_mat(differences, LARGE_PRIME)


def integers(array: Any) -> flint.fmpz_mat:
    """Return an integer matrix of the same rank: a multiple by a number that is not 0."""
    if isinstance(array, LazyProduct):
        array = array.entries(prime=None)
    if array.dtype == object:
        return flint.fmpz_mat(*array.shape, without_denominators(array.flat))
    # Each entry is w·2^e, with integers w and e.
    wholes, exponents = (part.ravel().tolist() for part in dyadic(array))
    # The exponent of a zero says nothing, and would make all other entries large.
    least = min((e for w, e in zip(wholes, exponents, strict=True) if w != 0), default=0)
    entries = []
    for w, e in zip(wholes, exponents, strict=True):
        entries.append(w << (e - least) if w != 0 else 0)
    return flint.fmpz_mat(*array.shape, entries)


def factors(matrices: Mapping[str, Any]) -> tuple[list[Any], list[Any]]:
    """Return the factors of Aᵀ and of the values: [Aᵀ] or [Qᵀ, K], and [V] or [O, V].

    The rows of the two products span the column space of A and the row space of V (or OV).
    """
    attention = [matrices["A"].T] if "A" in matrices else [matrices["Q"].T, matrices["K"]]
    return attention, [matrices[letter] for letter in "OV" if letter in matrices]


def exact_rank(array: Any) -> int | None:
    """Return the rank of an array or a :class:`LazyProduct`.

    Of a matrix with no more rows than columns, the rank of some columns modulo the prime is proved
    to be the rank where it is the number of rows: first of a few columns more than rows, then of
    all.
    """
    wide = array.T if array.shape[0] > array.shape[1] else array
    full_rank = int(wide.shape[0])
    for columns in (full_rank + _SPARE, wide.shape[1]):
        if int(residues(wide[:, :columns]).rank()) == full_rank:
            return full_rank
    return _rank_over_QQ(integers(wide))


def _rank_over_QQ(matrix: flint.fmpz_mat) -> int | None:
    """Return the rank of an integer matrix.

    :func:`rank_of` tries primes of 61 bits until their product exceeds all minors with one row more
    than the rank, which then vanish: of about as many bits as rows times the bits of an entry.
    """
    rank = int(flint.nmod_mat(matrix, LARGE_PRIME).rank())
    if rank == min(matrix.nrows(), matrix.ncols()):
        return rank
    bits_of_entry = max(int(entry).bit_length() for entry in matrix.entries())
    primes = 1 + (rank + 1) * bits_of_entry / 61
    if primes * elimination_price(matrix.nrows(), matrix.ncols()) >= _MAX_SECONDS:
        return None
    return rank_of(matrix)


def rank_of_product_map(
    rank_left: int | None, rank_right: int | None, rows: int, columns: int
) -> int | None:
    """Return the rank of the differential of (L, R) ↦ LR at factors of these ranks, whose product
    has this size; ``None`` if a rank is not known.

    The image is {XR + LY}: the XR have rows·rk R dimensions, the LY have rk L·columns, and
    rk L·rk R are common to both.
    """
    if rank_left is None or rank_right is None:
        return None
    return columns * rank_left + rows * rank_right - rank_left * rank_right


def sum_or_none(numbers: Iterable[int | None]) -> int | None:
    """Return the sum of numbers; ``None`` if one of them is ``None``, for not known."""
    total = 0
    for number in numbers:
        if number is None:
            return None
        total += number
    return total


class OrbitNumbers(NamedTuple):
    """The numbers that name the orbit of a head."""

    r: int  # rk A
    s: int  # rk V, or rk OV
    m: int  # the dimension of the column space of A ∩ the row space of V (or OV)

    def __str__(self) -> str:
        return f"({self.r}, {self.s}, {self.m})"


class Ranks(NamedTuple):
    """The numbers that name the orbit of a head, and how they are known.

    Where they are not proved, r and s are lower bounds, and m is the number for the ranks modulo
    the prime.
    """

    r: int
    s: int
    m: int
    method: str  # how they are proved; empty if they are not
    by_letter: Mapping[str, int | None]  # the ranks of the matrices K, Q, A, V, O

    @property
    def proved(self) -> bool:
        """Whether r, s and m are proved."""
        return self.method != ""

    @property
    def numbers(self) -> OrbitNumbers:
        """The triple (r, s, m) alone."""
        return OrbitNumbers(r=self.r, s=self.s, m=self.m)


def exact_ranks(matrices: Mapping[str, Any]) -> Ranks:
    """Return the ranks of a head.

    L = Aᵀ and U = V, or OV, are products of one or two factors, of which a left one that is
    one-to-one is left out: it changes no row space. The row spaces meet in m = r + s − rk(L on top
    of U) dimensions. The ranks of L, of U, and of L on top of U modulo the prime are proved if they
    attain upper bounds: the sizes of the factors, and d and r + s. A few of the d columns are tried
    first, then all. Else the ranks are computed over QQ.
    """
    d = matrices["V"].shape[1]
    by_letter = {letter: exact_rank(array) for letter, array in matrices.items()}
    products = []
    most = []
    for left, product in zip("QO", factors(matrices), strict=True):
        if len(product) == 2 and by_letter.get(left) == product[0].shape[1]:
            product = product[1:]
        products.append(product)
        most.append(min(int(size) for factor in product for size in factor.shape))
    few_columns = min(d, sum(most)) + _SPARE
    for columns in (few_columns, d):
        r, s, of_stack = _ranks_with_stack(products, columns, residues, lambda M: int(M.rank()))
        if (r, s, of_stack) == (*most, min(d, r + s)):
            method = f"modulo {LARGE_PRIME}"
            break
    else:
        # Without all three over QQ, the ranks of all d columns modulo the prime are lower bounds.
        method = ""
        with suppress(TimeLimitError):
            over_QQ = _ranks_with_stack(products, d, integers, _rank_over_QQ)
            if None not in over_QQ:
                r, s, of_stack = over_QQ
                method = "over QQ"
    return Ranks(r=r, s=s, m=r + s - of_stack, method=method, by_letter=by_letter)


def _ranks_with_stack(
    products: list[list[Any]],
    columns: int,
    convert: Callable[[Any], Any],
    rank: Callable[[Any], Any],
) -> list[Any]:
    """Return the ranks of the first columns of two products, L and U, and of L on top of U;
    ``convert`` takes an array to a matrix of FLINT, of which ``rank`` returns the rank.
    """
    matrices = []
    for *left, right in products:
        # The first columns of a product are made of the first columns of its right factor.
        matrices.append(reduce(mul, map(convert, [*left, right[:, :columns]])))
    L, U = matrices
    shape = (L.nrows() + U.nrows(), L.ncols())
    entries = L.entries() + U.entries()
    if isinstance(L, flint.fmpz_mat):
        stack = flint.fmpz_mat(*shape, entries)
    else:
        stack = flint.nmod_mat(*shape, entries, LARGE_PRIME)
    return [rank(matrix) for matrix in (L, U, stack)]


def words_on_excess_rank(
    rank: int, *, most: int, size: int, distance: float | None, precision: float
) -> str:
    """Return the words about a given A of a larger rank than a = ``most``, the largest that is
    allowed, which say whether rounding may explain it.

    ``size`` is its number of rows, ``distance`` its relative distance to rank a, ``None`` where
    rounding hides it, and ``precision`` the precision of the type of its entries.
    """
    words = f"rk A = {rank} > a = {most}: not weights of this model"
    to_allowed_rank = 0.0 if distance is None else distance
    # The product KᵀQ, rounded in each entry, is about so far from the exact one.
    of_rounding = 4 * sqrt(size) * precision
    if to_allowed_rank > of_rounding:
        return words
    return (
        f"{words}; but A is within rounding of rank {most} (relative distance"
        f" {to_allowed_rank:.1g}): a rounded product KᵀQ has full rank, so give K and Q instead of"
        " A"
    )
