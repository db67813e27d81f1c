"""Worker processes that perform a function on many items, each item within its own limits.

Workers are forked from a server that has imported the modules they need. A worker sends a message
when it is ready and when it begins an item, so that its parent knows the item at which a worker
ended or has exceeded its limit. The work itself is defined by a :class:`Batch`, and performed in
the worker by its :class:`Performer`; both are base classes.

A :class:`Pool` is in the parent. It gives each :class:`Worker` a group of items, waits for messages
from their pipes, and yields results as they arrive. An item is *lost* if two workers have ended at
it, or one that was killed after the limit of time; the batch then makes a result for it. A worker
is *exhausted* if a new one should replace it, as for its memory. An exit status is negative for a
signal. Where workers do not start, BatchError is raised.
"""

import gc
import multiprocessing
import signal
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from multiprocessing import forkserver, resource_tracker
from multiprocessing.connection import Connection, wait
from types import ModuleType
from typing import Any, ClassVar, Generic, Self, TypeVar

from m2bridge import limits
from m2bridge.engine.context import LOG
from m2bridge.engine.scratch import Scratch, short_folders, sweep
from m2bridge.errors import BatchError, EngineError, M2BridgeError
from m2bridge.system import cores, end_with, exit_text, leave, limit_address_space, max_open_files

KeyT = TypeVar("KeyT", bound=Hashable)
ResultT = TypeVar("ResultT")

ENDING_SIGNALS = (signal.SIGTERM, signal.SIGHUP)
"""Signals after which a command cleans up and ends, as after Ctrl-C."""

CONTEXT = multiprocessing.get_context("forkserver")
"""Starts workers as copies of a server process that has imported the modules they need."""

_kept: list[Scratch] = []


