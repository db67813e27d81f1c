"""Exact ranks of A = KᵀQ and OV from their factors, whose entries are dyadic rationals.

The matrices of a head are in a dict by the letters K and Q, both a × d, or A, d × d, in their
place; V, v × d; and O, d' × v. Without O the values are V itself, which is d' × d, and ``v`` is
``None``. Tokens have d coordinates and outputs d' (``d_out``). Where tokens get a coordinate 1 for
biases, or a norm takes coordinates away, K, Q and V are the matrices on the coordinates that are
seen. *The prime* is ``LARGE_PRIME`` = 2147483647.

The product of two matrices of floating-point numbers, rounded, has full rank. A rank modulo a prime
is a lower bound, and is the rank where it attains the number of rows or columns, as it does for
almost all weights. Where it does not, ranks are computed over QQ.

With an output matrix the values are OV, of rank at most v: functions are then those of {rk A ≤ α} ×
{rk V ≤ β}, where α = min(a, d) and β = min(v, d, d'), a smaller variety than that of the paper, for
which β = min(d, d'). The lemmas hold for it with the same proofs, which are in
``docs/weights-mathematics.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from math import comb, sqrt
from operator import mul
from typing import Any, NamedTuple

import flint

from m2bridge.algebra.determinantal import determinantal_dimension
from m2bridge.algebra.linear_algebra import elimination_price, rank_of
from m2bridge.algebra.numbers import LARGE_PRIME, without_denominators
from m2bridge.errors import TimeLimitError
from m2bridge.limits import check
from m2bridge.trained_weights.checkpoints.arrays import dyadic, modular
from m2bridge.trained_weights.heads.reduced_head import ReducedHead
from m2bridge.trained_weights.heads.token_space import LazyProduct, TokenSpace, UnseenColumns

_SPARE = 8
"""Columns beyond the largest possible rank that are looked at first: of generic weights they have
the rank of all columns, and a layer has many more.
"""
_MOST_SECONDS = 60.0
"""A rank over QQ that would take more seconds than this is not computed."""
_ROUNDINGS = 4
"""A d × d product of rank a, rounded in each entry, is at a relative distance of about this number
times √d times the precision from rank a.
"""


def residues(array: Any) -> flint.nmod_mat:
    """Return a matrix modulo :data:`LARGE_PRIME`; ``array`` is an array or a :class:`LazyProduct`.

    Raises
    ------
    InvalidCaseError
        If the prime divides a denominator.
    """
    # An entry takes 2e-7 seconds, as measured: TimeLimitError if so much time is not left.
    check(2e-7 * array.size)
    entries = array.modular() if isinstance(array, LazyProduct) else modular(array)
    return flint.nmod_mat(*array.shape, entries.ravel().tolist(), LARGE_PRIME)


def residues_of(head: ReducedHead, letters: str = "KQAVO") -> dict[str, flint.nmod_mat]:
    """Return by their letters those matrices of a head that are among ``letters``, modulo
    :data:`LARGE_PRIME`.
    """
    found = {}
    for letter, matrix in head.matrices.items():
        if letter in letters:
            found[letter] = residues(matrix)
    return found


def without_last_row(matrix: flint.nmod_mat) -> flint.nmod_mat:
    """Return the differences of all rows but the last to the last row, of a matrix of two rows or
    more modulo the prime: one row less.

    The rows are the coordinates of outputs. LayerNorm sees outputs only up to multiples of
    (1, …, 1), and these differences are the same for outputs that differ by such a multiple.
    """
    *rows, last = matrix.table()
    differences = [[x - y for x, y in zip(row, last, strict=True)] for row in rows]
    return flint.nmod_mat(differences, LARGE_PRIME)


def integers(array: Any) -> flint.fmpz_mat:
    """Return a multiple of a matrix, by a number that is not 0, with integer entries: it has the
    same rank.

    ``array`` has floating-point numbers, or integers and fractions as objects; or it is a
    :class:`LazyProduct`.
    """
    if isinstance(array, LazyProduct):
        array = array.exact()
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
    """Return the factors of Aᵀ and those of the values: [Aᵀ] or [Qᵀ, K], and [V] or [O, V].

    The rows of the two products span the column space of A and the row space of V (or OV).
    ``matrices`` are those of a head by their letters.
    """
    attention = [matrices["A"].T] if "A" in matrices else [matrices["Q"].T, matrices["K"]]
    return attention, [matrices[letter] for letter in "OV" if letter in matrices]


def exact_rank(array: Any) -> int | None:
    """Return the rank of an array or a :class:`LazyProduct`; ``None`` if that would take longer
    than a minute. TimeLimitError if the time of the run does not suffice.

    The matrix is taken with no more rows than columns. The rank of some of its columns modulo the
    prime is a lower bound, and proved to be the rank where it is the number of rows. That is tried
    first, with a few columns more than rows, and then with all columns.
    """
    wide = array
    if array.shape[0] > array.shape[1]:
        wide = array.T
    full_rank = int(wide.shape[0])
    for columns in (full_rank + _SPARE, wide.shape[1]):
        if int(residues(wide[:, :columns]).rank()) == full_rank:
            return full_rank
    return _rank_over_QQ(integers(wide))


def _rank_over_QQ(matrix: flint.fmpz_mat) -> int | None:
    """Return the rank of an integer matrix; ``None`` where that would take longer than a minute."""
    rank = int(flint.nmod_mat(matrix, LARGE_PRIME).rank())
    if rank == min(matrix.nrows(), matrix.ncols()):
        return rank
    if _seconds_of_rank_of(matrix, rank) >= _MOST_SECONDS:
        return None
    return rank_of(matrix)


def _seconds_of_rank_of(matrix: flint.fmpz_mat, rank: int) -> float:
    """Return roughly how many seconds :func:`rank_of` takes for a matrix of this rank.

    It tries primes of 61 bits until their product exceeds all minors with ``rank`` + 1 rows, which
    then vanish. Such a minor has about (rank + 1) · (bits of the largest entry) bits.
    """
    bits_of_entry = max(int(entry).bit_length() for entry in matrix.entries())
    bits_of_minor = (rank + 1) * bits_of_entry
    primes = 1 + bits_of_minor / 61
    seconds_for_a_prime = elimination_price(matrix.nrows(), matrix.ncols())
    return primes * seconds_for_a_prime


def words_on_excess_rank(
    rank: int, *, most: int, size: int, distance: float | None, precision: float
) -> str:
    """Return the words about a given A whose rank is larger than a model allows; they say whether
    rounding may explain it.

    Parameters
    ----------
    rank, most : int
        The rank of A, and the largest one that is allowed, a.
    size : int
        The number of rows and columns of A.
    distance : float or None
        The relative distance of A to rank ``most``; ``None`` where rounding hides it.
    precision : float
        The distance from 1 to the next number of the type in which A is stored.
    """
    words = f"rk A = {rank} > a = {most}: not weights of this model"
    to_allowed_rank = 0.0 if distance is None else distance
    # The product KᵀQ, rounded in each entry, is about so far from the exact one.
    of_rounding = _ROUNDINGS * sqrt(size) * precision
    if to_allowed_rank > of_rounding:
        return words
    return (
        f"{words}; but A is within rounding of rank {most} (relative distance"
        f" {to_allowed_rank:.1g}): a rounded product KᵀQ has full rank, so give K and Q instead of"
        " A"
    )


@dataclass(frozen=True, slots=True)
class HeadShape:
    """The sizes of a head, the dimension of its functions, and its redundant directions.

    Parameters
    ----------
    d : int
        The dimension of the tokens, as far as K and V see them.
    d_out : int
        d', the dimension of the outputs.
    a : int
        The number of rows of K and Q; where A is given, the largest rank that A may have.
    v : int or None
        The dimension of the values, where an output matrix takes them to dimension d'.
    factored : bool
        Whether K and Q are given, and not A.
    softmax : bool
        Whether scores are normalized by softmax.
    coordinates : TokenSpace or None
        The coordinates of tokens that the matrices see: d is then the number of columns of K and V
        that are seen. ``None`` without biases and norm, where all entries of tokens are seen.
    """

    d: int
    d_out: int
    a: int
    v: int | None
    factored: bool
    softmax: bool
    coordinates: TokenSpace | None = None

    @classmethod
    def of(
        cls,
        matrices: Mapping[str, Any],
        a: int | None,
        softmax: bool,
        coordinates: TokenSpace | None = None,
    ) -> HeadShape:
        """Return the sizes of a head, by its matrices K and Q, or A, and V, and perhaps O.

        ``a`` is the largest rank of A, where A is given; ``None`` is d, which bounds nothing.
        ``coordinates`` are those of its tokens, ``None`` without biases and norm.
        """
        V, O = matrices["V"], matrices.get("O")
        rows, d = V.shape
        factored = "K" in matrices
        return cls(
            d=d,
            d_out=rows if O is None else O.shape[0],
            # A number a that is given is at least 1.
            a=matrices["K"].shape[0] if factored else (a or d),
            v=None if O is None else rows,
            factored=factored,
            softmax=softmax,
            coordinates=coordinates,
        )

    @property
    def width(self) -> int:
        """The number of entries of a token, as it is given."""
        return self.d if self.coordinates is None else self.coordinates.width

    def with_width(self, width: int) -> HeadShape:
        """Return the sizes of a head for tokens with this number of entries, without a norm."""
        lost = self.width - width
        coordinates = self.coordinates
        if coordinates is not None:
            coordinates = replace(
                coordinates,
                width=width,
                dimension=coordinates.dimension - lost,
                queries=coordinates.queries - lost,
            )
        return replace(self, d=self.d - lost, coordinates=coordinates)

    @property
    def token_dimension(self) -> int:
        """The dimension of tokens, with biases and norms counted."""
        return self.d if self.coordinates is None else self.coordinates.dimension

    @property
    def queries(self) -> int:
        """The number of coordinates of tokens that Q sees: d, or d + 1 in softmax attention where Q
        has a bias, as that of K does nothing.
        """
        return self.d if self.coordinates is None else self.coordinates.queries

    def unseen(self, letter: str) -> list[UnseenColumns]:
        """Return the columns of K, Q or V, as ``letter`` says, that do not change the function, by
        the names of symmetries; a bias is one more column.
        """
        if self.coordinates is None:
            return []
        return [unseen for unseen in self.coordinates.unseen if unseen.letter == letter]

    def columns_in_file(self, letter: str) -> int:
        """Return the number of columns that K, Q or V, as ``letter`` says, has in the file: those
        that are seen, and those that do not change the function. A bias is one more column.
        """
        seen = self.queries if letter == "Q" else self.d
        return seen + sum(unseen.columns for unseen in self.unseen(letter))

    @property
    def alpha(self) -> int:
        """α = min(a, d), the largest rank of A."""
        return min(self.a, self.d)

    @property
    def most_V(self) -> int:
        """The largest rank of a d' × d matrix."""
        return min(self.d, self.d_out)

    @property
    def beta(self) -> int:
        """β, the largest rank of V: min(d, d'), or of OV: min(v, d, d')."""
        return self.most_V if self.v is None else min(self.most_V, self.v)

    @property
    def parameters(self) -> int:
        """The number of entries of K and Q (or A) and of V (and O), with biases as columns."""
        columns_of_K, columns_of_Q, columns_of_V = map(self.columns_in_file, "KQV")
        attention = columns_of_K * columns_of_Q
        if self.has_factors:
            attention = self.a * (columns_of_K + columns_of_Q)
        if self.v is None:
            return attention + self.d_out * columns_of_V
        return attention + self.v * (columns_of_V + self.d_out)

    @property
    def has_factors(self) -> bool:
        """Whether the parameters of A are K and Q: if they are given, or A has bounded rank."""
        return self.factored or self.a < self.d

    @property
    def dimension(self) -> int:
        """The dimension of the neuromanifold for t ≥ 2.

        It is that of all A of rank ≤ α and all V of rank ≤ β, less 1 for the rescaling of A against
        V, which softmax does not have (Theorem S).
        """
        # V (or OV) is d' × d. A is d × ``queries``, as a bias of Q may be one more column.
        values = determinantal_dimension(self.d_out, self.d, self.beta)
        attention = determinantal_dimension(self.d, self.queries, self.alpha)
        rescaling = 0 if self.softmax else 1
        return attention + values - rescaling

    @property
    def can_be_mixed(self) -> bool:
        """Whether several such heads of lightning attention can be mixed by GL(H) without a change
        of their sum: so it is where any A and V, of whatever rank, are those of a head.
        """
        return self.alpha == self.d and self.beta == self.most_V and not self.softmax

    @property
    def can_be_exchanged(self) -> bool:
        """Whether generic A and V are A = k qᵀ, V = h vᵀ, with the same function as A = v qᵀ,
        V = h kᵀ. For d = 1 the two differ by a rescaling only.
        """
        return self.alpha == self.beta == 1 < self.d and not self.softmax

    def redundant(self, with_rescaling: bool = True) -> list[tuple[str, int]]:
        """Return the directions of generic weights in which the function does not change, as pairs
        of a name and a number of dimensions.

        The directions are tangent to the fibres of (K, Q) ↦ KᵀQ and (O, V) ↦ OV, which are orbits
        of GL where the products are of bounded rank; to the rescaling (λA, V/λ), unless
        ``with_rescaling`` is false; and they are those that biases and norms hide.
        """
        found = []
        if self.has_factors and self.a <= self.d:
            found.append((f"GL({self.a}) on K and Q", self.a**2))
        elif self.has_factors:
            # All matrices are products KᵀQ: entries of the factors less those of the product.
            number = self.a * (self.d + self.queries) - self.d * self.queries
            found.append(("K and Q with the same KᵀQ", number))
        if self.v is not None and self.v <= self.most_V:
            found.append((f"GL({self.v}) on O and V", self.v**2))
        elif self.v is not None:
            number = self.v * (self.d + self.d_out) - self.d * self.d_out
            found.append(("O and V with the same OV", number))
        if with_rescaling and not self.softmax:
            found.append(("rescaling of A against V", 1))
        return found + self.redundant_columns()

    def redundant_columns(self) -> list[tuple[str, int]]:
        """Return the directions that biases and norms hide, as pairs of a name and a number of
        dimensions.
        """
        # Each hidden column has an entry in each row of its matrix.
        rows_of_V = self.d_out if self.v is None else self.v
        found = [(unseen.name, rows_of_V * unseen.columns) for unseen in self.unseen("V")]
        if self.has_factors:
            of_K_and_Q = [*self.unseen("K"), *self.unseen("Q")]
            found += [(unseen.name, self.a * unseen.columns) for unseen in of_K_and_Q]
        elif self.coordinates is not None:
            # A has as many rows as K would have columns; d × ``queries`` of its entries are seen.
            entries_in_file = self.columns_in_file("K") * self.columns_in_file("Q")
            hidden = entries_in_file - self.d * self.queries
            found.append(("A on tokens that do not occur", hidden))
        return [(name, size) for name, size in found if size]

    def is_singular(self, r: int, s: int, m: int) -> bool:
        """Return whether a function of lightning attention in the orbit (r, s, m) is a singular
        point of the Zariski closure: r = rk A, s = rk V, m = dim(column space of A ∩ row space
        of V).

        The zero function is singular unless the closure is the whole space of coordinates. Where
        α > 1 or β > 1 the parametrization is finite and birational: a point is smooth exactly if
        its fibre is one reduced point, where the source is smooth. For α = β = 1 the closure is the
        cone over a Segre product of projective spaces and the quadrics of rank at most 2, which
        are singular at rank 1 if d ≥ 3.
        """
        d = self.d
        # For d = 1 the functions are AV·x²y, with a number A and any vector V: the whole space.
        if d == 1:
            return False
        is_zero = r == 0 or s == 0
        if is_zero:
            # Coordinates: cubic forms in two tokens, quadratic in one and linear in the other.
            coordinates = self.d_out * d * comb(d + 1, 2)
            return self.dimension < coordinates
        if self.alpha == self.beta == 1:
            return m == 1 and d >= 3
        # Of rank one, A = k qᵀ, V = h vᵀ, has the fibre of two points (k and v exchanged), or of
        # one that is not reduced (k = v).
        if r == s == 1:
            return True
        # A determinantal variety that is not the whole space is singular at smaller ranks.
        A_is_singular = r < self.alpha < d
        V_is_singular = s < self.beta < self.most_V
        return A_is_singular or V_is_singular

    def is_boundary(self, r: int, s: int, m: int) -> bool:
        """Return whether a function of lightning attention in the orbit (r, s, m) is a boundary
        point: zero, or of the orbit (1, 1, 1).

        Near it there are real functions of the closure without real weights
        (docs/weights-mathematics.md, Heads with an output matrix).
        """
        is_zero = r == 0 or s == 0
        return self.d > 1 and (is_zero or (r, s, m) == (1, 1, 1))


