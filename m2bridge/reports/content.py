"""The content of a report: rows of verdicts, details of certificates, and the summary of both.

Nothing is computed and nothing verified here: a row says what a certificate says, or why there is
none. The numbers are those of the paragraph that begins a report and its JSON.

A question is what a certificate answers, such as ``3.4``; a statement is a part of it with a
verdict of its own, such as ``3.4 (iii)``. A case is named by the values of the options of its
family, such as d = 3; in tables each option is a column, and its value a cell.
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
from m2bridge.results.sheet import Table, duration, plural, value_text


def case_of(name: str, numbers: Mapping[str, Any]) -> NamedCase:
    """Return the case of the family ``name`` whose options have the values ``numbers``, a mapping
    by the names of the options, as certificates have it.

    Raises
    ------
    InvalidCaseError
        If there is no such family or case.
    """
    its_family = family(name)
    model = its_family.from_json(dict(numbers))
    given_options = [option for option in its_family.options if option.name in numbers]
    options = [
        OptionValue(option.name, option.heading, value=_table_cell(numbers[option.name]))
        for option in given_options
    ]
    return NamedCase(
        family=name, name=its_family.label(model), title=model.title, options=tuple(options)
    )


def _table_cell(value: Any) -> TableCell:
    """Return the cell of the value of an option: the value itself, or for a list of numbers their
    text on the command line, as ``3,2``.
    """
    if not isinstance(value, list):
        return value  # type: ignore[no-any-return]
    return ",".join(map(str, value))


def evidence_table(orbits: Sequence[Mapping[str, Any]]) -> Table:
    """Return a table of facts about orbits, with a line for each orbit and a column for each name
    of a fact.

    ``orbits`` has for each orbit its facts by their names. The column ``orbit`` comes first; a dash
    stands for a fact that is not known of an orbit.
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
    """A case of a family.

    Parameters
    ----------
    family : str
    name : str
        No two cases have the same name; names of files begin with it.
    title : str
        In words.
    options : tuple of OptionValue
        What names the case within its family.
    """

    family: str
    name: str
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
    """One verdict on one case.

    Parameters
    ----------
    case : NamedCase
    question, statement : str
        ``3.4`` and ``3.4 (iii)``.
    text, source : str
        What the statement says, and where it is stated; empty without a certificate.
    verdict : str
        From :data:`VERDICTS`.
    reason, witness : str
        In words; no witness unless refuted.
    as_printed : bool or None
        Whether the statement is true in this case as its source prints it; ``None`` if that is not
        known, or no source prints it.
    reported : dict
        ``versions``, ``seconds`` and ``peak_memory`` (in bytes) as the certificate that holds this
        verdict reports them, which nobody checked; verdicts of one certificate share them. Without
        a certificate, seconds and memory are ``None``.
    file : str
        The path of the certificate or outcome in the folder of the report.
    """

    case: NamedCase
    question: str
    statement: str
    text: str
    verdict: str
    reason: str
    witness: str
    reported: dict[str, Any]
    file: str
    source: str = ""
    as_printed: bool | None = None

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
        return VERDICTS.index(self.verdict), self.question, self.statement, self.case.sort_key

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
    """The content of a certificate, without its verdicts.

    Parameters
    ----------
    case : NamedCase
    question, observation : str
        The question; and the observation on which the answer rests, which other questions may
        share.
    orbits : Table or None
        Facts about each orbit, if the certificate rests on them.
    script : str
        The Macaulay2 program; empty if none was needed.
    trusted : tuple of str
        The lemmas and computations that the certificate takes on trust.
    reported : dict
        ``versions``, ``seconds`` and ``peak_memory`` (in bytes, or ``None``), which nobody checked.
    """

    case: NamedCase
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


class CaseParts(NamedTuple):
    """The rows of verdicts of one case, and the details of its certificates."""

    rows: list[VerdictRow]
    details: list[Detail]


class AnswerParts(NamedTuple):
    """The answer of a report: the text before the names of statements, these names, and the text
    after them. They are apart because in LaTeX names, such as V, are not variables.
    """

    text_before: str
    names: list[str]
    text_after: str


