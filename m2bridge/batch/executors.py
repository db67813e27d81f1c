"""Executors of tasks: in this process, in a pool of processes, or in a Dask cluster.

An executor has a method ``run``, which takes tasks and yields their results as they arrive. Every
task gets a result, even if it crashes its worker; its outcome is then in the folder.

A *task* is a case with questions about it; each is answered by a certificate in the folder of the
batch (its *store*), or by an *outcome* that says why there is no certificate. A case is *held* if
another process is working on it: then nothing is done, and the task is tried again later.
"""

from __future__ import annotations

import atexit
import logging
import pickle
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any, ClassVar, Generic, Self

import psutil

from m2bridge import errors
from m2bridge.batch import CASE_GRACE_SECONDS
from m2bridge.batch.pool import (
    ENDING_SIGNALS,
    Batch,
    KeyT,
    Performer,
    ResultT,
    block_interrupts,
    check_files,
    defer_signals,
)
from m2bridge.batch.store import CANNOT_STORE, Store, Task, TaskResult, case_lock, count_answers
from m2bridge.certificates.form import Certificate
from m2bridge.certification.make import certify_all
from m2bridge.engine import Session, locate
from m2bridge.engine.scratch import Scratch, sweep
from m2bridge.limits import Limits, alarm, clock, limit_of, limited
from m2bridge.system import cores

Certify = Callable[..., list[Certificate]]
"""A function like :func:`m2bridge.certification.make.certify_all`."""


@dataclass(frozen=True, slots=True)
class Settings(Batch[Task, TaskResult]):
    """The batch of tasks that are certified: the settings of every worker, sent to it."""

    module: ClassVar[str] = __name__
    patience: ClassVar[float] = 30.0
    store: Store
    program: str | None = None
    timeout: float | None = None
    memory: int | None = None  # of Macaulay2, and in worker processes also of Python
    certify: Certify = certify_all  # a function of a module
    needs_engine: bool = True
    recycled_after: int = 200  # tasks after which a worker process is replaced

    def make_folder(self) -> None:
        """Make the folder of the store."""
        self.store.make()

    def performer(self) -> Certifier:
        """Return the performer of tasks in a worker."""
        return Certifier(self)

    def outcome_of_lost(self, task: Task, status: int | None) -> TaskResult:
        """Store the outcome of a task whose worker ended; return the result of the task."""
        # the worker of a cluster may have been on a machine with another Macaulay2
        macaulay2 = "unknown" if status == 0 else locate(self.program).version
        error: errors.M2BridgeError
        error = errors.EngineDiedError("the worker process ended during this case")
        if status is None and self.timeout is not None:  # it was stopped at the time limit
            limit = limit_of(self.timeout)
            # ``more`` is the advice how to give more time
            advice = clock().more
            error = errors.TimeLimitError(f"the case did not finish within {limit}; {advice}")
        with self.store.writing(), case_lock(self.store.folder, task.name) as mine:
            # some questions may have been answered before the worker ended
            if mine:
                self.store.put_outcomes(
                    task=self.store.left(task),
                    error=error,
                    timeout=self.timeout,
                    memory=self.memory,
                    macaulay2=macaulay2,
                )
            return TaskResult(
                task=task,
                counts=count_answers(self.store.answers(task)),
                seconds=0.0,
                held=not mine,
            )


def holds_too_much_memory(engine: int | None) -> bool:
    """Return whether this process and its Macaulay2, with the id ``engine``, are too large."""
    total: int = psutil.Process().memory_info().rss
    if engine is not None:
        with suppress(psutil.Error):  # Macaulay2 may have ended
            total += psutil.Process(engine).memory_info().rss
    return total > 2 * 2**30  # 2 GiB


def retry_if_engine_died(perform: Callable[[], ResultT]) -> ResultT:
    """Call a function, a second time if Macaulay2 was killed, perhaps from outside."""
    try:
        return perform()
    except errors.EngineDiedError:
        return perform()


