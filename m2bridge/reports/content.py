"""The content of a report: rows of verdicts, details of certificates, and the summary of both.

Nothing is computed and nothing verified here: a row says what a certificate says, or why there is
none. A question is what a certificate answers, such as ``3.4``; a statement is a part of it with a
verdict of its own, such as ``3.4 (iii)``. A case is named by the values of the options of its
family, such as d = 3; in tables each option is a column, and its value a cell.

What is ``reported`` of a certificate are the ``versions`` of programs, ``seconds`` and
``peak_memory`` in bytes, which nobody checked; ``None`` stands for what is not known, or does not
exist.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Any, Generic, NamedTuple, TypeVar

from m2bridge.batch.plan_file import PlanComparison
from m2bridge.batch.store import SUFFIX
from m2bridge.certificates.form import Certificate
from m2bridge.citation import HINT, PROGRAM
from m2bridge.families.registry import family
from m2bridge.results.sheet import Table, duration, plural, statement_sort_key, value_text


def case_of(name: str, numbers: Mapping[str, Any]) -> NamedCase:
    """Return the case of the named family with these values of options, as certificates
    have them.
    """
    its_family = family(name)
    model = its_family.from_json(dict(numbers))
    given_options = [option for option in its_family.options if option.name in numbers]
    options = []
    for option in given_options:
        value = numbers[option.name]
        if isinstance(value, list):  # as on the command line: 3,2
            value = ",".join(map(str, value))
        options.append(OptionValue(option.name, option.heading, value))
    return NamedCase(
        family=name, name=its_family.label(model), title=model.title, options=tuple(options)
    )


def evidence_table(orbits: Sequence[Mapping[str, Any]]) -> Table:
    """Return a table with a line for each orbit and a column for each name of a fact, ``orbit``
    first; a dash stands for a fact that is not known.
    """
    names = set[str]()
    for facts in orbits:
        names.update(facts)
    # False, for ``orbit``, is before True
    columns = sorted(names, key=lambda name: (name != "orbit", name))
    header = tuple(name.replace("_", " ") for name in columns)
    lines = []
    for facts in orbits:
        # None, for a fact that is not known, has a dash as text
        cells = tuple(value_text(facts.get(name)) for name in columns)
        lines.append(cells)
    return Table(header, tuple(lines))


def verdict_words(verdict: str) -> str:
    """Return a verdict in lower-case words, such as ``not applicable``."""
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
"""The verdicts in the order of a report.

