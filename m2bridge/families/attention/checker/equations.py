"""The ideal of a closure up to a degree: Hilbert function, minimal generators; and in all degrees.

Rests on: H(n) is the number h(n) of sections of O(n) for large n (docs/completeness.md,
proposition-sections), and where H(s) = h(s) for one s that is large enough, for all n ≥ s, with no
generator of degree above s + 1 (theorem-bound); all sizes come from cores (proposition-core).
Proved in: docs/completeness.md; docs/checkers.md (Equations up to a degree).
Computed here: ranks over QQ of images of monomials, and of multiples of relations, weight by
weight.
On trust: these theorems, which a certificate lists, and those of schur.py.

The ideal I is that of all products l_i v_k: ``columns`` forms l_i, which span at most α dimensions,
and ``rows`` forms v_k, in some variables. It is a sum of its parts by weights: a weight (H, X, Y)
says how often each index k, i, and p or q occurs in a monomial in the coordinates c_{k,i,p,q}. A
core (m; e, f) is a case with m variables, e columns and f rows where the l_i are free (α = e).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate, product
from math import comb, factorial, lcm
from typing import Any

import flint

from m2bridge.certificates.schema import Certificate, Content, Difference
from m2bridge.errors import TooExpensiveError
from m2bridge.families.attention.checker.case import Case, images
from m2bridge.families.attention.checker.schur import (
    Weight,
    by_degree,
    determinantal,
    hook,
    partitions,
    representations,
    symmetric,
)
from m2bridge.families.attention.checker.statements import WORDS

MOST_COORDINATES = 400
MOST_DEGREE = 6
MOST_MONOMIALS = 2_000_000
"""No certificate has larger coordinates and degrees, nor a series that takes more monomials of one
degree (docs/computing-closures.md#closures-equations).
"""

MORE_DEGREES = 3
"""So many degrees after the first that can decide H = h are looked at: in all cores computed the
first or the second one does.
"""

PRIME = 2**26 - 5
"""FLINT eliminates fast modulo primes of this size. Nothing is concluded from it alone."""

Monomial = tuple[int, ...]  # numbers of coordinates, increasing
Image = dict[int, int]  # coefficients; the exponents are the digits of the key to base 2^16


def up_to_a_degree(certificate: Certificate) -> Content | Difference:
    """The content for the degree up to which a certificate says something, and perhaps beyond.

    The dimension and the degree of the closure are those of h, as H and h agree for large n. A
    series and the word that generators are all are found only where the certificate has a series.
    """
    case = Case(**certificate.case).with_fewest_weights()
    last = certificate.answer.get("max_degree")
    if type(last) is not int or last < 1:
        return Difference("answer.max_degree", f"{last!r:.80}", "a degree")
    if case.t == 1:
        return Difference("case", "one token", "several tokens")
    if case.coordinate_count > MOST_COORDINATES or last > MOST_DEGREE:
        raise TooExpensiveError(
            "number of coordinates", f"degree {last} in {case.coordinate_count} coordinates"
        )
    values, numbers = low_degrees(case, last)
    generators = {}
    for n, by_weight in numbers.items():
        # all permutations of a weight have as many
        counts = [permutation_count(weight) * count for weight, count in by_weight.items()]
        generators[str(n)] = sum(counts)
    coefficients = hilbert_coefficients(case)
    dimension = len(coefficients)
    answer: dict[str, Any] = {
        "dimension": dimension,
        "degree": coefficients[0],
        "max_degree": last,
        "hilbert_function": values,
        "generators_up_to_degree": generators,
        "hilbert_coefficients": coefficients,
        "hilbert_series": None,
        "all_generators": False,
    }
    scope = "up-to-a-degree"
    if isinstance(certificate.answer.get("hilbert_series"), dict):
        scope = "for-all-degrees"
        start, answer["all_generators"] = all_degrees(case, last)
        if start > last + 1:
            return Difference("answer.hilbert_series", "a series", "no proof of one")
        # H(n) = h(n), a polynomial of degree dimension − 1, for all n > last
        beyond = range(last + 1, last + 1 + dimension)
        more = [sections_of_case(case, n) for n in beyond]
        answer["hilbert_series"] = series([*values, *more], dimension)
    if "representations" in certificate.answer:  # older certificates have none
        kinds = []
        for n, by_weight in numbers.items():
            kinds.extend(representations(n, by_weight))
        answer["representations"] = sorted(kinds, key=by_degree)
    lemmas = [WORDS.lemmas[lemma] for lemma in WORDS.closure[scope]]
    return Content(answer, {}, tuple(lemmas))


@lru_cache(maxsize=64)
def low_degrees(case: Case, last: int) -> tuple[list[int], dict[int, dict[Weight, int]]]:
    """H(0), …, H(last); and by degree the numbers of minimal generators of decreasing weights."""
    ideal = Products(rows=case.d_out, columns=case.d, variables=case.d, alpha=case.alpha)
    values = [ideal.hilbert_function(n) for n in range(last + 1)]
    numbers = {}
    for n in range(1, last + 1):
        found = ideal.generator_numbers(n)
        if found:
            numbers[n] = found
    return values, numbers


@lru_cache(maxsize=64)
def all_degrees(case: Case, last: int) -> tuple[int, bool]:
    """From which degree on H = h, and whether the generators of degree ≤ last are all.

    What is true of the core (m; e, f), e = α, f = min(d, d'), m = min(d, e + f), is true of the
    case but for minors: of size e + 1 if e < d, of size d + 1 if f < d', of size e + f + 1 if m < d
    (docs/completeness.md#proposition-core). The core has no generators of degree above B = s + 1
    (theorem-bound), and none of degree n if there are none in the balanced weight of this degree,
    which all representations contain.
    """
    e = case.alpha
    f = min(case.d, case.d_out)
    m = min(case.d, e + f)
    core = Products(rows=f, columns=e, variables=m, alpha=e)
    values, start = core.up_to_sections()
    bound = len(values)  # H(0), …, H(s) and s + 1
    size_of_minors = 1
    if e < case.d:
        size_of_minors = max(size_of_minors, e + 1)
    if f < case.d_out:
        size_of_minors = max(size_of_minors, case.d + 1)
    if m < case.d:
        size_of_minors = max(size_of_minors, e + f + 1)
    if last < size_of_minors:
        return start, False
    beyond = range(last + 1, bound + 1)
    return start, not any(core.generators(core.balanced_weight(n)) for n in beyond)


# Sections, and the polynomial that they are.


def number_of_sections(n: int, *, rows: int, columns: int, variables: int, alpha: int) -> int:
    """The number h(n) of sections of O(n) over the closure; ``columns`` is ``variables``, or α.

    They are the functions of bidegree (n, n) on the source that do not tell apart what the products
    l_i v_k do not: those of the source, less a term for each step of a filtration of the others
    (docs/completeness.md#proposition-sections). H(n) ≤ h(n), with equality for large n.
    """
    # K[D_α]_n ⊗ S_n(H ⊗ Y): all functions on the source
    polynomials_in_a = symmetric(columns * variables, n)
    if alpha < columns:
        polynomials_in_a = determinantal(columns, alpha, n)
    total = polynomials_in_a * symmetric(rows * variables, n)
    # S_n X ⊗ S_n H ⊗ Λ² S_n Y: on A = k qᵀ, V = h vᵀ those that change sign with k and v exchanged
    antisymmetric = comb(symmetric(variables, n), 2)
    total -= symmetric(columns, n) * symmetric(rows, n) * antisymmetric
    # sections of Ω^i(n), Ω^j(n), Ω^(i+j+1)(2n): on k = v those of degree i + j in the directions
    # across A = v qᵀ, V = h vᵀ, where they are hooks
    for i, j in product(range(alpha), range(rows)):
        if 1 <= i + j <= variables - 2:
            hooks_of_x_and_h = hook(columns, n, i) * hook(rows, n, j)
            total -= hooks_of_x_and_h * hook(variables, 2 * n, i + j + 1)
    return total


def sections_of_case(case: Case, n: int) -> int:
    """The number h(n) of the closure of a case."""
    return number_of_sections(
        n, rows=case.d_out, columns=case.d, variables=case.d, alpha=case.alpha
    )


def series(values: list[int], dimension: int) -> dict[str, Any]:
    """The numerator of Σ H(n) T^n over (1 − T)^dimension, from enough values.

    If H is a polynomial of degree < dimension for all n > n_0, the numerator has no term above
    T^(n_0 + dimension); so H(0), …, H(n_0 + dimension) are enough.
    """
    numerator = flint.fmpz_poly(values) * flint.fmpz_poly([1, -1]) ** dimension
    first = flint.fmpz_poly(numerator.coeffs()[: len(values)])
    return {"numerator": [int(x) for x in first.coeffs()], "denominator_exponent": dimension}


def hilbert_coefficients(case: Case) -> list[int]:
    """The e_i with h(n) = Σ (−1)^i e_i C(n + D − i − 1, D − i − 1) for n ≥ 1, i < D.

    h is a polynomial for n ≥ 1, of degree D − 1 below the dimension M of the weights. Its series is
    N(T)/(1 − T)^M, and a term x (T − 1)^i of N gives (−1)^i x C(n + M − i − 1, M − i − 1) at T^n.
    So the first i with x ≠ 0 is M − D, and the terms from there on are the e_i, up to one sign.
    """
    most = case.source_dimension
    values = [sections_of_case(case, n) for n in range(most + 1)]
    numerator = flint.fmpz_poly(series(values, most)["numerator"])
    at_one = [int(x) for x in numerator(flint.fmpz_poly([1, 1])).coeffs()]  # in T − 1
    at_one += [0] * (most - len(at_one))
    first = next(i for i, x in enumerate(at_one) if x)
    return [(-1) ** first * x for x in at_one[first:most]]


# Parts of the ideal.


@dataclass(frozen=True, kw_only=True)
class Part:
    """The monomials of a weight, and what they are as functions of the weights (A, V).

    Parameters
    ----------
    weight : Weight
    monomials : list of Monomial
    images : fmpz_mat
        A column for each monomial: the coefficients of its image, a polynomial in A and V. So its
        kernel is the part I_w of I, and its rank the dimension of (QQ[c]/I)_w.
    rank : int
        The rank over QQ.
    """

    weight: Weight
    monomials: list[Monomial]
    images: Any
    rank: int

    @cached_property
    def echelon(self) -> Any:
        """The reduced echelon form modulo a prime, of the same rank as over QQ."""
        echelon, rank = flint.nmod_mat(self.images, PRIME).rref()
        if rank != self.rank:
            raise TooExpensiveError(
                "answer", f"not decided: ranks of weight {self.weight} differ modulo a prime"
            )
        return echelon

    @cached_property
    def pivots(self) -> list[int]:
        """The columns in which the rows of the echelon form begin.

        These columns of the matrix are independent modulo the prime, and so over QQ; and there are
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
    def free(self) -> dict[Monomial, int]:
        """The monomials that are no pivots, numbered: dim I_w of them.

        The coefficients there determine an element of I_w, as none but zero has pivots only; so
        they are its coordinates in a basis of I_w.
        """
        columns = sorted(set(range(len(self.monomials))).difference(self.pivots))
        return {self.monomials[column]: number for number, column in enumerate(columns)}

    @cached_property
    def relations(self) -> list[dict[Monomial, int]]:
        """A basis of I_w over QQ, with integral coefficients.

        Modulo the prime there is one element for each free monomial: this one less a combination of
        pivots before it. What its coefficients are lifted to vanishes on the closure, which is
        checked over ZZ; so there are dim I_w elements of I_w, independent at the free monomials.
        """
        number = {monomial: column for column, monomial in enumerate(self.monomials)}
        vectors = []
        for monomial in self.free:
            free_column = number[monomial]
            fractions = {free_column: (1, 1)}
            for i, pivot in enumerate(self.pivots):
                residue = int(self.echelon[i, free_column])
                if residue:
                    fractions[pivot] = fraction(-residue, PRIME)
            scale = lcm(*(denominator for _, denominator in fractions.values()))
            vectors.append({j: x * scale // y for j, (x, y) in fractions.items()})
        if any(self.images * matrix(vectors, len(number)).transpose()):
            raise TooExpensiveError(
                "answer", f"not decided: a relation of weight {self.weight} has large coefficients"
            )
        return [{self.monomials[j]: c for j, c in vector.items()} for vector in vectors]


class Products:
    """The ideal of the products of ``columns`` forms l_i and ``rows`` forms v_k in some
    variables."""

    def __init__(self, *, rows: int, columns: int, variables: int, alpha: int) -> None:
        self.rows, self.columns, self.variables = rows, columns, variables
        self.alpha = alpha
        polynomials = images(rows, columns, variables, alpha)
        # the coordinates (k, i, p, q), in the order of their indices: as many for each k
        self.coordinates = list(polynomials)
        self.number = {index: j for j, index in enumerate(self.coordinates)}
        self.images = [packed(polynomial) for polynomial in polynomials.values()]
        self._parts: dict[Weight, Part] = {}
        self._monomials: dict[tuple[Weight, int], list[Monomial]] = {}
        self._beginnings: dict[Monomial, Image] = {}

    def number_of_sections(self, n: int) -> int:
        """The number h(n) of sections of O(n)."""
        return number_of_sections(
            n, rows=self.rows, columns=self.columns, variables=self.variables, alpha=self.alpha
        )

    def weights(self, n: int) -> list[Weight]:
        """The decreasing weights of degree n, from which all others come by permutations of
        indices.

        TooExpensiveError if there are too many monomials of this degree.
        """
        count = len(self.coordinates)
        if comb(count + n - 1, n) > MOST_MONOMIALS:
            raise TooExpensiveError(
                "degree", f"too many monomials of degree {n} in {count} coordinates"
            )
        rows = partitions(n, self.rows, n)
        columns = partitions(n, self.columns, n)
        variables = partitions(2 * n, self.variables, 2 * n)
        return list(product(rows, columns, variables))

    def balanced_weight(self, n: int) -> Weight:
        """The weight of degree n in which all indices of a kind occur equally often, or nearly.

        It is below all decreasing weights of the degree, so every representation has it
        (docs/completeness.md, What ``closure`` does with it).
        """
        weight = []
        for total, size in ((n, self.rows), (n, self.columns), (2 * n, self.variables)):
            each, more = divmod(total, size)
            weight.append((each + 1,) * more + (each,) * (size - more))
        return tuple(weight)

    def hilbert_function(self, n: int) -> int:
        """The dimension H(n) of QQ[c]/I in degree n: the sum over all weights."""
        total = 0
        for weight in self.weights(n):
            total += permutation_count(weight) * self.part(weight).rank
        return total

    def up_to_sections(self) -> tuple[list[int], int]:
        """H(0), …, H(s) of a core (m; e, f) with H(s) = h(s), and the n from which on H = h.

        Here s ≥ L + 3 with L = min(max(e, f) − 1, m − 2): then H = h from s on, and there are no
        generators of degree above s + 1 (docs/completeness.md#theorem-bound). With one variable
        there are no equations at all.
        """
        if self.variables == 1:
            return [1], 0
        first = min(max(self.columns, self.rows) - 1, self.variables - 2) + 3
        values = [1]
        s = 0
        while s < first or values[s] != self.number_of_sections(s):
            if s == first + MORE_DEGREES:
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

        Minimal generators are a representation, and with a weight a representation has all
        decreasing weights below it. So a weight above one without generators has none, and is left
        out (docs/checkers.md, Few weights). Lower weights have smaller sums of squares.
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

        It is the dimension of I_w less that of what the parts of lower degree generate in it: the
        multiples of their bases by coordinates.
        """
        free = self.part(weight).free
        rows, columns = without_units(self.multiples(weight), range(len(free)))
        return len(columns) - int(matrix(rows, len(columns)).rank())

    def multiples(self, weight: Weight) -> Iterator[dict[int, int]]:
        """Coordinates times relations of lower degree, by their coefficients at free monomials of
        w.

        x_j I_(w − w_j), with w_j the weight of the coordinate x_j, is made of the relations of the
        decreasing weight that w − w_j is a permutation of; the permutation renames indices.
        """
        free = self.part(weight).free
        for j, coordinate in enumerate(self.coordinates):
            rest = without(weight, coordinate)
            if rest is None or not any(rest[0]):  # no multiple of x_j, or x_j itself
                continue
            part = self.part(decreasing(rest))
            if not part.relations:
                continue
            # the places of each kind of index, the most frequent one first
            k_at, i_at, p_at = (places_by_frequency(counts) for counts in rest)
            renamed = []
            for k, i, p, q in self.coordinates:
                first, second = sorted((p_at[p], p_at[q]))
                renamed.append(self.number[k_at[k], i_at[i], first, second])
            at = {}
            for monomial in part.monomials:
                multiple = sorted([j, *(renamed[x] for x in monomial)])
                number = free.get(tuple(multiple))
                if number is not None:
                    at[monomial] = number
            for relation in part.relations:
                yield {at[monomial]: c for monomial, c in relation.items() if monomial in at}

    def part(self, weight: Weight) -> Part:
        """The part of a decreasing weight."""
        if weight not in self._parts:
            # with few mixed squares first, relations are short
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
        """The monomials of a weight in the coordinates from the first one on, with numbers
        increasing.

        The coordinates are in the order of k, so each monomial begins with one of the least k that
        the weight has.
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
        """The image of a monomial, a polynomial in A and V; those of its beginnings are kept."""
        if not monomial:
            return {0: 1}
        beginning = monomial[:-1]
        if beginning not in self._beginnings:
            self._beginnings[beginning] = self.image(beginning)
        return times(self._beginnings[beginning], self.images[monomial[-1]])


# Weights.


def without(weight: Weight, coordinate: tuple[int, ...]) -> Weight | None:
    """A weight less that of a coordinate c_{k,i,p,q}; None if it is not in it."""
    k, i, p, q = coordinate
    H, X, Y = weight
    if not (H[k] and X[i] and Y[p] and Y[q]):
        return None
    if p == q and Y[p] == 1:
        return None
    return one_less(H, k), one_less(X, i), one_less(one_less(Y, p), q)


def one_less(counts: tuple[int, ...], index: int) -> tuple[int, ...]:
    """The counts with one occurrence of an index less."""
    return (*counts[:index], counts[index] - 1, *counts[index + 1 :])


def places_by_frequency(counts: tuple[int, ...]) -> list[int]:
    """The indices, the most frequent first."""
    return sorted(range(len(counts)), key=counts.__getitem__, reverse=True)


def decreasing(weight: Weight) -> Weight:
    """The decreasing weight that is a permutation of a weight."""
    return tuple(tuple(sorted(counts, reverse=True)) for counts in weight)


def permutation_count(weight: Weight) -> int:
    """The number of weights that are permutations of a weight."""
    total = 1
    for counts in weight:
        total *= factorial(len(counts))
        for count in set(counts):
            total //= factorial(counts.count(count))
    return total


def sum_of_squares(weight: Weight) -> int:
    """The sum of the squares of all entries."""
    return sum(count * count for counts in weight for count in counts)


def is_above(weight: Weight, lower: Weight) -> bool:
    """Whether sums of first entries are nowhere less: the dominance order of each kind of index."""
    for counts, lower_counts in zip(weight, lower, strict=True):
        for more, less in zip(accumulate(counts), accumulate(lower_counts), strict=True):
            if more < less:
                return False
    return True


# Polynomials with positive coefficients, matrices, fractions.


def packed(polynomial: Any) -> Image:
    """The coefficients of a polynomial, by its exponents as digits: below 2^16, as degrees are."""
    found = {}
    for exponents, coefficient in polynomial.terms():
        digits = [int(exponent) << 16 * j for j, exponent in enumerate(exponents)]
        found[sum(digits)] = int(coefficient)
    return found


def times(f: Image, g: Image) -> Image:
    """The product; nothing cancels, as all coefficients are positive."""
    found: Image = {}
    for n, y in g.items():
        for m, x in f.items():
            found[m + n] = found.get(m + n, 0) + x * y
    return found


def without_units(
    rows: Iterable[dict[int, int]], columns: Iterable[int]
) -> tuple[list[dict[int, int]], list[int]]:
    """The quotient by rows that have one entry, again and again: the other rows, in the columns
    that stay.

    A row with one entry says that this column is zero in the quotient by all rows; so the number of
    columns less the rank does not change.
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
    place = {column: j for j, column in enumerate(sorted(left))}
    others = []
    for row in listed:
        kept = {place[column]: c for column, c in row.items() if column in left}
        if kept:
            others.append(kept)
    return others, sorted(left)


def matrix(rows: Sequence[Mapping[int, int]], size: int) -> Any:
    """The matrix over ZZ, with so many columns."""
    found = flint.fmpz_mat(len(rows), size)
    for i, row in enumerate(rows):
        for j, c in row.items():
            found[i, j] = c
    return found


def fraction(x: int, p: int) -> tuple[int, int]:
    """The fraction with this residue modulo p and numerator and denominator up to √(p/2).

    Wang's algorithm: in Euclid's algorithm for p and x each remainder is a multiple of x modulo p;
    the first one that is small is the numerator, and the multiplier the denominator. There is one
    such fraction at most.
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
