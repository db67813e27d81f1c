"""An atlas: one page for each case that a folder of certificates is about, and an overview.

Every value comes from a certificate, which is named with it; where certificates say a value twice,
they have to agree, or ContradictionError is raised. A browser opens the pages from a folder,
without a server.

A certificate is the answer to one question about one case, with its ``evidence``, from which the
answer follows; an outcome is a file that says why there is no certificate. A row is one verdict of
one of these files. The evidence of a certificate can have facts about orbits, sets of functions
that are named by a few numbers. ``certificates`` are the certificates of a case by the names of
their files.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from m2bridge.batch.plan_file import PlanComparison
from m2bridge.certificates.form import Certificate, read
from m2bridge.certification.make import questions
from m2bridge.engine.script import page
from m2bridge.errors import CertificateError, ContradictionError
from m2bridge.families.registry import family
from m2bridge.limits import check_deadline_in
from m2bridge.reports.atlas_values import CLOSURE, EQUATIONS, POLAR, STATED_POLAR, VALUES
from m2bridge.reports.content import (
    VERDICTS,
    NamedCase,
    Problem,
    TableCell,
    VerdictRow,
    all_trusted,
    cross_table,
)
from m2bridge.reports.forms import MARKS, paper_of
from m2bridge.reports.read import collect
from m2bridge.results.known import Bounds, intersect_bounds
from m2bridge.results.sheet import Table, enumeration, value_text
from m2bridge.system import write_aside

CERTIFICATES = "certificates"
"""The folder of certificates in an atlas."""


@dataclass(frozen=True, slots=True)
class AtlasValue:
    """A fact about a case, with the file of its certificate, or why no certificate has it."""

    name: str
    text: str
    source: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A case in the atlas."""

    case: NamedCase
    values: tuple[AtlasValue, ...]  # in the same order for all cases
    orbits: Table | None
    singular: tuple[AtlasValue, ...]  # what is known of the singular locus
    generators: tuple[str, ...]  # of the ideal of the closure
    rows: tuple[VerdictRow, ...]  # what has no answer is among them
    sources: Mapping[str, Certificate]  # the certificates to download, by file
    trusted: tuple[str, ...]

    @property
    def file(self) -> str:
        """The name of its page."""
        return f"{self.case.name}.html"

    @property
    def verdict(self) -> str:
        """The first verdict on a statement, in the order of :data:`VERDICTS`; if no statement was
        asked about, the first verdict on what was computed.
        """
        # the questions whose answers are no verdicts on statements
        computed_questions = (CLOSURE, EQUATIONS, POLAR)
        verdicts_on_statements = [
            row.verdict for row in self.rows if row.question not in computed_questions
        ]
        verdicts = verdicts_on_statements or [row.verdict for row in self.rows]
        return min(verdicts, key=VERDICTS.index)

    @property
    def equations(self) -> bool:
        """Whether a certificate has the equations up to a degree."""
        return any(certificate.question == EQUATIONS for certificate in self.sources.values())

    def value(self, name: str) -> AtlasValue:
        """Return the value with this name, one of :data:`VALUES`."""
        return next(value for value in self.values if value.name == name)

    def text(self, name: str) -> str:
        """Return the text of the value with this name; empty without one."""
        return self.value(name).text

    @property
    def reasons(self) -> dict[str, list[str]]:
        """For each reason why values are missing, the names of these values."""
        names: dict[str, list[str]] = {}
        for value in self.values:
            if value.reason:
                names.setdefault(value.reason, []).append(value.name)
        return names


@dataclass(frozen=True, slots=True)
class Atlas:
    """All cases, in order, the files that could not be used, and what plans have in addition."""

    entries: tuple[Entry, ...]
    problems: tuple[Problem, ...]
    plan: PlanComparison = field(default_factory=PlanComparison)


class CaseGrid(NamedTuple):
    """A table of the cases that differ in the first two numbers only.

    ``caption`` gives the numbers after the first two, as ``t = 3``; where there are several
    families, it starts with the models of the family. ``lines`` has each value of the first number
    with the entries in the ``columns``, the values of the second; ``None`` for no case.
    """

    caption: str
    headings: tuple[str, ...]
    columns: tuple[TableCell, ...]
    lines: list[tuple[TableCell, list[Entry | None]]]


