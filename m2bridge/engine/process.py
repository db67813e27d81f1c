"""One Macaulay2 process on a pseudo-terminal of its own.

The process leads a session of its own whose controlling terminal is ours: when this Python process
ends for whatever reason, SIGKILL included, the terminal closes and the kernel hangs Macaulay2 and
its children up, whether or not this process ignores that signal. The terminal is raw, so that
nothing is echoed or translated. Starting it forks no Python code, which keeps it safe in programs
with threads. What systems do in different ways is in :mod:`m2bridge.system`.
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

from m2bridge.engine.discovery import CALM
from m2bridge.limits import LONGEST_WAIT
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
    """A running program on a raw pseudo-terminal; killed when it is dropped.

    Parameters
    ----------
    program : Path
    arguments : sequence of str
    memory : int or None
        Limit on the address space, in bytes; that of this process when left out, and where the
        system sets none.
    folder : Path
        Where it puts temporary files; its home too, if this process has none.
    settings : mapping
        Environment variables for what this process has not set.
    """

    def __init__(
        self,
        program: Path,
        arguments: Sequence[str],
        memory: int | None,
        folder: Path,
        settings: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._master, slave = os.openpty()
        try:
            tty.setraw(slave)
            launch = (*launcher(os.ttyname(slave), memory), str(program), *arguments)
            self.pid = _spawn(launch, slave, _environment(folder, settings))
            self._terminal = fdspawn(
                self._master, maxread=65536, searchwindowsize=200, use_poll=polls_terminals()
            )
        except BaseException:
            os.close(self._master)
            raise
        finally:
            os.close(slave)
        self._finalizer = weakref.finalize(self, _end, self.pid, self._master)

    @property
    def peak_memory(self) -> int | None:
        """Bytes of resident memory at most, since its start or :meth:`forget_peak_memory`.

        ``None`` where the system does not say.
        """
        return peak_memory(self.pid)

    def forget_peak_memory(self) -> None:
        """Measure :attr:`peak_memory` from now on, where the system can do so (Linux)."""
        forget_peak_memory(self.pid)

    @property
    def has_ended(self) -> bool:
        """Whether it runs no more."""
        return not self._finalizer.alive or _has_ended(self.pid, patience=0)

    def send(self, text: str) -> None:
        """Type a short text in ASCII (a terminal holds 4 KiB that nobody has read)."""
        with suppress(OSError):  # a dead process is noticed when its answer is awaited
            self._terminal.send(text.encode("ascii"))

    def read_until(self, pattern: bytes, timeout: float | None) -> tuple[str, str]:
        """Wait for a pattern with one group.

        Returns
        -------
        before, group : str
            What was printed before the pattern, and the text of its group.

        Raises
        ------
        Ended, Overdue
            With what was printed as their argument.
        """
        awaited = [pattern, EOF, TIMEOUT]
        deadline = inf if timeout is None else time.monotonic() + timeout
        while True:
            found = awaited[self._terminal.expect(awaited, timeout=_seconds_until(deadline))]
            before = _text(self._terminal.before)
            if found is pattern:
                return before, _text(self._terminal.match.group(1))
            if found is EOF:
                raise Ended(before)
            if time.monotonic() >= deadline:
                raise Overdue(before)

    def stop(self) -> None:
        """Kill the process and no more, while another thread waits for what it says."""
        if self._finalizer.alive:
            kill_group(self.pid)

    def kill(self) -> int | None:
        """Kill the process and everything it started; its exit status, negative for a signal.

        An exit status of a process that had ended by itself is preserved. ``None`` if it is not
        known: somebody else has collected it, or the system has, because this process ignores
        SIGCHLD.
        """
        return self._finalizer()

    def disown(self) -> None:
        """Leave the program and its terminal to the parent, in a child made by ``fork``."""
        if self._finalizer.detach() is not None:
            os.close(self._master)


def _environment(folder: Path, settings: Mapping[str, str]) -> dict[str, str]:
    ours = {**CALM, **settings, **os.environ, "TERM": "dumb", "TMPDIR": str(folder)}
    if not ours.get("HOME"):  # Macaulay2 does not start without one
        ours["HOME"] = str(folder)
    return ours


def _spawn(command: tuple[str, ...], terminal: int, environment: Mapping[str, str]) -> int:
    """Start a program in a session of its own, without signals and files of this process.

    ``nohup`` lets a program ignore the signal by which a terminal says that it has closed, and so
    would all that the program starts.
    """
    standard = [(os.POSIX_SPAWN_DUP2, terminal, number) for number in range(3)]
    others = [(os.POSIX_SPAWN_CLOSE, number) for number in _inheritable()]
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
    """Open files, other than the standard ones, that a program started now would have too.

    Without those that were opened before the limit on their number was lowered: the system takes
    them for mistakes.
    """
    limit = os.sysconf("SC_OPEN_MAX")
    for number in map(int, os.listdir("/dev/fd")):
        with suppress(OSError):  # that of the listing itself
            if 2 < number < limit and os.get_inheritable(number):
                yield number


def _end(pid: int, master: int) -> int | None:
    """Kill a process and all that it started, and close its terminal, as :meth:`Process.kill`."""
    # A program that has closed its terminal is about to end, with an exit status that says why.
    patience = 0.02 if is_hung_up(master) else 0
    if not _has_ended(pid, patience):
        kill_group(pid)
    # The leader is waited for last: until then its id cannot be given to a stranger.
    deadline = time.monotonic() + 5
    while (members := list(_descendants(pid))) and time.monotonic() < deadline:
        for member in members:
            with suppress(ProcessLookupError):
                os.kill(member, signal.SIGKILL)
        time.sleep(0.001)
    os.close(master)
    try:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    except ChildProcessError:
        return None


def _has_ended(pid: int, patience: float) -> bool:
    """Whether a child has ended, or does within some seconds; its exit status is not collected."""
    deadline = time.monotonic() + patience
    while not has_ended(pid):
        if time.monotonic() >= deadline:
            return False
        time.sleep(0.001)
    return True


def _descendants(leader: int) -> Iterator[int]:
    """Living processes of a session other than its leader."""
    for pid in psutil.pids():
        if pid == leader:
            continue
        with suppress(OSError, psutil.Error):
            is_member = os.getsid(pid) == leader
            if is_member and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
                yield pid


def _seconds_until(deadline: float) -> float:
    return max(min(deadline - time.monotonic(), LONGEST_WAIT), 0)


def _text(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", errors="replace")
