"""Figure 3 of the paper with proved dimensions in place of estimates, for lightning attention and for softmax.

Source: Henry, Marchetti, Kohn (arXiv 2408.17221), Figure 3: l = 2, t = 3, a = 2 and all widths δ = 3, …, 10, softmax.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar

from m2bridge.clock import limited
from m2bridge.drawn import Drawn
from m2bridge.errors import EngineTimeoutError, InvalidCaseError
from m2bridge.families.deep_attention.model import DeepAttention
from m2bridge.families.definition import CaseOption, Figure, integer
from m2bridge.maps.dimension import Dimension, dimension
from m2bridge.presented import Presented

MOST_POINTS = 100


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
class Figure3(Drawn, Presented):
    """Dimensions against the width.

    Parameters
    ----------
    layers, t, a : int
        l, the number of tokens, and the query/key dimension of all layers.
    points : tuple of FigurePoint
    unfinished : str
        The limit that was reached before all points were computed, or empty.
    seconds : float
    """

    presentation: ClassVar[str] = "m2bridge.families.deep_attention.presentation.figure"
    picture: ClassVar[str] = "m2bridge.families.deep_attention.presentation.picture"

    layers: int
    t: int
    a: int
    points: tuple[FigurePoint, ...]
    unfinished: str
    seconds: float

    def to_csv(self) -> str:
        """Lines of comma-separated values under a header."""
        return str(self._shown("csv"))

    @property
    def proved(self) -> bool:
        """Whether all dimensions are proved."""
        return all(d.status == "proved" for point in self.points for d in (point.lightning, point.softmax))


def figure_3(
    layers: int = 2, t: int = 3, a: int = 2, deltas: Iterable[int] = range(3, 11), timeout: float | None = None
) -> Figure3:
    """Compute the dimensions for all widths δ.

    Raises
    ------
    InvalidCaseError
        If these numbers name no networks, or there are more than :data:`MOST_POINTS` widths.
    EngineTimeoutError
        If the limit is reached before there is a point.
    """
    widths = tuple(deltas)
    if not 1 <= len(widths) <= MOST_POINTS:
        raise InvalidCaseError("delta", f"must be from 1 to {MOST_POINTS} widths, not {len(widths)}")
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
        raise EngineTimeoutError(unfinished)
    return Figure3(layers, t, a, tuple(points), unfinished, running.seconds)


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
