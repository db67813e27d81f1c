"""The pictures: Figure 1 of the paper, slices of any case, and its orbits with their closures.

How surfaces and layers are drawn stands in ``pictures/`` and ``maps/slice_surface.py``. Source:
Henry, Marchetti, Kohn (arXiv 2408.17221), Figure 1: (d, d', a) = (2, 1, 2), where the two forms are
v_1 l_1 = y_1² − w y_2² and v_1 l_2 = v y_1 y_2 + c y_2²; the slice is the Whitney umbrella c² = w
v². A case has finitely many orbits, and their closures are ordered by inclusion. (Notation: the
docstring of families/attention.)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from itertools import chain, pairwise
from operator import attrgetter
from typing import Any, NamedTuple, Unpack

from sympy import Expr, symbols

from m2bridge.algebra.field import QQ
from m2bridge.algebra.ring import PolynomialRing
from m2bridge.convert.bounded_io import read_rational
from m2bridge.convert.polynomial_parser import read_polynomial
from m2bridge.engine import RunOptions, computation
from m2bridge.errors import ConversionError, MethodUnavailableError, TooLargeError, check_kind
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.observations.observe import observe
from m2bridge.families.attention.orbits.orbits import Orbit, orbit_count
from m2bridge.families.base import CaseOption, Figure, integer
from m2bridge.ideals.ideal import Ideal
from m2bridge.maps.degrees.polar_degrees import polar_degrees
from m2bridge.maps.hilbert_function import hilbert_function
from m2bridge.maps.model import Model
from m2bridge.maps.slice_surface import SliceSurface, slice_surface
from m2bridge.pictures.graph_layout import lay_out, smooth_curve, straighten_route
from m2bridge.results import picture
from m2bridge.results.base import Proof, result_json
from m2bridge.results.markup import csv_text
from m2bridge.results.sheet import (
    Facts,
    Picture,
    Sheet,
    Table,
    computed_by,
    in_brackets,
    m2_list,
    value_text,
)

MAX_DRAWN_ORBITS = 120
"""The largest number of orbits in a legible picture."""
NODE_LEFT, NODE_RIGHT = 0.2, 0.62
"""How far a mark reaches to the left of the place of its orbit, and its name to the right.

The unit is the step from one orbit to the next in a layer.
"""


class OrbitRow(NamedTuple):
    """A row of the table of orbits."""

    orbit: str
    dimension: int
    singular: bool | None
    boundary: bool | None
    covers: str  # the names of the orbits that it covers; empty for the zero function


HEADER = OrbitRow._fields

MARKS = {
    "smooth": {"marker": "o", "color": picture.BLUE, "markersize": 11},
    "singular": {"marker": "D", "color": picture.ORANGE, "markersize": 10},
    "boundary": {"marker": "s", "color": picture.VERMILION, "markersize": 11},
    "undecided": {
        "marker": "o",
        "color": picture.SOFT,
        "markersize": 11,
        "markerfacecolor": "white",
    },
}
"""Markers have different shapes and colours, so that they are legible in black and white."""


@dataclass(frozen=True, slots=True)
class OrbitNode:
    """An orbit as a node of the picture; ``None`` as an answer means undecided."""

    orbit: Orbit | None  # None for the zero function
    dimension: int
    singular: bool | None
    boundary: bool | None  # whether its points are limits of real functions without real weights

    @property
    def name(self) -> str:
        """The numbers of the orbit, such as ``(1, 1, 0)``; ``0`` for the zero function."""
        return "0" if self.orbit is None else str(self.orbit)

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers (rk A, rk V, dim L∩U) of the orbit; zeros for the zero function."""
        return (0, 0, 0) if self.orbit is None else self.orbit.cells

    @property
    def state(self) -> str:
        """The state of the mark: ``boundary``, ``singular``, ``smooth`` or ``undecided``."""
        if self.boundary:  # whether it is singular or not
            return "boundary"
        return {True: "singular", False: "smooth", None: "undecided"}[self.singular]

    def is_below(self, other: OrbitNode) -> bool:
        """Return whether this orbit is in the closure of ``other`` and different from it."""
        if self.orbit is None or other.orbit is None:
            # zero is in the closure of every orbit, and no orbit is in the closure of zero
            return self.orbit is None and other.orbit is not None
        return self.orbit != other.orbit and self.orbit.in_closure_of(other.orbit)


