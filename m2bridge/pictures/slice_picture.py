"""The picture of a real surface in a box, for paper and for a page where the mouse turns it.

Colours show which points are functions of real weights, and lines where the surface is singular. Of
a map or an ideal, which has no weights, all pieces are real points.
The pieces are computed by :mod:`m2bridge.maps.slice_surface`; here only visibility is computed. In
all functions ``view`` is the result that is drawn, and ``space`` are axes of matplotlib with three
coordinates, into which it is drawn.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, combinations, groupby, pairwise, product
from json import dumps
from math import cos, radians, sin
from typing import Any, Literal, NamedTuple, Self

import numpy
from sympy.polys.rings import PolyElement

from m2bridge.convert.printing import polynomial_text
from m2bridge.engine.script import page
from m2bridge.results import picture
from m2bridge.results.markup import polynomial_latex

SpaceVector = Sequence[float]
"""The coordinates of a point, or of a direction, in space."""

NEAR_SURFACE_DISTANCE = 0.04
"""In a box of side 2, squares this near to a point of the surface do not hide it."""

FUNCTIONS = "functions of real weights"
CLOSURE_ONLY = "only in the Zariski closure"
UNDECIDED = "in the Zariski closure; real weights not decided"
REAL_POINTS = "real points"

FACES = {
    FUNCTIONS: picture.SKY,
    CLOSURE_ONLY: picture.ORANGE,
    UNDECIDED: picture.GREEN,
    REAL_POINTS: picture.SKY,
}
STYLES = {FUNCTIONS: "solid", CLOSURE_ONLY: "dotted", UNDECIDED: "dashed", REAL_POINTS: "solid"}
"""The line styles on a page."""
LINES = {FUNCTIONS: "-", CLOSURE_ONLY: (0, (0.1, 2.2)), UNDECIDED: "--", REAL_POINTS: "-"}
"""The line styles in matplotlib."""

LIGHT = (0.35, -0.45, 0.82)
"""The direction of the light, of length 1, from the right, before and above."""


class Axes(NamedTuple):
    """Orthogonal unit vectors, as one sees a box: to the right, upwards, and towards the eye."""

    right: SpaceVector
    upwards: SpaceVector
    towards_the_eye: SpaceVector


def axes(elevation: float, azimuth: float) -> Axes:
    """The unit vectors with which one sees the box from the direction of these angles, in degrees:
    ``elevation`` above the plane of the first two coordinates, ``azimuth`` in it, from the first
    one.
    """
    e, a = radians(elevation), radians(azimuth)
    # the eye is above or below the direction (x, y) of the plane
    x, y = cos(a), sin(a)
    right = (-y, x, 0.0)
    upwards = (-sin(e) * x, -sin(e) * y, cos(e))
    towards_the_eye = (cos(e) * x, cos(e) * y, sin(e))
    return Axes(right, upwards, towards_the_eye)


def are_hidden(
    points: Sequence[SpaceVector],
    squares: Iterable[Sequence[SpaceVector]],
    elevation: float,
    azimuth: float,
) -> list[bool]:
    """For each point whether a square hides it, as one sees them from these angles.

    Points, and squares by their four corners one after the other, are in the coordinates of a cube
    [−1, 1]³. A square hides no point that is nearer to it than :data:`NEAR_SURFACE_DISTANCE`, as
    points of the surface itself are.
    """
    corners = numpy.array(list(squares), dtype=float)
    if not len(points) or not len(corners):
        return [False] * len(points)
    # In this frame the third coordinate is the nearness to the eye.
    frame = numpy.array(axes(elevation, azimuth)).T
    # Two triangles for each square, in an array by triangle, corner and coordinate.
    triangles = numpy.concatenate([corners[:, (0, 1, 2)], corners[:, (0, 2, 3)]]) @ frame
    visible = _SeenTriangles.of(triangles)
    return [visible.hide(point) for point in numpy.array(points, dtype=float) @ frame]


class _SeenTriangles(NamedTuple):
    """Triangles, by arrays with a row for each: the first corner, and the sides from there to the
    second and third. The third coordinate of a point is its nearness to the eye.
    """

    start: Any
    u: Any
    v: Any

    @classmethod
    def of(cls, triangles: Any) -> Self:
        """The triangles of an array by triangle, corner and coordinate, without those that are seen
        from their edge, which hide nothing.
        """
        start = triangles[:, 0]
        u = triangles[:, 1] - start
        v = triangles[:, 2] - start
        is_seen = abs(_signed_area(u, v)) > 1e-12  # not 0 but for rounding
        return cls(start[is_seen], u[is_seen], v[is_seen])

    def hide(self, point: Any) -> bool:
        """Whether some triangle hides a point: it is before the point, and not near to it.

        The ray from the point to the eye meets the plane of a triangle in start + r u + s v, by
        Cramer's rule in the first two coordinates. It meets the triangle if r, s ≥ 0 and r + s ≤ 1.
        """
        start, u, v = self
        area = _signed_area(u, v)
        r = _signed_area(point - start, v) / area
        s = _signed_area(u, point - start) / area
        nearness = start[:, 2] + r * u[:, 2] + s * v[:, 2]
        is_before = nearness > point[2] + NEAR_SURFACE_DISTANCE
        return bool(((r >= 0) & (s >= 0) & (r + s <= 1) & is_before).any())


def _signed_area(one: Any, other: Any) -> Any:
    """The areas of the parallelograms that pairs of vectors, by rows, span, as they are seen, with
    a sign.
    """
    return one[:, 0] * other[:, 1] - one[:, 1] * other[:, 0]


PieceKind = Literal["surface", "curve", "point"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A connected piece of the surface or of a curve on it, or a point, with one answer for all."""

    kind: PieceKind
    place: str  # FUNCTIONS, CLOSURE_ONLY, UNDECIDED or REAL_POINTS
    singular: bool  # whether it consists of singular points of the surface
    points: tuple[tuple[tuple[float, ...], ...], ...]  # a grid, or one line of points
    sample: Mapping[str, Fraction] | None  # a rational point, at which membership was asked

    @property
    def name(self) -> str:
        """The name in legends."""
        name = f"{self.kind}: {self.place}"
        if self.singular:
            return f"singular {name}"
        return name

    @property
    def colour(self) -> str:
        """The colour of its squares or line."""
        if self.kind == "surface":
            return FACES[self.place]
        if self.singular:
            return picture.VERMILION
        return picture.INK

    @property
    def is_dotted(self) -> bool:
        """Whether it is drawn by dots: no real weights have these functions."""
        return self.place == CLOSURE_ONLY

    def squares(self) -> Iterator[tuple[SpaceVector, SpaceVector, SpaceVector, SpaceVector]]:
        """Yield the squares of a grid of points, each by its four corners, one after the other."""
        for line, next_line in pairwise(self.points):
            sides = zip(pairwise(line), pairwise(next_line), strict=True)
            for (a, b), (d, c) in sides:  # c is next to b, and d next to a
                yield a, b, c, d


