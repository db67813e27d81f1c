"""A result as a terminal shows it: tables fit its width, words that go on stay in their column."""

import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

from rich import box
from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from m2bridge.results import SHOWN
from m2bridge.results.sheet import (
    Block,
    Facts,
    Findings,
    Polynomials,
    Sheet,
    Table,
    numeric,
    visible_lines,
)

INDENT = 2
"""Of tables and facts."""

NARROWEST = 40
"""Columns: a narrower terminal breaks lines itself, where rich would leave out what is too long."""

_BETWEEN = 3
"""Columns between names and what belongs to them."""

_VALUES = 12
"""Columns that are left for what belongs to names, which are broken before it is."""

STYLES = {
    "REFUTED": "bold red",
    "CONFIRMED": "green",
    "UNDECIDED": "yellow",
    "rejected": "bold red",
}
"""Of words in cells."""


def written(sheet: Sheet, most: int | None = SHOWN, *, width: int) -> str:
    """The text of a sheet in lines of so many columns, with colours where the terminal has them.

    Lines have :data:`NARROWEST` columns at least, and two for each column of a table.
    """
    tables = [len(block.header) for block in sheet.blocks if isinstance(block, Table)]
    width = max(width, NARROWEST, INDENT + 2 * max(tables, default=0))
    console = Console(
        file=io.StringIO(), width=width, force_terminal=True, highlight=False, legacy_windows=False
    )

    def fitted(parts: Iterable[RenderableType]) -> list[str]:
        with console.capture() as captured:
            for part in parts:
                console.print(part)
        return [line.rstrip() for line in captured.get().splitlines()]

    lines = []
    if sheet.title:
        lines = fitted([_text(sheet.title, style="bold")])
    for block in sheet.blocks:
        if isinstance(block, Polynomials) and most is None:
            # They have megabytes, which the terminal breaks faster than rich does.
            lines.append(visible_lines(block.text(most)))
        else:
            lines += fitted(_parts(block, most, width))
    return "\n".join(lines)


def _parts(block: Block, most: int | None, width: int) -> Iterator[RenderableType]:
    match block:
        case Facts():
            if block.pairs:
                yield from _heading(block.caption)
                yield _grid([(name, str(value)) for name, value in block.pairs], width)
        case Table():
            yield from _heading(block.caption) or [""]
            yield _table(block, width)
        case Findings():
            for finding in block.rows:
                yield ""
                yield _grid([(finding.verdict, "\n".join(finding.lines))], width)
        case _:
            yield from map(_hanging, (block.text(most) or "").splitlines())


def _heading(caption: str) -> list[RenderableType]:
    """An empty line and the caption, if there is one."""
    if not caption:
        return []
    return ["", _hanging(f"  {caption}")]


def _text(text: str, **options: Any) -> Text:
    """Text that commands no terminal, whatever file it comes from."""
    return Text(visible_lines(text), **options)


def _grid(rows: Sequence[tuple[str, str]], width: int) -> RenderableType:
    """Names, and what belongs to them."""
    longest = max(cell_len(visible_lines(name)) for name, _ in rows)
    room = width - INDENT - _BETWEEN - _VALUES
    grid = Grid.grid(padding=(0, _BETWEEN, 0, 0))
    if longest <= room:
        grid.add_column(no_wrap=True)
    else:
        grid.add_column(width=room, overflow="fold")
    grid.add_column(overflow="fold")
    for name, value in rows:
        grid.add_row(_text(name, style=STYLES.get(name, "")), _text(value))
    return Padding(grid, (0, 0, 0, INDENT), expand=False)


def _hanging(line: str) -> RenderableType:
    """A line that goes on below its beginning."""
    text = line.lstrip(" ")
    return Padding(_text(text, overflow="fold"), (0, 0, 0, len(line) - len(text)))


def _table(block: Table, width: int) -> RenderableType:
    """A table that fits: columns as wide as they like, or closer together, or with broken words."""
    header = [visible_lines(str(name)) for name in block.header]
    rows = [[visible_lines(str(cell)) for cell in row] for row in block.rows]
    columns = [*zip(header, *rows, strict=True)]
    gap, widths = _widths(columns, width - INDENT)
    grid = Grid(box=box.SIMPLE_HEAD, padding=(0, gap // 2), pad_edge=False, show_edge=False)
    right = numeric(rows, len(header))
    for heading, is_numeric, room in zip(header, right, widths, strict=True):
        justify: Literal["left", "right"] = "left"
        if is_numeric:
            justify = "right"
        grid.add_column(Text(heading), justify=justify, width=room, overflow="fold")
    for row in rows:
        grid.add_row(*(Text(cell, style=STYLES.get(cell, "")) for cell in row))
    return Padding(grid, (0, 0, 0, INDENT), expand=False)


def _widths(columns: Sequence[Sequence[str]], room: int) -> tuple[int, list[int | None]]:
    """The space between columns, and their widths; ``None`` where the longest words do not fit."""
    wholes, words = [], []
    for column in columns:
        wholes.append(max(map(cell_len, "\n".join(column).split("\n"))))
        words.append(max(map(cell_len, " ".join(column).split()), default=0))
    gaps = len(columns) - 1
    if sum(wholes) + 3 * gaps <= room:
        return 3, [*wholes]
    spare = room - sum(words) - gaps
    if spare < 0:
        return 1, [None] * len(columns)
    missing = [whole - word for whole, word in zip(wholes, words, strict=True)]
    widths: list[int | None] = [*words]
    # Columns that need least become whole first, so that as few as possible are broken.
    for place in sorted(range(len(columns)), key=lambda place: missing[place]):
        more = min(spare, missing[place])
        widths[place] = words[place] + more
        spare -= more
    return 1, widths
