"""The check of one certificate, and its result.

A certificate is accepted if its content is what the checker of its family computes anew. Digests
and names say only that it is the certificate that somebody made; they prove no mathematics.

Releases differ in their words and programs. So where a certificate of another release is not what
this one would write, it is not called wrong, unless its digests are, which are made in one way.

*Notation.* The *content* of a certificate is its answer, its evidence and its lemmas ``trusted``.
Its *seals* are what must fit together without any mathematics: the two digests, the release, the
name and the field. *Stored* is what stands in the certificate, *found* or *computed* what the
checker finds.
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
    """The outcome of checking a certificate.

    ``accepted``: every check of the content passed, and no more is trusted than theorems.
    ``accepted-on-trust``: every check passed too, but something that the content says is decided by
    none of them, and rests on the word of the program that made it; the first remark says what.
    ``program-not-checked``, which the command
    ``verify`` says, and no function of this package, as it has no programs: the content is right,
    but another release wrote the certificate, with a program that is not this release's, and nobody
    looked at what that program does. ``too-expensive``: not decided within the limits on size, time
    and memory. ``other-release``: another release wrote it, in another format or with other
    contents, and only that one can say whether it is right. ``malformed``: not a certificate.
    ``rejected``: wrong. ``failed``: it could not be read, or its check failed.
    """

    outcome: VerifyOutcome
    name: str  # of the file, or what it should be
    _: KW_ONLY
    check: str = ""  # which check failed: the place in the certificate, or what could not be done
    stored: str = ""  # the value at that place
    found: str = ""  # the value that should be there, or why the check failed
    remarks: tuple[str, ...] = ()  # what decides nothing

    @property
    def accepted(self) -> bool:
        """Whether every check passed; ``outcome`` says whether something is on trust."""
        return self.outcome in ("accepted", "accepted-on-trust")

    @property
    def content_right(self) -> bool:
        """Whether the content is what was computed anew, whatever the program is."""
        return self.accepted or self.outcome == "program-not-checked"

    def to_json(self) -> dict[str, Any]:
        """A dictionary for ``json.dumps``."""
        return asdict(self) | {"remarks": list(self.remarks)}


def verify(certificate: Certificate, checker_of: CheckerOf, name: str = "") -> VerifyResult:
    """Compute the content of a certificate from scratch and compare it with what is stored.

    The program in it is not looked at, but for its digest. ``checker_of`` finds the checker of a
    family, ``name`` is the file name used in the result. Raises ContradictionError if independent
    methods disagree: then the checker itself is wrong, not the certificate.
    """
    name = name or certificate.file_name
    try:
        family = checker_of(certificate.family)
        return _checked(certificate, family, name)
    except InvalidCaseError as reason:
        # with a digest that fits it may be the certificate of a package that is not installed
        sealed = certificate.digest == certificate.computed_digest()
        outcome: VerifyOutcome = "failed" if sealed else "rejected"
        where = certificate.family
        return VerifyResult(outcome, name, check="family", stored=where, found=reason.message)
    except TooExpensiveError as reason:
        return VerifyResult("too-expensive", name, check=reason.place, found=reason.message)


def _checked(certificate: Certificate, family: FamilyChecker, name: str) -> VerifyResult:
    """The result of the checker of a family, which the result calls by ``name``.

    Checked are in turn the case and the question, the seals, and the content: the first of these
    that is not as it should be decides.
    """
    unknown = _unknown(certificate, family)
    if unknown:
        return _refused("malformed", certificate, name, unknown)
    broken = _broken_seal(certificate, family)
    if broken:
        return _refused("rejected", certificate, name, broken)
    compute = family.questions[certificate.question]
    computed = compute(certificate)
    if isinstance(computed, Difference):
        # the checker of the family has found a stored value to be wrong, and went no further
        return _refused("rejected", certificate, name, computed)
    wrong = _first_difference(certificate, computed, family)
    if wrong:
        return _refused("rejected", certificate, name, wrong)
    outcome: VerifyOutcome = "accepted-on-trust" if computed.on_trust else "accepted"
    remarks = [f"on trust: {words}" for words in computed.on_trust]
    remarks += _former_words(certificate, family)
    if certificate.release != __version__:
        remarks.append(f"made by m2bridge {certificate.release}; this is {__version__}")
    return VerifyResult(outcome, name, remarks=tuple(remarks))


def _former_words(certificate: Certificate, family: FamilyChecker) -> list[str]:
    """For each statement that a certificate has in former words, that it is so."""
    remarks = []
    for wording in family.wordings:
        for words in wording.listed(certificate.question, certificate.answer):
            present = wording.words(words.key, words.part)
            if words != present:
                statement = f"{words.key} {words.part}".rstrip()
                remark = f"{statement} in its words of version {words.version}"
                remarks.append(f"{remark}; the present ones are version {present.version}")
    return remarks


def _refused(
    outcome: VerifyOutcome, certificate: Certificate, name: str, where: Difference
) -> VerifyResult:
    """The result ``outcome`` at ``where``, the first place at which the certificate is not right.

    If another release wrote the certificate, the outcome is ``other-release`` instead: only that
    release can say whether what is stored is right. With a wrong digest nobody needs to ask it.
    (Whoever forges a certificate can name another release, and so have it refused in other words;
    it is not accepted.)
    """
    remarks: tuple[str, ...] = ()
    of_another = certificate.release not in ("", __version__)
    if of_another and not _broken_digest(certificate):
        outcome = "other-release"
        remarks = (other_release_message(certificate.release),)
    return VerifyResult(
        outcome, name, check=where.place, stored=where.stored, found=where.found, remarks=remarks
    )


def verify_path(path: Path, checker_of: CheckerOf) -> VerifyResult:
    """Read and verify the certificate in a file, which must have the name of its case and question.

    The result says whatever is wrong with the file; OSError if it cannot be read. Time and memory
    are not limited here: :func:`m2bridge.batch.verifying.verify_files` does that.
    """
    name = str(path)
    try:
        certificate = read(path)
    except TooExpensiveError as reason:
        return VerifyResult("too-expensive", name, check=reason.place, found=reason.message)
    except OtherReleaseError as reason:
        return VerifyResult("other-release", name, check="schema", found=str(reason))
    except CertificateError as reason:
        return VerifyResult("malformed", name, check="form", found=str(reason))
    result = verify(certificate, checker_of, name)
    if not result.content_right or path.name == certificate.file_name:
        return result
    # under the name of another case it would be taken for what it is not about
    return VerifyResult(
        "rejected",
        name,
        check="file name",
        stored=path.name,
        found=certificate.file_name,
        remarks=result.remarks,
    )


def _unknown(certificate: Certificate, family: FamilyChecker) -> Difference | None:
    """The case or the question that stands in the certificate, if the family has none like it.

    ``found`` of the difference says what the family has instead.
    """
    try:
        family.name(certificate.case)
    except CertificateError as reason:
        return Difference("case", f"{certificate.case!r:.200}", str(reason))
    question = certificate.question
    if question in family.questions:
        return None
    known = ", ".join(family.questions)
    message = f"this family's checker has no question {question}; it has {known}"
    return Difference("question", question, message)


def _broken_seal(certificate: Certificate, family: FamilyChecker) -> Difference | None:
    """The first seal that is broken: of the digests, the release, the name and the field.

    The digests are those of the stored texts, the release is there, the name is that of the case,
    and the field is QQ.
    """
    return (
        _broken_digest(certificate)
        or difference(bool(certificate.release), True, "reported.versions.m2bridge")
        or difference(certificate.name, family.name(certificate.case), "name")
        or difference(certificate.field, "QQ", "field")
    )


def _broken_digest(certificate: Certificate) -> Difference | None:
    """The first digest that is not that of the stored text; all releases make them in one way."""
    script = certificate.script
    stored = difference(certificate.digest, certificate.computed_digest(), "digest")
    return stored or difference(script["digest"], digest(script["text"]), "script.digest")


def _first_difference(
    certificate: Certificate, content: Content, family: FamilyChecker
) -> Difference | None:
    """The first stored value that is not that of ``content``, which was computed anew.

    The evidence comes first: a wrong answer follows from wrong evidence, and not the other way.
    Lemmas and hypotheses in former words are those in the present words: the tables of the family
    have them, each with the place of its proof, and no other words are taken for a lemma, whatever
    release a certificate says that it is of. A statement stands in
    ``content`` in the words that are stored, if these are of one of its versions.
    """
    answer = _with_hypotheses(certificate.answer, family)
    trusted = [family.renewed(lemma) for lemma in certificate.trusted]
    return (
        difference(certificate.evidence, content.evidence, "evidence")
        or difference(answer, content.answer, "answer")
        or difference(trusted, list(content.trusted), "trusted")
    )


def _with_hypotheses(answer: dict[str, Any], family: FamilyChecker) -> dict[str, Any]:
    """A stored answer with hypotheses in their present words, in verdicts and in their lists."""
    verdicts = answer.get("verdicts")
    if not isinstance(verdicts, list):
        return answer
    renewed = []
    for verdict in verdicts:
        if isinstance(verdict, dict):
            verdict = _with_hypothesis(verdict, family)
            for name in ("not_applicable", "outside"):
                parts = verdict.get(name)
                if isinstance(parts, list):
                    verdict[name] = [_with_hypothesis(part, family) for part in parts]
        renewed.append(verdict)
    return answer | {"verdicts": renewed}


def _with_hypothesis(value: Any, family: FamilyChecker) -> Any:
    """A copy of a stored value whose hypothesis, if it has one, is in its present words."""
    if not isinstance(value, dict):
        return value
    hypothesis = value.get("hypothesis")
    if not isinstance(hypothesis, str):
        return dict(value)
    return value | {"hypothesis": family.renewed(hypothesis)}