class SurfaceResult(picture.PictureResult):
    """A result with a real surface in a box, with its curves and points.

    The three variables of ``equation``, which is 0 on the surface, are the coordinates of the box;
    ``box`` has for each of them its lower and its upper end. The box is seen from the angles
    ``elevation`` and ``azimuth``, in degrees (:func:`axes`). ``model`` has a ``title``, and
    ``variety`` says in words what is cut, as ``Zariski closure``.
    """

    __slots__ = ()

    model: Any
    equation: PolyElement
    pieces: tuple[Piece, ...]
    box: Mapping[str, tuple[Fraction, ...]]
    elevation: float
    azimuth: float

    @property
    def variety(self) -> str:
        """The variety in which the surface is, in words."""
        return "Zariski closure"

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


def scene(view: SurfaceResult) -> dict[str, Any]:
    """What the page of a surface draws, as a dictionary for ``json.dumps``; squares, and lines of
    any number of points, are lists of coordinates in the cube [−1, 1]³.
    """

    def flat(points: Sequence[SpaceVector]) -> list[float]:
        """The rounded coordinates of points of the box in the cube, one after the other."""
        return [
            round(float(value), 3)  # more decimals would be less than a pixel
            for value in scale_to_cube(points, view).ravel()
        ]

    surfaces, lines = [], []
    for piece in view.pieces:
        part = {"place": piece.name, "colour": piece.colour, "style": STYLES[piece.place]}
        if piece.kind == "surface":
            surfaces.append(part | {"squares": list(map(flat, piece.squares()))})
        else:  # a curve, or a point as a line with it alone
            lines.append(part | {"points": flat(piece.points[0])})
    return {
        "names": list(view.variables),
        "ends": [[str(low), str(high)] for low, high in view.box.values()],
        "elevation": view.elevation,
        "azimuth": view.azimuth,
        "surfaces": surfaces,
        "lines": lines,
    }


def draw_surface(view: SurfaceResult) -> Any:
    """The surface in its box as a figure of matplotlib, with its equation as title and a legend."""
    with picture.styled():
        figure = picture.new_figure(
            width=6.4, height=6.0, title=f"{view.model.title}: surface in a slice"
        )
        space = figure.add_subplot(projection="3d", computed_zorder=False, proj_type="ortho")
        figure.subplots_adjust(left=-0.02, right=0.96, bottom=0.1, top=0.97)
        _draw_axes(space, view)
        _draw_squares(space, view)
        _draw_curves(space, view)
        degree = max(map(sum, view.equation))  # the largest sum of the exponents of a monomial
        words = f"A surface of degree {degree} in the {view.variety}"
        picture.add_title(figure, f"${equation_latex(view.equation)}$", words)
        # below the picture, in two columns if its entries are short enough
        columns = 2
        if any(len(piece.name) >= 50 for piece in view.pieces):
            columns = 1
        piece_by_name = {piece.name: piece for piece in view.pieces}  # they look the same
        figure.legend(
            handles=list(map(_legend_entry, piece_by_name.values())),
            loc="lower center",
            ncols=columns,
            bbox_to_anchor=(0.5, 0),
        )
        _separate_labels(figure, space)
        return figure


