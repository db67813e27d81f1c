"""Entries of arrays as exact numbers: each floating-point number is a dyadic rational."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy

from m2bridge.algebra.numbers import LARGE_PRIME
from m2bridge.errors import InvalidCaseError


def dyadic(array: Any) -> tuple[Any, Any]:
    """Return integers w and e with the entries w·2^e: a float64 has a mantissa of 53 bits."""
    mantissa, exponent = numpy.frexp(array.astype(float))
    return numpy.ldexp(mantissa, 53).astype(numpy.int64), exponent.astype(numpy.int64) - 53


def modular(array: Any) -> Any:
    """Return the entries modulo :data:`LARGE_PRIME`, as integers of 64 bits.

    Raises
    ------
    InvalidCaseError
        If the prime divides a denominator.
    """
    if array.dtype == object:
        entries = [_residue(number) for number in array.flat]
        return numpy.array(entries, dtype=numpy.int64).reshape(array.shape)
    whole, exponent = dyadic(array)
    # The prime is 2^31 − 1, modulo which 2^31 is 1.
    shifted = whole % LARGE_PRIME << exponent % 31
    return shifted % LARGE_PRIME


def _residue(number: Any) -> int:
    try:
        inverse = pow(number.denominator, -1, LARGE_PRIME)
    except ValueError:
        reason = f"a denominator is divisible by {LARGE_PRIME}"
        raise InvalidCaseError("weights", reason) from None
    return int(number.numerator * inverse % LARGE_PRIME)


def as_fractions(array: Any) -> Any:
    """Return the entries as an array of fractions."""
    if array.dtype != object:
        array = array.astype(float)
    return numpy.frompyfunc(Fraction, 1, 1)(array)
