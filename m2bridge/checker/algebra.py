"""Ranks over QQ, polynomials over QQ from their texts, Gröbner bases and Hilbert series.

The facts behind them are in every textbook (Cox, Little, O'Shea, *Ideals, Varieties, and
Algorithms*, chapters 2 and 9): a polynomial is in an ideal exactly if its remainder by a Gröbner
basis is zero, and an ideal has the Hilbert function of its leading monomials (Macaulay).

FLINT is trusted with arithmetic, ranks of integer matrices, Gröbner bases and remainders. All else
is written here. No case of a family is known here, and no statement.

*Notation.* S is a polynomial ring over QQ in n variables. A monomial is kept as the tuple of its
exponents, a polynomial as one of FLINT or as the map of its monomials to their coefficients. The
*context* of a polynomial is FLINT's word for the ring that it belongs to, with the order of
monomials. M is an ideal of monomials, M : x its quotient by a variable x (all f with xf in M), and
T the variable of a Hilbert series: N(T)/(1 − T)^n has the *numerator* N. Ranks modulo a prime are
modulo PRIME, which is drawn whenever the checker starts (draws.py).
"""

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain, combinations_with_replacement
from math import comb, lcm
from operator import add, le, mul
from typing import Any, NamedTuple

import flint

from m2bridge.checker.draws import random_prime, unpredictable
from m2bridge.errors import CertificateError, TooExpensiveError

# A prime of 61 bits, drawn when the checker starts.
PRIME = random_prime()

# The most elements of a Gröbner basis, terms of a polynomial, bits of a coefficient. FLINT cannot
# be interrupted, so it is told where to give up.
LIMITS = (5_000, 200_000, 100_000)

# The most exponents of the polynomials that are read, that is, terms times variables: each exponent
# takes eight bytes.
MAX_EXPONENT_ENTRIES = 5 * 10**7

# The most entries of a matrix, or terms of polynomials, with which is_cohen_macaulay computes.
MAX_MATRIX_ENTRIES = 10**7

Exponents = tuple[int, ...]


class Series(NamedTuple):
    """The Hilbert series Σ h_i T^i / (1 − T)^n of S/I in lowest terms: h_0, h_1, …, and n.

    n is the dimension of S/I, and h(1) ≠ 0 the degree. Of the unit ideal it is ([], 0).
    """

    numerator: list[int]
    dimension: int


def rank(rows: Iterable[Mapping[Any, int]]) -> int:
    """The rank over QQ of a matrix of integers; 0 for a matrix without rows.

    Each row is a map from columns, which may have any names, to entries. The rank is the sum of the
    ranks of diagonal blocks: coefficients of polynomials that are homogeneous for several gradings
    have many small ones.
    """
    rank_sum = 0
    for block in _blocks(rows):
        columns = set[Any]()
        for row in block:
            columns.update(row)
        entries = [[row.get(column, 0) for column in columns] for row in block]
        rank_sum += int(flint.fmpz_mat(entries).rank())
    return rank_sum


def _blocks(rows: Iterable[Mapping[Any, int]]) -> list[list[dict[Any, int]]]:
    """The diagonal blocks of a matrix, each as the list of its different nonzero rows.

    All columns with nonzero entries in one row are linked, and the rows with linked columns are a
    block.
    """
    # as pairs of a column and its nonzero entry; equal rows add nothing to a rank, and are frequent
    different_rows = set[frozenset[tuple[Any, int]]]()
    for entries in rows:
        different_rows.add(frozenset((column, x) for column, x in entries.items() if x))
    # a zero row is empty, and is left out
    nonzero_rows = [tuple(row) for row in different_rows if row]
    linked_columns = LinkedColumns()
    for row in nonzero_rows:
        linked_columns.link([column for column, _ in row])
    # the rows by the representative of their columns
    blocks: dict[Hashable, list[dict[Any, int]]] = {}
    for row in nonzero_rows:
        first, _ = row[0]
        block = blocks.setdefault(linked_columns.representative(first), [])
        block.append(dict(row))
    return list(blocks.values())


