"""The options of the figures of single-layer attention: how their texts are read.

A function that reads a text raises ValueError, with a message for the user, if the text is not what
the option takes.
"""

from __future__ import annotations

import re
from fractions import Fraction

from sympy import Expr

from m2bridge.algebra.field import QQ
from m2bridge.algebra.ring import PolynomialRing
from m2bridge.convert.bounded_io import read_rational
from m2bridge.convert.polynomial_text import read_polynomial
from m2bridge.errors import ConversionError
from m2bridge.families.base import CaseOption, integer

ELEVATION, AZIMUTH = 22.0, -62.0
"""The viewing angles of Figure 1 in the paper, in degrees."""


def read_angle(text: str) -> float:
    """Return the angle in degrees, from −360 to 360, that a text such as ``22.5`` names."""
    try:
        angle = read_rational(text)
    except ConversionError:
        raise ValueError(f"'{text:.60}' is not an angle in degrees") from None
    if abs(angle) > 360:
        raise ValueError(f"{text:.60} degrees are more than 360")
    return float(angle)


def read_interval(text: str) -> tuple[Fraction, Fraction]:
    """Return the ends of an interval such as ``-1..1``; low < high is checked where it is used."""
    first, _, last = text.partition("..")
    try:
        return read_rational(first), read_rational(last)
    except ConversionError:
        raise ValueError(f"'{text:.60}' is not an interval such as -1..1") from None


def read_assignments(text: str) -> dict[str, Expr]:
    """Return {coordinate: value} from a text such as ``c_1_1_1_1=1, c_1_1_2_2=-w``.

    A value is a number, or a polynomial in variables of any names, over QQ.
    """
    assignments: dict[str, Expr] = {}
    for part in filter(str.strip, text.split(",")):
        name, equals, value = part.partition("=")
        name = name.strip()
        if not equals or name in assignments:
            raise ValueError(
                f"'{part.strip():.60}' is not one value for a coordinate, such as c_1_1_1_1=1"
            )
        try:
            assignments[name] = _read_value(value)
        except ConversionError as reason:
            raise ValueError(f"{name:.60}: {reason}") from None
    return assignments


def _read_value(text: str) -> Expr:
    """Return the polynomial over QQ with this text, in the variables whose names occur in it."""
    # a name begins with a letter or underscore, and goes on with letters, digits, underscores
    name_pattern = r"[^\W\d]\w*"
    variables = tuple(dict.fromkeys(re.findall(name_pattern, text)))
    # a ring has at least one variable: where the value is a number, one that does not occur
    ring = PolynomialRing(QQ, variables or ("x",))
    return read_polynomial(text, ring).as_expr()


VIEW_OPTIONS = (
    CaseOption(
        "elevation",
        read_angle,
        "angle above the horizontal plane, in degrees",
        default=f"{ELEVATION:g}",
    ),
    CaseOption(
        "azimuth", read_angle, "angle around the vertical axis, in degrees", default=f"{AZIMUTH:g}"
    ),
    CaseOption(
        "fineness", integer, "about how many points are computed along a side", default="32"
    ),
)
"""The options of each figure that is a surface: how it is seen, and how finely it is drawn."""
