"""A Macaulay2 process on its own pseudo-terminal.

The process leads its own session, whose controlling terminal belongs to this Python process. If
Python ends for whatever reason, SIGKILL included, the terminal closes and the kernel ends Macaulay2
and its children by SIGHUP, even if this process ignores that signal. The terminal is raw, so that
nothing is echoed or translated. The process is started without a fork of Python code, which is safe
in programs with threads. Differences between systems are in :mod:`m2bridge.system`.
"""

import os
import signal
import time
import tty
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from math import inf
from pathlib import Path
from types import MappingProxyType

import psutil
from pexpect import EOF, TIMEOUT
from pexpect.fdpexpect import fdspawn

from m2bridge.engine.discovery import ONE_BLAS_THREAD
from m2bridge.limits import MAX_WAIT_SECONDS
from m2bridge.system import (
    forget_peak_memory,
    has_ended,
    is_hung_up,
    kill_group,
    launcher,
    peak_memory,
    polls_terminals,
)

_UNCATCHABLE = {signal.SIGKILL, signal.SIGSTOP}


class Ended(Exception):
    """The process closed its terminal."""


class Overdue(Exception):
    """The process did not answer in time."""


class Process:
    """A running program on a raw pseudo-terminal; killed when the object is garbage-collected."""

    def __init__(
        self,
        program: Path,
        arguments: Sequence[str],
        memory: int | None,  # bytes of address space, where the system can set a limit
        folder: Path,  # for temporary files; the home folder if this process has none
        settings: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._master, slave = os.openpty()  # this side of the terminal, and the other
        try:
            # A raw terminal passes bytes on unchanged, and echoes nothing.
            tty.setraw(slave)
            launch = (*launcher(os.ttyname(slave), memory), str(program), *arguments)
            # a variable that the user has set counts, except the last two
            environment = {**ONE_BLAS_THREAD, **settings, **os.environ}
            environment |= {"TERM": "dumb", "TMPDIR": str(folder)}
            if not environment.get("HOME"):  # Macaulay2 does not start without one
                environment["HOME"] = str(folder)
            self.pid = _spawn(launch, slave, environment)
            # awaited texts are shorter than 200 bytes, so only the end of the output is searched
            self._terminal = fdspawn(
                self._master, maxread=65536, searchwindowsize=200, use_poll=polls_terminals()
            )
        except BaseException:
            os.close(self._master)
            raise
        finally:
            # The program has this side of the terminal open as well. While this process had it
            # open, the terminal would not report that the program has ended.
            os.close(slave)
        # kills the program and returns its exit status, once; it is alive until then
        self._finalizer = weakref.finalize(self, _end, self.pid, self._master)

    @property
    def peak_memory(self) -> int | None:
        """The largest resident memory in bytes, since its start or :meth:`forget_peak_memory`;
        ``None`` if the system does not report it.
        """
        return peak_memory(self.pid)

    def forget_peak_memory(self) -> None:
        """Measure :attr:`peak_memory` from now on, where the system can do so (Linux)."""
        forget_peak_memory(self.pid)

    @property
    def has_ended(self) -> bool:
        """Whether the process has ended."""
        return not self._finalizer.alive or _has_ended(self.pid, patience=0)

    def send(self, text: str) -> None:
        """Send a short ASCII text (a terminal buffers at most 4 KiB)."""
        with suppress(OSError):  # a dead process is noticed when its answer is awaited
            self._terminal.send(text.encode("ascii"))

    def read_until(self, pattern: bytes, timeout: float | None) -> tuple[str, str]:
        """Wait at most ``timeout`` seconds until the process prints what matches a pattern with one
        group; return the output before it, and its group. Ended and Overdue have the output as
        their argument.
        """
        awaited = [pattern, EOF, TIMEOUT]
        deadline = inf if timeout is None else time.monotonic() + timeout
        while True:
            seconds = max(min(deadline - time.monotonic(), MAX_WAIT_SECONDS), 0)
            # expect returns the index of what occurred first
            match = awaited[self._terminal.expect(awaited, timeout=seconds)]
            output = _text(self._terminal.before)
            if match is pattern:
                return output, _text(self._terminal.match.group(1))
            if match is EOF:
                raise Ended(output)
            # else only one wait is over, which is shorter than a long limit
            if time.monotonic() >= deadline:
                raise Overdue(output)

    def stop(self) -> None:
        """Only kill the process; another thread, which waits for its answer, does the rest."""
        if self._finalizer.alive:
            kill_group(self.pid)

    def kill(self) -> int | None:
        """Kill the process and its descendants; return its exit status, negative for a signal, its
        own if it had ended by itself, and ``None`` if the status was returned before or dropped by
        the system.
        """
        return self._finalizer()

    def disown(self) -> None:
        """Leave the program and its terminal to the parent, in a child made by ``fork``."""
        if self._finalizer.detach() is not None:
            os.close(self._master)


def _spawn(command: tuple[str, ...], terminal: int, environment: Mapping[str, str]) -> int:
    """Start a program in its own session, without open files and signal settings of this process;
    return its process id. ``terminal`` becomes its standard input, output and error.
    """
    standard = [(os.POSIX_SPAWN_DUP2, terminal, number) for number in range(3)]
    others = [(os.POSIX_SPAWN_CLOSE, number) for number in _inheritable()]
    # setsigmask: no signal is blocked; setsigdef: each has its usual effect, because under
    # ``nohup`` this process ignores SIGHUP, and its children would do so too
    return os.posix_spawn(
        command[0],
        command,
        environment,
        file_actions=[*standard, *others],
        setsid=True,
        setsigmask=(),
        setsigdef=signal.valid_signals() - _UNCATCHABLE,
    )


def _inheritable() -> Iterator[int]:
    """Yield open files, other than the standard ones, that a new program would inherit; the system
    would refuse to close files with numbers above the limit, which was lowered later.
    """
    limit = os.sysconf("SC_OPEN_MAX")
    for number in map(int, os.listdir("/dev/fd")):
        with suppress(OSError):  # the descriptor of the listing itself is closed by now
            if 2 < number < limit and os.get_inheritable(number):
                yield number


def _end(pid: int, master: int) -> int | None:
    """Kill a process and its descendants, close ``master``, this side of its terminal, and return
    the exit status, or ``None`` if the system has dropped it already.
    """
    # A program that has closed its terminal is about to end with an informative exit status.
    patience = 0.02 if is_hung_up(master) else 0
    if not _has_ended(pid, patience):
        kill_group(pid)
    # The leader is waited for last, so that the system does not give its id to another process
    # before its descendants are found by it.
    _kill_descendants(pid, patience=5)
    os.close(master)
    try:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    except ChildProcessError:
        return None


def _kill_descendants(leader: int, patience: float) -> None:
    """Kill the processes of the session of ``leader``, which may be in groups of their own, until
    none is left, for at most ``patience`` seconds; the leader itself is not killed.
    """
    deadline = time.monotonic() + patience
    members = list(_descendants(leader))
    while members and time.monotonic() < deadline:
        for member in members:
            with suppress(ProcessLookupError):
                os.kill(member, signal.SIGKILL)
        time.sleep(0.001)
        members = list(_descendants(leader))


def _has_ended(pid: int, patience: float) -> bool:
    """Return whether a child ends within ``patience`` seconds; its exit status is not collected."""
    deadline = time.monotonic() + patience
    while not has_ended(pid):
        if time.monotonic() >= deadline:
            return False
        time.sleep(0.001)
    return True


def _descendants(leader: int) -> Iterator[int]:
    """Yield the ids of the living processes of the session of ``leader``, except the leader."""
    for pid in psutil.pids():
        if pid == leader:
            continue
        with suppress(OSError, psutil.Error):
            is_member = os.getsid(pid) == leader
            if is_member and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
                yield pid


def _text(data: bytes | None) -> str:
    """Return output as text; ``None`` and bytes that are not UTF-8 occur, and are not errors."""
    return (data or b"").decode("utf-8", errors="replace")
