"""The picture of a real surface in a box: for paper, and for a page where it is turned by the
mouse.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby, pairwise
from json import dumps
from math import cos, radians, sin
from typing import Any, Literal

import numpy
from sympy.polys.rings import PolyElement

from m2bridge.convert.notation import polynomial_text
from m2bridge.engine.script import page
from m2bridge.results import picture
from m2bridge.results.markup import polynomial_latex

Point = Sequence[float]
NEAR = 0.04
"""Of the box, whose side is 2: what is as near to a point of the surface does not hide it."""


def axes(elevation: float, azimuth: float) -> tuple[Point, Point, Point]:
    """Vectors to the right, upwards, and towards the eye; the angles are in degrees."""
    e, a = radians(elevation), radians(azimuth)
    return (
        (-sin(a), cos(a), 0.0),
        (-sin(e) * cos(a), -sin(e) * sin(a), cos(e)),
        (cos(e) * cos(a), cos(e) * sin(a), sin(e)),
    )


def hidden(
    points: Sequence[Point], squares: Iterable[Sequence[Point]], elevation: float, azimuth: float
) -> list[bool]:
    """Whether a square is before each point, in the coordinates of a cube [-1, 1]³."""
    corners = numpy.array(list(squares), dtype=float)
    if not len(points) or not len(corners):
        return [False] * len(points)
    frame = numpy.array(axes(elevation, azimuth)).T
    triangles = numpy.concatenate([corners[:, (0, 1, 2)], corners[:, (0, 2, 3)]]) @ frame
    start, u, v = (
        triangles[:, 0],
        triangles[:, 1] - triangles[:, 0],
        triangles[:, 2] - triangles[:, 0],
    )
    area = _area(u, v)
    facing = abs(area) > 1e-12
    start, u, v, area = start[facing], u[facing], v[facing], area[facing]
    behind = []
    for point in numpy.array(points, dtype=float) @ frame:
        r, s = _area(point - start, v) / area, _area(u, point - start) / area
        depth = start[:, 2] + r * u[:, 2] + s * v[:, 2]
        behind.append(bool(((r >= 0) & (s >= 0) & (r + s <= 1) & (depth > point[2] + NEAR)).any()))
    return behind


def _area(one: Any, other: Any) -> Any:
    """The areas of the parallelograms that vectors span, as they are seen, with a sign."""
    return one[:, 0] * other[:, 1] - one[:, 1] * other[:, 0]


FUNCTIONS = "functions of real weights"
CLOSURE_ONLY = "only in the Zariski closure"
UNDECIDED = "in the Zariski closure; real weights not decided"

Kind = Literal["surface", "curve", "point"]
Strip = tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class Piece:
    """A connected piece of the surface, of a curve on it, or a point, with the same answer at all
    of its points.

    Parameters
    ----------
    kind : {"surface", "curve", "point"}
    place : str
        ``functions of real weights``, ``only in the Zariski closure``; or ``in the Zariski closure;
        real weights not decided``.
    singular : bool
        Whether it consists of singular points of the surface.
    points : tuple of tuple of points
        A grid, or one line of points, in the variables of the slice.
    sample : mapping from variable to Fraction, or None
        A rational point of it, where one was found; membership was asked there.
    """

    kind: Kind
    place: str
    singular: bool
    points: tuple[Strip, ...]
    sample: Mapping[str, Fraction] | None

    @property
    def name(self) -> str:
        """The name in legends."""
        return f"{'singular ' if self.singular else ''}{self.kind}: {self.place}"

    @property
    def colour(self) -> str:
        """The colour of its squares or line."""
        return (
            FACES[self.place]
            if self.kind == "surface"
            else picture.VERMILION
            if self.singular
            else picture.INK
        )


class SurfaceResult(picture.PictureResult):
    """A result with a real surface in a box, its curves and points, and a direction from which it
    is seen, in degrees.

    The three variables of the equation are the coordinates of the box.
    """

    __slots__ = ()

    model: Any
    equation: PolyElement
    pieces: tuple[Piece, ...]
    box: Mapping[str, tuple[Fraction, ...]]
    elevation: float
    azimuth: float

    @property
    def variables(self) -> tuple[str, ...]:
        """The three coordinates of the box."""
        return tuple(str(symbol) for symbol in self.equation.ring.symbols)

    def figure(self) -> Any:
        """The surface in its box, as a ``matplotlib.figure.Figure``."""
        return draw_surface(self)

    def _repr_html_(self) -> str:
        """The surface for a notebook, turned by the mouse or the arrow keys."""
        return surface_html(self)


DIGITS = 3
STYLES = {FUNCTIONS: "solid", CLOSURE_ONLY: "dotted", UNDECIDED: "dashed"}


def scene(view: SurfaceResult) -> dict[str, Any]:
    """A dictionary for ``json.dumps``: ``squares`` have four corners each, ``lines`` any number of
    points.
    """

    def flat(points: Sequence[Point]) -> list[float]:
        return [round(float(value), DIGITS) for value in scaled(points, view).ravel()]

    def part(piece: Piece) -> dict[str, Any]:
        return {"place": piece.name, "colour": piece.colour, "style": STYLES[piece.place]}

    return {
        "names": list(view.variables),
        "ends": [[str(low), str(high)] for low, high in view.box.values()],
        "elevation": view.elevation,
        "azimuth": view.azimuth,
        "surfaces": [
            part(piece) | {"squares": list(map(flat, quads(piece)))}
            for piece in view.pieces
            if piece.kind == "surface"
        ],
        "lines": [
            part(piece) | {"points": flat(piece.points[0])}
            for piece in view.pieces
            if piece.kind != "surface"
        ],
    }


FACES = {FUNCTIONS: picture.SKY, CLOSURE_ONLY: picture.ORANGE, UNDECIDED: picture.GREEN}
LINES = {FUNCTIONS: "-", CLOSURE_ONLY: (0, (0.1, 2.2)), UNDECIDED: "--"}
LIGHT = (0.35, -0.45, 0.82)
WIDTH = 2.8
LONG = 50
"""Signs in the legend, of which two do not fit side by side."""
PALE = 0.35
"""Of a line that is behind the surface."""


def draw_surface(view: SurfaceResult) -> Any:
    """A figure of matplotlib."""
    with picture.styled():
        figure = picture.new_figure(6.4, 6.0, f"{view.model.title}: surface in a slice")
        space = figure.add_subplot(projection="3d", computed_zorder=False, proj_type="ortho")
        figure.subplots_adjust(left=-0.02, right=0.96, bottom=0.1, top=0.97)
        _axes(space, view)
        _surface(space, view)
        _curves(space, view)
        degree = max(map(sum, view.equation))
        picture.add_title(
            figure,
            f"${equation_latex(view.equation)}$",
            f"A surface of degree {degree} in the Zariski closure",
        )
        columns = 2 if all(len(piece.name) < LONG for piece in view.pieces) else 1
        figure.legend(
            handles=_legend(view), loc="lower center", ncols=columns, bbox_to_anchor=(0.5, 0)
        )
        return figure


def _axes(space: Any, view: SurfaceResult) -> None:
    """The box, with the names of the variables."""
    space.view_init(elev=view.elevation, azim=view.azimuth)
    space.set_box_aspect((1, 1, 1), zoom=0.95)
    for name, variable, axis in zip(view.variables, view.equation.ring.gens, "xyz", strict=True):
        low, high = map(float, view.box[name])
        getattr(space, f"set_{axis}lim")(low, high)
        getattr(space, f"set_{axis}label")(f"${polynomial_latex(str(variable))}$", fontsize=15)
        getattr(space, f"set_{axis}ticks")([low, (low + high) / 2, high])
        own = getattr(space, f"{axis}axis")
        own.set_pane_color((1, 1, 1, 0))
        own.line.set_color(picture.SOFT)
        # there is no public way for axes of space
        own._axinfo["grid"].update(color=picture.FAINT, linewidth=0.6)


def _surface(space: Any, view: SurfaceResult) -> None:
    """All cells in one collection, so that the near ones hide the far ones; only dots where there
    are no weights.
    """
    surfaces = [
        (piece, piece.place == CLOSURE_ONLY) for piece in view.pieces if piece.kind == "surface"
    ]
    cells = [(piece.colour, dotted, quad) for piece, dotted in surfaces for quad in quads(piece)]
    if cells:
        faces = [
            shaded(colour, _brightness(quad), 0.16 if dotted else 0.88)
            for colour, dotted, quad in cells
        ]
        edges = [shaded(colour, 0.55, 0.0 if dotted else 0.35) for colour, dotted, _ in cells]
        style = {"facecolors": faces, "edgecolors": edges, "linewidths": 0.3, "zorder": 1}
        space.add_collection3d(picture.polygons([quad for *_, quad in cells], **style))
    for dots in (
        numpy.array(piece.points).reshape(-1, 3).T for piece, dotted in surfaces if dotted
    ):
        space.scatter(
            *dots, s=1.6, color=shaded(picture.ORANGE, 0.6, 1), depthshade=False, zorder=2
        )


def quads(piece: Piece) -> Iterator[tuple[Point, Point, Point, Point]]:
    """The squares of a grid."""
    for one, other in pairwise(piece.points):
        for (a, b), (d, c) in zip(pairwise(one), pairwise(other), strict=True):
            yield a, b, c, d


def _curves(space: Any, view: SurfaceResult) -> None:
    """Curves and points, pale where the surface is before them."""
    squares = [
        scaled(quad, view)
        for piece in view.pieces
        if piece.kind == "surface"
        for quad in quads(piece)
    ]
    for piece in view.pieces:
        if piece.kind == "point":
            filled = piece.colour if piece.place != CLOSURE_ONLY else "white"
            space.plot(
                *zip(*piece.points[0], strict=True),
                "o",
                color=piece.colour,
                markerfacecolor=filled,
                zorder=4,
            )
        elif piece.kind == "curve":
            points = numpy.array(piece.points[0], dtype=float)
            behind = hidden(
                scaled((points[1:] + points[:-1]) / 2, view), squares, view.elevation, view.azimuth
            )
            for pale, run in groupby(range(len(behind)), behind.__getitem__):
                part = list(run)
                seen = points[part[0] : part[-1] + 2].T
                space.plot(*seen, alpha=PALE if pale else 1.0, zorder=3, **_line_style(piece))


def _line_style(piece: Piece) -> dict[str, Any]:
    return {
        "color": piece.colour,
        "linestyle": LINES[piece.place],
        "linewidth": WIDTH,
        "dash_capstyle": "round",
    }


def scaled(points: Any, view: SurfaceResult) -> Any:
    """The points of the box as points of the cube [-1, 1]³."""
    low, high = numpy.array([view.box[name] for name in view.variables], dtype=float).T
    return (2 * numpy.array(points, dtype=float) - low - high) / (high - low)


def _brightness(quad: Sequence[Point]) -> float:
    """The brightness of a square that is lit from both sides."""
    a, b, c, d = numpy.array(quad, dtype=float)
    normal = numpy.cross(c - a, d - b)
    return 0.62 + 0.4 * abs(float(normal @ LIGHT)) / (float(numpy.linalg.norm(normal)) or 1.0)


def shaded(colour: str, brightness: float, alpha: float) -> tuple[float, ...]:
    """A colour ``#rrggbb`` made darker, or paler above 1."""
    return *(min(1.0, int(colour[k : k + 2], 16) / 255 * brightness) for k in (1, 3, 5)), alpha