@dataclass(frozen=True, slots=True)
class OrbitDiagram(picture.PictureResult):
    """The orbits of a case, with the order in which their closures contain each other.

    Parameters
    ----------
    model : SingleLayerAttention
    nodes : tuple of OrbitNode
        By dimension; the zero function first.
    covers : tuple of (OrbitNode, OrbitNode)
        Pairs of orbits, the first in the closure of the second, with no orbit in between: the
        edges.
    engine_version : str
    seconds : float
    unfinished : str
        The limit that was reached before all orbits were observed, or empty.

    Examples
    --------
    >>> diagram = orbit_diagram(SingleLayerAttention(d=2, d_out=1))
    >>> [(node.name, node.dimension, node.state) for node in diagram.nodes]
    [('0', 0, 'boundary'), ('(1, 1, 1)', 3, 'boundary'),
     ('(1, 1, 0)', 4, 'singular'), ('(2, 1, 1)', 5, 'smooth')]
    >>> [(low.name, high.name) for low, high in diagram.covers]
    [('0', '(1, 1, 1)'), ('(1, 1, 1)', '(1, 1, 0)'), ('(1, 1, 0)', '(2, 1, 1)')]
    """

    model: SingleLayerAttention
    nodes: tuple[OrbitNode, ...]
    covers: tuple[tuple[OrbitNode, OrbitNode], ...]
    engine_version: str
    seconds: float
    unfinished: str = ""

    def rows(self, separator: str) -> list[OrbitRow]:
        """Return the rows of the table with header :data:`HEADER`, one for each orbit.

        ``separator`` is put between the names of the orbits that an orbit covers.
        """
        rows = []
        for node in self.nodes:
            covered = separator.join(low.name for low, high in self.covers if high == node)
            row = OrbitRow(
                orbit=node.name,
                dimension=node.dimension,
                singular=node.singular,
                boundary=node.boundary,
                covers=covered,
            )
            rows.append(row)
        return rows

    def proof(self) -> Proof:
        """Return whether it is decided for each orbit if it is singular, and a boundary."""
        if self.unfinished:
            return Proof(False, self.unfinished)
        undecided = [node.name for node in self.nodes if None in (node.singular, node.boundary)]
        if undecided:
            return Proof(False, f"undecided: {', '.join(undecided)}")
        return Proof(True, "the fibre of the parametrization over a point of each orbit")

    def __repr__(self) -> str:
        return in_brackets(self, "model", "is_proved")

    def to_sheet(self) -> Sheet:
        """Return a table of the orbits, with those that each one covers, and the picture."""
        rows = []
        for name, dimension, singular, boundary, covered in self.rows(", "):
            states = value_text(singular), value_text(boundary)
            rows.append((name, dimension, *states, covered or "–"))
        lines = [
            ("not finished", self.unfinished or None),
            ("computed by", computed_by(self.engine_version, self.seconds)),
        ]
        title = f"Orbits (rk A, rk V, dim L∩U) of the {self.model.title}, ordered by their closures"
        return Sheet(title, [Facts(lines), Table(HEADER, rows), Picture(self.page_svg)])

    def to_json(self) -> dict[str, Any]:
        """Return a dictionary for ``json.dumps``.

        In addition to the case, the field QQ, the version and the seconds it has ``orbits``, the
        fields of each node; ``covers``, a pair [low, high] of names for each orbit ``high`` that
        covers an orbit ``low``; and ``unfinished``, None if all orbits were observed.
        """
        version = self.engine_version or None
        return result_json(self.model.to_json(), "QQ", version, self.seconds) | {
            "orbits": [asdict(node) for node in self.nodes],
            "covers": [[low.name, high.name] for low, high in self.covers],
            "unfinished": self.unfinished or None,
            **self.proof()._asdict(),
        }

    def to_macaulay2(self) -> str:
        """Return Macaulay2 assignments of two lists: orbits, and pairs of positions of orbits.

        An orbit is {rk A, rk V, dim L∩U}, and the zero function {0, 0, 0}. In a pair the second
        orbit covers the first; positions begin with 0.
        """
        orbits = [m2_list(node.numbers) for node in self.nodes]
        position = {node: number for number, node in enumerate(self.nodes)}
        pairs = [m2_list((position[low], position[high])) for low, high in self.covers]
        return f"orbits = {m2_list(orbits)}\ncovers = {m2_list(pairs)}"

    def to_csv(self) -> str:
        """Return the orbits as a table of CSV, each with the orbits that it covers."""
        return csv_text(HEADER, self.rows("; "))

    def figure(self) -> Any:
        """Return a ``matplotlib.figure.Figure`` with the orbits in layers by dimension.

        Marks are joined by a line where one orbit covers the other.
        """
        layers = self.layers()
        # the place (x, number of the layer) of each orbit, and for each line from orbit to orbit
        # the places that it passes in the layers
        places, routes = lay_out(list(layers.values()), self.covers)
        positions = list(places.values())
        curves = []  # smooth ones, which keep away from marks and names
        for route in routes:
            straight = straighten_route(route, positions, left=NODE_LEFT, right=NODE_RIGHT)
            curves.append(smooth_curve(straight))
        # how far the picture reaches to both sides of its middle, in steps from orbit to orbit
        half_width = max(abs(x) for x, _ in chain(positions, *curves))
        with picture.styled():
            # In inches: a step from orbit to orbit is 1.25, each layer has 0.78, and margins hold
            # numbers on the left, the title above, the legend below. Places in the figure are
            # given as parts of its sides.
            width = max(5.8, 2 * half_width * 1.25 + 3)
            height = 0.78 * len(layers) + 1.9
            figure = picture.new_figure(width, height, f"Orbits of the {self.model.title}")
            axes = figure.add_axes((0.9 / width, 0.85 / height, 1 - 1.1 / width, 1 - 1.45 / height))
            levels = list(layers)
            axes.set_xlim(-half_width - 0.6, half_width + 0.9)
            axes.set_ylim(-0.45, len(levels) - 0.55)
            axes.set_xticks([])
            axes.set_yticks(range(len(levels)), [str(level) for level in levels])
            axes.set_ylabel("dimension of the orbit", style="italic")
            axes.grid(axis="y", color=picture.FAINT, linewidth=0.7)
            axes.set_axisbelow(True)
            axes.spines["bottom"].set_visible(False)
            for curve in curves:
                # below marks and names
                x, y = zip(*curve, strict=True)
                axes.plot(x, y, color=picture.SOFT, linewidth=1.1, zorder=1, gid="cover")
            for node, place in places.items():
                _draw_node(axes, node, place)
            _add_texts(figure, self, height)
            return figure

    def layers(self) -> dict[int, list[OrbitNode]]:
        """Return the orbits by their dimension, the smallest dimension first."""
        layers: dict[int, list[OrbitNode]] = {}
        for node in sorted(self.nodes, key=attrgetter("dimension")):
            layers.setdefault(node.dimension, []).append(node)
        return layers