def _draw_axes(space: Any, view: SurfaceResult) -> None:
    """Draw the axes of the box, with the names of the variables, into axes of matplotlib."""
    space.view_init(elev=view.elevation, azim=view.azimuth)
    space.set_box_aspect((1, 1, 1), zoom=0.95)
    for name, variable, axis in zip(view.variables, view.equation.ring.gens, "xyz", strict=True):
        low, high = map(float, view.box[name])
        getattr(space, f"set_{axis}lim")(low, high)
        letter = f"${polynomial_latex(str(variable))}$"
        getattr(space, f"set_{axis}label")(letter, fontsize=15, labelpad=9)
        getattr(space, f"set_{axis}ticks")([low, (low + high) / 2, high])
        drawn_axis = getattr(space, f"{axis}axis")
        drawn_axis.set_pane_color((1, 1, 1, 0))  # white without opacity
        drawn_axis.line.set_color(picture.SOFT)
        # Matplotlib has no public way to style the grid of such an axis.
        drawn_axis._axinfo["grid"].update(color=picture.FAINT, linewidth=0.6)


def _separate_labels(figure: Any, space: Any) -> None:
    """Move the numbers of two axes apart where they stand next to each other at a corner."""
    renderer = figure.canvas.get_renderer()
    figure.draw(renderer)  # places the numbers, which have no extent before
    axes = (space.xaxis, space.yaxis, space.zaxis)
    numbers = [[tick.label1 for tick in axis.majorTicks] for axis in axes]
    for labels, labels_of_other_axis in combinations(numbers, 2):
        for one, other in product(labels, labels_of_other_axis):
            first, second = one.get_window_extent(renderer), other.get_window_extent(renderer)
            if not first.padded(16).overlaps(second):  # nearer numbers look like one
                continue
            x_difference, y_difference = first.x0 - second.x0, first.y0 - second.y0
            if abs(y_difference) < abs(x_difference):  # they stand side by side
                left, right = (one, other) if x_difference < 0 else (other, one)
                left.set_horizontalalignment("right")
                right.set_horizontalalignment("left")
            else:
                lower, upper = (one, other) if y_difference < 0 else (other, one)
                lower.set_verticalalignment("top")
                upper.set_verticalalignment("center")


def _draw_squares(space: Any, view: SurfaceResult) -> None:
    """Draw all squares of a surface, faint with dots where no weights have the functions."""
    surfaces = [piece for piece in view.pieces if piece.kind == "surface"]
    squares, faces, edges = ([], [], [])  # all squares, with two colours of each
    for piece in surfaces:
        face_alpha, edge_alpha = 0.88, 0.35
        if piece.is_dotted:  # faint, so that its dots are seen
            face_alpha, edge_alpha = 0.16, 0.0
        for square in piece.squares():
            squares.append(square)
            faces.append(shade_colour(piece.colour, _brightness(square), face_alpha))
            edges.append(shade_colour(piece.colour, brightness=0.55, alpha=edge_alpha))
    if squares:
        style = {"facecolors": faces, "edgecolors": edges, "linewidths": 0.3, "zorder": 1}
        # In one collection the near ones hide the far ones.
        space.add_collection3d(picture.polygons(squares, **style))
    colour = shade_colour(picture.ORANGE, brightness=0.6, alpha=1)
    for piece in surfaces:
        if piece.is_dotted:
            coordinates = numpy.array(piece.points).reshape(-1, 3).T
            space.scatter(*coordinates, s=1.6, color=colour, depthshade=False, zorder=2)


def _draw_curves(space: Any, view: SurfaceResult) -> None:
    """Draw curves and points, pale where the surface is before them."""
    surfaces = [piece.squares() for piece in view.pieces if piece.kind == "surface"]
    # all squares of all surfaces, which may hide a curve
    squares = [scale_to_cube(square, view) for square in chain.from_iterable(surfaces)]
    for piece in view.pieces:
        if piece.kind == "point":  # filled, or hollow where no weights have the function
            fill_colour = "white" if piece.is_dotted else piece.colour
            (point,) = piece.points[0]  # a line with the point alone
            style = {"color": piece.colour, "markerfacecolor": fill_colour, "zorder": 4}
            space.plot(*([coordinate] for coordinate in point), "o", **style)
        elif piece.kind == "curve":
            points = numpy.array(piece.points[0], dtype=float)
            # The centre of each segment between two points says whether the segment is hidden.
            centres = scale_to_cube((points[1:] + points[:-1]) / 2, view)
            are_behind = are_hidden(centres, squares, view.elevation, view.azimuth)
            _draw_curve(space, piece, are_behind)


