"""Polynomials with integer coefficients as plain Python values: two encodings, and what is computed from them.

``IntegerPolynomial`` maps the exponents of each monomial to its coefficient, as SymPy and FLINT do. ``Terms`` lists
monomials by their variables, which is short where there are many variables and low degrees.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

Exponents = tuple[int, ...]
"""The exponent of each variable."""

Polynomial = Mapping[Exponents, int]
IntegerPolynomial = dict[Exponents, int]

Monomial = tuple[int, ...]
"""The sorted numbers of the variables of a monomial, with repetition."""

Terms = tuple[tuple[Monomial, int], ...]
"""The monomials of a polynomial and their coefficients."""


def exponents_of(monomial: Monomial, variables: int) -> Exponents:
    """The exponents of a monomial that is given by its variables."""
    exponents = [0] * variables
    for j in monomial:
        exponents[j] += 1
    return tuple(exponents)


def monomial_of(exponents: Exponents) -> Monomial:
    """The variables of a monomial that is given by its exponents."""
    return tuple(j for j, exponent in enumerate(exponents) for _ in range(exponent))


def value_at(polynomial: Polynomial, point: Sequence[int]) -> int:
    """The value at an integer point."""
    return sum(c * prod(x**e for x, e in zip(point, exponents, strict=True)) for exponents, c in polynomial.items())


def gradient_at(polynomial: Polynomial, point: Sequence[int], prime: int) -> dict[int, int]:
    """The partial derivatives at a point modulo a prime, by variable; congruent, not reduced. Missing ones are zero."""
    gradient: dict[int, int] = {}
    for exponents, c in polynomial.items():
        factors = [(i, exponent) for i, exponent in enumerate(exponents) if exponent]
        for i, exponent in factors:
            value = c * exponent * prod(pow(point[j], e - (i == j), prime) for j, e in factors)
            gradient[i] = gradient.get(i, 0) + value
    return gradient


def gradient_of_terms(polynomial: Terms, point: Sequence[int]) -> dict[int, int]:
    """The partial derivatives at an integer point, by variable."""
    gradient: dict[int, int] = {}
    for monomial, coefficient in polynomial:
        for place, j in enumerate(monomial):
            factors = monomial[:place] + monomial[place + 1 :]
            gradient[j] = gradient.get(j, 0) + coefficient * prod([point[i] for i in factors])
    return gradient


def restricted(polynomial: Polynomial, fixed: Mapping[int, int]) -> IntegerPolynomial:
    """A polynomial with some variables replaced by 0 or 1."""
    result: IntegerPolynomial = {}
    for exponents, c in polynomial.items():
        if all(fixed[i] or not exponents[i] for i in fixed):
            rest = tuple(0 if i in fixed else exponent for i, exponent in enumerate(exponents))
            result[rest] = result.get(rest, 0) + c
    return {exponents: c for exponents, c in result.items() if c}
