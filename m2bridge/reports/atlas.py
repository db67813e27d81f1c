"""An atlas: one page for each case that a folder of certificates is about, and an overview.

Every value comes from a certificate, which is named with it; where certificates say a value twice,
they have to agree. A browser opens the pages from a folder, without a server.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from m2bridge.algebra.hilbert_series import HilbertSeries
from m2bridge.algebra.schur import Representation
from m2bridge.batch.store import SUFFIX
from m2bridge.certificates.form import Certificate, read
from m2bridge.certification.make import questions
from m2bridge.convert.printing import degree_summary, expression_text
from m2bridge.engine.script import page
from m2bridge.errors import CertificateError, ContradictionError
from m2bridge.families.registry import family
from m2bridge.limits import check_deadline_in
from m2bridge.reports.content import VERDICTS, NamedCase, Problem, VerdictRow, all_trusted, crossed
from m2bridge.reports.forms import MARKS, paper_of
from m2bridge.reports.read import collect
from m2bridge.results.known import Bounds, intersect_bounds
from m2bridge.results.sheet import Table, value_text
from m2bridge.system import write_aside

CertificateReader = Callable[[Certificate], Any]
"""A function that reads a value from a certificate; ``None`` if there is none."""

CLOSURE = "closure"
"""The question whose answer has the invariants of a Zariski closure, or says why there are none."""
EQUATIONS = "equations"
"""The question whose answer has these invariants up to a degree."""
POLAR = "polar-degrees"
"""The question whose answer has the polar degrees."""
STATED_POLAR = "polar"
"""The statement about polar degrees, whose verdict has them as they were computed."""

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
        Of the ideal of the closure.
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
        """The first verdict on a statement in the order of a report, else that on the equations."""
        computed = (CLOSURE, EQUATIONS, POLAR)
        stated = [row.verdict for row in self.rows if row.question not in computed]
        verdicts = stated or [row.verdict for row in self.rows]
        return min(verdicts, key=VERDICTS.index)

    @property
    def equations(self) -> bool:
        """Whether the equations up to a degree are known."""
        return any(certificate.question == EQUATIONS for certificate in self.sources.values())

    def value(self, name: str) -> AtlasValue:
        """The value with this name."""
        return next(value for value in self.values if value.name == name)

    def text(self, name: str) -> str:
        """The text of the value with this name."""
        return self.value(name).text

    @property
    def reasons(self) -> dict[str, list[str]]:
        """Why there are no values, each reason with the names of the values that it is for."""
        names: dict[str, list[str]] = {}
        for value in self.values:
            if value.reason:
                names.setdefault(value.reason, []).append(value.name)
        return names


@dataclass(frozen=True, slots=True)
class Atlas:
    """All cases, in order, and the files that could not be used."""

    entries: tuple[Entry, ...]
    problems: tuple[Problem, ...]


def grids(entries: Iterable[Entry]) -> tuple[list[tuple[Any, ...]], list[Entry]]:
    """Tables of the cases that differ in two numbers only, and the cases that fewer numbers name.

    A table is its caption with the other numbers, what the two are called, its columns, and its
    lines. Where there are several families a caption starts with the models of its family.
    """
    listed = list(entries)
    several = len({entry.case.family for entry in listed}) > 1
    groups: dict[tuple[Any, ...], list[Entry]] = {}
    for entry in listed:
        headings = tuple(heading for _, heading, _ in entry.case.options)
        groups.setdefault((entry.case.family, headings, entry.case.cells[2:]), []).append(entry)
    tables, alone = [], []
    for (name, headings, others), group in sorted(groups.items(), key=lambda item: repr(item[0])):
        if len(headings) < 2:
            alone += group
            continue
        fixed = zip(headings[2:], others, strict=True)
        caption = ", ".join(f"{heading} = {value}" for heading, value in fixed)
        if several:
            caption = ": ".join(filter(None, (family(name).title, caption)))
        across, lines = crossed({entry.case.cells[:2]: entry for entry in group})
        tables.append((caption, headings[:2], across, lines))
    return tables, alone


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
    """One line for each orbit, with what the tangent space is known to be from all certificates."""
    facts = orbit_facts(certificates.values(), "orbits")
    tangents = orbit_facts(certificates.values(), "tangent_dimensions")
    orbits = sorted(facts | tangents)
    if not orbits:
        return None
    lines = [_line(orbit, facts.get(orbit, {}), tangents.get(orbit, {})) for orbit in orbits]
    return Table(ORBIT_TABLE_HEADER, tuple(lines))


def orbit_facts(certificates: Iterable[Certificate], name: str) -> FactsByOrbit:
    """The facts about each orbit in the evidence of this name.

    Raises
    ------
    ContradictionError
        If two of them do not agree.
    """
    orbits: FactsByOrbit = {}
    for certificate in certificates:
        for facts in certificate.evidence.get(name, ()):
            if orbits.setdefault(tuple(facts["orbit"]), facts) != facts:
                raise ContradictionError(
                    f"certificates of {certificate.name} do not agree about orbit {facts['orbit']}"
                )
    return orbits


def _line(
    orbit: tuple[int, ...], facts: Mapping[str, Any], by_equations: Mapping[str, Any]
) -> tuple[str, ...]:
    """Return the row of an orbit, with all that certificates say about its tangent space."""
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
    """The singular and smooth orbits, and the dimension of the singular locus away from zero."""
    sources = [file for file, one in certificates.items() if one.evidence.get("orbits")]
    if not sources:
        return ()
    facts = orbit_facts(certificates.values(), "orbits")
    names = {True: "singular orbits", False: "smooth orbits", None: "undecided orbits"}
    texts = {}
    for answer, name in names.items():
        part = [orbit for orbit in sorted(facts) if facts[orbit].get("singular") is answer]
        if part:
            texts[name] = ", ".join(value_text(list(orbit)) for orbit in part)
    dimensions = [one["dimension"] for one in facts.values() if one.get("singular") is True]
    if dimensions:
        largest = f"{max(dimensions)}"
        if names[None] in texts:
            largest = f"at least {largest}"
        texts["largest dimension of a singular orbit"] = largest
    return tuple(AtlasValue(name, text, sources[0]) for name, text in texts.items())


def atlas(folder: Path) -> Atlas:
    """Read the certificates and outcomes in a folder and below it.

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
    for case, (rows, _) in check_deadline_in(report.by_case().items()):
        entries.append(_entry(case, rows, folder))
    return Atlas(tuple(entries), report.problems)


