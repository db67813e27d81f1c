"""The computer and its Python: systems, signals, imports, folders of the installation, integers."""

import gc
import os
import re
import select
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from types import FrameType, ModuleType
from typing import NoReturn

from m2bridge.errors import MethodUnavailableError, ResourceError, UnsupportedSystemError
from m2bridge.limits import clock

POSIX = ("fcntl", "resource", "termios")
"""Modules of Python that Windows lacks, and sessions, locks and limits need."""


def cores() -> int:
    """Count the cores that this process may use; all where the system does not say (macOS)."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def check_system() -> None:
    """Check that m2bridge can work here, before an import fails.

    Raises
    ------
    UnsupportedSystemError
        If it cannot: on Windows.
    """
    if missing := [name for name in POSIX if find_spec(name) is None]:
        raise UnsupportedSystemError(
            "m2bridge needs Linux or macOS; on Windows install it in WSL, the Windows Subsystem"
            " for Linux ('wsl --install', then as README says). This Python has no module"
            f" {', '.join(missing)}"
        )


def peak_memory(pid: int) -> int | None:
    """Bytes of resident memory that a process had at most, by Linux's ``/proc``.

    Elsewhere, and of a process that has ended, ``None``.
    """
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    match = re.search(r"^VmHWM:\s*(\d+) kB$", status, re.MULTILINE)
    return int(match[1]) * 1024 if match else None


def forget_peak_memory(pid: int) -> None:
    """Measure :func:`peak_memory` from now on; nothing happens elsewhere than on Linux."""
    with suppress(OSError):
        Path(f"/proc/{pid}/clear_refs").write_text("5", encoding="ascii")


LIMITS_ARE_KEPT = sys.platform == "linux"
"""Whether the system keeps every limit that can be set; macOS refuses that of the address space."""


def lower_limit(kind: int, wanted: int) -> None:
    """Set a limit (``resource.RLIMIT_…``) of this process that is inherited, and never raise it.

    macOS refuses limits on the address space: there the limit is not set, and memory is limited by
    the system only.

    Raises
    ------
    ValueError
        On Linux, if the system refuses the limit.
    """
    import resource  # Windows lacks it, and is told so by whoever imports this module

    limits = resource.getrlimit(kind)
    lowest = min(limit for limit in (wanted, *limits) if limit != resource.RLIM_INFINITY)
    try:
        resource.setrlimit(kind, (lowest, limits[1]))
    except ValueError:
        if LIMITS_ARE_KEPT:
            raise


def end_with(pipe: int) -> None:
    """End at once, and whatever this process is at, when nobody holds the other end of a pipe.

    Nobody must ever write to it. On Linux a signal tells. Elsewhere a thread waits for the end, so
    that the process ends as soon as a computation in C gives Python's lock back.
    """
    if sys.platform == "linux":
        _end_by_signal(pipe)
    else:
        _end_by_thread(pipe)


def _end_by_signal(pipe: int) -> None:
    import fcntl  # Windows lacks it

    signal.signal(signal.SIGIO, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGIO})
    fcntl.fcntl(pipe, fcntl.F_SETOWN, os.getpid())
    flags = fcntl.fcntl(pipe, fcntl.F_GETFL)
    fcntl.fcntl(pipe, fcntl.F_SETFL, flags | os.O_ASYNC)
    closing = select.poll()
    closing.register(pipe, select.POLLIN)
    if closing.poll(0):  # it was closed before the signal was asked for
        os._exit(1)


def _end_by_thread(pipe: int) -> None:
    threading.Thread(target=_end_by_waiting, args=(pipe,), daemon=True).start()


def _end_by_waiting(pipe: int) -> None:
    closing = select.poll()
    closing.register(pipe, select.POLLIN)
    closing.poll()
    os._exit(1)


def exit_text(status: int) -> str:
    """Say how a process ended, by its exit status, negative for a signal; to follow its name."""
    if status < 0:
        return f"was killed by {signal.Signals(-status).name}"
    return f"ended with exit status {status}"


def signal_of(status: int | None) -> signal.Signals | None:
    """The signal that ended a program, or one that a shell script called last."""
    if status is None:
        return None
    number = -status if status < 0 else status - 128  # the status of such a script is 128 + n
    return signal.Signals(number) if number in set(signal.Signals) else None


def leave(number: int, frame: FrameType | None) -> NoReturn:
    """End at a signal in an orderly way, so that Macaulay2 and temporary files go too."""
    raise SystemExit(128 + number)


class _Look:
    """Looks at the clock when a module is sought, and finds none."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        """Find nothing, in time."""
        running = clock()
        if running.now() > running.deadline:
            raise running.late("loading Python's modules")


@contextmanager
def importing() -> Iterator[None]:
    """Hold signals back, and garbage collection off, while a block imports modules.

    Libraries may swallow the exception that a signal raises while they are imported, so the clock
    is looked at before each module. What is imported stays: collecting it only costs time, now and
    at the end.

    Raises
    ------
    TimeLimitError
        If the limit is reached; on a busy machine, or from a slow disk, imports take long.
    """
    before = signal.pthread_sigmask(
        signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM}
    )
    sys.meta_path.insert(0, _Look)
    try:
        with collection_paused():
            yield
            gc.freeze()
    finally:
        sys.meta_path.remove(_Look)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def imported(name: str) -> ModuleType:
    """A module; imported as by :func:`importing`, unless it is there already."""
    if name not in sys.modules:
        with importing():
            import_module(name)
    return sys.modules[name]


def library(name: str, need: str) -> ModuleType:
    """A module of a package that is not installed with m2bridge.

    Raises
    ------
    MethodUnavailableError
        With the words on what needs it, if it is missing.
    """
    try:
        return import_module(name)
    except ImportError:
        raise MethodUnavailableError(need) from None


@contextmanager
def collection_paused() -> Iterator[None]:
    """Hold the collector off while a block makes many objects that stay.

    It would look at them again and again.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


