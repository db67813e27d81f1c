"""The verification of one certificate, and its result.

A certificate is accepted if its content is what the checker of its family computes from scratch.
Digests and names only show that the file is unchanged; they prove no mathematics.

Releases differ in their words and programs. So a certificate of another release that differs from
what this release would write is not rejected, unless its digests are wrong, which all releases
compute in the same way.

*Notation.* The *content* of a certificate is its answer, its evidence and its lemmas ``trusted``.
Its *seals* are the fields that must be consistent without any mathematics: the two digests, the
release, the name and the field. A value is *stored* in the certificate, and *found* or *computed*
by the checker.
"""

from collections.abc import Callable
from dataclasses import KW_ONLY, asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from m2bridge._version import __version__
from m2bridge.certificates.form import (
    Certificate,
    Content,
    Difference,
    difference,
    digest,
    other_release_message,
    read,
)
from m2bridge.checker import FamilyChecker
from m2bridge.errors import CertificateError, InvalidCaseError, OtherReleaseError, TooExpensiveError

CheckerOf = Callable[[str], FamilyChecker]
"""Returns the checker of the family of this name; raises InvalidCaseError if there is none."""

VerifyOutcome = Literal[
    "accepted",
    "accepted-on-trust",
    "program-not-checked",
    "too-expensive",
    "other-release",
    "malformed",
    "rejected",
    "failed",
]


@dataclass(frozen=True, slots=True)
class VerifyResult:
    """The result of verifying a certificate.

    ``accepted``: every check of the content passed, and only theorems are taken on trust.
    ``accepted-on-trust``: every check passed, but a part of the content is proved by none of them
    and rests on the program that made it, or on counts modulo primes; the first remark names it.
    ``program-not-checked`` (a result of the command ``verify`` only, as this package has no
    programs): the content is right, but another release wrote the certificate with a program that
    differs from this release's and was not checked. ``too-expensive``: not decided within the
    limits on size, time and memory. ``other-release``: another release wrote it in another format
    or with other contents, and only that release can decide whether it is right. ``malformed``: not
    a certificate. ``rejected``: wrong. ``failed``: it could not be read, or its check failed.
    """

    outcome: VerifyOutcome
    name: str  # the name of the file, or the name that it should have
    _: KW_ONLY
    check: str = ""  # the check that failed: a place in the certificate, or a step
    stored: str = ""  # the stored value at that place
    found: str = ""  # the value that the checker found, or why the check failed
    remarks: tuple[str, ...] = ()  # additional information without influence on the outcome

    @property
    def accepted(self) -> bool:
        """Whether every check passed; ``outcome`` says whether something is on trust."""
        return self.outcome in ("accepted", "accepted-on-trust")

    @property
    def content_right(self) -> bool:
        """Whether the content is right, whatever the program is."""
        return self.accepted or self.outcome == "program-not-checked"

    def to_json(self) -> dict[str, Any]:
        """Return a dictionary for ``json.dumps``: the fields of the result, by name."""
        return asdict(self) | {"remarks": list(self.remarks)}


def verify(certificate: Certificate, checker_of: CheckerOf, name: str = "") -> VerifyResult:
    """Compute the content of a certificate from scratch and compare it with the stored one.

    Of the program only the digest is checked. ``checker_of`` returns the checker of a family;
    ``name`` is the file name in the result, by default the one that the certificate should have.
    ContradictionError is raised if independent methods disagree: then the checker itself is wrong,
    not the certificate.
    """
    name = name or certificate.file_name
    try:
        family = checker_of(certificate.family)
        return _result_of_checks(certificate, family, name)
    except InvalidCaseError as reason:
        # This program has no such family. If the digest is right, the family may be in a package
        # that is not installed; if it is wrong, the certificate was changed.
        sealed = certificate.digest == certificate.computed_digest()
        outcome: VerifyOutcome = "failed" if sealed else "rejected"
        stored = certificate.family
        return VerifyResult(outcome, name, check="family", stored=stored, found=reason.message)
    except TooExpensiveError as reason:
        return VerifyResult("too-expensive", name, check=reason.place, found=reason.message)


def _result_of_checks(certificate: Certificate, family: FamilyChecker, name: str) -> VerifyResult:
    """Check case and question, the seals, and the content, in this order: the first error decides.

    The evidence is compared before the answer, because a wrong answer follows from wrong evidence.
    Lemmas, hypotheses and sources in former words are replaced by the present words; statements
    appear in the computed content in the stored words if these belong to one of their versions.
    """
    unknown = _unknown_case_or_question(certificate, family)
    if unknown is not None:
        return _result_of_wrong_value("malformed", certificate, name, unknown)
    # a certificate without a release is shown as "false", where "true" was expected
    wrong_value = (
        _broken_digest(certificate)
        or difference(bool(certificate.release), True, "reported.versions.m2bridge")
        or difference(certificate.name, family.name(certificate.case), "name")
        or difference(certificate.field, "QQ", "field")
    )
    if wrong_value is not None:
        return _result_of_wrong_value("rejected", certificate, name, wrong_value)
    # the content from scratch, or the first stored value that a check refutes
    content = family.questions[certificate.question](certificate)
    if isinstance(content, Difference):
        return _result_of_wrong_value("rejected", certificate, name, content)
    answer = _in_present_words(certificate.answer, family)
    trusted = [family.renewed(lemma) for lemma in certificate.trusted]
    wrong_value = (
        difference(certificate.evidence, content.evidence, "evidence")
        or difference(answer, content.answer, "answer")
        or difference(trusted, list(content.trusted), "trusted")
    )
    if wrong_value is not None:
        return _result_of_wrong_value("rejected", certificate, name, wrong_value)
    outcome: VerifyOutcome = "accepted-on-trust" if content.on_trust else "accepted"
    return VerifyResult(outcome, name, remarks=_remarks(certificate, content, family))


