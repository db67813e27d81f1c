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
from m2bridge.errors import CertificateError, MethodUnavailableError, OtherReleaseError, ResourceError
from m2bridge.model.field import QQ
from m2bridge.model.orbit import orbits


def verify(certificate: Certificate, name: str = "") -> Finding:
    """Compute the content of a certificate from scratch and compare it, value by value, with what is stored.

    Digests, the list of orbits, every fact about every orbit, every verdict with its reason and witness; for a
    closure the generators and invariants. Needs SymPy and python-flint only.

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
    failure = _digests(certificate) or _size(certificate) or _content(certificate) or _script(certificate)
    if failure:
        outcome, remarks = _blamed(certificate, failure)
        return Finding(outcome, name, failure.place, failure.stored, failure.found, remarks)
    return Finding("accepted", name, remarks=_remarks(certificate))


def verify_path(path: Path) -> Finding:
    """Read and verify a file; ``malformed`` if it is not a certificate of any release.

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
    return verify(certificate, str(path))


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


def _script(certificate: Certificate) -> Difference | None:
    """Whether the program is the one for this case; a later release may write it in another way."""
    if certificate.versions.get("m2bridge") != __version__:
        return None
    script = script_of(certificate.question, certificate.model)
    return difference(certificate.script["text"], script.body if script else "", "script.text")


def _remarks(certificate: Certificate) -> tuple[str, ...]:
    if certificate.versions.get("m2bridge") != __version__:
        return (f"made by m2bridge {certificate.versions.get('m2bridge')}; this is {__version__}",)
    try:
        installed = library_digests(tuple(filter(str.isidentifier, certificate.libraries)))
    except ResourceError as reason:
        return (str(reason),)
    changed = [name for name, value in certificate.libraries.items() if installed.get(name) != value]
    return tuple(f"m2scripts/{name}.m2 is not the one of this installation" for name in changed)
