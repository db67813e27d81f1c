"""The overview: cases in grids, as two of the numbers that name them say."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from m2bridge.atlas.content import Sheet
from m2bridge.report.content import Cell


@dataclass(frozen=True, slots=True)
class Grid:
    """The cases that differ in two numbers only.

    Parameters
    ----------
    caption : str
        The other numbers: ``a = 2, t = 2``.
    down, across : str
        How the two are called.
    columns : tuple of int or str
    lines : tuple
        For each line its number, and the case in each column, or ``None``.
    """

    caption: str
    down: str
    across: str
    columns: tuple[Cell, ...]
    lines: tuple[tuple[Cell, tuple[Sheet | None, ...]], ...]


def grids(sheets: Iterable[Sheet]) -> tuple[tuple[Grid, ...], tuple[Sheet, ...]]:
    """All grids, and the cases that fewer than two numbers name."""
    groups: dict[tuple[object, ...], list[Sheet]] = {}
    alone = []
    for sheet in sheets:
        if len(sheet.case.options) < 2:
            alone.append(sheet)
        else:
            headings = tuple(heading for _, heading, _ in sheet.case.options)
            groups.setdefault((sheet.case.family, headings, sheet.case.cells[2:]), []).append(sheet)
    return tuple(_grid(group) for _, group in sorted(groups.items(), key=lambda item: repr(item[0]))), tuple(alone)


def _grid(sheets: list[Sheet]) -> Grid:
    (_, down, _), (_, across, _), *others = sheets[0].case.options
    placed = {sheet.case.cells[:2]: sheet for sheet in sheets}
    numbers, columns = (_sorted({cells[place] for cells in placed}) for place in (0, 1))
    lines = tuple((number, tuple(placed.get((number, column)) for column in columns)) for number in numbers)
    return Grid(", ".join(f"{heading} = {value}" for _, heading, value in others), down, across, columns, lines)


def _sorted(cells: Iterable[Cell]) -> tuple[Cell, ...]:
    return tuple(sorted(cells, key=lambda cell: (isinstance(cell, str), cell)))
