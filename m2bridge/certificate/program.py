"""Whether the program in a certificate is the one that this release would run."""

from __future__ import annotations

from m2bridge._version import __version__
from m2bridge.certificate.difference import Difference, difference
from m2bridge.certificate.schema import Certificate
from m2bridge.certificate.scripts import library_digests, script_of


def foreign_program(certificate: Certificate) -> Difference | None:
    """Where program and shared scripts are not those of this release for this case and question."""
    script = script_of(certificate.question, certificate.model)
    libraries = library_digests(script.libraries if script else ())
    return difference(certificate.script["text"], script.body if script else "", "script.text") or difference(
        certificate.libraries, libraries, "libraries"
    )


def rests_on_program(certificate: Certificate) -> bool:
    """Whether another program is a reason to refuse it.

    This release has one program for each case. Of another release nobody here knows the program; where everything is
    computed anew the content does not rest on it; but the closure of a case with one token trusts what Macaulay2 said.
    """
    return certificate.release == __version__ or (certificate.question == "closure" and certificate.case["t"] == 1)
