"""Tables of TOML files that people write: their keys, lists of texts, and polynomials; refused with the place."""

from __future__ import annotations

from typing import Any

from sympy.polys.rings import PolyElement

from m2bridge.algebra.ring import PolynomialRing
from m2bridge.convert.polynomial_text import read_polynomial
from m2bridge.errors import ConversionError

_EXAMPLES = {
    "ideal": ': write [ideal] in a line of its own, and below it variables = ["x", "y"] and generators = ["x^2 - y"]',
    "map": ': write [map] in a line of its own, and below it parameters = ["s", "t"]',
    "coordinates": ': write [coordinates] in a line of its own, and below it lines such as x = "s^2"',
    "parameters": ': write parameters = ["s", "t"]',
    "variables": ': write variables = ["x", "y"]',
    "generators": ': write generators = ["x^2 - y"]',
}
"""What to write where a part is missing."""


def check_headings(found: dict[str, Any], required: set[str], optional: set[str]) -> None:
    """Whether a file has the tables that it needs, and no others.

    Raises
    ------
    ConversionError
        If it has not.
    """
    if missing := sorted(required - set(found)):
        name = missing[-1]
        heading = f"[[{name}]]" if name == "layers" else f"[{name}]"
        raise ConversionError(f"the table {heading} is missing{_EXAMPLES.get(name, '')}")
    if unknown := sorted(set(found) - required - optional):
        raise ConversionError(f"unknown key {unknown[0]!r:.60}")


def check_keys(found: dict[str, Any], where: str, required: set[str], optional: set[str]) -> None:
    """Whether a table has the keys that it needs, and no others; errors as in :func:`check_headings`."""
    if missing := sorted(required - set(found)):
        raise ConversionError(f"{where}: '{missing[-1]}' is missing{_EXAMPLES.get(missing[-1], '')}")
    if unknown := sorted(set(found) - required - optional):
        raise ConversionError(f"{where}: unknown key {unknown[0]!r:.60}")


def strings(value: object, where: str) -> list[str]:
    """A list of texts.

    Raises
    ------
    ConversionError
        If it is something else.
    """
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ConversionError(f'{where}: must be a list of texts in quotes, such as ["s", "t"]')
    return value


def polynomial(value: object, where: str, ring: PolynomialRing) -> PolyElement:
    """The polynomial that a text says.

    Raises
    ------
    ConversionError
        If it says none, or is no text.
    """
    if not isinstance(value, str):
        example = f': write "{value}"' if isinstance(value, int | float) and not isinstance(value, bool) else ""
        raise ConversionError(f"{where}: must be a polynomial in quotes{example}")
    try:
        return read_polynomial(value, ring)
    except ConversionError as reason:
        raise ConversionError(f"{where}: {reason}") from None
