"""A batch from beginning to end."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from m2bridge.batch.executor import Executor, Started
from m2bridge.batch.plan import Plan, Progress
from m2bridge.batch.task import KINDS, Task, TaskReport
from m2bridge.results.sheet import duration

_PATIENCE = 0.5
"""Seconds between two attempts at cases that another batch is at."""


@dataclass(frozen=True, slots=True)
class Summary:
    """How a batch ended.

    Parameters
    ----------
    cases : int
        How many cases the batch has.
    done_before : int
        How many of them were done when it began.
    answers : Counter
        How often each verdict and each kind of outcome is in the folder, for the questions of this batch.
    seconds : float
    """

    cases: int
    done_before: int
    answers: Counter[str]
    seconds: float

    @property
    def refuted(self) -> bool:
        """Whether some statement is refuted."""
        return self.answers["REFUTED"] > 0

    @property
    def undecided(self) -> bool:
        """Whether some question has no answer."""
        return any(self.answers[name] for name in ("UNDECIDED", *KINDS))

    def to_json(self) -> dict[str, Any]:
        """A dictionary for ``json.dumps``."""
        return {
            "cases": self.cases,
            "done_before": self.done_before,
            "answers": dict(sorted(self.answers.items())),
            "seconds": round(self.seconds, 3),
        }

    def to_text(self) -> str:
        """In words, on one line."""
        answers = ", ".join(f"{number} {name}" for name, number in sorted(self.answers.items()))
        ran = f" in {duration(self.seconds)}" if self.done_before < self.cases else ""
        return f"cases: {self.cases}{ran}: {answers or 'no answers'}"

    def __str__(self) -> str:
        return self.to_text()


def run(plan: Plan, start: Callable[[], Executor], progress: Progress) -> Summary:
    """Perform what a plan says is left.

    A case that another batch is at is left to it, and looked at again until it is done or free.

    Parameters
    ----------
    plan : Plan
    start : callable
        Starts the executor; not called when nothing is left. All its workers have ended when ``run`` returns or raises.
    progress : Progress

    Raises
    ------
    BatchError
        If results cannot be stored or workers do not start.
    """
    begin, answers = time.monotonic(), plan.answers.copy()
    if plan.left:
        with start() as executor, progress.of(plan):
            for report in _reports(plan.left, executor, progress.started):
                answers.update(answer for verdicts in report.answers.values() for answer in verdicts)
                progress.finished(report)
    return Summary(len(plan.tasks), plan.done, answers, time.monotonic() - begin)


def _reports(tasks: tuple[Task, ...], executor: Executor, started: Started) -> Iterator[TaskReport]:
    while tasks:
        held = []
        for report in executor.run(tasks, started):
            if report.held:
                held.append(report.task)
            else:
                yield report
        tasks = tuple(held)
        if tasks:
            time.sleep(_PATIENCE)
