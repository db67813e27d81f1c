"""Ideals from polynomials as people have them: SymPy's, FLINT's, or text, read by a strict parser."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from numbers import Number
from typing import Any

import flint
from sympy import Expr, Poly, Symbol
from sympy.polys.rings import PolyElement

from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.algebra.ring import Ideal, PolynomialRing, is_name, not_a_name
from m2bridge.convert.polynomial_text import names_in, read_polynomial
from m2bridge.errors import ConversionError, InvalidCaseError

_Flint = flint.fmpz_mpoly | flint.fmpq_mpoly | flint.nmod_mpoly | flint.fmpz_mod_mpoly


def ideal(
    *generators: Any,
    variables: str | Sequence[str | Symbol] | None = None,
    field: CoefficientField | None = None,
) -> Ideal:
    """The ideal that polynomials generate.

    Parameters
    ----------
    generators : polynomials, or lists of them
        SymPy expressions, ``Poly`` or elements of its polynomial rings, multivariate polynomials of python-flint,
        exact numbers, or text such as ``"x^2 - 2/3*y*z"``, which a strict parser reads; nothing is evaluated.
    variables : sequence of str or sympy.Symbol, or one string such as "x y z", optional
        Of the ring, in this order, which matters for Gröbner bases. When left out, those of the ring of the first
        generator that has one; else all that occur, in alphabetical order, numbers in names by their value.
    field : CoefficientField, optional
        When left out, that of the first generator that has one; else QQ.

    Raises
    ------
    ConversionError
        If something is not an exact polynomial in the variables over the field, or no variables are known.
    InvalidCaseError
        If the field is none.

    Examples
    --------
    >>> from sympy import symbols
    >>> x, y, z = symbols("x y z")
    >>> print(ideal(x**2 - y*z, x*y))
    ideal(x**2 - y*z, x*y) of QQ[x, y, z]
    >>> print(ideal("x^2 - 1/2*y", variables=["y", "x"], field=CoefficientField(7)))
    ideal(x**2 + 3*y) of GF(7)[y, x]
    """
    listed = list(flat(generators))
    for item in listed:
        _check(item)
    if field is not None and not isinstance(field, CoefficientField):
        raise InvalidCaseError("field", f"must be m2bridge.QQ or CoefficientField(p), not {field!r:.60}")
    ring = PolynomialRing(field or _field(listed), _variables(listed, variables))
    return Ideal(ring, tuple(filter(None, (element(ring, given) for given in listed))))


def _check(given: object) -> None:
    """Raise ConversionError if something is nothing like a polynomial."""
    if not isinstance(given, str | Expr | Poly | PolyElement | _Flint | Number | flint.fmpz | flint.fmpq):
        its = (
            "its generators are ideal.generators" if isinstance(given, Ideal) else "give polynomials, or lists of them"
        )
        raise ConversionError(f"a {type(given).__name__} is not a polynomial: {its}")


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


def _variables(listed: Sequence[Any], variables: str | Sequence[str | Symbol] | None) -> tuple[str, ...]:
    if variables is not None:
        listed = variables.replace(",", " ").split() if isinstance(variables, str) else variables
        return tuple(map(_variable, listed))
    owned = next((_names(item) for item in listed if isinstance(item, PolyElement | Poly | _Flint)), None)
    if owned is not None:
        return owned
    found = {name for item in listed for name in _free_names(item)}
    if not found:
        raise ConversionError("no variables occur: name those of the ring, as in ideal(0, variables=['x', 'y'])")
    return tuple(sorted(found, key=_natural))


def _variable(given: object) -> str:
    if isinstance(given, Symbol):
        return str(given.name)
    if not isinstance(given, str) or not is_name(given):
        raise not_a_name(given)
    return given


def _free_names(given: Any) -> Iterable[str]:
    if isinstance(given, str):
        return names_in(given)
    return (str(symbol) for symbol in given.free_symbols) if isinstance(given, Expr) else ()


def _natural(name: str) -> list[tuple[int, str]]:
    """A key by which x_2 comes before x_10."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", name)]


def _names(given: Any) -> tuple[str, ...]:
    """The variables of the ring of a polynomial."""
    if isinstance(given, PolyElement):
        return tuple(map(str, given.ring.symbols))
    return tuple(map(str, given.gens if isinstance(given, Poly) else given.context().names()))


def _field(listed: Sequence[Any]) -> CoefficientField:
    """The field of the first polynomial that has one."""
    for item in listed:
        if isinstance(item, PolyElement | Poly):
            domain = item.ring.domain if isinstance(item, PolyElement) else item.domain
            return CoefficientField(int(domain.characteristic()))
        if isinstance(item, flint.nmod_mpoly | flint.fmpz_mod_mpoly):
            return CoefficientField(int(item.context().modulus()))
    return QQ


def _number(domain: Any, coefficient: Any) -> Fraction:
    """A coefficient of ZZ, QQ or GF(p) as a number."""
    if domain.is_FiniteField:
        return Fraction(int(domain.to_int(coefficient)))
    if not (domain.is_ZZ or domain.is_QQ):
        raise ConversionError(f"coefficients in {domain}; they must be in ZZ, QQ or GF(p)")
    return Fraction(int(coefficient.numerator), int(coefficient.denominator))


def _flint_number(coefficient: Any) -> Fraction:
    if isinstance(coefficient, flint.fmpq):
        return Fraction(int(coefficient.p), int(coefficient.q))
    return Fraction(int(coefficient))


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
