"""A folder of certificates as an atlas: the values, orbits and equations that they say of each case."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from m2bridge.batch.task import SUFFIX
from m2bridge.certificates.files import read
from m2bridge.certificates.schema import Certificate
from m2bridge.convert.notation import degree_summary
from m2bridge.errors import CertificateError, ContradictionError
from m2bridge.limits import watched
from m2bridge.reports.atlas_content import CLOSURE, EQUATIONS, Atlas, Sheet, Source, Value
from m2bridge.reports.collect import collect
from m2bridge.reports.content import Case, Row, Table
from m2bridge.results.sheet import value_text

HEADER = ("orbit", "dimension", "tangent dimension", "fibre: length", "points", "singular", "critical", "boundary")
_FLAGS = ("singular", "critical", "boundary")

Orbit = tuple[int, ...]
Facts = dict[Orbit, Mapping[str, Any]]


def orbit_table(certificates: Mapping[str, Certificate]) -> Table | None:
    """One line for each orbit; tangent dimensions by equations where a certificate has all, else a lower bound."""
    facts, tangents = orbit_facts(certificates.values()), _tangents(certificates.values())
    lines = tuple(_line(orbit, facts.get(orbit, {}), tangents.get(orbit)) for orbit in sorted(facts | tangents))
    return Table(HEADER, lines) if lines else None


def orbit_facts(certificates: Iterable[Certificate]) -> Facts:
    """The facts about each orbit in certificates of statements.

    Raises
    ------
    ContradictionError
        If two of them do not agree.
    """
    orbits: Facts = {}
    for certificate in certificates:
        for facts in certificate.evidence.get("orbits", ()):
            if orbits.setdefault(tuple(facts["orbit"]), facts) != facts:
                raise ContradictionError(
                    f"certificates of {certificate.name} do not agree about orbit {facts['orbit']}"
                )
    return orbits


def _tangents(certificates: Iterable[Certificate]) -> dict[Orbit, Any]:
    """The tangent dimensions that the equations of the closure give."""
    return {
        tuple(facts["orbit"]): facts["dimension"]
        for certificate in certificates
        for facts in certificate.evidence.get("tangent_dimensions", ())
    }


def _line(orbit: Orbit, facts: Mapping[str, Any], tangent: int | None) -> tuple[str, ...]:
    bound = facts.get("tangent_lower_bound")
    if tangent is not None and bound is not None and tangent < bound:
        raise ContradictionError(f"at orbit {orbit} there are {bound} tangent vectors, and equations for {tangent}")
    dimension = value_text(tangent) if tangent is not None else "–" if bound is None else f"≥ {bound}"
    numbers = (facts.get("fibre_length"), facts.get("fibre_points"), *(facts.get(flag) for flag in _FLAGS))
    return (value_text(list(orbit)), value_text(facts.get("dimension")), dimension, *map(value_text, numbers))


def singular_values(certificates: Mapping[str, Certificate]) -> tuple[Value, ...]:
    """The singular and the smooth orbits, and the dimension of the singular locus away from zero."""
    source = next((file for file, certificate in certificates.items() if certificate.evidence.get("orbits")), "")
    facts = orbit_facts(certificates.values())
    if not facts:
        return ()
    parts: dict[Any, list[Orbit]] = {}
    for orbit in sorted(facts):
        parts.setdefault(facts[orbit].get("singular"), []).append(orbit)
    sizes = [facts[orbit]["dimension"] for orbit in parts.get(True, ())]
    largest = f"{'at least ' if None in parts else ''}{max(sizes)}" if sizes else ""
    named = (("singular orbits", True), ("smooth orbits", False), ("undecided orbits", None))
    return (
        *(Value(name, _names(parts[key]), source) for name, key in named if key in parts),
        *((Value("largest dimension of a singular orbit", largest, source),) if largest else ()),
    )


def _names(orbits: Iterable[Orbit]) -> str:
    return ", ".join(value_text(list(orbit)) for orbit in orbits)


def atlas(folder: Path) -> Atlas:
    """Read the certificates and outcomes in a folder and below it.

    As for a report, certificates are read and not verified; their digests and names are checked. Nothing is computed.

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
    by_case: dict[Case, list[Row]] = {case: [] for case in report.cases}
    for row in report.rows:
        by_case[row.case].append(row)
    return Atlas(tuple(_sheet(case, rows, folder) for case, rows in watched(by_case.items())), report.problems)


def _sheet(case: Case, rows: list[Row], folder: Path) -> Sheet:
    files = {row.file for row in rows if not row.file.endswith(SUFFIX)}
    certificates = {file: read(folder / file) for file in sorted(files)}
    try:
        return _sheet_of(case, rows, certificates)
    except (KeyError, TypeError, ValueError, AttributeError) as reason:
        raise CertificateError(f"a certificate of {case} does not have the expected form: {reason!r}") from None


