"""Ideals in TOML files.

::

    [ideal]
    title = "Whitney umbrella"           # optional
    variables = ["x", "y", "z"]
    generators = ["x^2 - y^2*z"]
    field = "GF(32003)"                  # optional; QQ when left out
"""

from __future__ import annotations

from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.algebra.ring import MOST_VARIABLES, Ideal, PolynomialRing, is_name, not_a_name
from m2bridge.convert.documents import read_toml
from m2bridge.convert.tables import check_headings, check_keys, polynomial, strings
from m2bridge.errors import ConversionError, InvalidCaseError
from m2bridge.ideals.construct import element


def read_ideal_file(text: str, field: CoefficientField | None = None) -> tuple[Ideal, str]:
    """The ideal that a TOML file describes, and its title (empty if it has none).

    Parameters
    ----------
    text : str
        What the file holds.
    field : CoefficientField, optional
        Where the file names none; QQ when left out.

    Raises
    ------
    ConversionError
        In one line, with the place, if it is not TOML, or a part is missing, unknown or not a polynomial.

    Examples
    --------
    >>> umbrella, title = read_ideal_file('''
    ... [ideal]
    ... title = "Whitney umbrella"
    ... variables = ["x", "y", "z"]
    ... generators = ["x^2 - y^2*z"]
    ... ''')
    >>> title, umbrella.dimension()
    ('Whitney umbrella', 2)
    """
    content = read_toml(text)
    check_headings(content, {"ideal"}, set())
    table = content["ideal"]
    if not isinstance(table, dict):
        raise ConversionError("[ideal] must be a table")
    check_keys(table, "[ideal]", {"variables", "generators"}, {"title", "field"})
    title, named = (_line(table.get(key, ""), key) for key in ("title", "field"))
    ring = PolynomialRing(QQ, _variables(table["variables"]))
    listed = strings(table["generators"], "[ideal] generators")
    generators = [polynomial(value, f"[ideal] generators {i}", ring) for i, value in enumerate(listed, 1)]
    over = PolynomialRing(_field(named, field), ring.variables)
    return Ideal(over, tuple(filter(None, (element(over, generator) for generator in generators)))), title


def _line(value: object, key: str) -> str:
    if not isinstance(value, str) or not value.isprintable():
        raise ConversionError(f"[ideal] {key}: must be a string, on one line without control characters")
    return value


def _variables(value: object) -> tuple[str, ...]:
    names = tuple(strings(value, "[ideal] variables"))
    for name in names:
        if not is_name(name):
            raise not_a_name(name)
    if not 0 < len(names) <= MOST_VARIABLES:
        raise ConversionError(
            f"[ideal] variables: {len(names)}; there must be one at least, and at most {MOST_VARIABLES}"
        )
    return names


def _field(named: str, wanted: CoefficientField | None) -> CoefficientField:
    try:
        own = CoefficientField.parse(named) if named else None
    except InvalidCaseError as reason:
        raise ConversionError(f"[ideal] {reason}") from None
    if own and wanted and own != wanted:
        raise ConversionError(f"[ideal] field: the ideal is over {own}, and {wanted} was asked for")
    return own or wanted or QQ
