"""Figure 3 as a table, as data and as a picture."""

from __future__ import annotations

import csv as csv_files
import io
from typing import TYPE_CHECKING, Any

from m2bridge.families.deep_attention.presentation.picture import picture
from m2bridge.presented import computed_by
from m2bridge.sheet import Facts, Picture, Sheet, Table

if TYPE_CHECKING:
    from m2bridge.families.deep_attention.figure import Figure3
    from m2bridge.maps.dimension import Dimension

HEADER = ("delta", "lightning", "lightning_status", "eq_14", "softmax", "softmax_status", "eq_16")


def json(found: Figure3) -> dict[str, Any]:
    """All dimensions with both bounds and what each method found."""
    return {
        "figure": 3,
        "layers": found.layers,
        "t": found.t,
        "a": found.a,
        "proved": found.proved,
        "points": [
            {"delta": point.delta, "lightning": _dimension(point.lightning), "softmax": _dimension(point.softmax)}
            for point in found.points
        ],
        "seconds": round(found.seconds, 3),
        "unfinished": found.unfinished or None,
    }


def _dimension(found: Dimension) -> dict[str, Any]:
    kept = ("dimension", "status", "upper_bound", "lower_bound", "expected", "methods")
    whole = found.to_json()
    return {name: whole[name] for name in kept}


def sheet(found: Figure3) -> Sheet:
    """A table, and the picture."""
    header = ("δ", "lightning", "status", "Eq. 14", "softmax", "status", "Eq. 16")
    title = f"Figure 3: dimensions for l = {found.layers}, t = {found.t}, a = {found.a} and all widths δ"
    done = [("unfinished", found.unfinished or None), ("computed by", computed_by(None, found.seconds))]
    return Sheet(title, [Facts(done), Table(header, _rows(found)), Picture(lambda: picture(found))])


def csv(found: Figure3) -> str:
    """Lines of comma-separated values under a header."""
    page = io.StringIO()
    writer = csv_files.writer(page, lineterminator="\n")
    writer.writerow(HEADER)
    writer.writerows(_rows(found))
    return page.getvalue()


def macaulay2(found: Figure3) -> str:
    """A list of δ and both dimensions."""
    rows = ", ".join(f"{{{row[0]}, {row[1]}, {row[4]}}}" for row in _rows(found))
    return f"dimensions = {{{rows}}}"


def svg(found: Figure3) -> str:
    """Two panels: lightning attention with Eq. 14, and softmax with Eq. 16."""
    return picture(found)


def _rows(found: Figure3) -> list[tuple[object, ...]]:
    return [
        (
            point.delta,
            *(point.lightning.dimension, point.lightning.status, _formula(point.lightning)),
            *(point.softmax.dimension, point.softmax.status, _formula(point.softmax)),
        )
        for point in found.points
    ]


def _formula(found: Dimension) -> object:
    """The paper's formula, also where its hypotheses do not hold."""
    return next((e.value for e in found.expected if e.value is not None), "–")
