"""What the page of a report shows: the table, the grids over (d, d'), and each case."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import TypeVar

from m2bridge.render.page import page
from m2bridge.report.content import VERDICTS, Case, Detail, Report, Row
from m2bridge.report.summary import paragraph
from m2bridge.report.words import value_words

T = TypeVar("T", Row, Detail)


@dataclass(frozen=True, slots=True)
class Grid:
    """The verdicts on one statement for one a and t: rows by d, columns by d'."""

    a: int
    t: int
    d: tuple[int, ...]
    d_out: tuple[int, ...]
    verdicts: dict[tuple[int, int], Row]


@dataclass(frozen=True, slots=True)
class Orbits:
    """A table of facts about orbits, and the questions whose certificates hold it."""

    questions: tuple[str, ...]
    header: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Sheet:
    """One case: its verdicts, orbits, and scripts with the questions that they answer."""

    case: Case
    rows: tuple[Row, ...]
    orbits: tuple[Orbits, ...]
    scripts: tuple[tuple[tuple[str, ...], str], ...]


def to_html(report: Report) -> str:
    """One self-contained page."""
    return page(
        "report",
        {
            "summary": paragraph(report),
            "counts": report.counts,
            "verdicts": VERDICTS,
            "rows": report.rows,
            "problems": report.problems,
            "grids": grids(report.rows),
            "sheets": sheets(report),
        },
    )


def grids(rows: Iterable[Row]) -> dict[str, list[Grid]]:
    """The grids of each statement; the worst verdict, where a case has several."""
    found: dict[str, list[Grid]] = {}
    ordered = sorted(rows, key=lambda row: (row.statement, row.case.t, row.case.a))
    for (statement, t, a), same in groupby(ordered, key=lambda row: (row.statement, row.case.t, row.case.a)):
        worst = {(r.case.d, r.case.d_out): r for r in sorted(same, key=lambda row: row.rank, reverse=True)}
        d, d_out = (tuple(sorted(set(values))) for values in zip(*worst, strict=True))
        found.setdefault(statement, []).append(Grid(a, t, d, d_out, worst))
    return found


def sheets(report: Report) -> list[Sheet]:
    """One sheet for each case; what several certificates share appears once."""
    rows = _by_case(report.rows)
    details = _by_case(report.details)
    return [_sheet(case, rows.get(case, []), details.get(case, [])) for case in sorted(rows | details)]


def _sheet(case: Case, rows: list[Row], details: list[Detail]) -> Sheet:
    tables: dict[tuple[tuple[str, ...], tuple[tuple[str, ...], ...]], list[str]] = {}
    scripts: dict[str, list[str]] = {}
    for detail in details:
        if detail.orbits:
            tables.setdefault(_table(detail), []).append(detail.question)
        if detail.script:
            scripts.setdefault(detail.script, []).append(detail.question)
    orbits = tuple(Orbits(tuple(questions), *shown) for shown, questions in tables.items())
    return Sheet(case, tuple(rows), orbits, tuple((tuple(questions), text) for text, questions in scripts.items()))


def _table(detail: Detail) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Header and lines, the orbit first."""
    names = sorted({name for orbit in detail.orbits for name in orbit}, key=lambda name: (name != "orbit", name))
    lines = tuple(tuple(value_words(orbit.get(name)) for name in names) for orbit in detail.orbits)
    return tuple(name.replace("_", " ") for name in names), lines


def _by_case(items: Iterable[T]) -> dict[Case, list[T]]:
    found: dict[Case, list[T]] = {}
    for item in items:
        found.setdefault(item.case, []).append(item)
    return found
