"""The performance of tasks: in this process, by a pool of worker processes, or by a Dask cluster."""

import atexit
import logging
import os
import pickle
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, Generic, Self

import psutil

from m2bridge import errors
from m2bridge.batch.pool import Item, Performer, Pool, Result, check_files, interrupts_held, prepare
from m2bridge.batch.store import NO_ROOM, Report, Store, Task, case_lock, counted
from m2bridge.certificates.schema import Certificate
from m2bridge.crosscheck.certify import certify_all
from m2bridge.engine import Session, locate
from m2bridge.engine.scratch import Scratch, sweep
from m2bridge.limits import Limits, alarm, clock, limit_of, limited
from m2bridge.system import cores

GRACE = 1.0
"""Seconds after the limit, in which loops that look at the clock come first and can say more."""

MEMORY_MARK = 2 * 2**30
"""Bytes that a worker process and its Macaulay2 may hold when it turns to another task."""


Certify = Callable[..., list[Certificate]]
"""A function like :func:`m2bridge.crosscheck.certify.certify_all`."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings that every worker needs; all of them cross processes.

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
    recycled_after : int
        Tasks after which a worker process is replaced.
    """

    store: Store
    program: str | None = None
    timeout: float | None = None
    memory: int | None = None
    certify: Certify = certify_all
    needs_engine: bool = True
    recycled_after: int = 200

    @property
    def limits(self) -> tuple[float | None, int | None]:
        """Seconds and bytes."""
        return self.timeout, self.memory


def give_up(settings: Settings, task: Task, error: Exception, macaulay2: str) -> Report:
    """Store the outcome of a task that nobody will perform."""
    store = settings.store
    with store.writing(), case_lock(store.folder, task.name) as mine:
        if mine:
            store.put_outcomes(store.left(task), error, settings.limits, macaulay2)
        return Report(task, counted(store.answers(task)), 0.0, held=not mine)


def resident_memory(*processes: int | None) -> int:
    """Bytes in physical memory of processes, as far as they are there."""
    total = 0
    for process in processes:
        if process is not None:
            with suppress(psutil.Error):
                total += psutil.Process(process).memory_info().rss
    return total


def once_more(perform: Callable[[], Result]) -> Result:
    """Perform something, and once more if Macaulay2 was killed, perhaps by chance."""
    try:
        return perform()
    except errors.EngineDiedError:
        return perform()


