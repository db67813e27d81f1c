"""From a folder to a report."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from m2bridge._version import __version__
from m2bridge.batch.outcome import SUFFIX
from m2bridge.certificate.files import read, text_of
from m2bridge.certificate.program import foreign_program
from m2bridge.certificate.schema import Certificate
from m2bridge.clock import watched
from m2bridge.convert.documents import read_json
from m2bridge.convert.notation import degree_summary
from m2bridge.errors import CertificateError, ConversionError, InvalidCaseError
from m2bridge.report.content import VERDICTS, Case, Detail, Problem, Report, Row, Table
from m2bridge.report.escape import line
from m2bridge.report.outcome import outcome_rows
from m2bridge.report.words import orbit_table, statement_name, verdict_words, witness_words


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
    for path in watched(sorted(watched(folder.rglob("*.json")))):
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
        if _foreign(certificate):
            said = list(map(_program_not_checked, said))
        if not said:
            raise ValueError("no verdicts")
    except (KeyError, TypeError, ValueError, AttributeError) as reason:
        raise CertificateError(f"the answer does not have the expected form: {reason!r}") from None
    case = Case(**certificate.case)
    return [Row(case, certificate.question, *words, certificate.reported, file) for words in said]


Words = tuple[str, str, str, str]
"""Statement, verdict, reason, witness."""


def _foreign(certificate: Certificate) -> bool:
    """Whether another release wrote it, with another program; what this release wrote has this release's, or is wrong.

    :func:`m2bridge.checker.verify.verify` calls the one ``program-not-checked`` and the other ``rejected``.
    """
    if certificate.release == __version__:
        return False
    try:
        return foreign_program(certificate) is not None
    except InvalidCaseError:  # this release has no program for so large a case
        return True


def _program_not_checked(words: Words) -> Words:
    """What is refuted or undecided remains so; all else is not simply what the certificate says."""
    name, verdict, reason, witness = words
    if verdict in ("REFUTED", "UNDECIDED"):
        return name, verdict, f"{reason}; program not checked", witness
    return name, "PROGRAM_NOT_CHECKED", f"{verdict_words(verdict)}: {reason}", witness


def _verdicts(certificate: Certificate) -> Iterator[Words]:
    for verdict in certificate.answer["verdicts"]:
        if verdict["verdict"] not in VERDICTS:
            raise ValueError(f"unknown verdict {verdict['verdict']}")
        name = statement_name(str(verdict["statement"]), verdict["part"])
        yield name, verdict["verdict"], str(verdict["reason"]), witness_words(verdict["witness"])


def _closure(certificate: Certificate) -> Iterator[Words]:
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
        certificate.reported,
    )
