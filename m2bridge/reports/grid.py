"""A report as a table to publish: for each statement one grid of signs over the first two numbers of a case."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from m2bridge.citation import HINT, PROGRAM
from m2bridge.families import family
from m2bridge.reports.content import VERDICTS, Case, Cell, Report, verdict_words
from m2bridge.results import markup as escape
from m2bridge.results.markup import latex, latex_links
from m2bridge.results.sheet import duration, plural

SIGNS = dict(zip(VERDICTS, (r"$\times$", "?", "!", r"$\circ$", r"$\checkmark$", r"$\bullet$", "$-$"), strict=True))
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


def _values(cells: Iterable[Cell]) -> list[Cell]:
    return sorted(set(cells), key=lambda value: (isinstance(value, str), value))


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


VERDICT_WORDS = {
    "REFUTED": "refuted",
    "UNDECIDED": "undecided",
    "NO_ANSWER": "without an answer",
    "PROGRAM_NOT_CHECKED": "with a program of another release that was not checked",
    "CONFIRMED": "confirmed",
    "COMPUTED": "computed",
    "NOT_APPLICABLE": "not applicable",
}


def summary(report: Report) -> dict[str, Any]:
    """The numbers of the paragraph; ``verified`` is false, as certificates are read and not verified.

    Statements about one case rest on one observation and share its seconds, which count once in the total.
    """
    cases = report.cases
    return {
        "families": sorted({case.family for case in cases}),
        "cases": len(cases),
        "certificates": len(report.details),
        "ranges": _ranges(report),
        "statements": sorted({row.question for row in report.rows}),
        "verdicts": report.counts,
        "reported": _reported(report),
        "verified": False,
        "trusted": trusted(report),
        "unusable_files": len(report.problems),
        "papers": papers(report),
        "written_by": PROGRAM,
    }


def _reported(report: Report) -> dict[str, Any]:
    """Total time, largest memory (``None`` if none says it) and all versions, which nobody can check."""
    measured = {(detail.case, detail.observation, detail.reported["seconds"]) for detail in report.details}
    memory = [size for detail in report.details if (size := detail.reported["peak_memory"]) is not None]
    versions: dict[str, set[str]] = {}
    for row in report.rows:
        for name, version in row.reported["versions"].items():
            versions.setdefault(name, set()).add(version)
    return {
        "seconds": round(sum(seconds for *_, seconds in measured), 3),
        "peak_memory": max(memory, default=None),
        "versions": {name: sorted(releases) for name, releases in sorted(versions.items())},
    }


def paragraph(report: Report) -> str:
    """The summary in sentences."""
    lemmas = trusted(report)
    trust = f"Taken on trust: {'; '.join(lemmas)}" if lemmas else "Nothing is taken on trust"
    return f"{sentences(report)} {trust}."


def sentences(report: Report) -> str:
    """The paragraph without what is taken on trust."""
    numbers, headings = summary(report), dict(report.columns)
    ranges = ", ".join(
        f"{headings[name]} = {low}" if low == high else f"{low} ≤ {headings[name]} ≤ {high}"
        for name, (low, high) in numbers["ranges"].items()
    )
    verdicts = ", ".join(f"{count} {VERDICT_WORDS[verdict]}" for verdict, count in numbers["verdicts"].items())
    reported = numbers["reported"]
    memory = reported["peak_memory"]
    figures = [
        f"total computing time {duration(reported['seconds'])}",
        f"largest memory {memory / 2**20:.0f} MiB" if memory is not None else "",
        *(f"{name} {' and '.join(versions)}" for name, versions in reported["versions"].items()),
    ]
    parts = [
        plural(numbers["cases"], "case") + (f" ({ranges})" if ranges else "") if numbers["cases"] else "No cases",
        f"{plural(numbers['certificates'], 'certificate')} about: {', '.join(numbers['statements']) or 'nothing'}",
        f"Verdicts: {verdicts or 'none'}",
        f"Reported and not checked: {', '.join(filter(None, figures))}",
        f"{plural(numbers['unusable_files'], 'file')} could not be used" if report.problems else "",
        "The certificates were read, not verified ('m2bridge verify' does that)",
        f"Statements of: {'; '.join(numbers['papers'])}" if numbers["papers"] else "",
        f"Written by, and to be cited as, {PROGRAM} ({HINT})",
    ]
    return ". ".join(filter(None, parts)) + "."


def trusted(report: Report) -> list[str]:
    """The lemmas and computations on which some certificate rests."""
    return sorted({lemma for detail in report.details for lemma in detail.trusted})


def papers(report: Report) -> list[str]:
    """The papers whose statements are about these families."""
    named = [family(name).paper for name in sorted({case.family for case in report.cases})]
    return list(dict.fromkeys(str(paper) for paper in named if paper))


def _ranges(report: Report) -> dict[str, tuple[int, int]]:
    """The smallest and the largest value of each option that is a number, where all cases are of one family."""
    ranges = {}
    for i, (option, _) in enumerate(report.columns):
        values = [cell for case in report.cases if type(cell := report.cells(case)[i]) is int]
        if values:
            ranges[option] = min(values), max(values)
    return ranges
