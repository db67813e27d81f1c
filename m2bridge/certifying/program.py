"""Whether the program in a certificate is the one that this release would run."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

from m2bridge._version import __version__
from m2bridge.certificate.difference import Difference, difference
from m2bridge.certificate.schema import Certificate, digest
from m2bridge.certifying.questions import question_of
from m2bridge.families import family
from m2bridge.render import Script
from m2bridge.resources import m2script


def foreign_program(certificate: Certificate) -> Difference | None:
    """Where program and shared scripts are not those of this release for this case and question.

    Raises
    ------
    InvalidCaseError
        If there is no such family, case or question.
    TooLargeError
        If the case is too large for this release to write a program.
    """
    script = _script(certificate.family, certificate.question, family(certificate.family).from_json(certificate.case))
    libraries = library_digests(script.libraries if script else ())
    return difference(certificate.script["text"], script.body if script else "", "script.text") or difference(
        certificate.libraries, libraries, "libraries"
    )


@lru_cache(maxsize=256)
def _script(name: str, question: str, model: Any) -> Script | None:
    return question_of(name, question).script(model)


def rests_on_program(certificate: Certificate) -> bool:
    """Whether another program is a reason to refuse it.

    This release has one program for each case and question. Of another release nobody here knows the program; where
    everything is computed anew the content does not rest on it.
    """
    if certificate.release == __version__:
        return True
    model = family(certificate.family).from_json(certificate.case)
    return question_of(certificate.family, certificate.question).trusts_program(model)


def library_digests(names: tuple[str, ...]) -> dict[str, str]:
    """SHA-256 of shared Macaulay2 scripts of this installation.

    Raises
    ------
    ResourceError
        If this installation has no script of such a name.
    """
    return {name: _library_digest(name) for name in names}


@cache
def _library_digest(name: str) -> str:
    return digest(m2script(name).read_text(encoding="utf-8"))
