"""Figure 3 of the paper with proved dimensions in place of estimates, for lightning and softmax
attention.

Source: Henry, Marchetti, Kohn (arXiv 2408.17221), Figure 3: l = 2, t = 3, a = 2 and all widths δ =
3, …, 10, softmax. :func:`m2bridge.maps.dimension.dimension` computes dimensions; here they are put
in a table and a picture.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from math import ceil
from typing import Any, NamedTuple

from m2bridge.errors import InvalidCaseError, TimeLimitError
from m2bridge.families.base import (
    CaseOption,
    Figure,
    integer,
    positive_integer,
    positive_integers,
    ranges,
)
from m2bridge.families.deep_attention.model import DeepAttention
from m2bridge.limits import limited
from m2bridge.maps.dimension import Dimension, dimension
from m2bridge.results.markup import csv_text
from m2bridge.results.picture import BLUE, FAINT, SOFT, VERMILION, PictureResult, new_figure, styled
from m2bridge.results.sheet import Facts, Picture, Sheet, Table, computed_by, m2_list

# More points would make a picture illegible.
MAX_FIGURE_POINTS = 100
# At most this many numbers are written below a panel, or at its points, since more overlap.
MAX_LABELS = 12
# The kind of attention, the paper's formula and the colour of each panel.
PANELS = (("Lightning", "Eq. 14", BLUE), ("Softmax", "Eq. 16", VERMILION))
DIMENSION_FIELDS = ("dimension", "status", "upper_bound", "lower_bound", "expected", "methods")
HEADER = ("delta", "lightning", "lightning_status", "eq_14", "softmax", "softmax_status", "eq_16")


class FigurePoint(NamedTuple):
    """The dimensions of two networks whose layers all have width δ, which is ``delta``."""

    delta: int
    lightning: Dimension
    softmax: Dimension


@dataclass(frozen=True, slots=True, repr=False)
class Figure3(PictureResult):
    """The dimensions of networks of lightning and of softmax attention, for some widths δ."""

    layers: int
    t: int
    a: int
    points: tuple[FigurePoint, ...]
    seconds: float
    unfinished: str = ""  # the limit that was reached before all points were computed

    @property
    def proved(self) -> bool:
        """Whether the dimensions of all points are proved."""
        for point in self.points:
            if point.lightning.status != "proved" or point.softmax.status != "proved":
                return False
        return True

    def to_json(self) -> dict[str, Any]:
        """Return all dimensions for ``json.dumps``, with bounds and the result of each method."""
        points = []
        for delta, lightning, softmax in self.points:
            point: dict[str, Any] = {"delta": delta}
            for name, result in (("lightning", lightning), ("softmax", softmax)):
                fields = result.to_json()
                point[name] = {field: fields[field] for field in DIMENSION_FIELDS}
            points.append(point)
        return {
            "figure": 3,
            "layers": self.layers,
            "t": self.t,
            "a": self.a,
            "proved": self.proved,
            "points": points,
            "seconds": round(self.seconds, 3),
            "unfinished": self.unfinished or None,
        }

    def to_sheet(self) -> Sheet:
        """Return the page: limits and time, the table with a row for each δ, and the picture."""
        header = ("δ", "lightning", "status", "Eq. 14", "softmax", "status", "Eq. 16")
        title = (
            f"Figure 3: dimensions for l = {self.layers}, t = {self.t}, a = {self.a} and all"
            " widths δ"
        )
        facts = [
            ("unfinished", self.unfinished or None),
            ("computed by", computed_by(engine=None, seconds=self.seconds)),
        ]
        return Sheet(title, [Facts(facts), Table(header, _rows(self)), Picture(self.page_svg)])

    def to_csv(self) -> str:
        """Return lines of comma-separated values, one for each δ, under HEADER."""
        return csv_text(HEADER, _rows(self))

    def to_macaulay2(self) -> str:
        """Return a list of {δ, dimension of lightning, dimension of softmax} in Macaulay2."""
        rows = []
        for delta, lightning, softmax in self.points:
            rows.append(m2_list((delta, lightning.dimension, softmax.dimension)))
        return f"dimensions = {m2_list(rows)}"

    def figure(self) -> Any:
        """Return the picture as a ``matplotlib.figure.Figure``."""
        with styled():
            figure = new_figure(9.2, 4.5, _caption(self))
            panels = figure.subplots(1, 2, sharey=True)
            # the dimensions for lightning, and for softmax, each for all δ
            deltas, *results = zip(*self.points, strict=True)
            for panel, dimensions, (name, formula, colour) in zip(
                panels, results, PANELS, strict=True
            ):
                _draw_panel(panel, deltas, dimensions, name=name, formula=formula, colour=colour)
            panels[0].set_ylabel("dimension", style="italic")
            # Both panels have this axis, with space for the numbers above the points.
            highest = max(result.dimension or 0 for result in chain(*results))
            panels[0].set_ylim(0, 1.12 * highest)
            # the lowest 6 % of the picture are left for the caption
            figure.tight_layout(rect=(0, 0.06, 1, 1), w_pad=2.5)
            figure.text(0.5, 0.025, _caption(self), ha="center", color=SOFT)
            return figure


def figure_3(
    layers: int = 2,
    t: int = 3,
    a: int = 2,
    deltas: Iterable[int] = range(3, 11),
    *,
    timeout: float | None = None,
) -> Figure3:
    """Compute the dimensions of lightning and softmax attention for all widths δ of all layers.

    When the limit is reached the points before it are returned, and ``unfinished`` says so;
    TimeLimitError if there are none.
    """
    widths = positive_integers("delta", deltas)
    if not 1 <= len(widths) <= MAX_FIGURE_POINTS:
        raise InvalidCaseError(
            "delta", f"must be from 1 to {MAX_FIGURE_POINTS} widths, not {len(widths)}"
        )
    # integers of NumPy and SymPy become integers of Python, for JSON
    layers, t, a = map(positive_integer, ("layers", "t", "a"), (layers, t, a))
    # l layers have l + 1 widths
    width_count = layers + 1
    points: list[FigurePoint] = []
    unfinished = ""
    with limited(timeout) as timer:
        for delta in widths:
            lightning = DeepAttention((delta,) * width_count, a, t)
            softmax = replace(lightning, normalization="softmax")
            point = FigurePoint(delta, lightning=dimension(lightning), softmax=dimension(softmax))
            # a point with one of the two alone would look like a result, and larger widths take
            # longer
            limits = [
                result.unfinished
                for result in (point.lightning, point.softmax)
                if result.dimension is None and result.unfinished
            ]
            if limits:
                unfinished = limits[0]
                break
            points.append(point)
    if not points:
        # without points the loop ended at a limit
        raise TimeLimitError(unfinished)
    return Figure3(
        layers=layers, t=t, a=a, points=tuple(points), seconds=timer.seconds, unfinished=unfinished
    )


FIGURE = Figure(
    name="3",
    title=(
        "Dimensions of deep networks of width δ, lightning attention and softmax, with Eq. 14 and"
        " Eq. 16"
    ),
    options=(
        CaseOption("layers", integer, "number of layers l", default="2"),
        CaseOption("t", integer, "number of tokens", default="3"),
        CaseOption("a", integer, "query/key dimension of all layers", default="2"),
        CaseOption(
            "delta",
            partial(ranges, "delta"),
            "widths δ of all layers, such as 4,8 or 3..10",
            default="3..10",
        ),
    ),
    compute=lambda delta, **options: figure_3(deltas=delta, **options),
)


def _rows(figure: Figure3) -> list[tuple[object, ...]]:
    """Return a row for each width δ, with the columns of HEADER."""
    rows = []
    for delta, *results in figure.points:
        row: list[object] = [delta]
        for result in results:
            row += [result.dimension, result.status, expected_dimension(result) or "–"]
        rows.append(tuple(row))
    return rows


def _caption(figure: Figure3) -> str:
    """Return the line below the picture: the networks, and what hollow points mean."""
    proof = "all values proved" if figure.proved else "hollow points are lower bounds"
    layers = "one layer" if figure.layers == 1 else f"{figure.layers} layers"
    return (
        f"Dimension of the neuromanifold: {layers} of width δ, a = {figure.a}, t = {figure.t};"
        f" {proof}"
    )


def _draw_panel(
    panel: Any,
    deltas: Sequence[int],
    dimensions: Sequence[Dimension],
    *,
    name: str,
    formula: str,
    colour: str,
) -> None:
    """Draw the paper's formula as a dashed line, and the dimensions as points with numbers."""
    panel.set_title(f"{name} self-attention", pad=12)
    panel.set_xlabel("width δ", style="italic")
    # with space for the number to the left of the first point
    panel.set_xlim(min(deltas) - 0.8, max(deltas) + 0.5)
    # Every step-th width makes at most MAX_LABELS.
    step = ceil(len(deltas) / MAX_LABELS)
    panel.set_xticks(deltas[::step])
    panel.grid(axis="y", color=FAINT, linewidth=0.8)
    panel.set_axisbelow(True)
    dashed: dict[str, Any] = {"linestyle": (0, (5, 3)), "color": colour, "linewidth": 1.2}
    panel.plot(
        deltas, list(map(expected_dimension, dimensions)), **dashed, label=f"expected ({formula})"
    )
    results = list(zip(deltas, dimensions, strict=True))
    proved_points = [(delta, result) for delta, result in results if result.status == "proved"]
    bounds = [(delta, result) for delta, result in results if result.status != "proved"]
    _plot_points(
        panel, proved_points, color=colour, markerfacecolor=colour, label="proved dimension"
    )
    _plot_points(panel, bounds, color=colour, markerfacecolor="white", label="lower bound")
    # more numbers would overlap
    if len(results) <= MAX_LABELS:
        for delta, result in results:
            height = result.dimension or 0
            panel.annotate(
                str(height),
                (delta, height),
                textcoords="offset points",
                xytext=(-5, 5),
                ha="right",
                fontsize=10,
            )
    # dimensions grow with δ, so that nothing is in this corner
    panel.legend(loc="upper left")


def _plot_points(panel: Any, results: Sequence[tuple[int, Dimension]], **style: Any) -> None:
    """Draw dots at (δ, dimension); nothing without results, so that the legend has no such mark."""
    if not results:
        return
    panel.plot(
        [delta for delta, _ in results],
        [result.dimension for _, result in results],
        marker="o",
        markersize=6,
        markeredgewidth=1.4,
        linestyle="none",
        **style,
    )


def expected_dimension(result: Dimension) -> int | None:
    """Return the value of the paper's formula, also where its hypotheses do not hold.

    The paper's statements stand first, and their formulas have a value where all widths are equal,
    as here.
    """
    for expectation in result.expected:
        if expectation.value is not None:
            return expectation.value
    return None
