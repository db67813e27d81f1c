"""The content of a report: cases, rows, details of certificates, files that could not be used; and
its summary.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from m2bridge.citation import HINT, PROGRAM
from m2bridge.families import family
from m2bridge.results.sheet import Table, duration, plural, value_text


def case_of(name: str, numbers: Mapping[str, Any]) -> Case:
    """A case of the family of this name.

    Raises
    ------
    InvalidCaseError
        If there is no such family or case.
    """
    chosen = family(name)
    model = chosen.from_json(dict(numbers))
    options = tuple(
        (option.name, option.heading, _cell(numbers[option.name]))
        for option in chosen.options
        if option.name in numbers
    )
    return Case(name, chosen.label(model), model.title, options)


def _cell(value: Any) -> int | str:
    """A number, or a list of numbers as on the command line."""
    return ",".join(map(str, value)) if isinstance(value, list) else value


def orbit_table(orbits: Sequence[Mapping[str, Any]]) -> Table:
    """The facts about each orbit, the orbit first; a dash for what is not known of one."""
    names = sorted(
        {name for orbit in orbits for name in orbit}, key=lambda name: (name != "orbit", name)
    )
    lines = tuple(tuple(value_text(orbit.get(name)) for name in names) for orbit in orbits)
    return Table(tuple(name.replace("_", " ") for name in names), lines)


def verdict_words(verdict: str) -> str:
    """``not applicable``."""
    return verdict.replace("_", " ").lower()


VERDICTS = (
    "REFUTED",
    "UNDECIDED",
    "NO_ANSWER",
    "PROGRAM_NOT_CHECKED",
    "CONFIRMED",
    "COMPUTED",
    "NOT_APPLICABLE",
)
"""The verdicts in the order of a report: four on statements; a closure is COMPUTED; what failed has
NO_ANSWER.

What another release answered, and did not refute, with a program that is not this release's, is
PROGRAM_NOT_CHECKED.
"""

VERDICT_WORDS = {verdict: verdict_words(verdict) for verdict in VERDICTS} | {
    "NO_ANSWER": "without an answer",
    "PROGRAM_NOT_CHECKED": "with a program of another release that was not checked",
}

Cell = int | str
Thing = TypeVar("Thing")
NAMES = (("case", "case"),)
"""The columns of cases that have no options in common: their names, with this heading."""


@dataclass(frozen=True, slots=True)
class Case:
    """A case of a family.

    Parameters
    ----------
    family : str
    name : str
        Unlike that of any other case; names of files begin with it.
    title : str
        In words.
    options : tuple of (str, str, int or str)
        What names the case within its family: the option, how tables call it, and its value.
    """

    family: str
    name: str
    title: str
    options: tuple[tuple[str, str, Cell], ...]

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The values of the options."""
        return tuple(value for _, _, value in self.options)

    @property
    def rank(self) -> tuple[object, ...]:
        """A key that orders cases; values are compared as numbers where they are."""
        return self.family, tuple((isinstance(cell, str), cell) for cell in self.cells), self.name

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Row:
    """One verdict on one case.

    Parameters
    ----------
    case : Case
    question, statement : str
        ``3.4`` and ``3.4 (iii)``.
    text, source : str
        What the statement says, and where it is stated; empty without a certificate.
    verdict : str
        From :data:`VERDICTS`.
    reason, witness : str
        In words; no witness unless refuted.
    reported : dict
        ``versions``, ``seconds`` and ``peak_memory`` as the certificate that holds this verdict
        reports them, which nobody checked; verdicts of one certificate share them.
    file : str
    """

    case: Case
    question: str
    statement: str
    text: str
    verdict: str
    reason: str
    witness: str
    reported: dict[str, Any]
    file: str
    source: str = ""

    @property
    def seconds(self) -> float | None:
        """The wall time that the certificate reports; ``None`` without one."""
        return self.reported["seconds"]  # type: ignore[no-any-return]

    @property
    def rank(self) -> tuple[object, ...]:
        """The key of the order: refuted first; then by statement and case."""
        return VERDICTS.index(self.verdict), self.question, self.statement, self.case.rank

    def to_json(self) -> dict[str, Any]:
        """A dictionary for ``json.dumps``."""
        case = {option: value for option, _, value in self.case.options}
        return {"family": self.case.family, "name": self.case.name, "case": case} | {
            field: getattr(self, field)
            for field in (
                "question",
                "statement",
                "verdict",
                "reason",
                "witness",
                "reported",
                "file",
            )
        }


