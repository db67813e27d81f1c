"""Files of a batch that say why a question has no certificate."""

from __future__ import annotations

from typing import Any

from m2bridge.batch.outcome import Outcome
from m2bridge.certificate.schema import QUESTIONS
from m2bridge.errors import CertificateError
from m2bridge.families.attention.statements import REGISTRY
from m2bridge.layout import duration
from m2bridge.report.content import Case, Row
from m2bridge.report.words import statement_name


def outcome_rows(data: Any, file: str) -> list[Row]:
    """One row for each part of the statement that has no answer.

    Parameters
    ----------
    data : object
        What :class:`m2bridge.batch.Outcome` writes.
    file : str

    Raises
    ------
    CertificateError
        If it is something else.
    """
    try:
        outcome = Outcome(**data)
        case = Case(*(int(outcome.case[name]) for name in ("d", "d_out", "a", "t")))
        reason = f"{outcome.kind}{_limit(outcome)}: {outcome.reason}".encode().decode()
        versions = {str(name): str(version) for name, version in outcome.versions.items()}
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise CertificateError(f"not an outcome of a batch: {error!r}") from None
    if outcome.question not in QUESTIONS:
        raise CertificateError(f"unknown question {outcome.question!r}")
    parts = [statement.part for statement in REGISTRY if statement.key == outcome.question] or [""]
    names = [statement_name(outcome.question, part) for part in parts]
    reported = {"versions": versions, "seconds": None, "peak_memory": None}
    return [Row(case, outcome.question, name, "NO_ANSWER", reason, "", reported, file) for name in names]


def _limit(outcome: Outcome) -> str:
    """The limit of the batch that was reached; a reason may name what was left of it."""
    if outcome.kind == "timed-out" and outcome.timeout is not None:
        return f" (limit {duration(outcome.timeout)})"
    if outcome.kind == "out-of-memory" and outcome.memory is not None:
        return f" (limit {outcome.memory / 2**30:.3g} GiB)"
    return ""
