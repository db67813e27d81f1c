"""The data of the page of a report: the statements, the table, and each case.

The page stays usable with tens of thousands of cases because it shows little at a time: the first rows of the table,
the grids of verdicts, the case that is opened. The rest is JSON, deflated, in base64; the cases in parts of
:data:`CASES_IN_A_PART`, each of which is unpacked when one of its cases is opened.
"""

import json
import zlib
from base64 import b64encode
from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from m2bridge.engine.script import page
from m2bridge.families import family
from m2bridge.reports.content import VERDICTS, Case, Detail, Report, Row
from m2bridge.reports.grid import sentences, trusted

CASES_IN_A_PART = 100

MARKS = dict(zip(VERDICTS, "✗?!○✓•–", strict=True))
"""One sign for each verdict, so that none is told by its colour alone."""

Thing = TypeVar("Thing", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Line:
    """One statement, its text, where it is stated, and how many cases have which verdict."""

    statement: str
    text: str
    source: str
    counts: dict[str, int]


def to_html(report: Report, documentation: str = "") -> str:
    """One self-contained page; cited papers are links, and pages of the documentation if its address is given."""
    cases = _by_case(report)
    sheets = [_sheet(rows, details) for rows, details in cases.values()]
    parts = [sheets[i : i + CASES_IN_A_PART] for i in range(0, len(sheets), CASES_IN_A_PART)]
    return page(
        "report",
        {
            "title": " and ".join(sorted({family(case.family).title for case in cases})),
            "columns": [heading for _, heading in report.columns],
            "summary": sentences(report),
            "trusted": trusted(report),
            "documentation": documentation,
            "counts": report.counts,
            "marks": MARKS,
            "statements": statements(report.rows),
            "problems": report.problems,
            "table": pack(table(report)),
            "parts": [pack(part) for part in parts],
            "cases_in_a_part": CASES_IN_A_PART,
        },
    )


def pack(data: Any) -> str:
    """JSON, deflated, in base64."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return b64encode(zlib.compress(text.encode())).decode()


def statements(rows: Iterable[Row]) -> list[Line]:
    """The statements in question, in alphabetical order."""
    counts: dict[str, Counter[str]] = {}
    texts: dict[str, tuple[str, str]] = {}
    for row in rows:
        counts.setdefault(row.statement, Counter())[row.verdict] += 1
        if not any(texts.get(row.statement, ())):
            texts[row.statement] = row.text, row.source
    return [Line(name, *texts[name], dict(counts[name])) for name in sorted(counts)]


def table(report: Report) -> dict[str, Any]:
    """All rows: cases, statements, verdicts and texts are sorted lists, and a row refers to them by numbers."""
    cases, rows = report.cases, report.rows
    texts = sorted({text for row in rows for text in (row.reason, row.witness)})
    names = sorted({row.statement for row in rows})
    case = {name: i for i, name in enumerate(cases)}
    statement, verdict, text = ({name: i for i, name in enumerate(names)} for names in (names, VERDICTS, texts))
    return {
        "columns": [heading for _, heading in report.columns],
        "cases": [(case.name, case.title, report.cells(case)) for case in cases],
        "legends": {name: family(name).orbits for name in sorted({case.family for case in cases})},
        "statements": names,
        "verdicts": VERDICTS,
        "marks": list(MARKS.values()),
        "texts": texts,
        "rows": [
            (case[r.case], statement[r.statement], verdict[r.verdict], text[r.reason], text[r.witness], r.seconds)
            for r in rows
        ],
    }


def _sheet(rows: list[Row], details: list[Detail]) -> dict[str, Any]:
    """The sheet that opens with a case; orbits and scripts that several certificates share appear once."""
    orbits = _shared((detail.orbits, detail.question) for detail in details)
    scripts = _shared((detail.script, detail.question) for detail in details)
    return {
        "verdicts": [(row.statement, row.verdict, row.reason, row.witness, row.file) for row in rows],
        "family": rows[0].case.family if rows else "",
        "orbits": [(questions, table.header, table.lines) for table, questions in orbits.items()],
        "scripts": [(questions, text) for text, questions in scripts.items()],
        "trusted": sorted({lemma for detail in details for lemma in detail.trusted}),
    }


def _shared(pairs: Iterable[tuple[Thing | None, str]]) -> dict[Thing, list[str]]:
    """The different things, and the questions that they belong to; what is empty is left out."""
    questions: dict[Thing, list[str]] = {}
    for thing, question in pairs:
        if thing:
            questions.setdefault(thing, []).append(question)
    return questions


def _by_case(report: Report) -> dict[Case, tuple[list[Row], list[Detail]]]:
    """The rows and details of each case, the cases in order."""
    parts: dict[Case, tuple[list[Row], list[Detail]]] = {}
    for row in report.rows:
        parts.setdefault(row.case, ([], []))[0].append(row)
    for detail in report.details:
        parts.setdefault(detail.case, ([], []))[1].append(detail)
    return {case: parts[case] for case in sorted(parts, key=lambda case: case.rank)}
