"""The check of one certificate, and its result."""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from m2bridge._version import __version__
from m2bridge.certificates.schema import (
    Certificate,
    Content,
    Difference,
    difference,
    digest,
    read,
    with_release,
)
from m2bridge.checker import FamilyChecker
from m2bridge.errors import CertificateError, InvalidCaseError, OtherReleaseError, TooExpensiveError
from m2bridge.families import checker

VerifyOutcome = Literal[
    "accepted",
    "program-not-checked",
    "too-expensive",
    "other-release",
    "malformed",
    "rejected",
    "failed",
]


@dataclass(frozen=True, slots=True)
class VerifyResult:
    """The outcome of checking a certificate.

    ``accepted``: every check passed. ``program-not-checked``: the content is right, but another
    release wrote the certificate, with a program that is not this release's, and nobody looked at
    what that program does. ``too-expensive``: not decided within the limits on size, time and
    memory. ``other-release``: another release wrote it, in another format or with other contents,
    and only that one can say whether it is right. ``malformed``: not a certificate. ``rejected``:
    wrong. ``failed``: it could not be read, or its check failed.
    """

    outcome: VerifyOutcome
    name: str  # of the file, or what it should be
    check: str = ""  # which one failed
    stored: str = ""
    found: str = ""
    remarks: tuple[str, ...] = ()  # what decides nothing

    @property
    def accepted(self) -> bool:
        """Whether every check passed."""
        return self.outcome == "accepted"

    @property
    def content_right(self) -> bool:
        """Whether the content is what was computed anew, whatever the program is."""
        return self.outcome in ("accepted", "program-not-checked")

    def to_json(self) -> dict[str, Any]:
        """A dictionary for ``json.dumps``."""
        return asdict(self) | {"remarks": list(self.remarks)}


def verify(certificate: Certificate, name: str = "") -> VerifyResult:
    """Compute the content of a certificate from scratch and compare it, value by value, with what
    is stored.

    The program in it is not looked at, but for its digest. ``name`` is what the result calls it, if
    not its file name. Raises ContradictionError if independent methods disagree: then the checker
    itself is wrong, not the certificate.
    """
    name, release = name or certificate.file_name, certificate.release
    try:
        family = checker(certificate.family)
        unknown = _unknown(certificate, family)
        failure = unknown or _seals(certificate, family)
        content = failure or family.questions[certificate.question](certificate)
    except InvalidCaseError as reason:
        sealed = certificate.digest == certificate.computed_digest()
        return VerifyResult(
            "failed" if sealed else "rejected", name, "family", certificate.family, reason.message
        )
    except TooExpensiveError as reason:
        return VerifyResult("too-expensive", name, reason.place, found=reason.message)
    failure = content if isinstance(content, Difference) else _differs(certificate, content)
    if failure is None:
        made = (
            ()
            if release == __version__
            else (f"made by m2bridge {release}; this is {__version__}",)
        )
        return VerifyResult("accepted", name, remarks=made)
    where = failure.place, failure.stored, failure.found
    # the same in all releases
    if release in ("", __version__) or failure.place in ("digest", "script.digest"):
        return VerifyResult("malformed" if unknown else "rejected", name, *where)
    return VerifyResult("other-release", name, *where, (with_release(release),))


def verify_path(path: Path) -> VerifyResult:
    """Read and verify a file, which must have the name of its case and question; OSError if it
    cannot be read.

    Time and memory are not limited here: :func:`m2bridge.batch.verifying.verify_files` does that.
    """
    try:
        certificate = read(path)
    except TooExpensiveError as reason:
        return VerifyResult("too-expensive", str(path), reason.place, found=reason.message)
    except CertificateError as reason:
        if isinstance(reason, OtherReleaseError):
            return VerifyResult("other-release", str(path), "schema", found=str(reason))
        return VerifyResult("malformed", str(path), "form", found=str(reason))
    result = verify(certificate, str(path))
    if result.content_right and path.name != certificate.file_name:
        return VerifyResult(
            "rejected", str(path), "file name", path.name, certificate.file_name, result.remarks
        )
    return result


def _unknown(certificate: Certificate, family: FamilyChecker) -> Difference | None:
    try:
        family.name(certificate.case)
    except CertificateError as reason:
        return Difference("case", f"{certificate.case!r:.200}", str(reason))
    if certificate.question in family.questions:
        return None
    known = (
        f"this family's checker has no question {certificate.question}; it has"
        f" {', '.join(family.questions)}"
    )
    return Difference("question", certificate.question, known)


def _seals(certificate: Certificate, family: FamilyChecker) -> Difference | None:
    return (
        difference(certificate.digest, certificate.computed_digest(), "digest")
        or difference(
            certificate.script["digest"], digest(certificate.script["text"]), "script.digest"
        )
        or difference(bool(certificate.release), True, "reported.versions.m2bridge")
        or difference(certificate.name, family.name(certificate.case), "name")
        or difference(certificate.field, "QQ", "field")
    )


def _differs(certificate: Certificate, content: Content) -> Difference | None:
    trusted = certificate.trusted
    # this release names each proof by its own place, and no other
    if certificate.release != __version__:
        trusted = _lemmas(trusted, content.trusted)
    return (
        difference(certificate.evidence, content.evidence, "evidence")
        or difference(certificate.answer, content.answer, "answer")
        or difference(trusted, list(content.trusted), "trusted")
    )


_FORMER = re.compile(r"[ (;]*docs/[\w-]+\.md(?P<part>, [A-Z0-9][\w (),]*)?\)$")
"""The place of a proof as it was named before theorems had labels: a page, or a part of it."""


def _lemmas(stored: list[str], computed: Sequence[str]) -> list[str]:
    """Return the stored lemmas, in the computed words where only the former place of their proofs
    is different.
    """
    words = {
        lemma.partition("docs/")[0].rstrip(" (;"): lemma for lemma in computed if "docs/" in lemma
    }
    former = [(lemma, _FORMER.search(lemma)) for lemma in stored]
    named = [
        (lemma, words.get(lemma[: place.start()], "") if place else "", place)
        for lemma, place in former
    ]
    return [
        new if place and ("#" in new or (new and place["part"])) else old
        for old, new, place in named
    ]