def case_grids(entries: Iterable[Entry]) -> tuple[list[CaseGrid], list[Entry]]:
    """Return tables of the cases that differ in two numbers only, and the cases without two."""
    listed = list(entries)
    has_several_families = len({entry.case.family for entry in listed}) > 1
    # the cases of one table have the family, the headings, and the numbers from the third in common
    groups: dict[tuple[str, tuple[str, ...], tuple[TableCell, ...]], list[Entry]] = {}
    for entry in listed:
        headings = tuple(option.heading for option in entry.case.options)
        common = (entry.case.family, headings, entry.case.cells[2:])
        groups.setdefault(common, []).append(entry)
    tables, others = [], []
    # Keys are sorted as text, because numbers and words in them cannot be compared.
    for common in sorted(groups, key=repr):
        family_name, headings, further_values = common
        if len(headings) < 2:
            others += groups[common]
            continue
        pairs = zip(headings[2:], further_values, strict=True)
        caption = ", ".join(f"{heading} = {value}" for heading, value in pairs)
        if has_several_families:
            title = family(family_name).title
            caption = f"{title}: {caption}" if caption else title
        table = cross_table({entry.case.cells[:2]: entry for entry in groups[common]})
        tables.append(CaseGrid(caption, headings[:2], columns=table.columns, lines=table.rows))
    return tables, others


ORBIT_TABLE_HEADER = (
    "orbit",
    "dimension",
    "tangent dimension",
    "fibre: length",
    "points",
    "singular",
    "critical",
    "boundary",
)
FactsByOrbit = dict[tuple[int, ...], Mapping[str, Any]]
"""The facts about each orbit, by the numbers that name it."""


def orbit_table(certificates: Mapping[str, Certificate]) -> Table | None:
    """Return a table with a line for each orbit, with what all certificates say about it."""
    facts_of_orbits = orbit_facts(certificates.values(), "orbits")
    # the dimensions of tangent spaces, as equations give them
    tangents = orbit_facts(certificates.values(), "tangent_dimensions")
    lines = []
    for orbit in sorted(facts_of_orbits | tangents):
        facts = facts_of_orbits.get(orbit, {})
        # Both bounds are proved, so that a contradiction is an error of a certificate.
        tangent = intersect_bounds(
            Bounds.at_least(facts.get("tangent_lower_bound"), f"tangent vectors at orbit {orbit}"),
            Bounds.exactly(tangents.get(orbit, {}).get("dimension"), "equations"),
        )
        names = ("fibre_length", "fibre_points", "singular", "critical", "boundary")
        line = (
            value_text(list(orbit)),
            value_text(facts.get("dimension")),
            tangent.cell,
            *(value_text(facts.get(name)) for name in names),
        )
        lines.append(line)
    return Table(ORBIT_TABLE_HEADER, tuple(lines)) if lines else None


def orbit_facts(certificates: Iterable[Certificate], evidence_key: str) -> FactsByOrbit:
    """Return the facts about each orbit that the evidence of certificates has under a key."""
    orbits: FactsByOrbit = {}
    for certificate in certificates:
        for facts in certificate.evidence.get(evidence_key, ()):
            known_facts = orbits.setdefault(tuple(facts["orbit"]), facts)
            if known_facts != facts:
                raise ContradictionError(
                    f"certificates of {certificate.name} do not agree about orbit {facts['orbit']}"
                )
    return orbits


