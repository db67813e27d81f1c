"""The picture of a Hilbert function beside its Hilbert polynomial."""

from collections.abc import Sequence
from typing import Any

from sympy import Expr, degree, lambdify, latex

from m2bridge.algebra.hilbert_series import n
from m2bridge.results.picture import BLUE, FAINT, SOFT, VERMILION, new_figure, styled

MOST_LABELS = 12
LONGEST = 60
"""Characters of a formula in the legend."""
PARTS = 20


def draw_hilbert_function(title: str, values: Sequence[int], by_ranks: int, polynomial: Expr) -> Any:
    """Return a figure with the values H(0), …, H(N), of which the first ``by_ranks`` are by two methods, and P(n)."""
    with styled():
        figure = new_figure(6.8, 4.8, f"Hilbert function of the {title}")
        axes = figure.subplots()
        axes.set_yscale("log")
        axes.grid(color=FAINT, linewidth=0.7)
        axes.set_axisbelow(True)
        axes.set_xlabel("degree n", style="italic")
        axes.set_ylabel("dimension of the graded piece", style="italic")
        _polynomial(axes, polynomial, len(values))
        _values(axes, values, by_ranks)
        axes.legend(loc="lower right", frameon=True, framealpha=1, edgecolor="white")
        axes.set_title(f"Hilbert function of the\n{title}", fontsize=12)
        figure.tight_layout()
        return figure


def _polynomial(axes: Any, polynomial: Expr, count: int) -> None:
    """Draw the polynomial where it is positive, between integers too."""
    value = lambdify(n, polynomial)
    places = [k / PARTS for k in range(PARTS * (count - 1) + 1)]
    points = [(x, y) for x in places if (y := float(value(x))) > 0]
    formula = latex(polynomial)
    shown = f" ${formula}$" if len(formula) < LONGEST else f", degree {degree(polynomial, n)}"
    if points:
        style = {"color": VERMILION, "linewidth": 1.3, "linestyle": (0, (5, 3)), "zorder": 1}
        axes.plot(*zip(*points, strict=True), label=f"Hilbert polynomial{shown}", **style)


def _values(axes: Any, values: Sequence[int], by_ranks: int) -> None:
    """Filled where two methods agree: ranks of matrices, and the series of the ideal."""
    points = [(k, value) for k, value in enumerate(values) if value > 0]
    for filled, label in ((True, "H(n), by ranks and by the ideal"), (False, "H(n), by the ideal")):
        chosen = [point for point in points if (point[0] < by_ranks) == filled]
        if chosen:
            face = BLUE if filled else "white"
            axes.plot(*zip(*chosen, strict=True), "o", color=BLUE, markerfacecolor=face, label=label, zorder=3)
    for point in points if len(points) <= MOST_LABELS else ():
        style = {"textcoords": "offset points", "xytext": (-5, 6), "ha": "right", "fontsize": 9.5, "color": SOFT}
        axes.annotate(str(point[1]), point, **style)
