"""The Hasse diagram of orbits as a table, and as data."""

from __future__ import annotations

import csv as csv_files
import io
from typing import TYPE_CHECKING, Any

from m2bridge.layout import facts, table, value_text
from m2bridge.presented import computed_by, result_json

if TYPE_CHECKING:
    from m2bridge.families.attention.orbit_diagram import OrbitDiagram, OrbitNode

HEADER = ("orbit", "dimension", "singular", "boundary", "covers")


def text(found: OrbitDiagram) -> str:
    """A table of orbits, with those that each one covers."""
    rows = [
        (n.name, n.dimension, value_text(n.singular), value_text(n.boundary), ", ".join(_covered(found, n)) or "–")
        for n in found.nodes
    ]
    title = f"Orbits (rk A, rk V, dim L∩U) of the {found.model.title}, ordered by their closures"
    known = [
        ("not finished", found.unfinished or None),
        ("computed by", computed_by(found.engine_version, found.seconds)),
    ]
    return "\n".join([title, table(HEADER, rows), facts(known)])


def json(found: OrbitDiagram) -> dict[str, Any]:
    """The orbits, and the pairs of which one covers the other."""
    return result_json(found.model.to_json(), "QQ", found.engine_version or None, found.seconds) | {
        "orbits": [
            {
                "orbit": None if node.orbit is None else node.orbit.to_json(),
                "dimension": node.dimension,
                "singular": node.singular,
                "boundary": node.boundary,
            }
            for node in found.nodes
        ],
        "covers": [[low.name, high.name] for low, high in found.covers],
        "unfinished": found.unfinished or None,
    }


def latex(found: OrbitDiagram) -> str:
    """The pairs of which one covers the other."""
    return r",\; ".join(rf"{low.name} \prec {high.name}" for low, high in found.covers)


def macaulay2(found: OrbitDiagram) -> str:
    """A list of pairs of positions in the list of orbits; the zero function is {0, 0, 0}."""
    cells = [(0, 0, 0) if node.orbit is None else node.orbit.cells for node in found.nodes]
    orbits = ", ".join(f"{{{', '.join(map(str, cell))}}}" for cell in cells)
    place = {node: number for number, node in enumerate(found.nodes)}
    pairs = ", ".join(f"{{{place[low]}, {place[high]}}}" for low, high in found.covers)
    return f"orbits = {{{orbits}}}\ncovers = {{{pairs}}}"


def csv(found: OrbitDiagram) -> str:
    """One line for each orbit."""
    page = io.StringIO()
    writer = csv_files.writer(page, lineterminator="\n")
    writer.writerow(HEADER)
    for node in found.nodes:
        writer.writerow((node.name, node.dimension, node.singular, node.boundary, "; ".join(_covered(found, node))))
    return page.getvalue()


def _covered(found: OrbitDiagram, node: OrbitNode) -> list[str]:
    return [low.name for low, high in found.covers if high == node]
