"""A paragraph that a paper can quote."""

from __future__ import annotations

from typing import Any

from m2bridge.citation import HINT, PROGRAM
from m2bridge.families import family
from m2bridge.layout import duration, plural
from m2bridge.report.content import Report

_SAID = {
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
        "versions": {name: sorted(found) for name, found in sorted(versions.items())},
    }


def paragraph(report: Report) -> str:
    """The same in sentences."""
    lemmas = trusted(report)
    trust = f"Taken on trust: {'; '.join(lemmas)}" if lemmas else "Nothing is taken on trust"
    return f"{sentences(report)} {trust}."


def sentences(report: Report) -> str:
    """The paragraph without what is taken on trust."""
    found, headings = summary(report), dict(report.columns)
    ranges = ", ".join(
        f"{headings[name]} = {low}" if low == high else f"{low} ≤ {headings[name]} ≤ {high}"
        for name, (low, high) in found["ranges"].items()
    )
    verdicts = ", ".join(f"{count} {_SAID[verdict]}" for verdict, count in found["verdicts"].items())
    reported = found["reported"]
    memory = reported["peak_memory"]
    figures = [
        f"total computing time {duration(reported['seconds'])}",
        f"largest memory {memory / 2**20:.0f} MiB" if memory is not None else "",
        *(f"{name} {' and '.join(versions)}" for name, versions in reported["versions"].items()),
    ]
    said = [
        plural(found["cases"], "case") + (f" ({ranges})" if ranges else "") if found["cases"] else "No cases",
        f"{plural(found['certificates'], 'certificate')} about: {', '.join(found['statements']) or 'nothing'}",
        f"Verdicts: {verdicts or 'none'}",
        f"Reported and not checked: {', '.join(filter(None, figures))}",
        f"{plural(found['unusable_files'], 'file')} could not be used" if report.problems else "",
        "The certificates were read, not verified ('m2bridge verify' does that)",
        f"Statements of: {'; '.join(found['papers'])}" if found["papers"] else "",
        f"Written by, and to be cited as, {PROGRAM} ({HINT})",
    ]
    return ". ".join(filter(None, said)) + "."


def trusted(report: Report) -> list[str]:
    """The lemmas and computations on which some certificate rests."""
    return sorted({lemma for detail in report.details for lemma in detail.trusted})


def papers(report: Report) -> list[str]:
    """The papers whose statements are about these families."""
    named = [family(name).paper for name in sorted({case.family for case in report.cases})]
    return list(dict.fromkeys(str(paper) for paper in named if paper))


def _ranges(report: Report) -> dict[str, tuple[int, int]]:
    """The smallest and the largest value of each option that is a number, where all cases are of one family."""
    found = {}
    for i, (option, _) in enumerate(report.columns):
        values = [cell for case in report.cases if type(cell := report.cells(case)[i]) is int]
        if values:
            found[option] = min(values), max(values)
    return found
