"""Elements of polynomial rings from polynomials as people have them: of SymPy, of FLINT, numbers, or text."""

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


def check_polynomial(value: object) -> None:
    """Raise ConversionError if something is nothing like a polynomial."""
    if not isinstance(value, str | Expr | Poly | PolyElement | _Flint | Number | flint.fmpz | flint.fmpq):
        advice = (
            "its generators are ideal.generators"
            if isinstance(value, GeneratingSet)
            else "give polynomials, or lists of them"
        )
        raise ConversionError(f"a {type(value).__name__} is not a polynomial: {advice}")


def element(ring: PolynomialRing, value: Any) -> PolyElement:
    """Convert a polynomial of SymPy or FLINT, a number or text to an element of this ring.

    Raises
    ------
    ConversionError
        If it is not an exact polynomial in the variables over the field.
    """
    if isinstance(value, PolyElement):
        if value.ring == ring.sympy_ring:
            return value
        return _from_terms(ring, _names(value), ((m, _number(value.ring.domain, c)) for m, c in value.items()))
    if isinstance(value, _Flint):
        return _from_terms(ring, _names(value), ((m, _flint_number(c)) for m, c in value.to_dict().items()))
    rational = PolynomialRing(QQ, ring.variables)
    if isinstance(value, str):
        polynomial = read_polynomial(value, rational)
    else:
        expression = value.as_expr() if isinstance(value, Poly) else value
        polynomial = rational.polynomial(_plain(expression) if isinstance(expression, Expr) else expression)
    return polynomial if ring.field == QQ else element(ring, polynomial)


def flat(items: Iterable[Any]) -> Iterator[Any]:
    """The items, and those of lists and tuples among them."""
    for item in items:
        if isinstance(item, list | tuple):
            yield from flat(item)
        else:
            yield item


def ring_variables(value: Any) -> tuple[str, ...] | None:
    """The variables of the ring of a polynomial; ``None`` if it belongs to no ring."""
    return _names(value) if isinstance(value, PolyElement | Poly | _Flint) else None


def occurring_names(value: Any) -> Iterable[str]:
    """The names that occur in text or in an expression."""
    if isinstance(value, str):
        return names_in(value)
    return (str(symbol) for symbol in value.free_symbols) if isinstance(value, Expr) else ()


def _names(polynomial: Any) -> tuple[str, ...]:
    """The variables of the ring of a polynomial."""
    if isinstance(polynomial, PolyElement):
        return tuple(map(str, polynomial.ring.symbols))
    return tuple(map(str, polynomial.gens if isinstance(polynomial, Poly) else polynomial.context().names()))


def own_field(value: Any) -> CoefficientField | None:
    """The field of the coefficients of a polynomial; ``None`` if it says none."""
    if isinstance(value, PolyElement | Poly):
        domain = value.ring.domain if isinstance(value, PolyElement) else value.domain
        return CoefficientField(int(domain.characteristic()))
    if isinstance(value, flint.nmod_mpoly | flint.fmpz_mod_mpoly):
        return CoefficientField(int(value.context().modulus()))
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
    coefficients = {}
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
        coefficients[tuple(exponents)] = domain(coefficient.numerator) / divisor
    return ring.sympy_ring.from_dict({m: c for m, c in coefficients.items() if c})


def _plain(expression: Expr) -> Expr:
    """The expression in symbols without assumptions, which name the variables of rings."""
    plain = {symbol: Symbol(symbol.name) for symbol in expression.free_symbols}
    if len(set(plain.values())) < len(plain):
        raise ConversionError(f"'{expression}' has different symbols with one name")
    return expression.xreplace({symbol: name for symbol, name in plain.items() if symbol != name})
