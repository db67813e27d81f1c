"""Polynomial maps in TOML files.

::

    [map]
    title = "twisted cubic"          # optional
    parameters = ["s", "t"]
    relations = ["s^2 + t^2 - 1"]    # optional: equations of the source, as a set of points

    [coordinates]                    # in this order
    x = "s^3"
    y = "3/2*s^2*t"

The relations need not generate a prime or a radical ideal: their radical is taken.
"""

from __future__ import annotations

from typing import Any

from sympy.polys.rings import PolyElement

from m2bridge.algebra.field import QQ
from m2bridge.algebra.polynomial_map import PolynomialMap
from m2bridge.algebra.ring import MOST_VARIABLES, PolynomialRing, is_name, not_a_name
from m2bridge.convert.documents import read_toml
from m2bridge.convert.polynomial_text import read_polynomial
from m2bridge.errors import ConversionError

MOST_PARAMETERS = 2_000
"""Of a map in a file."""


def read_map(text: str) -> tuple[PolynomialMap, str]:
    """The map that a TOML file describes, and its title (empty if it has none).

    Raises
    ------
    ConversionError
        In one line, with the place, if it is not TOML, or a part is missing, unknown or not a polynomial.

    Examples
    --------
    >>> polynomial_map, title = read_map('''
    ... [map]
    ... title = "parabola"
    ... parameters = ["t"]
    ... [coordinates]
    ... x = "t"
    ... y = "t^2"
    ... ''')
    >>> title, polynomial_map.images
    ('parabola', (t, t**2))
    """
    content = read_toml(text)
    for other, option in (("ideal", "singular-locus --ideal"), ("layers", "closure --map")):
        if other in content:
            raise ConversionError(f"this file holds [{other}], and no map by itself: 'm2bridge {option} FILE' takes it")
    _check_keys(content, "the file", {"map", "coordinates"}, set())
    table, coordinates = content["map"], content["coordinates"]
    for name, part in (("map", table), ("coordinates", coordinates)):
        if not isinstance(part, dict):
            raise ConversionError(f"[{name}] must be a table")
    _check_keys(table, "[map]", {"parameters"}, {"title", "relations"})
    title = table.get("title", "")
    if not isinstance(title, str):
        raise ConversionError("[map] title: must be a string")
    if not title.isprintable():
        raise ConversionError("[map] title: must be one line without control characters")
    parameters = _strings(table["parameters"], "[map] parameters")
    for name in (*parameters, *coordinates):
        if not is_name(name):
            raise not_a_name(name)
    if len(parameters) > MOST_PARAMETERS:
        raise ConversionError(f"[map] parameters: {len(parameters)}; at most {MOST_PARAMETERS}")
    if len(coordinates) > MOST_VARIABLES:
        raise ConversionError(f"[coordinates]: {len(coordinates)}; at most {MOST_VARIABLES}")
    source = PolynomialRing(QQ, tuple(parameters))
    if not coordinates:
        raise ConversionError("[coordinates]: there must be at least one")
    images = tuple(_polynomial(value, f"[coordinates] {name:.60}", source) for name, value in coordinates.items())
    listed = _strings(table.get("relations", []), "[map] relations")
    relations = tuple(_polynomial(value, f"[map] relations {i}", source) for i, value in enumerate(listed, 1))
    return PolynomialMap(source, tuple(coordinates), images, tuple(r for r in relations if r)), title


def _check_keys(found: dict[str, Any], where: str, required: set[str], optional: set[str]) -> None:
    if missing := sorted(required - set(found)):
        raise ConversionError(f"{where}: {_missing(missing[-1], where)}")
    if unknown := sorted(set(found) - required - optional):
        raise ConversionError(f"{where}: unknown key {unknown[0]!r:.60}")


def _missing(name: str, where: str) -> str:
    if where != "the file":
        return f"'{name}' is missing{_EXAMPLES.get(name, '')}"
    heading = f"[[{name}]]" if name == "layers" else f"[{name}]"
    return f"the table {heading} is missing{_EXAMPLES.get(name, '')}"


_EXAMPLES = {
    "ideal": ': write [ideal] in a line of its own, and below it variables = ["x", "y"] and generators = ["x^2 - y"]',
    "variables": ': write variables = ["x", "y"]',
    "generators": ': write generators = ["x^2 - y"]',
    "map": ': write [map] in a line of its own, and below it parameters = ["s", "t"]',
    "coordinates": ': write [coordinates] in a line of its own, and below it lines such as x = "s^2"',
    "parameters": ': write parameters = ["s", "t"]',
}
"""What to write where a part is missing."""


def _strings(value: object, where: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ConversionError(f'{where}: must be a list of texts in quotes, such as ["s", "t"]')
    return value


def _polynomial(value: object, where: str, source: PolynomialRing) -> PolyElement:
    if not isinstance(value, str):
        example = f': write "{value}"' if isinstance(value, int | float) and not isinstance(value, bool) else ""
        raise ConversionError(f"{where}: must be a polynomial in quotes{example}")
    try:
        return read_polynomial(value, source)
    except ConversionError as reason:
        raise ConversionError(f"{where}: {reason}") from None
