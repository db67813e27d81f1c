"""How values are written: the table of writers by class, which the modules ``given_*`` fill, and literals."""

from __future__ import annotations

from collections.abc import Iterable
from functools import singledispatch
from typing import Any

from sympy.polys.rings import PolyElement

from m2bridge.errors import ConversionError
from m2bridge.system import decimal
from m2bridge.workspace.values.elements import RingElement, RingFraction

_GROUP = 1000


@singledispatch
def written(value: Any) -> str:
    """The value as a Macaulay2 expression.

    Raises
    ------
    ConversionError
        If it has no counterpart, or is not exact.
    """
    raise ConversionError(f"a {type(value).__name__} has no counterpart in Macaulay2")


def string(text: str) -> str:
    """A string of Macaulay2; its bytes are those of the text in UTF-8.

    Raises
    ------
    ConversionError
        If the text has half a surrogate pair that stands for no byte.
    """
    try:
        data = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as reason:
        raise ConversionError(f"text with half a surrogate pair is no UTF-8: {text!a:.60}") from reason
    return '"' + "".join(_BYTES[byte] for byte in data) + '"'


_BYTES = [
    f"\\{byte:03o}" if byte < 32 or byte > 126 else f"\\{chr(byte)}" if chr(byte) in '"\\' else chr(byte)
    for byte in range(256)
]


def braces(items: Any) -> str:
    """A list."""
    return "{" + ",".join(items) + "}"


def items(values: Iterable[Any]) -> str:
    """A list of values."""
    return grouped([written(value) for value in values])


def grouped(items: list[str]) -> str:
    """A list of any length; Macaulay2 takes no literal with very many items."""
    if len(items) <= _GROUP:
        return braces(items)
    groups = (grouped(items[start : start + _GROUP]) for start in range(0, len(items), _GROUP))
    return f"mbTogether {braces(groups)}" if len(items) <= _GROUP**2 else _split(items)


def _split(items: list[str]) -> str:
    half = len(items) // 2
    return f"mbTogether {{{grouped(items[:half])},{grouped(items[half:])}}}"


def inexact(what: str) -> ConversionError:
    """The error for inexact input."""
    return ConversionError(
        f"{what}: not exact. Write fractions as fractions.Fraction or sympy.Rational; a number that is meant to be "
        "inexact as m2bridge.workspace.values.Real.of(number)"
    )


def element(over: Any, value: Any) -> str:
    """An element of a ring, given as decode gives it, or as a number."""
    if isinstance(value, RingElement | PolyElement | RingFraction):
        return written(value)
    return scalar(value)


def scalar(value: Any) -> str:
    """A number of a coefficient ring."""
    if hasattr(value, "to_int"):
        return str(int(value))
    if isinstance(value, int):
        return decimal(value)
    if hasattr(value, "numerator") and not callable(value.numerator):
        text = decimal(int(value.numerator))
        return text if value.denominator == 1 else f"{text}/{decimal(int(value.denominator))}"
    return written(value)