def _draw_curve(space: Any, piece: Piece, are_behind: Sequence[bool]) -> None:
    """Draw a piece that is a curve, with its segments between two points that are behind the
    surface pale.
    """
    (line,) = piece.points  # a surface is a grid of lines, a curve one line
    points = numpy.array(line, dtype=float)
    start = 0
    # maximal runs of segments that are all in front of the surface, or all behind it
    for is_behind, run in groupby(are_behind):
        end = start + len(list(run))  # the run has the segments start, …, end − 1
        alpha = 0.35 if is_behind else 1.0  # the opacity
        part = points[start : end + 1].T  # one point more than segments
        space.plot(*part, alpha=alpha, zorder=3, **_line_style(piece))
        start = end


def _line_style(piece: Piece) -> dict[str, Any]:
    """Return the style of the line of a piece, for matplotlib."""
    return {
        "color": piece.colour,
        "linestyle": LINES[piece.place],
        "linewidth": 2.8,
        "dash_capstyle": "round",
    }


def scale_to_cube(points: Any, view: SurfaceResult) -> Any:
    """The points of the box as points of the cube [-1, 1]³, in an array with a row for each."""
    low, high = numpy.array([view.box[name] for name in view.variables], dtype=float).T
    return (2 * numpy.array(points, dtype=float) - low - high) / (high - low)


def _brightness(square: Sequence[SpaceVector]) -> float:
    """The brightness of a square that is lit from both sides, from 0.62 to 1.02: it grows with the
    cosine of the angle between its normal and the light.
    """
    a, b, c, d = numpy.array(square, dtype=float)
    normal = numpy.cross(c - a, d - b)
    scalar_product = abs(float(normal @ LIGHT))
    length = float(numpy.linalg.norm(normal)) or 1.0  # a square without area has no normal
    return 0.62 + 0.4 * scalar_product / length


def shade_colour(colour: str, brightness: float, alpha: float) -> tuple[float, ...]:
    """A colour ``#rrggbb`` made darker, or paler if the brightness is above 1: red, green and blue,
    each from 0 to 1, and the opacity.
    """
    red, green, blue = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    shaded = [min(1.0, channel * brightness) for channel in (red, green, blue)]
    return *shaded, alpha


def _legend_entry(piece: Piece) -> Any:
    """The entry of a piece in a legend: a patch of its colour for a surface, or a line."""
    if piece.kind == "surface":
        face_alpha, hatch = (0.2, "....") if piece.is_dotted else (0.88, None)
        face = shade_colour(piece.colour, brightness=0.95, alpha=face_alpha)
        return picture.patch(label=piece.name, facecolor=face, edgecolor=piece.colour, hatch=hatch)
    style = _line_style(piece)
    if piece.kind == "point":
        style["marker"] = "o"
    return picture.line([(0, 0)], label=piece.name, **style)


def equation_latex(equation: PolyElement) -> str:
    """The equation ``equation`` = 0 in LaTeX, as ``c^2 = v^2 w``, with plus signs only.

    Terms with negative coefficients are moved to the other side. The side with fewer terms is on
    the left; a side without terms, which is 0, is on the right.
    """

    def sorting_key(side: PolyElement) -> tuple[bool, int, int]:
        """A key that sorts sides: those with terms first, then by their number, then by degree."""
        # iteration over a polynomial yields the exponents of its monomials
        return not side, len(side), max(map(sum, side), default=0)

    terms = equation.items()
    positive = equation.ring.from_dict({m: c for m, c in terms if c > 0})
    negative = equation.ring.from_dict({m: -c for m, c in terms if c < 0})
    sides = sorted((positive, negative), key=sorting_key)  # left-hand side first
    return " = ".join(polynomial_latex(polynomial_text(side)) for side in sides)


def surface_html(view: SurfaceResult) -> str:
    """The surface on a canvas, turned by the mouse or by keys; nothing is loaded from elsewhere."""
    scene_data = scene(view)
    parts = [*scene_data["surfaces"], *scene_data["lines"]]
    # an entry for each name, colour and style, in the order in which they occur
    legend_entries = dict.fromkeys((part["place"], part["colour"], part["style"]) for part in parts)
    values = {
        "title": view.model.title,
        "caption": f"{polynomial_text(view.equation)} = 0",
        "scene": dumps(scene_data),
        "legend": list(legend_entries),
    }
    return page("surface", values)
