"""Worker processes that perform a function on many items, each item within limits of its own.

Workers are forked from a server that has imported what they need. A worker says when it is ready
and when it begins an item, so that its parent knows which item it was at when it ends, and when it
is late. Nothing here knows what is computed: a :class:`Batch` does.
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
from m2bridge.batch import FALSE_STARTS, LAST, LEAST_FILES
from m2bridge.engine.scratch import Scratch, short_folders, sweep
from m2bridge.errors import BatchError, EngineError, M2BridgeError
from m2bridge.system import cores, end_with, exit_text, leave, limit_address_space, open_files

KeyT = TypeVar("KeyT", bound=Hashable)
ResultT = TypeVar("ResultT")

ENDING = (signal.SIGTERM, signal.SIGHUP)
"""Signals that end a command in an orderly way, as Ctrl-C does."""

CONTEXT = multiprocessing.get_context("forkserver")

_kept: list[Scratch] = []


class Performer(Generic[KeyT, ResultT]):
    """The part of a pool that is in a worker; a context manager, entered when the worker begins."""

    @property
    def exhausted(self) -> bool:
        """Whether a fresh worker should take the place of this one."""
        return False

    def perform(self, item: KeyT) -> ResultT:
        """Compute the result for an item."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *reason: object) -> None:
        """End what it has begun."""


class Batch(Generic[KeyT, ResultT]):
    """Work on many items: its limits, what performs it, and the result for an item that is lost.

    It crosses processes.

    Attributes
    ----------
    timeout : float or None
        Seconds for each item.
    memory : int or None
        Bytes of address space of a worker.
    module : str
        What workers import before the first one begins.
    patience : float
        Seconds after the limit of an item, when its worker is killed: it sits in code that cannot
        be interrupted.
    farewell : float
        Seconds that workers have at the end of a pool to end what they are at in an orderly way.
    """

    __slots__ = ()
    timeout: float | None
    memory: int | None
    module: ClassVar[str]
    patience: ClassVar[float] = 0.0
    farewell: ClassVar[float] = 5.0

    def make_folder(self) -> None:
        """Make the folder of results, if there is one."""

    def performer(self) -> Performer[KeyT, ResultT]:
        """Return what performs items in a worker."""
        raise NotImplementedError

    def lost(self, item: KeyT, status: int | None) -> ResultT:
        """The result for an item at which workers ended.

        Their exit status is ``None`` if the item was not done in time, and 0 if nobody knows it.
        """
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Ready:
    """The first message of a worker: it can be given items."""


@dataclass(frozen=True, slots=True)
class Begun:
    """The message that a worker starts an item; a crash before it is not the item's fault."""


@dataclass(frozen=True, slots=True)
class Done(Generic[ResultT]):
    """The message with a result; an exhausted worker ends after it."""

    result: ResultT
    exhausted: bool


Message = Done[ResultT] | M2BridgeError | Ready | Begun
"""A result, a reason for not going on, or how far a worker has come."""


class Worker(Generic[KeyT, ResultT]):
    """A worker process as its parent sees it.

    Attributes
    ----------
    connection : Connection
        Readable when a message is there, or the worker has ended.
    ready : bool
        Whether it can be given items.
    items : deque of KeyT
        The item that it is at, and those that come after it.
    at_work : bool
        Whether it has started the first of them: only then can that item be what ended it.
    since : float
        When it started that, on the monotonic clock.
    proved : bool
        Whether it has ever started an item.
    """

    def __init__(self, batch: Batch[KeyT, ResultT]) -> None:
        prepare()
        self.connection, theirs = CONTEXT.Pipe()
        self.process = CONTEXT.Process(target=serve, args=(theirs, batch), daemon=True)
        # half a start makes the fork server complain
        with interrupts_held(*ENDING), _without_script():
            try:
                self.process.start()
            except (EOFError, OSError) as reason:
                raise BatchError(f"a worker process cannot be started: {reason}") from None
        theirs.close()
        self.ready = self.at_work = self.proved = False
        self.items: deque[KeyT] = deque()
        self.since = 0.0

    def give(self, items: Iterable[KeyT]) -> None:
        """Give it items."""
        self.items = deque(items)
        with suppress(OSError):  # a dead worker is noticed when its answer is awaited
            self.connection.send(list(self.items))

    def receive(self) -> Message[ResultT] | None:
        """The message that is there; ``None`` if the worker has ended."""
        try:
            return self.connection.recv()  # type: ignore[no-any-return]
        except (EOFError, OSError):
            return None

    def dismiss(self) -> None:
        """Let it end: by itself if it is idle, else in the middle of what it is at, in order."""
        if self.items or not self.ready:
            self.process.terminate()
        self.connection.close()

    def end(self, patience: float) -> int:
        """Wait so many seconds for its end, then force it; the status, negative for a signal."""
        self.process.join(max(patience, 0))
        if self.process.exitcode is None:
            self.process.kill()
            self.process.join()
        return self.process.exitcode or 0


