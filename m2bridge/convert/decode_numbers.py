"""Numbers and polynomials in the text that Macaulay2 sends, for programs and workspaces alike.

These are the loops in which the time of large values goes: each text of a number or a power is read
once, however often it occurs. A term has exponents and a coefficient, as a text such as ``3/7`` or
as other data. What does not follow the format is a ParseError, also a term that is zero or occurs
twice. ``places`` are the places of variables, from 0 on, by name.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from typing import Any

from sympy.polys.rings import PolyElement, PolyRing

from m2bridge.algebra.extension_field import ExtensionField
from m2bridge.errors import ParseError
from m2bridge.system import integer

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
    terms: list[DenseTerm] = []
    for coefficient, powers in _sparse_terms(data):
        exponents = [0] * variables
        for place, exponent in powers:
            exponents[place] = exponent
        terms.append((tuple(exponents), coefficient))
    return terms


def _sparse_terms(data: list[Any]) -> Iterable[tuple[Any, Powers]]:
    """The coefficient and the powers of variables of each term, from data of
    :func:`dense_terms`.
    """
    if data and data[0] == "Text":
        _, names, count, text = data
        return _terms_of_text(names, count, text)
    return _terms_of_list(data)


def _terms_of_list(data: list[Any]) -> Iterator[tuple[Any, Powers]]:
    """Yield coefficient and powers of each term: of ``["3", 0, 2, 1, 1]``, which is 3*x^2*y, these
    are ``"3"`` and the pairs (0, 2) and (1, 1).
    """
    for term in data:
        places, exponents = term[1::2], term[2::2]
        yield term[0], zip(places, exponents, strict=True)


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
            if power not in places_and_exponents:
                places_and_exponents[power] = _power(power, places)
        coefficient = sign + (number or "1")
        yield coefficient, [places_and_exponents[power] for power in powers]


def _power(text: str, places: dict[str, int]) -> tuple[int, int]:
    """The place of the variable, and the exponent, of a power such as ``x_1^2`` or ``y3``."""
    match = _NAME_AND_EXPONENT.fullmatch(text)
    if match is None or match[1] not in places:
        raise ParseError(f"not a power of a variable: {text!r:.120}")
    name, exponent = match.groups()
    return places[name], integer(exponent or "1")