class Performer(Generic[KeyT, ResultT]):
    """The object that performs items in a worker, made there by :meth:`Batch.performer`.

    It is a context manager: the worker enters it once, and leaves it when it ends.
    """

    @property
    def exhausted(self) -> bool:
        """Whether a new worker should replace this one."""
        return False

    def perform(self, item: KeyT) -> ResultT:
        """Compute the result for an item."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *reason: object) -> None:
        """Release resources when the worker ends."""


class Batch(Generic[KeyT, ResultT]):
    """Work on many items: its limits, its performer, and the result for a lost item.

    It is pickled and sent to workers.
    """

    __slots__ = ()
    timeout: float | None  # seconds for each item
    memory: int | None  # bytes of address space of a worker
    module: ClassVar[str]  # what the server of workers imports before it forks the first one
    # Seconds after the limit of an item until its worker, in code that cannot be interrupted, is
    # killed; and seconds at the end of a pool for workers to stop their work and clean up.
    patience: ClassVar[float] = 0.0
    shutdown_seconds: ClassVar[float] = 5.0

    def make_folder(self) -> None:
        """Make the folder of results, if there is one."""

    def performer(self) -> Performer[KeyT, ResultT]:
        """Return the performer of items in a worker."""
        raise NotImplementedError

    def outcome_of_lost(self, item: KeyT, status: int | None) -> ResultT:
        """Return the result for an item that has none because a worker ended during it, with this
        exit status: ``None`` if it was killed because the item was not done in time, 0 if unknown.
        """
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Ready:
    """The first message of a worker, which can now receive items."""


@dataclass(frozen=True, slots=True)
class Begun:
    """The message that a worker begins an item; a crash before it is not caused by the item."""


@dataclass(frozen=True, slots=True)
class Done(Generic[ResultT]):
    """The message with a result; an exhausted worker ends after it."""

    result: ResultT
    exhausted: bool


Message = Done[ResultT] | M2BridgeError | Ready | Begun
"""A message of a worker: a result, an error that ends the batch, or a step of its work."""


class Worker(Generic[KeyT, ResultT]):
    """A worker process as its parent sees it."""

    def __init__(self, batch: Batch[KeyT, ResultT]) -> None:
        prepare()
        # the two ends of the pipe, one for this process and one for the worker
        self.connection, theirs = CONTEXT.Pipe()
        self.process = CONTEXT.Process(target=serve, args=(theirs, batch), daemon=True)
        # An interrupted start would make the fork server print a traceback. A worker must not run
        # the script of this process.
        with block_interrupts(*ENDING_SIGNALS), _without_script():
            try:
                self.process.start()
            except (EOFError, OSError) as reason:
                raise BatchError(f"a worker process cannot be started: {reason}") from None
        theirs.close()
        LOG.info("a worker is started as process %s", self.process.pid)
        self.ready = False  # whether it can receive items
        self.items: deque[KeyT] = deque()  # the current one and the next ones
        # whether it has begun the first of them, which only then can be the cause of its end
        self.at_work = self.has_ever_begun = False
        self.since = 0.0  # when it began the item, on the monotonic clock

    def give(self, items: Iterable[KeyT]) -> None:
        """Send items to the worker."""
        self.items = deque(items)
        with suppress(OSError):  # a dead worker is noticed when its answer is awaited
            self.connection.send(list(self.items))

    def receive(self) -> Message[ResultT] | None:
        """Receive the next message, waiting for it; ``None`` if the worker has ended."""
        try:
            return self.connection.recv()  # type: ignore[no-any-return]
        except (EOFError, OSError):
            return None

    def stop(self) -> None:
        """Let an idle worker end by itself, and signal any other, which then cleans up."""
        if self.items or not self.ready:
            self.process.terminate()
        self.connection.close()

    def end(self, patience: float) -> int:
        """Wait for the end of the process, kill it after ``patience``; return its status."""
        self.process.join(max(patience, 0))
        if self.process.exitcode is None:
            self.process.kill()
            self.process.join()
        return self.process.exitcode or 0


class Pool(Generic[KeyT, ResultT]):
    """A pool of worker processes; a context manager that ends all of them on exit.

    The item at which a worker died is performed a second time by another worker, since the first
    death may have other causes: earlier items left too little memory, or the worker was killed from
    outside.
    """

    def __init__(self, batch: Batch[KeyT, ResultT], workers: int | None = None) -> None:
        batch.make_folder()
        prepare(batch.module)
        self._batch = batch
        self._number = workers or cores()
        self._workers: list[Worker[KeyT, ResultT]] = []
        # exhausted workers that may still be cleaning up
        self._leaving: list[Worker[KeyT, ResultT]] = []
        self._false_starts = 0  # how many workers in a row have ended before they began an item

    def run(self, items: Iterable[KeyT], started: Callable[[KeyT], object]) -> Iterator[ResultT]:
        """Perform items; yield the results in the order of arrival. ``started`` is called with each
        item when a worker begins it, in the order of the items.
        """
        # each item is a group of its own, so that a free worker takes the next one
        groups = [[item] for item in items]
        return (result for _, result in self.results(groups, started))

    def results(
        self,
        groups: Iterable[Iterable[KeyT]],
        started: Callable[[KeyT], object] = lambda item: None,
    ) -> Iterator[tuple[KeyT, ResultT]]:
        """Perform items, each group of them by one worker, unless it dies; yield each item with its
        result, in the order of arrival. An error that a worker raises is raised here.
        """
        self._waiting: deque[Iterable[KeyT]] = deque(groups)  # the groups that no worker has
        self._deaths = Counter[KeyT]()  # the number of workers that have ended at each item
        while self._waiting or any(worker.items for worker in self._workers):
            self._spawn()
            for worker in self._workers:
                if self._waiting and worker.ready and not worker.items:
                    worker.give(self._waiting.popleft())
            for worker in self._workers_with_messages():
                yield from self._handle_message(worker, started)
            # a worker that has exceeded its limit is ended from outside: loops in C read no clock
            at_work = [worker for worker in self._workers if worker.at_work]
            for worker in at_work:
                if self._seconds_left(worker) >= 0:
                    continue
                worker.process.kill()
                yield from self._handle_exit(worker, beyond_limit=True)

    def _spawn(self) -> None:
        """Start a worker for each waiting group beyond the idle workers, as far as allowed."""
        idle = [worker for worker in self._workers if not worker.items]
        shortage = len(self._waiting) - len(idle)
        allowed = self._number - len(self._workers)
        for _ in range(min(allowed, shortage)):
            self._workers.append(Worker(self._batch))

    def _workers_with_messages(self) -> list[Worker[KeyT, ResultT]]:
        """Return the workers that have sent a message, or ended; if there is none, wait for one, at
        most a second, and until a worker exceeds its limit.
        """
        listened_to: dict[Any, Worker[KeyT, ResultT]] = {}
        # how many seconds to wait
        patience = 1.0
        for worker in self._workers:
            # An idle worker sends no message, except that a new one is ready.
            if worker.items or (self._waiting and not worker.ready):
                listened_to[worker.connection] = worker
            if worker.at_work:
                patience = min(patience, self._seconds_left(worker))
        readable = wait(list(listened_to), max(patience, 0.0))
        return [listened_to[connection] for connection in readable]

    def _seconds_left(self, worker: Worker[KeyT, ResultT]) -> float:
        """Return the seconds until a worker at work exceeds its limit; negative afterwards."""
        timeout = self._batch.timeout
        if timeout is None:
            return float("inf")
        return worker.since + timeout + self._batch.patience - time.monotonic()

    def _handle_message(
        self, worker: Worker[KeyT, ResultT], started: Callable[[KeyT], object]
    ) -> Iterator[tuple[KeyT, ResultT]]:
        """Act on the next message of a worker; if it is a result, yield the item with it."""
        message = worker.receive()
        if isinstance(message, M2BridgeError):
            raise message
        if message is None:  # the process has ended, and closed its pipe
            yield from self._handle_exit(worker, beyond_limit=False)
        elif isinstance(message, Ready):
            worker.ready = True
        elif isinstance(message, Begun):
            worker.at_work = worker.has_ever_begun = True
            worker.since = time.monotonic()
            self._false_starts = 0
            started(worker.items[0])
        else:  # the worker has done its first item
            worker.at_work = False
            item = worker.items.popleft()
            if message.exhausted:  # a new worker performs the items that this one has not begun
                self._put_back(worker)
                worker.stop()
                self._leaving = [other for other in self._leaving if other.process.is_alive()]
                self._leaving.append(worker)
                self._workers.remove(worker)
            yield item, message.result

    def _handle_exit(
        self, worker: Worker[KeyT, ResultT], *, beyond_limit: bool
    ) -> Iterator[tuple[KeyT, ResultT]]:
        """Remove a worker that has ended, and let others perform its items; yield the item at which
        it ended if that is lost.
        """
        worker.connection.close()
        status = worker.end(1.0)
        LOG.info("the worker of process %s %s", worker.process.pid, exit_text(status))
        # Until it has ended it holds its temporary folder: if a signal ends the pool meanwhile, it
        # is waited for there, before the folders of killed workers are removed.
        self._workers.remove(worker)
        if not worker.has_ever_begun:
            self._false_starts += 1
            if self._false_starts >= 5:  # in a row: the next one would do the same
                raise BatchError(
                    f"worker processes end before they begin; the last one {exit_text(status)}"
                )
        if not worker.at_work:  # the cause is not one of its items
            self._put_back(worker)
            return
        item = worker.items.popleft()
        self._put_back(worker)
        self._deaths[item] += 1
        if beyond_limit:
            yield item, self._batch.outcome_of_lost(item, status=None)
        elif self._deaths[item] > 1:
            yield item, self._batch.outcome_of_lost(item, status)
        else:  # the first death at this item
            self._waiting.appendleft([item])

    def _put_back(self, worker: Worker[KeyT, ResultT]) -> None:
        """Take the items of this worker back, for the next free worker."""
        if worker.items:
            self._waiting.appendleft(worker.items)
            worker.items = deque()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *reason: object) -> None:
        """End all workers: each may clean up until the deadline, and is killed then."""
        for worker in self._workers:
            worker.stop()
        deadline = time.monotonic() + self._batch.shutdown_seconds
        for worker in (*self._workers, *self._leaving):
            worker.end(deadline - time.monotonic())
        # temporary folders of workers that were killed
        sweep()


@contextmanager
def block_interrupts(*more: signal.Signals) -> Iterator[None]:
    """Block Ctrl-C and ``more`` signals in the block, and for ever in processes and threads that it
    starts. Ctrl-C reaches all processes in the foreground; workers ignore it, and their parent ends
    them.
    """
    resource_tracker.ensure_running()  # its start in the block would unblock the signal
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, *more})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


@contextmanager
def defer_signals(*numbers: signal.Signals) -> Iterator[None]:
    """Handle signals, except those without a handler, only after the block, in whichever thread
    they arrive; of several the first one is handled. Processes that the block starts defer nothing.
    """
    # the signals that arrived during the block
    came: list[int] = []
    handled: dict[signal.Signals, Any] = {}
    # only the main thread sets handlers and runs them
    if threading.current_thread() is threading.main_thread():
        for number in numbers:
            handler = signal.getsignal(number)
            if callable(handler):
                handled[number] = handler
                signal.signal(number, lambda number, frame: came.append(number))
    try:
        yield
    finally:
        for number, handler in handled.items():
            signal.signal(number, handler)
        if came:
            signal.raise_signal(came[0])


@contextmanager
def _without_script() -> Iterator[None]:
    """Let workers that start in the block not run the script of this process: Python runs the main
    module again in each of them, and a script would then start workers again.
    """
    script = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = script


def prepare(*modules: str) -> None:
    """Start the server from which workers are forked, if it is not running, without waiting until
    it has imported ``modules`` for them; one that runs already imports nothing.
    """
    check_files(24)  # for a process and its first worker; each further worker takes three more
    # without modules the server imports the modules of an earlier call, if there are any
    if modules:
        CONTEXT.set_forkserver_preload(list(modules))
    with block_interrupts():  # which the server inherits
        _choose_folder()
        try:
            forkserver.ensure_running()
        except OSError as reason:
            raise BatchError(
                f"the server of worker processes cannot be started: {reason}"
            ) from None


@cache
def _choose_folder() -> None:
    """Let multiprocessing make its sockets in a folder with a short name that will be removed.

    By default it uses the folder for temporary files, whose name may be too long, and leaves a
    folder there if it is stopped by a signal.
    """
    for place in short_folders():
        with suppress(EngineError):  # no folder can be made there: the next place is tried
            # the folder is removed with its ``Scratch``, which is therefore kept until the end
            _kept.append(Scratch(place))
            # no public function sets the folder of the sockets
            configuration = multiprocessing.current_process()._config  # type: ignore[attr-defined]
            configuration["tempdir"] = str(_kept[-1].path)
            break
    else:
        raise BatchError("workers need a temporary folder with a short name: set TMPDIR to one")
    sweep()  # removes folders left by stopped processes


def check_files(least: int) -> None:
    """Check that enough open files are allowed, before starting processes fails halfway."""
    allowed = max_open_files()
    if allowed is not None and allowed < least:
        raise BatchError(
            f"workers need at least {least} open files; {allowed} are allowed here (ulimit -n)"
        )


def serve(line: Connection, batch: Batch[KeyT, ResultT]) -> None:
    """Run a worker: receive groups of items and send a result for each, until the pipe closes."""
    gc.freeze()  # so that workers share the memory of what the server has imported
    _end_with_parent()
    limits.start()  # errors about a limit then advise to change the option --timeout
    try:
        with batch.performer() as performer:
            if batch.memory is not None:
                limit_address_space(batch.memory)
            line.send(Ready())
            while True:
                for item in line.recv():
                    # the parent counts the time of an item from this message on
                    line.send(Begun())
                    report = Done(performer.perform(item), performer.exhausted)
                    line.send(report)
                    if report.exhausted:
                        return
    except M2BridgeError as reason:
        with suppress(BrokenPipeError, ConnectionResetError):  # another worker has said why
            line.send(reason)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass  # the parent closed the pipe


def _end_with_parent() -> None:
    """Let this process end as soon as its parent has ended, whatever it is doing.

    The end of the parent closes a pipe, which sends a signal. The parent never writes to this pipe,
    so the signal has no other cause. Ctrl-C is ignored, since the parent ends its workers itself.
    """
    parent = multiprocessing.parent_process()
    assert parent is not None
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, leave)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGALRM, signal.SIGTERM})
    end_with(parent.sentinel)