class OrbitNumbers(NamedTuple):
    """The numbers that name the orbit of a head: ``r`` is rk A, ``s`` is rk V, or rk OV with an
    output matrix, and ``m`` the dimension of the intersection of the column space of A with the
    row space of V (or OV).
    """

    r: int
    s: int
    m: int

    def __str__(self) -> str:
        return f"({self.r}, {self.s}, {self.m})"


class Ranks(NamedTuple):
    """The numbers that name the orbit of a head, and how they are known.

    ``r`` is rk A, ``s`` is rk V, or rk OV with an output matrix, and ``m`` the dimension of the
    intersection of the column space of A with the row space of V. The ``method`` is ``modulo
    2147483647`` or ``over QQ``; it is empty where they are not proved: then r and s are lower
    bounds, and m is the number for the ranks modulo the prime. ``by_letter`` has the ranks of the
    given matrices K, Q, A, V, O; ``None`` for those that are not known.
    """

    r: int
    s: int
    m: int
    method: str
    by_letter: Mapping[str, int | None]

    @property
    def proved(self) -> bool:
        """Whether r, s and m are proved: then there is a method."""
        return self.method != ""

    @property
    def numbers(self) -> OrbitNumbers:
        """The triple (r, s, m) alone."""
        return OrbitNumbers(r=self.r, s=self.s, m=self.m)

    @classmethod
    def of(
        cls, r: int, s: int, rank_of_stack: int, *, method: str, by_letter: Mapping[str, int | None]
    ) -> Ranks:
        """Return the numbers from the ranks r of A and s of V, and the rank of Aᵀ on top of V,
        ``rank_of_stack``: the row spaces of Aᵀ and V meet in m = r + s − rank_of_stack dimensions.
        """
        return cls(r, s, r + s - rank_of_stack, method=method, by_letter=by_letter)


