"""Parts of the ideal of a closure, weight by weight: monomials, their images, generators.

Rests on: an element of the ideal is a sum of elements of the parts I_w, and permutations of indices
carry parts to parts; the sections that it is compared with stand in sections.py.
Proved in: docs/completeness.md (also checker-equations).
Computed here: ranks over QQ of images of monomials, and of multiples of relations.
On trust: theorem-bound there, where a Hilbert function is said to be known in all degrees.

Notation. As in equations.py, in short:

* I is the ideal of all products l_i v_k of ``columns`` linear forms l_i that span at most α
  dimensions and ``rows`` forms v_k, in ``variables`` variables. QQ[c] has as variables the
  coordinates c_{k,i,p,q}, p ≤ q, the coefficients of y_p y_q in l_i v_k; x_j is the one with number
  j. H(n) is the dimension of QQ[c]/I in degree n, and h(n) the number of sections of O(n).
* A weight w = (H, X, Y) of a monomial in the c says how often each index k, i, and p or q occurs in
  it. Permutations of the indices of a kind permute its entries; it is decreasing if the entries of
  each kind are. I_w is the part of I of weight w.
* Monomials whose images are a basis of (QQ[c]/I)_w are pivots, the others are free. The image of a
  monomial is the polynomial in the entries of weights A and V that it is on all products.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, product
from math import comb, factorial, lcm
from typing import Any, NamedTuple

import flint

from m2bridge.checker.algebra import pivot_columns
from m2bridge.checker.sparse_rows import (
    ELIMINATION_PRIME,
    drop_unit_vectors,
    fraction,
    matrix,
    span_modulo_prime,
)
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

Monomial = tuple[int, ...]  # the numbers of its coordinates, increasing, each as often as it occurs
# a polynomial in A and V: coefficients by exponents, which are the digits of the key to base 2^16
Image = dict[int, int]


@dataclass(frozen=True, kw_only=True)
class Part:
    """The monomials of a decreasing weight w, and their images as functions of (A, V)."""

    weight: Weight
    monomials: list[Monomial]
    images: Any  # a column of coefficients for each monomial, so that I_w is the kernel
    rank: int  # over QQ, the dimension of (QQ[c]/I)_w

    @cached_property
    def echelon(self) -> Any:
        """The reduced echelon form of ``images`` modulo ELIMINATION_PRIME; TooExpensiveError if
        unlucky.
        """
        echelon, rank = flint.nmod_mat(self.images, ELIMINATION_PRIME).rref()
        if rank != self.rank:
            raise TooExpensiveError(
                "answer", f"not decided: ranks of weight {self.weight} differ modulo a prime"
            )
        return echelon

    @cached_property
    def pivots(self) -> list[int]:
        """The columns in which the rows of the echelon form begin, as numbers of monomials:
        independent modulo the prime, so over QQ, and as many as the rank.
        """
        return pivot_columns(self.echelon, self.rank)

    @cached_property
    def free_monomials(self) -> dict[Monomial, int]:
        """The dim I_w monomials that are not pivots, numbered from 0: an element of I_w is
        determined by its coefficients here, as pivots are independent modulo I.
        """
        free_columns = sorted(set(range(len(self.monomials))).difference(self.pivots))
        return {self.monomials[column]: number for number, column in enumerate(free_columns)}

    @cached_property
    def relations(self) -> list[dict[Monomial, int]]:
        """A basis of I_w over QQ with integral coefficients, one element for each free monomial,
        checked over ZZ; TooExpensiveError if one does not vanish on the closure.
        """
        column_of = {monomial: column for column, monomial in enumerate(self.monomials)}
        elements = [self._element_with(column_of[monomial]) for monomial in self.free_monomials]
        # the images of the elements, which are in the kernel of ``images`` exactly if these are 0
        images_of_elements = self.images * matrix(elements, len(column_of)).transpose()
        if any(images_of_elements):
            raise TooExpensiveError(
                "answer", f"not decided: a relation of weight {self.weight} has large coefficients"
            )
        return [
            {self.monomials[column]: c for column, c in element.items()} for element in elements
        ]

    def _element_with(self, free_column: int) -> dict[int, int]:
        """The candidate {column: coefficient} for the element of I_w with one free monomial and
        pivots: lifted from a prime to fractions, so right if these are small, which the caller
        checks.
        """
        # numerator and denominator of each coefficient, by column
        fractions = {free_column: (1, 1)}
        for i, pivot in enumerate(self.pivots):
            residue = int(self.echelon[i, free_column])
            if residue:
                fractions[pivot] = fraction(-residue, ELIMINATION_PRIME)
        common_denominator = lcm(*(denominator for _, denominator in fractions.values()))
        element = {}
        for column, (numerator, denominator) in fractions.items():
            element[column] = numerator * (common_denominator // denominator)
        return element


class ValuesUpToSections(NamedTuple):
    """The values H(0), …, H(s), and the least n with H = h from n on (``start``)."""

    values: list[int]
    start: int


class Products:
    """The ideal I of the products of forms l_i and v_k, part by part; computed parts are kept."""

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
        self.number_of_coordinate = {index: j for j, index in enumerate(self.coordinates)}
        self.images = [pack_exponents(polynomial) for polynomial in polynomials.values()]
        # Results that are kept: parts by their weight; monomials by their weight and the number of
        # the coordinate from which on they are made; and images by the monomial, of those that are
        # the beginning of another one, which has one coordinate more.
        self._parts: dict[Weight, Part] = {}
        self._monomials: dict[tuple[Weight, int], list[Monomial]] = {}
        self._images_of_beginnings: dict[Monomial, Image] = {}

    def number_of_sections(self, n: int) -> int:
        """The number h(n) of sections of O(n) over the closure of all these products."""
        return number_of_sections(
            n, rows=self.rows, columns=self.columns, variables=self.variables, alpha=self.alpha
        )

    def weights(self, n: int) -> list[Weight]:
        """The decreasing weights of degree n, of which all others are permutations;
        TooExpensiveError if this degree has more than ``most_monomials`` monomials.
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
        for total, indices in ((n, self.rows), (n, self.columns), (2 * n, self.variables)):
            least, indices_with_one_more = divmod(total, indices)
            indices_with_least = indices - indices_with_one_more
            counts = (least + 1,) * indices_with_one_more + (least,) * indices_with_least
            weight.append(counts)
        return tuple(weight)

    def hilbert_function(self, n: int) -> int:
        """The dimension H(n) of QQ[c]/I in degree n: the sum over the parts of all weights."""
        total = 0
        # the parts of all permutations of a weight have one dimension
        for weight in self.weights(n):
            total += permutation_count(weight) * self.part(weight).rank
        return total

    def up_to_sections(self) -> ValuesUpToSections:
        """H(0), …, H(s) of a core, for the first degree s ≥ L + 3 with H(s) = h(s), and the least n
        from which on H = h; TooExpensiveError if MAX_UNDECIDED_DEGREES degrees do not decide.

        The core has m variables, e free forms l_i and f forms v_k, and L = min(max(e, f) − 1, m −
        2). Then H = h from s on, and there are no generators of degree above s + 1
        (docs/completeness.md#theorem-bound). With one variable there are no equations at all.
        """
        if self.variables == 1:
            return ValuesUpToSections(values=[1], start=0)
        L = min(max(self.columns, self.rows) - 1, self.variables - 2)
        first = L + 3
        values = [1]
        s = 0
        while s < first or values[s] != self.number_of_sections(s):
            if s == first + MAX_UNDECIDED_DEGREES:
                reason = f"not decided: the Hilbert function up to degree {s}"
                raise TooExpensiveError("answer", reason)
            s += 1
            # generators are computed up to degree s + 1: ``weights`` raises if that is too large
            self.weights(s + 1)
            values.append(self.hilbert_function(s))
        start = s
        while start > 0 and values[start - 1] == self.number_of_sections(start - 1):
            start -= 1
        return ValuesUpToSections(values, start)

    def generator_numbers(self, n: int) -> dict[Weight, int]:
        """The numbers of minimal generators of degree n in decreasing weights, where there are any.

        They are a representation of GL(X) × GL(H) × GL(Y), which has with a weight all decreasing
        weights below it in the dominance order. So a weight above one without generators has none
        (docs/completeness.md#checker-equations). Lower weights, with smaller sums of squares, come
        first.
        """
        counts: dict[Weight, int] = {}
        without_generators: list[Weight] = []
        for weight in sorted(self.weights(n), key=sum_of_squares):
            if any(is_above(weight, lower) for lower in without_generators):
                continue
            count = self.count_generators(weight)
            if count:
                counts[weight] = count
            else:
                without_generators.append(weight)
        return counts

    def count_generators(self, weight: Weight) -> int:
        """The number of minimal generators of a decreasing weight w: dim I_w less the dimension of
        the multiples of parts of one degree less by coordinates.
        """
        free_monomials = self.part(weight).free_monomials
        # a unit vector in the span takes one from the number of columns and one from the rank
        rows, columns = drop_unit_vectors(self.multiples(weight), range(len(free_monomials)))
        width = len(columns)
        is_large = len(rows) * width >= MIN_SPARSE_MATRIX_ENTRIES
        # most weights have no generators, and that is seen from nonzero entries alone
        if is_large and span_modulo_prime(rows, width):
            return 0
        return width - int(matrix(rows, width).rank())

    def multiples(self, weight: Weight) -> Iterator[dict[int, int]]:
        """Yield the multiples x_j g, of weight w, of elements g of parts of I of one degree less,
        as {number of a free monomial of w: coefficient}.

        For each x_j, of weight w_j, the g are the relations of the decreasing weight that w − w_j
        is a permutation of, with indices renamed.
        """
        for j, coordinate in enumerate(self.coordinates):
            rest = subtract_coordinate(weight, coordinate)  # w − w_j
            # None: x_j has no multiple of weight w. All zero: w is w_j, and 1 is not in I.
            if rest is None or not any(rest[0]):
                continue
            relations = self.part(sort_weight(rest)).relations
            if not relations:
                continue
            number_of_multiple = self._free_multiples(weight, j, rest)
            for relation in relations:
                # coefficients at monomials that are not free are not needed
                multiple = {}
                for monomial, coefficient in relation.items():
                    if monomial in number_of_multiple:
                        multiple[number_of_multiple[monomial]] = coefficient
                yield multiple

    def _free_multiples(self, weight: Weight, j: int, rest: Weight) -> dict[Monomial, int]:
        """The monomials of a part that x_j takes to free monomials of weight w, with their numbers;
        ``rest`` is w less the weight of x_j.

        The part has a decreasing weight: its indices are renamed, 0 to the most frequent index in
        ``rest``, 1 to the next one, and so on: for (1, 3, 2) 0, 1, 2 become 1, 2, 0.
        """
        free_monomials = self.part(weight).free_monomials
        new_k, new_i, new_p = (indices_by_frequency(counts) for counts in rest)
        renamed_coordinates = []  # for each coordinate the number of the one with renamed indices
        for k, i, p, q in self.coordinates:
            first, second = sorted((new_p[p], new_p[q]))
            renamed = self.number_of_coordinate[new_k[k], new_i[i], first, second]
            renamed_coordinates.append(renamed)
        numbers = {}
        for monomial in self.part(sort_weight(rest)).monomials:
            multiple = sorted([j, *(renamed_coordinates[x] for x in monomial)])
            number = free_monomials.get(tuple(multiple))
            if number is not None:
                numbers[monomial] = number
        return numbers

    def part(self, weight: Weight) -> Part:
        """The part of a decreasing weight: its monomials, their images, the rank of these."""
        if weight not in self._parts:
            # the first ones become pivots: those with few c_{k,i,p,q}, p < q, for short relations
            mixed = [p < q for _, _, p, q in self.coordinates]
            monomials = sorted(
                self.monomials(weight), key=lambda monomial: sum(mixed[j] for j in monomial)
            )
            # {exponents of a monomial in A and V: row}, where a row has the coefficients of this
            # monomial in the images of ``monomials``, by their numbers as columns
            rows_by_exponents: dict[int, dict[int, int]] = {}
            for column, monomial in enumerate(monomials):
                for exponents, coefficient in self.image(monomial).items():
                    rows_by_exponents.setdefault(exponents, {})[column] = coefficient
            image_matrix = matrix(list(rows_by_exponents.values()), len(monomials))
            self._parts[weight] = Part(
                weight=weight,
                monomials=monomials,
                images=image_matrix,
                rank=int(image_matrix.rank()),
            )
        return self._parts[weight]

    def monomials(self, weight: Weight, first: int = 0) -> list[Monomial]:
        """The monomials of a weight in the coordinates with numbers from ``first`` on, not
        decreasing; each begins with a coordinate of the least k that the weight has.
        """
        least_k = next((k for k, count in enumerate(weight[0]) if count), None)
        if least_k is None:
            return [()]
        if (weight, first) not in self._monomials:
            coordinates_per_k = len(self.coordinates) // self.rows
            start = max(first, least_k * coordinates_per_k)
            stop = (least_k + 1) * coordinates_per_k
            result: list[Monomial] = []
            for j in range(start, stop):
                rest = subtract_coordinate(weight, self.coordinates[j])
                if rest is not None:
                    result.extend((j, *others) for others in self.monomials(rest, j))
            self._monomials[weight, first] = result
        return self._monomials[weight, first]

    def image(self, monomial: Monomial) -> Image:
        """The image of a monomial, a polynomial in A and V; images of its beginnings are kept."""
        if not monomial:
            return {0: 1}  # the polynomial 1
        *others, last = monomial
        beginning = tuple(others)
        if beginning not in self._images_of_beginnings:
            self._images_of_beginnings[beginning] = self.image(beginning)
        return multiply_images(self._images_of_beginnings[beginning], self.images[last])


