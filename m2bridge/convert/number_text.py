"""Rational numbers that people write: ``3``, ``-1.5``, ``2e-3``, ``3/7``; exact, of bounded length."""

from __future__ import annotations

import re
from fractions import Fraction

from m2bridge.errors import ConversionError
from m2bridge.system import integer

MOST_DIGITS = 10_000
"""Of a number that is written out: computations with longer ones take minutes."""

_FORM = re.compile(
    r"\s*(?P<sign>[+-]?)(?P<whole>[0-9]*)"
    r"(?:/(?P<divisor>[0-9]+)|(?:\.(?P<decimals>[0-9]*))?(?:[eE](?P<exponent>[+-]?[0-9]+))?)\s*"
)


def read_rational(text: str) -> Fraction:
    """The number.

    Raises
    ------
    ConversionError
        If it is not one, or has more than :data:`MOST_DIGITS` digits when it is written out.

    Examples
    --------
    >>> read_rational("-1.5e2"), read_rational("3/7")
    (Fraction(-150, 1), Fraction(3, 7))
    """
    match = _FORM.fullmatch(text) if len(text) <= 3 * MOST_DIGITS else None
    if match is None and len(text) > 3 * MOST_DIGITS:
        raise _too_long()
    if match is None or not (match["whole"] or match["decimals"]):
        raise ConversionError(f'{text!r:.60} is not a rational number: write 3, 1.5 or "3/7"')
    whole, decimals, divisor = match["whole"], match["decimals"] or "", match["divisor"]
    power = _exponent(match["exponent"] or "0") - len(decimals)
    if max(len(whole + decimals) + abs(power), len(divisor or "")) > MOST_DIGITS:
        raise _too_long()
    value = Fraction(integer(whole + decimals or "0")) * Fraction(10) ** power
    if divisor is not None:
        if not divisor.strip("0"):
            raise ConversionError(f"{text!r:.60} has the divisor 0")
        value /= integer(divisor)
    return -value if match["sign"] == "-" else value


def _exponent(text: str) -> int:
    return int(text) if len(text) < 10 else MOST_DIGITS + 1


def _too_long() -> ConversionError:
    return ConversionError(f"a number has more than {MOST_DIGITS} digits when it is written out")
