r"""Results in LaTeX, for papers and notebooks as PDF, and in HTML for notebooks.

The LaTeX is text for ``\input``, whose tables fit the width of the column. Long parts of the HTML
are folded.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from m2bridge.engine.script import page
from m2bridge.results import MAX_PAGE_BYTES, MAX_POLYNOMIAL_CHARS, MAX_SHOWN_GENERATORS
from m2bridge.results.markup import FormulaPart, latex, parts_with_brackets, polynomial_latex
from m2bridge.results.sheet import (
    Block,
    Facts,
    Findings,
    Formula,
    Picture,
    Polynomials,
    Sheet,
    Table,
    numeric,
    shortened,
    split_terms,
)

NEEDS = r"% needs \usepackage[T1]{fontenc} and \usepackage{amsmath,array,longtable}"

LATEX_LINE_CHARS = 76
"""Characters in a line of a paper in footnote size, roughly."""

LATEX_COLUMN_GAP_CHARS = 2.5
"""Characters between two columns."""

SHORT_HEADER = 7
"""Characters of a header that is not broken, as ``dim L∩U`` is not."""


def keep_with_next(lines: int = 7) -> str:
    """Return LaTeX that begins a new page if fewer than ``lines`` lines fit on this one, with the
    heading, so that no heading is left alone; directly after a heading, where LaTeX allows no
    break, it does nothing.
    """
    space_left = r"\dimexpr\pagegoal-\pagetotal\relax"
    begin_page = rf"\ifdim{space_left}<{lines}\baselineskip\vfil\break\fi"
    return rf"\par\csname if@nobreak\endcsname\else{begin_page}\fi"


def paper(sheet: Sheet, most: int | None = MAX_SHOWN_GENERATORS) -> str:
    """Return a sheet in LaTeX, with at most ``most`` polynomials of each ideal (``None``: all)."""
    lines = [NEEDS, keep_with_next(), r"\begin{flushleft}"]
    lines += [rf"\textbf{{{latex(line)}}}\\" for line in sheet.title.splitlines()]
    lines += [rf"${formula}$\\" for formula in sheet.formulas]
    lines.append(r"\end{flushleft}")
    for block in sheet.blocks:
        lines += _lines(block, most)
    return "\n".join(lines)


def _lines(block: Block, most: int | None) -> Iterator[str]:
    """Yield the lines of LaTeX for a block; none for a picture.

    ``most`` is the number of polynomials that are written; ``None`` means all.
    """
    match block:
        case Facts():
            rows = [[latex(name), _value_latex(value)] for name, value in block.pairs]
            yield from _table([], rows, _column_specification(_FACTS), block.caption)
        case Table():
            cells = [[str(cell) for cell in row] for row in block.rows]
            rows = [[_value_latex(cell) for cell in row] for row in block.rows]
            yield from _table(
                block.header, rows, _specification_for_texts(block.header, cells), block.caption
            )
        case Polynomials():
            yield from _polynomials(block, most)
        case Findings():
            header = ["statement", "verdict", "reason"]
            rows = []
            for finding in block.rows:
                verdict = finding.verdict.replace("_", " ").lower()
                reasons = "; ".join(map(latex, [*finding.grounds, *finding.remarks]))
                rows.append([latex(finding.name), latex(verdict), reasons])
            yield from _table(header, rows, _column_specification(_FINDINGS), caption="")
        case Picture():  # an SVG, which LaTeX cannot read
            return


def _polynomials(block: Polynomials, most: int | None) -> Iterator[str]:
    """Yield the lines of LaTeX for at most ``most`` polynomials, each shortened, under their
    caption, and how many more there are; ``None`` means all, in full.
    """
    if block.caption:
        yield keep_with_next()
    yield r"\begin{flushleft}"
    if block.caption:
        yield rf"{latex(block.caption)}\\*"
    count = 0
    for number, text in enumerate(block.first(most), 1):
        number_of_terms = ""
        if most is not None:
            text, number_of_terms = split_terms(text, MAX_POLYNOMIAL_CHARS)
        formula = polynomial_latex(text) if text else ""
        if number_of_terms:  # no term is shown where the first one is too long
            formula = rf"{formula} + \cdots" if formula else r"\cdots"
        line = rf"$f_{{{number}}} = {formula}$ {latex(number_of_terms)}"
        yield rf"{line.rstrip()}\\"
        count = number
    if block.number > count:
        yield rf"\ldots{{}} and {block.number - count} more\\"
    yield r"\end{flushleft}"


# The widths of columns as shares of the line.
_FACTS = (0.24, 0.76)
_FINDINGS = (0.18, 0.16, 0.66)


def _column_specification(shares: Sequence[float], numeric_columns: Collection[int] = ()) -> str:
    """Return LaTeX's column specification for columns with these shares of the line, in which text
    wraps, at the right in numeric columns.
    """
    columns = []
    for place, share in enumerate(shares):
        # LaTeX names the side that is not aligned: text that is \raggedleft is aligned at the right
        side = "left" if place in numeric_columns else "right"
        width = rf"\dimexpr{share:.3f}\linewidth-2\tabcolsep"
        columns.append(rf">{{\ragged{side}\arraybackslash}}p{{{width}}}")
    return f"@{{}}{''.join(columns)}@{{}}"


def _specification_for_texts(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return LaTeX's column specification for a table with these texts.

    If all columns fit into a line, each is as wide as its widest cell. Otherwise each gets the
    width of its longest word, and the space that is left over is divided: each column gets the same
    share of what it lacks to the width of its widest cell. Widths are counted in characters here,
    and written as parts of the line.
    """
    cell_widths, word_widths = [], []
    for column in zip(header, *rows, strict=True):
        cell_widths.append(max(map(len, column)))
        words = " ".join(column).split()
        if len(column[0]) <= SHORT_HEADER:  # which is not broken
            words.append(column[0])
        word_widths.append(max(map(len, words), default=0))
    is_numeric = numeric(rows, len(header))  # for each column, whether it has only numbers
    available = LATEX_LINE_CHARS - LATEX_COLUMN_GAP_CHARS * len(header)
    if sum(cell_widths) <= available:
        sides = ["r" if number else "l" for number in is_numeric]
        return f"@{{}}{''.join(sides)}@{{}}"
    shares = _shares_of_line(cell_widths, word_widths, available)
    numeric_columns = [place for place, number in enumerate(is_numeric) if number]
    return _column_specification(shares, numeric_columns)


