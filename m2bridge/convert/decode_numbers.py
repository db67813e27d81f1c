"""Numbers and polynomials in the text that Macaulay2 sends, for programs and workspaces alike.

These are the loops in which the time of large values goes: each text of a number or a power is read
once, however often it occurs.
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
"""Places of variables with their exponents."""

DenseTerm = tuple[tuple[int, ...], Any]
"""The exponents of all variables, and the coefficient as Macaulay2 sends it."""

_NAME = r"[A-Za-z]'*(?:_(?:[0-9]+|\([0-9,]+\)))?"
_POWER = re.compile(rf"{_NAME}\^?[0-9]*")
_PARTS = re.compile(rf"({_NAME})(?:\^?([0-9]+))?")
_TERM = re.compile(r"(-?)([0-9]+(?:/[0-9]+)?)?(.*)")


def rational(text: str) -> Fraction:
    """``3/7`` or ``3``."""
    return Fraction(*map(integer, text.split("/")))


def polynomial_reader(ring: PolyRing) -> Callable[[list[DenseTerm]], PolyElement]:
    """Return a reader of polynomials from their terms, with the texts of coefficients."""
    # Few coefficients occur often: each text is read once for all polynomials.
    numbers: dict[str, Any] = {}

    def read(terms: list[DenseTerm]) -> PolyElement:
        texts = {text for _, text in terms}
        for text in texts - numbers.keys():
            number = ring.domain(*map(integer, text.split("/")))
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
    """Return a reader of polynomials over an extension field, whose coefficients are terms."""

    def constant(data: list[Any]) -> Any:
        if field.minimal_polynomial:
            return field.element(_rational_terms(data))
        above, below = data
        return field.element(_rational_terms(above), _rational_terms(below))

    def read(terms: list[Any]) -> PolyElement:
        numbers = [(tuple(exponents), constant(data)) for exponents, data in terms]
        if not all(number for _, number in numbers):
            raise ParseError("a term with coefficient zero")
        element = ring.zero
        element.update(numbers)
        if len(element) != len(terms):
            raise ParseError("a monomial occurs twice in one polynomial")
        return element

    return read


def _rational_terms(data: list[Any]) -> dict[tuple[int, ...], Fraction]:
    return {tuple(exponents): rational(text) for exponents, text in data}


def dense_terms(data: list[Any], width: int) -> list[DenseTerm]:
    """The terms of a polynomial, from sparse terms or the engine's text.

    Raises
    ------
    ParseError
        If a text does not have this form.
    """
    terms: list[DenseTerm] = []
    for coefficient, powers in _sparse_terms(data):
        exponents = [0] * width
        for place, exponent in powers:
            exponents[place] = exponent
        terms.append((tuple(exponents), coefficient))
    return terms


def _sparse_terms(data: list[Any]) -> Iterable[tuple[Any, Powers]]:
    if data and data[0] == "Text":
        _, names, size, text = data
        return _of_text(names, size, text)
    return _of_list(data)


def _of_list(data: list[Any]) -> Iterator[tuple[Any, Powers]]:
    """``[coefficient, variable, exponent, variable, exponent, ..]`` for each term."""
    for term in data:
        yield term[0], zip(term[1::2], term[2::2], strict=True)


def _of_text(names: list[str], size: int, text: str) -> Iterator[tuple[str, Powers]]:
    """``-3/2x_1^2y3+7``, read from left to right: only a variable begins with a letter.

    After a name of one letter the engine writes the exponent without a sign.
    """
    listed = text.replace("-", "+-").removeprefix("+").split("+")
    if len(listed) != size:
        raise ParseError(f"{len(listed)} terms of {size}: {text!r:.120}")
    places = {name: place for place, name in enumerate(names)}
    # Each power, as x_1^2, is read once, since few different ones occur in many terms.
    known: dict[str, tuple[int, int]] = {}
    for term in listed:
        match = _TERM.fullmatch(term)
        if match is None:  # a line ends inside, which the engine never writes
            raise ParseError(f"not a term: {term!r:.120}")
        sign, number, monomial = match.groups()
        powers = _POWER.findall(monomial)
        understood = sum(map(len, powers)) == len(monomial)
        if not understood or not (number or powers):
            raise ParseError(f"not a term: {term!r:.120}")
        for power in powers:
            if power not in known:
                known[power] = _power(power, places)
        coefficient = sign + (number or "1")
        yield coefficient, [known[power] for power in powers]


def _power(text: str, places: dict[str, int]) -> tuple[int, int]:
    """The place of a variable, and its exponent."""
    match = _PARTS.fullmatch(text)
    if match is None or match[1] not in places:
        raise ParseError(f"not a power of a variable: {text!r:.120}")
    name, exponent = match.groups()
    return places[name], integer(exponent or "1")
