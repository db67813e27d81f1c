"""Verification with the program: what the checker says of the content, and then whether the program
is the one of this release.

The content is computed anew by :mod:`m2bridge.checker` alone, without Macaulay2. The program is
compared as text: whoever trusts it can run it.
"""

from dataclasses import replace
from pathlib import Path

from m2bridge._version import __version__
from m2bridge.certificates.form import Certificate, other_release_message, read
from m2bridge.certification.make import program_difference, rests_on_program
from m2bridge.checker import verify as checker
from m2bridge.checker.verify import VerifyResult
from m2bridge.errors import InvalidCaseError, TooLargeError
from m2bridge.families import registry


def verify(certificate: Certificate, name: str = "") -> VerifyResult:
    """Compute the content of a certificate anew, by the checker alone, and compare the program with
    this release's.

    Parameters
    ----------
    certificate : Certificate
    name : str, optional
        What the result calls it; the file name that it should have when left out.

    Raises
    ------
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

    It must have the name of its case and question, for which others take it. Time and memory are
    not limited here: :func:`m2bridge.batch.verifying.verify_files` does that.

    Raises
    ------
    OSError
        If it cannot be read.
    """
    result = checker.verify_path(path, registry.checker)
    if result.check == "file name":
        # the content is right, and the name is not: a program that is not right either says more
        program = _with_program(read(path), replace(result, outcome="accepted"))
        return program if program.outcome == "rejected" else result
    if not result.accepted:
        return result
    return _with_program(read(path), result)


def _with_program(certificate: Certificate, result: VerifyResult) -> VerifyResult:
    """The result itself, if the program is that of this release for the case and question."""
    try:
        program = program_difference(certificate)
    except (InvalidCaseError, TooLargeError) as reason:
        return VerifyResult(
            "too-expensive", result.name, check="script.text", found=f"not decided: {reason}"
        )
    if program is None:
        return result
    if not rests_on_program(certificate):
        remark = f"the answer is right; {program.place} is not this release's, and was not checked"
        return replace(result, outcome="program-not-checked", remarks=(remark, *result.remarks))
    different = replace(
        result, outcome="rejected", check=program.place, stored=program.stored, found=program.found
    )
    if certificate.release == __version__:
        return different
    # Another release may have another program, and be right.
    remarks = (other_release_message(certificate.release),)
    return replace(different, outcome="other-release", remarks=remarks)
