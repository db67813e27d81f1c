"""An atlas: one page for each case that a folder of certificates is about, and an overview.

Every value comes from a certificate, which is named with it; where certificates say a value twice,
they have to agree. A browser opens the pages from a folder, without a server.

A certificate is the answer to one question about one case, with its ``evidence``, from which the
answer follows; an outcome is a file that says why there is no certificate. A row is one verdict of
one of these files. The evidence of a certificate can have facts about orbits, sets of functions
that are named by a few numbers.
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

MAX_ATLAS_GENERATORS = 200
"""Generators on a page, which stays readable; the certificate has all."""


@dataclass(frozen=True, slots=True)
class AtlasValue:
    """A fact about a case.

    Parameters
    ----------
    name : str
    text : str
        Empty if no certificate contains it.
    source : str
        The file of the certificate that contains it.
    reason : str
        Why there is no value; empty if there is one.
    """

    name: str
    text: str
    source: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A case in the atlas.

    Parameters
    ----------
    case : NamedCase
    values : tuple of AtlasValue
        Dimension, degree and so on, in the same order for all cases.
    orbits : Table or None
        Facts about each orbit.
    singular : tuple of AtlasValue
        What is known of the singular locus.
    generators : tuple of str
        Of the ideal of the closure; empty if no certificate has them.
    rows : tuple of VerdictRow
        The verdicts; what has no answer is among them.
    sources : mapping of str to Certificate
        The certificates to download, by file.
    trusted : tuple of str
        Lemmas and computations on which some certificate rests.
    """

    case: NamedCase
    values: tuple[AtlasValue, ...]
    orbits: Table | None
    singular: tuple[AtlasValue, ...]
    generators: tuple[str, ...]
    rows: tuple[VerdictRow, ...]
    sources: Mapping[str, Certificate]
    trusted: tuple[str, ...]

    @property
    def file(self) -> str:
        """The name of its page."""
        return f"{self.case.name}.html"

    @property
    def verdict(self) -> str:
        """The first verdict on a statement, in the order of :data:`VERDICTS`, from REFUTED on.

        If no statement was asked about, the first verdict on what was computed.
        """
        # the questions whose answers are no verdicts on statements
        computed = (CLOSURE, EQUATIONS, POLAR)
        stated = [row.verdict for row in self.rows if row.question not in computed]
        verdicts = stated or [row.verdict for row in self.rows]
        return min(verdicts, key=VERDICTS.index)

    @property
    def equations(self) -> bool:
        """Whether a certificate has the equations up to a degree."""
        return any(certificate.question == EQUATIONS for certificate in self.sources.values())

    def value(self, name: str) -> AtlasValue:
        """Return the value with this name, one of :data:`VALUES`."""
        return next(value for value in self.values if value.name == name)

    def text(self, name: str) -> str:
        """Return the text of the value with this name, one of :data:`VALUES`; empty without one."""
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
    families, it starts with the models of the family. ``headings`` are those of the first two
    numbers, and ``columns`` the values of the second. ``lines`` has for each value of the first
    number a pair of this value and the list of the entries in the columns, ``None`` for no case.
    """

    caption: str
    headings: tuple[str, ...]
    columns: tuple[TableCell, ...]
    lines: list[tuple[TableCell, list[Entry | None]]]


def case_grids(entries: Iterable[Entry]) -> tuple[list[CaseGrid], list[Entry]]:
    """Return tables of the cases that differ in the first two numbers only, and the other cases.

    Returns
    -------
    tables : list of CaseGrid
    others : list of Entry
        The cases that fewer than two numbers name.
    """
    listed = list(entries)
    has_several_families = len({entry.case.family for entry in listed}) > 1
    groups: dict[_CommonValues, list[Entry]] = {}
    for entry in listed:
        common = _CommonValues(
            family=entry.case.family,
            headings=tuple(option.heading for option in entry.case.options),
            further_values=entry.case.cells[2:],
        )
        groups.setdefault(common, []).append(entry)
    tables, others = [], []
    # Keys are sorted as text, because numbers and words in them cannot be compared.
    for common in sorted(groups, key=lambda key: repr(tuple(key))):
        group = groups[common]
        if len(common.headings) < 2:
            others += group
            continue
        caption = common.caption(with_family=has_several_families)
        table = cross_table({entry.case.cells[:2]: entry for entry in group})
        headings = common.headings[:2]
        tables.append(CaseGrid(caption, headings, columns=table.columns, lines=table.rows))
    return tables, others


class _CommonValues(NamedTuple):
    """What the cases of one table have in common: the family by its name, the headings of all
    numbers, and the numbers from the third on.
    """

    family: str
    headings: tuple[str, ...]
    further_values: tuple[TableCell, ...]

    def caption(self, *, with_family: bool) -> str:
        """Return the caption of the table, such as ``t = 3``; it begins with the title of the
        family if ``with_family``, and is empty without it for cases of two numbers.
        """
        common_numbers = zip(self.headings[2:], self.further_values, strict=True)
        numbers = ", ".join(f"{heading} = {value}" for heading, value in common_numbers)
        if not with_family:
            return numbers
        title = family(self.family).title
        return f"{title}: {numbers}" if numbers else title


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
    """Return a table with one line for each orbit, with what all certificates of a case together
    say about it; ``None`` if they say nothing about orbits. ``certificates`` has them by the names
    of their files.
    """
    facts = orbit_facts(certificates.values(), "orbits")
    tangents = orbit_facts(certificates.values(), "tangent_dimensions")
    orbits = sorted(facts | tangents)
    if not orbits:
        return None
    lines = [_orbit_line(orbit, facts.get(orbit, {}), tangents.get(orbit, {})) for orbit in orbits]
    return Table(ORBIT_TABLE_HEADER, tuple(lines))


def orbit_facts(certificates: Iterable[Certificate], evidence_key: str) -> FactsByOrbit:
    """Return the facts about each orbit that the evidence of certificates has under a key.

    The key is ``orbits`` or ``tangent_dimensions``; certificates without it are skipped. The result
    has, for the tuple of the numbers that name an orbit, its facts: values by their names.

    Raises
    ------
    ContradictionError
        If two certificates do not agree about an orbit.
    """
    orbits: FactsByOrbit = {}
    for certificate in certificates:
        for facts in certificate.evidence.get(evidence_key, ()):
            known_facts = orbits.setdefault(tuple(facts["orbit"]), facts)
            if known_facts != facts:
                raise ContradictionError(
                    f"certificates of {certificate.name} do not agree about orbit {facts['orbit']}"
                )
    return orbits


def _orbit_line(
    orbit: tuple[int, ...], facts: Mapping[str, Any], by_equations: Mapping[str, Any]
) -> tuple[str, ...]:
    """Return the cells of an orbit under :data:`ORBIT_TABLE_HEADER`.

    ``facts`` are those of the evidence ``orbits``, with a lower bound for the dimension of the
    tangent space; ``by_equations`` has this dimension, as equations give it. Either may be empty.
    """
    vectors = facts.get("tangent_lower_bound")
    # Both are proved, so that a contradiction is an error of a certificate.
    tangent = intersect_bounds(
        Bounds.at_least(vectors, f"tangent vectors at orbit {orbit}"),
        Bounds.exactly(by_equations.get("dimension"), "equations"),
    )
    names = ("fibre_length", "fibre_points", "singular", "critical", "boundary")
    return (
        value_text(list(orbit)),
        value_text(facts.get("dimension")),
        tangent.cell,
        *(value_text(facts.get(name)) for name in names),
    )


def singular_values(certificates: Mapping[str, Certificate]) -> tuple[AtlasValue, ...]:
    """Return values that list the singular, the smooth and the undecided orbits of a case.

    A further value is the largest dimension of a singular orbit. A list without any orbit is left
    out; without facts about orbits in any certificate, no value is returned. ``certificates`` has
    them by the names of their files, of which the first with such facts is the source.
    """
    sources = []
    for file, certificate in certificates.items():
        if certificate.evidence.get("orbits"):
            sources.append(file)
    if not sources:
        return ()
    facts = orbit_facts(certificates.values(), "orbits")
    singular = _orbits_where_singular_is(True, facts)
    smooth = _orbits_where_singular_is(False, facts)
    undecided = _orbits_where_singular_is(None, facts)
    largest_dimension = ""
    if singular:
        largest_dimension = f"{max(facts[orbit]['dimension'] for orbit in singular)}"
        if undecided:  # one of these may be singular and larger
            largest_dimension = f"at least {largest_dimension}"
    texts = {
        "singular orbits": _orbits_text(singular),
        "smooth orbits": _orbits_text(smooth),
        "undecided orbits": _orbits_text(undecided),
        "largest dimension of a singular orbit": largest_dimension,
    }
    return tuple(
        AtlasValue(name=name, text=text, source=sources[0]) for name, text in texts.items() if text
    )


def _orbits_where_singular_is(answer: bool | None, facts: FactsByOrbit) -> list[tuple[int, ...]]:
    """Return the orbits, in order, whose fact ``singular`` is ``answer``; with ``None`` those for
    which it is undecided or missing.
    """
    return [orbit for orbit in sorted(facts) if facts[orbit].get("singular") is answer]


def _orbits_text(orbits: Iterable[tuple[int, ...]]) -> str:
    """Return orbits as text, each by its numbers; empty if there are none."""
    return ", ".join(value_text(list(orbit)) for orbit in orbits)


def atlas(folder: Path) -> Atlas:
    """Return the atlas of the certificates and outcomes in a folder and below it.

    As for a report, certificates are read and not verified; their digests and names are checked.
    Nothing is computed.

    Parameters
    ----------
    folder : Path

    Raises
    ------
    ContradictionError
        If two certificates say different things about one case.
    CertificateError
        If what a certificate rests on does not have the form that this release writes.
    """
    report = collect(folder)
    entries = []
    for case, parts in check_deadline_in(report.by_case().items()):
        entries.append(_entry(case, parts.rows, folder))
    return Atlas(tuple(entries), report.problems, report.plan)


def _entry(case: NamedCase, rows: list[VerdictRow], folder: Path) -> Entry:
    """Return the content of the page of one case, from its certificates and outcomes.

    ``rows`` are all of the case; each names the file in ``folder`` from which it was read.

    Raises
    ------
    ContradictionError
        If two certificates do not agree.
    CertificateError
        If one does not have the form that this release writes.
    """
    files = {row.file for row in rows if row.is_certified}
    certificates = {file: read(folder / file) for file in sorted(files)}
    try:
        # missing[question] = why a value is not known that its certificate would have
        missing = _reasons_by_question(case, rows, certificates.values())
        return Entry(
            case=case,
            values=tuple(_value(name, certificates, missing) for name in VALUES),
            orbits=orbit_table(certificates),
            singular=singular_values(certificates),
            generators=_generators(certificates.values()),
            rows=tuple(rows),
            sources=certificates,
            trusted=tuple(all_trusted(certificates.values())),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as reason:
        raise CertificateError(
            f"a certificate of {case} does not have the expected form: {reason!r}"
        ) from None


def _generators(certificates: Iterable[Certificate]) -> tuple[str, ...]:
    """Return the generators of the ideal from the first certificate with generators in its
    evidence; the empty tuple if there is none.
    """
    for certificate in certificates:
        if "generators" in certificate.evidence:
            return tuple(certificate.evidence["generators"])
    return ()


def _reasons_by_question(
    case: NamedCase, rows: list[VerdictRow], certificates: Collection[Certificate]
) -> dict[str, str]:
    """Return why a case lacks values, by the questions whose certificates would have them.

    The reason is that of an outcome of the question, or of a plan that asks it, in ``rows``. Else
    it is, for the closure, that only equations up to a degree are known; for the polar degrees,
    that the statement about them has no answer or does not apply; and for all questions, whether
    there is a certificate without the value, no certificate, or no such question about the family.
    """
    reasons = {row.question: row.reason for row in rows if not row.is_certified}
    degree_limit = _degree_limit_reason(certificates)
    if degree_limit:
        reasons.setdefault(CLOSURE, degree_limit)
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
    name: str, certificates: Mapping[str, Certificate], missing: Mapping[str, str]
) -> AtlasValue:
    """Return the value of this name, one of :data:`VALUES`, or the reason why there is none.

    Its source is a certificate of the closure that has the value, else the first file that has it.
    ``certificates`` has them by the names of their files, and ``missing`` the reasons by question.

    Raises
    ------
    ContradictionError
        If two certificates say different values.
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
        return AtlasValue(name, "", reason=missing[question])
    about_closure = [file for file in values if certificates[file].question == CLOSURE]
    source = min(about_closure or values)
    return AtlasValue(name=name, text=str(values[source]), source=source)


