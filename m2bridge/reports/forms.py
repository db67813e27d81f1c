"""A report as text, Markdown, LaTeX, CSV, JSON and HTML."""

import csv
import io
import json
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

from m2bridge.reports.content import NAMES, Report, Row, verdict_words
from m2bridge.reports.grid import LINKS, paragraph, summary, to_latex_grid
from m2bridge.reports.page import statements, to_html
from m2bridge.results import markup as escape
from m2bridge.results.sheet import Block, Facts, Sheet, Table, table

WIDTH = 100
INDENT = " " * 7
REPORTED = "reported_"
MOST_OF_NUMBERS = 20
LATEX_NAME = r">{\raggedright\arraybackslash}p{0.2\linewidth}"


def _header(report: Report) -> tuple[str, ...]:
    return tuple(heading for _, heading in report.columns)


def _numbers(report: Report, row: Row) -> tuple[str, ...]:
    return tuple(map(str, report.cells(row.case)))


def _seconds(row: Row) -> str:
    return "–" if row.seconds is None else f"{row.seconds:.3f}"


def _cells_of(report: Report, row: Row) -> tuple[str, ...]:
    """The cells of a row for a terminal."""
    return (*_numbers(report, row), escape.line(row.statement), row.verdict, _seconds(row), escape.line(row.reason))


def _unused(report: Report) -> Table:
    """The files that could not be used."""
    return Table(("file not used", "reason"), [(escape.line(p.file), escape.line(p.reason)) for p in report.problems])


def to_text(report: Report) -> str:
    """For a terminal: the paragraph, and the table with each witness on a line of its own."""
    parts = [textwrap.fill(escape.line(paragraph(report)), WIDTH)]
    if report.rows:
        header = (*_header(report), "statement", "verdict", "reported seconds", "reason")
        head, rule, *lines = table(header, [_cells_of(report, row) for row in report.rows]).splitlines()
        witnesses = [f"\n{INDENT}witness: {escape.line(row.witness)}" if row.witness else "" for row in report.rows]
        parts.append("\n".join([head, rule[:WIDTH], *map("".join, zip(lines, witnesses, strict=True))]))
    if report.problems:
        unused = _unused(report)
        parts.append(table(unused.header, unused.rows))
    return "\n\n".join(parts) + "\n"


def to_sheet(report: Report) -> Sheet:
    """A sheet for a terminal, in whose width it is laid out: witnesses stand below reasons."""
    blocks: list[Block] = [Facts([("summary", escape.line(paragraph(report)))])]
    if report.rows:
        witnesses = [f"\nwitness: {escape.line(row.witness)}" if row.witness else "" for row in report.rows]
        cells = [_cells_of(report, row) for row in report.rows]
        rows = [(*line, reason + witness) for (*line, reason), witness in zip(cells, witnesses, strict=True)]
        blocks.append(Table((*_header(report), "statement", "verdict", "seconds", "reason"), rows))
    if report.problems:
        blocks.append(_unused(report))
    return Sheet("", blocks)


def to_markdown(report: Report, documentation: str = "") -> str:
    """The paragraph, what the statements say, and a table; with links as in :func:`to_html`."""

    def line(cells: Iterable[str]) -> str:
        return "| " + " | ".join(map(escape.markdown, cells)) + " |"

    header = (*_header(report), "statement", "verdict", "reason", "witness", "reported seconds")
    lines = [escape.markdown_links(paragraph(report), documentation), ""]
    lines += [f"* {escape.markdown_links(text, documentation)}" for text in _statement_lines(report)]
    lines += ["", line(header), "|" + " --- |" * len(header)]
    lines += [
        line((*_numbers(report, row), row.statement, row.verdict, row.reason, row.witness, _seconds(row)))
        for row in report.rows
    ]
    if report.problems:
        lines += ["", "Files not used:", ""]
        lines += [f"* {escape.markdown(p.file)}: {escape.markdown(p.reason)}" for p in report.problems]
    return "\n".join(lines) + "\n"


def to_latex(report: Report, documentation: str = "") -> str:
    r"""The paragraph, what the statements say, and a ``longtable``, for ``\input``.

    The top says what the preamble needs. With ``hyperref``, citations are links as in :func:`to_html`.
    """

    lines = [r"% needs \usepackage[T1]{fontenc}, \usepackage{array} and \usepackage{longtable}", LINKS, r"{\sloppy"]
    lines += [escape.latex_links(paragraph(report), documentation), "", *_latex_list(report, documentation), r"\par}"]
    lines += [r"{\footnotesize", *_latex_table(report), "}"]
    lines += [f"% not used: {escape.line(p.file)}: {escape.line(p.reason)}" for p in report.problems]
    return "\n".join(lines) + "\n"


