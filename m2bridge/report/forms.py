"""A report as text, Markdown, LaTeX, CSV, JSON and HTML."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from dataclasses import asdict

from m2bridge.layout import table
from m2bridge.report import escape
from m2bridge.report.content import Report, Row
from m2bridge.report.page import to_html
from m2bridge.report.summary import paragraph, summary

HEADER = ("d", "d'", "a", "t", "statement", "verdict", "reason", "witness", "seconds")


def _cells(row: Row) -> tuple[str, ...]:
    case = row.case
    seconds = "–" if row.seconds is None else f"{row.seconds:.3f}"
    numbers = map(str, (case.d, case.d_out, case.a, case.t))
    return (*numbers, row.statement, row.verdict, row.reason, row.witness, seconds)


def to_text(report: Report) -> str:
    """For a terminal: the table, with each witness on a line of its own, and the paragraph."""
    parts = [paragraph(report)]
    if report.rows:
        rows = [cells[:6] + cells[8:] + (cells[7] or cells[6],) for cells in map(_cells, report.rows)]
        parts.append(table((*HEADER[:6], "seconds", "reason or witness"), rows))
    if report.problems:
        parts.append(table(("file not used", "reason"), [(p.file, p.reason) for p in report.problems]))
    return "\n\n".join(parts) + "\n"


def to_markdown(report: Report) -> str:
    """The paragraph and a table."""

    def line(cells: tuple[str, ...]) -> str:
        return "| " + " | ".join(map(escape.markdown, cells)) + " |"

    lines = [escape.markdown(paragraph(report)), "", line(HEADER), "|" + " --- |" * len(HEADER)]
    lines += [line(_cells(row)) for row in report.rows]
    if report.problems:
        lines += ["", "Files not used:", ""]
        lines += [f"* {escape.markdown(p.file)}: {escape.markdown(p.reason)}" for p in report.problems]
    return "\n".join(lines) + "\n"


def to_latex(report: Report) -> str:
    """The paragraph and a ``tabular`` that needs no package."""
    shown = (*HEADER[:6], "reason or witness")
    lines = [escape.latex(paragraph(report)), "", r"\begin{tabular}{rrrrllp{0.45\linewidth}}", r"\hline"]
    lines += [" & ".join(map(escape.latex, shown)) + r" \\", r"\hline"]
    for cells in map(_cells, report.rows):
        lines.append(" & ".join(map(escape.latex, (*cells[:6], cells[7] or cells[6]))) + r" \\")
    lines += [r"\hline", r"\end{tabular}"]
    lines += [f"% not used: {' '.join(p.file.split())}: {p.reason}" for p in report.problems]
    return "\n".join(lines) + "\n"


def to_csv(report: Report) -> str:
    """One line for each row, then one for each file that was not used, with the verdict ``MALFORMED``."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    names = sorted({name for row in report.rows for name in row.versions})
    writer.writerow(("d", "d_out", *HEADER[2:], *names, "file"))
    for row in report.rows:
        cells = _cells(row)[:-1]
        versions = [row.versions.get(name, "") for name in names]
        writer.writerow((*cells, "" if row.seconds is None else row.seconds, *versions, row.file))
    for problem in report.problems:
        writer.writerow(("",) * 5 + ("MALFORMED", problem.reason, "", "", *("" for _ in names), problem.file))
    return file.getvalue()


def to_json(report: Report) -> str:
    """The numbers of the paragraph, the rows, and the files that were not used."""
    data = {
        "summary": summary(report) | {"text": paragraph(report)},
        "rows": [row.to_json() for row in report.rows],
        "problems": [asdict(problem) for problem in report.problems],
    }
    return json.dumps(data, ensure_ascii=False, indent=1) + "\n"


FORMATS: dict[str, Callable[[Report], str]] = {
    "text": to_text,
    "markdown": to_markdown,
    "latex": to_latex,
    "html": to_html,
    "csv": to_csv,
    "json": to_json,
}
