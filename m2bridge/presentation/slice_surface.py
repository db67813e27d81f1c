"""A surface in a slice for people and programs."""

from __future__ import annotations

import csv as csv_files
import io
from json import dumps
from typing import TYPE_CHECKING, Any

from m2bridge.algebra.field import QQ
from m2bridge.convert.notation import ideal_macaulay2, polynomial_text
from m2bridge.presentation.slice_picture import equation_latex
from m2bridge.presentation.slice_scene import scene
from m2bridge.presented import computed_by, result_json
from m2bridge.render.page import page
from m2bridge.sheet import Facts, Picture, Sheet, Table

if TYPE_CHECKING:
    from m2bridge.maps.slice_result import Piece, SliceSurface

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
