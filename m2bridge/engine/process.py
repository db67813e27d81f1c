"""One Macaulay2 process on a pseudo-terminal of its own.

The process leads a session of its own whose controlling terminal is ours: when this Python process ends for whatever
reason, SIGKILL included, the terminal closes and the kernel hangs Macaulay2 and its children up. The terminal is raw,
so that nothing is echoed or translated. Starting it forks no Python code, which keeps it safe in programs with threads.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
import tty
from collections.abc import Iterator, Sequence
from contextlib import suppress
from math import inf
from pathlib import Path

import psutil
from pexpect import EOF, TIMEOUT
from pexpect.fdpexpect import fdspawn

# $1 terminal, $2 limit in KiB or "unlimited"; opening the terminal makes it the controlling one.
_LAUNCH = 'ulimit -c 0; ulimit -v "$2" || exit 97; exec 0<>"$1" 1>&0 2>&0; shift 2; exec "$@"'

_LONGEST_WAIT = 86400.0
"""Seconds; the system's call takes 24 days at most."""


class Ended(Exception):
    """The process closed its terminal."""


class Overdue(Exception):
    """The process did not answer in time."""


class Process:
    """A running program on a raw pseudo-terminal.

    Parameters
    ----------
    program : Path
    arguments : sequence of str
    memory : int or None
        Limit on the address space, in bytes.
    """

    def __init__(self, program: Path, arguments: Sequence[str], memory: int | None) -> None:
        limit = "unlimited" if memory is None else str(max(memory // 1024, 1))
        self._master, slave = os.openpty()
        try:
            tty.setraw(slave)
            self._child = subprocess.Popen(
                ["/bin/sh", "-c", _LAUNCH, "sh", os.ttyname(slave), limit, str(program), *arguments],
                stdin=slave,
                stdout=slave,
                stderr=slave,
                start_new_session=True,
                # OpenBLAS takes 32 MiB of address space for each core, and tries for ever where a limit denies it.
                env={"OPENBLAS_NUM_THREADS": "1", **os.environ, "TERM": "dumb"},
            )
            self._terminal = fdspawn(self._master, maxread=65536, searchwindowsize=200, use_poll=True)
        except BaseException:
            os.close(self._master)
            raise
        finally:
            os.close(slave)

    @property
    def pid(self) -> int:
        """Process id, and id of the process group and session that it leads."""
        return self._child.pid

    @property
    def peak_memory(self) -> int | None:
        """Largest resident memory of the process since its start, or since :meth:`forget_peak_memory`, in bytes.

        ``None`` where the system does not say.
        """
        try:
            status = Path(f"/proc/{self.pid}/status").read_text(encoding="ascii", errors="replace")
        except OSError:
            return None
        found = re.search(r"^VmHWM:\s*(\d+) kB$", status, re.MULTILINE)
        return int(found[1]) * 1024 if found else None

    def forget_peak_memory(self) -> None:
        """Measure :attr:`peak_memory` from now on, where the system can do so (Linux)."""
        with suppress(OSError):
            Path(f"/proc/{self.pid}/clear_refs").write_text("5", encoding="ascii")

    def send(self, text: str) -> None:
        """Type a short text (a terminal holds 4 KiB that nobody has read)."""
        with suppress(OSError):  # a dead process is noticed when its answer is awaited
            self._terminal.send(text.encode())

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
        deadline = inf if timeout is None else time.monotonic() + timeout
        while not self._comes(pattern, min(deadline - time.monotonic(), _LONGEST_WAIT)):
            if time.monotonic() >= deadline:
                raise Overdue(_text(self._terminal.before))
        return _text(self._terminal.before), _text(self._terminal.match.group(1))

    def _comes(self, pattern: bytes, seconds: float) -> bool:
        try:
            return int(self._terminal.expect([pattern, TIMEOUT], timeout=max(seconds, 0))) == 0
        except EOF:
            raise Ended(_text(self._terminal.before)) from None

    def kill(self) -> int:
        """Kill the process and everything it started; the exit status, as in :attr:`subprocess.Popen.returncode`.

        An exit status of a process that had ended by itself is preserved.
        """
        with suppress(OSError):
            os.close(self._master)
        if not self._has_ended():
            os.killpg(self.pid, signal.SIGKILL)
        # The leader is waited for last: until then its id cannot be given to a stranger.
        deadline = time.monotonic() + 5
        while (members := list(self._descendants())) and time.monotonic() < deadline:
            for member in members:
                with suppress(ProcessLookupError):
                    os.kill(member, signal.SIGKILL)
            time.sleep(0.001)
        return self._child.wait()

    def _has_ended(self) -> bool:
        """Whether the process has ended, without collecting its exit status; waits a moment after a closed terminal."""
        for _ in range(20):
            if os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
                return True
            time.sleep(0.001)
        return False

    def _descendants(self) -> Iterator[int]:
        """Living processes of our session other than its leader."""
        for pid in psutil.pids():
            with suppress(OSError, psutil.Error):
                if os.getsid(pid) == self.pid != pid and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
                    yield pid


def _text(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", errors="replace")
