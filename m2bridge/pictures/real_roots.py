"""Real points of polynomials in named variables over QQ, by FLINT: roots are isolated in balls, so none is missed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from math import cos, pi
from typing import Any

from flint import Ordering, arb, fmpq, fmpq_mpoly, fmpq_mpoly_ctx, fmpq_poly
from sympy.polys.rings import PolyElement

from m2bridge.limits import watched

Interval = tuple[fmpq, fmpq]
Box = Mapping[str, Interval]
"""For each variable the open interval that is looked at."""

PRECISION = 128
"""Bits of roots; intervals between them may be as small as a power of :data:`CLOSE`."""
LARGEST_DENOMINATOR = 200
CLOSE = fmpq(1, 10**7)
"""How far the first and the last node are from the ends of an interval, of its length."""


def to_flint(polynomials: Iterable[PolyElement]) -> list[fmpq_mpoly]:
    """SymPy's polynomials over QQ as FLINT's, in the same variables."""
    listed = list(polynomials)
    if not listed:
        return []
    names = tuple(str(symbol) for symbol in listed[0].ring.symbols)
    context = fmpq_mpoly_ctx.get(names, Ordering.lex)
    return [
        context.from_dict({monomial: fmpq(int(c.numerator), int(c.denominator)) for monomial, c in p.items()})
        for p in listed
    ]


def names_of(polynomial: fmpq_mpoly) -> tuple[str, ...]:
    """The variables of its ring."""
    return tuple(polynomial.context().names())


def degree_in(polynomial: fmpq_mpoly, variable: str) -> int:
    """The degree in one variable; 0 for the zero polynomial."""
    place = names_of(polynomial).index(variable)
    return max((monomial[place] for monomial in polynomial.monoms()), default=0)


def leading_coefficient(polynomial: fmpq_mpoly, variable: str) -> fmpq_mpoly:
    """The coefficient of the highest power of a variable."""
    place, degree = names_of(polynomial).index(variable), degree_in(polynomial, variable)
    kept = {
        (*monomial[:place], 0, *monomial[place + 1 :]): coefficient
        for monomial, coefficient in polynomial.to_dict().items()
        if monomial[place] == degree
    }
    return polynomial.context().from_dict(kept)


def factors(polynomials: Iterable[fmpq_mpoly]) -> list[fmpq_mpoly]:
    """The different irreducible factors of those that are not zero."""
    found: dict[str, fmpq_mpoly] = {}
    for polynomial in watched(polynomials):
        if not polynomial.is_zero():
            found |= {str(factor): factor for factor, _ in polynomial.factor()[1]}
    return list(found.values())


def boundaries(polynomial: fmpq_mpoly, variable: str, interval: Interval) -> list[fmpq_mpoly]:
    """Where the number of real roots in the interval, or their order, may change: polynomials without the variable.

    The leading coefficient, the discriminant, and the values at both ends.
    Source: Brown, *Improved projection for cylindrical algebraic decomposition*, J. Symbolic Comput. 32 (2001).
    """
    degree = degree_in(polynomial, variable)
    if degree == 0:
        return [polynomial]
    discriminant = [polynomial.discriminant(variable)] if degree > 1 else []
    ends = [polynomial.subs({variable: end}) for end in interval]
    return [leading_coefficient(polynomial, variable), *discriminant, *ends]


def real_roots(polynomial: fmpq_mpoly, variable: str, interval: Interval) -> list[arb]:
    """The different real roots in an open interval, in increasing order, of a polynomial in one variable alone."""
    univariate = _univariate(polynomial, variable)
    if univariate.degree() < 1:
        return []
    roots = [root.real for root, _ in univariate.numer().complex_roots() if root.imag == 0]
    low, high = map(arb, interval)
    return sorted((root for root in roots if low < root < high), key=lambda root: root.mid())


def rational_roots(polynomial: fmpq_mpoly, variable: str, interval: Interval) -> list[fmpq]:
    """Those that are rational."""
    univariate = _univariate(polynomial, variable)
    roots = univariate.roots() if univariate.degree() > 0 else []
    return sorted(root for root, _ in roots if interval[0] < root < interval[1])


def _univariate(polynomial: fmpq_mpoly, variable: str) -> fmpq_poly:
    place = names_of(polynomial).index(variable)
    coefficients = [fmpq(0)] * (degree_in(polynomial, variable) + 1)
    for monomial, coefficient in polynomial.to_dict().items():
        coefficients[monomial[place]] += coefficient
    return fmpq_poly(coefficients)


def pieces(polynomials: Iterable[fmpq_mpoly], variable: str, interval: Interval) -> list[Interval]:
    """The open intervals between the real roots of polynomials in one variable, which are rounded to their precision.

    The polynomials are irreducible, so that no two roots are the same.
    """
    roots = sorted(near(root) for p in watched(polynomials) for root in real_roots(p, variable, interval))
    return list(pairwise(dict.fromkeys([interval[0], *roots, interval[1]])))


def nodes(interval: Interval, count: int) -> list[fmpq]:
    """Places in an open interval, denser at its ends, where roots move fast."""
    low, high = interval
    inner = [near(arb((1 - cos(pi * k / (count - 1))) / 2)) for k in range(1, count - 1)]
    return [low + (high - low) * part for part in (CLOSE, *inner, 1 - CLOSE)]


def middle(interval: Interval) -> fmpq:
    """A rational number in the middle third of an interval, with a small denominator if there is one."""
    low, high = interval
    return fractions_between((low + (high - low) / 3, high - (high - low) / 3), 1)[0]


def fractions_between(interval: Interval, count: int) -> list[fmpq]:
    """Rational numbers in an open interval, with small denominators as far as there are enough of them.

    They keep away from its ends, which may be rounded.
    """
    away = (interval[1] - interval[0]) / 100
    low, high = interval[0] + away, interval[1] - away
    found: list[fmpq] = []
    for denominator in range(1, LARGEST_DENOMINATOR + 1):
        first, last = (low * denominator).floor(), (high * denominator).ceil()
        candidates = (fmpq(numerator, denominator) for numerator in range(int(first), int(last) + 1))
        found += [c for c in candidates if low < c < high and c.q == denominator]
        if len(found) >= count:
            return found[:count]
    return [low + (high - low) * fmpq(2 * k + 1, 2 * count) for k in range(count)]


def near(number: arb) -> fmpq:
    """The middle of a ball."""
    mantissa, exponent = number.mid().man_exp()
    return fmpq(mantissa) * fmpq(2) ** int(exponent)


def as_float(number: Any) -> float:
    """The nearest floating-point number."""
    return float(number.mid()) if isinstance(number, arb) else int(number.p) / int(number.q)


def ball(polynomial: fmpq_mpoly, values: Mapping[str, Any]) -> arb:
    """The value at a point that is known up to balls."""
    point: Sequence[arb] = [arb(values[name]) for name in names_of(polynomial)]
    total = arb(0)
    for monomial, coefficient in polynomial.to_dict().items():
        term = arb(coefficient)
        for value, exponent in zip(point, monomial, strict=True):
            if exponent:
                term *= value**exponent
        total += term
    return total
