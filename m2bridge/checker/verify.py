"""Checking certificates, without Macaulay2."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from m2bridge._version import __version__
from m2bridge.algebra.field import QQ
from m2bridge.certificate.difference import Difference, difference
from m2bridge.certificate.files import read
from m2bridge.certificate.program import foreign_program, rests_on_program
from m2bridge.certificate.schema import Certificate, digest, with_release
from m2bridge.certificate.statements import Content, statement_content
from m2bridge.checker.price import unpaid
from m2bridge.checker.recheck import recheck
from m2bridge.checker.reclosure import recheck_closure
from m2bridge.checker.verify_result import Finding
from m2bridge.errors import (
    CertificateError,
    InvalidCaseError,
    MethodUnavailableError,
    OtherReleaseError,
    TooExpensiveError,
)


def verify(certificate: Certificate, name: str = "") -> Finding:
    """Compute the content of a certificate from scratch and compare it, value by value, with what is stored.

    Digests, the list of orbits, every fact about every orbit, every verdict with its reason and witness; for a
    closure the generators and invariants; the program and the shared scripts that it uses. Needs SymPy and
    python-flint only.

    Parameters
    ----------
    certificate : Certificate
    name : str, optional
        What the finding calls it; the file name that it should have when left out.

    Raises
    ------
    ContradictionError
        If independent methods disagree: then m2bridge itself is wrong, not the certificate.

    Examples
    --------
    >>> with Macaulay2() as engine:
    ...     certificate = certify(SingleLayerAttention(d=2, d_out=1), "3.3", engine)
    >>> verify(certificate).outcome
    'accepted'
    """
    name = name or certificate.file_name
    try:
        failure = _digests(certificate) or _release(certificate) or _content(certificate)
        program = None if failure else foreign_program(certificate)
    except TooExpensiveError as reason:
        return Finding("too-expensive", name, reason.place, found=reason.message)
    except (MethodUnavailableError, InvalidCaseError) as reason:  # a basis or a matrix that becomes too large
        return Finding("too-expensive", name, "evidence", found=f"not decided: {reason}")
    if failure or (program and rests_on_program(certificate)):
        return _refused(certificate, name, failure or program)
    return _content_right(certificate, name, program)


def verify_path(path: Path) -> Finding:
    """Read and verify a file; ``malformed`` if it is not a certificate of any release.

    It must have the name of its case and question, for which others take it. Time and memory are not limited here:
    :func:`m2bridge.batch.verifying.verify_files` does that.

    Raises
    ------
    OSError
        If it cannot be read.
    """
    try:
        certificate = read(path)
    except OtherReleaseError as reason:
        return Finding("other-release", str(path), "schema", found=str(reason))
    except TooExpensiveError as reason:
        return Finding("too-expensive", str(path), reason.place, found=reason.message)
    except CertificateError as reason:
        return Finding("malformed", str(path), "form", found=str(reason))
    finding = verify(certificate, str(path))
    if finding.content_right and path.name != certificate.file_name:
        return Finding("rejected", str(path), "file name", path.name, certificate.file_name, finding.remarks)
    return finding


def _refused(certificate: Certificate, name: str, failure: Difference | None) -> Finding:
    """The certificate is wrong, or may just be in the words of another release; digests are always the same."""
    assert failure is not None
    said, release = (failure.place, failure.stored, failure.found), certificate.release
    if not release or release == __version__ or failure.place in ("digest", "script.digest"):
        return Finding("rejected", name, *said)
    return Finding("other-release", name, *said, (with_release(release),))


def _content_right(certificate: Certificate, name: str, program: Difference | None) -> Finding:
    """Everything is as computed anew; whether the program is that of this release as well."""
    made = f"made by m2bridge {certificate.release}; this is {__version__}"
    if program is not None:
        said = f"content right, program not checked: {program.place} is not that of this release"
        return Finding("program-not-checked", name, remarks=(said, made))
    return Finding("accepted", name, remarks=() if certificate.release == __version__ else (made,))


def _digests(certificate: Certificate) -> Difference | None:
    text = certificate.script["text"]
    return difference(certificate.digest, certificate.computed_digest(), "digest") or difference(
        certificate.script["digest"], digest(text), "script.digest"
    )


def _content(certificate: Certificate) -> Difference | None:
    found = recheck_closure(certificate) if certificate.question == "closure" else _statement(certificate)
    if isinstance(found, Difference):
        return found
    pairs: dict[str, tuple[Any, Any]] = {
        "field": (certificate.field, str(QQ)),
        "evidence": (certificate.evidence, found.evidence),
        "answer": (certificate.answer, found.answer),
        "recheckable": (certificate.recheckable, list(found.recheckable)),
        "trusted": (certificate.trusted, list(found.trusted)),
    }
    return next((d for place, (stored, new) in pairs.items() if (d := difference(stored, new, place))), None)


def _statement(certificate: Certificate) -> Content | Difference:
    model = certificate.model
    if model.t == 1:
        return statement_content(certificate.question, model, None)
    return unpaid(certificate.evidence, model) or statement_content(certificate.question, model, recheck(model))


def _release(certificate: Certificate) -> Difference | None:
    if certificate.release:
        return None
    stored = certificate.reported.get("versions")
    release = stored.get("m2bridge") if isinstance(stored, dict) else stored
    return Difference("reported.versions.m2bridge", f"{release!r:.40}", "the name of a release")