def _degree_limit_reason(certificates: Iterable[Certificate]) -> str:
    """Return the reason ``not known beyond degree 4``, with the degree of the first certificate
    about equations up to a degree; the empty text if there is no such certificate.
    """
    for certificate in certificates:
        if certificate.question == EQUATIONS:
            return f"not known beyond degree {certificate.answer['max_degree']}"
    return ""


def write_atlas(atlas: Atlas, folder: Path, documentation: str = "") -> Path:
    """Write ``index.html`` and a page ``cases/NAME.html`` for each case.

    Parameters
    ----------
    atlas : Atlas
    folder : Path
        Where they are written. The certificates, to which the pages link, have to be in its folder
        :data:`CERTIFICATES`.
    documentation : str
        The address of the documentation, or the path of its folder as seen from the pages of cases:
        citations of its pages are links then. If it is empty, they are not.

    Returns
    -------
    Path
        The file of the overview, ``index.html``.

    Raises
    ------
    OSError
        If a page cannot be written.
    """
    cases = folder / "cases"
    entries_before = [None, *atlas.entries[:-1]]
    entries_after = [*atlas.entries[1:], None]
    # Without entries the other two lists still have their None, and there are no triples.
    triples = zip(entries_before, atlas.entries, entries_after, strict=False)
    for before, entry, after in check_deadline_in(triples):
        write_aside(_case_page(entry, before, after, documentation), cases / entry.file)
    target = folder / "index.html"
    write_aside(_overview(atlas), target)
    # A page may have been deleted while others were written: links to it would lead nowhere.
    missing = [entry.file for entry in atlas.entries if not (cases / entry.file).is_file()]
    if missing:
        raise FileNotFoundError(
            f"{len(missing)} pages such as 'cases/{missing[0]}' were deleted while others were made"
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


def _case_page(entry: Entry, before: Entry | None, after: Entry | None, documentation: str) -> str:
    """Return the HTML of the page of a case, with links to the pages of the cases ``before`` and
    ``after`` it; ``None`` for the first and the last case.

    ``documentation`` is the address of the site, or its folder as seen from this page; it is empty
    if there are to be no links to pages of the documentation.
    """
    # ``legend`` says what the numbers of an orbit are, ``marks`` has the sign of each verdict, and
    # at most ``most`` generators are shown
    values = {
        "entry": entry,
        "paper": paper_of(entry.rows),
        "before": before,
        "after": after,
        "legend": family(entry.case.family).orbits,
        "marks": MARKS,
        "most": MAX_ATLAS_GENERATORS,
        "certificates": f"../{CERTIFICATES}",
        "documentation": documentation,
    }
    return page("atlas_case", values)


def _overview(atlas: Atlas) -> str:
    """Return the HTML of the page with tables of all cases, and lists of those in no table."""
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
