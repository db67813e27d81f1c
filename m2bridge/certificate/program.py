"""Whether the program in a certificate is the one that this release would run."""

from __future__ import annotations

from m2bridge._version import __version__
from m2bridge.certificate.difference import Difference, difference
from m2bridge.certificate.schema import Certificate
from m2bridge.certificate.scripts import library_digests, script_of


def foreign_program(certificate: Certificate) -> Difference | None:
    """Where program and shared scripts are not those of this release for this case and question.

    Raises
    ------
    InvalidCaseError
        If the case is too large for this release to write a program.
    """
    length, least = len(certificate.script["text"]), _least_length(certificate)
    if length < least:
        return Difference("script.text", f"{length} characters", f"at least {least} characters")
    script = script_of(certificate.question, certificate.model)
    libraries = library_digests(script.libraries if script else ())
    return difference(certificate.script["text"], script.body if script else "", "script.text") or difference(
        certificate.libraries, libraries, "libraries"
    )


def _least_length(certificate: Certificate) -> int:
    """Characters that a program has in any case, so that a short text does not ask for the work of a long one."""
    model = certificate.model
    if certificate.question == "closure":
        return model.d * (model.d + model.d_out)  # the names of the entries of A and V
    if model.t == 1:
        return 0
    return model.alpha * min(model.d, model.d_out) * 2 * model.d  # for each (r, s) an orbit with its two matrices


def rests_on_program(certificate: Certificate) -> bool:
    """Whether another program is a reason to refuse it.

    This release has one program for each case. Of another release nobody here knows the program; where everything is
    computed anew the content does not rest on it; but the closure of a case with one token trusts what Macaulay2 said.
    """
    return certificate.release == __version__ or (certificate.question == "closure" and certificate.case["t"] == 1)
