"""Ranks over QQ, polynomials over QQ from their texts, Gröbner bases and Hilbert series.

The facts behind them are in every textbook (Cox, Little, O'Shea, *Ideals, Varieties, and
Algorithms*, chapters 2 and 9): a polynomial is in an ideal exactly if its remainder by a Gröbner
basis is zero, and an ideal has the Hilbert function of its leading monomials (Macaulay).

FLINT is trusted with arithmetic, ranks of integer matrices, Gröbner bases and remainders. All else
is written here. No case of a family is known here, and no statement.
"""

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from math import comb, lcm
from operator import le
from typing import Any

import flint

from m2bridge.errors import CertificateError, TooExpensiveError

# The largest Mersenne prime that fits a machine word.
PRIME = 2**61 - 1

# Elements of a Gröbner basis, terms of a polynomial, bits of a coefficient. FLINT cannot be
# interrupted, so it is told where to give up.
LIMITS = (5_000, 200_000, 100_000)

# Terms times coordinates: a polynomial is kept as tuples of exponents, eight bytes for each.
MOST_EXPONENTS = 5 * 10**7

Exponents = tuple[int, ...]

# The numerator h_0, h_1, … and the exponent n of Σ h_i T^i / (1 − T)^n, with h(1) ≠ 0: so n is the
# dimension and h(1) the degree. Of the unit ideal, the series 0: no coefficient, and n = 0.
Series = tuple[list[int], int]


def rank(rows: Iterable[Mapping[Any, int]]) -> int:
    """The rank over QQ of a matrix whose rows are given by their nonzero entries, by column.

    If rows and columns can be ordered so that a matrix is block diagonal, its rank is the sum of
    the ranks of its blocks. Multigraded matrices have many small blocks.
    """
    total = 0
    for block in _blocks(rows):
        columns = {column for row in block for column in row}
        matrix = flint.fmpz_mat([[row.get(column, 0) for column in columns] for row in block])
        total += int(matrix.rank())
    return total


def _blocks(rows: Iterable[Mapping[Any, int]]) -> list[list[dict[Any, int]]]:
    """The different nonzero rows, those together that are linked by common columns.

    Columns that are linked have the same representative: each names another one of its kind, and
    the representative names itself.
    """
    # equal rows add nothing to a rank, and there are many of them
    different = {frozenset((column, x) for column, x in row.items() if x) for row in rows}
    listed = [tuple(row) for row in different if row]
    names: dict[Hashable, Hashable] = {}
    for row in listed:
        names.update((column, column) for column, _ in row)

    def representative(column: Hashable) -> Hashable:
        while names[column] != column:
            # the next search takes half as many steps
            names[column] = names[names[column]]
            column = names[column]
        return column

    for row in listed:
        first, _ = row[0]
        for column, _ in row:
            names[representative(column)] = representative(first)
    blocks: dict[Hashable, list[dict[Any, int]]] = {}
    for row in listed:
        first, _ = row[0]
        blocks.setdefault(representative(first), []).append(dict(row))
    return list(blocks.values())


def rank_modulo(rows: Sequence[Sequence[int]]) -> int:
    """The rank modulo a prime: a lower bound for the rank over QQ.

    A minor of integers that is not zero modulo the prime is not zero.
    """
    entries = [x % PRIME for row in rows for x in row]
    return int(flint.nmod_mat(len(rows), len(rows[0]), entries, PRIME).rank())


def ring(variables: int, order: str = "degrevlex") -> Any:
    """A polynomial ring over ZZ; the first variable is the largest."""
    return flint.fmpz_mpoly_ctx.get(("x", variables), flint.Ordering[order])


