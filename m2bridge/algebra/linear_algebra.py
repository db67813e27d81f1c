"""Exact linear algebra over ZZ, QQ and GF(p), by FLINT: ranks, echelon forms, quotients.

Matrices are sequences of rows of Python integers, or of sparse rows, mappings from a column to its
nonzero entry; nothing here is approximate. Two facts carry most of it. A rank modulo a prime is at
most the rank over QQ, and equal to it unless the prime divides all minors of that size. The pivots
of an echelon form are the columns that do not depend on columns further left.

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
from typing import Any, NamedTuple, TypeVar

import flint

from m2bridge.algebra.numbers import primes_from
from m2bridge.limits import check, check_deadline_in

IntegerRows = Sequence[Sequence[int]]
IntegerVector = tuple[int, ...]
ColumnT = TypeVar("ColumnT", bound=Hashable)
"""The key of a column in a sparse row: a number, a monomial or a name."""
SparseVector = dict[Any, int]
"""Key of a basis vector, such as a number or a monomial → its coefficient, which is not zero."""

PRIME_BITS = 61
LONG_PRIME = 2**62 - 57
"""Ranks over QQ are found modulo primes from this one down to 2^61; they take hardly longer
than shorter ones, and fewer are needed.
"""

PRIMES_PER_RATIONAL_ECHELON = 4
"""An echelon form over QQ costs FLINT as much as this many modulo primes, where the entries are
small.
"""


def elimination_price(rows: int, columns: int) -> float:
    """Roughly the seconds in which Python fills a matrix and FLINT eliminates modulo a prime."""
    return 5e-10 * rows * columns * min(rows, columns) + 2e-7 * rows * columns


def _elimination_price_of(rows: IntegerRows) -> float:
    """The price for a matrix; 0 for one without rows, whose width is unknown."""
    return elimination_price(len(rows), len(rows[0])) if rows else 0.0


def rank_mod(rows: IntegerRows, prime: int) -> int:
    """The rank over GF(prime) of an integer matrix."""
    check(_elimination_price_of(rows))
    return int(flint.nmod_mat(rows, prime).rank())


def column_products(left: flint.nmod_mat, right: flint.nmod_mat) -> list[Any]:
    """For each j the scalar product, a residue, of the j-th columns of two matrices of one size."""
    columns = zip(left.transpose().table(), right.transpose().table(), strict=True)
    return [sum(map(mul, *pair)) for pair in columns]


def rank(rows: IntegerRows) -> int:
    """The rank over QQ of an integer matrix."""
    return rank_of(flint.fmpz_mat(rows))


def rank_of(matrix: Any) -> int:
    """The rank over QQ of a ``flint.fmpz_mat``, by ranks modulo primes.

    Where these are not full, let r be the largest of them: each of the primes divides all (r +
    1)-minors, so these minors are zero, and the rank is r, when the product of the primes exceeds
    Hadamard's bound for them.
    """
    rows, columns = matrix.nrows(), matrix.ncols()
    primes = primes_from(LONG_PRIME)
    largest_rank = -1  # less than every rank, so the first prime sets ``minor_bits``
    product_bits = 0  # the product of the primes tried is at least 2^product_bits
    while True:  # ends, since ``product_bits`` grows, and ``minor_bits`` does only with the rank
        check(elimination_price(rows, columns))
        modular_rank = int(flint.nmod_mat(matrix, next(primes)).rank())
        product_bits += PRIME_BITS
        if modular_rank == min(rows, columns):  # full, and a lower bound for the rank over QQ
            return modular_rank
        if modular_rank > largest_rank:
            largest_rank = modular_rank
            minor_bits = _minor_bits(matrix, largest_rank + 1)
        if minor_bits < product_bits:  # the product of the primes exceeds all these minors
            return largest_rank


def signature(form: Sequence[Sequence[flint.fmpq]]) -> int:
    """The number of positive eigenvalues of a symmetric rational matrix, less the negative ones.

    All roots of the characteristic polynomial are real, so by Descartes' rule there are as many
    positive ones as there are changes of sign of the coefficients.
    """
    size = len(form)
    entries = [entry for row in form for entry in row]
    polynomial = flint.fmpq_mat(size, size, entries).charpoly()
    coefficients = polynomial.coeffs()  # by ascending powers
    signs = [1 if x > 0 else -1 for x in coefficients if x != 0]
    positive = sum(x != y for x, y in pairwise(signs))
    # The multiplicity of the root 0 is the number of coefficients before the first nonzero one.
    zero = next(j for j, x in enumerate(coefficients) if x != 0)
    negative = size - zero - positive
    return positive - negative


def _minor_bits(matrix: Any, size: int) -> int:
    """A number b such that all minors of this size have absolute values below 2^b: by Hadamard's
    inequality a minor is at most the product of the norms of its rows, and also of its columns.
    """
    rows = matrix.tolist()
    columns = zip(*rows, strict=True)
    return min(_squared_norm_bits(rows, size), _squared_norm_bits(columns, size)) // 2 + 1


def _squared_norm_bits(vectors: Iterable[Sequence[Any]], number: int) -> int:
    """An upper bound for the bits of the product of the squared norms of any ``number`` vectors."""
    bits = []
    for vector in check_deadline_in(vectors):
        squared_norm = sum([entry * entry for entry in vector])
        bits.append(int(squared_norm).bit_length())
    bits.sort(reverse=True)
    return sum(bits[:number])


def sparse_rank(rows: Iterable[Mapping[ColumnT, int]]) -> int:
    """The rank over QQ of sparse integer rows.

    Zero and repeated rows and columns are dropped, and the matrix is cut into blocks without common
    columns, whose ranks add up, before FLINT sees it.
    """
    set_of_rows: set[frozenset[tuple[ColumnT, int]]] = set()
    for row in check_deadline_in(rows):
        set_of_rows.add(frozenset([(column, c) for column, c in row.items() if c]))
    set_of_rows.discard(frozenset())
    distinct_rows = list(set_of_rows)
    # A row is a set of pairs (column, entry); its support is the columns.
    supports = [map(itemgetter(0), row) for row in distinct_rows]
    total = 0
    for block in check_deadline_in(connected_groups(supports)):
        total += _block_rank([distinct_rows[i] for i in block])
    return total


def connected_groups(supports: Sequence[Iterable[ColumnT]]) -> list[list[int]]:
    """The positions of the sets ``supports`` in the finest groups, so that sets of two groups are
    disjoint: [[0, 2], [1]] for the sets {a, b}, {c}, {b}.
    """
    # Union–find: each group is a tree, whose root is its first position; ``leader`` maps a position
    # to its parent, and a root to itself.
    leader = list(range(len(supports)))

    def root(position: int) -> int:
        """The first position of the group of ``position``."""
        while leader[position] != position:
            leader[position] = leader[leader[position]]  # halves the way for later calls
            position = leader[position]
        return position

    first_set_with: dict[ColumnT, int] = {}  # element → position of the first set that has it
    for position, support in enumerate(check_deadline_in(supports)):
        own_root = position  # the root of the group of this set
        for column in support:
            other_root = root(first_set_with.setdefault(column, position))
            if other_root != own_root:
                leader[max(own_root, other_root)] = min(own_root, other_root)
                own_root = min(own_root, other_root)
    groups: dict[int, list[int]] = {}
    for position in range(len(supports)):
        # A parent is never larger than its position, so this loop came to the parent before, and
        # has set the leader of the parent to the root of the group.
        leader[position] = leader[leader[position]]
        groups.setdefault(leader[position], []).append(position)
    return list(groups.values())


def _block_rank(rows: Sequence[frozenset[tuple[ColumnT, int]]]) -> int:
    """The rank over QQ of nonzero rows, as pairs (column, entry), where equal columns are taken
    once.
    """
    if len(rows) == 1:
        return 1
    columns: dict[ColumnT, list[tuple[int, int]]] = {}  # column → its pairs (row number, entry)
    for number, row in enumerate(rows):
        for column, value in row:
            columns.setdefault(column, []).append((number, value))
    distinct_columns = set(map(tuple, columns.values()))
    # The transposed matrix, which has the same rank.
    transposed = flint.fmpz_mat(len(distinct_columns), len(rows))
    return rank_of(fill_matrix(transposed, distinct_columns))


def fill_matrix(matrix: Any, rows: Iterable[Iterable[tuple[int, int]]]) -> Any:
    """Set the entries of a zero matrix of FLINT, from rows of pairs (column, nonzero entry)."""
    for i, row in enumerate(check_deadline_in(rows)):
        for j, c in row:
            matrix[i, j] = c
    return matrix


def leading_columns(echelon: Any, height: int) -> tuple[int, ...]:
    """The pivot columns of a FLINT matrix in row echelon form; ``height`` is its rank."""
    pivots = []
    column = 0
    for row in range(height):
        # No row leads further left than the one above, so the search starts where that one ended.
        while not echelon[row, column]:
            column += 1
        pivots.append(column)
        column += 1
    return tuple(pivots)


class ModularEchelon(NamedTuple):
    """A reduced row echelon form modulo a prime, with its pivot columns from left to right."""

    matrix: flint.nmod_mat
    pivots: tuple[int, ...]


def reduced_echelon(matrix: flint.nmod_mat) -> ModularEchelon:
    """Return the reduced row echelon form of a matrix modulo a prime, with its pivot columns."""
    check(elimination_price(matrix.nrows(), matrix.ncols()))
    echelon, height = matrix.rref()
    return ModularEchelon(echelon, leading_columns(echelon, height))


def pivot_columns(rows: IntegerRows, prime: int = 0) -> tuple[list[int], list[list[Fraction]]]:
    """Pivot columns and nonzero rows of the reduced row echelon form over QQ, or over GF(prime).

    Row ``i`` has 1 in column ``pivots[i]``, the only nonzero entry of that column; residues are
    from 0 to prime − 1.
    """
    if prime:
        matrix, pivots = reduced_echelon(flint.nmod_mat(rows, prime))
        denominator = 1
    else:
        # An elimination over QQ costs about as much as this many modulo primes.
        check(PRIMES_PER_RATIONAL_ECHELON * _elimination_price_of(rows))
        matrix, denominator, height = flint.fmpz_mat(rows).rref()
        pivots = leading_columns(matrix, height)
    # FLINT has integer entries, and one denominator for all of them.
    scale = int(denominator)
    nonzero_rows = check_deadline_in(matrix.tolist()[: len(pivots)])
    echelon = [[Fraction(int(entry), scale) for entry in row] for row in nonzero_rows]
    return list(pivots), echelon


def integer_kernel(rows: Sequence[IntegerVector], width: int) -> list[IntegerVector]:
    """Integer vectors of length ``width`` that form a QQ-basis of the vectors orthogonal to all
    rows.
    """
    check(PRIMES_PER_RATIONAL_ECHELON * elimination_price(len(rows), width))
    entries = list(chain.from_iterable(rows))
    matrix, nullity = flint.fmpz_mat(len(rows), width, entries).nullspace()
    columns = matrix.transpose().tolist()  # the first ``nullity`` columns are the basis
    return [tuple(map(int, column)) for column in columns[:nullity]]


def short_basis(rows: Sequence[IntegerVector]) -> list[IntegerVector]:
    """Short independent integer vectors with the same QQ-span as the rows: an LLL-reduced basis of
    the lattice of the echelon form, whose rows are scaled to coprime integers.
    """
    check(PRIMES_PER_RATIONAL_ECHELON * _elimination_price_of(rows))
    echelon, _, height = flint.fmpz_mat(rows).rref()
    primitive = []
    for entries in echelon.tolist()[:height]:
        row = list(map(int, entries))
        content = gcd(*row)
        primitive.append([entry // content for entry in row])
    reduced = flint.fmpz_mat(primitive).lll().tolist()
    return [tuple(map(int, row)) for row in reduced]


NumberedRow = tuple[int, SparseVector]
"""The number of a row among those that were given, and the row."""


@dataclass(slots=True)
class Quotient:
    """The quotient of a space over GF(prime) by the span of some rows.

    The keys k of the basis vectors e_k of the space are called places. Some places lead: modulo the
    rows their basis vectors are combinations of the others, which are independent. With the row e_0
    + 2e_1 alone, ``forms`` can be {0: {1: −2}}.

    Rows are eliminated in rounds. In each round, rows with different leading places are independent
    without any computation; they express their leading places in the remaining ones, and by this
    the other rows become rows of the next round. After some rounds the remaining rows are dense and
    few, and FLINT eliminates in them.
    """

    prime: int
    basis_rows: list[int] = field(default_factory=list)  # the numbers of rows that form a basis
    forms: dict[Any, SparseVector] = field(default_factory=dict)  # leading place → others

    @classmethod
    def of(cls, rows: Iterable[SparseVector], prime: int) -> Quotient:
        """Return the quotient by the span of rows: place → entry, if that is nonzero mod prime."""
        result = cls(prime)
        rounds = []  # the forms that each round found
        numbered_rows = [(number, row) for number, row in enumerate(rows) if row]
        # Each round adds the numbers of its independent rows to ``result.basis_rows``.
        while numbered_rows and not _is_dense(numbered_rows):
            forms, numbered_rows = result._sparse_round(numbered_rows)
            rounds.append(forms)
        if numbered_rows:
            rounds.append(result._dense_round(numbered_rows))
        # The forms of a round may use places that later rounds eliminate; the forms of the last
        # round use independent places only.
        for forms in reversed(rounds):
            for place, form in forms.items():
                result.forms[place] = combination(form, result.forms, prime)
        return result

    def classes(self, size: int) -> list[SparseVector]:
        """The class of each of e_0, …, e_(size−1), in the basis vectors that do not lead."""
        return [self.forms.get(place, {place: 1}) for place in range(size)]

    def _sparse_round(
        self, rows: list[NumberedRow]
    ) -> tuple[dict[Any, SparseVector], list[NumberedRow]]:
        """Express the leading places of some rows in others, and put these forms into all other
        rows.
        """
        # Places that occur in few rows lead: expressing them in others changes few rows.
        frequency = Counter(chain.from_iterable(row for _, row in rows))
        order = sorted(frequency, key=lambda place: (frequency[place], place))
        position = {place: i for i, place in enumerate(order)}
        led_rows: dict[Any, SparseVector] = {}
        other_rows = []
        # Short rows come first, because each of the other rows takes in a solved row.
        for number, row in check_deadline_in(sorted(rows, key=lambda numbered: len(numbered[1]))):
            leading_place = min(row, key=position.__getitem__)  # its first place in ``order``
            if leading_place in led_rows:
                other_rows.append((number, row))
            else:
                led_rows[leading_place] = row
                self.basis_rows.append(number)
        forms = self._solve_leading_places(led_rows, order)
        reduced_rows = []
        for number, row in check_deadline_in(other_rows):
            reduced = combination(row, forms, self.prime)
            if reduced:
                reduced_rows.append((number, reduced))
        return forms, reduced_rows

    def _solve_leading_places(
        self, led_rows: dict[Any, SparseVector], order: list[Any]
    ) -> dict[Any, SparseVector]:
        """The form of each leading place, from the last place in ``order`` to the first, so that
        the forms of the other places of a row, which come later in ``order``, are known when they
        are needed.
        """
        forms: dict[Any, SparseVector] = {}
        for place in check_deadline_in(reversed(order)):
            if place in led_rows:
                # With c e_place + rest = 0, e_place is −rest/c.
                form = dict(led_rows[place])
                factor = -pow(form.pop(place), -1, self.prime)
                scaled_form = {other: c * factor for other, c in form.items()}
                forms[place] = combination(scaled_form, forms, self.prime)
        return forms

    def _dense_round(self, rows: list[NumberedRow]) -> dict[Any, SparseVector]:
        """The form of each pivot of the rows' reduced echelon form; no row remains for a further
        round.
        """
        places = sorted(set(chain.from_iterable(row for _, row in rows)))
        position = {place: j for j, place in enumerate(places)}
        # Each row as pairs (number of its place, entry).
        entries = ([(position[place], c) for place, c in row.items()] for _, row in rows)
        matrix = fill_matrix(flint.nmod_mat(len(rows), len(places), self.prime), entries)
        # The pivot columns of the transposed matrix are rows that form a basis of the span.
        independent = reduced_echelon(matrix.transpose()).pivots
        numbers = [number for number, _ in rows]
        self.basis_rows += [numbers[i] for i in independent]
        return _forms_of_pivots(reduced_echelon(matrix), places, self.prime)


def _forms_of_pivots(
    echelon: ModularEchelon, places: Sequence[Any], prime: int
) -> dict[Any, SparseVector]:
    """The expression of each pivot of a reduced echelon form in places without pivot, modulo its
    rows.
    """
    free_columns = sorted(set(range(len(places))).difference(echelon.pivots))
    forms: dict[Any, SparseVector] = {}
    for i, pivot in enumerate(check_deadline_in(echelon.pivots)):
        # The row says that e_pivot + Σ c_j e_j is 0 modulo the rows, so e_pivot is Σ −c_j e_j.
        form: SparseVector = {}
        for j in free_columns:
            value = int(echelon.matrix[i, j])
            if value:
                form[places[j]] = prime - value
        forms[places[pivot]] = form
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


def _is_dense(rows: list[NumberedRow]) -> bool:
    """Whether more than a quarter of the entries, in the places that occur, is nonzero: then FLINT
    has the matrix, and otherwise its rows are dictionaries.
    """
    places: set[Any] = set()
    entries = 0
    for _, row in check_deadline_in(rows):
        places.update(row)
        entries += len(row)
    return 4 * entries > len(rows) * len(places)
