"""The picture of a Hilbert function: points on the curve of the Hilbert polynomial, on a logarithmic axis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sympy import lambdify, latex

from m2bridge.algebra.hilbert_series import n
from m2bridge.drawing import BLUE, FAINT, SOFT, VERMILION, new_figure, styled

if TYPE_CHECKING:
    from m2bridge.maps.hilbert_function import HilbertFunction

MOST_LABELS = 12
LONGEST = 60
"""Characters of a formula in the legend."""
PARTS = 20


def draw(found: HilbertFunction) -> Any:
    """A figure of matplotlib."""
    with styled():
        figure = new_figure(6.8, 4.8, f"Hilbert function of the {found.subject.title}")
        axes = figure.subplots()
        axes.set_yscale("log")
        axes.grid(color=FAINT, linewidth=0.7)
        axes.set_axisbelow(True)
        axes.set_xlabel("degree n", style="italic")
        axes.set_ylabel("dimension of the graded piece", style="italic")
        _polynomial(axes, found)
        _values(axes, found)
        axes.legend(loc="lower right", frameon=True, framealpha=1, edgecolor="white")
        axes.set_title(f"Hilbert function of the\n{found.subject.title}", fontsize=12)
        figure.tight_layout()
        return figure


def _polynomial(axes: Any, found: HilbertFunction) -> None:
    """Where it is positive, between integers too."""
    value = lambdify(n, found.polynomial)
    places = [k / PARTS for k in range(PARTS * (len(found.values) - 1) + 1)]
    known = [(x, y) for x in places if (y := float(value(x))) > 0]
    formula = latex(found.polynomial)
    shown = f" ${formula}$" if len(formula) < LONGEST else f", degree {found.series.dimension - 1}"
    if known:
        style = {"color": VERMILION, "linewidth": 1.3, "linestyle": (0, (5, 3)), "zorder": 1}
        axes.plot(*zip(*known, strict=True), label=f"Hilbert polynomial{shown}", **style)


def _values(axes: Any, found: HilbertFunction) -> None:
    """Filled where two methods agree: ranks of matrices, and the series of the ideal."""
    points = [(k, value) for k, value in enumerate(found.values) if value > 0]
    for filled, label in ((True, "H(n), by ranks and by the ideal"), (False, "H(n), by the ideal")):
        chosen = [point for point in points if (point[0] < len(found.ranks)) == filled]
        if chosen:
            face = BLUE if filled else "white"
            axes.plot(*zip(*chosen, strict=True), "o", color=BLUE, markerfacecolor=face, label=label, zorder=3)
    for point in points if len(points) <= MOST_LABELS else ():
        style = {"textcoords": "offset points", "xytext": (-5, 6), "ha": "right", "fontsize": 9.5, "color": SOFT}
        axes.annotate(str(point[1]), point, **style)
