"""Elements of polynomial rings from polynomials as people have them: of SymPy, of FLINT, numbers, or text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from numbers import Number
from typing import Any

import flint
from sympy import Expr, Poly, Symbol
from sympy.polys.rings import PolyElement

from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.algebra.numbers import fraction
from m2bridge.algebra.ring import GeneratingSet, PolynomialRing
from m2bridge.convert.polynomial_text import names_in, read_polynomial
from m2bridge.errors import ConversionError

_Flint = flint.fmpz_mpoly | flint.fmpq_mpoly | flint.nmod_mpoly | flint.fmpz_mod_mpoly


def check_polynomial(given: object) -> None:
    """Raise ConversionError if something is nothing like a polynomial."""
    if not isinstance(given, str | Expr | Poly | PolyElement | _Flint | Number | flint.fmpz | flint.fmpq):
        advice = (
            "its generators are ideal.generators"
            if isinstance(given, GeneratingSet)
            else "give polynomials, or lists of them"
        )
        raise ConversionError(f"a {type(given).__name__} is not a polynomial: {advice}")


def element(ring: PolynomialRing, given: Any) -> PolyElement:
    """What is given as an element of this ring.

    Raises
    ------
    ConversionError
        If it is not an exact polynomial in the variables over the field.
    """
    if isinstance(given, PolyElement):
        if given.ring == ring.sympy_ring:
            return given
        return _from_terms(ring, _names(given), ((m, _number(given.ring.domain, c)) for m, c in given.items()))
    if isinstance(given, _Flint):
        return _from_terms(ring, _names(given), ((m, _flint_number(c)) for m, c in given.to_dict().items()))
    rational = PolynomialRing(QQ, ring.variables)
    if isinstance(given, str):
        found = read_polynomial(given, rational)
    else:
        expression = given.as_expr() if isinstance(given, Poly) else given
        found = rational.polynomial(_plain(expression) if isinstance(expression, Expr) else expression)
    return found if ring.field == QQ else element(ring, found)


def flat(given: Iterable[Any]) -> Iterator[Any]:
    """The items, and those of lists and tuples among them."""
    for item in given:
        if isinstance(item, list | tuple):
            yield from flat(item)
        else:
            yield item


def ring_variables(given: Any) -> tuple[str, ...] | None:
    """The variables of the ring of a polynomial; ``None`` if it belongs to no ring."""
    return _names(given) if isinstance(given, PolyElement | Poly | _Flint) else None


def occurring_names(given: Any) -> Iterable[str]:
    """The names that occur in text or in an expression."""
    if isinstance(given, str):
        return names_in(given)
    return (str(symbol) for symbol in given.free_symbols) if isinstance(given, Expr) else ()


def _names(given: Any) -> tuple[str, ...]:
    """The variables of the ring of a polynomial."""
    if isinstance(given, PolyElement):
        return tuple(map(str, given.ring.symbols))
    return tuple(map(str, given.gens if isinstance(given, Poly) else given.context().names()))


def own_field(given: Any) -> CoefficientField | None:
    """The field of the coefficients of a polynomial; ``None`` if it says none."""
    if isinstance(given, PolyElement | Poly):
        domain = given.ring.domain if isinstance(given, PolyElement) else given.domain
        return CoefficientField(int(domain.characteristic()))
    if isinstance(given, flint.nmod_mpoly | flint.fmpz_mod_mpoly):
        return CoefficientField(int(given.context().modulus()))
    return None


def _number(domain: Any, coefficient: Any) -> Fraction:
    """A coefficient of ZZ, QQ or GF(p) as a number."""
    if domain.is_FiniteField:
        return Fraction(int(domain.to_int(coefficient)))
    if not (domain.is_ZZ or domain.is_QQ):
        raise ConversionError(f"coefficients in {domain}; they must be in ZZ, QQ or GF(p)")
    return fraction(coefficient)


def _flint_number(coefficient: Any) -> Fraction:
    return fraction(coefficient) if isinstance(coefficient, flint.fmpq) else Fraction(int(coefficient))


def _from_terms(
    ring: PolynomialRing, names: Sequence[str], terms: Iterable[tuple[Sequence[int], Fraction]]
) -> PolyElement:
    """The polynomial with these terms in variables of these names."""
    places = {name: place for place, name in enumerate(ring.variables)}
    domain = ring.sympy_ring.domain
    found = {}
    for monomial, coefficient in terms:
        exponents = [0] * len(places)
        for name, exponent in zip(names, monomial, strict=True):
            if exponent:
                if name not in places:
                    raise ConversionError(f"{name!r:.60} is not a variable of {ring}")
                exponents[places[name]] = int(exponent)
        divisor = domain(coefficient.denominator)
        if not divisor:
            raise ConversionError(f"the coefficient {coefficient} has no meaning over {ring.field}")
        found[tuple(exponents)] = domain(coefficient.numerator) / divisor
    return ring.sympy_ring.from_dict({m: c for m, c in found.items() if c})


def _plain(expression: Expr) -> Expr:
    """The expression in symbols without assumptions, which name the variables of rings."""
    plain = {symbol: Symbol(symbol.name) for symbol in expression.free_symbols}
    if len(set(plain.values())) < len(plain):
        raise ConversionError(f"'{expression}' has different symbols with one name")
    return expression.xreplace({symbol: name for symbol, name in plain.items() if symbol != name})
