"""Signals: those that end a command, and workers that Ctrl-C does not reach."""

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from multiprocessing import forkserver, resource_tracker
from multiprocessing.connection import Connection
from types import FrameType
from typing import NoReturn

import psutil

from m2bridge import limits as clock
from m2bridge.batch.certifier import Certifier, Settings
from m2bridge.batch.task import Task, TaskReport
from m2bridge.engine.scratch import Scratch, short_folders, sweep
from m2bridge.errors import BatchError, EngineError, M2BridgeError
from m2bridge.system import exit_text

ENDING = (signal.SIGTERM, signal.SIGHUP)
"""Signals that end a command in an orderly way, as Ctrl-C does."""


@contextmanager
def interrupts_held(*more: signal.Signals) -> Iterator[None]:
    """Hold Ctrl-C, and more signals, back during the block; for good in the processes and threads that it starts.

    Ctrl-C reaches the whole foreground group; workers leave it to their parent, which then ends them.
    """
    resource_tracker.ensure_running()  # started in the block it would let the signal through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, *more})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@dataclass(frozen=True, slots=True)
class Ready:
    """What a process says first, before it can be given work."""


@dataclass(frozen=True, slots=True)
class Begun:
    """What a process says when it turns to the next piece of work: until then that cannot be what ended it."""


CONTEXT = multiprocessing.get_context("forkserver")

LEAST_FILES = 24
"""Open files that a process needs to have one worker; each other one takes three more."""

_kept: list[Scratch] = []


def prepare(module: str = "m2bridge.batch.worker_imports") -> None:
    """Start it, if it does not run, without waiting until it has imported a module and what that needs.

    Raises
    ------
    BatchError
        If this process may not have as many open files as that takes, or there is no folder for its socket.
    """
    check_files(LEAST_FILES)
    CONTEXT.set_forkserver_preload([module])
    with interrupts_held():
        _choose_folder()
        try:
            forkserver.ensure_running()
        except OSError as reason:
            raise BatchError(f"the server of worker processes cannot be started: {reason}") from None


@cache
def _choose_folder() -> None:
    """Let multiprocessing put its sockets where their names are short enough, and where they are swept.

    By itself it takes the folder for temporary files, whose name may be long, and leaves one there if it is killed.
    """
    for place in short_folders():
        with suppress(EngineError):
            _kept.append(Scratch(place))
            multiprocessing.current_process()._config["tempdir"] = str(_kept[-1].path)  # type: ignore[attr-defined]
            sweep()
            return
    raise BatchError("workers need a temporary folder with a short name: let TMPDIR name one")


def check_files(least: int) -> None:
    """Refuse to start processes where the system allows too few open files, before that fails halfway.

    Raises
    ------
    BatchError
        If fewer are allowed.
    """
    allowed = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if allowed != resource.RLIM_INFINITY and allowed < least:
        raise BatchError(f"workers need {least} open files at least, and {allowed} are allowed here (ulimit -n)")


Message = tuple[TaskReport, int] | M2BridgeError | Ready | Begun
"""A report with the memory of the worker and its Macaulay2, a reason for not going on, or how far it has come."""

_FAREWELL = 5.0


class Worker:
    """A worker process as its parent sees it.

    Attributes
    ----------
    connection : Connection
        Readable when a message is there, or the worker has ended.
    ready : bool
    task : Task or None
        What it was given.
    at_work : bool
        Whether it has turned to it: only then can the task be what ended it.
    since : float
        When it was given it, on the monotonic clock.
    served : int
        How many tasks it has performed.
    """

    def __init__(self, settings: Settings) -> None:
        prepare()
        self.connection, theirs = CONTEXT.Pipe()
        self.process = CONTEXT.Process(target=serve, args=(theirs, settings), daemon=True)
        with interrupts_held(*ENDING):  # half a start makes the fork server complain
            try:
                self.process.start()
            except (EOFError, OSError) as reason:
                raise BatchError(f"a worker process cannot be started: {reason}") from None
        theirs.close()
        self.ready = False
        self.task: Task | None = None
        self.at_work = False
        self.since = 0.0
        self.served = 0

    def give(self, task: Task) -> None:
        """Give it a task."""
        self.task, self.since = task, time.monotonic()
        with suppress(OSError):  # a dead worker is noticed when its answer is awaited
            self.connection.send(task)

    def receive(self) -> Message | None:
        """The message that is there; ``None`` if the worker has ended."""
        try:
            return self.connection.recv()  # type: ignore[no-any-return]
        except (EOFError, OSError):
            return None

    def dismiss(self) -> None:
        """Let it end, by itself if it is idle, else in an orderly way in the middle of what it is at."""
        if self.task is not None or not self.ready:
            self.process.terminate()
        self.connection.close()

    def ended(self, deadline: float) -> str:
        """Wait for its end, at the deadline by force; how it ended."""
        self.process.join(max(deadline - time.monotonic(), 0))
        if self.process.exitcode is None:
            self.process.kill()
            self.process.join()
        return exit_text(self.process.exitcode or 0)


def serve(connection: Connection, settings: Settings) -> None:
    """The life of a worker: tasks come, reports go, until the line is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _leave)
    threading.Thread(target=_follow_parent, daemon=True).start()
    clock.start()  # a batch is a command's
    try:
        _work(connection, settings)
    except M2BridgeError as reason:
        connection.send(reason)
    except (EOFError, BrokenPipeError):
        pass  # the parent closed the line


def _work(connection: Connection, settings: Settings) -> NoReturn:
    with Certifier(settings) as certifier:
        if settings.memory is not None:
            resource.setrlimit(resource.RLIMIT_AS, (settings.memory, resource.getrlimit(resource.RLIMIT_AS)[1]))
        connection.send(Ready())
        while True:
            task = connection.recv()
            connection.send(Begun())
            report = certifier.perform(task)
            connection.send((report, resident_memory(os.getpid(), certifier.engine_pid)))


def resident_memory(*processes: int | None) -> int:
    """Bytes in physical memory of processes, as far as they are there."""
    total = 0
    for process in processes:
        if process is not None:
            with suppress(psutil.Error):
                total += psutil.Process(process).memory_info().rss
    return total


def _follow_parent() -> None:
    """End when the parent has ended, even in the middle of a task."""
    _parent().join()
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_FAREWELL)
    os._exit(1)


def _parent() -> multiprocessing.process.BaseProcess:
    parent = multiprocessing.parent_process()
    assert parent is not None
    return parent


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    raise SystemExit(128 + number)
