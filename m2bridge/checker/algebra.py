"""Ranks over QQ, ideals over QQ as text, Gröbner bases and Hilbert series; by FLINT."""

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from math import comb, lcm
from operator import le
from typing import Any

import flint

from m2bridge.errors import CertificateError, TooExpensiveError

PRIME = 2**61 - 1
# elements of a basis, terms of a polynomial, bits of a coefficient
LIMITS = (5_000, 200_000, 100_000)
MOST_EXPONENTS = 5 * 10**7  # terms, times the number of coordinates
Exponents = tuple[int, ...]
# h and n with Σ h_i T^i / (1 − T)^n, h(1) ≠ 0: dimension n, degree h(1)
Series = tuple[list[int], int]


def rank(rows: Iterable[Mapping[Any, int]]) -> int:
    """The rank over QQ of rows given by their nonzero entries: the sum over blocks without common
    columns.
    """
    leader: dict[Hashable, Hashable] = {}

    def find(column: Hashable) -> Hashable:
        while (above := leader.setdefault(column, column)) != column:
            leader[column] = column = leader[above]
        return column

    listed = [
        tuple(row)
        for row in {frozenset((c, x) for c, x in row.items() if x) for row in rows}
        if row
    ]
    for row in listed:
        for column, _ in row:
            leader[find(column)] = find(row[0][0])
    blocks: dict[Hashable, list[dict[Any, int]]] = {}
    for row in listed:
        blocks.setdefault(find(row[0][0]), []).append(dict(row))
    columns = [{column for row in block for column in row} for block in blocks.values()]
    pairs = zip(blocks.values(), columns, strict=True)
    return sum(
        int(flint.fmpz_mat([[row.get(c, 0) for c in some] for row in block]).rank())
        for block, some in pairs
    )


def rank_modulo(rows: Sequence[Sequence[int]]) -> int:
    """A lower bound for the rank over QQ."""
    return int(
        flint.nmod_mat(
            len(rows), len(rows[0]), [x % PRIME for row in rows for x in row], PRIME
        ).rank()
    )


def ring(variables: int, order: str = "degrevlex") -> Any:
    """A polynomial ring over ZZ; the first variable is the largest."""
    return flint.fmpz_mpoly_ctx.get(("x", variables), flint.Ordering[order])


def read(texts: Any, names: Sequence[str]) -> list[dict[Exponents, int]]:
    """Nonzero polynomials, up to factors, from exactly their texts (terms graded reverse
    lexicographic).
    """
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise CertificateError("not a list of texts of polynomials")
    if (terms := sum(text.count(" ") // 2 + 1 for text in texts)) * len(names) > MOST_EXPONENTS:
        raise TooExpensiveError(
            "length of the generators", f"{terms} terms in {len(names)} coordinates"
        )
    context = flint.fmpq_mpoly_ctx.get(tuple(names), flint.Ordering.degrevlex)
    polynomials = []
    for text in texts:
        try:
            polynomial = flint.fmpq_mpoly(
                text.replace("**", "^") if _TEXT.fullmatch(text) else "0", context
            )
        except ValueError:  # another name
            polynomial = context.constant(0)
        if not polynomial or str(polynomial).replace("^", "**") != text:
            raise CertificateError(f"not the text of a polynomial in the coordinates: {text[:120]}")
        scale = lcm(*(int(c.q) for c in polynomial.coeffs()))
        polynomials.append({exponents: int(c * scale) for exponents, c in polynomial.terms()})
    return polynomials


_PRODUCT = r"(?:\d+(?:/[1-9]\d*)?|[a-z]\w*(?:\*\*\d{1,4})?)(?:\*[a-z]\w*(?:\*\*\d{1,4})?)*"
_TEXT = re.compile(rf"-?{_PRODUCT}(?: [+-] {_PRODUCT})*", re.ASCII)
"""The texts that FLINT may read: brackets could be expanded, and a division by zero ends the
process.
"""


def groebner_basis(polynomials: Iterable[Any], context: Any) -> Any:
    """A Gröbner basis over QQ; TooExpensiveError if it becomes larger than :data:`LIMITS`."""
    basis, done = flint.fmpz_mpoly_vec([g for g in polynomials if g], context).buchberger_naive(
        LIMITS
    )
    if not done:
        raise TooExpensiveError(
            "evidence", "not decided: a Gröbner basis over QQ becomes too large"
        )
    return basis


def is_in(polynomial: Any, basis: Any) -> bool:
    """Whether a polynomial is in the ideal with this Gröbner basis."""
    return not (
        polynomial and polynomial.reduction_primitive_part(basis) if len(basis) else polynomial
    )


def minimal(monomials: Iterable[Exponents]) -> list[Exponents]:
    """The monomials that no other one divides."""
    kept: list[Exponents] = []
    for monomial in sorted(set(monomials), key=sum):
        if not any(all(map(le, smaller, monomial)) for smaller in kept):
            kept.append(monomial)
    return kept


def hilbert_series(monomials: list[Exponents], variables: int) -> Series:
    """The Hilbert series of the quotient by an ideal with these minimal leading monomials."""
    numerator = _numerator(monomials)
    while variables and not numerator(1):
        numerator, variables = numerator // flint.fmpz_poly([1, -1]), variables - 1
    return [int(h) for h in numerator.coeffs()], variables


def _numerator(monomials: list[Exponents]) -> Any:
    """The numerator over (1 − T)^variables; for a variable x, S/M is made of S/(M + x) and the
    shifted S/(M : x).
    """
    total, T = flint.fmpz_poly([1]), flint.fmpz_poly([0, 1])
    counts = Counter(i for monomial in monomials for i, e in enumerate(monomial) if e)
    x = max(counts, key=counts.__getitem__, default=0)
    if counts[x] > 1:
        quotient = minimal((*m[:x], max(m[x] - 1, 0), *m[x + 1 :]) for m in monomials)
        return (1 - T) * _numerator([m for m in monomials if not m[x]]) + T * _numerator(quotient)
    for monomial in monomials:  # pairwise coprime
        total *= 1 - T ** sum(monomial)
    return total


def hilbert_function(series: Series, degree: int) -> int:
    """The dimension of the part of this degree, for a dimension n ≥ 1 of the whole."""
    numerator, n = series
    return sum(h * comb(degree - i + n - 1, n - 1) for i, h in enumerate(numerator[: degree + 1]))