@dataclass(frozen=True)
class Report:
    """A folder of certificates and outcomes.

    Its ``columns`` are pairs (option, heading): the columns of tables that name a case, in which a
    case has its ``cells``. Its ``counts`` are the numbers of rows with each verdict.

    Parameters
    ----------
    rows : tuple of VerdictRow
        Refuted first.
    details : tuple of Detail
        The content of each certificate without its verdicts, by case.
    problems : tuple of Problem
        The files that could not be used, and why.
    plan : PlanComparison
        What the plans of batches have and the folder has not.
    """

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
        """Name and heading of the columns that name a case.

        They are the options if all cases have the same ones, else :data:`NAMES`.
        """
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
        verdicts = [self._count_in_words(verdict) for verdict in self.counts]
        cases = "No cases"
        if self.cases:
            cases = plural(len(self.cases), "case")
            ranges = self._ranges_in_words()
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

    def _count_in_words(self, verdict: str) -> str:
        """Return in words how many rows have a verdict, and how many are false as printed.

        A statement for all sizes may be confirmed where it applies, and false as printed elsewhere.
        """
        words = f"{self.counts[verdict]} {VERDICT_WORDS[verdict]}"
        if verdict == "REFUTED":
            return words
        false_as_printed = 0
        for row in self.rows:
            if row.verdict == verdict and row.as_printed is False:
                false_as_printed += 1
        if not false_as_printed:
            return words
        return f"{words} ({false_as_printed} of them false as printed)"

    def _ranges_in_words(self) -> list[str]:
        """Return the ranges of the numbers in words, such as ``d = 3``, ``1 ≤ a ≤ 4``."""
        headings = dict(self.columns)
        words = []
        for name, (low, high) in self.summary["ranges"].items():
            if low == high:
                words.append(f"{headings[name]} = {low}")
            else:
                words.append(f"{low} ≤ {headings[name]} ≤ {high}")
        return words

    @property
    def notes(self) -> str:
        """The reported figures, the papers whose statements are decided, and what to cite, in
        sentences.
        """
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
        return {
            "families": families,
            "cases": len(self.cases),
            "certificates": len(self.details),
            "ranges": self._ranges(),
            # as 3.4, without its parts such as 3.4 (iii)
            "statements": sorted({row.question for row in self.rows}),
            "verdicts": self.counts,
            "reported": self._reported(),
            "verified": False,  # certificates are read only
            "trusted": self.trusted,
            "unusable_files": len(self.problems),
            "plan": self.plan.to_json(),
            "papers": list(papers),
            "written_by": PROGRAM,
        }

    def _reported(self) -> dict[str, Any]:
        """Return the total of ``seconds``, the largest ``peak_memory`` in bytes (``None`` if no
        certificate says one), and for each program all its ``versions``; nobody checked them.

        Statements about one case that rest on one observation share its seconds, which count once
        in the total. Outcomes have versions too, and neither seconds nor memory.
        """
        measurements = set()
        memory = []
        for detail in self.details:
            measurements.add((detail.case, detail.observation, detail.reported["seconds"]))
            if detail.reported["peak_memory"] is not None:
                memory.append(detail.reported["peak_memory"])
        versions: dict[str, set[str]] = {}
        for row in self.rows:
            for name, version in row.reported["versions"].items():
                versions.setdefault(name, set()).add(version)
        return {
            "seconds": round(sum(seconds for *_, seconds in measurements), 3),
            "peak_memory": max(memory, default=None),
            "versions": {name: sorted(releases) for name, releases in sorted(versions.items())},
        }

    def _ranges(self) -> dict[str, tuple[int, int]]:
        """Return the smallest and the largest number of each column that has numbers, by the name
        of the option that is the column.
        """
        ranges = {}
        rows = [self.cells(case) for case in self.cases]
        # Without cases there are no cells, but ``self.columns`` has one column.
        columns = zip(*rows, strict=True)
        for (option, _), column in zip(self.columns, columns, strict=False):
            # A bool is also an int in Python, but not a number here.
            values = [cell for cell in column if type(cell) is int]
            if values:
                ranges[option] = min(values), max(values)
        return ranges


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
        fact = _statements_of_fact(row) or number
        truth = (row.verdict, row.as_printed)
        key = (row.case, fact, truth, row.reason, row.witness, row.seconds)
        lines[key] = _joined(lines[key], row) if key in lines else row
    return list(lines.values())


def _statements_of_fact(row: VerdictRow) -> tuple[str, ...]:
    """Return the statements that one fact decides, among them that of a row; none if no fact
    decides it together with others.
    """
    for names in family(row.case.family).same_fact:
        if row.statement in names:
            return names
    return ()


def _joined(line: VerdictRow, row: VerdictRow) -> VerdictRow:
    """Return a line of a table that names the statement and the file of a further row, too."""
    files = dict.fromkeys((*line.file.split(", "), row.file))
    return replace(
        line,
        statement=f"{line.statement}, {row.statement}",
        text="",
        source="",
        file=", ".join(files),
    )


def all_trusted(certificates: Iterable[Detail | Certificate]) -> list[str]:
    """Return the lemmas and computations on which some certificate rests, each once, sorted."""
    return sorted(set(chain.from_iterable(certificate.trusted for certificate in certificates)))


def _paragraph(sentences: Iterable[str]) -> str:
    """Return sentences, given without their full stops, one after the other."""
    return ". ".join(sentences) + "."


class CrossTable(NamedTuple, Generic[AnyT]):
    """A table of things that are named by pairs of cells.

    ``columns`` are the second members of the pairs, in order. ``rows`` has a pair for each first
    member, in order: this member, and the list of what each column has there.
    """

    columns: tuple[TableCell, ...]
    rows: list[tuple[TableCell, list[AnyT]]]


def cross_table(placed: Mapping[tuple[TableCell, ...], AnyT]) -> CrossTable[AnyT | None]:
    """Return the table of things that are named by pairs of cells; ``None`` stands for nothing.

    For ``{(1, "a"): x, (2, "b"): y}`` the columns are ``("a", "b")``, and the rows
    ``[(1, [x, None]), (2, [None, y])]``.
    """
    firsts = sorted({first for first, _ in placed}, key=_cell_sort_key)
    seconds = sorted({second for _, second in placed}, key=_cell_sort_key)

    rows = []
    for first in firsts:
        things = [placed.get((first, second)) for second in seconds]
        rows.append((first, things))
    return CrossTable(columns=tuple(seconds), rows=rows)
