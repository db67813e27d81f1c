"""Polynomials in certificates: text that people read, read back without evaluating anything."""

from __future__ import annotations

from typing import Any

from sympy.polys.rings import PolyElement

from m2bridge.algebra.ring import PolynomialRing
from m2bridge.convert.ideal_text import GeneratorReader
from m2bridge.convert.notation import polynomial_text
from m2bridge.errors import CertificateError, ConversionError


def read_polynomials(texts: Any, ring: PolynomialRing) -> tuple[PolyElement, ...]:
    """The inverse of :func:`m2bridge.convert.notation.polynomial_text` for a list of polynomials over QQ.

    Raises
    ------
    CertificateError
        If this is not a list of texts that are, character by character, those of nonzero polynomials of the ring.
    """
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise CertificateError("not a list of texts of polynomials")
    reader = GeneratorReader(ring)
    try:
        polynomials = tuple(map(reader.polynomial, texts))
    except ConversionError as reason:
        raise CertificateError(str(reason)) from None
    for text, polynomial in zip(texts, polynomials, strict=True):
        if polynomial_text(polynomial) != text:
            raise CertificateError(f"not the text of a polynomial in the coordinates: {text[:120]}")
    return polynomials
