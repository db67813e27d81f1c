"""Macaulay2 to Python: reads the wire format written by ``m2scripts/wire.m2``.

===============================  ==================================================
Macaulay2                        Python
===============================  ==================================================
ZZ                               int
QQ                               fractions.Fraction
element of ZZ/p                  element of ``sympy.GF(p)``
String, Boolean, null            str, bool, None
List, Sequence                   list, tuple
element of a polynomial ring     sympy.polys.rings.PolyElement
Ideal                            m2bridge.algebra.ring.GeneratingSet
Matrix over a polynomial ring    m2bridge.convert.wire.PolynomialMatrix
===============================  ==================================================

Values of a workspace have a reader of their own, :mod:`m2bridge.workspace.decode`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sympy import ZZ
from sympy.polys.polyerrors import BasePolynomialError
from sympy.polys.rings import PolyElement, PolyRing

from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.algebra.ring import GeneratingSet, PolynomialRing
from m2bridge.convert.names import from_macaulay2
from m2bridge.errors import M2BridgeError, ParseError
from m2bridge.system import integer

FAULTS = (TypeError, ValueError, LookupError, ArithmeticError, AttributeError, RecursionError, BasePolynomialError)
"""What readers of foreign data that does not follow the format may raise."""


@dataclass(frozen=True, slots=True)
class PolynomialMatrix:
    """A matrix over a polynomial ring, row by row."""

    ring: PolyRing
    rows: tuple[tuple[PolyElement, ...], ...]
    columns: int


def decode(value: Any) -> Any:
    """Read one value of the wire format, as JSON has it, as a Python object.

    Raises
    ------
    ParseError
        If it does not follow the format.
    """
    if value is None or isinstance(value, bool | str):
        return value
    try:
        tag, *arguments = value
        return _READERS[tag](*arguments)
    except M2BridgeError:
        raise
    except FAULTS as reason:
        raise ParseError(f"not a value of the wire format: {json.dumps(value)[:120]}") from reason


def _prime_field_element(characteristic: str, residue: str) -> Any:
    return CoefficientField(integer(characteristic)).domain(integer(residue))


def _ring_element(ring: list[Any], terms: list[Any]) -> PolyElement:
    return _polynomials(_sympy_ring(ring), [terms])[0]


def _ideal(ring: list[Any], generators: list[Any]) -> GeneratingSet:
    field, names = _ring_description(ring)
    if field is None:
        raise ParseError("ideals over ZZ have no counterpart in m2bridge; work over QQ or GF(p)")
    described = PolynomialRing(field, names)
    return GeneratingSet(described, tuple(g for g in _polynomials(described.sympy_ring, generators) if g))


def _matrix(ring: list[Any], rows: int, columns: int, entries: list[Any]) -> PolynomialMatrix:
    if len(entries) != rows * columns:
        raise ParseError(f"{len(entries)} entries for a matrix of {rows} rows and {columns} columns")
    over = _sympy_ring(ring)
    listed = _polynomials(over, entries)
    return PolynomialMatrix(over, tuple(tuple(listed[i * columns : (i + 1) * columns]) for i in range(rows)), columns)


def _sympy_ring(ring: list[Any]) -> PolyRing:
    field, names = _ring_description(ring)
    over = PolynomialRing(field or QQ, names).sympy_ring
    return over if field else over.clone(domain=ZZ)


def _ring_description(ring: list[Any]) -> tuple[CoefficientField | None, tuple[str, ...]]:
    """Coefficient field (``None`` for ZZ) and names of the variables."""
    tag, field, variables = ring
    if tag != "PolynomialRing":
        raise ParseError(f"not a ring of the wire format: {json.dumps(ring)[:120]}")
    return _FIELDS[field[0]](*field[1:]), tuple(from_macaulay2(base, index) for base, *index in variables)


def _polynomials(ring: PolyRing, listed: list[Any]) -> list[PolyElement]:
    coefficients: dict[str, Any] = {}
    domain, width = ring.domain, ring.ngens

    def polynomial(terms: list[Any]) -> PolyElement:
        element = ring.zero
        for exponents, text in terms:
            coefficient = coefficients.get(text)
            if coefficient is None:
                coefficient = coefficients[text] = _coefficient(domain, text)
            if len(exponents) != width:
                raise ParseError(f"a monomial with {len(exponents)} exponents in a ring of {width} variables")
            element[tuple(exponents)] = coefficient
        if len(element) != len(terms):
            raise ParseError("a monomial occurs twice in one polynomial")
        return element

    return [polynomial(terms) for terms in listed]


def _coefficient(domain: Any, text: str) -> Any:
    numerator, _, denominator = text.partition("/")
    value = domain(integer(numerator), integer(denominator)) if denominator else domain(integer(numerator))
    if not value:
        raise ParseError("a term with coefficient zero")
    return value


_FIELDS: dict[str, Callable[..., CoefficientField | None]] = {
    "ZZ": lambda: None,
    "QQ": lambda: QQ,
    "ZZ/p": lambda p: CoefficientField(integer(p)),
}

_READERS: dict[str, Callable[..., Any]] = {
    "ZZ": integer,
    "QQ": lambda text: Fraction(*(integer(part) for part in text.split("/"))),
    "ZZ/p": _prime_field_element,
    "List": lambda items: [decode(item) for item in items],
    "Sequence": lambda items: tuple(decode(item) for item in items),
    "RingElement": _ring_element,
    "Ideal": _ideal,
    "Matrix": _matrix,
}
