"""Polynomials as m2bridge writes them, terms separated by blanks, read back fast and without evaluating anything."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sympy.polys.rings import PolyElement

from m2bridge.algebra.field import CoefficientField
from m2bridge.algebra.ring import Ideal, PolynomialRing, is_name
from m2bridge.errors import ConversionError, InvalidCaseError
from m2bridge.system import collection_paused, integer

_NUMBER = re.compile(r"(\d+)(?:/([1-9]\d*))?")


def read_ideal(data: Mapping[str, Any]) -> Ideal:
    """The ideal of the generators in the JSON form of a closure or an image.

    Parameters
    ----------
    data : mapping
        With ``field``, ``coordinates`` and ``generators``, as in :meth:`m2bridge.Closure.to_json`.

    Raises
    ------
    ConversionError
        If it does not have that form, or no generators were found.

    Examples
    --------
    >>> read_ideal({"field": "QQ", "coordinates": ["x", "y"], "generators": ["x**2 - 2/3*y", "-x*y"]}).generators
    (x**2 - 2/3*y, -x*y)
    """
    try:
        name, coordinates, texts = data["field"], data["coordinates"], data["generators"]
    except (KeyError, TypeError) as reason:
        raise ConversionError(f"not the JSON of a closure: {reason!r:.120}") from None
    listed = isinstance(texts, list) and isinstance(coordinates, list | tuple)
    if not listed or not all(isinstance(text, str) for text in (name, *coordinates, *texts)):
        raise ConversionError("not the JSON of a closure with generators")
    if unreadable := [c for c in coordinates if not _is_coordinate(c)]:
        raise ConversionError(f"{unreadable[0]!r:.60} is not the name of a coordinate")
    try:
        ring = PolynomialRing(CoefficientField.parse(name), tuple(coordinates))
    except InvalidCaseError as reason:
        raise ConversionError(str(reason)) from None
    reader = GeneratorReader(ring)
    with collection_paused():
        return Ideal(ring, tuple(map(reader.polynomial, texts)))


def _is_coordinate(name: str) -> bool:
    """A name, possibly with primes or negative indices as in ``s'`` and ``x_-1``; never what reads as another thing."""
    return is_name(name.replace("'", "_").replace("_-", "_"))


@dataclass(slots=True)
class GeneratorReader:
    """Reads nonzero polynomials of one ring."""

    ring: PolynomialRing
    places: dict[str, int] = field(init=False)
    coefficients: dict[str, Any] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.places = {name: place for place, name in enumerate(self.ring.variables)}

    def polynomial(self, text: str) -> PolyElement:
        """The inverse of :func:`m2bridge.convert.notation.polynomial_text`.

        Raises
        ------
        ConversionError
            If a term is not one, occurs twice or is zero.
        """
        polynomial = self.ring.sympy_ring.zero
        negative = text.startswith("-")
        first, *rest = text[negative:].replace("**", "^").split(" ")
        signs, terms = ["-" if negative else "+", *rest[::2]], [first, *rest[1::2]]
        if len(signs) != len(terms) or not {"+", "-"}.issuperset(signs):
            raise ConversionError(f"not a sum of terms: {text[:120]}")
        for sign, term in zip(signs, terms, strict=True):
            exponents, coefficient = self._term(term)
            polynomial[exponents] = coefficient if sign == "+" else -coefficient
        if len(polynomial) < len(terms) or not all(polynomial.values()):
            raise ConversionError(f"a term that is zero, or occurs twice: {text[:120]}")
        return polynomial

    def _term(self, text: str) -> tuple[tuple[int, ...], Any]:
        exponents = [0] * len(self.places)
        coefficient = self.ring.sympy_ring.domain.one
        for factor in text.split("*"):
            place = self.places.get(factor)
            if place is not None:  # nearly always
                exponents[place] += 1
            elif "^" in factor:
                place, power = self._power(factor)
                exponents[place] += power
            else:
                coefficient = coefficient * self._coefficient(factor)
        return tuple(exponents), coefficient

    def _power(self, factor: str) -> tuple[int, int]:
        name, _, power = factor.partition("^")
        if name not in self.places or not (power.isascii() and power.isdigit() and len(power) <= 4):
            raise ConversionError(f"not a power of a variable of the ring: {factor[:120]}")
        return self.places[name], int(power)

    def _coefficient(self, text: str) -> Any:
        known = self.coefficients.get(text)
        if known is None:
            match = _NUMBER.fullmatch(text)
            if match is None or not text.isascii():
                raise ConversionError(f"not a number, and not a variable of the ring: {text[:120]}")
            domain = self.ring.sympy_ring.domain
            known = domain(integer(match[1]))
            if match[2]:
                divisor = domain(integer(match[2]))
                if not divisor:
                    raise ConversionError(f"a number that has no meaning over {self.ring.field}: {text[:120]}")
                known = known / divisor
            self.coefficients[text] = known
        return known
