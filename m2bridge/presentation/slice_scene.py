"""A surface in a slice as a scene that a page turns: squares and lines in the cube [-1, 1]³, with their colours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from m2bridge.drawing import INK, VERMILION
from m2bridge.maps.slice_result import CLOSURE_ONLY, FUNCTIONS, UNDECIDED
from m2bridge.presentation.slice_picture import FACES, quads, scaling
from m2bridge.presentation.slice_view import Point

if TYPE_CHECKING:
    from m2bridge.maps.slice_result import SliceSurface

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
