"""Worker processes on this machine, each with one Macaulay2."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from itertools import chain
from multiprocessing.connection import wait
from types import TracebackType
from typing import Self

from m2bridge.batch.certifier import Settings, give_up
from m2bridge.batch.executor import Started
from m2bridge.batch.task import Task, TaskReport
from m2bridge.batch.worker import Begun, Ready, Worker
from m2bridge.engine import locate
from m2bridge.engine.scratch import sweep
from m2bridge.errors import BatchError, EngineDiedError, M2BridgeError, TimeLimitError
from m2bridge.limits import clock, limit_of
from m2bridge.system import cores

RECYCLED_AFTER = 200
MEMORY_MARK = 2 * 2**30

GRACE = 30.0
_FAREWELL = 5.0
_FALSE_STARTS = 10
_LAST = 4
"""So many tasks for each worker count as the last ones."""


class Processes:
    """A pool of worker processes.

    A worker is replaced when it has died, after ``recycled_after`` tasks, and when it and its Macaulay2 hold more than
    ``memory_mark`` bytes. The task of a worker that died at it is performed once more by another one.

    Parameters
    ----------
    settings : Settings
    workers : int, optional
        One for each core that this process may use, when left out.
    recycled_after, memory_mark : int
    grace : float
        Seconds after the limit of a case, when its worker is killed: it sits in code that cannot be interrupted.
    """

    def __init__(
        self,
        settings: Settings,
        workers: int | None = None,
        recycled_after: int = RECYCLED_AFTER,
        memory_mark: int = MEMORY_MARK,
        grace: float = GRACE,
    ) -> None:
        self._settings = settings
        self._number = workers or cores()
        self._recycled_after = recycled_after
        self._memory_mark = memory_mark
        self._grace = grace
        self._workers: list[Worker] = []
        self._leaving: list[Worker] = []
        self._false_starts = 0

    def run(self, tasks: Iterable[Task], started: Started) -> Iterator[TaskReport]:
        """See :meth:`m2bridge.batch.executor.Executor.run`."""
        waiting, deaths = deque(self._arranged(tasks)), Counter[Task]()
        while waiting or any(worker.task for worker in self._workers):
            self._recruit(len(waiting))
            for worker in self._workers:
                if waiting and worker.ready and worker.task is None:
                    started(waiting[0])
                    worker.give(waiting.popleft())
            for worker in self._speaking(bool(waiting)):
                task = worker.task
                if (report := self._heard(worker)) is not None:
                    yield report
                elif task is not None and worker.task is None:
                    deaths[task] += worker.at_work
                    if deaths[task] < 2:
                        waiting.appendleft(task)
                    else:
                        yield self._given_up(task, EngineDiedError("two workers ended at this case"))
            yield from self._hanging()

    def _arranged(self, tasks: Iterable[Task]) -> Iterator[Task]:
        """The last few in reverse: if long ones come last, the longest begins first, and workers end together."""
        listed = list(tasks)
        early = max(len(listed) - _LAST * self._number, 0)
        return chain(listed[:early], reversed(listed[early:]))

    def _recruit(self, waiting: int) -> None:
        """Start workers, as many as are of use."""
        idle = sum(worker.task is None for worker in self._workers)
        for _ in range(min(self._number - len(self._workers), waiting - idle)):
            self._workers.append(Worker(self._settings))

    def _speaking(self, waiting: bool) -> list[Worker]:
        """Workers with something to hear, after a moment at most."""
        listened = {w.connection: w for w in self._workers if w.task is not None or (waiting and not w.ready)}
        return [listened[connection] for connection in wait(list(listened), 1.0)]  # type: ignore[index]

    def _heard(self, worker: Worker) -> TaskReport | None:
        """Hear what a worker says; its report, if that is what it says. A dead worker is let go."""
        message = worker.receive()
        if isinstance(message, M2BridgeError):
            raise message
        if isinstance(message, Ready):
            worker.ready = True
        elif isinstance(message, Begun):
            worker.at_work, self._false_starts = True, 0
        elif message is None:
            if not (worker.at_work or worker.served):
                self._false_start(worker)
            self._dismiss(worker)
            worker.task = None
        else:
            report, memory = message
            worker.task, worker.at_work, worker.served = None, False, worker.served + 1
            if worker.served >= self._recycled_after or memory > self._memory_mark:
                self._dismiss(worker)
            return report
        return None

    def _false_start(self, worker: Worker) -> None:
        self._false_starts += 1
        if self._false_starts >= _FALSE_STARTS:
            how = worker.ended(time.monotonic() + _FAREWELL)
            raise BatchError(f"worker processes end before they begin; the last one {how}")

    def _hanging(self) -> Iterator[TaskReport]:
        limit = self._settings.timeout
        for worker in list(self._workers):
            task = worker.task
            if task is not None and limit is not None and time.monotonic() - worker.since > limit + self._grace:
                worker.process.kill()
                worker.ended(time.monotonic() + _FAREWELL)
                self._dismiss(worker)
                late = f"the case did not finish within {limit_of(limit)}; {clock().more}"
                yield self._given_up(task, TimeLimitError(late))

    def _given_up(self, task: Task, error: Exception) -> TaskReport:
        return give_up(self._settings, task, error, locate(self._settings.program).version)

    def _dismiss(self, worker: Worker) -> None:
        worker.dismiss()
        self._workers.remove(worker)
        self._leaving = [*(w for w in self._leaving if w.process.is_alive()), worker]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for worker in self._workers:
            worker.dismiss()
        deadline = time.monotonic() + _FAREWELL
        for worker in (*self._workers, *self._leaving):
            worker.ended(deadline)
        sweep()
