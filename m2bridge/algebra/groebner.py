"""Gröbner bases over QQ of small ideals, by FLINT, and what their leading monomials tell.

Polynomials are mappings from exponents to integers; an ideal over QQ has generators of that kind.

Source: Cox, Little, O'Shea, *Ideals, Varieties, and Algorithms*, chapters 2 and 9.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Literal

import flint

from m2bridge.algebra.sparse_polynomial import Exponents, Polynomial
from m2bridge.errors import MethodUnavailableError

MonomialOrder = Literal["degrevlex", "lex"]

LIMITS = (5_000, 200_000, 100_000)
"""Elements of a basis, terms of a polynomial, bits of a coefficient, beyond which a basis is given up."""


def groebner_basis(
    polynomials: Iterable[Polynomial], variables: int, order: MonomialOrder = "degrevlex"
) -> tuple[Polynomial, ...]:
    """A Gröbner basis of the ideal that polynomials generate over QQ; the first variable is the largest.

    Returns
    -------
    tuple of polynomials
        The leading monomial of each comes first. Not reduced.

    Raises
    ------
    MethodUnavailableError
        If the basis becomes larger than :data:`LIMITS`.
    """
    context = flint.fmpz_mpoly_ctx.get(("x", variables), flint.Ordering[order])
    generators = [context.from_dict(dict(polynomial)) for polynomial in polynomials]
    basis, success = flint.fmpz_mpoly_vec([g for g in generators if g], context).buchberger_naive(LIMITS)
    if not success:
        raise MethodUnavailableError("a Gröbner basis over QQ becomes too large")
    return tuple(element.to_dict() for element in basis)


def in_ideal(polynomial: Polynomial, basis: Iterable[Polynomial], variables: int) -> bool:
    """Whether a polynomial is in the ideal with this Gröbner basis, graded reverse lexicographic."""
    context = flint.fmpz_mpoly_ctx.get(("x", variables), flint.Ordering.degrevlex)
    vector = flint.fmpz_mpoly_vec([context.from_dict(dict(element)) for element in basis], context)
    return not context.from_dict(dict(polynomial)).reduction_primitive_part(vector)


def leading_monomials(basis: Iterable[Polynomial]) -> frozenset[Exponents]:
    """Minimal generators of the ideal of leading monomials."""
    return frozenset(minimal([next(iter(polynomial)) for polynomial in basis]))


def minimal(monomials: Iterable[Exponents]) -> list[Exponents]:
    """The monomials that no other one divides."""
    kept: list[Exponents] = []
    for monomial in sorted(set(monomials), key=sum):
        if not any(divides(smaller, monomial) for smaller in kept):
            kept.append(monomial)
    return kept


def divides(first: Exponents, second: Exponents) -> bool:
    """Whether one monomial divides another one."""
    return all(e <= f for e, f in zip(first, second, strict=True))


def hilbert_numerator(monomials: Iterable[Exponents]) -> dict[int, int]:
    """The numerator over (1 − T)^(number of variables) of the Hilbert series modulo a monomial ideal.

    For a variable x, S/(M + x) and the shifted S/(M : x) add up to S/M; so with the monomials that x does not divide
    and with M : x the recursion ends at the unit ideal or at pairwise coprime monomials.

    Source: Bigatti, *Computation of Hilbert–Poincaré series*, J. Pure Appl. Algebra 119 (1997).
    """
    generators = minimal(monomials)
    if generators and not any(generators[0]):
        return {}
    occurrences = Counter(i for monomial in generators for i, exponent in enumerate(monomial) if exponent)
    pivot, count = max(occurrences.items(), key=lambda item: item[1], default=(0, 0))
    if count <= 1:
        return _product(_one_less(sum(monomial)) for monomial in generators)
    without = hilbert_numerator(monomial for monomial in generators if not monomial[pivot])
    quotient = hilbert_numerator(_divided(monomial, pivot) for monomial in generators)
    return _sum(_product([_one_less(1), without]), {degree + 1: c for degree, c in quotient.items()})


def _divided(monomial: Exponents, variable: int) -> Exponents:
    return tuple(max(e - 1, 0) if i == variable else e for i, e in enumerate(monomial))


def _one_less(degree: int) -> dict[int, int]:
    """1 − T^degree."""
    return {0: 1, degree: -1}


def _sum(first: Mapping[int, int], second: Mapping[int, int]) -> dict[int, int]:
    return {n: first.get(n, 0) + second.get(n, 0) for n in first.keys() | second.keys()}


def _product(factors: Iterable[Mapping[int, int]]) -> dict[int, int]:
    total = {0: 1}
    for factor in factors:
        product: Counter[int] = Counter()
        for n, c in total.items():
            for m, e in factor.items():
                product[n + m] += c * e
        total = dict(product)
    return total
