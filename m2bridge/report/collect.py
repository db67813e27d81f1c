"""From a folder to a report."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from m2bridge.batch.outcome import SUFFIX
from m2bridge.certificate.files import read, text_of
from m2bridge.certificate.schema import Certificate
from m2bridge.convert.documents import read_json
from m2bridge.errors import CertificateError, ConversionError
from m2bridge.notation import degree_summary
from m2bridge.report.content import VERDICTS, Case, Detail, Problem, Report, Row, Table
from m2bridge.report.escape import line
from m2bridge.report.outcome import outcome_rows
from m2bridge.report.words import orbit_table, statement_name, witness_words


def collect(folder: Path) -> Report:
    """Read the certificates and outcomes in a folder and below it.

    Certificates are read, not verified: their digests and names are checked, and nothing is computed again. What cannot
    be used is listed among the problems, and so is a second answer to the same question about the same case. An outcome
    counts only for questions without a certificate.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    Report
        Empty if the folder has no file that ends in ``.json``.
    """
    rows: list[Row] = []
    details: list[Detail] = []
    problems: list[Problem] = []
    unanswered: list[Row] = []
    tables: dict[Table, Table] = {}
    seen: dict[str, str] = {}
    for path in sorted(folder.rglob("*.json")):
        name = str(path.relative_to(folder)).encode("utf-8", "replace").decode()
        try:
            if name.endswith(SUFFIX):
                unanswered += _once(outcome_rows(read_json(text_of(path)), name), SUFFIX, seen)
            else:
                certificate = read(path)
                rows += _once(certificate_rows(certificate, name), ".json", seen)
                details.append(_detail(certificate, tables))
        except (CertificateError, ConversionError, OSError, ValueError, RecursionError) as reason:
            problems.append(Problem(name, line(str(reason))))
    answered = {(row.case, row.question) for row in rows}
    rows += [row for row in unanswered if (row.case, row.question) not in answered]
    rows.sort(key=lambda row: row.rank)
    details.sort(key=lambda detail: (detail.case, detail.question))
    return Report(tuple(rows), tuple(details), tuple(problems))


def _once(rows: list[Row], suffix: str, seen: dict[str, str]) -> list[Row]:
    """The rows of a file, which must have the name of their case and question, and be the first of this name.

    Parameters
    ----------
    rows : list of Row
        Not empty.
    suffix : str
        How the names of such files end.
    seen : dict of str to str
        The file of each name; this one is added.
    """
    row = rows[0]
    name = f"{row.case.key}-{row.question}{suffix}"
    if Path(row.file).name != name:
        raise CertificateError(f"the content is that of {name}")
    if name in seen:
        raise CertificateError(f"the same case and question as {seen[name]}")
    seen[name] = row.file
    return rows


def certificate_rows(certificate: Certificate, file: str) -> list[Row]:
    """One row for each verdict of a certificate, one for a closure.

    Raises
    ------
    CertificateError
        If the digest is not that of the content, or the answer has no form that this version writes.
    """
    if certificate.digest != certificate.computed_digest():
        raise CertificateError("the digest is not that of the content: the file was changed")
    try:
        said = list(_closure(certificate) if certificate.question == "closure" else _verdicts(certificate))
        if not said:
            raise ValueError("no verdicts")
    except (KeyError, TypeError, ValueError, AttributeError) as reason:
        raise CertificateError(f"the answer does not have the expected form: {reason!r}") from None
    case, seconds, versions = Case(**certificate.case), certificate.seconds, certificate.versions
    return [Row(case, certificate.question, *words, seconds, versions, file) for words in said]


def _verdicts(certificate: Certificate) -> Iterator[tuple[str, str, str, str]]:
    for verdict in certificate.answer["verdicts"]:
        if verdict["verdict"] not in VERDICTS:
            raise ValueError(f"unknown verdict {verdict['verdict']}")
        name = statement_name(str(verdict["statement"]), verdict["part"])
        yield name, verdict["verdict"], str(verdict["reason"]), witness_words(verdict["witness"])


def _closure(certificate: Certificate) -> Iterator[tuple[str, str, str, str]]:
    answer = certificate.answer
    degrees = degree_summary({int(n): count for n, count in answer["generator_degrees"].items()})
    reason = f"dimension {answer['dimension']}, degree {answer['degree']}, generators: {degrees}"
    yield "closure", "COMPUTED", reason, ""


def _detail(certificate: Certificate, tables: dict[Table, Table]) -> Detail:
    """The certificates of one case share script and orbits, so equal ones are kept once, and tables in ``tables``."""
    evidence = certificate.evidence
    found = evidence.get("orbits") or evidence.get("tangent_dimensions")
    orbits = [orbit for orbit in found if isinstance(orbit, dict)] if isinstance(found, list) else []
    table = orbit_table(orbits) if orbits else None
    return Detail(
        Case(**certificate.case),
        certificate.question,
        tables.setdefault(table, table) if table else None,
        sys.intern(certificate.script["text"]),
        tuple(certificate.trusted),
        certificate.seconds,
    )
