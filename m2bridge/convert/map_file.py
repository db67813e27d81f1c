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

from m2bridge.algebra.field import QQ
from m2bridge.algebra.polynomial_map import PolynomialMap
from m2bridge.algebra.ring import MOST_VARIABLES, PolynomialRing, is_name, not_a_name
from m2bridge.convert.documents import read_toml
from m2bridge.convert.tables import check_headings, check_keys, polynomial, strings
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
    check_headings(content, {"map", "coordinates"}, set())
    table, coordinates = content["map"], content["coordinates"]
    for name, part in (("map", table), ("coordinates", coordinates)):
        if not isinstance(part, dict):
            raise ConversionError(f"[{name}] must be a table")
    check_keys(table, "[map]", {"parameters"}, {"title", "relations"})
    title = table.get("title", "")
    if not isinstance(title, str):
        raise ConversionError("[map] title: must be a string")
    if not title.isprintable():
        raise ConversionError("[map] title: must be one line without control characters")
    parameters = strings(table["parameters"], "[map] parameters")
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
    images = tuple(polynomial(value, f"[coordinates] {name:.60}", source) for name, value in coordinates.items())
    listed = strings(table.get("relations", []), "[map] relations")
    relations = tuple(polynomial(value, f"[map] relations {i}", source) for i, value in enumerate(listed, 1))
    return PolynomialMap(source, tuple(coordinates), images, tuple(r for r in relations if r)), title
