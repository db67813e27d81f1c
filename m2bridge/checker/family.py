"""What a family brings for its certificates to be checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from m2bridge.certificate.difference import Difference
from m2bridge.certificate.schema import Certificate, Content

Check = Callable[[Certificate], Content | Difference]


@dataclass(frozen=True, slots=True)
class FamilyChecker:
    """The checker of a family of models.

    Parameters
    ----------
    family : str
    name : callable
        From the case in a certificate to its unique name; raises CertificateError if there is no such case.
    questions : mapping from str to callable
        For each question a function that computes the content of a certificate from scratch (of a Zariski closure:
        from the stored generators), or gives the first check that fails. It may raise TooExpensiveError.
    """

    family: str
    name: Callable[[Mapping[str, Any]], str]
    questions: Mapping[str, Check]