# Weights.


def subtract_coordinate(weight: Weight, coordinate: tuple[int, ...]) -> Weight | None:
    """A weight less the weight of a coordinate c_{k,i,p,q}; None if an entry would be negative."""
    k, i, p, q = coordinate
    H, X, Y = weight
    if H[k] == 0 or X[i] == 0 or Y[p] == 0 or Y[q] == 0:
        return None
    if p == q and Y[p] == 1:
        return None  # c_{k,i,p,p} has the index p twice
    return reduce_count(H, k), reduce_count(X, i), reduce_count(reduce_count(Y, p), q)


def reduce_count(counts: tuple[int, ...], index: int) -> tuple[int, ...]:
    """``counts``, how often each index of one kind occurs, with one less for ``index``."""
    return (*counts[:index], counts[index] - 1, *counts[index + 1 :])


def indices_by_frequency(counts: tuple[int, ...]) -> list[int]:
    """The indices of one kind, the most frequent first, then in increasing order."""
    return sorted(range(len(counts)), key=counts.__getitem__, reverse=True)


def sort_weight(weight: Weight) -> Weight:
    """The weight with the entries of each of the three kinds of index in decreasing order."""
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
    """The sum of the squares of all entries, larger for weights higher in the dominance order."""
    return sum(count * count for counts in weight for count in counts)


