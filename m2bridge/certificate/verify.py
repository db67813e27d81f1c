"""Checking certificates, without Macaulay2."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from m2bridge._version import __version__
from m2bridge.certificate.difference import Difference, difference
from m2bridge.certificate.files import read
from m2bridge.certificate.finding import Finding, VerifyOutcome
from m2bridge.certificate.recheck import recheck
from m2bridge.certificate.reclosure import recheck_closure
from m2bridge.certificate.schema import Certificate, digest, with_release
from m2bridge.certificate.scripts import library_digests, script_of
from m2bridge.certificate.statements import Content, statement_content
from m2bridge.errors import CertificateError, MethodUnavailableError, OtherReleaseError
from m2bridge.model.field import QQ
from m2bridge.model.orbit import orbits


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
    """
    name = name or certificate.file_name
    failure = _digests(certificate) or _release(certificate) or _size(certificate) or _content(certificate)
    program = None if failure else _program(certificate)
    if _rests_on_program(certificate):
        failure = failure or program
    if failure:
        outcome, remarks = _blamed(certificate, failure)
        return Finding(outcome, name, failure.place, failure.stored, failure.found, remarks)
    return Finding("accepted", name, remarks=_remarks(certificate, program))


def verify_path(path: Path) -> Finding:
    """Read and verify a file; ``malformed`` if it is not a certificate of any release.

    It must have the name of its case and question, for which others take it.

    Raises
    ------
    OSError
        If it cannot be read.
    """
    try:
        certificate = read(path)
    except OtherReleaseError as reason:
        return Finding("other-release", str(path), "schema", found=str(reason))
    except CertificateError as reason:
        return Finding("malformed", str(path), "form", found=str(reason))
    finding = verify(certificate, str(path))
    if finding.accepted and path.name != certificate.file_name:
        return Finding("rejected", str(path), "file name", path.name, certificate.file_name, finding.remarks)
    return finding


def _blamed(certificate: Certificate, failure: Difference) -> tuple[VerifyOutcome, tuple[str, ...]]:
    """Whether the certificate is wrong, or may just be in the words of another release; digests are always the same."""
    release = certificate.release
    if not release or release == __version__ or failure.place in ("digest", "script.digest"):
        return "rejected", ()
    return "other-release", (with_release(release),)


def _digests(certificate: Certificate) -> Difference | None:
    text = certificate.script["text"]
    return difference(certificate.digest, certificate.computed_digest(), "digest") or difference(
        certificate.script["digest"], digest(text), "script.digest"
    )


def _size(certificate: Certificate) -> Difference | None:
    """Whether there are as many orbits as the case has, before anything is computed for it."""
    if certificate.question == "closure" or certificate.case["t"] == 1:
        return None
    model = certificate.model
    stored = certificate.evidence.get("orbits")
    count = len(stored) if isinstance(stored, list) else 0
    pairs = model.alpha * min(model.d, model.d_out)  # each pair (r, s) has an orbit
    if count < pairs:
        return Difference("evidence.orbits", f"{count} orbits", f"at least {pairs} orbits")
    return difference(count, len(orbits(model)), "number of orbits")


def _content(certificate: Certificate) -> Difference | None:
    try:
        found = recheck_closure(certificate) if certificate.question == "closure" else _statement(certificate)
    except MethodUnavailableError as reason:
        return Difference("evidence", "", f"not decided: {reason}")
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


def _statement(certificate: Certificate) -> Content:
    model = certificate.model
    return statement_content(certificate.question, model, recheck(model) if model.t > 1 else None)


def _release(certificate: Certificate) -> Difference | None:
    if certificate.release:
        return None
    return Difference("versions.m2bridge", f"{certificate.versions.get('m2bridge')!r:.40}", "the name of a release")


def _program(certificate: Certificate) -> Difference | None:
    """Whether program and shared scripts are those of this release for this case."""
    script = script_of(certificate.question, certificate.model)
    libraries = library_digests(script.libraries if script else ())
    return difference(certificate.script["text"], script.body if script else "", "script.text") or difference(
        certificate.libraries, libraries, "libraries"
    )


def _rests_on_program(certificate: Certificate) -> bool:
    """Whether another program is a reason not to accept it.

    This release has one program for each case. Of another release nobody here knows the program; where everything is
    computed anew nothing follows from it; but the closure of a case with one token trusts what Macaulay2 said.
    """
    return certificate.release == __version__ or (certificate.question == "closure" and certificate.case["t"] == 1)


def _remarks(certificate: Certificate, program: Difference | None) -> tuple[str, ...]:
    if certificate.release == __version__:
        return ()
    made = f"made by m2bridge {certificate.release}; this is {__version__}"
    if program is None:
        return (made,)
    return made, f"the program is not that of this release ({program.place}) and was not compared; nothing rests on it"
