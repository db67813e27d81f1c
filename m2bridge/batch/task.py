"""A task: what is asked about one case; and the report on it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from m2bridge.batch.cases import Case, effort
from m2bridge.certificate.schema import QUESTIONS
from m2bridge.errors import InvalidCaseError

CLOSURE_COORDINATES = 12
"""Largest number of coordinates for which ``all`` includes the Zariski closure."""


@dataclass(frozen=True, slots=True)
class Task:
    """Questions about one case, answered together by one worker.

    Parameters
    ----------
    case : SingleLayerAttention
    questions : tuple of str
        From :data:`m2bridge.certificate.QUESTIONS`.
    """

    case: Case
    questions: tuple[str, ...]

    @property
    def name(self) -> str:
        """``d3-dout2-a2-t2``."""
        return f"d{self.case.d}-dout{self.case.d_out}-a{self.case.a}-t{self.case.t}"

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Questions that share their work: all statements together, and each computation alone."""
        statements = tuple(question for question in self.questions if question != "closure")
        return tuple(group for group in (statements, ("closure",) if "closure" in self.questions else ()) if group)


@dataclass(frozen=True, slots=True)
class Report:
    """What became of a task.

    Parameters
    ----------
    task : Task
    answers : dict of str to tuple of str
        For each question the verdicts, or the kind of outcome.
    seconds : float
    held : bool
        Another process is at this case; nothing was done.
    """

    task: Task
    answers: dict[str, tuple[str, ...]]
    seconds: float
    held: bool = False


def tasks(cases: Iterable[Case], check: str = "all") -> tuple[Task, ...]:
    """One task for each case.

    Parameters
    ----------
    cases : iterable of SingleLayerAttention
    check : str
        A list of questions separated by commas, in which ``all`` stands for every statement, and for the closure of
        cases with at most :data:`CLOSURE_COORDINATES` coordinates.

    Raises
    ------
    InvalidCaseError
        If a question is unknown.
    """
    asked = tuple(dict.fromkeys(part.strip() for part in check.split(",")))
    if unknown := [question for question in asked if question not in (*QUESTIONS, "all")]:
        raise InvalidCaseError("check", f"unknown question '{unknown[0]}': use all, or {', '.join(QUESTIONS)}")
    statements = tuple(question for question in QUESTIONS if question != "closure")

    def questions(case: Case) -> tuple[str, ...]:
        every = QUESTIONS if effort(case) <= CLOSURE_COORDINATES else statements
        return tuple(dict.fromkeys(name for part in asked for name in (every if part == "all" else (part,))))

    return tuple(Task(case, questions(case)) for case in cases)
