"""From a folder of certificates to an atlas."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from m2bridge import report
from m2bridge.atlas.content import CLOSURE, Atlas, Sheet, Source, Value
from m2bridge.atlas.orbits import orbit_table, singular_values
from m2bridge.batch.unanswered import SUFFIX
from m2bridge.certificate.files import read
from m2bridge.certificate.schema import Certificate
from m2bridge.clock import watched
from m2bridge.convert.notation import degree_summary
from m2bridge.errors import CertificateError, ContradictionError
from m2bridge.report.content import Case, Row


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
    found = report.collect(folder)
    by_case: dict[Case, list[Row]] = {case: [] for case in found.cases}
    for row in found.rows:
        by_case[row.case].append(row)
    return Atlas(tuple(_sheet(case, rows, folder) for case, rows in watched(by_case.items())), found.problems)


def _sheet(case: Case, rows: list[Row], folder: Path) -> Sheet:
    files = {row.file for row in rows if not row.file.endswith(SUFFIX)}
    certificates = {file: read(folder / file) for file in sorted(files)}
    try:
        return _sheet_of(case, rows, certificates)
    except (KeyError, TypeError, ValueError, AttributeError) as reason:
        raise CertificateError(f"a certificate of {case} does not have the expected form: {reason!r}") from None


def _sheet_of(case: Case, rows: list[Row], certificates: Mapping[str, Certificate]) -> Sheet:
    reason = next((row.reason for row in rows if row.question == CLOSURE and row.verdict == "NO_ANSWER"), "")
    return Sheet(
        case,
        tuple(_value(name, said, certificates, reason) for name, said in VALUES.items()),
        orbit_table(certificates),
        singular_values(certificates),
        _generators(certificates.values()),
        tuple(rows),
        tuple(Source(found.question, file, found.digest) for file, found in certificates.items()),
        tuple(sorted({lemma for found in certificates.values() for lemma in found.trusted})),
    )


def _value(
    name: str, said: Callable[[Certificate], Any], certificates: Mapping[str, Certificate], reason: str
) -> Value:
    """What the certificates say, all of which have to agree; the one about the closure is named first."""
    found = {file: text for file, one in certificates.items() if (text := said(one)) is not None}
    if len(set(found.values())) > 1:
        different = ", ".join(f"{text} ({file})" for file, text in found.items())
        raise ContradictionError(f"certificates do not agree about the {name}: {different}")
    if not found:
        return Value(name, "", "", reason)
    source = min(found, key=lambda file: (certificates[file].question != CLOSURE, file))
    return Value(name, str(found[source]), source)


def _generators(certificates: Iterable[Certificate]) -> tuple[str, ...]:
    return next((tuple(c.evidence["generators"]) for c in certificates if "generators" in c.evidence), ())


def _either(name: str) -> Callable[[Certificate], Any]:
    """What an answer says, or the evidence."""
    return lambda certificate: certificate.answer.get(name, certificate.evidence.get(name))


def _coordinates(certificate: Certificate) -> int | None:
    names = certificate.evidence.get("coordinates")
    return None if names is None else len(names)


def _degrees(certificate: Certificate) -> str | None:
    degrees = certificate.answer.get("generator_degrees")
    return None if degrees is None else degree_summary({int(n): count for n, count in degrees.items()})


def _series(certificate: Certificate) -> str | None:
    series = certificate.answer.get("hilbert_series")
    return None if series is None else series_text(series["numerator"], series["denominator_exponent"])


def series_text(numerator: Iterable[int], exponent: int) -> str:
    """``(1 + 2 T + T²) / (1 − T)³``."""
    terms = [(n, _power("T", i)) for i, n in enumerate(numerator) if n]
    signed = [("− " if n < 0 else "+ ") + " ".join(_factors(abs(n), power)) for n, power in terms]
    top = " ".join(signed).removeprefix("+ ") or "0"
    return f"({top}) / {_power('(1 − T)', exponent)}" if exponent else top


def _factors(number: int, power: str) -> list[str]:
    return [power] if number == 1 and power else [str(number), power] if power else [str(number)]


def _power(base: str, exponent: int) -> str:
    """With the exponent written above."""
    above = str(exponent).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return "" if exponent == 0 else base if exponent == 1 else base + above


VALUES: dict[str, Callable[[Certificate], Any]] = {
    "dimension": _either("dimension"),
    "degree": _either("degree"),
    "Hilbert series": _series,
    "generators": _degrees,
    "coordinates": _coordinates,
}
"""What pages say of each case, and where a certificate says it."""