def _shares_of_line(
    cell_widths: Sequence[int], word_widths: Sequence[int], available: float
) -> list[float]:
    """Return the width of each column, with the gap behind it, as a share of the line.

    ``cell_widths`` and ``word_widths`` have the lengths of the widest cell and the longest word of
    each column, in characters, and ``available`` is the width of the line without gaps, which is
    less than all cells have.
    """
    left_over = max(available - sum(word_widths), 0)
    lacking = sum(cell_widths) - sum(word_widths)
    # Where something is left over, it is lacking.
    part_of_lacking = left_over / lacking if left_over else 0.0
    widths = []
    for word_width, cell_width in zip(word_widths, cell_widths, strict=True):
        extra_width = part_of_lacking * (cell_width - word_width)
        widths.append(word_width + extra_width + LATEX_COLUMN_GAP_CHARS)
    # LATEX_LINE_CHARS if the words fit into a line; a wider table is made to fit.
    line_width = sum(widths)
    return [width / line_width for width in widths]


def _table(
    header: Sequence[str], rows: Sequence[Sequence[str]], columns: str, caption: str
) -> Iterator[str]:
    """Yield the lines of a table of LaTeX cells that may be longer than a page, under its caption;
    none if there are no rows.
    """
    if not rows:
        return
    if caption:
        yield keep_with_next()
        yield rf"{{\raggedright {latex(caption)}\par\nobreak}}"
    letters, gap_points = r"\footnotesize", 4.5
    if len(rows[0]) > 10:
        # The words of so many columns do not fit side by side in larger letters.
        letters, gap_points = r"\scriptsize", 3
    space = rf"\setlength{{\tabcolsep}}{{{gap_points}pt}}\renewcommand{{\arraystretch}}{{1.15}}"
    yield f"{{{letters}{space}"
    yield rf"\begin{{longtable}}[l]{{{columns}}}"
    if header:
        cells = [header_latex(name) for name in header]
        yield rf"{' & '.join(cells)} \\ \hline\endhead"
    yield " \\\\\n".join(" & ".join(row) for row in rows)
    yield r"\end{longtable}}"