def exact_ranks(matrices: Mapping[str, Any]) -> Ranks:
    """Return the ranks of a head, by its matrices K and Q, or A, and V, and perhaps O.

    L = Aᵀ and U = V, or OV, are products of one or two factors, of which a left one that is
    one-to-one is left out: it changes no row space. The ranks of L, of U, and of L on top of U are
    computed modulo the prime, where they are lower bounds. They are proved if they attain upper
    bounds: the sizes of the factors, and d and r + s for L on top of U. A few of the d columns are
    tried first, then all. Else the ranks are computed over QQ.
    """
    d = matrices["V"].shape[1]
    by_letter = {letter: exact_rank(array) for letter, array in matrices.items()}
    factors_of_L, factors_of_U = factors(matrices)
    # Where there are two factors, the left ones are Qᵀ and O.
    factors_of_L = _without_injective_left(factors_of_L, rank=by_letter.get("Q"))
    factors_of_U = _without_injective_left(factors_of_U, rank=by_letter.get("O"))
    most_A, most_V = map(_smallest_size, (factors_of_L, factors_of_U))
    few_columns = min(d, most_A + most_V) + _SPARE
    for columns in (few_columns, d):
        L = _first_columns(factors_of_L, columns, residues)
        U = _first_columns(factors_of_U, columns, residues)
        r, s, rank_of_stack = (int(matrix.rank()) for matrix in (L, U, _on_top(L, U)))
        upper_bounds = (most_A, most_V, min(d, r + s))
        if (r, s, rank_of_stack) == upper_bounds:
            return Ranks.of(
                r, s, rank_of_stack, method=f"modulo {LARGE_PRIME}", by_letter=by_letter
            )
    # r, s and ``rank_of_stack`` are now those of all d columns.
    over_QQ = _ranks_of_stack_over_QQ(factors_of_L, factors_of_U)
    # Without all three over QQ, r and s modulo the prime are left, as lower bounds.
    if over_QQ is None:
        return Ranks.of(r, s, rank_of_stack, method="", by_letter=by_letter)
    return Ranks.of(
        over_QQ.of_L, over_QQ.of_U, over_QQ.of_stack, method="over QQ", by_letter=by_letter
    )