class LinkedColumns:
    """Classes of columns of a matrix, found by union-find: columns of one class are linked.

    From all columns of a class the pointers lead to the same column, which points to itself.
    """

    def __init__(self) -> None:
        """Begin without any columns."""
        self.pointer: dict[Hashable, Hashable] = {}

    def link(self, columns: Sequence[Hashable]) -> None:
        """Join the classes of these columns, at least one; a new column is a class at first."""
        for column in columns:
            self.pointer.setdefault(column, column)
        for column in columns:
            self.pointer[self.representative(column)] = self.representative(columns[0])

    def representative(self, column: Hashable) -> Hashable:
        """The representative of the class of a column, at which its pointers arrive."""
        pointer = self.pointer
        while pointer[column] != column:
            # skip one column, so that the next search takes half as many steps
            pointer[column] = pointer[pointer[column]]
            column = pointer[column]
        return column


def rank_modulo(rows: Sequence[Sequence[int]]) -> int:
    """The rank modulo :data:`PRIME` of a matrix of integers, with at least one row.

    It is a lower bound for the rank over QQ.
    """
    entries = list[int]()
    for row in rows:
        entries += [x % PRIME for x in row]
    return int(flint.nmod_mat(len(rows), len(rows[0]), entries, PRIME).rank())


def matrix_modulo(
    rows: Sequence[Mapping[Any, int]], columns: Sequence[Any], prime: int = PRIME
) -> flint.nmod_mat:
    """The matrix modulo a prime with these rows, each a map from labels of columns to entries."""
    number = {label: j for j, label in enumerate(columns)}
    matrix = flint.nmod_mat(len(rows), len(columns), prime)
    for i, row in enumerate(rows):
        for label, x in row.items():
            matrix[i, number[label]] = x
    return matrix


def pivot_columns(reduced: flint.nmod_mat, rank: int) -> list[int]:
    """The columns in which the ``rank`` rows of a reduced echelon form begin, increasing."""
    pivots = []
    column = 0
    for row in range(rank):
        # in a reduced form a row is zero in the columns where earlier rows begin
        while not reduced[row, column]:
            column += 1
        pivots.append(column)
    return pivots


def ring(variables: int, order: str = "degrevlex") -> flint.fmpz_mpoly_ctx:
    """A polynomial ring over ZZ in a number of variables, of which the first is the largest."""
    return flint.fmpz_mpoly_ctx.get(("x", variables), flint.Ordering[order])


