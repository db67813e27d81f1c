"""A result as a terminal shows it: tables fit its width, and words that go on stay in their
column.
"""

import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

from rich import box
from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from m2bridge.results.sheet import (
    SHOWN,
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

STYLES = {
    "REFUTED": "bold red",
    "CONFIRMED": "green",
    "UNDECIDED": "yellow",
    "rejected": "bold red",
}
"""Of words in cells."""


def written(sheet: Sheet, most: int | None = SHOWN, *, width: int) -> str:
    """The same as :meth:`Sheet.text`, in lines of so many columns, with colours where the terminal
    has them.
    """
    console = Console(
        file=io.StringIO(), width=width, force_terminal=True, highlight=False, legacy_windows=False
    )

    def fitted(parts: Iterable[RenderableType]) -> Iterator[str]:
        with console.capture() as captured:
            for part in parts:
                console.print(part)
        yield from (line.rstrip() for line in captured.get().splitlines())

    lines = [*fitted([_text(sheet.title, style="bold")] if sheet.title else [])]
    for block in sheet.blocks:
        # megabytes, which the terminal breaks faster
        if isinstance(block, Polynomials) and most is None:
            lines.append(visible_lines(block.text(most)))
        else:
            lines += fitted(_parts(block, most, width))
    return "\n".join(lines)


def _parts(block: Block, most: int | None, width: int) -> Iterator[RenderableType]:
    match block:
        case Facts():
            if block.pairs:
                yield _grid([(name, str(value)) for name, value in block.pairs])
        case Table():
            yield ""
            if block.caption:
                yield _hanging(f"  {block.caption}")
            yield _table(block, width)
        case Findings():
            for finding in block.rows:
                yield ""
                yield _grid([(finding.verdict, "\n".join(finding.lines))])
        case _:
            yield from map(_hanging, (block.text(most) or "").splitlines())


def _text(text: str, **options: Any) -> Text:
    """Text that commands no terminal, whatever file it comes from."""
    return Text(visible_lines(text), **options)


def _grid(rows: Iterable[tuple[str, str]]) -> RenderableType:
    """Names, and what belongs to them."""
    grid = Grid.grid(padding=(0, 3, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in rows:
        grid.add_row(_text(name, style=STYLES.get(name, "")), _text(value))
    return Padding(grid, (0, 0, 0, INDENT), expand=False)


def _hanging(line: str) -> RenderableType:
    """A line that goes on below its beginning."""
    text = line.lstrip(" ")
    return Padding(_text(text, overflow="fold"), (0, 0, 0, len(line) - len(text)))


def _table(block: Table, width: int) -> RenderableType:
    """Columns as wide as they like; else closer together, with words below each other; else with
    broken words.
    """

    header = [visible_lines(str(name)) for name in block.header]
    rows = [[visible_lines(str(cell)) for cell in row] for row in block.rows]
    columns = [*zip(header, *rows, strict=True)]
    gap, widths = _widths(columns, width - INDENT)
    grid = Grid(box=box.SIMPLE_HEAD, padding=(0, gap // 2), pad_edge=False, show_edge=False)
    for heading, right, room in zip(
        header, numeric(rows) or [False] * len(header), widths, strict=True
    ):
        justify: Literal["left", "right"] = "right" if right else "left"
        grid.add_column(Text(heading), justify=justify, width=room, overflow="fold")
    for row in rows:
        grid.add_row(*(Text(cell, style=STYLES.get(cell, "")) for cell in row))
    return Padding(grid, (0, 0, 0, INDENT), expand=False)


def _widths(columns: Sequence[Sequence[str]], room: int) -> tuple[int, list[int | None]]:
    """The space between columns, and their widths; ``None`` where there is no room for the longest
    words.
    """
    whole = [max(map(cell_len, "\n".join(column).split("\n"))) for column in columns]
    if sum(whole) + 3 * (len(whole) - 1) <= room:
        return 3, [*whole]
    words = [max(map(cell_len, " ".join(column).split()), default=0) for column in columns]
    spare = room - sum(words) - (len(words) - 1)
    if spare < 0:
        return 1, [None] * len(words)
    widths: list[int | None] = [*words]
    # those that need least become whole
    for i in sorted(range(len(words)), key=lambda i: whole[i] - words[i]):
        more = min(spare, whole[i] - words[i])
        widths[i], spare = words[i] + more, spare - more
    return 1, widths