class Pool(Generic[KeyT, ResultT]):
    """A pool of worker processes; a context manager, at whose end all of them have ended.

    A worker is replaced when it has died, and when it is exhausted. The item at which a worker died
    is performed once more by another one: the items before it may have left too little memory, and
    whoever killed the worker may have meant another. The second death counts.

    Parameters
    ----------
    batch : Batch
    workers : int, optional
        One for each core that this process may use, when left out.
    """

    def __init__(self, batch: Batch[KeyT, ResultT], workers: int | None = None) -> None:
        batch.make_folder()
        prepare(batch.module)
        self._batch = batch
        self._number = workers or cores()
        self._workers: list[Worker[KeyT, ResultT]] = []
        self._leaving: list[Worker[KeyT, ResultT]] = []
        self._false_starts = 0

    def run(self, items: Iterable[KeyT], started: Callable[[KeyT], object]) -> Iterator[ResultT]:
        """Perform items, as :meth:`results`; the results in the order in which they arrive.

        The last few begin in reverse: if long ones come last, the longest begins first, and workers
        end together.
        """
        listed = list(items)
        early = max(len(listed) - LAST * self._number, 0)
        arranged = [*listed[:early], *reversed(listed[early:])]
        return (result for _, result in self.results([[item] for item in arranged], started))

    def results(
        self,
        groups: Iterable[Iterable[KeyT]],
        started: Callable[[KeyT], object] = lambda item: None,
    ) -> Iterator[tuple[KeyT, ResultT]]:
        """Perform items; each with its result, in the order in which they arrive.

        Parameters
        ----------
        groups : iterable of iterables of items
            Each is given to one worker, unless that dies.
        started : callable
            Is told of each item when a worker starts it.

        Raises
        ------
        BatchError
            If workers do not start.
        M2BridgeError
            If a worker raises it.
        """
        self._waiting: deque[Iterable[KeyT]] = deque(groups)
        self._deaths = Counter[KeyT]()
        while self._waiting or any(worker.items for worker in self._workers):
            self._recruit()
            for worker in self._workers:
                if self._waiting and worker.ready and not worker.items:
                    worker.give(self._waiting.popleft())
            for worker in self._speaking():
                yield from self._hear(worker, started)
            at_work = [worker for worker in self._workers if worker.at_work]
            for worker in at_work:
                if self._left(worker) >= 0:
                    continue
                worker.process.kill()
                yield from self._bury(worker, late=True)

    def _recruit(self) -> None:
        """Start workers, as many as are of use."""
        idle = [worker for worker in self._workers if not worker.items]
        for _ in range(min(self._number - len(self._workers), len(self._waiting) - len(idle))):
            self._workers.append(Worker(self._batch))

    def _speaking(self) -> list[Worker[KeyT, ResultT]]:
        """Workers with something to hear, after a moment at most."""
        lines: dict[Any, Worker[KeyT, ResultT]] = {}
        moment = 1.0
        for worker in self._workers:
            # An idle worker has nothing to say, unless it is awaited.
            if worker.items or (self._waiting and not worker.ready):
                lines[worker.connection] = worker
            if worker.at_work:
                moment = min(moment, self._left(worker))
        return [lines[connection] for connection in wait(list(lines), max(moment, 0.0))]

    def _left(self, worker: Worker[KeyT, ResultT]) -> float:
        """The seconds until a worker that is at work is late."""
        timeout = self._batch.timeout
        if timeout is None:
            return float("inf")
        return worker.since + timeout + self._batch.patience - time.monotonic()

    def _hear(
        self, worker: Worker[KeyT, ResultT], started: Callable[[KeyT], object]
    ) -> Iterator[tuple[KeyT, ResultT]]:
        message = worker.receive()
        if isinstance(message, M2BridgeError):
            raise message
        if message is None:
            yield from self._bury(worker, late=False)
        elif isinstance(message, Ready):
            worker.ready = True
        elif isinstance(message, Begun):
            worker.at_work = worker.proved = True
            worker.since = time.monotonic()
            self._false_starts = 0
            started(worker.items[0])
        else:
            worker.at_work = False
            item = worker.items.popleft()
            if message.exhausted:
                self._put_back(worker)
                worker.dismiss()
                self._workers.remove(worker)
                self._leaving = [left for left in self._leaving if left.process.is_alive()]
                self._leaving.append(worker)
            yield item, message.result

    def _bury(self, worker: Worker[KeyT, ResultT], *, late: bool) -> Iterator[tuple[KeyT, ResultT]]:
        """The meaning of the end of a worker for the items that it had."""
        self._workers.remove(worker)
        worker.connection.close()
        status = worker.end(1.0)
        if not worker.proved:
            self._false_starts += 1
            if self._false_starts >= FALSE_STARTS:
                raise BatchError(
                    f"worker processes end before they begin; the last one {exit_text(status)}"
                )
        if not worker.at_work:  # none of its items is to blame
            self._put_back(worker)
            return
        item = worker.items.popleft()
        self._put_back(worker)
        self._deaths[item] += 1
        if late:
            yield item, self._batch.lost(item, status=None)
        elif self._deaths[item] > 1:
            yield item, self._batch.lost(item, status)
        else:
            self._waiting.appendleft([item])

    def _put_back(self, worker: Worker[KeyT, ResultT]) -> None:
        if worker.items:
            self._waiting.appendleft(worker.items)
            worker.items = deque()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *reason: object) -> None:
        for worker in self._workers:
            worker.dismiss()
        deadline = time.monotonic() + self._batch.farewell
        for worker in (*self._workers, *self._leaving):
            worker.end(deadline - time.monotonic())
        sweep()


