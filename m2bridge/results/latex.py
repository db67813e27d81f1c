r"""A result in LaTeX for a paper: text for ``\input``, in lines that end where the column ends, whatever its width."""

from collections.abc import Iterator, Sequence

from m2bridge.results.markup import latex, polynomial_latex
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
)

NEEDS = r"% needs \usepackage[T1]{fontenc} and \usepackage{amsmath,array,longtable}"

LINE, BETWEEN = 76, 1.5
"""Characters in a line of a paper, and between two columns, roughly, in the size of its footnotes."""


def written(sheet: Sheet, most: int | None = SHOWN) -> str:
    """Title, formulas and blocks; at most so many polynomials of each ideal, all of them when ``None``."""
    lines = [NEEDS, r"\begin{flushleft}", *(rf"\textbf{{{latex(line)}}}\\" for line in sheet.title.splitlines())]
    lines += [f"${formula}$" + r"\\" for formula in sheet.formulas]
    return "\n".join([*lines, r"\end{flushleft}", *(line for block in sheet.blocks for line in _lines(block, most))])


def _lines(block: Block, most: int | None) -> Iterator[str]:
    match block:
        case Facts():
            yield from _table([], [[latex(name), _value(value)] for name, value in block.known], _shares(_FACTS))
        case Table():
            written = [[str(cell) for cell in row] for row in block.rows]
            rows = [[latex(cell) for cell in row] for row in written]
            yield from _table(
                [latex(name) for name in block.header], rows, _columns(block.header, written), block.caption
            )
        case Polynomials():
            yield from _polynomials(block, most)
        case Findings():
            rows = [[latex(f.name), latex(f.verdict.replace("_", " ").lower()), _said(f.grounds)] for f in block.rows]
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
    """Columns in which lines end where the column ends."""
    sides = ["left" if right else "right" for right in numbers] or ["right"] * len(shares)
    columns = (
        rf">{{\ragged{side}\arraybackslash}}p{{\dimexpr{share:.3f}\linewidth-2\tabcolsep}}"
        for side, share in zip(sides, shares, strict=True)
    )
    return "@{}" + "".join(columns) + "@{}"


def _columns(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns as wide as what they hold where all fits into a line; else as their words and a share of the rest."""
    cells = [list(column) for column in zip(header, *rows, strict=True)]
    right = numeric(rows) or [False] * len(header)
    room = LINE - BETWEEN * len(cells)
    widest = [max(map(len, column)) for column in cells]
    if sum(widest) <= room:
        return "@{}" + "".join("r" if numbers else "l" for numbers in right) + "@{}"
    words = [max(len(word) for cell in column for word in ["", *cell.split()]) for column in cells]
    spare = max(room - sum(words), 0) / max(sum(widest) - sum(words), 1)
    wanted = [word + spare * (wide - word) + BETWEEN for word, wide in zip(words, widest, strict=True)]
    return _shares([width / max(sum(wanted), LINE) for width in wanted], right)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]], columns: str, caption: str = "") -> Iterator[str]:
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


def _said(grounds: Sequence[str]) -> str:
    return "; ".join(map(latex, grounds))
