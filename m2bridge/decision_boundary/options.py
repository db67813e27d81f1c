"""The options of the command ``robustness``, of its pictures and of its function, declared once.

Those that say how weights are stored are the options of ``weights``.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, TypedDict

from m2bridge.trained_weights.options import OPTIONS as OF_WEIGHTS, WeightsOption

LayerSource = str | Path | Mapping[str, Any]
"""A file of weights, or a dictionary of arrays."""

ScoresOver = Literal["1", "sqrt(a)", "t"]
"""What scores are divided by."""


class BoundaryOptions(TypedDict, total=False):
    """The keyword arguments that say which boundary and which input are meant."""

    pool: str | None
    bias: float | None
    threshold: float | None
    skip: bool | None
    scores_over: ScoresOver
    input: LayerSource | None
    layer: int | None
    heads: int | None
    query: str | None
    key: str | None
    value: str | None
    output: str | None
    stacked: str | None
    layout: str | None
    ignore: str | None
    adapter: str | Path | None
    as_: Literal["lightning"] | None


_HEADS = (
    "Number of heads [default: as config.json next to FILE, shapes or names say; 1 for arrays K, Q"
    " and V]."
)
_AS_IN_WEIGHTS = ("query", "key", "value", "output", "stacked", "layout", "ignore", "adapter")

OPTIONS = (
    WeightsOption("pool", "For w: mean (the default), first, last or an index.", metavar="WHICH"),
    WeightsOption("bias", "The constant b of g. Default: 0.", float, metavar="B"),
    WeightsOption("threshold", "A threshold, which is b = -T.", float, metavar="T"),
    WeightsOption("skip", "Whether the layer adds its input [default: not].", bool),
    WeightsOption(
        "scores_over", "What scores are divided by.", choices=("1", "sqrt(a)", "t"), default="1"
    ),
    WeightsOption("input", "The file with X, R or w that are not in FILE.", Path),
    WeightsOption("layer", "The layer, from 1 on, if FILE has several.", int, metavar="NUMBER"),
    WeightsOption("heads", _HEADS, int, metavar="NUMBER"),
    *(option for option in OF_WEIGHTS if option.name in _AS_IN_WEIGHTS),
    WeightsOption(
        "as_",
        "The layer alone as lightning attention, whatever config.json or names say.",
        choices=("lightning",),
    ),
)
