"""The one reader of the values that Macaulay2 sends, as lines of JSON.

Answers of programs, which ``m2scripts/wire.m2`` writes, have few types and describe each value in
full; :func:`decode` reads them:

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
Matrix over a polynomial ring    m2bridge.convert.decode.PolynomialMatrix
===============================  ==================================================

Values of workspaces, which ``m2scripts/values.m2`` writes, are of any type and name rings by their
places in a table; :func:`decode_value` reads them, by :mod:`m2bridge.convert.decode_values`.
Numbers and polynomials of both are read by :mod:`m2bridge.convert.decode_numbers`. Data that do not
follow the format are a ParseError.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sympy.polys.domains.fractionfield import FractionField
from sympy.polys.polyerrors import BasePolynomialError
from sympy.polys.rings import PolyElement, PolyRing

from m2bridge.algebra.extension_field import ExtensionDomain, ExtensionField, extension_field_of
from m2bridge.algebra.field import QQ, ZZ, CoefficientField
from m2bridge.algebra.ring import GeneratingSet, PolynomialRing
from m2bridge.convert.decode_numbers import extension_reader, polynomial_reader, rational
from m2bridge.convert.m2_syntax import from_macaulay2
from m2bridge.errors import M2BridgeError, ParseError
from m2bridge.system import integer

FAULTS = (
    TypeError,
    ValueError,
    LookupError,
    ArithmeticError,
    AttributeError,
    RecursionError,
    BasePolynomialError,
)
"""Exceptions that data which do not follow the format can cause."""


@dataclass(frozen=True, slots=True)
class PolynomialMatrix:
    """A matrix over ``ring``, by the entries of each row."""

    ring: PolyRing
    rows: tuple[tuple[PolyElement, ...], ...]
    columns: int  # which cannot be seen if there are no rows


def decode(value: Any) -> Any:
    """Read one value of an answer, as JSON has it, as a Python object; ParseError if it does not
    follow the format.
    """
    if value is None or isinstance(value, bool | str):
        return value
    try:
        tag, *arguments = value
        return _READERS[tag](*arguments)
    except M2BridgeError:
        raise
    except FAULTS as reason:
        raise _no_value(value) from reason


def decode_value(
    value: Any, make_ideal: Callable[[PolynomialRing, tuple[PolyElement, ...]], Any]
) -> Any:
    """Read one value of a workspace; ``None`` for no value, ValueTypeError for one without a
    counterpart in Python. ``make_ideal`` makes an ideal, since ideals with methods are defined in a
    higher layer.
    """
    if value is None:
        return None
    # The module has many classes, which programs do not need, so it is imported here.
    from m2bridge.convert.decode_values import ValueReader

    try:
        tag, ring_table, content = value  # ["Value", table of rings, value that names its places]
        if tag != "Value":
            raise ParseError(f"not a value of a workspace: {json.dumps(value)[:120]}")
        return ValueReader(ring_table, make_ideal).read(content)
    except M2BridgeError:
        raise
    except FAULTS as reason:
        raise _no_value(value) from reason


def _no_value(value: Any) -> ParseError:
    """The error for data that do not follow the format; its message quotes their beginning."""
    return ParseError(f"not a value of the wire format: {json.dumps(value)[:120]}")


# The readers of one type of data each. Polynomials are lists of terms, [exponents, coefficient];
# rings are ["PolynomialRing", field, variables], and a variable is a list of base and indices.


def _residue(p: str, residue: str) -> Any:
    """An element of ZZ/p, from the texts of p and of an integer in the residue class."""
    domain = CoefficientField(integer(p)).domain
    return domain(integer(residue))


def _list(items: list[Any]) -> list[Any]:
    """A list of values."""
    return [decode(item) for item in items]


def _element(ring_data: list[Any], terms: list[Any]) -> PolyElement:
    """A polynomial, from its ring and its terms."""
    (element,) = _polynomials(_sympy_ring(ring_data), [terms])
    return element


def _ideal(ring_data: list[Any], generators: list[Any]) -> GeneratingSet:
    """An ideal, from its ring and the terms of each generator."""
    ring = PolynomialRing(*_field_and_variables(ring_data))
    elements = _polynomials(ring.sympy_ring, generators)
    # The zero ideal has a generator in Macaulay2, which is 0.
    return GeneratingSet(ring, tuple(g for g in elements if g))


def _matrix(ring_data: list[Any], rows: int, columns: int, entries: list[Any]) -> PolynomialMatrix:
    """A matrix, from its ring and the terms of its entries, row by row."""
    if len(entries) != rows * columns:
        raise ParseError(
            f"{len(entries)} entries for a matrix of {rows} rows and {columns} columns"
        )
    ring = _sympy_ring(ring_data)
    polynomials = _polynomials(ring, entries)
    starts = [row * columns for row in range(rows)]
    matrix_rows = tuple(tuple(polynomials[start : start + columns]) for start in starts)
    return PolynomialMatrix(ring, matrix_rows, columns)


def _sympy_ring(ring_data: list[Any]) -> PolyRing:
    """SymPy's ring over a field or ZZ, from ``["PolynomialRing", field, variables]``."""
    return PolynomialRing(*_field_and_variables(ring_data)).sympy_ring


