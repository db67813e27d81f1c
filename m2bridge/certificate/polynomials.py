"""Polynomials in certificates: text that people read, read back without evaluating anything."""

from __future__ import annotations

import re
from typing import Any

from sympy.polys.rings import PolyElement, PolyRing

from m2bridge.errors import CertificateError
from m2bridge.linear_algebra import integer
from m2bridge.notation import polynomial_text


def read_polynomial(text: Any, ring: PolyRing) -> PolyElement:
    """The inverse of :func:`m2bridge.notation.polynomial_text` for polynomials over QQ.

    Raises
    ------
    CertificateError
        If this is not, character by character, the text of a nonzero polynomial of the ring.
    """
    if not isinstance(text, str):
        raise CertificateError(f"not the text of a polynomial: {text!r}")
    index = {str(symbol): position for position, symbol in enumerate(ring.symbols)}
    polynomial = ring.zero
    for sign, term in re.findall(r"(^-?| [+-] )([^ ]+)", text):
        exponents, coefficient = _term(term, index, ring)
        polynomial[exponents] = -coefficient if "-" in sign else coefficient
    if not polynomial or polynomial_text(polynomial) != text:
        raise CertificateError(f"not the text of a polynomial in the coordinates: {text[:120]}")
    return polynomial


def _term(term: str, index: dict[str, int], ring: PolyRing) -> tuple[tuple[int, ...], Any]:
    exponents = [0] * ring.ngens
    coefficient = ring.domain.one
    for factor in term.replace("**", "^").split("*"):
        match = re.fullmatch(
            r"(?:(?P<top>\d+)(?:/(?P<bottom>[1-9]\d*))?|(?P<name>\w+)(?:\^(?P<power>\d{1,2}))?)", factor
        )
        if match is None or (match["name"] is not None and match["name"] not in index):
            raise CertificateError(f"not a factor of a monomial in the coordinates: {factor[:120]}")
        if match["name"] is None:
            coefficient = ring.domain(integer(match["top"]), integer(match["bottom"] or "1"))
        else:
            exponents[index[match["name"]]] += int(match["power"] or 1)
    if not coefficient:
        raise CertificateError("a term with coefficient zero")
    return tuple(exponents), coefficient
