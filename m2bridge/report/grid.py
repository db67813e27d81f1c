"""A report as a table to publish: for each statement one grid of signs over the first two numbers of a case."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from m2bridge.convert.escape import latex
from m2bridge.errors import InvalidCaseError
from m2bridge.report.content import VERDICTS, Case, Cell, Report
from m2bridge.report.summary import paragraph
from m2bridge.report.words import verdict_words

SIGNS = dict(
    zip(
        VERDICTS,
        (r"$\times$", "?", "!", r"$\circ$", r"$\checkmark$", r"$\bullet$", "$-$"),
        strict=True,
    )
)
"""Verdicts that are no answers stand out; none is told by a colour."""

NEEDS = r"% needs \usepackage[T1]{fontenc} and \usepackage{amssymb}"


def to_latex_grid(report: Report) -> str:
    r"""The grids side by side, as many as fit into a line, for ``\input``.

    Raises
    ------
    InvalidCaseError
        If cases are not named by two numbers or more.
    """
    columns = [heading for _, heading in report.columns]
    if len(columns) < 2:
        raise InvalidCaseError("format", "latex-grid needs cases of one family that are named by two numbers or more")
    lines = [NEEDS, r"\begingroup\footnotesize", latex(paragraph(report)), r"\par\medskip", *_legend(report, columns)]
    lines += [r"\par\medskip\scriptsize\setlength{\tabcolsep}{2pt}\raggedright"]
    cases = _by_cell(report)
    for statement in sorted({row.statement for row in report.rows}):
        lines += _grid(report, cases, statement, columns)
    lines += [r"\par\endgroup", *(f"% not used: {latex(p.file)}: {latex(p.reason)}" for p in report.problems)]
    return "\n".join(lines) + "\n"


def _legend(report: Report, columns: list[str]) -> Iterator[str]:
    signs = ", ".join(f"{SIGNS[verdict]} {verdict_words(verdict)}" for verdict in report.counts)
    yield f"{signs}. Rows: {latex(columns[0])}; columns: {latex(columns[1])}."
    others = ", ".join(latex(name) for name in columns[2:])
    if others:
        yield f"One sign where the verdict is the same for all ({others}); else one for each, in increasing order."


def _grid(
    report: Report, cases: Mapping[tuple[Cell, Cell], list[Case]], statement: str, columns: list[str]
) -> Iterator[str]:
    rows = [row for row in report.rows if row.statement == statement]
    downwards, across = (_values(report.cells(row.case)[i] for row in rows) for i in (0, 1))
    yield r"\begin{tabular}[t]{@{}r|" + "c" * len(across) + "@{}}"
    yield rf"\multicolumn{{{len(across) + 1}}}{{@{{}}l@{{}}}}{{{latex(statement)}}} \\"
    corner = rf"{latex(columns[0])}\,\textbackslash\,{latex(columns[1])}"
    yield " & ".join([corner, *(latex(str(value)) for value in across)]) + r" \\ \hline"
    verdicts = {row.case: row.verdict for row in rows}
    for first in downwards:
        signs = [_signs([verdicts.get(case) for case in cases.get((first, second), [])]) for second in across]
        yield " & ".join([latex(str(first)), *signs]) + r" \\"
    yield r"\rule{0pt}{4pt}\end{tabular}\hspace{1.5em plus 1em}"


def _values(found: Iterable[Cell]) -> list[Cell]:
    return sorted(set(found), key=lambda value: (isinstance(value, str), value))


def _by_cell(report: Report) -> dict[tuple[Cell, Cell], list[Case]]:
    """The cases in each place of the grids, in order."""
    cells: dict[tuple[Cell, Cell], list[Case]] = {}
    for case in report.cases:
        first, second, *_ = report.cells(case)
        cells.setdefault((first, second), []).append(case)
    return cells


def _signs(verdicts: list[str | None]) -> str:
    """One sign if all are the same, a dot where there is no verdict; nothing if there is none at all."""
    signs = [r"$\cdot$" if verdict is None else SIGNS[verdict] for verdict in verdicts]
    if not any(verdicts):
        return ""
    return signs[0] if len(set(signs)) == 1 else "".join(signs)
