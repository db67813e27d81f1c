"""A surface in a slice as a scene that a page turns: squares and lines in the cube [-1, 1]³, with their colours."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from m2bridge.drawing import INK, VERMILION
from m2bridge.maps.slice_result import CLOSURE_ONLY, FUNCTIONS, UNDECIDED
from m2bridge.presentation.slice_picture import FACES, quads

if TYPE_CHECKING:
    from m2bridge.maps.slice_result import SliceSurface

DIGITS = 3
STYLES = {FUNCTIONS: "solid", CLOSURE_ONLY: "dotted", UNDECIDED: "dashed"}


def scene(found: SliceSurface) -> dict[str, Any]:
    """For ``json.dumps``: ``squares`` have four corners each, ``lines`` any number of points."""
    scaled = _scaling(found)
    surfaces = [piece for piece in found.pieces if piece.kind == "surface"]
    others = [piece for piece in found.pieces if piece.kind != "surface"]
    return {
        "names": list(found.variables),
        "ends": [[str(low), str(high)] for low, high in found.box.values()],
        "elevation": found.elevation,
        "azimuth": found.azimuth,
        "surfaces": [
            {
                "place": piece.place,
                "colour": FACES[piece.place],
                "style": STYLES[piece.place],
                "squares": [scaled(corners) for corners in quads(piece)],
            }
            for piece in surfaces
        ],
        "lines": [
            {
                "place": f"{'singular ' if piece.singular else ''}{piece.kind}: {piece.place}",
                "colour": VERMILION if piece.singular else INK,
                "style": STYLES[piece.place],
                "points": scaled(piece.points[0]),
            }
            for piece in others
        ],
    }


def _scaling(found: SliceSurface) -> Callable[[Iterable[Iterable[float]]], list[float]]:
    """From points of the box to coordinates between -1 and 1, one after the other."""
    ends = [tuple(map(float, found.box[name])) for name in found.variables]

    def scaled(points: Iterable[Iterable[float]]) -> list[float]:
        return [
            round((2 * value - low - high) / (high - low), DIGITS)
            for point in points
            for value, (low, high) in zip(point, ends, strict=True)
        ]

    return scaled