def singular_values(certificates: Mapping[str, Certificate]) -> tuple[AtlasValue, ...]:
    """Return values that list the singular, the smooth and the undecided orbits of a case, and the
    largest dimension of a singular orbit; without facts about orbits there are none.
    """
    sources = []
    for file, certificate in certificates.items():
        if certificate.evidence.get("orbits"):
            sources.append(file)
    if not sources:
        return ()
    facts = orbit_facts(certificates.values(), "orbits")
    answers = {"singular orbits": True, "smooth orbits": False, "undecided orbits": None}
    texts = {}
    for name, answer in answers.items():
        orbits = [orbit for orbit in sorted(facts) if facts[orbit].get("singular") is answer]
        texts[name] = ", ".join(value_text(list(orbit)) for orbit in orbits)
    dimensions = [entry["dimension"] for entry in facts.values() if entry.get("singular") is True]
    if dimensions:
        # an undecided orbit may be singular and larger
        at_least = "at least " if texts["undecided orbits"] else ""
        texts["largest dimension of a singular orbit"] = f"{at_least}{max(dimensions)}"
    return tuple(
        AtlasValue(name=name, text=text, source=sources[0]) for name, text in texts.items() if text
    )


def atlas(folder: Path) -> Atlas:
    """Return the atlas of the certificates and outcomes in a folder and below it.

    As for a report, certificates are read and not verified; their digests and names are checked.
    CertificateError is raised if what a certificate rests on does not have the form that this
    release writes.
    """
    report = collect(folder)
    entries = []
    for case, parts in check_deadline_in(report.by_case().items()):
        entries.append(_entry(case, parts.rows, folder))
    return Atlas(tuple(entries), report.problems, report.plan)


