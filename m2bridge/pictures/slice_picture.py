"""A surface seen along a direction: which points of a curve are behind it."""

from __future__ import annotations

import csv as csv_files
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from json import dumps
from math import cos, radians, sin, sqrt
from typing import TYPE_CHECKING, Any

from m2bridge.algebra.field import QQ
from m2bridge.convert.notation import ideal_macaulay2, polynomial_text
from m2bridge.engine.script import page
from m2bridge.maps.slice_result import CLOSURE_ONLY, FUNCTIONS, UNDECIDED
from m2bridge.results.base import computed_by, result_json
from m2bridge.results.markup import polynomial_latex
from m2bridge.results.picture import (
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
from m2bridge.results.sheet import Facts, Picture, Sheet, Table

if TYPE_CHECKING:
    from sympy.polys.rings import PolyElement

    from m2bridge.maps.slice_result import Piece, SliceSurface


Point = Sequence[float]
NEAR = 0.04
"""Of the box, whose side is 2: what is as near to a point of the surface does not hide it."""


def axes(elevation: float, azimuth: float) -> tuple[Point, Point, Point]:
    """To the right, upwards, and towards the eye; the angles are in degrees."""
    e, a = radians(elevation), radians(azimuth)
    return (
        (-sin(a), cos(a), 0.0),
        (-sin(e) * cos(a), -sin(e) * sin(a), cos(e)),
        (cos(e) * cos(a), cos(e) * sin(a), sin(e)),
    )


def hidden(points: Sequence[Point], squares: Iterable[Sequence[Point]], elevation: float, azimuth: float) -> list[bool]:
    """For each point whether a square is before it, in the coordinates of a cube [-1, 1]³."""
    import numpy  # comes with what draws pictures

    corners = numpy.array(list(squares), dtype=float)
    if not len(points) or not len(corners):
        return [False] * len(points)
    frame = numpy.array(axes(elevation, azimuth)).T
    triangles = numpy.concatenate([corners[:, (0, 1, 2)], corners[:, (0, 2, 3)]]) @ frame
    start, u, v = triangles[:, 0], triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]
    area = _area(u, v)
    seen = abs(area) > 1e-12
    start, u, v, area = start[seen], u[seen], v[seen], area[seen]
    found = []
    for point in numpy.array(points, dtype=float) @ frame:
        r, s = _area(point - start, v) / area, _area(u, point - start) / area
        depth = start[:, 2] + r * u[:, 2] + s * v[:, 2]
        found.append(bool(((r >= 0) & (s >= 0) & (r + s <= 1) & (depth > point[2] + NEAR)).any()))
    return found


def _area(one: Any, other: Any) -> Any:
    """Of the parallelograms that vectors span, as they are seen, with a sign."""
    return one[:, 0] * other[:, 1] - one[:, 1] * other[:, 0]


DIGITS = 3
STYLES = {FUNCTIONS: "solid", CLOSURE_ONLY: "dotted", UNDECIDED: "dashed"}


def scene(found: SliceSurface) -> dict[str, Any]:
    """For ``json.dumps``: ``squares`` have four corners each, ``lines`` any number of points."""
    scaled = scaling(found)
    surfaces = [piece for piece in found.pieces if piece.kind == "surface"]
    others = [piece for piece in found.pieces if piece.kind != "surface"]
    return {
        "names": list(found.variables),
        "ends": [[str(low), str(high)] for low, high in found.box.values()],
        "elevation": found.elevation,
        "azimuth": found.azimuth,
        "surfaces": [
            {
                "place": f"surface: {piece.place}",
                "colour": FACES[piece.place],
                "style": STYLES[piece.place],
                "squares": [_flat(scaled(corners)) for corners in quads(piece)],
            }
            for piece in surfaces
        ],
        "lines": [
            {
                "place": f"{'singular ' if piece.singular else ''}{piece.kind}: {piece.place}",
                "colour": VERMILION if piece.singular else INK,
                "style": STYLES[piece.place],
                "points": _flat(scaled(piece.points[0])),
            }
            for piece in others
        ],
    }