def _sheet_of(case: Case, rows: list[Row], certificates: Mapping[str, Certificate]) -> Sheet:
    missing = {row.question: row.reason for row in rows if row.file.endswith(SUFFIX)}
    reason = missing.get(CLOSURE) or _scope(certificates.values())
    reasons = dict.fromkeys(VALUES, reason) | dict.fromkeys(UP_TO_A_DEGREE, missing.get(EQUATIONS, ""))
    return Sheet(
        case,
        tuple(_value(name, read_value, certificates, reasons[name]) for name, read_value in VALUES.items()),
        orbit_table(certificates),
        singular_values(certificates),
        _generators(certificates.values()),
        tuple(rows),
        tuple(Source(certificate.question, file, certificate.digest) for file, certificate in certificates.items()),
        tuple(sorted({lemma for certificate in certificates.values() for lemma in certificate.trusted})),
    )


def _value(
    name: str, read_value: Callable[[Certificate], Any], certificates: Mapping[str, Certificate], reason: str
) -> Value:
    """A value that certificates say, all of which have to agree; the one about the closure is named first."""
    values = {file: value for file, one in certificates.items() if (value := read_value(one)) is not None}
    if len(set(values.values())) > 1:
        different = ", ".join(f"{value} ({file})" for file, value in values.items())
        raise ContradictionError(f"certificates do not agree about the {name}: {different}")
    if not values:
        return Value(name, "", "", reason)
    source = min(values, key=lambda file: (certificates[file].question != CLOSURE, file))
    return Value(name, str(values[source]), source)


def _generators(certificates: Iterable[Certificate]) -> tuple[str, ...]:
    return next((tuple(c.evidence["generators"]) for c in certificates if "generators" in c.evidence), ())


def _scope(certificates: Iterable[Certificate]) -> str:
    """Why nothing is said of all degrees, where there are equations up to one."""
    degrees = [certificate.answer["max_degree"] for certificate in certificates if certificate.question == EQUATIONS]
    return f"not known beyond degree {degrees[0]}" if degrees else ""


def _either(name: str) -> Callable[[Certificate], Any]:
    """The reader of a value in the answer, or else in the evidence."""
    return lambda certificate: certificate.answer.get(name, certificate.evidence.get(name))


def _coordinates(certificate: Certificate) -> int | None:
    names, values = certificate.evidence.get("coordinates"), certificate.answer.get("hilbert_function")
    return values[1] if values else None if names is None else len(names)


def _degrees(certificate: Certificate) -> str | None:
    """The degrees of the generators, where these are proved to be all."""
    answer = certificate.answer
    degrees = answer.get("generators_up_to_degree" if answer.get("all_generators") else "generator_degrees")
    return None if degrees is None else _summary(degrees)


def _low_degrees(certificate: Certificate) -> str | None:
    degrees, last = (certificate.answer.get(name) for name in ("generators_up_to_degree", "max_degree"))
    return None if degrees is None else f"degree ≤ {last}: {_summary(degrees)}"


def _summary(degrees: Mapping[str, int]) -> str:
    return degree_summary({int(n): count for n, count in degrees.items()})


def _hilbert_function(certificate: Certificate) -> str | None:
    values = certificate.answer.get("hilbert_function")
    return None if values is None else ", ".join(map(str, (*values, "…")))


def _polynomial(certificate: Certificate) -> str | None:
    coefficients = certificate.answer.get("hilbert_coefficients")
    return None if coefficients is None else hilbert_polynomial_text(coefficients)


def hilbert_polynomial_text(coefficients: Sequence[int]) -> str:
    """``4 C(n + 4, 4) − 6 C(n + 3, 3) + 4 C(n + 2, 2) − C(n + 1, 1)``: the e_i with alternating signs."""
    last = len(coefficients) - 1
    named = [(e * (-1) ** i, f"C(n + {last - i}, {last - i})" if i < last else "") for i, e in enumerate(coefficients)]
    return _sum(named)


def _series(certificate: Certificate) -> str | None:
    series = certificate.answer.get("hilbert_series")
    return None if series is None else series_text(series["numerator"], series["denominator_exponent"])


def series_text(numerator: Iterable[int], exponent: int) -> str:
    """``(1 + 2 T + T²) / (1 − T)³``."""
    top = _sum((n, _power("T", i)) for i, n in enumerate(numerator))
    return f"({top}) / {_power('(1 − T)', exponent)}" if exponent else top


def _sum(terms: Iterable[tuple[int, str]]) -> str:
    """The sum of multiples of named terms."""
    factors = [(n, "" if abs(n) == 1 and name else str(abs(n)), name) for n, name in terms if n]
    signed = [" ".join(filter(None, ("−" if n < 0 else "+", number, name))) for n, number, name in factors]
    return " ".join(signed).removeprefix("+ ") or "0"


def _power(base: str, exponent: int) -> str:
    """A power, its exponent written above."""
    above = str(exponent).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return "" if exponent == 0 else base if exponent == 1 else base + above


VALUES: dict[str, Callable[[Certificate], Any]] = {
    "dimension": _either("dimension"),
    "degree": _either("degree"),
    "Hilbert polynomial": _polynomial,
    "Hilbert series": _series,
    "Hilbert function": _hilbert_function,
    "generators": _degrees,
    "generators of low degree": _low_degrees,
    "coordinates": _coordinates,
}
"""The values on the page of each case, and how they are read from a certificate."""

UP_TO_A_DEGREE = ("Hilbert polynomial", "Hilbert function", "generators of low degree")
"""Those that equations up to a degree tell."""