def header_latex(header: str) -> str:
    """Return the header of a column in LaTeX; a short one stays on one line."""
    text = latex(header)
    return rf"\mbox{{{text}}}" if len(header) <= SHORT_HEADER else text


def _value_latex(value: object) -> str:
    """Return a value in LaTeX: a :class:`Formula` as mathematics, any other value as text."""
    if isinstance(value, Formula):
        height = ""
        if r"\frac" in value.latex:
            height = r"\rule[-2.6ex]{0pt}{6.4ex}"  # so that fractions in two rows do not touch
        return rf"{height}$\displaystyle {value.latex}$"
    return latex(str(value))


OPEN = {"polynomials": 12, "facts": 25, "table": 25, "findings": 25}
"""Rows of a block that are shown unfolded."""


def html(sheet: Sheet) -> str:
    """Return a ``<div>`` without scripts of at most :data:`MAX_PAGE_BYTES`: the rows of each block
    are halved until it is small enough, and a block says how many are left out.
    """
    rows_per_block = 1024
    text = _html_of_rows(sheet, rows_per_block)
    while len(text.encode()) > MAX_PAGE_BYTES and rows_per_block:
        rows_per_block //= 2
        text = _html_of_rows(sheet, rows_per_block)
    return text


def _html_of_rows(sheet: Sheet, most: int) -> str:
    """Return a ``<div>`` with at most ``most`` rows of each block."""
    title = [_cell(line) for line in sheet.title.splitlines()[:3]]
    blocks = [_template_values(block, most) for block in sheet.blocks]
    return page("result", {"title": title, "blocks": blocks, "open": OPEN}).strip()


def _template_values(block: Block, most: int) -> dict[str, Any]:
    """Return what the template of a page shows of a block; ``missing`` is the number of rows that
    are left out, and the ``svg`` of a large picture is empty.
    """
    values: dict[str, Any] = {"kind": type(block).__name__.lower(), "caption": ""}
    if isinstance(block, Facts | Table | Polynomials):
        values["caption"] = _cell(block.caption)
    rows = _template_rows(block, most)
    if isinstance(block, Table):
        values |= {"header": block.header, "numeric": numeric(rows, len(block.header))}
    if isinstance(block, Picture):
        svg = block.svg()
        # less than MAX_PAGE_BYTES, so that the table of the picture fits on the page too
        is_shown = most > 0 and len(svg) < 80_000
        values["svg"] = svg if is_shown else ""
    number_of_rows = len(rows)
    if isinstance(block, Polynomials):
        number_of_rows = block.number
    values["rows"] = rows[:most]
    values["missing"] = number_of_rows - len(values["rows"])
    return values


def _template_rows(block: Block, most: int) -> list[Any]:
    """Return the rows of a block, as the template of a page takes them: all of them, but of
    polynomials, which may be large, only the first ``most``.
    """
    match block:
        case Facts():  # a row is a name with its value
            return [(name, _cell(value)) for name, value in block.pairs]
        case Table():  # a row has the cells of the columns
            return [tuple(map(_cell, row)) for row in block.rows]
        case Polynomials():  # a row is a polynomial
            return [_polynomial(text) for text in block.first(most)]
        case Findings():  # a row is a verdict, the statement with its name, and the reasons
            rows = []
            for finding in block.rows:
                reasons = [_cell(text) for text in (*finding.grounds, *finding.remarks)]
                rows.append((finding.verdict, finding.name, _cell(finding.sentence), reasons))
            return rows
        case Picture():  # without rows
            return []


def _cell(value: object) -> str:
    """Return the text of a value, shortened to 600 characters; the template escapes it."""
    return shortened(str(value), 600)


def _polynomial(text: str) -> tuple[list[FormulaPart], str, list[FormulaPart]]:
    """Return the first terms of a polynomial, the number of all as ``(5 terms)``, and all terms to
    be unfolded; both are empty if the first terms are all, and the last also if the text is very
    long.
    """
    shown_terms, number = split_terms(text, 400)
    all_terms: list[FormulaPart] = []
    if number and len(text) <= 4000:  # a longer polynomial would fill the page
        all_terms = list(parts_with_brackets(text))
    return list(parts_with_brackets(shown_terms)), number, all_terms