def _entry(case: NamedCase, rows: list[VerdictRow], folder: Path) -> Entry:
    """The content of the page of one case, from its certificates and outcomes."""
    files = {row.file for row in rows if not row.file.endswith(SUFFIX)}
    certificates = {file: read(folder / file) for file in sorted(files)}
    try:
        missing = _reasons_by_question(case, rows, certificates.values())
        evidence = [certificate.evidence for certificate in certificates.values()]
        generators = [one["generators"] for one in evidence if "generators" in one] or [()]
        return Entry(
            case=case,
            values=tuple(_value(name, certificates, missing) for name in VALUES),
            orbits=orbit_table(certificates),
            singular=singular_values(certificates),
            generators=tuple(generators[0]),
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
    """Why a case lacks values, for each question whose certificate would have them."""
    reasons = {row.question: row.reason for row in rows if row.file.endswith(SUFFIX)}
    scope = _scope(certificates)
    if scope:
        reasons.setdefault(CLOSURE, scope)
    for row in rows:
        if row.question == STATED_POLAR and row.verdict in ("NO_ANSWER", "NOT_APPLICABLE"):
            reasons.setdefault(POLAR, row.reason)
    answered = {certificate.question for certificate in certificates}
    known = questions(case.family)
    for question in {question for question, _ in VALUES.values()}:
        if question in answered:
            reason = f"the certificate of '{question}' does not say it"
        elif question in known:
            reason = f"there is no certificate of '{question}'"
        else:
            reason = f"'{question}' is not asked about {family(case.family).title}"
        reasons.setdefault(question, reason)
    return reasons


def _value(
    name: str, certificates: Mapping[str, Certificate], missing: Mapping[str, str]
) -> AtlasValue:
    """A value on which all certificates agree that say it, first the one about the closure."""
    question, reader = VALUES[name]
    values = {}
    for file, certificate in certificates.items():
        value = reader(certificate)
        if value is not None:
            values[file] = value
    if len(set(values.values())) > 1:
        different = ", ".join(f"{value} ({file})" for file, value in values.items())
        raise ContradictionError(f"certificates do not agree about the {name}: {different}")
    if not values:
        return AtlasValue(name, "", reason=missing[question])
    about_closure = [file for file in values if certificates[file].question == CLOSURE]
    source = min(about_closure or values)
    return AtlasValue(name, str(values[source]), source)


def _scope(certificates: Iterable[Certificate]) -> str:
    """Why only the equations up to a degree are known, where that is so."""
    for certificate in certificates:
        if certificate.question == EQUATIONS:
            return f"not known beyond degree {certificate.answer['max_degree']}"
    return ""


def _either(name: str) -> CertificateReader:
    """The reader of a value in the answer, or else in the evidence."""
    return lambda certificate: certificate.answer.get(name, certificate.evidence.get(name))


def _dimension(certificate: Certificate) -> int | None:
    """The dimension; families that observe several dimensions keep each with its bounds."""
    value = _either("dimension")(certificate)
    if isinstance(value, Mapping):
        value = Bounds(value["lower_bound"], value["upper_bound"]).exact
    dimension: int | None = value
    return dimension


def _answer(name: str, text: Callable[[Any], str]) -> CertificateReader:
    """The reader of a value in the answer, in words."""

    def read(certificate: Certificate) -> str | None:
        value = certificate.answer.get(name)
        if value is None:
            return None
        return text(value)

    return read


def _coordinates(certificate: Certificate) -> int | None:
    values = certificate.answer.get("hilbert_function")
    if values:
        return values[1]  # type: ignore[no-any-return]
    names = certificate.evidence.get("coordinates")
    if names is None:
        return None
    return len(names)


def _degrees(certificate: Certificate) -> str | None:
    """The degrees of the generators, where these are proved to be all."""
    degrees = certificate.answer.get("generator_degrees")
    if certificate.answer.get("all_generators"):
        degrees = certificate.answer.get("generators_up_to_degree")
    if degrees is None:
        return None
    return degree_summary(degrees)


def _low_degrees(certificate: Certificate) -> str | None:
    degrees = certificate.answer.get("generators_up_to_degree")
    if degrees is None:
        return None
    return f"degree ≤ {certificate.answer.get('max_degree')}: {degree_summary(degrees)}"


def _polar_degrees(certificate: Certificate) -> Sequence[int] | None:
    """The polar degrees in an answer, or those that integrals gave for the statement about them.

    A statement that was refuted says what was computed too. Numbers that were counted modulo random
    primes only are not taken.
    """
    if certificate.question != STATED_POLAR:
        return certificate.answer.get("polar_degrees")
    for verdict in certificate.answer["verdicts"]:
        observed = verdict.get("observed")
        if isinstance(observed, Mapping):
            degrees: Sequence[int | None] = observed.get("integrals", (None,))
            if None not in degrees:
                return degrees  # type: ignore[return-value]
    return None


def _polar(certificate: Certificate) -> str | None:
    degrees = _polar_degrees(certificate)
    return None if degrees is None else _numbers(degrees)


def _generic_ed_degree(certificate: Certificate) -> int | None:
    """The generic ED degree; where only polar degrees are given, their sum."""
    stated: int | None = _either("generic_ed_degree")(certificate)
    degrees = _polar_degrees(certificate)
    if stated is None and degrees is not None:
        return sum(degrees)
    return stated


def _numbers(values: Iterable[int]) -> str:
    return ", ".join(map(str, values))


def _numbers_of_more(values: Iterable[int]) -> str:
    return f"{_numbers(values)}, …"


def _representations(parts: Iterable[Mapping[str, Any]]) -> str:
    """Return representations as text, such as ``degree 2: S_11 X ⊗ S_11 H ⊗ S_4 Y``."""
    spaces = ("X", "H", "Y")
    written = []
    for part in parts:
        representation = Representation(
            degree=part["degree"],
            spaces=spaces,
            sizes=(),
            shapes=tuple(tuple(part[space]) for space in spaces),
            multiplicity=part["multiplicity"],
        )
        written.append(f"degree {part['degree']}: {representation}")
    return "; ".join(written) or "none"


def hilbert_polynomial_text(coefficients: Sequence[int]) -> str:
    """Return ``4 C(n + 4, 4) − 6 C(n + 3, 3) + …``: the coefficients e_i with alternating signs."""
    text = ""
    for i, coefficient in enumerate(coefficients):
        signed = (-1) ** i * coefficient
        if signed == 0:
            continue
        k = len(coefficients) - 1 - i
        sign = "−" if signed < 0 else "+"
        text += f" {sign} {abs(signed)} C(n + {k}, {k})"
    return text.removeprefix(" + ").removeprefix(" ") or "0"


def _series(series: Mapping[str, Any]) -> str:
    """Return a Hilbert series as text, such as ``(T³ + 2 T² + T + 1)/(1 − T)⁵``."""
    value = HilbertSeries(tuple(series["numerator"]), series["denominator_exponent"])
    text = expression_text(value.expression).replace("*", " ").replace("-", "−")

    def raised(power: re.Match[str]) -> str:
        return power[1].translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))

    return re.sub(r"\^(\d+)", raised, text)


