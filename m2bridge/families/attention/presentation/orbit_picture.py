"""The Hasse diagram of the orbits: higher means a larger dimension, lines are inclusions of closures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from m2bridge.drawing import BLUE, FAINT, INK, ORANGE, SOFT, VERMILION, line, new_figure, styled
from m2bridge.layered import placed

if TYPE_CHECKING:
    from m2bridge.families.attention.orbit_diagram import OrbitDiagram, OrbitNode

MARKS = {
    "smooth": {"marker": "o", "color": BLUE, "markersize": 11},
    "singular": {"marker": "D", "color": ORANGE, "markersize": 10},
    "boundary": {"marker": "s", "color": VERMILION, "markersize": 11},
    "undecided": {"marker": "o", "color": SOFT, "markersize": 11, "markerfacecolor": "white"},
}
STEP = 1.25
"""Inches from one orbit to the next."""


def draw(found: OrbitDiagram) -> Any:
    """A figure of matplotlib."""
    levels = sorted({node.dimension for node in found.nodes})
    layers = [[node for node in found.nodes if node.dimension == level] for level in levels]
    places, routes = placed(layers, found.covers)
    wide = max(abs(x) for x, _ in (*places.values(), *(place for route in routes for place in route)))
    with styled():
        size = (max(5.8, 2 * wide * STEP + 3), 0.78 * len(levels) + 1.9)
        figure = new_figure(*size, f"Orbits of the {found.model.title}")
        axes = figure.add_axes((0.9 / size[0], 0.85 / size[1], 1 - 1.1 / size[0], 1 - 1.45 / size[1]))
        _axes(axes, levels, wide)
        for route in routes:
            axes.plot(*zip(*route, strict=True), color=SOFT, linewidth=1.1, zorder=1, gid="cover")
        for node, place in places.items():
            _node(axes, node, place)
        title = f"Orbits of (d, d′, a) = ({found.model.d}, {found.model.d_out}, {found.model.a})"
        figure.text(0.5, 1 - 0.32 / size[1], title, ha="center", fontsize=13)
        figure.legend(handles=_legend(found), loc="lower center", ncols=4, bbox_to_anchor=(0.5, 0.2 / size[1]))
        note = "(rk A, rk V, dim L∩U); lines: inclusions of closures"
        figure.text(0.5, 0.12 / size[1], note, ha="center", fontsize=9.5, color=SOFT)
        return figure


def _axes(axes: Any, levels: list[int], wide: float) -> None:
    axes.set_xlim(-wide - 0.6, wide + 0.9)
    axes.set_ylim(-0.45, len(levels) - 0.55)
    axes.set_xticks([])
    axes.set_yticks(range(len(levels)), [str(level) for level in levels])
    axes.set_ylabel("dimension of the orbit", style="italic")
    axes.grid(axis="y", color=FAINT, linewidth=0.7)
    axes.set_axisbelow(True)
    axes.spines["bottom"].set_visible(False)


def _node(axes: Any, node: OrbitNode, place: tuple[float, int]) -> None:
    axes.plot(*([x] for x in place), linestyle="none", **MARKS[node.state], zorder=3, gid=f"orbit {node.name}")
    style = {"textcoords": "offset points", "xytext": (11, 0), "va": "center", "fontsize": 10.5, "color": INK}
    ground = {"facecolor": "white", "edgecolor": "none", "pad": 0.4, "alpha": 0.9}
    axes.annotate(node.name, place, **style, bbox=ground, zorder=2)


def _legend(found: OrbitDiagram) -> list[Any]:
    states = [state for state in MARKS if any(node.state == state for node in found.nodes)]
    return [line([(0, 0)], linestyle="none", **MARKS[state], label=_word(found, state)) for state in states]


def _word(found: OrbitDiagram, state: str) -> str:
    """Boundary points are singular as well, where that is so."""
    both = all(node.singular for node in found.nodes if node.state == "boundary")
    return "boundary, singular" if state == "boundary" and both else state
