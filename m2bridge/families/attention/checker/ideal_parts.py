"""Parts of the ideal of a closure, weight by weight: monomials, their images, generators.

Rests on: an element of the ideal is a sum of elements of the parts I_w, and permutations of indices
carry parts to parts; the sections that it is compared with are those of sections.py.
Proved in: docs/completeness.md; docs/checkers.md (Equations up to a degree, Few weights).
Computed here: ranks over QQ of images of monomials, and of multiples of relations.
On trust: theorem-bound there, where a Hilbert function is said to be known in all degrees.

Notation. As in equations.py: I, H(n), h(n), weights, pivots and free monomials.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import heapify, heappop, heappush
from itertools import accumulate, product
from math import comb, factorial, lcm
from typing import Any

import flint

from m2bridge.errors import TooExpensiveError
from m2bridge.families.attention.checker.case import images
from m2bridge.families.attention.checker.schur import Weight, partitions
from m2bridge.families.attention.checker.sections import number_of_sections

MAX_CERTIFIED_COORDINATES = 400
MAX_CERTIFIED_DEGREE = 6
MAX_CERTIFIED_MONOMIALS = 2_000_000
"""The largest number of monomials of one degree for a series in a certificate.

Certificates have at most this many coordinates, degrees and monomials, by
docs/computing-closures.md#closures-equations.
"""

MAX_UNDECIDED_DEGREES = 3
"""The number of degrees that are tried after the first one that can decide whether H = h.

