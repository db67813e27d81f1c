"""Where tasks run: the seam between a batch and the machines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import Protocol, Self

from m2bridge.batch.certifier import Certifier, Settings
from m2bridge.batch.task import Task, TaskReport

Started = Callable[[Task], None]
"""Is told of each task when a worker begins with it."""


class Executor(Protocol):
    """Performs tasks; a context manager, at whose end all workers have ended."""

    def run(self, tasks: Iterable[Task], started: Started) -> Iterator[TaskReport]:
        """Perform tasks; the reports, in the order in which they arrive.

        Raises
        ------
        BatchError
            If results cannot be stored or workers do not start; tasks that are under way are given up.
        """
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class Serial:
    """One task after the other, in this process."""

    def __init__(self, settings: Settings) -> None:
        self._certifier = Certifier(settings)

    def run(self, tasks: Iterable[Task], started: Started) -> Iterator[TaskReport]:
        """See :meth:`Executor.run`."""
        for task in tasks:
            started(task)
            yield self._certifier.perform(task)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._certifier.__exit__(kind, error, trace)