Four are verdicts on statements. A result without a statement, such as a closure, is COMPUTED; a
failure is NO_ANSWER. An answer of another release that is not refuted, with a program that differs
from this release's, is PROGRAM_NOT_CHECKED.
"""

VERDICT_WORDS = {verdict: verdict_words(verdict) for verdict in VERDICTS} | {
    "NO_ANSWER": "without an answer",
    "PROGRAM_NOT_CHECKED": "with a program of another release that was not checked",
}

TableCell = int | str
"""What names a row or column: the value of an option, or a name."""
AnyT = TypeVar("AnyT")
NAMES = (("case", "case"),)
"""The columns, pairs (name, heading), of cases that do not all have the same options: one column,
with the names of the cases.
"""


class OptionValue(NamedTuple):
    """An option with its value in a case: ``heading`` is how tables call the option ``name``."""

    name: str
    heading: str
    value: TableCell


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedCase:
    """A case of a family, which its options name."""

    family: str
    name: str  # no two cases have the same; names of files begin with it
    title: str
    options: tuple[OptionValue, ...]

    @property
    def cells(self) -> tuple[TableCell, ...]:
        """The values of the options."""
        return tuple(option.value for option in self.options)

    @property
    def sort_key(self) -> tuple[object, ...]:
        """A key that orders cases: by family, then by the values of options, numbers as numbers."""
        return self.family, tuple(map(_cell_sort_key, self.cells)), self.name

    def __str__(self) -> str:
        return self.name


def _cell_sort_key(cell: TableCell) -> tuple[bool, TableCell]:
    """Return a key that orders cells, numbers before words."""
    return isinstance(cell, str), cell


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictRow:
    """One verdict on one case."""

    case: NamedCase
    question: str
    statement: str
    text: str  # this and ``source`` are empty without a certificate
    verdict: str  # from :data:`VERDICTS`
    reason: str
    witness: str  # only of a refuted statement
    reported: dict[str, Any]
    file: str  # the path in the folder of the report
    source: str = ""
    as_printed: bool | None = None  # whether it is true as its source, if any, prints it

    @property
    def seconds(self) -> float | None:
        """The wall time that the certificate reports; ``None`` without one."""
        return self.reported["seconds"]  # type: ignore[no-any-return]

    @property
    def is_certified(self) -> bool:
        """Whether its file is a certificate, and not an outcome or a plan."""
        return self.file.endswith(".json") and not self.file.endswith(SUFFIX)

    @property
    def sort_key(self) -> tuple[object, ...]:
        """The key of the order: refuted first; then by statement and case."""
        place = VERDICTS.index(self.verdict)
        return place, self.question, statement_sort_key(self.statement), self.case.sort_key

    def to_json(self) -> dict[str, Any]:
        """Return the row for ``json.dumps``, without the words of the statement and its source."""
        return {
            "family": self.case.family,
            "name": self.case.name,
            "case": {option.name: option.value for option in self.case.options},
            "question": self.question,
            "statement": self.statement,
            "verdict": self.verdict,
            "as_printed": self.as_printed,
            "reason": self.reason,
            "witness": self.witness,
            "reported": self.reported,
            "file": self.file,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Detail:
    """The content of a certificate, without its verdicts."""

    case: NamedCase
    question: str
    observation: str  # on which the answer rests; other questions may share it
    orbits: Table | None  # facts about each orbit
    script: str  # empty if no Macaulay2 program was needed
    trusted: tuple[str, ...]
    reported: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Problem:
    """A file that could not be used, and why."""

    file: str
    reason: str


class CaseParts(NamedTuple):
    """The rows of verdicts of one case, and the details of its certificates."""

    rows: list[VerdictRow]
    details: list[Detail]


class AnswerParts(NamedTuple):
    """The answer of a report: names of statements, no variables in LaTeX, and the text around."""

    text_before: str
    names: list[str]
    text_after: str


@dataclass(frozen=True)
class Report:
    """A folder of certificates and outcomes, as rows, refuted ones first, and details."""

    rows: tuple[VerdictRow, ...]
    details: tuple[Detail, ...]
    problems: tuple[Problem, ...]
    plan: PlanComparison = field(default_factory=PlanComparison)

    @property
    def counts(self) -> dict[str, int]:
        """The number of rows with each verdict that occurs, in the order of :data:`VERDICTS`."""
        counts = Counter(row.verdict for row in self.rows)
        return {verdict: counts[verdict] for verdict in VERDICTS if counts[verdict]}

    @cached_property
    def cases(self) -> tuple[NamedCase, ...]:
        """All cases, in order."""
        return tuple(sorted({row.case for row in self.rows}, key=lambda case: case.sort_key))

    @cached_property
    def columns(self) -> tuple[tuple[str, str], ...]:
        """Name and heading of the columns that name a case: common options, or :data:`NAMES`."""
        columns_of_cases = set()
        for case in self.cases:
            columns_of_cases.add(tuple((option.name, option.heading) for option in case.options))
        if len(columns_of_cases) != 1:
            return NAMES
        (columns,) = columns_of_cases
        return columns or NAMES  # of a case without options

    @property
    def headings(self) -> tuple[str, ...]:
        """The headings of the columns that name a case."""
        return tuple(heading for _, heading in self.columns)

    @cached_property
    def lines(self) -> tuple[VerdictRow, ...]:
        """The rows as tables show them: one line for statements that one fact decides."""
        return tuple(table_lines(self.rows))

    def by_case(self) -> dict[NamedCase, CaseParts]:
        """Return the rows and details of each case, the cases in order."""
        parts = {case: CaseParts(rows=[], details=[]) for case in self.cases}
        for row in self.rows:
            parts[row.case].rows.append(row)
        for detail in self.details:
            parts[detail.case].details.append(detail)
        return parts

    def cells(self, case: NamedCase) -> tuple[TableCell, ...]:
        """Return the cells of a case in the columns that name it."""
        if self.columns == NAMES:
            return (case.name,)
        return case.cells

    @property
    def trusted(self) -> list[str]:
        """The lemmas and computations on which some certificate rests."""
        return all_trusted(self.details)

    @property
    def trust(self) -> str:
        """A sentence about what is taken on trust."""
        if not self.trusted:
            return "Nothing is taken on trust."
        return f"Taken on trust: {'; '.join(self.trusted)}."

    @property
    def paragraph(self) -> str:
        """The summary in sentences."""
        return f"{self.answer} {self.notes} {self.trust}"

    @property
    def answer(self) -> str:
        """The first part of :attr:`paragraph`.

        It has the verdicts, cases and certificates in numbers, the names of the statements that
        these are about, and the number of files that could not be used, if there are some; and it
        says that certificates were not verified, and what is missing of the plans of batches.
        """
        answer = self.answer_and_names
        # the text after the names begins with a full stop
        return f"{answer.text_before} {', '.join(answer.names)}{answer.text_after}"

    @property
    def answer_and_names(self) -> AnswerParts:
        """The answer, with the names of statements apart."""
        verdicts = []
        for verdict, count in self.counts.items():
            words = f"{count} {VERDICT_WORDS[verdict]}"
            # A statement for all sizes may be confirmed where it applies, and false elsewhere.
            rows = [row for row in self.rows if row.verdict == verdict]
            false_as_printed = sum(row.as_printed is False for row in rows)
            if false_as_printed and verdict != "REFUTED":
                words += f" ({false_as_printed} of them false as printed)"
            verdicts.append(words)
        cases = "No cases"
        if self.cases:
            cases = plural(len(self.cases), "case")
        headings = dict(self.columns)
        ranges = []
        for name, (low, high) in self.summary["ranges"].items():
            words = f"{low} ≤ {headings[name]} ≤ {high}"
            if low == high:
                words = f"{headings[name]} = {low}"
            ranges.append(words)
        if ranges:
            cases += f" ({', '.join(ranges)})"
        numbers = f"Verdicts: {', '.join(verdicts) or 'none'}. {cases}."
        text_before = f"{numbers} {plural(len(self.details), 'certificate')} about:"
        text_after = ". The certificates were read, not verified ('m2bridge verify' does that)."
        if self.problems:
            text_after += f" {plural(len(self.problems), 'file')} could not be used."
        text_after += f" {_paragraph(self.plan.sentences)}"
        names = self.summary["statements"] or ["nothing"]
        return AnswerParts(text_before=text_before, names=names, text_after=text_after)

    @property
    def notes(self) -> str:
        """The reported figures, the papers whose statements are decided, and what to cite."""
        reported = self.summary["reported"]
        figures = [f"total computing time {duration(reported['seconds'])}"]
        if reported["peak_memory"] is not None:
            figures.append(f"largest memory {reported['peak_memory'] / 2**20:.0f} MiB")
        for name, versions in reported["versions"].items():
            figures.append(f"{name} {' and '.join(versions)}")
        sentences = [f"Reported and not checked: {', '.join(figures)}"]
        if self.summary["papers"]:
            sentences.append(f"Statements of: {'; '.join(self.summary['papers'])}")
        sentences.append(f"Written by, and to be cited as, {PROGRAM} ({HINT})")
        return _paragraph(sentences)

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The numbers of :attr:`paragraph`, for ``json.dumps``."""
        families = sorted({case.family for case in self.cases})
        papers = dict.fromkeys(str(family(name).paper) for name in families if family(name).paper)
        # the smallest and the largest number of each column that has numbers
        ranges = {}
        columns = zip(*map(self.cells, self.cases), strict=True)  # none without cases
        for (option, _), column in zip(self.columns, columns, strict=False):
            # A bool is also an int in Python, but not a number here.
            numbers = [cell for cell in column if type(cell) is int]
            if numbers:
                ranges[option] = min(numbers), max(numbers)
        # Statements about one case that rest on one observation share its seconds.
        measurements = set()
        memory = []
        for detail in self.details:
            measurements.add((detail.case, detail.observation, detail.reported["seconds"]))
            if detail.reported["peak_memory"] is not None:
                memory.append(detail.reported["peak_memory"])
        versions: dict[str, set[str]] = {}
        for row in self.rows:  # outcomes have versions too, and neither seconds nor memory
            for name, version in row.reported["versions"].items():
                versions.setdefault(name, set()).add(version)
        reported = {
            "seconds": round(sum(seconds for *_, seconds in measurements), 3),
            "peak_memory": max(memory, default=None),
            "versions": {name: sorted(releases) for name, releases in sorted(versions.items())},
        }
        return {
            "families": families,
            "cases": len(self.cases),
            "certificates": len(self.details),
            "ranges": ranges,
            # as 3.4, without its parts such as 3.4 (iii)
            "statements": sorted({row.question for row in self.rows}),
            "verdicts": self.counts,
            "reported": reported,
            "verified": False,  # certificates are read only
            "trusted": self.trusted,
            "unusable_files": len(self.problems),
            "plan": self.plan.to_json(),
            "papers": list(papers),
            "written_by": PROGRAM,
        }


