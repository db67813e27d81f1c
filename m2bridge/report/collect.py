"""From a folder to a report."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from m2bridge.certificate.files import read
from m2bridge.certificate.schema import Certificate
from m2bridge.errors import CertificateError
from m2bridge.notation import degree_summary
from m2bridge.report.content import VERDICTS, Case, Detail, Problem, Report, Row
from m2bridge.report.outcome import outcome_rows
from m2bridge.report.words import witness_words

OUTCOME = ".outcome.json"


def collect(folder: Path) -> Report:
    """Read the certificates and outcomes in a folder and below it.

    Certificates are read, not verified: their digests are checked, and nothing is computed again. What cannot be
    used is listed among the problems. An outcome counts only for questions without a certificate.

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
    for path in sorted(folder.rglob("*.json"), key=lambda path: path.name.endswith(OUTCOME)):
        name = str(path.relative_to(folder))
        try:
            if name.endswith(OUTCOME):
                answered = {(row.case, row.question) for row in rows}
                found = outcome_rows(json.loads(path.read_text(encoding="utf-8")), name)
                rows += [row for row in found if (row.case, row.question) not in answered]
            else:
                certificate = read(path)
                rows += certificate_rows(certificate, name)
                details.append(_detail(certificate))
        except (CertificateError, OSError, ValueError, RecursionError) as reason:
            problems.append(Problem(name, " ".join(str(reason).split())))
    rows.sort(key=lambda row: row.rank)
    details.sort(key=lambda detail: (detail.case, detail.question))
    return Report(tuple(rows), tuple(details), tuple(sorted(problems, key=lambda problem: problem.file)))


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
    except (KeyError, TypeError, ValueError, AttributeError) as reason:
        raise CertificateError(f"the answer does not have the expected form: {reason!r}") from None
    case, seconds, versions = Case(**certificate.case), certificate.seconds, certificate.versions
    return [Row(case, certificate.question, *words, seconds, versions, file) for words in said]


def _verdicts(certificate: Certificate) -> Iterator[tuple[str, str, str, str]]:
    for verdict in certificate.answer["verdicts"]:
        if verdict["verdict"] not in VERDICTS:
            raise ValueError(f"unknown verdict {verdict['verdict']}")
        name = f"{verdict['statement']} ({verdict['part']})" if verdict["part"] else str(verdict["statement"])
        yield name, verdict["verdict"], str(verdict["reason"]), witness_words(verdict["witness"])


def _closure(certificate: Certificate) -> Iterator[tuple[str, str, str, str]]:
    answer = certificate.answer
    degrees = degree_summary({int(n): count for n, count in answer["generator_degrees"].items()})
    reason = f"dimension {answer['dimension']}, degree {answer['degree']}, generators: {degrees}"
    yield "closure", "COMPUTED", reason, ""


def _detail(certificate: Certificate) -> Detail:
    evidence: dict[str, Any] = certificate.evidence
    orbits = evidence.get("orbits") or evidence.get("tangent_dimensions")
    return Detail(
        Case(**certificate.case),
        certificate.question,
        tuple(orbit for orbit in orbits if isinstance(orbit, dict)) if isinstance(orbits, list) else (),
        certificate.script["text"],
        tuple(certificate.trusted),
        certificate.seconds,
    )
