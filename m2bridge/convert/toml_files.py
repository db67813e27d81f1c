"""Tables of TOML files that people write, and the map that such a file describes.

Keys, lists of texts and polynomials are read here for files of ideals, maps and layers alike. Each
refusal is a ConversionError that names the place in the file, ``where``, and shows what to write
where something is missing. A ``value`` is what the file has there, of any type.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from typing import Any

from sympy.polys.rings import PolyElement

from m2bridge.algebra import MAX_RING_VARIABLES
from m2bridge.algebra.field import QQ
from m2bridge.algebra.polynomial_map import UNDECLARED, PolynomialMap
from m2bridge.algebra.ring import PolynomialRing, normal_form, variable_name
from m2bridge.convert import MAX_MAP_PARAMETERS
from m2bridge.convert.bounded_io import load, read_toml
from m2bridge.convert.polynomial_parser import (
    names_in,
    read_equation,
    read_polynomial,
    read_rational_function,
)
from m2bridge.errors import ConversionError

_EXAMPLES = {
    "ideal": (
        ': write [ideal] in a line of its own, and below it variables = ["x", "y"] and generators ='
        ' ["x^2 - y"]'
    ),
    "map": ': write [map] in a line of its own, and below it parameters = ["s", "t"]',
    "coordinates": (
        ': write [coordinates] in a line of its own, and below it lines such as x = "s^2"'
    ),
    "parameters": ': write parameters = ["s", "t"]',
    "variables": ': write variables = ["x", "y"]',
    "generators": ': write generators = ["x^2 - y"]',
}
"""Examples of what to write for parts that are missing."""


def check_keys(table: dict[str, Any], where: str, required: set[str], optional: set[str]) -> None:
    """Check that a table has the required keys, and no others than these and the optional ones;
    ``where`` is empty for the file itself, whose keys are its tables.
    """
    place = f"{where}: " if where else ""
    missing_keys = required - table.keys()
    if missing_keys:
        # The last one in alphabetical order: of [map] and [coordinates] people write [map] first.
        key = max(missing_keys)
        key_in_words = f"'{key}'" if where else f"the table [{key}]"
        raise ConversionError(f"{place}{key_in_words} is missing{_EXAMPLES.get(key, '')}")
    unknown = table.keys() - required - optional
    if unknown:
        raise ConversionError(f"{place}unknown key {min(unknown)!r:.60}")


def table_of(
    content: dict[str, Any], name: str, required: set[str], optional: set[str] | None
) -> dict[str, Any]:
    """The table under the heading ``[name]``, empty if there is none, with its keys checked; every
    key is accepted if ``optional`` is ``None``.
    """
    table = content.get(name, {})
    if not isinstance(table, dict):
        raise ConversionError(f"[{name}] must be a table")
    accepted = set(table) if optional is None else optional
    check_keys(table, f"[{name}]", required, accepted)
    return table


def line_of_text(table: dict[str, Any], name: str, key: str) -> str:
    """The value of a key in the table ``[name]``, one line of text without control characters;
    empty where it was left out.
    """
    value = table.get(key, "")
    if not isinstance(value, str) or not value.isprintable():
        raise ConversionError(
            f"[{name}] {key}: must be one line of text without control characters"
        )
    return value


def strings(value: object, where: str) -> list[str]:
    """The value, if it is a list of texts."""
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ConversionError(f'{where}: must be a list of texts in quotes, such as ["s", "t"]')
    return value


def polynomial(
    value: object, where: str, ring: PolynomialRing, *, equation: bool = False
) -> PolyElement:
    """Read a polynomial of a ring over QQ from its text, or an equation too, as the difference of
    its sides, if ``equation`` is true.
    """
    if not isinstance(value, str):
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        example = f': write "{value}"' if is_number else ""
        raise ConversionError(f"{where}: must be a polynomial in quotes{example}")
    try:
        return read_equation(value, ring) if equation else read_polynomial(value, ring)
    except ConversionError as reason:
        raise ConversionError(f"{where}: {reason}") from None


def _fraction(value: object, where: str, ring: PolynomialRing) -> tuple[PolyElement, PolyElement]:
    """Read the numerator and the denominator of a coordinate of a map; text without a stroke is a
    polynomial, whose denominator is 1.
    """
    if not isinstance(value, str) or "/" not in value:
        return polynomial(value, where, ring), ring.sympy_ring.one
    try:
        return read_rational_function(value, ring)
    except ConversionError as reason:
        raise ConversionError(f"{where}: {reason}") from None


@contextmanager
def advice_on_names(value: object, ring: PolynomialRing) -> Iterator[None]:
    """A context in which a value of a file with a map is read: errors say, too, what to do about
    names that are not declared as parameters, the variables of ``ring``.
    """
    try:
        yield
    except ConversionError as reason:
        names: tuple[str, ...] = ()
        with suppress(ConversionError):  # some texts cannot even be divided into names and signs
            names = names_in(value) if isinstance(value, str) else ()
        advice = UNDECLARED if set(names) - set(map(normal_form, ring.variables)) else ""
        raise ConversionError(f"{reason}{advice}") from None


def read_map(text: str) -> tuple[PolynomialMap, str]:
    """The map that a text in TOML describes, and its title (empty if it has none).

    ``parse_map`` is the same function; :func:`m2bridge.load_map` takes the path of a file.

    Raises
    ------
    ConversionError
        In one line, with the place or the name, if it is not TOML, or a part is missing, unknown or
        not a polynomial, or a name is not a variable or occurs twice.

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
    commands = {"ideal": "singular-locus --ideal", "layers": "closure --map"}
    for other, command in commands.items():
        if other in content:
            raise ConversionError(
                f"this file holds [{other}], and no map by itself: 'm2bridge {command} FILE'"
                " takes it"
            )
    check_keys(content, where="", required={"map", "coordinates"}, optional=set())
    table = table_of(content, "map", required={"parameters"}, optional={"title", "relations"})
    # every key of this table is the name of a coordinate
    coordinates = table_of(content, "coordinates", required=set(), optional=None)
    title = line_of_text(table, "map", "title")
    parameters = strings(table["parameters"], "[map] parameters")
    for name in (*parameters, *coordinates):
        variable_name(name)  # refuses what cannot be the name of a variable
    if len(parameters) > MAX_MAP_PARAMETERS:
        raise ConversionError(f"[map] parameters: {len(parameters)}; at most {MAX_MAP_PARAMETERS}")
    if len(coordinates) > MAX_RING_VARIABLES:
        raise ConversionError(f"[coordinates]: {len(coordinates)}; at most {MAX_RING_VARIABLES}")
    source = PolynomialRing(QQ, tuple(parameters))
    if not coordinates:
        raise ConversionError("[coordinates]: there must be at least one")
    images = {}
    for name, value in coordinates.items():
        with advice_on_names(value, source):
            images[name] = _fraction(value, f"[coordinates] {name:.60}", source)
    relations = []  # without those that are zero
    equations = strings(table.get("relations", []), "[map] relations")
    for number, equation in enumerate(equations, 1):
        with advice_on_names(equation, source):
            relation = polynomial(equation, f"[map] relations {number}", source, equation=True)
        if relation:
            relations.append(relation)
    return PolynomialMap.from_fractions(source, images, relations), title


parse_map = read_map


def load_map(path: str | PathLike[str]) -> tuple[PolynomialMap, str]:
    """The map that a TOML file describes, and its title: :func:`m2bridge.parse_map` of its text.

    Raises
    ------
    ConversionError
        If the file cannot be read, or describes no map; the message begins with the path.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "parabola.toml")
    ...     text = '[map]\\nparameters = ["t"]\\n[coordinates]\\nx = "t"\\ny = "t^2"'
    ...     _ = file.write_text(text)
    ...     load_map(file)[0].images
    (t, t**2)
    """
    return load(path, read_map)