@contextmanager
def interrupts_held(*more: signal.Signals) -> Iterator[None]:
    """Hold Ctrl-C, and more signals, back during the block.

    The processes and threads that it starts never get them. Ctrl-C reaches the whole foreground
    group; workers leave it to their parent, which then ends them.
    """
    resource_tracker.ensure_running()  # started in the block it would let the signal through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, *more})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def signals_deferred(*numbers: signal.Signals) -> Iterator[None]:
    """Let signals wait until the block is over, whichever thread they reach.

    Processes that it starts do not wait. A signal that ends the process anyway, because nobody
    handles it, does so.
    """
    came: list[int] = []
    handled: dict[signal.Signals, Any] = {}
    # only it sets handlers, and runs them
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
    """Let workers not run the script of this process, which may start workers in its turn."""
    script = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = script


def prepare(*modules: str) -> None:
    """Start the server from which workers are forked, if it does not run.

    Nobody waits here until it has imported modules, which workers need, and what those need.

    Raises
    ------
    BatchError
        If this process may not have as many open files as that takes, or there is no folder for its
        socket.
    """
    check_files(LEAST_FILES)
    if modules:
        CONTEXT.set_forkserver_preload(list(modules))
    with interrupts_held():
        _choose_folder()
        try:
            forkserver.ensure_running()
        except OSError as reason:
            raise BatchError(
                f"the server of worker processes cannot be started: {reason}"
            ) from None


@cache
def _choose_folder() -> None:
    """Let multiprocessing put its sockets where names are short enough, and where they are swept.

    By itself it takes the folder for temporary files, whose name may be long, and leaves one there
    if it is killed.
    """
    for place in short_folders():
        with suppress(EngineError):
            _kept.append(Scratch(place))
            configuration = multiprocessing.current_process()._config  # type: ignore[attr-defined]
            configuration["tempdir"] = str(_kept[-1].path)
            sweep()
            return
    raise BatchError("workers need a temporary folder with a short name: let TMPDIR name one")


def check_files(least: int) -> None:
    """Refuse to start processes where the system allows too few open files: that fails halfway.

    Raises
    ------
    BatchError
        If fewer are allowed.
    """
    allowed = open_files()
    if allowed is not None and allowed < least:
        raise BatchError(
            f"workers need {least} open files at least, and {allowed} are allowed here (ulimit -n)"
        )


def serve(line: Connection, batch: Batch[KeyT, ResultT]) -> None:
    """The life of a worker: groups of items come, a result goes for each, until the line closes."""
    gc.freeze()  # so that workers share the memory of what the server has imported
    _end_with_parent()
    limits.start()  # a pool is a command's
    try:
        with batch.performer() as performer:
            if batch.memory is not None:
                limit_address_space(batch.memory)
            line.send(Ready())
            while True:
                for item in line.recv():
                    line.send(Begun())
                    done = Done(performer.perform(item), performer.exhausted)
                    line.send(done)
                    if done.exhausted:
                        return
    except M2BridgeError as reason:
        line.send(reason)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass  # the parent closed the line


def _end_with_parent() -> None:
    """End when the parent has ended, at once and whatever this process is at.

    The parent's end of a pipe closes then, which a signal tells. The parent never writes to this
    pipe again, so that the signal, which nobody handles, comes for nothing else.
    """
    parent = multiprocessing.parent_process()
    assert parent is not None
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, leave)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGALRM, signal.SIGTERM})
    end_with(parent.sentinel)