def read(texts: Any, names: Sequence[str]) -> list[dict[Exponents, int]]:
    """Nonzero polynomials with integer coefficients, up to factors, from texts over QQ.

    A text is taken only if FLINT writes the polynomial in just this way, terms graded reverse
    lexicographic: so a polynomial has one text, and no text two meanings.
    """
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise CertificateError("not a list of texts of polynomials")
    # a text with k terms has k − 1 signs between them, with a space on both sides
    terms = sum(text.count(" ") // 2 + 1 for text in texts)
    if terms * len(names) > MOST_EXPONENTS:
        size = f"{terms} terms in {len(names)} coordinates"
        raise TooExpensiveError("length of the generators", size)
    context = flint.fmpq_mpoly_ctx.get(tuple(names), flint.Ordering.degrevlex)
    polynomials = []
    for text in texts:
        polynomial = _polynomial(text, context)
        if not polynomial or str(polynomial).replace("^", "**") != text:
            raise CertificateError(f"not the text of a polynomial in the coordinates: {text[:120]}")
        scale = lcm(*(int(c.q) for c in polynomial.coeffs()))
        polynomials.append({exponents: int(c * scale) for exponents, c in polynomial.terms()})
    return polynomials


# The texts that FLINT may read. It would expand brackets, however high their powers, and a division
# by zero ends the process.
_PRODUCT = r"(?:\d+(?:/[1-9]\d*)?|[a-z]\w*(?:\*\*\d{1,4})?)(?:\*[a-z]\w*(?:\*\*\d{1,4})?)*"
_TEXT = re.compile(rf"-?{_PRODUCT}(?: [+-] {_PRODUCT})*", re.ASCII)


def _polynomial(text: str, context: Any) -> Any:
    """The polynomial with this text; zero, which no text is taken for, if it is none."""
    if not _TEXT.fullmatch(text):
        return context.constant(0)
    try:
        return flint.fmpq_mpoly(text.replace("**", "^"), context)
    except ValueError:  # a name that is no coordinate
        return context.constant(0)


def groebner_basis(polynomials: Iterable[Any], context: Any) -> Any:
    """A Gröbner basis over QQ, of integer polynomials up to factors; by FLINT.

    TooExpensiveError if it becomes larger than :data:`LIMITS`.
    """
    nonzero = [polynomial for polynomial in polynomials if polynomial]
    basis, done = flint.fmpz_mpoly_vec(nonzero, context).buchberger_naive(LIMITS)
    if not done:
        message = "not decided: a Gröbner basis over QQ becomes too large"
        raise TooExpensiveError("evidence", message)
    return basis


def is_in(polynomial: Any, basis: Any) -> bool:
    """Whether a polynomial is in the ideal with this Gröbner basis: its remainder is zero.

    The remainder is known up to a factor, which does not matter.
    """
    if not polynomial:
        return True
    if len(basis) == 0:  # the zero ideal
        return False
    return not polynomial.reduction_primitive_part(basis)


def minimal(monomials: Iterable[Exponents]) -> list[Exponents]:
    """The monomials that no other one divides: the minimal generators of the ideal of all.

    A proper divisor has a smaller degree, so that it is met before.
    """
    kept: list[Exponents] = []
    for monomial in sorted(set(monomials), key=sum):
        if not any(all(map(le, smaller, monomial)) for smaller in kept):
            kept.append(monomial)
    return kept


def hilbert_series(monomials: list[Exponents], variables: int) -> Series:
    """The Hilbert series of the quotient by an ideal with these minimal leading monomials.

    The monomials outside the ideal of leading monomials are a basis of the quotient, for a
    homogeneous ideal in each degree (Macaulay). Their series is a polynomial over
    (1 − T)^variables, which is reduced here: the order of its pole at 1 is the dimension.
    """
    numerator = _numerator(monomials)
    dimension = variables
    while dimension and not numerator(1):
        numerator = numerator // flint.fmpz_poly([1, -1])
        dimension -= 1
    return [int(h) for h in numerator.coeffs()], dimension


def _numerator(monomials: list[Exponents]) -> Any:
    """The numerator of the Hilbert series of S/M over (1 − T)^variables.

    For a variable x, 0 → S/(M : x) → S/M → S/(M + x) → 0 is exact, where the first map is the
    multiplication by x: so the numerator is T times that of M : x, plus that of M + x. The latter
    is 1 − T times that of the monomials without x.
    """
    one_minus_T = flint.fmpz_poly([1, -1])
    T = flint.fmpz_poly([0, 1])
    occurrences = Counter(i for monomial in monomials for i, e in enumerate(monomial) if e)
    if max(occurrences.values(), default=0) <= 1:
        # no variable in two of them: a regular sequence, whose series is a product
        product = flint.fmpz_poly([1])
        for monomial in monomials:
            product *= 1 - T ** sum(monomial)
        return product
    # the variable that occurs most often makes both parts smallest
    ((x, _),) = occurrences.most_common(1)
    without = [monomial for monomial in monomials if not monomial[x]]
    divided = (_divided(monomial, x) for monomial in monomials)
    return one_minus_T * _numerator(without) + T * _numerator(minimal(divided))


def _divided(monomial: Exponents, x: int) -> Exponents:
    """A monomial divided by the variable x, where x divides it: a generator of M : x."""
    return (*monomial[:x], max(monomial[x] - 1, 0), *monomial[x + 1 :])


def hilbert_function(series: Series, degree: int) -> int:
    """The dimension of the part of this degree.

    The coefficient of T^m in 1/(1 − T)^n is the number of monomials of degree m in n variables:
    C(m + n − 1, n − 1) for n ≥ 1. For n = 0 the series is its numerator.
    """
    numerator, n = series
    if n == 0:
        return sum(numerator[degree : degree + 1])
    total = 0
    for i, h in enumerate(numerator[: degree + 1]):
        total += h * comb(degree - i + n - 1, n - 1)
    return total
