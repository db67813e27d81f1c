"""Verification of the content by the checker, and then of the program against this release.

The content of a certificate (its answer, evidence and lemmas) is recomputed by
:mod:`m2bridge.checker` alone, without Macaulay2. The program in it, a text in Macaulay2, is only
compared, with the one that this release would write. ``outcome`` of a :class:`VerifyResult` is
``accepted`` or one of the words that the class explains.
"""

from dataclasses import replace
from pathlib import Path

from m2bridge._version import __version__
from m2bridge.certificates.form import Certificate, other_release_message
from m2bridge.certification.make import program_difference, rests_on_program
from m2bridge.checker import verify as checker
from m2bridge.checker.verify import VerifyResult
from m2bridge.errors import InvalidCaseError, TooLargeError
from m2bridge.families import registry


def verify(certificate: Certificate, name: str = "") -> VerifyResult:
    """Verify the content of a certificate by the checker alone, and compare its program with that
    of this release.

    Parameters
    ----------
    certificate : Certificate
    name : str, optional
        The name in the result; default: the file name that the certificate should have.

    Raises
    ------
    InvalidCaseError
        If ``certificate`` is not a Certificate.
    ContradictionError
        If independent methods disagree: then m2bridge itself is wrong, not the certificate.

    Examples
    --------
    >>> verify(certify(PolynomialNetwork([2, 2, 1]), "expected-dimension")).outcome
    'accepted'
    """
    if not isinstance(certificate, Certificate):
        raise InvalidCaseError(
            "certificate", "must be what certify(…) returns; 'm2bridge verify' reads files"
        )
    result = checker.verify(certificate, registry.checker, name)
    if not result.accepted:
        return result
    return _with_program(certificate, result)


def verify_path(path: Path) -> VerifyResult:
    """Read and verify a file; ``malformed`` if it is not a certificate of any release.

    The file must have the name of its case and question, so that it is not taken for another
    certificate. Time and memory are limited by :func:`m2bridge.batch.verifying.verify_files`.
    """
    certificate = checker.certificate_at(path)
    if isinstance(certificate, VerifyResult):
        return certificate
    result = checker.verify_at(certificate, path, registry.checker)
    if result.check == "file name":
        # The content is right and the name is wrong. A wrong program is the more serious error, so
        # the program is looked at as if the name were right.
        with_right_name = replace(result, outcome="accepted")
        with_program = _with_program(certificate, with_right_name)
        return with_program if with_program.outcome == "rejected" else result
    if not result.accepted:
        return result
    return _with_program(certificate, result)


def _with_program(certificate: Certificate, result: VerifyResult) -> VerifyResult:
    """Return the result for a certificate whose content is right, after a look at its program.

    A program that is not this release's is not checked; if the content rests on it, the certificate
    is rejected, or left to the other release that wrote it. The case may be too large for this
    release to write its program.
    """
    try:
        program_change = program_difference(certificate)
    except (InvalidCaseError, TooLargeError) as reason:
        return VerifyResult(
            "too-expensive", result.name, check="script.text", found=f"not decided: {reason}"
        )
    if program_change is None:
        return result
    if not rests_on_program(certificate):
        place = program_change.place
        remark = f"the answer is right; {place} is not this release's, and was not checked"
        return replace(result, outcome="program-not-checked", remarks=(remark, *result.remarks))
    rejected = replace(
        result,
        outcome="rejected",
        check=program_change.place,
        stored=program_change.stored,
        found=program_change.found,
    )
    if certificate.release == __version__:
        return rejected
    # another release may have a different program that is also right
    remarks = (other_release_message(certificate.release),)
    return replace(rejected, outcome="other-release", remarks=remarks)
