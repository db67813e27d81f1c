"""A report as a table to publish: for each statement one grid of signs over the first two numbers of a case."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TypeAlias

from m2bridge.convert import escape
from m2bridge.convert.escape import latex, latex_links
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

Place: TypeAlias = tuple[Cell, Cell]
"""Row and column."""

NEEDS = r"% needs \usepackage[T1]{fontenc} and \usepackage{amssymb}"
LINKS = r"\providecommand{\href}[2]{#2}% with \usepackage{hyperref} citations are links"


def to_latex_grid(report: Report, documentation: str = "") -> str:
    r"""The grids side by side, as many as fit into a line, for ``\\input``, with links as in :func:`to_latex`.

    Cases that are not named by two numbers stand below one another, by their names.
    """
    signs = ", ".join(f"{SIGNS[verdict]} {verdict_words(verdict)}" for verdict in report.counts)
    lines = [NEEDS, LINKS, r"\begingroup\footnotesize\sloppy", latex_links(paragraph(report), documentation)]
    lines += [r"\par\medskip", f"{signs}."]
    for name in sorted({case.family for case in report.cases}):
        lines += _family(replace(report, rows=tuple(row for row in report.rows if row.case.family == name)))
    lines += [r"\endgroup", *(f"% not used: {escape.line(p.file)}: {escape.line(p.reason)}" for p in report.problems)]
    return "\n".join(lines) + "\n"


def _family(report: Report) -> Iterator[str]:
    """The grids of cases of one family."""
    first, *others = (latex(heading) for _, heading in report.columns)
    if len(others) > 1:
        rest = ", ".join(others[1:])
        yield f"One sign where the verdict is the same for all ({rest}); else one for each, in increasing order."
    yield r"\par\medskip{\scriptsize\setlength{\tabcolsep}{2pt}\raggedright"
    corner = rf"{first}\,\textbackslash\,{others[0]}" if others else first
    cases = _by_cell(report)
    for statement in sorted({row.statement for row in report.rows}):
        yield from _grid(report, cases, statement, corner)
    yield r"\par}"


def _grid(report: Report, cases: Mapping[Place, list[Case]], statement: str, corner: str) -> Iterator[str]:
    verdicts = {row.case: row.verdict for row in report.rows if row.statement == statement}
    places = [_place(report, case) for case in verdicts]
    downwards, across = _values(first for first, _ in places), _values(second for _, second in places)
    yield r"\begin{tabular}[t]{@{}r|" + "c" * len(across) + "@{}}"
    yield rf"\multicolumn{{{len(across) + 1}}}{{@{{}}l@{{}}}}{{{latex(statement)}}} \\"
    yield " & ".join([corner, *(latex(str(value)) for value in across)]) + r" \\ \hline"
    for first in downwards:
        signs = [_signs([verdicts.get(case) for case in cases.get((first, second), [])]) for second in across]
        yield " & ".join([latex(str(first)), *signs]) + r" \\"
    yield r"\rule{0pt}{4pt}\end{tabular}\hspace{1.5em plus 1em}"


def _values(found: Iterable[Cell]) -> list[Cell]:
    return sorted(set(found), key=lambda value: (isinstance(value, str), value))


def _by_cell(report: Report) -> dict[Place, list[Case]]:
    """The cases in each place of the grids, in order."""
    cells: dict[Place, list[Case]] = {}
    for case in report.cases:
        cells.setdefault(_place(report, case), []).append(case)
    return cells


def _place(report: Report, case: Case) -> Place:
    first, second, *_ = *report.cells(case), ""
    return first, second


def _signs(verdicts: list[str | None]) -> str:
    """One sign if all are the same, a dot where there is no verdict; nothing if there is none at all."""
    signs = [r"$\cdot$" if verdict is None else SIGNS[verdict] for verdict in verdicts]
    if not any(verdicts):
        return ""
    return signs[0] if len(set(signs)) == 1 else "".join(signs)