def _unknown_case_or_question(certificate: Certificate, family: FamilyChecker) -> Difference | None:
    """The case or question of the certificate as a difference, if the family lacks it."""
    try:
        family.name(certificate.case)
    except CertificateError as reason:
        return Difference("case", f"{certificate.case!r:.200}", str(reason))
    question = certificate.question
    if question in family.questions:
        return None
    known_questions = ", ".join(family.questions)
    message = f"this family's checker has no question {question}; it has {known_questions}"
    return Difference("question", question, message)


def _remarks(certificate: Certificate, content: Content, family: FamilyChecker) -> tuple[str, ...]:
    """What is on trust, which statements are in former words, and a release that is another."""
    remarks = [f"on trust: {words}" for words in content.on_trust]
    for wording in family.wordings:
        # the words of the statements of the certificate, in the version that it has
        for words in wording.listed(certificate.question, certificate.answer):
            present = wording.words(words.key, words.part)
            if words != present:
                statement = f"{words.key} {words.part}".rstrip()
                remark = f"{statement} in its words of version {words.version}"
                remarks.append(f"{remark}; the present ones are version {present.version}")
    if certificate.release != __version__:
        remarks.append(f"made by m2bridge {certificate.release}; this is {__version__}")
    return tuple(remarks)


def _result_of_wrong_value(
    outcome: VerifyOutcome, certificate: Certificate, name: str, wrong_value: Difference
) -> VerifyResult:
    """The result ``outcome`` for a certificate whose first wrong value is ``wrong_value``.

    If another release wrote it, the outcome is ``other-release`` instead: only that release can
    decide whether the stored values are right. If a digest is wrong, ``outcome`` stays. (A forged
    certificate may name another release; it is then refused as ``other-release``, and never
    accepted.)
    """
    remarks: tuple[str, ...] = ()
    by_another_release = certificate.release not in ("", __version__)
    if by_another_release and not _broken_digest(certificate):
        outcome = "other-release"
        remarks = (other_release_message(certificate.release),)
    return VerifyResult(
        outcome,
        name,
        check=wrong_value.place,
        stored=wrong_value.stored,
        found=wrong_value.found,
        remarks=remarks,
    )


def verify_path(path: Path, checker_of: CheckerOf) -> VerifyResult:
    """Read and verify the certificate in a file, which must have the name of its case and question.

    Any error in the file becomes a result; OSError is raised if it cannot be read. Time and memory
    are limited by :func:`m2bridge.batch.verifying.verify_files`.
    """
    certificate = certificate_at(path)
    if isinstance(certificate, VerifyResult):
        return certificate
    return verify_at(certificate, path, checker_of)


def certificate_at(path: Path) -> Certificate | VerifyResult:
    """The certificate in a file, or the result for a file that has none; OSError if it is
    unreadable.
    """
    name = str(path)
    try:
        return read(path)
    except TooExpensiveError as reason:
        return VerifyResult("too-expensive", name, check=reason.place, found=reason.message)
    except OtherReleaseError as reason:
        return VerifyResult("other-release", name, check="schema", found=str(reason))
    except CertificateError as reason:
        return VerifyResult("malformed", name, check="form", found=str(reason))


def verify_at(certificate: Certificate, path: Path, checker_of: CheckerOf) -> VerifyResult:
    """Verify a certificate, and that the file ``path`` in which it was found has the right name."""
    name = str(path)
    result = verify(certificate, checker_of, name)
    # a wrong content is a more serious error than a wrong name
    if not result.content_right or path.name == certificate.file_name:
        return result
    # under a wrong name it would be taken for a certificate of another case
    return VerifyResult(
        "rejected",
        name,
        check="file name",
        stored=path.name,
        found=certificate.file_name,
        remarks=result.remarks,
    )


def _broken_digest(certificate: Certificate) -> Difference | None:
    """The first wrong digest, or None; all releases compute digests in the same way."""
    script = certificate.script
    wrong_digest = difference(certificate.digest, certificate.computed_digest(), "digest")
    return wrong_digest or difference(script["digest"], digest(script["text"]), "script.digest")


def _in_present_words(answer: dict[str, Any], family: FamilyChecker) -> dict[str, Any]:
    """A stored answer, unchecked, in which hypotheses and sources have their present words.

    A verdict on one case has at most one hypothesis. A verdict for all sizes has lists
    ``not_applicable`` or ``outside``, whose entries have a hypothesis each.
    """
    verdicts = answer.get("verdicts")
    if not isinstance(verdicts, list):
        return answer
    renewed_verdicts = []
    for verdict in verdicts:
        if isinstance(verdict, dict):
            # a copy, so that the certificate stays as it is
            verdict = _with_hypothesis(verdict, family)
            source = verdict.get("source")
            if isinstance(source, str):
                verdict["source"] = family.renewed_source(source)
            for name in ("not_applicable", "outside"):
                entries = verdict.get(name)
                if isinstance(entries, list):
                    verdict[name] = [_with_hypothesis(entry, family) for entry in entries]
        renewed_verdicts.append(verdict)
    return answer | {"verdicts": renewed_verdicts}


def _with_hypothesis(value: Any, family: FamilyChecker) -> Any:
    """A copy of a stored verdict with its hypothesis in present words; other values as they are."""
    if not isinstance(value, dict):
        return value
    hypothesis = value.get("hypothesis")
    if not isinstance(hypothesis, str):
        return dict(value)
    return value | {"hypothesis": family.renewed(hypothesis)}
