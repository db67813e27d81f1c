"""The picture of a surface in a slice: solid where there are real weights, dotted where there are none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from math import sqrt
from typing import TYPE_CHECKING, Any

from m2bridge.convert.markup import polynomial_latex
from m2bridge.convert.notation import polynomial_text
from m2bridge.drawing import (
    FAINT,
    GREEN,
    INK,
    ORANGE,
    SKY,
    SOFT,
    VERMILION,
    add_space,
    add_title,
    line,
    new_figure,
    patch,
    polygons,
    styled,
)
from m2bridge.maps.slice_result import CLOSURE_ONLY, FUNCTIONS, UNDECIDED
from m2bridge.presentation.slice_view import Point, hidden

if TYPE_CHECKING:
    from sympy.polys.rings import PolyElement

    from m2bridge.maps.slice_result import Piece, SliceSurface

FACES = {FUNCTIONS: SKY, CLOSURE_ONLY: ORANGE, UNDECIDED: GREEN}
LINES = {FUNCTIONS: "-", CLOSURE_ONLY: (0, (0.1, 2.2)), UNDECIDED: "--"}
LIGHT = (0.35, -0.45, 0.82)
WIDTH = 2.8
PALE = 0.35
"""Of a line that is behind the surface."""


def draw(found: SliceSurface) -> Any:
    """A figure of matplotlib."""
    with styled():
        figure = new_figure(6.4, 6.0, f"{found.subject.title}: surface in a slice")
        space = add_space(figure, computed_zorder=False, proj_type="ortho")
        figure.subplots_adjust(left=-0.02, right=0.96, bottom=0.1, top=0.97)
        _axes(space, found)
        _surface(space, found)
        _curves(space, found)
        degree = max(map(sum, found.equation))
        add_title(figure, f"${equation_latex(found)}$", f"A surface of degree {degree} in the Zariski closure")
        figure.legend(handles=_legend(found), loc="lower center", ncols=2, bbox_to_anchor=(0.5, 0.01))
        return figure


def _axes(space: Any, found: SliceSurface) -> None:
    """The box, with the names of the variables."""
    space.view_init(elev=found.elevation, azim=found.azimuth)
    space.set_box_aspect((1, 1, 1), zoom=0.95)
    for name, variable, axis in zip(found.variables, found.equation.ring.gens, "xyz", strict=True):
        low, high = map(float, found.box[name])
        getattr(space, f"set_{axis}lim")(low, high)
        getattr(space, f"set_{axis}label")(f"${polynomial_latex(str(variable))}$", fontsize=15)
        getattr(space, f"set_{axis}ticks")([low, (low + high) / 2, high])
        own = getattr(space, f"{axis}axis")
        own.set_pane_color((1, 1, 1, 0))
        own.line.set_color(SOFT)
        own._axinfo["grid"].update(color=FAINT, linewidth=0.6)  # there is no public way for axes of space


def _surface(space: Any, found: SliceSurface) -> None:
    """All cells in one collection, so that the near ones hide the far ones."""
    corners, faces, edges, widths = [], [], [], []
    for piece in found.pieces:
        if piece.kind == "surface":
            dotted = piece.place == CLOSURE_ONLY
            for quad in quads(piece):
                corners.append(quad)
                faces.append(shaded(FACES[piece.place], _brightness(quad), 0.16 if dotted else 0.88))
                edges.append(shaded(FACES[piece.place], 0.55, 0.0 if dotted else 0.35))
                widths.append(0.3)
            if dotted:
                _dots(space, piece)
    if corners:
        space.add_collection3d(polygons(corners, facecolors=faces, edgecolors=edges, linewidths=widths, zorder=1))


def quads(piece: Piece) -> Iterator[tuple[Point, Point, Point, Point]]:
    """The squares of a grid."""
    for one, other in pairwise(piece.points):
        for (a, b), (d, c) in zip(pairwise(one), pairwise(other), strict=True):
            yield a, b, c, d


def _dots(space: Any, piece: Piece) -> None:
    """The points of a cell that are only in the closure."""
    points = [point for strip in piece.points for point in strip]
    space.scatter(*zip(*points, strict=True), s=1.6, color=shaded(ORANGE, 0.6, 1), depthshade=False, zorder=2)


def _curves(space: Any, found: SliceSurface) -> None:
    """Curves and points, pale where the surface is before them."""
    scaled = scaling(found)
    squares = [scaled(quad) for piece in found.pieces if piece.kind == "surface" for quad in quads(piece)]
    for piece in found.pieces:
        if piece.kind == "point":
            _point(space, piece)
        elif piece.kind == "curve":
            (points,) = piece.points
            middles = [[(p + q) / 2 for p, q in zip(one, other, strict=True)] for one, other in pairwise(points)]
            behind = hidden(scaled(middles), squares, found.elevation, found.azimuth)
            for pale, run in groupby(range(len(middles)), behind.__getitem__):
                part = list(run)
                _line(space, piece, points[part[0] : part[-1] + 2], PALE if pale else 1.0)


def _point(space: Any, piece: Piece) -> None:
    colour = VERMILION if piece.singular else INK
    filled = colour if piece.place != CLOSURE_ONLY else "white"
    space.plot(*zip(*piece.points[0], strict=True), "o", color=colour, markerfacecolor=filled, zorder=4)


def _line(space: Any, piece: Piece, points: Sequence[Point], alpha: float) -> None:
    style = {"linestyle": LINES[piece.place], "linewidth": WIDTH, "dash_capstyle": "round", "alpha": alpha}
    space.plot(*zip(*points, strict=True), color=VERMILION if piece.singular else INK, zorder=3, **style)


def scaling(found: SliceSurface) -> Callable[[Iterable[Point]], list[Point]]:
    """From points of the box to points of the cube [-1, 1]³."""
    ends = [tuple(map(float, found.box[name])) for name in found.variables]

    def scaled(points: Iterable[Point]) -> list[Point]:
        return [
            [(2 * x - low - high) / (high - low) for x, (low, high) in zip(point, ends, strict=True)]
            for point in points
        ]

    return scaled


def _brightness(quad: Sequence[Point]) -> float:
    """Of a square that is lit from both sides."""
    a, b, c, d = quad
    u, v = ([p - q for p, q in zip(one, other, strict=True)] for one, other in ((c, a), (d, b)))
    normal = (u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0])
    length = sqrt(sum(n * n for n in normal)) or 1.0
    return 0.62 + 0.4 * abs(sum(n * l for n, l in zip(normal, LIGHT, strict=True))) / length


def shaded(colour: str, brightness: float, alpha: float) -> tuple[float, ...]:
    """A colour ``#rrggbb`` made darker, or paler above 1."""
    return *(min(1.0, int(colour[k : k + 2], 16) / 255 * brightness) for k in (1, 3, 5)), alpha


