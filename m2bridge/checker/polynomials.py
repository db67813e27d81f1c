"""Ideals over QQ: generators as text, Gröbner bases by FLINT, Hilbert series."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import lcm
from typing import Any

import flint

from m2bridge.digits import integer
from m2bridge.errors import CertificateError, TooExpensiveError

LIMITS = (5_000, 200_000, 100_000)
"""Elements of a basis, terms of a polynomial, bits of a coefficient, beyond which a basis is given up."""
MOST_EXPONENTS = 5 * 10**7
"""Terms of all generators, times the number of coordinates."""
MOST_DEGREE = 100

Exponents = tuple[int, ...]
Terms = Mapping[Exponents, int]
_FACTOR = re.compile(r"([A-Za-z][A-Za-z_0-9]*)(?:\*\*([0-9]{1,4}))?|([0-9]+)(?:/([1-9][0-9]*))?", re.ASCII)


def ring(names: Sequence[str] | int, order: str = "degrevlex") -> Any:
    """ZZ[names], the first variable being the largest; a number stands for so many names."""
    listed = tuple(f"x{j}" for j in range(names)) if isinstance(names, int) else tuple(names)
    return flint.fmpz_mpoly_ctx.get(listed, flint.Ordering[order])


def read(texts: Any, names: Sequence[str]) -> list[dict[Exponents, int]]:
    """Nonzero polynomials over QQ, up to factors, from their texts in decreasing graded reverse lexicographic order.

    Raises
    ------
    CertificateError
        If this is not a list of texts that are, character by character, those of polynomials in the names.
    TooExpensiveError
        If there are too many terms.
    """
    if not isinstance(texts, list) or not all(isinstance(text, str) and text for text in texts):
        raise CertificateError("not a list of texts of polynomials")
    if (terms := sum(text.count(" ") // 2 + 1 for text in texts)) * len(names) > MOST_EXPONENTS:
        raise TooExpensiveError("length of the generators", f"{terms} terms in {len(names)} coordinates")
    context = flint.fmpq_mpoly_ctx.get(tuple(names), flint.Ordering.degrevlex)
    places = {name: j for j, name in enumerate(names)}
    found = []
    for text in texts:
        signs = re.split(" ([+-]) ", text.removeprefix("-"))
        rational = {exponents: c for exponents, c in (_term(term, places) for term in signs[::2])}
        for sign, term in zip(["-" if text[0] == "-" else "+", *signs[1::2]], list(rational), strict=False):
            rational[term] *= 1 if sign == "+" else -1
        if str(context.from_dict(rational)).replace("^", "**") != text or text == "0":
            raise CertificateError(f"not the text of a polynomial in the coordinates: {text[:120]}")
        scale = lcm(*(int(c.q) for c in rational.values()))
        found.append({exponents: int(c * scale) for exponents, c in rational.items()})
    return found


def _term(text: str, places: Mapping[str, int]) -> tuple[Exponents, Any]:
    exponents, coefficient = [0] * len(places), flint.fmpq(1)
    for factor in text.split("*") if "**" not in text else re.split(r"(?<!\*)\*(?!\*)", text):
        if (match := _FACTOR.fullmatch(factor)) is None or (match[1] and match[1] not in places):
            raise CertificateError(f"not a number, and not a power of a coordinate: {factor[:120]}")
        if match[1]:
            exponents[places[match[1]]] += int(match[2] or 1)
        else:
            coefficient *= flint.fmpq(integer(match[3]), integer(match[4] or "1"))
    return tuple(exponents), coefficient


def groebner_basis(polynomials: Iterable[Any], context: Any) -> Any:
    """A Gröbner basis over QQ; TooExpensiveError if it becomes larger than :data:`LIMITS`."""
    basis, done = flint.fmpz_mpoly_vec([g for g in polynomials if g], context).buchberger_naive(LIMITS)
    if not done:
        raise TooExpensiveError("evidence", "not decided: a Gröbner basis over QQ becomes too large")
    return basis


def leading_monomials(basis: Iterable[Any]) -> list[Exponents]:
    """Minimal generators of the ideal of leading monomials."""
    return _minimal(polynomial.monoms()[0] for polynomial in basis)


def _minimal(monomials: Iterable[Exponents]) -> list[Exponents]:
    kept: list[Exponents] = []
    for monomial in sorted(set(monomials), key=sum):
        if not any(all(e <= f for e, f in zip(smaller, monomial, strict=True)) for smaller in kept):
            kept.append(monomial)
    return kept


def hilbert_series(monomials: Iterable[Exponents], variables: int) -> tuple[list[int], int]:
    """h and n with Σ h_i T^i / (1 − T)^n the Hilbert series modulo monomials, h(1) ≠ 0; so n is the dimension."""
    numerator = flint.fmpz_poly(_numerator(_minimal(monomials)))
    while variables and not numerator(1):
        numerator, variables = numerator // flint.fmpz_poly([1, -1]), variables - 1
    return [int(h) for h in numerator.coeffs()], variables


def _numerator(monomials: list[Exponents]) -> Any:
    """Over (1 − T)^(number of variables); for a variable x, S/M is made of S/(M + x) and the shifted S/(M : x)."""
    counts = Counter(i for monomial in monomials for i, e in enumerate(monomial) if e)
    pivot, count = max(counts.items(), key=lambda item: item[1], default=(0, 0))
    if count <= 1:  # coprime
        total = flint.fmpz_poly([1])
        for monomial in monomials:
            total *= 1 - flint.fmpz_poly([0, 1]) ** sum(monomial)
        return total
    without = _numerator([monomial for monomial in monomials if not monomial[pivot]])
    quotient = _minimal((*m[:pivot], max(m[pivot] - 1, 0), *m[pivot + 1 :]) for m in monomials)
    return flint.fmpz_poly([1, -1]) * without + flint.fmpz_poly([0, 1]) * _numerator(quotient)