VALUES: dict[str, tuple[str, CertificateReader]] = {
    "dimension": (CLOSURE, _dimension),
    "degree": (CLOSURE, _either("degree")),
    "Hilbert polynomial": (EQUATIONS, _answer("hilbert_coefficients", hilbert_polynomial_text)),
    "Hilbert series": (CLOSURE, _answer("hilbert_series", _series)),
    "Hilbert function": (EQUATIONS, _answer("hilbert_function", _numbers_of_more)),
    "generators": (CLOSURE, _degrees),
    "generators of low degree": (EQUATIONS, _low_degrees),
    "representations": (EQUATIONS, _answer("representations", _representations)),
    "coordinates": (CLOSURE, _coordinates),
    "polar degrees": (POLAR, _polar),
    "generic ED degree": (POLAR, _generic_ed_degree),
}
"""The values of each case: the question whose outcome says why one is missing, and its reader."""


def write_atlas(atlas: Atlas, folder: Path, documentation: str = "") -> Path:
    """Write ``index.html`` and a page for each case next to the folder of certificates.

    Parameters
    ----------
    atlas : Atlas
    folder : Path
    documentation : str
        Address of the site, or its folder, seen from the pages of cases; what they cite there are
        links then.

    Returns
    -------
    Path
        Of the overview.

    Raises
    ------
    OSError
        If a page cannot be written.
    """
    cases = folder / "cases"
    before = [None, *atlas.entries]
    after = [*atlas.entries[1:], None]
    for neighbours in check_deadline_in(zip(before, atlas.entries, after, strict=False)):
        last, entry, following = neighbours
        write_aside(_case_page(entry, last, following, documentation), cases / entry.file)
    target = folder / "index.html"
    write_aside(_overview(atlas), target)
    # Links to pages that were deleted meanwhile would lead nowhere.
    missing = [entry.file for entry in atlas.entries if not (cases / entry.file).is_file()]
    if missing:
        raise FileNotFoundError(
            f"{len(missing)} pages such as 'cases/{missing[0]}' were deleted while others were made"
        )
    return target


def dashes(entries: Iterable[Entry]) -> dict[str, list[Entry]]:
    """The reasons why the overview has dashes in place of numbers, each with the cases where it
    does.
    """
    cases: dict[str, list[Entry]] = {}
    for entry in entries:
        names = ["dimension", "degree", *(["generators"] if entry.equations else [])]
        for reason in dict.fromkeys(entry.value(name).reason for name in names):
            if reason:
                cases.setdefault(reason, []).append(entry)
    return cases


def _case_page(entry: Entry, before: Entry | None, after: Entry | None, documentation: str) -> str:
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
    tables, alone = grids(atlas.entries)
    without_values = {entry.file for entry in alone}  # of these only the verdict is shown
    with_values = [entry for entry in atlas.entries if entry.file not in without_values]
    values = {
        "titles": sorted({family(entry.case.family).title for entry in atlas.entries}),
        "atlas": atlas,
        "grids": tables,
        "alone": alone,
        "dashes": dashes(with_values),
        "verdicts": {entry.verdict for entry in atlas.entries},
        "marks": MARKS,
    }
    return page("atlas", values)
