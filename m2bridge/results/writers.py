r"""A result in LaTeX, for a paper or a notebook as PDF, and in HTML for notebooks.

For a paper it is text for ``\input``, in lines that end where the column ends, whatever its width.
The HTML is complete where it is short, and folded where it is long.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from m2bridge.engine.script import page
from m2bridge.results.markup import Part, latex, parts, polynomial_latex
from m2bridge.results.sheet import (
    SHOWN,
    WIDTH,
    Block,
    Facts,
    Findings,
    Formula,
    Picture,
    Polynomials,
    Sheet,
    Table,
    first_terms,
    numeric,
    shortened,
)

NEEDS = r"% needs \usepackage[T1]{fontenc} and \usepackage{amsmath,array,longtable}"

LINE, BETWEEN = 76, 1.5
"""Characters in a line of a paper, and between two columns, roughly, in the size of its
footnotes.
"""


def paper(sheet: Sheet, most: int | None = SHOWN) -> str:
    """Title, formulas and blocks; at most so many polynomials of each ideal, all of them when
    ``None``.
    """
    lines = [
        NEEDS,
        r"\begin{flushleft}",
        *(rf"\textbf{{{latex(line)}}}\\" for line in sheet.title.splitlines()),
    ]
    lines += [f"${formula}$" + r"\\" for formula in sheet.formulas]
    return "\n".join(
        [
            *lines,
            r"\end{flushleft}",
            *(line for block in sheet.blocks for line in _lines(block, most)),
        ]
    )


def _lines(block: Block, most: int | None) -> Iterator[str]:
    match block:
        case Facts():
            yield from _table(
                [], [[latex(name), _value(value)] for name, value in block.pairs], _shares(_FACTS)
            )
        case Table():
            cells = [[str(cell) for cell in row] for row in block.rows]
            rows = [[_value(cell) for cell in row] for row in block.rows]
            header, columns = [latex(name) for name in block.header], _columns(block.header, cells)
            yield from _table(header, rows, columns, block.caption)
        case Polynomials():
            yield from _polynomials(block, most)
        case Findings():
            words = [(f.name, f.verdict.replace("_", " ").lower(), f.grounds) for f in block.rows]
            rows = [
                [latex(name), latex(verdict), "; ".join(map(latex, grounds))]
                for name, verdict, grounds in words
            ]
            yield from _table(["statement", "verdict", "reason"], rows, _shares(_FINDINGS))
        case Picture():
            return


def _polynomials(block: Polynomials, most: int | None) -> Iterator[str]:
    yield r"\begin{flushleft}"
    if block.caption:
        yield rf"{latex(block.caption)}\\"
    number = 0
    for number, text in enumerate(block.first(most), 1):
        head, _, more = (text if most is None else first_terms(text, WIDTH)).partition(" …  ")
        dots = rf" + \cdots$ {latex(more)}" if more else "$"
        yield rf"$f_{{{number}}} = {polynomial_latex(head)}{dots}\\"
    if block.number > number:
        yield rf"\ldots{{}} and {block.number - number} more\\"
    yield r"\end{flushleft}"


_FACTS, _FINDINGS = (0.24, 0.76), (0.18, 0.16, 0.66)
"""Shares of the line."""


def _shares(shares: Sequence[float], numbers: Sequence[bool] = ()) -> str:
    """The columns in which lines end where the column ends."""
    sides = ["left" if right else "right" for right in numbers] or ["right"] * len(shares)
    columns = (
        rf">{{\ragged{side}\arraybackslash}}p{{\dimexpr{share:.3f}\linewidth-2\tabcolsep}}"
        for side, share in zip(sides, shares, strict=True)
    )
    return "@{}" + "".join(columns) + "@{}"


def _columns(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns as wide as what they hold where all fits into a line; else as their words and a share
    of the rest.
    """
    cells = [list(column) for column in zip(header, *rows, strict=True)]
    right = numeric(rows) or [False] * len(header)
    room = LINE - BETWEEN * len(cells)
    widest = [max(map(len, column)) for column in cells]
    if sum(widest) <= room:
        return "@{}" + "".join("r" if numbers else "l" for numbers in right) + "@{}"
    words = [max(len(word) for cell in column for word in ["", *cell.split()]) for column in cells]
    spare = max(room - sum(words), 0) / max(sum(widest) - sum(words), 1)
    widths = [
        word + spare * (wide - word) + BETWEEN for word, wide in zip(words, widest, strict=True)
    ]
    return _shares([width / max(sum(widths), LINE) for width in widths], right)