def is_above(weight: Weight, lower: Weight) -> bool:
    """Whether a weight is above or equal to ``lower`` in the dominance order: the sums of its first
    j entries are at least as large, for each kind and each j. Both are decreasing.
    """
    for counts, lower_counts in zip(weight, lower, strict=True):
        sums = zip(accumulate(counts), accumulate(lower_counts), strict=True)
        if any(of_first < lower_of_first for of_first, lower_of_first in sums):
            return False
    return True


# Polynomials with positive coefficients.


def pack_exponents(polynomial: Any) -> Image:
    """A polynomial as an Image: exponents are digits to base 2^16, above all degrees, so that y_0
    y_1² has the key 1 + 2·2^16.
    """
    packed = {}
    for exponents, coefficient in polynomial.terms():
        digits = [int(exponent) << 16 * j for j, exponent in enumerate(exponents)]
        packed[sum(digits)] = int(coefficient)
    return packed


def multiply_images(f: Image, g: Image) -> Image:
    """The product of two polynomials; nothing cancels, as all coefficients are positive."""
    product: Image = {}
    for exponents_of_g, y in g.items():
        for exponents_of_f, x in f.items():
            exponents = exponents_of_f + exponents_of_g
            product[exponents] = product.get(exponents, 0) + x * y
    return product