def table_lines(rows: Iterable[VerdictRow]) -> list[VerdictRow]:
    """Return the rows of a table, where verdicts that one fact decides, and that agree, share a
    line.

    Statements that one fact decides are in one group of ``same_fact`` of their family, as ``3.4
    (iii)`` and ``A.4``. A line of several names them all, and all files, and has no words of a
    statement. Verdicts with different reasons, witnesses or computing times do not share a line.
    """
    lines: dict[object, VerdictRow] = {}
    for number, row in enumerate(rows):
        # The fact of a statement that shares it with no other one is the number of the row alone.
        fact: object = number
        for names in family(row.case.family).same_fact:
            if row.statement in names:
                fact = names
                break
        truth = (row.verdict, row.as_printed)
        key = (row.case, fact, truth, row.reason, row.witness, row.seconds)
        line = lines.get(key)
        if line is not None:
            files = dict.fromkeys((*line.file.split(", "), row.file))
            row = replace(
                line,
                statement=f"{line.statement}, {row.statement}",
                text="",
                source="",
                file=", ".join(files),
            )
        lines[key] = row
    return list(lines.values())


def all_trusted(certificates: Iterable[Detail | Certificate]) -> list[str]:
    """Return the lemmas and computations on which some certificate rests, each once, sorted."""
    return sorted(set(chain.from_iterable(certificate.trusted for certificate in certificates)))


def _paragraph(sentences: Iterable[str]) -> str:
    """Return sentences, given without their full stops, one after the other."""
    return ". ".join(sentences) + "."


class CrossTable(NamedTuple, Generic[AnyT]):
    """A table of things that are named by pairs of cells: ``columns`` are the second members, and
    ``rows`` has each first member with the list of what each column has there.
    """

    columns: tuple[TableCell, ...]
    rows: list[tuple[TableCell, list[AnyT]]]


def cross_table(placed: Mapping[tuple[TableCell, ...], AnyT]) -> CrossTable[AnyT | None]:
    """Return the table of things that are named by pairs of cells; ``None`` stands for nothing."""
    firsts = sorted({first for first, _ in placed}, key=_cell_sort_key)
    seconds = sorted({second for _, second in placed}, key=_cell_sort_key)

    rows = []
    for first in firsts:
        things = [placed.get((first, second)) for second in seconds]
        rows.append((first, things))
    return CrossTable(columns=tuple(seconds), rows=rows)