class Certifier(Performer[Task, Report]):
    """Answers tasks one after the other with one Macaulay2, which it starts at once if it is needed."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._engine = Session(settings.program, Limits(memory=settings.memory))
        if settings.needs_engine:
            self._engine.start()
        self._performed = 0

    @property
    def exhausted(self) -> bool:
        """Whether it has done enough, or this process and its Macaulay2 hold too much memory."""
        if self._performed >= self._settings.recycled_after:
            return True
        return resident_memory(os.getpid(), self._engine.pid) > MEMORY_MARK

    def perform(self, task: Task) -> Report:
        """Answer what is left of a task.

        Raises
        ------
        BatchError
            If nothing can be stored.
        """
        store = self._settings.store
        self._performed += 1
        with limited(self._settings.timeout) as running, store.writing(), case_lock(store.folder, task.name) as mine:
            if not mine:
                return Report(task, Counter(), running.seconds, held=True)
            for questions in store.left(task).groups:  # another batch, or a worker that died, may have come here before
                self._answer(Task(task.case, questions))
            return Report(task, counted(store.answers(task)), running.seconds)

    def _answer(self, task: Task) -> None:
        try:
            certificates = once_more(partial(self._certified, task))
        except Exception as error:  # whatever it is, it becomes the outcome of this case
            if isinstance(error, OSError) and error.errno in NO_ROOM:
                raise
            version = self._engine.version if self._settings.needs_engine else "none"
            self._settings.store.put_outcomes(task, error, self._settings.limits, version)
        else:
            for certificate in certificates:
                self._settings.store.put(certificate)

    def _certified(self, task: Task) -> list[Certificate]:
        with alarm(clock(), GRACE):
            limit = self._settings.timeout
            return self._settings.certify(task.case, task.questions, engine=self._engine, timeout=limit)

    def __exit__(self, *reason: Any) -> None:
        """End Macaulay2."""
        self._engine.__exit__(*reason)


Started = Callable[[Task], object]
"""Is told of each task when a worker begins with it."""


class Serial(Certifier):
    """One task after the other, in this process."""

    def __init__(self, settings: Settings) -> None:
        settings.store.make()
        super().__init__(settings)

    def run(self, tasks: Iterable[Task], started: Started) -> Iterator[Report]:
        """Perform tasks; the reports, in the order in which they arrive.

        Raises
        ------
        BatchError
            If results cannot be stored or workers do not start; tasks that are under way are given up.
        """
        for task in tasks:
            started(task)
            yield self.perform(task)


PATIENCE = 30.0
"""Seconds after the limit of a case, when its worker is killed: it sits in code that cannot be interrupted."""

FAREWELL = 5.0
"""Seconds that workers have at the end of a pool to end what they are at in an orderly way."""

_LAST = 4
"""So many tasks for each worker count as the last ones."""


class Processes(Pool[Task, Report]):
    """A pool of worker processes, each with one Macaulay2.

    Parameters
    ----------
    settings : Settings
    workers : int, optional
        One for each core that this process may use, when left out.
    """

    def __init__(self, settings: Settings, workers: int | None = None) -> None:
        settings.store.make()
        prepare(__name__)
        limit = None if settings.timeout is None else settings.timeout + PATIENCE
        super().__init__(
            partial(Certifier, settings),
            self._outcome,
            workers=workers,
            timeout=limit,
            memory=settings.memory,
            farewell=FAREWELL,
        )
        self._settings = settings

    def run(self, tasks: Iterable[Task], started: Started) -> Iterator[Report]:
        """Perform tasks, as :meth:`Serial.run`."""
        return super().run(self._arranged(tasks), started)

    def _arranged(self, tasks: Iterable[Task]) -> list[Task]:
        """The last few in reverse: if long ones come last, the longest begins first, and workers end together."""
        listed = list(tasks)
        early = max(len(listed) - _LAST * self._number, 0)
        return [*listed[:early], *reversed(listed[early:])]

    def _outcome(self, task: Task, status: int | None) -> Report:
        """The outcome of a task that nobody will perform."""
        error: errors.M2BridgeError = errors.EngineDiedError("two workers ended at this case")
        if status is None and self._settings.timeout is not None:
            limit = limit_of(self._settings.timeout)
            error = errors.TimeLimitError(f"the case did not finish within {limit}; {clock().more}")
        return give_up(self._settings, task, error, locate(self._settings.program).version)


_AHEAD = 4
"""Tasks that the scheduler holds for each thread of the cluster: enough to keep it busy, few enough to be light."""

_LEAST_FILES = 64
"""Open files that a local cluster needs."""

_performers: dict[tuple[int, bytes], Performer[Any, Any]] = {}
"""The performer that each thread of a Dask worker keeps, with its Macaulay2, by how it was begun."""


class Cluster(Generic[Item, Result]):
    """Items go to a Dask cluster in small numbers ahead of need.

    Parameters
    ----------
    begin, lost : callable
        As of :class:`~m2bridge.batch.pool.Pool`.
    scheduler : str, optional
        Address such as ``tcp://host:8786``; a local cluster of processes when left out.
    workers : int, optional
        Processes of the local cluster; one for each core when left out.

    Raises
    ------
    MethodUnavailableError
        If ``distributed`` is not installed.
    InvalidCaseError
        If no scheduler answers at this address.
    BatchError
        If this process may not have as many open files as a local cluster takes.
    """

    def __init__(
        self,
        begin: Callable[[], Performer[Item, Result]],
        lost: Callable[[Item, int | None], Result],
        scheduler: str | None = None,
        workers: int | None = None,
    ) -> None:
        try:
            from dask import config
            from distributed import Client, LocalCluster
        except ImportError:
            raise errors.MethodUnavailableError(
                "the executor dask needs the package distributed: pip install 'm2bridge[cluster]'"
            ) from None
        self._begin, self._lost = pickle.dumps(begin), lost
        with ExitStack() as stack:
            if scheduler is None:
                number = workers or cores()
                check_files(_LEAST_FILES)
                scratch = Scratch()
                stack.callback(scratch.remove)
                stack.enter_context(config.set({"temporary-directory": str(scratch.path)}))
                with interrupts_held():
                    # What its log would say of workers that die, the outcomes say.
                    cluster = LocalCluster(
                        n_workers=number, threads_per_worker=1, dashboard_address=None, silence_logs=logging.CRITICAL
                    )
                address: Any = stack.enter_context(cluster)
            else:
                address = scheduler
            try:
                self._client = stack.enter_context(Client(address, timeout=10))
            except (OSError, ValueError) as reason:
                raise errors.InvalidCaseError(
                    "scheduler", f"no Dask scheduler answers at {scheduler}: {reason}"
                ) from None
            self._stack = stack.pop_all()

    def run(self, items: Iterable[Item], started: Callable[[Item], None]) -> Iterator[Result]:
        """Perform items; the results in the order in which they arrive. An item starts when it is submitted."""
        from distributed import as_completed
        from distributed.scheduler import KilledWorker

        waiting = iter(items)
        threads = max(sum(self._client.nthreads().values()), 1)
        arriving = as_completed()
        items_by_key: dict[str, Item] = {}

        def submit(number: int) -> None:
            for item in islice(waiting, number):
                started(item)
                future = self._client.submit(perform, item, self._begin, pure=False)
                items_by_key[future.key] = item
                arriving.add(future)

        submit(_AHEAD * threads)
        for future in arriving:
            item = items_by_key.pop(future.key)
            try:
                yield future.result()
            except KilledWorker:
                yield self._lost(item, 0)
            submit(1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *reason: Any) -> None:
        try:
            with self._stack:
                if reason[0] is None:
                    self._client.run(close_all)
        finally:
            sweep()


class Dask(Cluster[Task, Report]):
    """Tasks go to a Dask cluster; certificates are written by the workers. Parameters and errors as there."""

    def __init__(self, settings: Settings, scheduler: str | None = None, workers: int | None = None) -> None:
        error = errors.EngineDiedError("several Dask workers ended at this case")
        lost = lambda task, status: give_up(settings, task, error, "unknown")  # noqa: E731  (it needs the settings)
        super().__init__(partial(Certifier, settings), lost, scheduler, workers)
        settings.store.make()


def perform(item: Item, begin: bytes) -> Any:
    """Perform an item in a Dask worker, with the performer of this thread."""
    key = threading.get_ident(), begin
    if key not in _performers:
        _performers[key] = pickle.loads(begin)().__enter__()  # what whoever submitted the item has written
    return _performers[key].perform(item)


@atexit.register
def close_all() -> None:
    """End every Macaulay2 that a Dask worker keeps."""
    while _performers:
        _performers.popitem()[1].__exit__(None, None, None)
