"""Reduced Gröbner bases of small ideals over QQ by FLINT, within limits that take milliseconds; no engine."""

from __future__ import annotations

from math import comb, gcd, lcm

import flint
from sympy.polys.rings import PolyElement

from m2bridge.algebra.field import QQ
from m2bridge.algebra.ring import Ideal, total_degree

LIMITS = (60, 200, 2000)
"""Polynomials in a basis, terms of a polynomial, bits of a coefficient."""
MOST_TERMS = 1000
"""Of all generators together."""
MOST_MONOMIALS = 5000
"""Up to twice the degree of the generators: a bound for what a reduction goes through, which no limit of FLINT is."""

Basis = frozenset[tuple[tuple[tuple[int, ...], int], ...]]


def small_basis(ideal: Ideal) -> Basis | None:
    """The reduced Gröbner basis, each element with coprime integers and a positive leading coefficient.

    ``None`` if the ideal is not over QQ, or its basis not found within the limits.
    """
    count = len(ideal.ring.variables)
    degree = max(map(total_degree, ideal.generators), default=0)
    large = sum(map(len, ideal.generators)) > MOST_TERMS or comb(count + 2 * degree, count) > MOST_MONOMIALS
    if ideal.ring.field != QQ or not count or large:
        return None
    context = flint.fmpz_mpoly_ctx.get(tuple(f"x{i}" for i in range(count)), flint.Ordering.degrevlex)
    given = flint.fmpz_mpoly_vec([context.from_dict(_integers(g)) for g in ideal.generators], context)
    found, finished = given.buchberger_naive(limits=LIMITS)
    if not finished:
        return None
    return frozenset(_primitive(element) for element in found.autoreduction())


def _integers(polynomial: PolyElement) -> dict[tuple[int, ...], int]:
    scale = lcm(*(int(c.denominator) for c in polynomial.values()))
    return {monomial: int(c.numerator) * (scale // int(c.denominator)) for monomial, c in polynomial.items()}


def _primitive(polynomial: flint.fmpz_mpoly) -> tuple[tuple[tuple[int, ...], int], ...]:
    terms = [(tuple(map(int, monomial)), int(c)) for monomial, c in polynomial.terms()]
    content = gcd(*(c for _, c in terms)) * (1 if terms[0][1] > 0 else -1)
    return tuple((monomial, c // content) for monomial, c in terms)