def _table(
    header: Sequence[str], rows: Sequence[Sequence[str]], columns: str, caption: str = ""
) -> Iterator[str]:
    if not rows:
        return
    if caption:
        yield rf"{{\raggedright {latex(caption)}\par}}"
    yield rf"{{\footnotesize\setlength{{\tabcolsep}}{{3pt}}\begin{{longtable}}[l]{{{columns}}}"
    if header:
        yield rf"{' & '.join(header)} \\ \hline\endhead"
    yield " \\\\\n".join(" & ".join(row) for row in rows)
    yield r"\end{longtable}}"


def _value(value: object) -> str:
    return rf"$\displaystyle {value.latex}$" if isinstance(value, Formula) else latex(str(value))


MOST_BYTES = 100_000
"""Of one result in a notebook."""

MOST_PICTURE = 80_000
"""Bytes of a picture in HTML."""

MOST_ITEMS = 1024
"""Rows of each block, before it is seen whether they fit."""

OPEN = {"polynomials": 12, "facts": 25, "table": 25, "findings": 25}
"""Rows of a block that are not folded."""

LONGEST_CELL = 600
"""Characters of one fact in HTML."""

MOST_TERMS = 4000
"""Characters of a polynomial that is unfolded."""

FOLDED_WIDTH = 400
"""Characters of a polynomial before it is unfolded."""


def html(sheet: Sheet) -> str:
    """A ``<div>`` without scripts; where it would be too long it has fewer rows, and says how many
    are missing.
    """
    title = [_cell(line) for line in sheet.title.splitlines()[:3]]

    def write(most: int) -> str:
        blocks = [_items(block, most) for block in sheet.blocks]
        return page("result", {"title": title, "blocks": blocks, "open": OPEN}).strip()

    most = MOST_ITEMS
    while len((text := write(most)).encode()) > MOST_BYTES and most:
        most //= 2
    return text


def _items(block: Block, most: int) -> dict[str, Any]:
    """The values of a block for the template: its kind, its rows, and the number of those
    left out.
    """
    values: dict[str, Any] = {
        "kind": type(block).__name__.lower(),
        "caption": _cell(getattr(block, "caption", "")),
    }
    rows: list[Any] = []
    match block:
        case Facts():
            rows = [(name, _cell(value)) for name, value in block.pairs]
        case Table():
            rows = [tuple(map(_cell, row)) for row in block.rows]
            values |= {"header": block.header, "numeric": numeric(rows)}
        case Polynomials():
            rows = [_polynomial(text) for text in block.first(most)]
        case Findings():
            rows = [
                (f.verdict, f.name, _cell(f.sentence), [*map(_cell, (*f.grounds, *f.remarks))])
                for f in block.rows
            ]
        case Picture():
            svg = block.svg()
            values["svg"] = svg if most and len(svg) < MOST_PICTURE else ""
    number = block.number if isinstance(block, Polynomials) else len(rows)
    return values | {"rows": rows[:most], "missing": number - len(rows[:most])}


def _cell(value: object) -> str:
    return shortened(str(value), LONGEST_CELL)


def _polynomial(text: str) -> tuple[list[Part], str, list[Part]]:
    """The first terms, how many there are where these are not all, and all, where these are not too
    many.
    """
    head, _, number = first_terms(text, FOLDED_WIDTH).partition(" …  ")
    whole = list(parts(text)) if number and len(text) <= MOST_TERMS else []
    return list(parts(head)), number, whole