def _field_and_variables(ring_data: list[Any]) -> tuple[CoefficientField, tuple[str, ...]]:
    """Coefficient field, or ZZ, and names of the variables of a ring: GF(7), x and c_1_2 from
    ``["PolynomialRing", ["ZZ/p", "7"], [["x"], ["c", 1, 2]]]``.
    """
    tag, field, variables = ring_data
    if tag != "PolynomialRing":
        raise ParseError(f"not a ring of the wire format: {json.dumps(ring_data)[:120]}")
    kind, *arguments = field
    return _FIELDS[kind](*arguments), _names(variables)


def _names(variables: list[list[Any]]) -> tuple[str, ...]:
    """The names of variables: ``("c_1_2",)`` from ``[["c", 1, 2]]``, a base and its indices."""
    return tuple(from_macaulay2(base, index) for base, *index in variables)


def _extension(prime: list[Any], variables: list[list[Any]], relation: list[Any]) -> ExtensionField:
    """The field with these generators over the field ``prime``; ``relation`` has the terms of the
    minimal polynomial, ``[[[2], "1"], [[0], "1"]]`` for i^2 + 1, and is empty if they are
    parameters.
    """
    kind, *arguments = prime
    base = _FIELDS[kind](*arguments)
    if not base.is_field:
        raise ParseError("fractions of polynomials over ZZ have no counterpart in m2bridge")
    coefficients = {exponent: rational(text) for (exponent,), text in relation}
    degree = max(coefficients, default=-1)  # -1 for no relation, which has no coefficients
    polynomial = tuple(coefficients.get(exponent, Fraction(0)) for exponent in range(degree + 1))
    return ExtensionField(base.characteristic, _names(variables), polynomial)


def _polynomials(ring: PolyRing, listed: list[Any]) -> list[PolyElement]:
    """The polynomials of a ring, from a list of terms for each."""
    read: Callable[[list[Any]], PolyElement] = polynomial_reader(ring)
    if isinstance(ring.domain, ExtensionDomain | FractionField):
        read = extension_reader(extension_field_of(ring.domain), ring)
    polynomials = []
    for terms in listed:
        for exponents, _ in terms:
            if len(exponents) != ring.ngens:
                raise ParseError(
                    f"a monomial with {len(exponents)} exponents in a ring of {ring.ngens}"
                    " variables"
                )
        polynomials.append(read([(tuple(exponents), number) for exponents, number in terms]))
    return polynomials


_FIELDS: dict[str, Callable[..., CoefficientField]] = {
    "ZZ": lambda: ZZ,
    "QQ": lambda: QQ,
    "ZZ/p": lambda p: CoefficientField(integer(p)),
    "Extension": _extension,
}

_READERS: dict[str, Callable[..., Any]] = {
    "ZZ": integer,
    "QQ": rational,
    "ZZ/p": _residue,
    "List": _list,
    "Sequence": lambda items: tuple(_list(items)),
    "RingElement": _element,
    "Ideal": _ideal,
    "Matrix": _matrix,
}
