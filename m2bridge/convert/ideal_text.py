"""Polynomials as m2bridge writes them, terms separated by blanks, read back fast and without evaluating anything."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from sympy.polys.rings import PolyElement

from m2bridge.algebra.ring import PolynomialRing
from m2bridge.errors import ConversionError
from m2bridge.system import integer

_NUMBER = re.compile(r"(\d+)(?:/([1-9]\d*))?")


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
