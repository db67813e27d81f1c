"""The simplest executor."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Self

from m2bridge.batch.certifier import Certifier, Settings
from m2bridge.batch.executor import Started
from m2bridge.batch.task import Task, TaskReport


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