def _latex_table(report: Report) -> Iterator[str]:
    """Cases are named by their numbers, or by their names on several lines where the numbers take too much room."""
    by_name = report.columns == NAMES or _width(report) > MOST_OF_NUMBERS
    heads = ["case"] if by_name else [escape.latex(heading) for heading in _header(report)]
    first, reasons = (LATEX_NAME, 0.33) if by_name else ("r" * len(heads), 0.38)
    yield rf"\begin{{longtable}}{{{first}p{{0.16\linewidth}}p{{0.13\linewidth}}p{{{reasons}\linewidth}}}}"
    yield r"\hline"
    yield " & ".join((*heads, "statement", "verdict", "reason and witness")) + r" \\"
    yield r"\hline"
    yield r"\endhead"
    for row in report.rows:
        reason = f"{row.reason}; witness: {row.witness}" if row.witness else row.reason
        words = map(escape.latex, (row.statement, verdict_words(row.verdict), reason))
        name = escape.latex(row.case.name).replace("{-}", r"{-}\allowbreak{}")
        case = [name] if by_name else map(escape.latex, _numbers(report, row))
        yield " & ".join((*case, *words)) + r" \\"
    yield r"\hline"
    yield r"\end{longtable}"


def _width(report: Report) -> int:
    """The number of signs that the widest numbers take, one column beside the other."""
    lines = [_header(report), *(_numbers(report, row) for row in report.rows)]
    return sum(max(map(len, column)) for column in zip(*lines, strict=True))


def _latex_list(report: Report, documentation: str) -> list[str]:
    """A list of the statements with their texts."""
    items = [rf"\item {escape.latex_links(text, documentation)}" for text in _statement_lines(report)]
    return [r"\begin{itemize}", *items, r"\end{itemize}"] if items else []


def _statement_lines(report: Report) -> list[str]:
    """The text of each statement, and where it is stated."""
    return [
        f"{line.statement}: {line.text}" + (f" ({line.source})" if line.source else "")
        for line in statements(report.rows)
        if line.text
    ]


def to_csv(report: Report) -> str:
    """One line for each row, then one for each file that was not used, with the verdict ``MALFORMED``."""
    file = io.StringIO()
    programs = sorted({name for row in report.rows for name in row.reported["versions"]})
    reported = [f"{REPORTED}{name}" for name in ("seconds", "peak_memory", *programs)]
    named, words = [option for option, _ in report.columns], ("statement", "verdict", "reason", "witness")
    header = (*named, *words, *reported, "file")
    writer = csv.DictWriter(file, header, restval="", lineterminator="\n")
    writer.writerow({name: escape.cell(name) for name in header})
    for row in report.rows:
        data, figures = row.to_json(), row.reported["versions"] | row.reported
        writer.writerow(
            _cells(
                dict(zip(named, report.cells(row.case), strict=True))
                | {name: data[name] for name in (*words, "file")}
                | {name: figures.get(name.removeprefix(REPORTED)) for name in reported}
            )
        )
    for problem in report.problems:
        writer.writerow(_cells({"verdict": "MALFORMED", "reason": problem.reason, "file": problem.file}))
    return file.getvalue()


def _cells(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: escape.cell(value) if isinstance(value, str) else value for name, value in values.items()}


def to_json(report: Report) -> str:
    """The numbers of the paragraph, the rows, and the files that were not used."""
    data = {
        "summary": summary(report) | {"text": paragraph(report)},
        "rows": [row.to_json() for row in report.rows],
        "problems": [asdict(problem) for problem in report.problems],
    }
    return json.dumps(data, ensure_ascii=False, indent=1) + "\n"


LINKED: dict[str, Callable[..., str]] = {
    "markdown": to_markdown,
    "latex": to_latex,
    "latex-grid": to_latex_grid,
    "html": to_html,
}
"""Forms with links, which take the address of the documentation too."""

FORMATS: dict[str, Callable[[Report], str]] = {"text": to_text, **LINKED, "csv": to_csv, "json": to_json}
