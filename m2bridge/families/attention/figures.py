"""Figure 1 of the paper, from the ideal of the closure; slices of any case, and pictures of its orbits.

Source: Henry, Marchetti, Kohn (arXiv 2408.17221), Figure 1: (d, d', a) = (2, 1, 2), where the two forms are
v_1 l_1 = y_1² − w y_2² and v_1 l_2 = v y_1 y_2 + c y_2²; the slice is the Whitney umbrella c² = w v².
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sympy import Expr, symbols

from m2bridge.algebra.field import QQ
from m2bridge.algebra.ring import PolynomialRing
from m2bridge.convert.documents import read_rational
from m2bridge.convert.polynomial_text import read_polynomial
from m2bridge.engine import Engine
from m2bridge.errors import ConversionError
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.definition import CaseOption, Figure, integer
from m2bridge.maps.hilbert_function import HilbertFunction, hilbert_function
from m2bridge.maps.slice_surface import SliceSurface, slice_surface

if TYPE_CHECKING:
    from m2bridge.families.attention.orbit_diagram import OrbitDiagram

ELEVATION, AZIMUTH = 22.0, -62.0


def figure_1(
    *, engine: Engine | None = None, fineness: int = 32, elevation: float = ELEVATION, azimuth: float = AZIMUTH
) -> SliceSurface:
    """The slice of Figure 1, with v, c and w as axes.

    Raises
    ------
    InvalidCaseError
        If the fineness is not one.
    """
    v, c, w = symbols("v c w")
    fixed = {"c_1_1_1_1": 1, "c_1_1_1_2": 0, "c_1_2_1_1": 0}
    named = {"c_1_2_1_2": v, "c_1_2_2_2": c, "c_1_1_2_2": -w}
    surface = slice_surface(SingleLayerAttention(2, 1), {**fixed, **named}, engine=engine, fineness=fineness)
    return surface.seen_from(elevation, azimuth)


def _angle(text: str) -> float:
    """Read an angle in degrees; ValueError with what was expected."""
    try:
        angle = read_rational(text)
    except ConversionError:
        raise ValueError(f"'{text:.60}' is not an angle in degrees") from None
    if abs(angle) > 360:
        raise ValueError(f"{text:.60} degrees are more than 360")
    return float(angle)


def _interval(text: str) -> tuple[Fraction, Fraction]:
    """Read ``-1..1``; ValueError with what was expected."""
    first, _, last = text.partition("..")
    try:
        return read_rational(first), read_rational(last)
    except ConversionError:
        raise ValueError(f"'{text:.60}' is not an interval such as -1..1") from None


def _assignments(text: str) -> dict[str, Expr]:
    """Read ``c_1_1_1_1=1, c_1_1_2_2=-w``; ValueError with what was expected."""
    assignments: dict[str, Expr] = {}
    for part in filter(str.strip, text.split(",")):
        name, equals, value = part.partition("=")
        names = tuple(dict.fromkeys(re.findall(r"[^\W\d]\w*", value)))
        if not equals or name.strip() in assignments:
            raise ValueError(f"'{part.strip():.60}' is not one value for a coordinate, such as c_1_1_1_1=1")
        try:
            assignments[name.strip()] = read_polynomial(value, PolynomialRing(QQ, names or ("x",))).as_expr()
        except ConversionError as reason:
            raise ValueError(f"{name.strip():.60}: {reason}") from None
    return assignments


_VIEW = (
    CaseOption("elevation", _angle, "angle above the horizontal plane, in degrees", default=f"{ELEVATION:g}"),
    CaseOption("azimuth", _angle, "angle around the vertical axis, in degrees", default=f"{AZIMUTH:g}"),
    CaseOption("fineness", integer, "about how many points are computed along a side", default="32"),
)


def _slice(
    d: int, d_out: int, coordinates: dict[str, Expr], box: tuple[Fraction, Fraction], engine: Engine, **more: Any
) -> SliceSurface:
    model = SingleLayerAttention(d, d_out, more.get("a"), more["t"])
    surface = slice_surface(model, coordinates, engine=engine, box=box, fineness=more["fineness"])
    return surface.seen_from(more["elevation"], more["azimuth"])


def _orbits(engine: Engine, **case: Any) -> OrbitDiagram:
    from m2bridge.families.attention.orbit_diagram import orbit_diagram

    return orbit_diagram(SingleLayerAttention(**case), engine=engine)


def _hilbert(degree: int, engine: Engine, **case: Any) -> HilbertFunction:
    return hilbert_function(SingleLayerAttention(**case), engine=engine, degree=degree)


def figures(case: tuple[CaseOption, ...]) -> tuple[Figure, ...]:
    """The pictures of the family; ``case`` are the options that name one."""
    umbrella = "Figure 1: the Whitney umbrella in the closure for (d, d', a) = (2, 1, 2), with its singular curve"
    fixed = CaseOption("coordinates", _assignments, "what is fixed: c_1_1_1_1=1,c_1_1_2_2=-w", default="")
    box = CaseOption("box", _interval, "the interval of all three variables", default="-1..1")
    last = CaseOption("degree", integer, "the last degree that is shown", default="8")
    space = "A surface in the closure, in a space of dimension 3"
    return (
        Figure("1", umbrella, _VIEW, figure_1, needs_engine=True),
        Figure("slice", space, (*case, fixed, box, *_VIEW), _slice, needs_engine=True),
        Figure("orbits", "The orbits of a case, ordered by their closures", case, _orbits, needs_engine=True),
        Figure("hilbert", "The Hilbert function beside its polynomial", (*case, last), _hilbert, needs_engine=True),
    )