class Certifier(Performer[Task, TaskResult]):
    """Certifies tasks one after the other with one Macaulay2, started at once if it is needed."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._engine = Session(settings.program, Limits(memory=settings.memory))
        if settings.needs_engine:
            self._engine.start()
        self._performed = 0

    @property
    def exhausted(self) -> bool:
        """Whether the worker should be replaced, after enough tasks or with too much memory."""
        return self._performed >= self._settings.recycled_after or holds_too_much_memory(
            self._engine.pid
        )

    def perform(self, task: Task) -> TaskResult:
        """Answer the unanswered questions of a task; return its result, with all answers, or
        ``held`` while another process works on the case.
        """
        store = self._settings.store
        self._performed += 1
        with (
            limited(self._settings.timeout) as running,
            store.writing(),
            case_lock(store.folder, task.name) as mine,
        ):
            if not mine:
                return TaskResult(task=task, counts=Counter(), seconds=running.seconds, held=True)
            # another batch, or a worker that died, may have answered some; the questions of a group
            # share one observation
            for questions in store.left(task).groups:
                self._answer(Task(task.case, questions))
            return TaskResult(
                task=task, counts=count_answers(store.answers(task)), seconds=running.seconds
            )

    def _answer(self, task: Task) -> None:
        """Store the certificates of a task, or the outcome with the error that was raised."""
        settings = self._settings

        def certified() -> list[Certificate]:
            # code that does not check the deadline is interrupted a moment after it
            with alarm(clock(), CASE_GRACE_SECONDS):
                return settings.certify(
                    task.case, task.questions, engine=self._engine, timeout=settings.timeout
                )

        try:
            certificates = retry_if_engine_died(certified)
        except Exception as error:  # any error becomes the outcome of this case
            if isinstance(error, OSError) and error.errno in CANNOT_STORE:
                raise
            settings.store.put_outcomes(
                task=task,
                error=error,
                timeout=settings.timeout,
                memory=settings.memory,
                macaulay2=self._engine.version if settings.needs_engine else "none",
            )
        else:
            settings.store.put(certificates)

    def __exit__(self, *reason: Any) -> None:
        """End Macaulay2."""
        self._engine.end()


class Serial(Certifier):
    """An executor that performs one task after the other in this process."""

    def __init__(self, settings: Settings) -> None:
        settings.store.make()
        super().__init__(settings)

    def run(self, tasks: Iterable[Task], started: Callable[[Task], object]) -> Iterator[TaskResult]:
        """Perform tasks; yield their results. ``started`` is called with each task that begins."""
        for task in tasks:
            started(task)
            yield self.perform(task)


_performers: dict[tuple[int, bytes], Performer[Any, Any]] = {}
"""The performer, with its Macaulay2, for each thread of a Dask worker and each pickled batch."""


class Dask(Generic[KeyT, ResultT]):
    """An executor that submits items to a Dask cluster, a few ahead of time; without the address of
    a ``scheduler`` it is a local cluster of processes.
    """

    def __init__(
        self, batch: Batch[KeyT, ResultT], scheduler: str | None = None, workers: int | None = None
    ) -> None:
        try:
            from distributed import Client
        except ImportError:
            raise errors.MethodUnavailableError(
                "the executor dask needs the package distributed: in the clone of m2bridge, pip"
                " install '.[cluster]'"
            ) from None
        self._batch, self._pickled = batch, pickle.dumps(batch)
        # what is opened here is closed if a later step fails, else by ``__exit__``
        with ExitStack() as stack:
            address: Any = scheduler
            if scheduler is None:
                address = stack.enter_context(_local_cluster(workers or cores()))
            try:
                self._client = stack.enter_context(Client(address, timeout=10))
            except (OSError, ValueError) as reason:
                raise errors.InvalidCaseError(
                    "scheduler", f"no Dask scheduler answers at {scheduler}: {reason}"
                ) from None
            self._stack = stack.pop_all()
        batch.make_folder()

    def run(self, items: Iterable[KeyT], started: Callable[[KeyT], None]) -> Iterator[ResultT]:
        """Perform items; yield their results as they arrive. So many are submitted ahead that no
        thread of the cluster waits, and ``started`` is called at each.
        """
        from distributed import as_completed
        from distributed.scheduler import KilledWorker

        waiting = iter(items)  # the items that are not submitted yet
        threads = max(sum(self._client.nthreads().values()), 1)
        arriving = as_completed()
        items_by_key: dict[str, KeyT] = {}

        def submit(number: int) -> None:
            """Submit at most ``number`` waiting items; keep each under the key of its future."""
            for item in islice(waiting, number):
                started(item)
                # not pure: an item that was performed before is performed again
                future = self._client.submit(perform, item, self._pickled, pure=False)
                items_by_key[future.key] = item
                arriving.add(future)

        # Dask's scheduler holds four tasks for each thread, which keep it busy
        submit(4 * threads)
        for future in arriving:
            item = items_by_key.pop(future.key)
            try:
                result = future.result()
            except KilledWorker:  # Dask gives an item up after several workers have ended at it
                result = self._batch.outcome_of_lost(item, status=0)
            # Python would ignore the exception of a signal handler while it deletes the future.
            with defer_signals(signal.SIGINT, *ENDING_SIGNALS):
                future.release()
            yield result
            submit(1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *reason: Any) -> None:
        """Close the connection, and end a local cluster. Without an error each Macaulay2 of the
        workers is ended first; after an error it stays, in a cluster that was not started here,
        until its worker ends.
        """
        try:
            with self._stack:
                # the type of the error, if there was one
                if reason[0] is None:
                    self._client.run(close_all)
        finally:
            sweep()


@contextmanager
def _local_cluster(workers: int) -> Iterator[Any]:
    """Start a Dask cluster of this number of processes, with a folder for their temporary files."""
    from dask import config
    from distributed import LocalCluster

    check_files(64)  # which a local cluster needs
    # Outcomes report workers that die, so Dask need not log them.
    quiet: dict[str, Any] = {"dashboard_address": None, "silence_logs": logging.CRITICAL}
    with ExitStack() as stack:
        scratch = Scratch()
        stack.callback(scratch.remove)
        stack.enter_context(config.set({"temporary-directory": str(scratch.path)}))
        # A cluster whose start is interrupted cannot be closed, and its workers would make the
        # temporary folder again.
        with block_interrupts(), defer_signals(*ENDING_SIGNALS):
            cluster = LocalCluster(n_workers=workers, threads_per_worker=1, **quiet)
            stack.enter_context(cluster)
        yield cluster


def perform(item: KeyT, batch: bytes) -> Any:
    """Perform an item in a Dask worker with the performer of this thread, whose Macaulay2 stays for
    the next items of the pickled batch; return its result.
    """
    key = threading.get_ident(), batch
    if key not in _performers:
        # the process that submitted the item has pickled it
        _performers[key] = pickle.loads(batch).performer().__enter__()
    return _performers[key].perform(item)


@atexit.register
def close_all() -> None:
    """End each Macaulay2 of this Dask worker."""
    while _performers:
        _performers.popitem()[1].__exit__(None, None, None)
