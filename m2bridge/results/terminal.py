"""Results on a terminal: tables fit its width, and long text wraps within its column."""

import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

from rich import box
from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from m2bridge.results import MAX_SHOWN_GENERATORS
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

INDENT_COLUMNS = 2
"""The indentation of tables and facts."""

_GAP_COLUMNS = 3
"""The gap between names and values."""

_MIN_VALUE_COLUMNS = 12
"""The width reserved for values; longer names are wrapped."""

STYLES = {
    "REFUTED": "bold red",
    "CONFIRMED": "green",
    "UNDECIDED": "yellow",
    "rejected": "bold red",
}
"""The styles of words in cells."""


def terminal_text(sheet: Sheet, most: int | None = MAX_SHOWN_GENERATORS, *, width: int) -> str:
    """Return the text of a sheet for a terminal of ``width`` columns, with colours; a width too
    small for the widest table is raised.
    """
    columns_of_tables = [len(block.header) for block in sheet.blocks if isinstance(block, Table)]
    least_for_tables = INDENT_COLUMNS + 2 * max(columns_of_tables, default=0)
    # a terminal of fewer than 40 columns wraps lines itself, because rich would cut long ones
    width = max(width, 40, least_for_tables)
    console = Console(
        file=io.StringIO(), width=width, force_terminal=True, highlight=False, legacy_windows=False
    )

    lines = []
    if sheet.title:
        lines = _lines_of_parts([_text(sheet.title, style="bold")], console)
    for block in sheet.blocks:
        if isinstance(block, Polynomials) and most is None:
            # They have megabytes, which the terminal wraps faster than rich does.
            lines.append(visible_lines(block.text(most)))
        else:
            lines += _lines_of_parts(_parts(block, most, width), console)
    return "\n".join(lines)


def _lines_of_parts(parts: Iterable[RenderableType], console: Console) -> list[str]:
    """Return the lines that rich makes of some parts in the width of a console, without blanks at
    their ends.
    """
    with console.capture() as captured:
        for part in parts:
            console.print(part)
    return [line.rstrip() for line in captured.get().splitlines()]


def _parts(block: Block, most: int | None, width: int) -> Iterator[RenderableType]:
    """Yield what rich lays out for a block, in lines of this width, from top to bottom."""
    match block:
        case Facts():
            if block.pairs:
                yield from _heading(block.caption)
                yield _grid([(name, str(value)) for name, value in block.pairs], width)
        case Table():
            # Without a caption only an empty line separates the table from the block above.
            yield from _heading(block.caption) or [""]
            yield _table(block, width)
        case Findings():
            for finding in block.rows:
                yield ""
                yield _grid([(finding.verdict, "\n".join(finding.lines))], width)
        case _:
            yield from map(_hang_indent, (block.text(most) or "").splitlines())


def _heading(caption: str) -> list[RenderableType]:
    """Return an empty line and the caption; the empty list if there is no caption."""
    if not caption:
        return []
    return ["", _hang_indent(f"  {caption}")]


def _text(text: str, **options: Any) -> Text:
    """Return text for rich in which characters that control a terminal are escaped."""
    return Text(visible_lines(text), **options)


def _grid(rows: Sequence[tuple[str, str]], width: int) -> RenderableType:
    """Return names, in their :data:`STYLES`, and values side by side; names wrap only if they would
    leave fewer than :data:`_MIN_VALUE_COLUMNS` for values.
    """
    longest = max(cell_len(visible_lines(name)) for name, _ in rows)
    available = width - INDENT_COLUMNS - _GAP_COLUMNS - _MIN_VALUE_COLUMNS
    grid = Grid.grid(padding=(0, _GAP_COLUMNS, 0, 0))
    if longest <= available:
        grid.add_column(no_wrap=True)
    else:
        grid.add_column(width=available, overflow="fold")
    grid.add_column(overflow="fold")
    for name, value in rows:
        grid.add_row(_text(name, style=STYLES.get(name, "")), _text(value))
    return Padding(grid, (0, 0, 0, INDENT_COLUMNS), expand=False)


def _hang_indent(line: str) -> RenderableType:
    """Return a line whose continuation is indented like its beginning."""
    text = line.lstrip(" ")
    return Padding(_text(text, overflow="fold"), (0, 0, 0, len(line) - len(text)))


def _table(block: Table, width: int) -> RenderableType:
    """Return a table that fits the width: with full columns, a smaller gap, or wrapped cells."""
    header = [visible_lines(str(name)) for name in block.header]
    rows = [[visible_lines(str(cell)) for cell in row] for row in block.rows]
    columns = [*zip(header, *rows, strict=True)]
    gap, widths = _widths(columns, width - INDENT_COLUMNS)
    # rich draws one character between columns, and half of the rest of the gap on both its sides
    grid = Grid(box=box.SIMPLE_HEAD, padding=(0, gap // 2), pad_edge=False, show_edge=False)
    are_numeric = numeric(rows, len(header))
    for heading, is_numeric, column_width in zip(header, are_numeric, widths, strict=True):
        justify: Literal["left", "right"] = "left"
        if is_numeric:
            justify = "right"
        grid.add_column(Text(heading), justify=justify, width=column_width, overflow="fold")
    for row in rows:
        grid.add_row(*(Text(cell, style=STYLES.get(cell, "")) for cell in row))
    return Padding(grid, (0, 0, 0, INDENT_COLUMNS), expand=False)


class _ColumnWidths(NamedTuple):
    """The gap between the columns of a table, and the width of each; ``None`` where even the
    longest words do not fit, and rich chooses.
    """

    gap: int
    widths: Sequence[int | None]


def _widths(columns: Sequence[Sequence[str]], available: int) -> _ColumnWidths:
    """Return the gap between columns, 3 if whole lines fit and else 1, and the width of each, for a
    table of ``available`` columns of the terminal.

    ``columns`` has for each column the texts of all cells, with its header. A column is at least as
    wide as its longest word.
    """
    line_widths, word_widths = [], []
    for column in columns:
        line_widths.append(max(map(cell_len, "\n".join(column).split("\n"))))
        word_widths.append(max(map(cell_len, " ".join(column).split()), default=0))
    gaps = len(columns) - 1
    if sum(line_widths) + 3 * gaps <= available:
        return _ColumnWidths(gap=3, widths=line_widths)
    spare = available - sum(word_widths) - gaps
    if spare < 0:
        return _ColumnWidths(gap=1, widths=[None] * len(columns))
    return _ColumnWidths(gap=1, widths=_widened(word_widths, line_widths, spare))


def _widened(word_widths: Sequence[int], line_widths: Sequence[int], spare: int) -> list[int]:
    """Return the widths of columns that have the widths of their longest words, and of which some
    are widened, up to their longest lines, by ``spare`` characters in all.

    Columns that lack least are completed first, so that as few as possible are wrapped.
    """
    shortages = []
    for line_width, word_width in zip(line_widths, word_widths, strict=True):
        shortages.append(line_width - word_width)
    widths = list(word_widths)
    for place in sorted(range(len(widths)), key=shortages.__getitem__):
        extra_columns = min(spare, shortages[place])
        widths[place] += extra_columns
        spare -= extra_columns
    return widths
