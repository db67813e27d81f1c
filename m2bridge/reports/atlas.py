"""An atlas: one page for each case that a folder of certificates is about, and an overview; it
needs no server.

Every value comes from a certificate, which is named with it.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from m2bridge.algebra.hilbert_series import HilbertSeries
from m2bridge.algebra.schur import Representation
from m2bridge.batch.store import SUFFIX
from m2bridge.certificates.schema import Certificate, read, write_aside
from m2bridge.convert.notation import degree_summary, expression_text
from m2bridge.engine.script import page
from m2bridge.errors import CertificateError, ContradictionError
from m2bridge.families import family
from m2bridge.limits import watched
from m2bridge.reports.collect import collect
from m2bridge.reports.content import VERDICTS, NamedCase, Problem, Row, crossed
from m2bridge.reports.forms import MARKS, paper_of
from m2bridge.results.known import Known, together
from m2bridge.results.sheet import Table, value_text

Reader = Callable[[Certificate], Any]
"""What a certificate says of one value; ``None`` if nothing."""
CLOSURE = "closure"
"""The question whose answer has the invariants of a Zariski closure; without an answer it says why
they are missing.
"""
EQUATIONS = "equations"
"""The question whose answer has these up to a degree."""
POLAR = "polar-degrees"
"""The question whose answer has the polar degrees."""


@dataclass(frozen=True, slots=True)
class Value:
    """A fact about a case.

    Parameters
    ----------
    name : str
    text : str
        Empty if no certificate says it.
    source : str
        The file of the certificate that says it.
    reason : str
        Why there is none, where a batch says so.
    """

    name: str
    text: str
    source: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Sheet:
    """A case.

    Parameters
    ----------
    case : NamedCase
    values : tuple of Value
        Dimension, degree and so on, in the same order for all cases.
    orbits : Table or None
        Facts about each orbit.
    singular : tuple of Value
        What is known of the singular locus.
    generators : tuple of str
        Of the ideal of the closure.
    rows : tuple of Row
        The verdicts; what has no answer is among them.
    sources : mapping of str to Certificate
        The certificates to download, by file.
    trusted : tuple of str
        Lemmas and computations on which some certificate rests.
    """

    case: NamedCase
    values: tuple[Value, ...]
    orbits: Table | None
    singular: tuple[Value, ...]
    generators: tuple[str, ...]
    rows: tuple[Row, ...]
    sources: Mapping[str, Certificate]
    trusted: tuple[str, ...]

    @property
    def file(self) -> str:
        """The name of its page."""
        return f"{self.case.name}.html"

    @property
    def verdict(self) -> str:
        """The first of the verdicts, in the order of a report, that some statement has, else of the
        equations.
        """
        stated = [
            row for row in self.rows if row.question not in (CLOSURE, EQUATIONS, POLAR)
        ] or self.rows
        return min((row.verdict for row in stated), key=VERDICTS.index)

    @property
    def equations(self) -> bool:
        """Whether the equations up to a degree are known."""
        return any(certificate.question == EQUATIONS for certificate in self.sources.values())

    def text(self, name: str) -> str:
        """The text of the value with this name."""
        return next(value.text for value in self.values if value.name == name)


@dataclass(frozen=True, slots=True)
class Atlas:
    """All cases, in order, and the files that could not be used."""

    sheets: tuple[Sheet, ...]
    problems: tuple[Problem, ...]


def grids(sheets: Iterable[Sheet]) -> tuple[list[tuple[Any, ...]], list[Sheet]]:
    """Tables of the cases that differ in two numbers only, and the cases that fewer numbers name.

    A table is its caption with the other numbers, what the two are called, its columns, and its
    lines.
    """
    groups: dict[tuple[Any, ...], list[Sheet]] = {}
    for sheet in sheets:
        headings = tuple(heading for _, heading, _ in sheet.case.options)
        groups.setdefault((sheet.case.family, headings, sheet.case.cells[2:]), []).append(sheet)
    tables, alone = [], []
    for (_, headings, others), group in sorted(groups.items(), key=lambda item: repr(item[0])):
        if len(headings) < 2:
            alone += group
        else:
            caption = ", ".join(
                f"{heading} = {value}" for heading, value in zip(headings[2:], others, strict=True)
            )
            tables.append(
                (caption, headings[:2], *crossed({sheet.case.cells[:2]: sheet for sheet in group}))
            )
    return tables, alone


HEADER = (
    "orbit",
    "dimension",
    "tangent dimension",
    "fibre: length",
    "points",
    "singular",
    "critical",
    "boundary",
)
_FLAGS = ("singular", "critical", "boundary")

Orbit = tuple[int, ...]
Facts = dict[Orbit, Mapping[str, Any]]


def orbit_table(certificates: Mapping[str, Certificate]) -> Table | None:
    """One line for each orbit; tangent dimensions by equations where a certificate has all, else a
    lower bound.
    """
    facts, tangents = (
        orbit_facts(certificates.values(), name) for name in ("orbits", "tangent_dimensions")
    )
    lines = tuple(
        _line(orbit, facts.get(orbit, {}), tangents.get(orbit, {}))
        for orbit in sorted(facts | tangents)
    )
    return Table(HEADER, lines) if lines else None


def orbit_facts(certificates: Iterable[Certificate], name: str = "orbits") -> Facts:
    """The facts about each orbit in the evidence of this name.

    Raises
    ------
    ContradictionError
        If two of them do not agree.
    """
    orbits: Facts = {}
    for certificate in certificates:
        for facts in certificate.evidence.get(name, ()):
            if orbits.setdefault(tuple(facts["orbit"]), facts) != facts:
                raise ContradictionError(
                    f"certificates of {certificate.name} do not agree about orbit {facts['orbit']}"
                )
    return orbits


def _line(
    orbit: Orbit, facts: Mapping[str, Any], by_equations: Mapping[str, Any]
) -> tuple[str, ...]:
    vectors, equations = facts.get("tangent_lower_bound"), by_equations.get("dimension")
    tangent = together(
        Known.at_least(vectors, f"tangent vectors at orbit {orbit}"),
        Known.exactly(equations, "equations"),
    )
    numbers = (
        facts.get("fibre_length"),
        facts.get("fibre_points"),
        *(facts.get(flag) for flag in _FLAGS),
    )
    return (
        value_text(list(orbit)),
        value_text(facts.get("dimension")),
        tangent.cell,
        *map(value_text, numbers),
    )


def singular_values(certificates: Mapping[str, Certificate]) -> tuple[Value, ...]:
    """The singular and the smooth orbits, and the dimension of the singular locus away from
    zero.
    """
    source = next(
        (file for file, certificate in certificates.items() if certificate.evidence.get("orbits")),
        "",
    )
    facts = orbit_facts(certificates.values())
    if not facts:
        return ()
    singular, smooth, undecided = (
        [orbit for orbit in sorted(facts) if facts[orbit].get("singular") is answer]
        for answer in (True, False, None)
    )
    named = {"singular orbits": singular, "smooth orbits": smooth, "undecided orbits": undecided}
    texts = {
        name: ", ".join(value_text(list(orbit)) for orbit in part)
        for name, part in named.items()
        if part
    }
    if singular:
        largest = max(facts[orbit]["dimension"] for orbit in singular)
        texts["largest dimension of a singular orbit"] = (
            f"{'at least ' if undecided else ''}{largest}"
        )
    return tuple(Value(name, text, source) for name, text in texts.items())


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
    cases = watched(report.by_case().items())
    return Atlas(tuple(_sheet(case, rows, folder) for case, (rows, _) in cases), report.problems)


def _sheet(case: NamedCase, rows: list[Row], folder: Path) -> Sheet:
    files = {row.file for row in rows if not row.file.endswith(SUFFIX)}
    certificates = {file: read(folder / file) for file in sorted(files)}
    missing = {row.question: row.reason for row in rows if row.file.endswith(SUFFIX)}
    try:
        missing.setdefault(CLOSURE, _scope(certificates.values()))
        values = tuple(_value(name, certificates, missing) for name in VALUES)
        orbits, singular = orbit_table(certificates), singular_values(certificates)
        generators = next(
            (
                tuple(c.evidence["generators"])
                for c in certificates.values()
                if "generators" in c.evidence
            ),
            (),
        )
        trusted = tuple(
            sorted(
                {lemma for certificate in certificates.values() for lemma in certificate.trusted}
            )
        )
    except (KeyError, TypeError, ValueError, AttributeError) as reason:
        raise CertificateError(
            f"a certificate of {case} does not have the expected form: {reason!r}"
        ) from None
    return Sheet(case, values, orbits, singular, generators, tuple(rows), certificates, trusted)


def _value(name: str, certificates: Mapping[str, Certificate], missing: Mapping[str, str]) -> Value:
    """A value that certificates say, all of which have to agree; the one about the closure is named
    first.
    """
    question, reader = VALUES[name]
    values = {
        file: value for file, one in certificates.items() if (value := reader(one)) is not None
    }
    if len(set(values.values())) > 1:
        different = ", ".join(f"{value} ({file})" for file, value in values.items())
        raise ContradictionError(f"certificates do not agree about the {name}: {different}")
    if not values:
        return Value(name, "", reason=missing.get(question, ""))
    source = min(values, key=lambda file: (certificates[file].question != CLOSURE, file))
    return Value(name, str(values[source]), source)


def _scope(certificates: Iterable[Certificate]) -> str:
    """Why nothing is said of all degrees, where there are equations up to one."""
    degrees = [
        certificate.answer["max_degree"]
        for certificate in certificates
        if certificate.question == EQUATIONS
    ]
    return f"not known beyond degree {degrees[0]}" if degrees else ""


def _either(name: str) -> Reader:
    """The reader of a value in the answer, or else in the evidence."""
    return lambda certificate: certificate.answer.get(name, certificate.evidence.get(name))


def _answer(name: str, text: Callable[[Any], str]) -> Reader:
    """The reader of a value in the answer, in words."""
    return lambda certificate: (
        None if (value := certificate.answer.get(name)) is None else text(value)
    )


def _coordinates(certificate: Certificate) -> int | None:
    names, values = (
        certificate.evidence.get("coordinates"),
        certificate.answer.get("hilbert_function"),
    )
    return values[1] if values else None if names is None else len(names)


def _degrees(certificate: Certificate) -> str | None:
    """The degrees of the generators, where these are proved to be all."""
    answer = certificate.answer
    degrees = answer.get(
        "generators_up_to_degree" if answer.get("all_generators") else "generator_degrees"
    )
    return None if degrees is None else _summary(degrees)


def _low_degrees(certificate: Certificate) -> str | None:
    degrees, last = (
        certificate.answer.get(name) for name in ("generators_up_to_degree", "max_degree")
    )
    return None if degrees is None else f"degree ≤ {last}: {_summary(degrees)}"


def _summary(degrees: Mapping[str, int]) -> str:
    return degree_summary({int(n): count for n, count in degrees.items()})


def _representation(kind: Mapping[str, Any]) -> str:
    """Such as ``degree 2: S_11 X ⊗ S_11 H ⊗ S_4 Y``."""
    spaces = ("X", "H", "Y")
    shapes = tuple(tuple(kind[space]) for space in spaces)
    return (
        f"degree {kind['degree']}:"
        f" {Representation(kind['degree'], spaces, (), shapes, kind['multiplicity'])}"
    )


def hilbert_polynomial_text(coefficients: Sequence[int]) -> str:
    """``4 C(n + 4, 4) − 6 C(n + 3, 3) + 4 C(n + 2, 2) − 1 C(n + 1, 1)``: the e_i with alternating
    signs.
    """
    terms = [((-1) ** i * e, len(coefficients) - 1 - i) for i, e in enumerate(coefficients) if e]
    return (
        " ".join(
            f"{'−' if e < 0 else '+'} {abs(e)} C(n + {k}, {k})" for e, k in terms
        ).removeprefix("+ ")
        or "0"
    )


def _series(series: Mapping[str, Any]) -> str:
    """Such as ``(T³ + 2 T² + T + 1)/(1 − T)⁵``."""
    value = HilbertSeries(tuple(series["numerator"]), series["denominator_exponent"])
    text = expression_text(value.expression).replace("*", " ").replace("-", "−")
    return re.sub(
        r"\^(\d+)",
        lambda power: power[1].translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")),
        text,
    )


VALUES: dict[str, tuple[str, Reader]] = {
    "dimension": (CLOSURE, _either("dimension")),
    "degree": (CLOSURE, _either("degree")),
    "Hilbert polynomial": (EQUATIONS, _answer("hilbert_coefficients", hilbert_polynomial_text)),
    "Hilbert series": (CLOSURE, _answer("hilbert_series", _series)),
    "Hilbert function": (
        EQUATIONS,
        _answer("hilbert_function", lambda values: ", ".join(map(str, (*values, "…")))),
    ),
    "generators": (CLOSURE, _degrees),
    "generators of low degree": (EQUATIONS, _low_degrees),
    "representations": (
        EQUATIONS,
        _answer("representations", lambda kinds: "; ".join(map(_representation, kinds))),
    ),
    "coordinates": (CLOSURE, _coordinates),
    "polar degrees": (POLAR, _answer("polar_degrees", lambda values: ", ".join(map(str, values)))),
    "generic ED degree": (POLAR, _either("generic_ed_degree")),
}
"""The values on the page of each case, the question whose outcome says why one is missing, and how
they are read.
"""


CERTIFICATES = "certificates"
"""The folder in an atlas that its pages are made from."""

MOST_GENERATORS = 200
"""The number of generators that are shown; all are in the certificate."""


def write_atlas(atlas: Atlas, folder: Path, documentation: str = "") -> Path:
    """Write ``index.html`` and a page for each case beside the folder of certificates.

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
    neighbours = zip((None, *atlas.sheets), atlas.sheets, (*atlas.sheets[1:], None), strict=False)
    for before, sheet, after in watched(neighbours):
        write_aside(_case_page(sheet, before, after, documentation), folder / "cases" / sheet.file)
    target = folder / "index.html"
    write_aside(_overview(atlas), target)
    if missing := [
        sheet.file for sheet in atlas.sheets if not (folder / "cases" / sheet.file).is_file()
    ]:
        raise FileNotFoundError(
            f"{len(missing)} pages such as 'cases/{missing[0]}' were deleted while others were made"
        )
    return target


def _case_page(sheet: Sheet, before: Sheet | None, after: Sheet | None, documentation: str) -> str:
    values = {
        "sheet": sheet,
        "paper": paper_of(sheet.rows),
        "before": before,
        "after": after,
        "legend": family(sheet.case.family).orbits,
        "marks": MARKS,
        "most": MOST_GENERATORS,
        "certificates": f"../{CERTIFICATES}",
        "documentation": documentation,
    }
    return page("atlas_case", values)


def _overview(atlas: Atlas) -> str:
    tables, alone = grids(atlas.sheets)
    values = {
        "titles": sorted({family(sheet.case.family).title for sheet in atlas.sheets}),
        "atlas": atlas,
        "grids": tables,
        "alone": alone,
        "verdicts": {sheet.verdict for sheet in atlas.sheets},
        "marks": MARKS,
    }
    return page("atlas", values)