@dataclass(frozen=True, slots=True)
class Detail:
    """The content of a certificate besides its verdicts.

    Parameters
    ----------
    case : Case
    question, observation : str
        The question; and the observation on which the answer rests, which other questions may
        share.
    orbits : Table or None
        Facts about each orbit, if the certificate rests on them.
    script : str
        The Macaulay2 program; empty if none was needed.
    trusted : tuple of str
    reported : dict
        As in :class:`Row`.
    """

    case: Case
    question: str
    observation: str
    orbits: Table | None
    script: str
    trusted: tuple[str, ...]
    reported: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Problem:
    """A file that could not be used, and why."""

    file: str
    reason: str


@dataclass(frozen=True)
class Report:
    """A folder of certificates and outcomes.

    Parameters
    ----------
    rows : tuple of Row
        Refuted first.
    details : tuple of Detail
        One for each certificate, by case.
    problems : tuple of Problem
    """

    rows: tuple[Row, ...]
    details: tuple[Detail, ...]
    problems: tuple[Problem, ...]

    @property
    def counts(self) -> dict[str, int]:
        """The number of rows with each verdict that occurs."""
        counts = Counter(row.verdict for row in self.rows)
        return {verdict: counts[verdict] for verdict in VERDICTS if counts[verdict]}

    @cached_property
    def cases(self) -> tuple[Case, ...]:
        """All cases, in order."""
        return tuple(sorted({row.case for row in self.rows}, key=lambda case: case.rank))

    @cached_property
    def columns(self) -> tuple[tuple[str, str], ...]:
        """Name and heading of the columns that name a case: its options, or its name where these
        are not the same.
        """
        columns = {
            tuple((option, heading) for option, heading, _ in case.options) for case in self.cases
        }
        return (len(columns) == 1 and next(iter(columns))) or NAMES

    @property
    def headings(self) -> tuple[str, ...]:
        """The headings of these columns."""
        return tuple(heading for _, heading in self.columns)

    def by_case(self) -> dict[Case, tuple[list[Row], list[Detail]]]:
        """Return the rows and details of each case, the cases in order."""
        parts: dict[Case, tuple[list[Row], list[Detail]]] = {case: ([], []) for case in self.cases}
        for row in self.rows:
            parts[row.case][0].append(row)
        for detail in self.details:
            parts[detail.case][1].append(detail)
        return parts

    def cells(self, case: Case) -> tuple[Cell, ...]:
        """The cells of a case in these columns."""
        return (case.name,) if self.columns == NAMES else case.cells

    @property
    def trusted(self) -> list[str]:
        """The lemmas and computations on which some certificate rests."""
        return sorted({lemma for detail in self.details for lemma in detail.trusted})

    @property
    def trust(self) -> str:
        """A sentence about what is taken on trust."""
        return (
            f"Taken on trust: {'; '.join(self.trusted)}."
            if self.trusted
            else "Nothing is taken on trust."
        )

    @property
    def paragraph(self) -> str:
        """The summary in sentences."""
        return f"{self.answer} {self.notes} {self.trust}"

    @property
    def answer(self) -> str:
        """The verdicts in numbers, and what they are about."""
        numbers, headings = self.summary, dict(self.columns)
        ranges = ", ".join(
            f"{headings[name]} = {low}" if low == high else f"{low} ≤ {headings[name]} ≤ {high}"
            for name, (low, high) in numbers["ranges"].items()
        )
        verdicts = ", ".join(
            f"{count} {VERDICT_WORDS[verdict]}" for verdict, count in numbers["verdicts"].items()
        )
        parts = [
            f"Verdicts: {verdicts or 'none'}",
            (
                plural(numbers["cases"], "case") + (f" ({ranges})" if ranges else "")
                if numbers["cases"]
                else "No cases"
            ),
            (
                f"{plural(numbers['certificates'], 'certificate')} about:"
                f" {', '.join(numbers['statements']) or 'nothing'}"
            ),
            "The certificates were read, not verified ('m2bridge verify' does that)",
            (
                f"{plural(numbers['unusable_files'], 'file')} could not be used"
                if self.problems
                else ""
            ),
        ]
        return _sentences(parts)

    @property
    def notes(self) -> str:
        """What the certificates report, whose statements they are about, and what to cite."""
        reported, papers = self.summary["reported"], self.summary["papers"]
        memory = reported["peak_memory"]
        figures = [
            f"total computing time {duration(reported['seconds'])}",
            f"largest memory {memory / 2**20:.0f} MiB" if memory is not None else "",
            *(
                f"{name} {' and '.join(versions)}"
                for name, versions in reported["versions"].items()
            ),
        ]
        parts = [
            f"Reported and not checked: {', '.join(filter(None, figures))}",
            f"Statements of: {'; '.join(papers)}" if papers else "",
            f"Written by, and to be cited as, {PROGRAM} ({HINT})",
        ]
        return _sentences(parts)

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The numbers of the paragraph; ``verified`` is false, as certificates are read and not
        verified.
        """
        families = sorted({case.family for case in self.cases})
        papers = dict.fromkeys(str(paper) for name in families if (paper := family(name).paper))
        return {
            "families": families,
            "cases": len(self.cases),
            "certificates": len(self.details),
            "ranges": self._ranges(),
            "statements": sorted({row.question for row in self.rows}),
            "verdicts": self.counts,
            "reported": self._reported(),
            "verified": False,
            "trusted": self.trusted,
            "unusable_files": len(self.problems),
            "papers": list(papers),
            "written_by": PROGRAM,
        }

    def _reported(self) -> dict[str, Any]:
        """Total time, largest memory (``None`` if none says it) and all versions, which nobody can
        check.

        Statements about one case rest on one observation and share its seconds, which count once in
        the total.
        """
        measured = {
            (detail.case, detail.observation, detail.reported["seconds"]) for detail in self.details
        }
        memory = [
            size for detail in self.details if (size := detail.reported["peak_memory"]) is not None
        ]
        versions: dict[str, set[str]] = {}
        for row in self.rows:
            for name, version in row.reported["versions"].items():
                versions.setdefault(name, set()).add(version)
        return {
            "seconds": round(sum(seconds for *_, seconds in measured), 3),
            "peak_memory": max(memory, default=None),
            "versions": {name: sorted(releases) for name, releases in sorted(versions.items())},
        }

    def _ranges(self) -> dict[str, tuple[int, int]]:
        """The smallest and the largest value of each option that is a number, where all cases are
        of one family.
        """
        ranges = {}
        for i, (option, _) in enumerate(self.columns):
            values = [cell for case in self.cases if type(cell := self.cells(case)[i]) is int]
            if values:
                ranges[option] = min(values), max(values)
        return ranges


def _sentences(parts: Iterable[str]) -> str:
    return ". ".join(filter(None, parts)) + "."


def crossed(
    placed: Mapping[tuple[Cell, ...], Thing],
) -> tuple[tuple[Cell, ...], list[tuple[Cell, list[Thing | None]]]]:
    """Return the second numbers of pairs, and for each first number what stands beside it; numbers
    before words.
    """
    down, across = (
        tuple(
            sorted({place[i] for place in placed}, key=lambda cell: (isinstance(cell, str), cell))
        )
        for i in (0, 1)
    )
    return across, [(first, [placed.get((first, second)) for second in across]) for first in down]
