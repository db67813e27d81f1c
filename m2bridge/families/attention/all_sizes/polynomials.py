"""Polynomials in few unknowns, as sets of terms: one form for one polynomial up to a factor."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import gcd, lcm

Monomial = tuple[int, ...]
Polynomial = frozenset[tuple[Monomial, int]]
"""Exponents of z_2, z_3, … and integer coefficients."""

Generators = frozenset[Polynomial]


def order(monomial: Monomial) -> tuple[int, tuple[int, ...]]:
    """Larger for larger monomials: graded reverse lexicographic, the first unknown largest."""
    return sum(monomial), tuple(-e for e in reversed(monomial))


def primitive(terms: Mapping[Monomial, Fraction]) -> Polynomial:
    """The multiple of a polynomial ≠ 0 with coprime integer coefficients, the leading one positive."""
    leading = terms[max(terms, key=order)]
    denominators = lcm(*(c.denominator for c in terms.values()))
    integers = {monomial: int(c * denominators) for monomial, c in terms.items()}
    content = gcd(*integers.values()) * (1 if leading > 0 else -1)
    return frozenset((monomial, c // content) for monomial, c in integers.items())
