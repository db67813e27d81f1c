"""What the check of one file may take."""

from __future__ import annotations

import fcntl
import multiprocessing
import os
import resource
import signal
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from m2bridge.batch.task import reason_of
from m2bridge.batch.worker import CONTEXT, ENDING, Begun, Ready, interrupts_held
from m2bridge.checker.verify import VerifyResult
from m2bridge.errors import InvalidCaseError
from m2bridge.limits import LONGEST, check_timeout, clock
from m2bridge.results.sheet import duration
from m2bridge.system import exit_text

LEAST_MEMORY = 256 * 2**20
"""Python with SymPy and FLINT maps 100 MiB of address space before it checks anything."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """Limits on the check of one file, which the system enforces.

    Parameters
    ----------
    timeout : float
        Seconds of wall time.
    memory : int
        Bytes of address space of the process that checks it.

    Raises
    ------
    InvalidCaseError
        If one of them is no limit, or too small to check anything.
    """

    timeout: float = 120.0
    memory: int = 2 * 2**30

    def __post_init__(self) -> None:
        check_timeout(self.timeout)
        if self.memory < LEAST_MEMORY:
            least = LEAST_MEMORY // 2**20
            raise InvalidCaseError("memory", f"what checks certificates needs {least}M of address space at least")


Check = Callable[[Path], VerifyResult]

OUT_OF_MEMORY = 77
"""Exit status of a process in which Python had no memory left; FLINT and GMP abort it then."""


class Verifier:
    """A process as its parent sees it.

    Attributes
    ----------
    connection : Connection
        Readable when a message is there, or the process has ended.
    ready : bool
    left : deque of Path
        The file that it is at, and those that come after it.
    begun : int
        How many of its files it has turned to.
    at_work : bool
        Whether it has turned to the first of those left: only then can that file be what ended it.
    """

    def __init__(self, allowance: Allowance, check: Check | None) -> None:
        self.connection, theirs = CONTEXT.Pipe()
        self.process = CONTEXT.Process(target=serve, args=(theirs, allowance, check), daemon=True)
        with interrupts_held(*ENDING):  # half a start makes the fork server complain
            self.process.start()
        theirs.close()
        self.ready = False
        self.left: deque[Path] = deque()
        self.begun = 0
        self.at_work = False

    def give(self, paths: Sequence[Path]) -> None:
        """Give it files."""
        self.left.extend(paths)
        with suppress(OSError):  # a dead process is noticed when its answer is awaited
            self.connection.send(paths)

    def receive(self) -> VerifyResult | Ready | Begun | None:
        """The message that is there; ``None`` if the process has ended."""
        try:
            return self.connection.recv()  # type: ignore[no-any-return]
        except (EOFError, OSError):
            return None

    def end(self) -> int:
        """See it ended; its exit status, negative for a signal."""
        self.connection.close()
        self.process.kill()
        self.process.join()
        return self.process.exitcode or 0


def by_limit(status: int, path: Path, allowance: Allowance) -> VerifyResult | None:
    """The finding about a file whose process ended with this status, if that was for a limit."""
    if status == -signal.SIGALRM:
        found = f"not decided within {duration(allowance.timeout)}; {clock().option} gives it more"
        return VerifyResult("too-expensive", str(path), "time", found=found)
    if status in (-signal.SIGABRT, -signal.SIGFPE, OUT_OF_MEMORY):  # GMP raises the second one for its own limits
        found = f"not decided within {allowance.memory / 2**30:.3g} GiB of memory; --memory gives it more"
        return VerifyResult("too-expensive", str(path), "memory", found=found)
    return None


def by_death(status: int, path: Path) -> VerifyResult:
    """The finding about a file at which processes end in another way."""
    return VerifyResult("failed", str(path), "process", found=f"what checks it {exit_text(status)}, twice")


def serve(line: Connection, allowance: Allowance, check: Check | None) -> None:
    """The life of a process: files come, findings go, one for each, until the line is closed."""
    _end_with_parent()
    _limit(resource.RLIMIT_CORE, 0)
    verify_path = check or _verify_path()
    _limit(resource.RLIMIT_AS, allowance.memory)
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        line.send(Ready())
        _be_quiet()
        while True:
            for path in line.recv():
                line.send(Begun())
                line.send(_finding(verify_path, path, allowance.timeout))


def _finding(check: Check, path: Path, seconds: float) -> VerifyResult:
    signal.setitimer(signal.ITIMER_REAL, min(seconds, LONGEST))
    try:
        return check(path)
    except MemoryError:
        os._exit(OUT_OF_MEMORY)
    except OSError as reason:
        return VerifyResult("failed", str(path), "reading", found=str(reason.strerror or reason))
    except Exception as reason:  # whatever it is, it becomes the finding about this file, and others get theirs
        return VerifyResult("failed", str(path), "m2bridge itself", found=reason_of(reason))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _end_with_parent() -> None:
    """End when the parent has ended, at once and whatever this process is at: its end of a pipe closes then.

    The parent never writes to this pipe again, so that the signal, which nobody handles, comes for nothing else.
    """
    parent = multiprocessing.parent_process()
    assert parent is not None
    for number in (signal.SIGALRM, signal.SIGIO):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGALRM, signal.SIGIO})
    fcntl.fcntl(parent.sentinel, fcntl.F_SETOWN, os.getpid())
    flags = fcntl.fcntl(parent.sentinel, fcntl.F_GETFL)
    fcntl.fcntl(parent.sentinel, fcntl.F_SETFL, flags | os.O_ASYNC)
    if not parent.is_alive():  # it ended before the signal was asked for
        os._exit(1)


def _limit(kind: int, wanted: int) -> None:
    """Lower a limit of this process; one that is lower already is left as it is."""
    limits = resource.getrlimit(kind)
    lowest = min(limit for limit in (wanted, *limits) if limit != resource.RLIM_INFINITY)
    resource.setrlimit(kind, (lowest, limits[1]))


def _be_quiet() -> None:
    """Drop what libraries say when they abort the process."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 2)
    os.close(nothing)


def _verify_path() -> Check:
    from m2bridge.crosscheck.verified import verify_path

    return verify_path