@computation
def orbit_diagram(model: SingleLayerAttention, **options: Unpack[RunOptions]) -> OrbitDiagram:
    """Observe all orbits of a case, and order them by inclusion of closures.

    ``engine`` is a session of Macaulay2, by default the session of the enclosing ``with`` block,
    else the one shared in the process. ``timeout`` is a number of seconds, by default no limit but
    the limit of an enclosing block.

    Raises
    ------
    MethodUnavailableError
        If t = 1, where functions are not classified by orbits.
    TooLargeError
        If there are more than :data:`MAX_DRAWN_ORBITS` orbits.
    EngineError
        If Macaulay2 failed, or a limit was reached before anything was observed.

    Examples
    --------
    >>> diagram = orbit_diagram(SingleLayerAttention(d=2, d_out=2))
    >>> len(diagram.nodes), len(diagram.covers)
    (6, 6)
    """
    check_kind("model", model, SingleLayerAttention, "a SingleLayerAttention")
    reason = model.no_orbits()
    if reason:
        raise MethodUnavailableError(reason)
    if orbit_count(model) > MAX_DRAWN_ORBITS:
        raise TooLargeError(
            f"{orbit_count(model)} orbits are too many for a picture, which has"
            f" {MAX_DRAWN_ORBITS}: take smaller numbers"
        )
    # the picture does not show the degree of the closure
    observations = observe(model, degree=False)
    # the zero function and all orbits, the smallest dimension first
    apex = OrbitNode(
        orbit=None,
        dimension=0,
        # a cone is smooth at its apex exactly if it is the space that it spans
        singular=model.independent_count > observations.dimension,
        # the apex of the cone is a limit of the boundary points, of which there are none for d = 1
        boundary=model.d > 1,
    )
    # for each orbit whether it consists of boundary points
    boundary: Mapping[Orbit, Any] = observations.at_orbits("boundary")
    nodes = [apex]
    for fact in sorted(observations.orbits, key=attrgetter("dimension", "orbit")):
        node = OrbitNode(
            orbit=fact.orbit,
            dimension=fact.dimension,
            singular=fact.singular,
            boundary=boundary[fact.orbit],
        )
        nodes.append(node)
    return OrbitDiagram(
        model=model,
        nodes=tuple(nodes),
        covers=covers(nodes),
        engine_version=observations.engine_version,
        seconds=observations.seconds,
        unfinished=observations.unfinished,
    )


