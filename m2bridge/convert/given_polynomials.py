"""Elements of rings, as Macaulay2 makes them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import compress, count
from typing import Any

from sympy import Poly
from sympy.polys.fields import FracElement
from sympy.polys.rings import PolyElement

from m2bridge.algebra.field import CoefficientField
from m2bridge.algebra.ring import PolynomialRing
from m2bridge.convert.given_rings import ring, ring_of_domain, ring_of_sympy
from m2bridge.convert.given_writing import grouped, scalar, written
from m2bridge.values.rings import Algebra, FractionField, IntegerRing, QuotientRing, RingElement, RingFraction

_MANY = 200
"""Terms from which on a polynomial is written for speed."""
_USED = re.compile(rb"[^\0]")
_SHIFT = 32
"""From numbers to characters, which are none of those that control."""
_CHARACTERS = 0xD800 - _SHIFT
"""As many follow without a gap."""

Terms = Iterable[tuple[tuple[int, ...], str]]


def polynomial(over: Any, terms: Terms, width: int) -> str:
    """An element of a ring; large ones with numbers for coefficients in a form that Macaulay2 reads faster."""
    listed = list(terms)
    plain = isinstance(over, PolynomialRing) or (
        isinstance(over, Algebra) and isinstance(over.coefficients, IntegerRing)
    )
    if plain and len(listed) >= _MANY:
        factors = [_factors(exponents) for exponents, _ in listed]
        powers = sorted({power for monomial in factors for power in monomial})
        if len(powers) <= _CHARACTERS:
            return _packed(over, powers, factors, [coefficient for _, coefficient in listed])
    return f"mbElement({ring(over)}, {_sparse(listed, width)})"


def _factors(exponents: tuple[int, ...]) -> list[tuple[int, int]]:
    """The variables of a monomial with their exponents; most exponents are zero, and fit in a byte."""
    try:
        packed = bytes(exponents)
    except ValueError:
        return list(zip(compress(count(), exponents), filter(None, exponents), strict=False))
    return [(found.start(), packed[found.start()]) for found in _USED.finditer(packed)]


def _packed(over: Any, powers: list[tuple[int, int]], factors: list[list[tuple[int, int]]], numbers: list[str]) -> str:
    """A character for each power of a variable, and a line of them for each monomial.

    Monomials are sorted by degree, then as strings from the last variable on. This is the graded reverse lexicographic
    order, in which sums are fastest: Macaulay2 finds one part before the other. No other order is wrong.
    """
    characters = {power: chr(number + _SHIFT) for number, power in enumerate(powers)}
    lines = ["".join([characters[power] for power in reversed(monomial)]) for monomial in factors]
    degrees = [-sum([exponent for _, exponent in monomial]) for monomial in factors]
    terms = sorted(zip(degrees, lines, numbers, strict=True))
    text = "\n".join([line[::-1] for _, line, _ in terms]).replace("\\", "\\\\").replace('"', '\\"')
    table = grouped([f"({variable},{exponent})" for variable, exponent in powers])
    return f'mbPolynomial({ring(over)}, {grouped([number for _, _, number in terms])}, {table}, "{text}")'


def _sparse(terms: Terms, width: int) -> str:
    places = tuple(f",{i}," for i in range(width))
    listed = []
    for exponents, coefficient in terms:
        powers = zip(compress(places, exponents), filter(None, exponents), strict=True)
        listed.append("{" + coefficient + "".join([f"{place}{exponent}" for place, exponent in powers]) + "}")
    return grouped(listed)


@written.register
def _(value: PolyElement) -> str:
    over = ring_of_sympy(value.ring)
    number = _sympy_coefficient(value.ring.domain)
    terms = ((monomial, number(coefficient)) for monomial, coefficient in value.items())
    return polynomial(over, terms, value.ring.ngens)


def sparse_terms(value: PolyElement) -> str:
    """The list of terms ``{coefficient, variable, exponent, ..}`` of a polynomial."""
    number = _sympy_coefficient(value.ring.domain)
    return _sparse([(monomial, number(coefficient)) for monomial, coefficient in value.items()], value.ring.ngens)


def _sympy_coefficient(domain: Any) -> Any:
    if domain.is_FiniteField:
        return lambda c: str(domain.to_int(c))
    if domain.is_ZZ or domain.is_QQ:
        return scalar
    return written


@written.register
def _(value: FracElement) -> str:
    below = value.field.ring
    over = FractionField(ring_of_sympy(below))
    return f"mbQuotientOf({ring(over)}, {written(value.numer)}, {written(value.denom)})"


@written.register
def _(value: Poly) -> str:
    below = ring_of_domain(value.domain)
    names = tuple(map(str, value.gens))
    over = PolynomialRing(below, names) if isinstance(below, CoefficientField) else Algebra(below, names)
    number = _sympy_coefficient(value.domain)
    terms = ((monomial, number(value.domain.convert(c))) for monomial, c in value.rep.to_dict().items())
    return polynomial(over, terms, len(names))


@written.register
def _(value: RingElement) -> str:
    if isinstance(value.ring, QuotientRing) and isinstance(value.ring.ambient, IntegerRing):
        return f"(promote({value.terms[0][1] if value.terms else 0}, {ring(value.ring)}))"
    terms = [(exponents, scalar(coefficient)) for exponents, coefficient in value.terms]
    width = len(terms[0][0]) if terms else 0
    return polynomial(value.ring, terms, width)


@written.register
def _(value: RingFraction) -> str:
    return f"mbQuotientOf({ring(value.ring)}, {scalar(value.numerator)}, {scalar(value.denominator)})"
