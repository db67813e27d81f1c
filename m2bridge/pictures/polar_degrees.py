"""The picture of polar degrees: bars."""

from collections.abc import Sequence
from math import log10
from typing import Any

from m2bridge.results.picture import BLUE, FAINT, SOFT, new_figure, styled

MOST_LABELS = 16
LARGEST = 10**300
"""The largest number on a scale; of larger ones logarithms are drawn."""
RATIO = 500
"""If the largest is so many times the smallest that is not zero, the scale is logarithmic."""


def draw_polar_degrees(title: str, dimension: int, degrees: Sequence[int]) -> Any:
    """Return a figure with a bar for each of δ_n, δ_{n−1}, …; their sum is the generic ED degree."""
    with styled():
        figure = new_figure(6.8, 4.6, f"Polar degrees of the {title}")
        axes = figure.subplots()
        axes.grid(axis="y", color=FAINT, linewidth=0.7)
        axes.set_axisbelow(True)
        places = [dimension - k for k in range(len(degrees))]
        huge = max(degrees) > LARGEST
        heights = [log10(value) if value else 0.0 for value in degrees] if huge else [float(d) for d in degrees]
        axes.bar(places, heights, width=0.72, color=BLUE)
        axes.set_xlim(dimension + 0.7, -0.7)
        axes.set_xlabel("i  (from the degree down)", style="italic")
        axes.set_ylabel(("logarithm of the " if huge else "") + "polar degree δ$_i$", style="italic")
        positive = [value for value in degrees if value]
        if max(positive) > RATIO * min(positive) and not huge:
            axes.set_yscale("log")
        if len(degrees) <= MOST_LABELS:
            _label(axes, places, degrees)
        whole = f", generic ED degree {short(sum(degrees))}" if len(degrees) == dimension + 1 else ""
        axes.set_title(f"Polar degrees{whole}\n{title}", fontsize=12)
        figure.tight_layout()
        return figure


def _label(axes: Any, places: Sequence[int], degrees: Sequence[int]) -> None:
    axes.set_xticks(places)
    style = {"textcoords": "offset points", "xytext": (0, 3), "ha": "center", "fontsize": 9.5, "color": SOFT}
    for place, value in zip(places, degrees, strict=True):
        height = max(float(value), axes.get_ylim()[0])
        axes.annotate(short(value), (place, height), **style)


def short(value: int) -> str:
    """A number in few letters: its digits, or a power of ten."""
    return str(value) if value < 10**7 else f"{value:.2e}" if value < LARGEST else f"10^{int(log10(value))}"
