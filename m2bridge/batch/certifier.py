"""One worker's way with a task: lock it, answer it, store what comes of it."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from m2bridge.batch.store import NO_ROOM, Store, case_lock
from m2bridge.batch.task import Task, TaskReport, Unanswered, kind_of, reason_of, versions
from m2bridge.certificates.schema import Certificate
from m2bridge.crosscheck.certify import certify_all
from m2bridge.engine import Engine, Limits, Session
from m2bridge.errors import BatchError, EngineDiedError
from m2bridge.limits import alarm, clock, limited

GRACE = 1.0
"""Seconds after the limit, in which loops that look at the clock come first and can say more."""

Certify = Callable[[Any, Sequence[str], Engine | None, float | None], list[Certificate]]


@dataclass(frozen=True, slots=True)
class Settings:
    """What every worker needs to know; all of it crosses processes.

    Parameters
    ----------
    store : Store
    program : str or None
        Which Macaulay2.
    timeout : float or None
        Seconds for each case.
    memory : int or None
        Bytes for Macaulay2, and in worker processes for Python too.
    certify : callable
        A function of a module, like :func:`m2bridge.crosscheck.certify.certify_all`.
    needs_engine : bool
        Whether some question needs Macaulay2.
    """

    store: Store
    program: str | None = None
    timeout: float | None = None
    memory: int | None = None
    certify: Certify = certify_all
    needs_engine: bool = True


@contextmanager
def storing(store: Store) -> Iterator[None]:
    """Say which folder it is that cannot be written."""
    try:
        yield
    except OSError as reason:
        raise BatchError(
            f"'{store.folder}' cannot be written: {reason.strerror or reason}; what is there is whole, and the same "
            "command goes on from it"
        ) from None


def put_outcomes(settings: Settings, task: Task, questions: Sequence[str], error: Exception, macaulay2: str) -> None:
    """Store an outcome for each of these questions."""
    kind, reason = kind_of(error), reason_of(error)
    details = "".join(traceback.format_exception(error)) if kind == "failed" else ""
    limits = settings.timeout, settings.memory
    about = task.case.family, task.case.to_json(), task.name
    for question in questions:
        outcome = Unanswered(*about, question, kind, reason, details, *limits, versions(macaulay2))
        settings.store.put_outcome(outcome)


def give_up(settings: Settings, task: Task, error: Exception, macaulay2: str) -> TaskReport:
    """Store the outcome of a task that nobody will perform."""
    store = settings.store
    with storing(store), case_lock(store.folder, task.name) as mine:
        if mine:
            done = store.answers(task)
            left = [question for question in task.questions if question not in done]
            put_outcomes(settings, task, left, error, macaulay2)
        return TaskReport(task, store.answers(task), 0.0, held=not mine)


class Certifier:
    """Answers tasks one after the other with one Macaulay2, which it starts at once if it is needed."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._engine = Session(settings.program, Limits(memory=settings.memory)) if settings.needs_engine else None
        if self._engine is not None:
            self._engine.start()

    @property
    def engine_pid(self) -> int | None:
        """Process id of its Macaulay2, if it runs."""
        return self._engine.pid if self._engine else None

    @property
    def _version(self) -> str:
        return self._engine.version if self._engine else "none"

    def perform(self, task: Task) -> TaskReport:
        """Answer what is left of a task.

        Raises
        ------
        BatchError
            If nothing can be stored.
        """
        store = self._settings.store
        with limited(self._settings.timeout) as running, storing(store), case_lock(store.folder, task.name) as mine:
            if not mine:
                return TaskReport(task, {}, running.seconds, held=True)
            done = store.answers(task)  # another batch, or a worker that died, may have come here before
            for questions in Task(task.case, tuple(q for q in task.questions if q not in done)).groups:
                self._answer(task, questions)
            return TaskReport(task, store.answers(task), running.seconds)

    def _answer(self, task: Task, questions: tuple[str, ...]) -> None:
        try:
            certificates = self._certified(task, questions)
        except Exception as error:  # whatever it is, it becomes the outcome of this case
            if isinstance(error, OSError) and error.errno in NO_ROOM:
                raise
            put_outcomes(self._settings, task, questions, error, self._version)
        else:
            for certificate in certificates:
                self._settings.store.put(certificate)

    def _certified(self, task: Task, questions: tuple[str, ...]) -> list[Certificate]:
        """The certificates; once more if Macaulay2 was killed, perhaps by chance."""
        for last in (False, True):
            try:
                with alarm(clock(), GRACE):
                    return self._settings.certify(task.case, questions, self._engine, self._settings.timeout)
            except EngineDiedError:
                if last:
                    raise
        raise AssertionError("unreachable")

    def close(self) -> None:
        """End Macaulay2."""
        if self._engine is not None:
            self._engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._engine is not None:
            self._engine.__exit__(kind, error, trace)