def _legend(view: SurfaceResult) -> list[Any]:
    """The legend of colours and lines that occur."""
    entries = {}
    for piece in view.pieces:
        if piece.kind == "surface":
            dotted = piece.place == CLOSURE_ONLY
            face = shaded(piece.colour, 0.95, 0.2 if dotted else 0.88)
            hatch = "...." if dotted else None
            entries[piece.name] = picture.patch(
                facecolor=face, edgecolor=piece.colour, hatch=hatch, label=piece.name
            )
        else:
            dots = {"marker": "o"} if piece.kind == "point" else {}
            entries[piece.name] = picture.line(
                [(0, 0)], label=piece.name, **_line_style(piece), **dots
            )
    return list(entries.values())


def equation_latex(equation: PolyElement) -> str:
    """``c^2 = v^2 w``: the terms with positive coefficients on the left, those with negative ones
    on the right.
    """
    ring = equation.ring
    terms = dict(equation)
    positive = ring.from_dict({m: c for m, c in terms.items() if c > 0})
    negative = ring.from_dict({m: -c for m, c in terms.items() if c < 0})
    sides = sorted(
        (positive, negative), key=lambda side: (not side, len(side), max(map(sum, side), default=0))
    )
    return " = ".join(polynomial_latex(polynomial_text(side)) for side in sides)


def surface_html(view: SurfaceResult) -> str:
    """The surface on a canvas, turned by the mouse or the arrow keys; nothing is loaded from
    elsewhere.
    """
    shown = scene(view)
    parts = [*shown["surfaces"], *shown["lines"]]
    legend = list(dict.fromkeys((part["place"], part["colour"], part["style"]) for part in parts))
    caption = f"{polynomial_text(view.equation)} = 0"
    return page(
        "surface",
        {"title": view.model.title, "caption": caption, "scene": dumps(shown), "legend": legend},
    )