def _legend(found: SliceSurface) -> list[Any]:
    """What colours and lines mean, where they occur."""
    entries = {}
    for piece in found.pieces:
        if piece.kind == "surface":
            face = shaded(FACES[piece.place], 0.95, 0.2 if piece.place == CLOSURE_ONLY else 0.88)
            hatch = "...." if piece.place == CLOSURE_ONLY else None
            entries[f"surface: {piece.place}"] = patch(facecolor=face, edgecolor=FACES[piece.place], hatch=hatch)
        else:
            name = f"{'singular ' if piece.singular else ''}{piece.kind}: {piece.place}"
            colour = VERMILION if piece.singular else INK
            dots = {"marker": "o"} if piece.kind == "point" else {}
            style = {"linestyle": LINES[piece.place], "linewidth": WIDTH, "dash_capstyle": "round", **dots}
            entries[name] = line([(0, 0)], color=colour, **style)
    for name, entry in entries.items():
        entry.set_label(name)
    return list(entries.values())


def equation_latex(found: SliceSurface) -> str:
    """``c^2 = v^2 w``: the terms with positive coefficients on the left, those with negative ones on the right."""
    ring = found.equation.ring
    terms = dict(found.equation)
    positive = ring.from_dict({m: c for m, c in terms.items() if c > 0})
    negative = ring.from_dict({m: -c for m, c in terms.items() if c < 0})
    sides = sorted((positive, negative), key=lambda side: (not side, len(side), _size(side)))
    return " = ".join(polynomial_latex(polynomial_text(side)) for side in sides)


def _size(side: PolyElement) -> int:
    return max((sum(monomial) for monomial in side), default=0)