def covers(nodes: Sequence[OrbitNode]) -> tuple[tuple[OrbitNode, OrbitNode], ...]:
    """Return the pairs (low, high) with low in the closure of high, and no orbit in between."""
    pairs = []
    for high in nodes:
        below_high = [node for node in nodes if node.is_below(high)]
        # if one of these orbits is below a second one, the second one is between it and ``high``
        maximal = [low for low in below_high if not any(map(low.is_below, below_high))]
        pairs += [(low, high) for low in maximal]
    return tuple(pairs)


def _draw_node(axes: Any, node: OrbitNode, place: tuple[float, int]) -> None:
    """Draw the mark of an orbit at its place, and its name at the right, above lines."""
    x, y = place
    axes.plot([x], [y], linestyle="none", **MARKS[node.state], zorder=3, gid=f"orbit {node.name}")
    style = {
        "textcoords": "offset points",
        "xytext": (11, 0),
        "va": "center",
        "fontsize": 10.5,
        "color": picture.INK,
    }
    ground = {"facecolor": "white", "edgecolor": "none", "pad": 0.4, "alpha": 0.9}
    axes.annotate(node.name, place, **style, bbox=ground, zorder=2)


def _add_texts(figure: Any, diagram: OrbitDiagram, height: float) -> None:
    """Write the title of a diagram above its axes, and the legend and a note below them."""
    model = diagram.model
    title = f"Orbits of (d, d′, a) = ({model.d}, {model.d_out}, {model.a})"
    figure.text(0.5, 1 - 0.32 / height, title, ha="center", fontsize=13)
    # in the legend a line of matplotlib for each state that occurs in the picture
    marks = []
    for state, mark in MARKS.items():
        nodes = [node for node in diagram.nodes if node.state == state]
        if not nodes:
            continue
        label = state
        if state == "boundary" and all(node.singular for node in nodes):
            # the mark for boundary points hides that they are singular, so the legend says it
            label = "boundary, singular"
        marks.append(picture.line([(0, 0)], linestyle="none", **mark, label=label))
    figure.legend(handles=marks, loc="lower center", ncols=4, bbox_to_anchor=(0.5, 0.2 / height))
    remark = "(rk A, rk V, dim L∩U); lines: inclusions of closures"
    differences = {high - low for low, high in pairwise(diagram.layers())}
    if len(differences) > 1:
        # equal heights between the layers do not show the dimensions to scale
        remark += "; heights in the order of dimensions, not to scale"
    figure.text(0.5, 0.12 / height, remark, ha="center", fontsize=9.5, color=picture.SOFT)


# The options of figures: a text that an option does not take is a ValueError, with a message.

ELEVATION, AZIMUTH = 22.0, -62.0
"""The viewing angles of Figure 1 in the paper, in degrees."""


def read_angle(text: str) -> float:
    """Return the angle in degrees, from −360 to 360, that a text such as ``22.5`` names."""
    try:
        angle = read_rational(text)
    except ConversionError:
        raise ValueError(f"'{text:.60}' is not an angle in degrees") from None
    if abs(angle) > 360:
        raise ValueError(f"{text:.60} degrees are more than 360")
    return float(angle)


def read_interval(text: str) -> tuple[Fraction, Fraction]:
    """Return the ends of an interval such as ``-1..1``; low < high is checked where it is used."""
    first, _, last = text.partition("..")
    try:
        return read_rational(first), read_rational(last)
    except ConversionError:
        raise ValueError(f"'{text:.60}' is not an interval such as -1..1") from None


def read_assignments(text: str) -> dict[str, Expr]:
    """Return {coordinate: value} from a text such as ``c_1_1_1_1=1, c_1_1_2_2=-w``.

    A value is a number, or a polynomial in variables of any names, over QQ.
    """
    assignments: dict[str, Expr] = {}
    for part in filter(str.strip, text.split(",")):
        name, equals, value = part.partition("=")
        name = name.strip()
        if not equals or name in assignments:
            raise ValueError(
                f"'{part.strip():.60}' is not one value for a coordinate, such as c_1_1_1_1=1"
            )
        try:
            assignments[name] = _read_value(value)
        except ConversionError as reason:
            raise ValueError(f"{name:.60}: {reason}") from None
    return assignments


