r"""A result as one formula that MathJax, KaTeX and LaTeX set: an ``array`` with words in ``\text``, lines broken."""

from collections.abc import Iterable, Sequence

from m2bridge.results import markup as escape
from m2bridge.results.markup import latex_lines
from m2bridge.results.sheet import (
    SHOWN,
    Block,
    Facts,
    Findings,
    Formula,
    Picture,
    Polynomials,
    Sheet,
    Table,
    first_terms,
    line,
    numeric,
    shortened,
)

LINE = 100
"""Characters of a polynomial in one line, as they are typed."""

MOST_BYTES = 100_000
"""Of the formula of one result."""

MOST_LINES = 256
"""Of one block, before it is seen whether they fit."""

MOST_POLYNOMIAL = 1000
"""Characters of a polynomial, before it is cut."""

MOST_CELL = 300
"""Characters of one fact."""


def written(sheet: Sheet) -> str:
    """The formula between dollars; where it would be too long it has fewer lines, and dots for those missing."""
    most = MOST_LINES
    while len((text := _formula(sheet, most)).encode()) > MOST_BYTES and most:
        most //= 2
    return text


def _formula(sheet: Sheet, most: int) -> str:
    lines = [_words(line) for line in sheet.title.splitlines()[:3]]
    lines += [formula for formula in sheet.formulas[:most] if len(formula) < MOST_BYTES // 10]
    for block in sheet.blocks:
        lines += _lines(block, most)
    return rf"$\displaystyle {_array('l', lines)}$"


def _lines(block: Block, most: int) -> list[str]:
    match block:
        case Facts():
            rows = [f"{_words(name)} & {_value(value)}" for name, value in block.known]
            return _block(rows, most, "ll")
        case Table():
            written = [[str(cell) for cell in row] for row in block.rows]
            columns = "".join("r" if right else "l" for right in numeric(written))
            header = " & ".join(map(_words, block.header)) + r" \\ \hline"
            rows = [" & ".join(map(_words, row)) for row in written]
            return [_words(block.caption)][: bool(block.caption)] + _block(rows, most, columns, header)
        case Polynomials():
            return _polynomials(block, most)
        case Findings():
            rows = [f"{_words(f.verdict.replace('_', ' ').lower())} & {_words(f.name)}" for f in block.rows]
            return _block(rows, most, "ll")
        case Picture():
            return []


def _polynomials(block: Polynomials, most: int) -> list[str]:
    shown = block.first(min(SHOWN, most))
    lines = [_words(block.caption)][: bool(block.caption)]
    for number, text in enumerate(shown, 1):
        head, _, more = first_terms(text, MOST_POLYNOMIAL).partition(" …  ")
        first, *others = latex_lines(head, LINE)
        lines += [rf"f_{{{number}}} = {first}", *(rf"\qquad {line}" for line in others)]
        lines += [rf"\qquad {{}} + \cdots \; {_words(more)}"][: bool(more)]
    return lines + [r"\ldots"][: block.number > len(shown)]


def _block(rows: Sequence[str], most: int, columns: str, header: str = "") -> list[str]:
    shown = list(rows[:most]) + [r"\ldots"][: len(rows) > most]
    return [_array(columns, shown, header)] if shown else []


def _array(columns: str, lines: Iterable[str], header: str = "") -> str:
    body = r" \\ ".join(lines)
    return rf"\begin{{array}}{{{columns}}}{header} {body} \end{{array}}"


def _value(value: object) -> str:
    return value.latex if isinstance(value, Formula) else _words(str(value))


def _words(text: str) -> str:
    return escape.formula(shortened(line(text), MOST_CELL))