_PACKAGE = Path(__file__).resolve().parent


def folder(name: str) -> Path:
    """The folder ``templates`` (Jinja, one for each computation) or ``m2scripts``.

    Raises
    ------
    ResourceError
        If it is neither in the package nor beside it.
    """
    for candidate in (_PACKAGE / name, _PACKAGE.parent / name):
        if candidate.is_dir():
            return candidate
    raise ResourceError(
        f"the folder '{name}' is missing from this installation of m2bridge; reinstall it"
    )


def m2script(name: str) -> Path:
    """Path of the shared Macaulay2 script ``name`` (without ``.m2``)."""
    path = folder("m2scripts") / f"{name}.m2"
    if not path.is_file():
        raise ResourceError(
            f"the Macaulay2 script '{path.name}' is missing from this installation of m2bridge"
        )
    return path


_lock = Lock()
_users = 0
_before = 0


@contextmanager
def any_length() -> Iterator[None]:
    """Lift Python's limit while results are written; reading has limits of its own.

    The limit belongs to the whole process: the first thread that comes lifts it, the last one puts
    it back.
    """
    global _users, _before
    with _lock:
        if _users == 0:
            _before = sys.get_int_max_str_digits()
            sys.set_int_max_str_digits(0)
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                sys.set_int_max_str_digits(_before)


def integer(text: str) -> int:
    """The integer written in decimal, of any length (Python's own limit is 4300 digits)."""
    if len(text) < 4000:
        return int(text)
    import flint  # only here: it would slow the start of every command

    return int(flint.fmpz(text))


def decimal(n: int) -> str:
    """The integer in decimal digits, of any length."""
    if -(1 << 13000) < n < 1 << 13000:
        return str(n)
    import flint

    return str(flint.fmpz(n).str())
