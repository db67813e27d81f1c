"""The picture of Figure 3: two panels with one axis of dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from m2bridge.drawing import BLUE, FAINT, SOFT, VERMILION, line, new_figure, styled

if TYPE_CHECKING:
    from m2bridge.families.deep_attention.figure import Figure3
    from m2bridge.maps.dimension import Dimension

MOST_TICKS = 12
MOST_LABELS = 12


def draw(found: Figure3) -> Any:
    """A figure of matplotlib."""
    with styled():
        figure = new_figure(9.2, 4.5, _caption(found))
        panels = figure.subplots(1, 2, sharey=True)
        deltas = [point.delta for point in found.points]
        lightning, softmax = ([getattr(p, name) for p in found.points] for name in ("lightning", "softmax"))
        _panel(panels[0], "Lightning self-attention", "Eq. 14", deltas, lightning, BLUE)
        _panel(panels[1], "Softmax self-attention", "Eq. 16", deltas, softmax, VERMILION)
        panels[0].set_ylabel("dimension", style="italic")
        panels[0].set_ylim(0, 1.12 * max(d.dimension or 0 for d in (*lightning, *softmax)))
        figure.tight_layout(rect=(0, 0.06, 1, 1), w_pad=2.5)
        figure.text(0.5, 0.025, _caption(found), ha="center", color=SOFT)
        return figure


def _caption(found: Figure3) -> str:
    known = "all values proved" if found.proved else "hollow points are lower bounds"
    layers = "one layer" if found.layers == 1 else f"{found.layers} layers"
    return f"Dimension of the neuromanifold: {layers} of width δ, a = {found.a}, t = {found.t}; {known}"


def _panel(
    panel: Any, title: str, formula: str, deltas: Sequence[int], dimensions: Sequence[Dimension], colour: str
) -> None:
    """The formula as a line, the dimensions as points with their numbers."""
    panel.set_title(title, pad=12)
    panel.set_xlabel("width δ", style="italic")
    panel.set_xlim(min(deltas) - 0.8, max(deltas) + 0.5)
    panel.set_xticks(deltas[:: -(-len(deltas) // MOST_TICKS)])
    panel.grid(axis="y", color=FAINT, linewidth=0.8)
    panel.set_axisbelow(True)
    said = [(delta, value) for delta, d in zip(deltas, dimensions, strict=True) if (value := expected(d)) is not None]
    if said:
        panel.plot(*zip(*said, strict=True), linestyle=(0, (5, 3)), color=colour, label="expected", linewidth=1.2)
    for delta, found in zip(deltas, dimensions, strict=True):
        filled = colour if found.status == "proved" else "white"
        panel.plot([delta], [found.dimension or 0], **_mark(colour, filled), linestyle="none")
        if len(deltas) <= MOST_LABELS:
            place = {"textcoords": "offset points", "xytext": (-5, 5), "ha": "right", "fontsize": 10}
            panel.annotate(str(found.dimension or 0), (delta, found.dimension or 0), **place)
    panel.legend(handles=_legend(formula, dimensions, colour), loc="upper left")


def _mark(colour: str, filled: str) -> dict[str, Any]:
    return {"marker": "o", "markersize": 6, "color": colour, "markerfacecolor": filled, "markeredgewidth": 1.4}


def _legend(formula: str, dimensions: Sequence[Dimension], colour: str) -> list[Any]:
    here = [(0, 0)]
    entries = [
        line(here, **_mark(colour, colour), linestyle="none", label="proved dimension"),
        line(here, color=colour, linestyle=(0, (5, 3)), linewidth=1.2, label=f"expected ({formula})"),
    ]
    if any(found.status != "proved" for found in dimensions):
        entries.append(line(here, **_mark(colour, "white"), linestyle="none", label="lower bound"))
    return entries


def expected(found: Dimension) -> int | None:
    """The paper's formula, also where its hypotheses do not hold."""
    return next((e.value for e in found.expected if e.value is not None), None)