def read(texts: Any, names: Sequence[str]) -> list[dict[Exponents, int]]:
    """The polynomials with these texts, {monomial: integer}, in variables of these names.

    Each is multiplied by the common denominator of its coefficients. CertificateError if a text is
    not a nonzero polynomial, TooExpensiveError if the texts have too many terms. A text is taken
    only if FLINT writes the polynomial in just this way: so a polynomial has one text, and no text
    two meanings.
    """
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise CertificateError("not a list of texts of polynomials")
    # each term has an exponent for every variable; a text with k terms has k − 1 signs between
    # them, with a space on both sides
    terms = sum(text.count(" ") // 2 + 1 for text in texts)
    if terms * len(names) > MAX_EXPONENT_ENTRIES:
        size = f"{terms} terms in {len(names)} coordinates"
        raise TooExpensiveError("length of the generators", size)
    context = flint.fmpq_mpoly_ctx.get(tuple(names), flint.Ordering.degrevlex)
    polynomials = []
    for text in texts:
        polynomial = context.constant(0)  # not the text of one
        # FLINT would expand brackets, however high their powers, and abort at a division by zero
        if _TEXT.fullmatch(text):
            with suppress(ValueError):  # a name that is not a coordinate
                polynomial = flint.fmpq_mpoly(text.replace("**", "^"), context)
        if not polynomial or str(polynomial).replace("^", "**") != text:
            raise CertificateError(f"not the text of a polynomial in the coordinates: {text[:120]}")
        denominators = [int(c.q) for c in polynomial.coeffs()]
        common = lcm(*denominators)
        polynomials.append({monomial: int(c * common) for monomial, c in polynomial.terms()})
    return polynomials


# The texts that FLINT may read. It would expand brackets, however high their powers, and a division
# by zero ends the process. A number is 2 or 2/3, a power x or x**2, a product 2*x**2*y or x*y.
_NUMBER = r"\d+(?:/[1-9]\d*)?"
_POWER = r"[a-z]\w*(?:\*\*\d{1,4})?"
_PRODUCT = rf"(?:{_NUMBER}|{_POWER})(?:\*{_POWER})*"
_TEXT = re.compile(rf"-?{_PRODUCT}(?: [+-] {_PRODUCT})*", re.ASCII)


def groebner_basis(
    polynomials: Iterable[flint.fmpz_mpoly], context: flint.fmpz_mpoly_ctx
) -> flint.fmpz_mpoly_vec:
    """A Gröbner basis of the ideal over QQ generated by polynomials of the ring ``context``.

    Its elements are integer polynomials, up to a factor, with their leading monomials first.
    TooExpensiveError if the basis becomes larger than :data:`LIMITS`.
    """
    nonzero = [polynomial for polynomial in polynomials if polynomial]
    basis, is_complete = flint.fmpz_mpoly_vec(nonzero, context).buchberger_naive(LIMITS)
    if not is_complete:
        message = "not decided: a Gröbner basis over QQ becomes too large"
        raise TooExpensiveError("evidence", message)
    return basis


def is_in(polynomial: flint.fmpz_mpoly, basis: flint.fmpz_mpoly_vec) -> bool:
    """Whether a polynomial is in the ideal over QQ with this Gröbner basis: its remainder
    is zero.
    """
    # zero is in every ideal, and nothing else is in the zero ideal
    if polynomial == 0:
        return True
    if len(basis) == 0:
        return False
    remainder = polynomial.reduction_primitive_part(basis)
    return bool(remainder == 0)


def leading_monomials(basis: Iterable[flint.fmpz_mpoly]) -> list[Exponents]:
    """The minimal generators of the ideal of the leading monomials of a Gröbner basis."""
    # the first monomial of a polynomial of FLINT is its leading one
    return minimal(next(iter(g.monoms())) for g in basis)


def minimal(exponents: Iterable[Exponents]) -> list[Exponents]:
    """The minimal generators of the ideal that these monomials generate."""
    generators: list[Exponents] = []
    # by degree: a proper divisor has a smaller degree, so that it comes before
    for monomial in sorted(set(exponents), key=sum):
        if not any(all(map(le, generator, monomial)) for generator in generators):
            generators.append(monomial)
    return generators


def hilbert_series(monomials: list[Exponents], variables: int) -> Series:
    """The Hilbert series of S/I in lowest terms, from the minimal generators of its leading
    monomials.

    S/M has the same series, a polynomial N over (1 − T)^variables. While N(1) = 0, a factor 1 − T
    is cancelled: the power that is left is the order of the pole at T = 1, the dimension of S/I.
    """
    numerator = _numerator(monomials)
    dimension = variables
    while dimension and not numerator(1):
        numerator = numerator // flint.fmpz_poly([1, -1])
        dimension -= 1
    return Series(numerator=[int(h) for h in numerator.coeffs()], dimension=dimension)


def _numerator(monomials: list[Exponents]) -> flint.fmpz_poly:
    """The numerator N of the Hilbert series N/(1 − T)^n of S/M, M minimally generated by these.

    For a variable x, 0 → S/(M : x) → S/M → S/(M + (x)) → 0 is exact, where the first map is the
    multiplication by x, which raises degrees by one. So N is T times the numerator for M : x, plus
    that for M + (x), which is 1 − T times the numerator for the monomials without x.
    """
    one_minus_T = flint.fmpz_poly([1, -1])
    T = flint.fmpz_poly([0, 1])
    # in how many of the monomials each variable, given by its number from 0, occurs
    occurrences = Counter(
        variable for monomial in monomials for variable, exponent in enumerate(monomial) if exponent
    )
    if max(occurrences.values(), default=0) <= 1:
        # no variable is in two of them: a regular sequence, for which N is the product of the
        # 1 − T^degree
        product = flint.fmpz_poly([1])
        for monomial in monomials:
            product *= 1 - T ** sum(monomial)
        return product
    # the variable that occurs most often makes both parts smallest
    ((x, _),) = occurrences.most_common(1)
    without_x = [monomial for monomial in monomials if not monomial[x]]
    # what is left of the generators of M, divided by x where x divides them, generates M : x
    divided = [(*f[:x], max(f[x] - 1, 0), *f[x + 1 :]) for f in monomials]
    quotient = minimal(divided)
    return one_minus_T * _numerator(without_x) + T * _numerator(quotient)


def hilbert_function(series: Series, degree: int) -> int:
    """The dimension of S/I in one degree: the coefficient of T^degree in N(T)/(1 − T)^n.

    The coefficient of T^m in 1/(1 − T)^n is C(m + n − 1, n − 1) for n ≥ 1.
    """
    numerator, n = series
    if n == 0:
        return numerator[degree] if degree < len(numerator) else 0
    dimension = 0
    for i, h in enumerate(numerator[: degree + 1]):
        dimension += h * comb(degree - i + n - 1, n - 1)
    return dimension


def monomials(variables: int, degree: int) -> Iterator[Exponents]:
    """Yield the exponents of each monomial of a degree in some variables."""
    for factors in combinations_with_replacement(range(variables), degree):
        yield tuple(map(factors.count, range(variables)))


def multiples(
    polynomials: Iterable[flint.fmpz_mpoly | flint.nmod_mpoly], degree: int, variables: int
) -> Iterator[dict[Exponents, int]]:
    """Yield the products of this degree of homogeneous polynomials with monomials: {monomial:
    integer}.
    """
    for polynomial in polynomials:
        missing_degree = degree - polynomial.total_degree()
        if missing_degree < 0:
            continue
        terms = polynomial.to_dict()
        for factor in monomials(variables, missing_degree):
            yield {tuple(map(add, monomial, factor)): int(c) for monomial, c in terms.items()}


def is_cohen_macaulay(
    generators: Sequence[flint.fmpz_mpoly], series: Series, variables: int
) -> bool:
    """Whether S/I is shown to be Cohen–Macaulay; its ``series`` is (numerator, dimension n).

    Let R be the restriction of S/I to a subspace where n linear forms vanish. If R has finite
    length, this length is at least the degree of S/I, and is equal to it only if S/I is
    Cohen–Macaulay (Matsumura, *Commutative Ring Theory*, Theorem 17.11). Then the coefficients of
    the numerator are the dimensions of R, degree by degree.

    True is a proof: ranks modulo a prime are at most the ranks over QQ, so the computed dimensions
    are at least the dimensions of R. False says nothing: the forms are random, a rank may be too
    small, or the computation would take too long.
    """
    numerator, n = series
    codimension = variables - n
    if codimension == 0:
        # only I = 0 has this dimension, and S itself is Cohen–Macaulay
        return not generators
    # they would be the dimensions of R in the degrees from 0 to its last, which are positive
    if min(numerator, default=0) <= 0:
        return False
    # generators of the ideal of R, in as many variables as the codimension; None if too large
    restricted = _restricted(generators, codimension, variables)
    if restricted is None:
        return False
    # if R is zero in the degree after the numerator, it is so in all later degrees
    for degree, expected_dimension in enumerate((*numerator, 0)):
        monomial_count = comb(codimension + degree - 1, degree)
        # the multiples of the generators, which span their ideal in this degree
        rows = list(multiples(restricted, degree, codimension))
        if len(rows) * monomial_count > MAX_MATRIX_ENTRIES:
            return False
        columns = sorted(set(chain.from_iterable(rows)))
        ideal_dimension = matrix_modulo(rows, columns).rank()
        if monomial_count - ideal_dimension != expected_dimension:
            return False
    return True


def _restricted(
    generators: Sequence[flint.fmpz_mpoly], kept_count: int, variables: int
) -> list[flint.nmod_mpoly] | None:
    """The restrictions of polynomials to a random subspace, modulo PRIME, without those that are
    zero.

    The first ``kept_count`` variables stay, and random linear forms in these replace the others.
    None if there would be too many terms.
    """
    # a term of degree k becomes a form of degree k, with at most as many terms as there are
    # monomials of degree k in the remaining variables
    terms = 0
    for g in generators:
        terms += len(g) * comb(kept_count + g.total_degree() - 1, kept_count - 1)
    if terms > MAX_MATRIX_ENTRIES:
        return None
    small_ring = flint.nmod_mpoly_ctx.get(
        ("x", kept_count), modulus=PRIME, ordering=flint.Ordering.degrevlex
    )
    remaining_variables = list(small_ring.gens())
    random = unpredictable()
    # what stands for each of the variables
    substitutes = list(remaining_variables)
    for _ in range(variables - kept_count):
        coefficients = [random.randrange(PRIME) for _ in remaining_variables]
        zero = small_ring.constant(0)
        substitutes.append(sum(map(mul, coefficients, remaining_variables), zero))
    large_ring = flint.nmod_mpoly_ctx.get(
        ("x", variables), modulus=PRIME, ordering=flint.Ordering.degrevlex
    )
    images = []
    for g in generators:
        residues = {monomial: int(c) % PRIME for monomial, c in g.to_dict().items()}
        images.append(large_ring.from_dict(residues).compose(*substitutes, ctx=small_ring))
    return [image for image in images if image]