def _flat(points: list[Point]) -> list[float]:
    """One coordinate after the other."""
    return [round(value, DIGITS) for point in points for value in point]


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


HEADER = ("piece", "kind", "place", "singular")


def sheet(found: SliceSurface) -> Sheet:
    """The equation, the singular locus, and the pieces with a point of each."""
    ends = [f"{low} < {name} < {high}" for name, (low, high) in found.box.items()]
    known = [
        ("slice", ", ".join(f"{name} = {polynomial_text(form)}" for name, form in found.coordinates.items())),
        ("equation", f"{polynomial_text(found.equation)} = 0"),
        ("singular locus", "; ".join(map(_component, found.singular)) or "empty"),
        ("box", ", ".join(ends)),
        ("decided by", found.decided_by or None),
        ("computed by", computed_by(found.engine_version, found.seconds)),
        ("not finished", found.unfinished or None),
    ]
    rows = [(p.kind, "singular" if p.singular else "", p.place, _sample(p)) for p in found.pieces]
    pieces = Table(("piece", "", "its points are", "for example"), rows)
    title = f"Surface in a slice of the Zariski closure of the {found.subject.title}"
    return Sheet(title, [Facts(known), pieces, Picture(found.page_svg)], [equation_latex(found)])


def json(found: SliceSurface) -> dict[str, Any]:
    """The equation, the singular locus, and a point of each piece."""
    return result_json(found.subject.case, "QQ", found.engine_version, found.seconds) | {
        "slice": {name: polynomial_text(form) for name, form in found.coordinates.items()},
        "variables": list(found.variables),
        "equation": polynomial_text(found.equation),
        "singular_locus": [
            {"dimension": part.dimension, "generators": [polynomial_text(g) for g in part.prime.generators]}
            for part in found.singular
        ],
        "box": {name: [str(end) for end in ends] for name, ends in found.box.items()},
        "decided_by": found.decided_by or None,
        "pieces": [
            {
                "kind": piece.kind,
                "place": piece.place,
                "singular": piece.singular,
                "sample": None if piece.sample is None else {n: str(v) for n, v in piece.sample.items()},
            }
            for piece in found.pieces
        ],
        "unfinished": found.unfinished or None,
    }


def macaulay2(found: SliceSurface) -> str:
    """The ideal of the surface."""
    return ideal_macaulay2(QQ, found.variables, (found.equation,))


def csv(found: SliceSurface) -> str:
    """All points that are drawn, with the number of their piece."""
    page = io.StringIO()
    writer = csv_files.writer(page, lineterminator="\n")
    writer.writerow((*HEADER, *found.variables))
    for number, piece in enumerate(found.pieces, 1):
        about = (number, piece.kind, piece.place, int(piece.singular))
        writer.writerows((*about, *point) for strip in piece.points for point in strip)
    return page.getvalue()


def html(found: SliceSurface) -> str:
    """The surface on a canvas, turned by the mouse or the arrow keys; nothing is loaded from elsewhere."""
    shown = scene(found)
    parts = [*shown["surfaces"], *shown["lines"]]
    legend = list(dict.fromkeys((part["place"], part["colour"], part["style"]) for part in parts))
    caption = f"{polynomial_text(found.equation)} = 0"
    return page("surface", {"title": found.subject.title, "caption": caption, "scene": dumps(shown), "legend": legend})


def _component(part: Any) -> str:
    named = {0: "points", 1: "curve"}[part.dimension]
    return f"{named} {' = '.join(polynomial_text(g) for g in part.prime.generators)} = 0"


def _sample(piece: Piece) -> str:
    return "" if piece.sample is None else ", ".join(f"{n} = {v}" for n, v in piece.sample.items())
