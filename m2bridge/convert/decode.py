"""Values that Macaulay2 sends, as lines of JSON.

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
places in a table; :mod:`m2bridge.convert.decode_values` reads them.

Numbers and polynomials of both are read here, in the loops in which the time of large values goes:
each text of a number or a power is read once, however often it occurs. A term has exponents and a
coefficient, as a text such as ``3/7`` or as other data. ``places`` are the places of variables,
from 0 on, by name.

Data that do not follow the format are a ParseError, also a term that is zero or occurs twice.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sympy.polys.domains.fractionfield import FractionField
from sympy.polys.polyerrors import BasePolynomialError
from sympy.polys.rings import PolyElement, PolyRing

from m2bridge.algebra.extension_field import ExtensionDomain, ExtensionField, extension_field_of
from m2bridge.algebra.field import QQ, ZZ, CoefficientField
from m2bridge.algebra.ring import GeneratingSet, PolynomialRing
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
        raise no_value(value) from reason


def no_value(value: Any) -> ParseError:
    """The error for data that do not follow the format, of which it quotes the beginning."""
    return ParseError(f"not a value of the wire format: {json.dumps(value)[:120]}")


# The readers of one type of data each in an answer. Polynomials are lists of terms, [exponents,
# coefficient]; rings are ["PolynomialRing", field, variables], and a variable is a list of base and
# indices.


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


# Numbers and polynomials.

Powers = Iterable[tuple[int, int]]
"""Pairs of the place of a variable, from 0 on, and its exponent."""

DenseTerm = tuple[tuple[int, ...], Any]
"""The exponents of all variables, and the coefficient as Macaulay2 sends it."""

_NAME = r"[A-Za-z]'*(?:_(?:[0-9]+|\([0-9,]+\)))?"
"""A variable, as x', x_1 or x_(1,2)."""
_POWER = re.compile(rf"{_NAME}\^?[0-9]*")
_NAME_AND_EXPONENT = re.compile(rf"({_NAME})(?:\^?([0-9]+))?")
_TERM = re.compile(r"(-?)([0-9]+(?:/[0-9]+)?)?(.*)")
"""Sign, coefficient and monomial."""


def rational(text: str) -> Fraction:
    """The fraction that a text such as ``3/7`` or ``3`` stands for, of any length."""
    return Fraction(*map(integer, text.split("/")))


def polynomial_reader(ring: PolyRing) -> Callable[[list[DenseTerm]], PolyElement]:
    """Return a function that makes a polynomial of a ring from its terms, whose coefficients are
    texts.
    """
    # Few coefficients occur often: each text is read once for all polynomials.
    numbers: dict[str, Any] = {}

    def read(terms: list[DenseTerm]) -> PolyElement:
        """The polynomial with these terms."""
        texts = {text for _, text in terms}
        for text in texts - numbers.keys():
            parts = map(integer, text.split("/"))  # an integer, or numerator and denominator
            number = ring.domain(*parts)
            if not number:
                raise ParseError("a term with coefficient zero")
            numbers[text] = number
        element = ring.zero
        element.update([(exponents, numbers[text]) for exponents, text in terms])
        # A polynomial is a dictionary: of two terms with one monomial it would keep the last.
        if len(element) != len(terms):
            raise ParseError("a monomial occurs twice in one polynomial")
        return element

    return read


def extension_reader(field: ExtensionField, ring: PolyRing) -> Callable[[list[Any]], PolyElement]:
    """Return a function that makes a polynomial over an extension field from its terms. A
    coefficient is a list of terms in the generators, ``[[[1], "2"], [[0], "-1"]]`` for 2*i - 1; in
    a field with parameters two such lists, for numerator and denominator.
    """

    def coefficient(data: list[Any]) -> Any:
        """The element of the field, from its terms, or from two such lists."""
        if field.minimal_polynomial:
            return field.element(_rational_terms(data))
        numerator, denominator = data
        return field.element(_rational_terms(numerator), _rational_terms(denominator))

    def read(terms: list[Any]) -> PolyElement:
        """The polynomial with these terms: exponents, and the data of a coefficient."""
        numbers = [(tuple(exponents), coefficient(data)) for exponents, data in terms]
        if not all(number for _, number in numbers):
            raise ParseError("a term with coefficient zero")
        element = ring.zero
        element.update(numbers)
        if len(element) != len(terms):
            raise ParseError("a monomial occurs twice in one polynomial")
        return element

    return read


def _rational_terms(data: list[Any]) -> dict[tuple[int, ...], Fraction]:
    """Exponents with coefficients: ``{(2,): 3/7}`` from the data ``[[[2], "3/7"]]``."""
    return {tuple(exponents): rational(text) for exponents, text in data}


def dense_terms(data: list[Any], variables: int) -> list[DenseTerm]:
    """The terms of a polynomial, with coefficients as they were sent.

    The data are terms ``[coefficient, variable, exponent, variable, exponent, ..]`` with variables
    by their places; or ``["Text", names, number of terms, text]`` with the text in which
    Macaulay2's engine writes the polynomial.
    """
    sparse_terms: Iterable[tuple[Any, Powers]]
    if data and data[0] == "Text":
        _, names, count, text = data
        sparse_terms = _terms_of_text(names, count, text)
    else:
        # of ["3", 0, 2, 1, 1], which is 3*x^2*y, the powers are the pairs (0, 2) and (1, 1)
        sparse_terms = ((term[0], zip(term[1::2], term[2::2], strict=True)) for term in data)
    terms: list[DenseTerm] = []
    for coefficient, powers in sparse_terms:
        exponents = [0] * variables
        for place, exponent in powers:
            exponents[place] = exponent
        terms.append((tuple(exponents), coefficient))
    return terms


def _terms_of_text(names: list[str], count: int, text: str) -> Iterator[tuple[str, Powers]]:
    """Yield coefficient and powers of each of the ``count`` terms of a text such as
    ``-3/2x_1^2y3+7``, in which only a variable begins with a letter, and y3 is y^3.
    """
    # Each term begins with a plus sign, which is cut off, or keeps its minus sign.
    terms = text.replace("-", "+-").removeprefix("+").split("+")
    if len(terms) != count:
        raise ParseError(f"{len(terms)} terms of {count}: {text!r:.120}")
    places = {name: place for place, name in enumerate(names)}
    # Each power, as x_1^2, is read once, since few different ones occur in many terms.
    places_and_exponents: dict[str, tuple[int, int]] = {}
    for term in terms:
        match = _TERM.fullmatch(term)
        if match is None:  # a line ends inside, which the engine never writes
            raise ParseError(f"not a term: {term!r:.120}")
        sign, number, monomial = match.groups()
        powers = _POWER.findall(monomial)
        is_understood = sum(map(len, powers)) == len(monomial)  # nothing stands between the powers
        is_empty = not number and not powers
        if not is_understood or is_empty:
            raise ParseError(f"not a term: {term!r:.120}")
        for power in powers:
            if power in places_and_exponents:
                continue
            parts = _NAME_AND_EXPONENT.fullmatch(power)
            if parts is None or parts[1] not in places:
                raise ParseError(f"not a power of a variable: {power!r:.120}")
            places_and_exponents[power] = places[parts[1]], integer(parts[2] or "1")
        coefficient = sign + (number or "1")
        yield coefficient, [places_and_exponents[power] for power in powers]


# The tables of the readers.

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