In all cores computed so far, the first or the second of these degrees decides.
"""

MIN_SPARSE_MATRIX_ENTRIES = 100_000_000
"""For matrices with at least this many entries, zeros included, sparse elimination comes first."""

ELIMINATION_PRIME = 2**26 - 5
"""FLINT eliminates fast modulo primes of this size. Nothing is concluded from it alone."""

Monomial = tuple[int, ...]  # numbers of coordinates, increasing
# a polynomial in A and V: coefficients by exponents, which are the digits of the key to base 2^16
Image = dict[int, int]


@dataclass(frozen=True, kw_only=True)
class Part:
    """The monomials of a decreasing weight w, and their images as functions of (A, V).

    Parameters
    ----------
    weight : Weight
        The weight w.
    monomials : list of Monomial
        All monomials of this weight in the coordinates.
    images : fmpz_mat
        A column for each monomial: the coefficients of its image, a polynomial in A and V. So the
        kernel of this matrix is the part I_w of I, and its rank the dimension of (QQ[c]/I)_w.
    rank : int
        The rank of ``images`` over QQ.
    """

    weight: Weight
    monomials: list[Monomial]
    images: Any
    rank: int

    @cached_property
    def echelon(self) -> Any:
        """The reduced echelon form of ``images`` modulo PRIME.

        TooExpensiveError if the rank differs from the rank over QQ.
        """
        echelon, rank = flint.nmod_mat(self.images, ELIMINATION_PRIME).rref()
        if rank != self.rank:
            raise TooExpensiveError(
                "answer", f"not decided: ranks of weight {self.weight} differ modulo a prime"
            )
        return echelon

    @cached_property
    def pivots(self) -> list[int]:
        """The columns in which the rows of the echelon form begin, as numbers of monomials.

        These columns of ``images`` are independent modulo the prime, and so over QQ; and there are
        as many as the rank. So their monomials are a basis of (QQ[c]/I)_w.
        """
        found = []
        column = 0
        for i in range(self.rank):
            while not self.echelon[i, column]:
                column += 1
            found.append(column)
        return found

    @cached_property
    def free_monomials(self) -> dict[Monomial, int]:
        """The dim I_w monomials that are not pivots, numbered from 0.

        Pivots are independent modulo I, so no element of I_w but zero has pivots only. Therefore
        its coefficients at the free monomials determine an element of I_w, and as there are dim I_w
        of these, they are its coordinates in a basis of I_w.
        """
        columns = sorted(set(range(len(self.monomials))).difference(self.pivots))
        return {self.monomials[column]: number for number, column in enumerate(columns)}

    @cached_property
    def relations(self) -> list[dict[Monomial, int]]:
        """A basis of I_w over QQ, with integral coefficients.

        Modulo the prime there is one element for each free monomial: this one less a combination of
        pivots before it. Its coefficients are lifted to fractions; that the result vanishes on the
        closure is checked over ZZ. So there are dim I_w elements of I_w, which are independent, as
        each has a free monomial of its own. TooExpensiveError if one does not vanish.
        """
        number = {monomial: column for column, monomial in enumerate(self.monomials)}
        vectors = []
        for monomial in self.free_monomials:
            free_column = number[monomial]
            fractions = {free_column: (1, 1)}
            for i, pivot in enumerate(self.pivots):
                residue = int(self.echelon[i, free_column])
                if residue:
                    fractions[pivot] = fraction(-residue, ELIMINATION_PRIME)
            scale = lcm(*(denominator for _, denominator in fractions.values()))
            vectors.append({j: x * scale // y for j, (x, y) in fractions.items()})
        if any(self.images * matrix(vectors, len(number)).transpose()):
            raise TooExpensiveError(
                "answer", f"not decided: a relation of weight {self.weight} has large coefficients"
            )
        return [{self.monomials[j]: c for j, c in vector.items()} for vector in vectors]


class Products:
    """The ideal I of the products of forms l_i and v_k, part by part.

    There are ``columns`` forms l_i, which span at most α dimensions, and ``rows`` forms v_k, in so
    many variables. A degree with more than ``most_monomials`` monomials is refused. Parts, once
    computed, are kept.
    """

    def __init__(
        self,
        *,
        rows: int,
        columns: int,
        variables: int,
        alpha: int,
        most_monomials: int = MAX_CERTIFIED_MONOMIALS,
    ) -> None:
        self.rows, self.columns, self.variables = rows, columns, variables
        self.alpha = alpha
        self.most_monomials = most_monomials
        polynomials = images(rows, columns, variables, alpha)
        # the coordinates (k, i, p, q), in the order of their indices: first all with k = 0, then
        # those with k = 1, …, equally many for each k, on which ``monomials`` relies
        self.coordinates = list(polynomials)
        self.number = {index: j for j, index in enumerate(self.coordinates)}
        self.images = [packed(polynomial) for polynomial in polynomials.values()]
        # caches of parts, monomials of a weight from a coordinate on, and images of
        # monomials without their last coordinate
        self._parts: dict[Weight, Part] = {}
        self._monomials: dict[tuple[Weight, int], list[Monomial]] = {}
        self._images_of_beginnings: dict[Monomial, Image] = {}

    def number_of_sections(self, n: int) -> int:
        """The number h(n) of sections of O(n) over the closure of all these products."""
        return number_of_sections(
            n, rows=self.rows, columns=self.columns, variables=self.variables, alpha=self.alpha
        )

    def weights(self, n: int) -> list[Weight]:
        """The decreasing weights of degree n: all others are permutations of one of these.

        TooExpensiveError if there are too many monomials of this degree.
        """
        count = len(self.coordinates)
        if comb(count + n - 1, n) > self.most_monomials:
            raise TooExpensiveError(
                "degree", f"too many monomials of degree {n} in {count} coordinates"
            )
        rows = partitions(n, self.rows, n)
        columns = partitions(n, self.columns, n)
        variables = partitions(2 * n, self.variables, 2 * n)
        return list(product(rows, columns, variables))

    def balanced_weight(self, n: int) -> Weight:
        """The decreasing weight of degree n with all indices of a kind equally often, or nearly.

        It is below all decreasing weights of the degree in the dominance order, so every
        representation of the degree has it (docs/completeness.md, What ``closure`` does with it).
        """
        weight = []
        for total, size in ((n, self.rows), (n, self.columns), (2 * n, self.variables)):
            each, more = divmod(total, size)
            weight.append((each + 1,) * more + (each,) * (size - more))
        return tuple(weight)

    def hilbert_function(self, n: int) -> int:
        """The dimension H(n) of QQ[c]/I in degree n: the sum over the parts of all weights."""
        total = 0
        for weight in self.weights(n):
            total += permutation_count(weight) * self.part(weight).rank
        return total

    def up_to_sections(self) -> tuple[list[int], int]:
        """H(0), …, H(s) of a core (m; e, f) with H(s) = h(s), and the n from which on H = h.

        s is the first degree from L + 3 on, L = min(max(e, f) − 1, m − 2), with H(s) = h(s): then
        H = h from s on, and there are no generators of degree above s + 1
        (docs/completeness.md#theorem-bound). The n is the least one, found downwards from s. With
        one variable there are no equations at all. TooExpensiveError if MAX_UNDECIDED_DEGREES
        degrees after the first do not decide.
        """
        if self.variables == 1:
            return [1], 0
        first = min(max(self.columns, self.rows) - 1, self.variables - 2) + 3
        values = [1]
        s = 0
        while s < first or values[s] != self.number_of_sections(s):
            if s == first + MAX_UNDECIDED_DEGREES:
                raise TooExpensiveError(
                    "answer", f"not decided: the Hilbert function up to degree {s}"
                )
            s += 1
            # in degree s + 1 there can be generators; it is refused before there is much to compute
            self.weights(s + 1)
            values.append(self.hilbert_function(s))
        start = s
        while start > 0 and values[start - 1] == self.number_of_sections(start - 1):
            start -= 1
        return values, start

    def generator_numbers(self, n: int) -> dict[Weight, int]:
        """The numbers of minimal generators of degree n in decreasing weights, where there are any.

        Minimal generators are a representation of GL(X) × GL(H) × GL(Y), and with a weight a
        representation has all decreasing weights below it in the dominance order. So a weight above
        one without generators has none, and is left out (docs/checkers.md, Few weights). Lower
        weights have smaller sums of squares, so they come first.
        """
        found: dict[Weight, int] = {}
        without_generators: list[Weight] = []
        for weight in sorted(self.weights(n), key=sum_of_squares):
            if any(is_above(weight, lower) for lower in without_generators):
                continue
            count = self.generators(weight)
            if count:
                found[weight] = count
            else:
                without_generators.append(weight)
        return found

    def generators(self, weight: Weight) -> int:
        """The number of minimal generators of a decreasing weight w.

        It is the dimension of I_w less that of what I generates in it from lower degree: the span
        of the multiples of parts of one degree less by coordinates. In I_w, with a basis of one
        element for each free monomial, multiples are rows with a column for each of these. Columns
        whose unit vectors are in the span of the rows are left out first, which leaves the number
        of columns less the rank as it was.
        """
        free = self.part(weight).free_monomials
        rows, columns = without_unit_vectors(self.multiples(weight), range(len(free)))
        # most weights have no generators, and that is seen from nonzero entries alone
        if len(rows) * len(columns) >= MIN_SPARSE_MATRIX_ENTRIES and span_modulo_prime(
            rows, len(columns)
        ):
            return 0
        return len(columns) - int(matrix(rows, len(columns)).rank())

    def multiples(self, weight: Weight) -> Iterator[dict[int, int]]:
        """The multiples x_j g, of weight w, of elements g of parts of I of one degree less.

        They are given by their coefficients at free monomials of w, which determine an element of
        I_w. For each coordinate x_j, of weight w_j, the g are a basis of I_(w − w_j): the relations
        of the decreasing weight that w − w_j is a permutation of, with indices renamed by this
        permutation.
        """
        free = self.part(weight).free_monomials
        for j, coordinate in enumerate(self.coordinates):
            rest = without(weight, coordinate)
            if rest is None or not any(rest[0]):  # no multiple of x_j, or x_j itself
                continue
            part = self.part(decreasing(rest))
            if not part.relations:
                continue
            # the permutation: for each kind of index the indices, the most frequent one first
            k_at, i_at, p_at = (indices_by_frequency(counts) for counts in rest)
            renamed = []
            for k, i, p, q in self.coordinates:
                first, second = sorted((p_at[p], p_at[q]))
                renamed.append(self.number[k_at[k], i_at[i], first, second])
            # the column of x_j times a renamed monomial; coefficients elsewhere are not needed
            at = {}
            for monomial in part.monomials:
                multiple = sorted([j, *(renamed[x] for x in monomial)])
                number = free.get(tuple(multiple))
                if number is not None:
                    at[monomial] = number
            for relation in part.relations:
                yield {at[monomial]: c for monomial, c in relation.items() if monomial in at}

    def part(self, weight: Weight) -> Part:
        """The part of a decreasing weight: its monomials, their images, the rank of these."""
        if weight not in self._parts:
            # monomials with few c_{k,i,p,q}, p < q, become pivots: then relations are short
            monomials = sorted(self.monomials(weight), key=self.mixed)
            by_exponents: dict[int, dict[int, int]] = {}
            for column, monomial in enumerate(monomials):
                for exponents, coefficient in self.image(monomial).items():
                    by_exponents.setdefault(exponents, {})[column] = coefficient
            coefficients = matrix(list(by_exponents.values()), len(monomials))
            self._parts[weight] = Part(
                weight=weight,
                monomials=monomials,
                images=coefficients,
                rank=int(coefficients.rank()),
            )
        return self._parts[weight]

    def monomials(self, weight: Weight, first: int = 0) -> list[Monomial]:
        """The monomials of a weight in the coordinates with numbers from ``first`` on.

        Each is a tuple of numbers that do not decrease. The coordinates are in the order of k, as
        many for each k; so each monomial begins with one of the least k that the weight has.
        """
        k = next((k for k, count in enumerate(weight[0]) if count), None)
        if k is None:
            return [()]
        if (weight, first) not in self._monomials:
            for_each_k = len(self.coordinates) // self.rows
            found: list[Monomial] = []
            for j in range(max(first, k * for_each_k), (k + 1) * for_each_k):
                rest = without(weight, self.coordinates[j])
                if rest is not None:
                    found.extend((j, *others) for others in self.monomials(rest, j))
            self._monomials[weight, first] = found
        return self._monomials[weight, first]

    def mixed(self, monomial: Monomial) -> int:
        """The number of coordinates c_{k,i,p,q} with p < q in a monomial."""
        count = 0
        for j in monomial:
            _, _, p, q = self.coordinates[j]
            if p < q:
                count += 1
        return count

    def image(self, monomial: Monomial) -> Image:
        """The image of a monomial, a polynomial in A and V.

        It is that of the monomial without its last coordinate, which is kept, times the last one's.
        """
        if not monomial:
            return {0: 1}
        beginning = monomial[:-1]
        if beginning not in self._images_of_beginnings:
            self._images_of_beginnings[beginning] = self.image(beginning)
        return times(self._images_of_beginnings[beginning], self.images[monomial[-1]])


# Weights.


def without(weight: Weight, coordinate: tuple[int, ...]) -> Weight | None:
    """A weight less that of a coordinate c_{k,i,p,q}; None if an entry would be negative."""
    k, i, p, q = coordinate
    H, X, Y = weight
    if not (H[k] and X[i] and Y[p] and Y[q]):
        return None
    if p == q and Y[p] == 1:
        return None
    return one_less(H, k), one_less(X, i), one_less(one_less(Y, p), q)


def one_less(counts: tuple[int, ...], index: int) -> tuple[int, ...]:
    """The numbers of occurrences of the indices of a kind, with one less for ``index``."""
    return (*counts[:index], counts[index] - 1, *counts[index + 1 :])


def indices_by_frequency(counts: tuple[int, ...]) -> list[int]:
    """The indices of a kind, the most frequent first; ``counts`` says how often each occurs."""
    return sorted(range(len(counts)), key=counts.__getitem__, reverse=True)


def decreasing(weight: Weight) -> Weight:
    """The decreasing weight that is a permutation of a weight."""
    return tuple(tuple(sorted(counts, reverse=True)) for counts in weight)


def permutation_count(weight: Weight) -> int:
    """The number of weights that are permutations of a weight within the three kinds of indices."""
    total = 1
    for counts in weight:
        total *= factorial(len(counts))
        for count in set(counts):
            total //= factorial(counts.count(count))
    return total


def sum_of_squares(weight: Weight) -> int:
    """The sum of the squares of all entries of a weight; it grows in the dominance order."""
    return sum(count * count for counts in weight for count in counts)


def is_above(weight: Weight, lower: Weight) -> bool:
    """Whether a weight is above or equal to ``lower`` in the dominance order, for each kind of
    index.

    It is if the sums of its first j entries are at least as large, for each kind and each j.
    """
    for counts, lower_counts in zip(weight, lower, strict=True):
        for more, less in zip(accumulate(counts), accumulate(lower_counts), strict=True):
            if more < less:
                return False
    return True


# Polynomials with positive coefficients, matrices, fractions.


def packed(polynomial: Any) -> Image:
    """The coefficients of a polynomial, by exponents as digits to base 2^16, above all degrees."""
    found = {}
    for exponents, coefficient in polynomial.terms():
        digits = [int(exponent) << 16 * j for j, exponent in enumerate(exponents)]
        found[sum(digits)] = int(coefficient)
    return found


def times(f: Image, g: Image) -> Image:
    """The product of two polynomials; nothing cancels, as all coefficients are positive.

    Exponents are added by adding keys: no digit becomes as large as the base.
    """
    found: Image = {}
    for n, y in g.items():
        for m, x in f.items():
            found[m + n] = found.get(m + n, 0) + x * y
    return found


def without_unit_vectors(
    rows: Iterable[dict[int, int]], columns: Iterable[int]
) -> tuple[list[dict[int, int]], list[int]]:
    """The matrix without the columns whose unit vectors are seen to be in the span of its rows.

    Returned are the rows in the columns that stay, renumbered, without rows of zeros; and these
    columns. A row with one entry says that the unit vector of its column is in the span, so this
    column can be left out of all rows, which may leave others with one entry; and so on. Each time
    the number of columns and the rank are one less, so their difference does not change.
    """
    listed = list(rows)
    left = set(columns)
    before = -1
    while len(left) != before:
        before = len(left)
        for row in listed:
            entries = left.intersection(row)
            if len(entries) == 1:
                left -= entries
    position = {column: j for j, column in enumerate(sorted(left))}
    others = []
    for row in listed:
        kept = {position[column]: c for column, c in row.items() if column in left}
        if kept:
            others.append(kept)
    return others, sorted(left)


def span_modulo_prime(rows: Iterable[Mapping[int, int]], width: int) -> bool:
    """Whether rows with ``width`` entries span all vectors modulo ELIMINATION_PRIME, so over QQ.

    For a minor that is not zero modulo a prime is not zero, and so the rank over QQ is no smaller.
    This is Gaussian elimination with rows given by nonzero entries. In turn the shortest row is
    taken, and from all others the column is cleared in which it has an entry and fewest of them
    have one: so few entries are added.
    """
    left: dict[int, dict[int, int]] = {}
    rows_with: dict[int, set[int]] = {}
    for number, given in enumerate(rows):
        left[number] = {
            column: c % ELIMINATION_PRIME for column, c in given.items() if c % ELIMINATION_PRIME
        }
        for column in left[number]:
            rows_with.setdefault(column, set()).add(number)
    rank = 0
    by_length = [(len(row), number) for number, row in left.items()]
    heapify(by_length)
    while rank < width and by_length:
        length, number = heappop(by_length)
        # a row is listed again whenever it changes
        if number not in left or len(left[number]) != length:
            continue
        row = left.pop(number)
        if not row:
            continue
        for column in row:
            rows_with[column].remove(number)
        pivot = min(row, key=lambda column: len(rows_with[column]))
        inverse = pow(row[pivot], -1, ELIMINATION_PRIME)
        for other in tuple(rows_with[pivot]):
            multiple = left[other][pivot] * inverse
            for column, c in row.items():
                entry = (left[other].get(column, 0) - multiple * c) % ELIMINATION_PRIME
                if entry:
                    left[other][column] = entry
                    rows_with[column].add(other)
                else:
                    left[other].pop(column, None)
                    rows_with[column].discard(other)
            heappush(by_length, (len(left[other]), other))
        rank += 1
    return rank == width


def matrix(rows: Sequence[Mapping[int, int]], width: int) -> Any:
    """The matrix over ZZ with these rows, given by nonzero entries, and ``width`` columns."""
    found = flint.fmpz_mat(len(rows), width)
    for i, row in enumerate(rows):
        for j, c in row.items():
            found[i, j] = c
    return found


def fraction(x: int, p: int) -> tuple[int, int]:
    """Numerator and denominator of the fraction with the residue x modulo p, both up to √(p/2).

    Wang's algorithm: in Euclid's algorithm for p and x each remainder is a multiple of x modulo p;
    the first one up to √(p/2) is the numerator, and the multiplier the denominator. There is one
    such fraction at most; where there is none, the denominator is larger.
    """
    before, remainder = p, x % p
    multiplier_before, multiplier = 0, 1
    while remainder * remainder > p // 2:
        quotient = before // remainder
        before, remainder = remainder, before - quotient * remainder
        multiplier_before, multiplier = multiplier, multiplier_before - quotient * multiplier
    if multiplier < 0:
        return -remainder, -multiplier
    return remainder, multiplier