def _entry(case: NamedCase, rows: list[VerdictRow], folder: Path) -> Entry:
    """Return the content of the page of one case, from its files in ``folder``."""
    files = {row.file for row in rows if row.is_certified}
    certificates = {file: read(folder / file) for file in sorted(files)}
    try:
        # missing[question] = why a value is not known that its certificate would have
        reasons = _reasons_by_question(case, rows, certificates.values())
        generators: tuple[str, ...] = ()
        for certificate in certificates.values():
            if "generators" in certificate.evidence:
                generators = tuple(certificate.evidence["generators"])
                break
        return Entry(
            case=case,
            values=tuple(_value(name, certificates, reasons) for name in VALUES),
            orbits=orbit_table(certificates),
            singular=singular_values(certificates),
            generators=generators,
            rows=tuple(rows),
            sources=certificates,
            trusted=tuple(all_trusted(certificates.values())),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as reason:
        raise CertificateError(
            f"a certificate of {case} does not have the expected form: {reason!r}"
        ) from None


def _reasons_by_question(
    case: NamedCase, rows: list[VerdictRow], certificates: Collection[Certificate]
) -> dict[str, str]:
    """Return why a case lacks values, by the questions whose certificates would have them.

    The reason is in an outcome of the question, or in a plan that asks it, in ``rows``. Else
    it is, for the closure, that only equations up to a degree are known; for the polar degrees,
    that the statement about them has no answer or does not apply; and for all questions, whether
    there is a certificate without the value, no certificate, or no such question about the family.
    """
    reasons = {row.question: row.reason for row in rows if not row.is_certified}
    for certificate in certificates:
        if certificate.question == EQUATIONS:
            limit = certificate.answer["max_degree"]
            reasons.setdefault(CLOSURE, f"not known beyond degree {limit}")
    for row in rows:
        if row.question == STATED_POLAR and row.verdict in ("NO_ANSWER", "NOT_APPLICABLE"):
            reasons.setdefault(POLAR, row.reason)
    answered = {certificate.question for certificate in certificates}
    questions_of_family = questions(case.family)
    questions_with_values = {question for question, _reader in VALUES.values()}
    for question in questions_with_values:
        if question in answered:
            reason = f"the certificate of '{question}' does not say it"
        elif question in questions_of_family:
            reason = f"there is no certificate of '{question}'"
        else:
            reason = f"'{question}' is not asked about {family(case.family).title}"
        reasons.setdefault(question, reason)
    return reasons


def _value(
    name: str, certificates: Mapping[str, Certificate], reasons: Mapping[str, str]
) -> AtlasValue:
    """Return the value of this name, one of :data:`VALUES`, or the reason why there is none.

    Its source is a certificate of the closure that has the value, else the first file that has it.
    """
    # the question whose certificate would have the value, and how a certificate is read
    question, reader = VALUES[name]
    values = {}  # by the file of the certificate
    for file, certificate in certificates.items():
        value = reader(certificate)
        if value is not None:
            values[file] = value
    if len(set(values.values())) > 1:
        listed_values = ", ".join(f"{value} ({file})" for file, value in values.items())
        raise ContradictionError(f"certificates do not agree about the {name}: {listed_values}")
    if not values:
        return AtlasValue(name, "", reason=reasons[question])
    about_closure = [file for file in values if certificates[file].question == CLOSURE]
    source = min(about_closure or values)
    return AtlasValue(name=name, text=str(values[source]), source=source)


def write_atlas(atlas: Atlas, folder: Path, documentation: str = "") -> Path:
    """Write ``index.html`` and a page ``cases/NAME.html`` for each case; return the overview.

    The certificates, to which the pages link, have to be in the folder :data:`CERTIFICATES`.
    ``documentation`` is the address of the documentation, or its folder as seen from the pages of
    cases: citations of its pages are links then, unless it is empty.
    """
    cases = folder / "cases"
    entries_before = [None, *atlas.entries[:-1]]
    entries_after = [*atlas.entries[1:], None]
    # Without entries the other two lists still have their None, and there are no triples.
    triples = zip(entries_before, atlas.entries, entries_after, strict=False)
    for previous_entry, entry, next_entry in check_deadline_in(triples):
        write_aside(
            _case_page(entry, previous_entry, next_entry, documentation), cases / entry.file
        )
    target = folder / "index.html"
    write_aside(_overview(atlas), target)
    # A page may have been deleted while others were written: links to it would lead nowhere.
    gaps = [entry.file for entry in atlas.entries if not (cases / entry.file).is_file()]
    if gaps:
        raise FileNotFoundError(
            f"{len(gaps)} pages such as 'cases/{gaps[0]}' were deleted while others were made"
        )
    return target


def cases_by_missing_reason(entries: Iterable[Entry]) -> dict[str, list[Entry]]:
    """Return the reasons why the overview has dashes in place of numbers, each with its cases.

    These numbers are the dimension, the degree and, in cases whose equations were computed, the
    number of all generators.
    """
    cases: dict[str, list[Entry]] = {}
    for entry in entries:
        names = ["dimension", "degree"]
        if entry.equations:
            names.append("generators")
        for reason in dict.fromkeys(entry.value(name).reason for name in names):
            if reason:
                cases.setdefault(reason, []).append(entry)
    return cases


def _case_page(
    entry: Entry, previous_entry: Entry | None, next_entry: Entry | None, documentation: str
) -> str:
    """Return the HTML of the page of a case, with links to the pages before and after it."""
    # ``legend`` says what the numbers of an orbit are, ``marks`` has the sign of each verdict, and
    # at most ``most`` generators are shown
    values = {
        "entry": entry,
        "paper": paper_of(entry.rows),
        "before": previous_entry,
        "after": next_entry,
        "legend": family(entry.case.family).orbits,
        "marks": MARKS,
        "most": 200,  # a page stays readable; the certificate has all
        "certificates": f"../{CERTIFICATES}",
        "documentation": documentation,
    }
    return page("atlas_case", values)


def _overview(atlas: Atlas) -> str:
    """Return the HTML of the page with tables of all cases, and lists of the cases in no table."""
    tables, entries_without_table = case_grids(atlas.entries)
    # Of the cases without a table only the verdict is shown, so they have no dashes for numbers.
    without_values = {entry.file for entry in entries_without_table}
    with_values = [entry for entry in atlas.entries if entry.file not in without_values]
    # ``dashes`` has cases by the reason why a number is missing, ``marks`` the sign of each verdict
    values = {
        "title": enumeration(sorted({family(entry.case.family).title for entry in atlas.entries})),
        "atlas": atlas,
        "grids": tables,
        "alone": entries_without_table,
        "dashes": cases_by_missing_reason(with_values),
        "verdicts": {entry.verdict for entry in atlas.entries},
        "marks": MARKS,
    }
    return page("atlas", values)