class _RanksOfStack(NamedTuple):
    """The ranks of two matrices L and U, and of L on top of U (``of_stack``)."""

    of_L: int
    of_U: int
    of_stack: int


def _ranks_of_stack_over_QQ(
    factors_of_L: list[Any], factors_of_U: list[Any]
) -> _RanksOfStack | None:
    """Return the ranks over QQ of L, of U, and of L on top of U; ``None`` if one of them takes
    longer than a minute, or the time of the run does not suffice.

    L and U are products of one or two factors each, and both have d columns.
    """
    columns = factors_of_L[-1].shape[1]
    try:
        L = _first_columns(factors_of_L, columns, integers)
        U = _first_columns(factors_of_U, columns, integers)
        r, s, rank_of_stack = (_rank_over_QQ(matrix) for matrix in (L, U, _on_top(L, U)))
    except TimeLimitError:
        return None
    if r is None or s is None or rank_of_stack is None:
        return None
    return _RanksOfStack(of_L=r, of_U=s, of_stack=rank_of_stack)


def _smallest_size(product: list[Any]) -> int:
    """Return the least number of rows or columns of the factors: the rank of their product is not
    larger.
    """
    sizes = [int(size) for factor in product for size in factor.shape]
    return min(sizes)


def _without_injective_left(product: list[Any], rank: int | None) -> list[Any]:
    """Return one or two factors without the left of two, where it has as many columns as its rank,
    so that it is one-to-one: the rows of the product span the same space without it.

    ``rank`` is that of the left factor, or ``None`` if it is not known.
    """
    is_injective = len(product) == 2 and rank == product[0].shape[1]
    return product[1:] if is_injective else product


def _first_columns(product: list[Any], columns: int, convert: Callable[[Any], Any]) -> Any:
    """Return the first ``columns`` columns of the product of one or two factors, ``product``.

    ``convert`` takes an array to a matrix over the ring in which they are multiplied.
    """
    *left, right = product
    # The first columns of the product are made of the first columns of its right factor.
    chosen_factors = [*left, right[:, :columns]]
    return reduce(mul, map(convert, chosen_factors))


def _on_top(L: Any, U: Any) -> Any:
    """Return L on top of U, with equally many columns: both over the integers, or both modulo the
    prime.
    """
    shape = (L.nrows() + U.nrows(), L.ncols())
    entries = L.entries() + U.entries()
    if isinstance(L, flint.fmpz_mat):
        return flint.fmpz_mat(*shape, entries)
    return flint.nmod_mat(*shape, entries, LARGE_PRIME)
