"""Workers of a Dask cluster, here or on many machines that share the folder of results."""

import atexit
import logging
import threading
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import islice
from typing import Any, Self

from m2bridge.batch.executors import Certifier, Settings, Started, give_up, make_folder
from m2bridge.batch.pool import check_files, interrupts_held
from m2bridge.batch.task import Task, TaskReport
from m2bridge.engine.scratch import Scratch, sweep
from m2bridge.errors import EngineDiedError, InvalidCaseError, MethodUnavailableError
from m2bridge.system import cores

_AHEAD = 4
"""Tasks that the scheduler holds for each thread of the cluster: enough to keep it busy, few enough to be light."""

_LEAST_FILES = 64
"""Open files that a local cluster needs."""

_certifiers: dict[tuple[int, Settings], Certifier] = {}
"""The one Macaulay2 that each thread of a Dask worker keeps."""


class Dask:
    """Tasks go to a Dask cluster in small numbers ahead of need; certificates are written by the workers.

    Parameters
    ----------
    settings : Settings
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

    def __init__(self, settings: Settings, scheduler: str | None = None, workers: int | None = None) -> None:
        try:
            from dask import config
            from distributed import Client, LocalCluster
        except ImportError:
            raise MethodUnavailableError(
                "the executor dask needs the package distributed: pip install 'm2bridge[cluster]'"
            ) from None
        make_folder(settings.store)
        self._settings = settings
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
                raise InvalidCaseError("scheduler", f"no Dask scheduler answers at {scheduler}: {reason}") from None
            self._stack = stack.pop_all()

    def run(self, tasks: Iterable[Task], started: Started) -> Iterator[TaskReport]:
        """Perform tasks, as :meth:`~m2bridge.batch.executors.Executor.run`; it starts when submitted."""
        from distributed import as_completed
        from distributed.scheduler import KilledWorker

        waiting = iter(tasks)
        threads = max(sum(self._client.nthreads().values()), 1)
        arriving = as_completed()
        tasks_by_key: dict[str, Task] = {}

        def submit(number: int) -> None:
            for task in islice(waiting, number):
                started(task)
                future = self._client.submit(perform, task, self._settings, pure=False)
                tasks_by_key[future.key] = task
                arriving.add(future)

        submit(_AHEAD * threads)
        for future in arriving:
            task = tasks_by_key.pop(future.key)
            try:
                yield future.result()
            except KilledWorker:
                yield give_up(
                    self._settings, task, EngineDiedError("several Dask workers ended at this case"), "unknown"
                )
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


def perform(task: Task, settings: Settings) -> TaskReport:
    """Perform a task in a Dask worker, with the Macaulay2 of this thread."""
    key = threading.get_ident(), settings
    if key not in _certifiers:
        _certifiers[key] = Certifier(settings)
    return _certifiers[key].perform(task)


@atexit.register
def close_all() -> None:
    """End every Macaulay2 that a Dask worker keeps."""
    while _certifiers:
        _certifiers.popitem()[1].close()
