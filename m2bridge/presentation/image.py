"""The image of a polynomial map for people and programs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from m2bridge.sheet import Facts, Sheet

if TYPE_CHECKING:
    from m2bridge.maps.image import Image


def json(image: Image) -> dict[str, Any]:
    """All about the closure, and the dimensions of source, fibre and base locus."""
    return image.closure.to_json() | {
        "title": image.title or None,
        "source_dimension": image.source_dimension,
        "source_irreducible": image.source_irreducible,
        "generic_fibre_dimension": image.generic_fibre_dimension,
        "base_locus_dimension": image.base_locus_dimension,
        "unfinished": image.unfinished or None,
    }


def sheet(image: Image) -> Sheet:
    """The dimensions, and the closure."""
    dimensions = [
        ("source", image.source_dimension),
        ("generic fibre", image.generic_fibre_dimension),
        ("base locus", image.base_locus_dimension),
    ]
    known = Facts(
        [
            *((name, "empty" if d == -1 else f"dimension {d}") for name, d in dimensions if d is not None),
            ("remark", None if image.source_irreducible else _remark(image)),
        ]
    )
    closure = image.closure.to_sheet()
    title = "\n".join(filter(None, [image.title, closure.title]))
    return replace(closure, title=title, blocks=[known, *closure.blocks])


def macaulay2(image: Image) -> str:
    """A Macaulay2 program that defines the ideal of the closure."""
    return image.closure.to_macaulay2()


def _remark(image: Image) -> str:
    if image.source_irreducible is None:
        return "it was not decided whether the source is irreducible; so no generic fibre is given"
    return "the source is reducible; so there is no one generic fibre"
