"""Python to Macaulay2: values as calls of the functions in ``m2scripts/values.m2``.

Nothing is evaluated as text: integers, strings and lists are literals, all else is made by functions whose names nobody
can hide. The classes are listed in docs/values.md. Most of :mod:`m2bridge.workspace.values` are written as a call of
the function with the name of the class, on its fields; others have an encoder of their own, those of other libraries
in :mod:`~m2bridge.workspace.bindings`."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from fractions import Fraction
from functools import singledispatch
from itertools import compress, count
from typing import Any

import flint
from sympy import Poly
from sympy.polys.fields import FracElement
from sympy.polys.orderings import grevlex
from sympy.polys.rings import PolyElement, PolyRing

from m2bridge.algebra.field import CoefficientField
from m2bridge.algebra.polynomial_map import PolynomialMap
from m2bridge.algebra.ring import GeneratingSet, PolynomialRing
from m2bridge.convert.macaulay2 import coefficient_writer, escaped, rational
from m2bridge.engine.session import quoted
from m2bridge.errors import ConversionError
from m2bridge.system import decimal
from m2bridge.workspace import values
from m2bridge.workspace.values.rings import ORDERS

_GROUP = 1000


@singledispatch
def encode(value: Any) -> str:
    """The value as a Macaulay2 expression.

    Raises
    ------
    ConversionError
        If it has no counterpart, or is not exact.
    """
    raise ConversionError(f"a {type(value).__name__} has no counterpart in Macaulay2")


def string(text: str) -> str:
    """A string of Macaulay2; its bytes are those of the text in UTF-8.

    Raises
    ------
    ConversionError
        If the text has half a surrogate pair that stands for no byte.
    """
    try:
        return quoted(text.encode("utf-8", "surrogateescape"))
    except UnicodeEncodeError as reason:
        raise ConversionError(f"text with half a surrogate pair is no UTF-8: {text!a:.60}") from reason


def braces(items: Any) -> str:
    """A list."""
    return "{" + ",".join(items) + "}"


def literal(value: Any) -> str:
    """A text, a truth value, ``None``, an element of a ring that is known, or a list of such."""
    if isinstance(value, tuple | list):
        return grouped([literal(item) for item in value])
    return encode(value) if value is None or isinstance(value, str | bool) else scalar(value)


def items(listed: Iterable[Any]) -> str:
    """A list of values."""
    return grouped([encode(value) for value in listed])


def grouped(items: list[str]) -> str:
    """A list of any length; Macaulay2 takes no literal with very many items."""
    if len(items) <= _GROUP:
        return braces(items)
    size = max(_GROUP, -(-len(items) // _GROUP))
    return f"mbTogether {braces(grouped(items[start : start + size]) for start in range(0, len(items), size))}"


def inexact(what: str) -> ConversionError:
    """The error for inexact input."""
    return ConversionError(
        f"{what}: not exact. Write fractions as fractions.Fraction or sympy.Rational; a number that is meant to be "
        "inexact as m2bridge.workspace.values.Real.of(number)"
    )


def scalar(value: Any) -> str:
    """An element of a ring, or a number that is one."""
    if hasattr(value, "to_int") or isinstance(value, flint.nmod):
        return str(int(value))
    if hasattr(value, "numerator") and not callable(value.numerator) and not isinstance(value, values.RingFraction):
        return rational(value)
    return encode(value)


@encode.register(float)
@encode.register(complex)
def _(value: Any) -> str:
    raise inexact(f"{value!r} is a {type(value).__name__}")


@encode.register(dict)
@encode.register(values.HashTable)
def _(value: Any) -> str:
    pairs = grouped([f"({encode(k)},{encode(v)})" for k, v in value.items()])
    kind = type(value).__name__ if isinstance(value, values.HashTable) else "HashTable"
    return f"(mbHashTable({string(kind)}, {pairs}))"


def _call(value: Any) -> str:
    """The function that has the name of the class, with the fields."""
    parts = {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, values.Algebra):
        parts["variables"] = variable_parts(value.variables)
    return f"(mb{type(value).__name__}({', '.join(map(literal, parts.values()))}))"


@encode.register
def _(value: values.ComplexNumber) -> str:
    specials = {value.real.special, value.imaginary.special}
    if specials & {"inf", "-inf"}:  # both parts are infinite then in Macaulay2 1.26
        raise ConversionError("an infinite complex number has no parts in Macaulay2: give its parts as real numbers")
    if "nan" in specials and len(specials) > 1:  # both parts are NaN then
        raise ConversionError("in Macaulay2 both parts of a complex number are NaN, or none: give them as real numbers")
    return _call(value)


SYMBOL = re.compile(r"[^\W\d_][^\W_]*")
"""A symbol of Macaulay2."""


def _kept(value: Any) -> str:
    """A ring that is made once; equal ones are written in the same way."""
    code = _call(value)
    return f"(mbGiven({string(code)}, () -> {code}))"


def variable_parts(names: Sequence[str]) -> list[list[str | int]]:
    """Symbol and indices of each variable: ``x_1_a`` is Macaulay2's ``x_(1,a)``.

    A name that is no symbol of Macaulay2's, or is used with indices too, is written in letters and digits, by the
    scheme of :mod:`m2bridge.convert.macaulay2`.
    """
    parts = [_parts(name) for name in names]
    indexed = {p[0] for p in parts if len(p) > 1}
    return [
        [escaped(name, plain=True)] if len(p) == 1 and p[0] in indexed else p
        for name, p in zip(names, parts, strict=True)
    ]


def _parts(name: str) -> list[str | int]:
    base, *indices = name.split("_")
    if SYMBOL.fullmatch(base) and all(re.fullmatch(r"0|-?[1-9]\d*", i) or SYMBOL.fullmatch(i) for i in indices):
        return [base, *(i if SYMBOL.fullmatch(i) else int(i) for i in indices)]
    return [escaped(name)]


def ring_of_sympy(value: PolyRing) -> values.Algebra:
    """The ring of a SymPy polynomial.

    Raises
    ------
    ConversionError
        If its coefficients or its order have no counterpart.
    """
    names = tuple(str(symbol) for symbol in value.symbols)
    if value.order not in ORDERS:
        raise ConversionError(f"the monomial order {value.order} has no counterpart; use lex, grlex or grevlex")
    return values.Algebra(ring_of_domain(value.domain), names, order=ORDERS[value.order](len(names)))


def ring_of_domain(domain: Any) -> Any:
    """The ring of a SymPy domain."""
    if domain.is_ZZ:
        return values.IntegerRing()
    if domain.is_QQ or domain.is_FiniteField:
        return CoefficientField(int(domain.characteristic()))
    if domain.is_PolynomialRing:
        return ring_of_sympy(domain.ring)
    if domain.is_FractionField:
        return values.FractionField(ring_of_sympy(domain.field.ring))
    if not domain.is_Exact:
        raise inexact(f"coefficients in {domain}")
    raise ConversionError(f"coefficients in {domain} have no counterpart; use ZZ, QQ or GF(p)")


_MANY = 200
"""Terms from which on a polynomial is written for speed."""
_SHIFT = 32
"""From numbers to characters, which are none of those that control."""
_CHARACTERS = 0xD800 - _SHIFT
"""The number of characters that follow without a gap."""

Term = tuple[tuple[int, ...], str]
Terms = Iterable[Term]


def polynomial(over: Any, terms: Terms) -> str:
    """An element of a ring; large ones with numbers for coefficients in a form that Macaulay2 reads faster."""
    listed = list(terms)
    plain = isinstance(over, values.Algebra) and isinstance(over.coefficients, values.IntegerRing | CoefficientField)
    if plain and len(listed) >= _MANY:
        factors = [_factors(exponents) for exponents, _ in listed]
        powers = sorted({power for monomial in factors for power in monomial})
        if len(powers) <= _CHARACTERS:
            return _packed(over, powers, factors, [coefficient for _, coefficient in listed])
    return f"mbSparse({encode(over)}, {sparse(sorted(listed))})"


def _factors(exponents: tuple[int, ...]) -> list[tuple[int, int]]:
    """The variables of a monomial with their exponents; most exponents are zero."""
    return list(zip(compress(count(), exponents), filter(None, exponents), strict=True))


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
    return f'mbPolynomial({encode(over)}, {grouped([number for _, _, number in terms])}, {table}, "{text}")'


def sparse(terms: Terms) -> str:
    """The list of terms ``{coefficient, variable, exponent, ..}`` of a polynomial."""
    powers = (("".join([f",{place},{e}" for place, e in _factors(m)]), coefficient) for m, coefficient in terms)
    return grouped([f"{{{coefficient}{factors}}}" for factors, coefficient in powers])


def terms(value: PolyElement) -> list[Term]:
    """The terms of a polynomial, with their coefficients written."""
    domain = value.ring.domain
    numbers = domain.is_FiniteField or domain.is_ZZ or domain.is_QQ
    number = coefficient_writer(domain) if numbers else encode
    return [(monomial, number(coefficient)) for monomial, coefficient in value.items()]


@encode.register
def _(value: values.RingElement) -> str:
    return polynomial(value.ring, ((exponents, scalar(coefficient)) for exponents, coefficient in value.terms))


def _new(kind: str, parts: Iterable[Any]) -> str:
    return f"(mbNew({string(kind)}, {items(parts)}))"


_ENCODERS: dict[Any, Callable[[Any], str]] = {
    type(None): lambda value: "null",
    bool: lambda value: "true" if value else "false",
    int: lambda value: f"({decimal(value)})",
    Fraction: lambda value: f"(({decimal(value.numerator)})/{decimal(value.denominator)})",
    str: lambda value: string(value),
    list: lambda value: items(value),
    tuple: lambda value: f"(toSequence {items(value)})",
    set | frozenset | values.Set: lambda value: f"(set {items(value)})",
    values.Option: lambda value: f"({encode(value.key)} => {encode(value.value)})",
    values.Array | values.MutableList | values.Partition: lambda value: _new(type(value).__name__, value),
    values.Expression: lambda value: _new(value.kind, value.parts),
    values.Factorization: lambda value: f"(mbFactorization {items(value.factors)})",
    values.Symbol: lambda value: f"(mbSymbol({string(value.name)}, {encode(value.index)}))",
    CoefficientField | values.IntegerRing | values.RealField | values.ComplexField: _call,
    values.Algebra | values.QuotientRing | values.GaloisField | values.FractionField: _kept,
    values.Real | values.RealInterval | values.RingFraction | values.Net | values.Reference: _call,
    values.Module | values.Matrix | values.MutableMatrix | values.Vector | values.GroebnerBasis | values.RingMap: _call,
    values.GeneralIdeal | values.MonomialIdeal | values.Complex | values.ComplexMap: _call,
    values.BettiTable | values.HilbertPolynomial: _call,
    GeneratingSet: lambda value: encode(values.GeneralIdeal(value.ring, value.generators)),
    PolynomialRing: lambda value: encode(values.Algebra(value.field, value.variables)),
    PolynomialMap: lambda value: encode(values.RingMap(value.source, value.target(), value.images)),
    PolyRing: lambda value: encode(ring_of_sympy(value)),
    PolyElement: lambda value: polynomial(ring_of_sympy(value.ring), terms(value)),
    Poly: lambda value: encode(PolyRing(value.gens, value.domain, grevlex).from_dict(value.rep.to_dict())),
    FracElement: lambda value: encode(
        values.RingFraction(ring_of_domain(value.field.to_domain()), value.numer, value.denom)
    ),
}
for _kinds, _encoder in _ENCODERS.items():
    encode.register(_kinds, _encoder)
