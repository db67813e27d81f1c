"""Files of a batch that say why a question has no certificate."""

from __future__ import annotations

from typing import Any

from m2bridge.batch.unanswered import Unanswered
from m2bridge.certifying.questions import question_of
from m2bridge.errors import CertificateError, InvalidCaseError
from m2bridge.layout import duration
from m2bridge.report.content import Row
from m2bridge.report.words import case_of


def outcome_rows(data: Any, file: str) -> list[Row]:
    """One row for each part of the statement that has no answer.

    Parameters
    ----------
    data : object
        What :class:`m2bridge.batch.Unanswered` writes.
    file : str

    Raises
    ------
    CertificateError
        If it is something else.
    """
    try:
        outcome = Unanswered(**data)
        case = case_of(outcome.family, outcome.case)
        names = question_of(outcome.family, outcome.question).names()
        applies = outcome.kind != "not-applicable"
        said = f"{outcome.kind}{_limit(outcome)}: {outcome.reason}" if applies else outcome.reason
        reason, verdict = said.encode().decode(), "NO_ANSWER" if applies else "NOT_APPLICABLE"
        versions = {str(name): str(version) for name, version in outcome.versions.items()}
    except (AttributeError, KeyError, TypeError, ValueError, InvalidCaseError) as error:
        raise CertificateError(f"not an outcome of a batch: {error!r}") from None
    reported = {"versions": versions, "seconds": None, "peak_memory": None}
    return [Row(case, outcome.question, name, "", verdict, reason, "", reported, file) for name in names]


def _limit(outcome: Unanswered) -> str:
    """The limit of the batch that was reached; a reason may name what was left of it."""
    if outcome.kind == "timed-out" and outcome.timeout is not None:
        return f" (limit {duration(outcome.timeout)})"
    if outcome.kind == "out-of-memory" and outcome.memory is not None:
        return f" (limit {outcome.memory / 2**30:.3g} GiB)"
    return ""
