"""A result as HTML for a notebook: complete where it is short, folded where it is long, never more than 100 kB."""

from typing import Any

from m2bridge.engine.script import page
from m2bridge.results.markup import Part, parts
from m2bridge.results.sheet import (
    Block,
    Facts,
    Finding,
    Findings,
    Picture,
    Polynomials,
    Sheet,
    Table,
    first_terms,
    numeric,
    shortened,
)

MOST_BYTES = 100_000
"""Of the HTML of one result."""

MOST_PICTURE = 80_000
"""Of a picture in it."""

MOST_ITEMS = 1024
"""Rows of each block, before it is seen whether they fit."""

OPEN = {"polynomials": 12, "facts": 25, "table": 25, "findings": 25}
"""Rows of a block that are not folded."""

MOST_CELL = 600
"""Characters of one fact."""

MOST_TERMS = 4000
"""Characters of a polynomial that is unfolded."""

WIDTH = 400
"""Characters of a polynomial before it is unfolded."""


def written(sheet: Sheet) -> str:
    """A ``<div>`` without scripts; where it would be too long it has fewer rows, and says how many are missing."""
    most = MOST_ITEMS
    while len((text := _page(sheet, most)).encode()) > MOST_BYTES and most:
        most //= 2
    return text


def _page(sheet: Sheet, most: int) -> str:
    title = [_cell(line) for line in sheet.title.splitlines()[:3]]
    return page(
        "result", {"title": title, "blocks": [_block(block, most) for block in sheet.blocks], "open": OPEN}
    ).strip()


def _block(block: Block, most: int) -> dict[str, Any]:
    """The values of a block for the template: its kind, its rows, and the number of those left out."""
    match block:
        case Facts():
            return _rows("facts", [(name, _cell(value)) for name, value in block.pairs], most)
        case Table():
            rows = [tuple(map(_cell, row)) for row in block.rows]
            named = {"header": block.header, "numeric": numeric(rows), "caption": _cell(block.caption)}
            return _rows("table", rows, most) | named
        case Polynomials():
            return _polynomials(block, most)
        case Findings():
            return _rows("findings", [_finding(finding) for finding in block.rows], most)
        case Picture():
            svg = block.svg()
            return {"kind": "picture", "svg": svg if most and len(svg) < MOST_PICTURE else ""}


def _rows(kind: str, rows: list[Any], most: int) -> dict[str, Any]:
    return {"kind": kind, "rows": rows[:most], "missing": len(rows[most:]), "caption": ""}


def _cell(value: object) -> str:
    return shortened(str(value), MOST_CELL)


def _polynomials(block: Polynomials, most: int) -> dict[str, Any]:
    shown = [_polynomial(text) for text in block.first(most)]
    missing = block.number - len(shown)
    return {"kind": "polynomials", "rows": shown, "missing": missing, "caption": _cell(block.caption)}


def _polynomial(text: str) -> tuple[list[Part], str, list[Part]]:
    """Its first terms, how many there are where these are not all, and all, where these are not too many."""
    head, _, number = first_terms(text, WIDTH).partition(" …  ")
    whole = list(parts(text)) if number and len(text) <= MOST_TERMS else []
    return list(parts(head)), number, whole


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "verdict": finding.verdict,
        "name": finding.name,
        "sentence": _cell(finding.sentence),
        "more": [_cell(line) for line in (*finding.grounds, *finding.remarks)],
    }
