"""Figure 3 of the paper with proved dimensions in place of estimates, for lightning attention and for softmax.

Source: Henry, Marchetti, Kohn (arXiv 2408.17221), Figure 3: l = 2, t = 3, a = 2 and all widths δ = 3, …, 10, softmax.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from m2bridge.errors import InvalidCaseError, TimeLimitError
from m2bridge.families.deep_attention.model import DeepAttention
from m2bridge.families.definition import CaseOption, Figure, integer
from m2bridge.limits import limited
from m2bridge.maps.dimension import Dimension, dimension
from m2bridge.results.base import computed_by
from m2bridge.results.picture import BLUE, FAINT, SOFT, VERMILION, PictureResult, csv_text, line, new_figure, styled
from m2bridge.results.sheet import Facts, Picture, Sheet, Table

MOST_POINTS = 100
MOST_TICKS = 12
MOST_LABELS = 12
HEADER = ("delta", "lightning", "lightning_status", "eq_14", "softmax", "softmax_status", "eq_16")


@dataclass(frozen=True, slots=True)
class FigurePoint:
    """The dimensions of two networks whose layers all have width δ."""

    delta: int
    lightning: Dimension
    softmax: Dimension

    @property
    def unfinished(self) -> str:
        """The limit, if it was reached before both dimensions were found; else empty."""
        return next((d.unfinished for d in (self.lightning, self.softmax) if d.dimension is None), "")


@dataclass(frozen=True, slots=True)
class Figure3(PictureResult):
    """Dimensions against the width.

    Parameters
    ----------
    layers, t, a : int
        l, the number of tokens, and the query/key dimension of all layers.
    points : tuple of FigurePoint
    seconds : float
    unfinished : str
        The limit that was reached before all points were computed, or empty.
    """

    layers: int
    t: int
    a: int
    points: tuple[FigurePoint, ...]
    seconds: float
    unfinished: str = ""

    @property
    def proved(self) -> bool:
        """Whether all dimensions are proved."""
        return all(d.status == "proved" for point in self.points for d in (point.lightning, point.softmax))

    def to_json(self) -> dict[str, Any]:
        """All dimensions with both bounds and what each method found."""
        return {
            "figure": 3,
            "layers": self.layers,
            "t": self.t,
            "a": self.a,
            "proved": self.proved,
            "points": [
                {"delta": point.delta, "lightning": _dimension(point.lightning), "softmax": _dimension(point.softmax)}
                for point in self.points
            ],
            "seconds": round(self.seconds, 3),
            "unfinished": self.unfinished or None,
        }

    def to_sheet(self) -> Sheet:
        """A table, and the picture."""
        header = ("δ", "lightning", "status", "Eq. 14", "softmax", "status", "Eq. 16")
        title = f"Figure 3: dimensions for l = {self.layers}, t = {self.t}, a = {self.a} and all widths δ"
        done = [("unfinished", self.unfinished or None), ("computed by", computed_by(None, self.seconds))]
        return Sheet(title, [Facts(done), Table(header, _rows(self)), Picture(self.page_svg)])

    def to_csv(self) -> str:
        """Lines of comma-separated values under a header."""
        return csv_text(HEADER, _rows(self))

    def to_macaulay2(self) -> str:
        """A list of δ and both dimensions."""
        rows = ", ".join(f"{{{row[0]}, {row[1]}, {row[4]}}}" for row in _rows(self))
        return f"dimensions = {{{rows}}}"

    def figure(self) -> Any:
        """A figure of matplotlib."""
        with styled():
            figure = new_figure(9.2, 4.5, _caption(self))
            panels = figure.subplots(1, 2, sharey=True)
            deltas = [point.delta for point in self.points]
            lightning, softmax = ([getattr(p, name) for p in self.points] for name in ("lightning", "softmax"))
            _panel(panels[0], "Lightning self-attention", "Eq. 14", deltas, lightning, BLUE)
            _panel(panels[1], "Softmax self-attention", "Eq. 16", deltas, softmax, VERMILION)
            panels[0].set_ylabel("dimension", style="italic")
            panels[0].set_ylim(0, 1.12 * max(d.dimension or 0 for d in (*lightning, *softmax)))
            figure.tight_layout(rect=(0, 0.06, 1, 1), w_pad=2.5)
            figure.text(0.5, 0.025, _caption(self), ha="center", color=SOFT)
            return figure


def figure_3(
    layers: int = 2, t: int = 3, a: int = 2, deltas: Iterable[int] = range(3, 11), *, timeout: float | None = None
) -> Figure3:
    """Compute the dimensions for all widths δ.

    Raises
    ------
    InvalidCaseError
        If these numbers name no networks, or there are more than :data:`MOST_POINTS` widths.
    TimeLimitError
        If the limit is reached before there is a point.
    """
    widths = tuple(deltas)
    if not 1 <= len(widths) <= MOST_POINTS:
        raise InvalidCaseError("delta", f"must be from 1 to {MOST_POINTS} widths, not {len(widths)}")
    if min(widths) < 1:
        raise InvalidCaseError("delta", f"must be of widths that are at least 1, not {min(widths)}")
    if layers < 1:
        raise InvalidCaseError("layers", f"must be at least 1, not {layers}")
    points: list[FigurePoint] = []
    unfinished = ""
    with limited(timeout) as running:
        for delta in widths:
            lightning = DeepAttention((delta,) * (layers + 1), a, t)
            point = FigurePoint(delta, dimension(lightning), dimension(replace(lightning, normalization="softmax")))
            if unfinished := point.unfinished:
                break
            points.append(point)
    if not points:
        raise TimeLimitError(unfinished)
    return Figure3(layers, t, a, tuple(points), running.seconds, unfinished)


def _range(text: str) -> range:
    """Read ``3..10``, or one number; ValueError with what was expected."""
    first, dots, last = text.partition("..")
    try:
        return range(integer(first), integer(last if dots else first) + 1)
    except ValueError:
        raise ValueError(f"'{text}' is neither a width nor a range such as 3..10") from None


FIGURE = Figure(
    name="3",
    title="Dimensions of deep networks of width δ, lightning attention and softmax, beside Eq. 14 and Eq. 16",
    options=(
        CaseOption("layers", integer, "number of layers l", default="2"),
        CaseOption("t", integer, "number of tokens", default="3"),
        CaseOption("a", integer, "query/key dimension of all layers", default="2"),
        CaseOption("delta", _range, "widths δ of all layers: one, or first..last", default="3..10"),
    ),
    compute=lambda layers, t, a, delta: figure_3(layers, t, a, delta),
)


def _dimension(result: Dimension) -> dict[str, Any]:
    names = ("dimension", "status", "upper_bound", "lower_bound", "expected", "methods")
    whole = result.to_json()
    return {name: whole[name] for name in names}


def _rows(figure: Figure3) -> list[tuple[object, ...]]:
    return [
        (
            point.delta,
            *(point.lightning.dimension, point.lightning.status, expected(point.lightning) or "–"),
            *(point.softmax.dimension, point.softmax.status, expected(point.softmax) or "–"),
        )
        for point in figure.points
    ]


def _caption(figure: Figure3) -> str:
    proof = "all values proved" if figure.proved else "hollow points are lower bounds"
    layers = "one layer" if figure.layers == 1 else f"{figure.layers} layers"
    return f"Dimension of the neuromanifold: {layers} of width δ, a = {figure.a}, t = {figure.t}; {proof}"


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
    points = [(delta, value) for delta, d in zip(deltas, dimensions, strict=True) if (value := expected(d)) is not None]
    if points:
        panel.plot(*zip(*points, strict=True), linestyle=(0, (5, 3)), color=colour, label="expected", linewidth=1.2)
    for delta, result in zip(deltas, dimensions, strict=True):
        filled = colour if result.status == "proved" else "white"
        panel.plot([delta], [result.dimension or 0], **_mark(colour, filled), linestyle="none")
        if len(deltas) <= MOST_LABELS:
            place = {"textcoords": "offset points", "xytext": (-5, 5), "ha": "right", "fontsize": 10}
            panel.annotate(str(result.dimension or 0), (delta, result.dimension or 0), **place)
    panel.legend(handles=_legend(formula, dimensions, colour), loc="upper left")


def _mark(colour: str, filled: str) -> dict[str, Any]:
    return {"marker": "o", "markersize": 6, "color": colour, "markerfacecolor": filled, "markeredgewidth": 1.4}


def _legend(formula: str, dimensions: Sequence[Dimension], colour: str) -> list[Any]:
    here = [(0, 0)]
    entries = [
        line(here, **_mark(colour, colour), linestyle="none", label="proved dimension"),
        line(here, color=colour, linestyle=(0, (5, 3)), linewidth=1.2, label=f"expected ({formula})"),
    ]
    if any(result.status != "proved" for result in dimensions):
        entries.append(line(here, **_mark(colour, "white"), linestyle="none", label="lower bound"))
    return entries


def expected(result: Dimension) -> int | None:
    """The paper's formula, also where its hypotheses do not hold."""
    return next((e.value for e in result.expected if e.value is not None), None)