def _read_value(text: str) -> Expr:
    """Return the polynomial over QQ with this text, in the variables whose names occur in it."""
    # a name begins with a letter or underscore, and goes on with letters, digits, underscores
    name_pattern = r"[^\W\d]\w*"
    variables = tuple(dict.fromkeys(re.findall(name_pattern, text)))
    # a ring has at least one variable: where the value is a number, one that does not occur
    ring = PolynomialRing(QQ, variables or ("x",))
    return read_polynomial(text, ring).as_expr()


VIEW_OPTIONS = (
    CaseOption(
        "elevation",
        read_angle,
        "angle above the horizontal plane, in degrees",
        default=f"{ELEVATION:g}",
    ),
    CaseOption(
        "azimuth", read_angle, "angle around the vertical axis, in degrees", default=f"{AZIMUTH:g}"
    ),
    CaseOption(
        "fineness", integer, "about how many points are computed along a side", default="32"
    ),
)
"""The options of each figure that is a surface: how it is seen, and how finely it is drawn."""


@computation
def figure_1(
    *,
    fineness: int = 32,
    elevation: float = ELEVATION,
    azimuth: float = AZIMUTH,
    **options: Unpack[RunOptions],
) -> SliceSurface:
    """Return the slice of Figure 1, with v, c and w as axes, seen from two angles in degrees."""
    # v_1 l_1 = y_1² − w y_2² and v_1 l_2 = v y_1 y_2 + c y_2²; c_1_i_p_q is the
    # coefficient of y_p y_q in v_1 l_i
    v, c, w = symbols("v c w")
    constants = {"c_1_1_1_1": 1, "c_1_1_1_2": 0, "c_1_2_1_1": 0}
    axes = {"c_1_2_1_2": v, "c_1_2_2_2": c, "c_1_1_2_2": -w}
    return _slice_seen_from(
        SingleLayerAttention(2, 1),
        {**constants, **axes},
        fineness=fineness,
        elevation=elevation,
        azimuth=azimuth,
    )


def _slice_seen_from(
    case: Model | Ideal, *args: Any, elevation: float, azimuth: float, **options: Any
) -> SliceSurface:
    """Return the :func:`slice_surface` of a case, seen from two angles in degrees."""
    return slice_surface(case, *args, **options).seen_from(elevation, azimuth)


def _taking_case_numbers(compute: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that takes the numbers d, d', t and a where ``compute`` takes a model."""

    def compute_for_numbers(
        d: int, d_out: int, t: int, a: int | None = None, **options: Any
    ) -> Any:
        return compute(SingleLayerAttention(d, d_out, a, t), **options)

    return compute_for_numbers


def figures(case: tuple[CaseOption, ...]) -> tuple[Figure, ...]:
    """Return the figures of the family, with the options that a command offers for each.

    ``case`` has the options that name a case: d, d', a and t.
    """
    umbrella = (
        "Figure 1: the Whitney umbrella in the closure for (d, d', a) = (2, 1, 2), with its"
        " singular curve"
    )
    assigned = CaseOption(
        "coordinates",
        read_assignments,
        "values of coordinates, such as c_1_1_1_1=1,c_1_1_2_2=-w",
        default="",
    )
    box = CaseOption("box", read_interval, "the interval of all three variables", default="-1..1")
    last = CaseOption("degree", integer, "the last degree that is shown", default="8")
    space = "A surface in the closure, or in the variety of an ideal, in a space of dimension 3"
    return (
        Figure("1", umbrella, VIEW_OPTIONS, figure_1, needs_engine=True),
        Figure(
            "slice",
            space,
            (*case, assigned, box, *VIEW_OPTIONS),
            _taking_case_numbers(_slice_seen_from),
            needs_engine=True,
            of_model=_slice_seen_from,
            case=case,
        ),
        Figure(
            "orbits",
            "The orbits of a case, ordered by their closures",
            case,
            _taking_case_numbers(orbit_diagram),
            needs_engine=True,
        ),
        Figure(
            "polar",
            "Polar degrees as bars; their sum is the generic ED degree",
            case,
            _taking_case_numbers(polar_degrees),
            needs_engine=True,
            of_model=polar_degrees,
            case=case,
        ),
        Figure(
            "hilbert",
            "The Hilbert function with its polynomial",
            (*case, last),
            _taking_case_numbers(hilbert_function),
            needs_engine=True,
            of_model=hilbert_function,
            case=case,
        ),
    )
