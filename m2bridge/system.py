"""The computer: what systems have in different ways, signals, the installation, integers.

What only Linux has stands here and nowhere else, behind one function each, with what happens on
other systems (macOS) in its docstring.
"""

import gc
import os
import re
import select
import signal
import sys
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from threading import RLock
from types import FrameType

from m2bridge.errors import ResourceError, UnsupportedSystemError

LINUX = sys.platform == "linux"
"""Whether this is Linux; functions of this file ask it, and others ask these functions."""

POSIX = ("fcntl", "resource", "termios")
"""Modules of Python that Windows lacks, and sessions, locks and limits need."""


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


def cores() -> int:
    """Count the cores that this process may use; all where the system does not say (macOS)."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


# Memory and files: what is used, and what is allowed.


def peak_memory(pid: int) -> int | None:
    """Bytes of resident memory that a process had at most, by Linux's ``/proc``.

    Elsewhere, and of a process that has ended, ``None``.
    """
    if not LINUX:
        return None
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    match = re.search(r"^VmHWM:\s*(\d+) kB$", status, re.MULTILINE)
    return int(match[1]) * 1024 if match else None


def forget_peak_memory(pid: int) -> None:
    """Measure :func:`peak_memory` from now on; nothing happens elsewhere than on Linux."""
    if LINUX:
        with suppress(OSError):
            Path(f"/proc/{pid}/clear_refs").write_text("5", encoding="ascii")


def limits_memory() -> bool:
    """Whether limits on the address space are set and kept; macOS refuses them.

    There memory is limited by the system only.
    """
    return LINUX


def address_space() -> int | None:
    """Bytes of address space for this process and those that it starts; ``None`` if no limit is."""
    import resource  # Windows lacks it, and is told so by whoever imports this module

    return _limit(resource.RLIMIT_AS)


def limit_address_space(most: int) -> None:
    """Limit the address space of this process, and of those that it starts; it is never raised.

    Where :func:`limits_memory` is false nothing happens.

    Raises
    ------
    ValueError
        If Linux refuses the limit.
    """
    import resource

    if limits_memory():
        _lower(resource.RLIMIT_AS, most)


def leave_no_dump() -> None:
    """Let this process, and those that it starts, write no file when they crash."""
    import resource

    _lower(resource.RLIMIT_CORE, 0)


def open_files() -> int | None:
    """How many files this process may have open; ``None`` if no limit is."""
    import resource

    return _limit(resource.RLIMIT_NOFILE)


def _limit(kind: int) -> int | None:
    """A limit (``resource.RLIMIT_…``) of this process; ``None`` if there is none."""
    import resource

    limit = resource.getrlimit(kind)[0]
    return None if limit == resource.RLIM_INFINITY else limit


def _lower(kind: int, wanted: int) -> None:
    """Set such a limit, which other processes that are started inherit, and never raise it."""
    import resource

    limits = resource.getrlimit(kind)
    lowest = min(limit for limit in (wanted, *limits) if limit != resource.RLIM_INFINITY)
    resource.setrlimit(kind, (lowest, limits[1]))


PSEUDO_FILES = ("/proc", "/sys", "/dev")
"""Where systems have what looks like files and is none, such as the environment of processes."""


def path_of_open(descriptor: int, path: str) -> str:
    """A path by which a library opens what is open already, whatever has its name by then.

    Elsewhere than on Linux it is the path itself.
    """
    if LINUX:
        return f"/proc/self/fd/{descriptor}"
    return path


# How processes begin and end.

NO_LIMIT = 97
"""Exit status where the system refuses the limit on memory of :func:`launcher`."""

# $1 terminal, which becomes the controlling one when it is opened; $2 limit in KiB, or nothing; $3
# whether to ask the system for a signal on the end of the thread that started this (where there is
# a recent setpriv).
_LAUNCH = f"""
ulimit -c 0
if [ -n "$2" ]; then ulimit -v "$2" || exit {NO_LIMIT}; fi
exec 0<>"$1" 1>&0 2>&0
watched=$3
shift 3
if [ -n "$watched" ] && setpriv --pdeathsig KILL true 2>/dev/null; then
    set -- setpriv --pdeathsig KILL "$@"
fi
exec "$@"
"""


def launcher(terminal: str, memory: int | None) -> tuple[str, ...]:
    """The words before a command that is to run on a terminal of its own, in a session of its own.

    On Linux it has so many bytes of address space, and the system kills it when the main thread of
    this process ends, if that has started it: other threads may end before. Elsewhere it has no
    limit, and ends when its terminal is closed, as it does on Linux too.
    """
    limit = ""
    if memory is not None and limits_memory():
        limit = str(max(memory // 1024, 1))
    is_main = threading.current_thread() is threading.main_thread()
    watched = "yes" if LINUX and is_main else ""
    return ("/bin/sh", "-c", _LAUNCH, "sh", terminal, limit, watched)


def has_ended(child: int) -> bool:
    """Whether a child process runs no more; its exit status is left for who waits for it.

    Python has no ``waitid`` on macOS before 3.13; there psutil says whether a child is a zombie.
    """
    if hasattr(os, "waitid"):
        try:
            ended = os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return True
        return ended is not None
    import psutil  # only here: it would slow the start of every command

    try:
        return bool(psutil.Process(child).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


def kill_group(leader: int) -> None:
    """Kill a group of processes, if it has some.

    Where all have ended but were not waited for, macOS says that it is not permitted.
    """
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)


def polls_terminals() -> bool:
    """Whether ``poll`` can wait for terminals; on macOS only ``select`` can."""
    return LINUX


def is_hung_up(terminal: int) -> bool:
    """Whether nobody holds the other end of a terminal, or this cannot be known (macOS)."""
    if not polls_terminals():
        return True
    poll = select.poll()
    poll.register(terminal, 0)
    return bool(poll.poll(0))


def end_with(pipe: int) -> None:
    """End at once, and whatever this process is at, when nobody holds the other end of a pipe.

    Nobody must ever write to it. On Linux a signal tells. Elsewhere a thread waits for the end, so
    that the process ends as soon as a computation in C gives Python's lock back.
    """
    if LINUX:
        _end_by_signal(pipe)
    else:
        threading.Thread(target=_end_by_waiting, args=(pipe,), daemon=True).start()


def _end_by_signal(pipe: int) -> None:
    """Let the system send SIGIO when something happens to the pipe, which ends the process."""
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


def _end_by_waiting(pipe: int) -> None:
    """Wait until something happens to the pipe, and end."""
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


def write_aside(content: str | bytes, target: Path) -> None:
    """Write a file under another name first, which is then changed; text in UTF-8.

    So there is never half of the file, and one that is there is replaced at once or not at all. It
    keeps its permissions.
    """
    import tempfile  # and much more with it, which most commands do without

    if isinstance(content, str):
        content = content.encode()
    target.parent.mkdir(parents=True, exist_ok=True)
    descriptor, aside = tempfile.mkstemp(prefix=".", suffix=".partial", dir=target.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            # renamed before it is on the disk, it could be empty after a power cut
            os.fsync(file.fileno())
        permissions = target.stat().st_mode & 0o777 if target.exists() else 0o644
        os.chmod(aside, permissions)
        os.replace(aside, target)
    except BaseException:
        Path(aside).unlink(missing_ok=True)
        raise


def is_aside(name: str) -> bool:
    """Whether a file has a name under which :func:`write_aside` writes."""
    return re.fullmatch(r"\.[a-z0-9_]{8}\.partial", name) is not None


def save(content: str | bytes, path: Path) -> None:
    """Write what a person wants at this path: a file, by :func:`write_aside`, or a pipe."""
    if path.exists() and not path.is_file():  # a pipe, or a device
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    else:
        write_aside(content, path.resolve())


def leave(number: int, frame: FrameType | None) -> None:
    """End at a signal in an orderly way, so that Macaulay2 and temporary files go too."""
    if not threading.main_thread().is_alive():
        return  # Python is at its end already, where an exception would only be shown
    if _is_finalizing(frame):
        # What is raised there is shown, and lost: the signal comes once more, a moment later.
        threading.Timer(_MOMENT, os.kill, (os.getpid(), number)).start()
        return
    raise SystemExit(128 + number)


def _is_finalizing(frame: FrameType | None) -> bool:
    """Whether something that is no longer needed is taken away at this moment."""
    while frame is not None:
        if frame.f_code is weakref.finalize.__call__.__code__:
            return True
        frame = frame.f_back
    return False


_MOMENT = 0.05
"""Seconds, in which a temporary folder is removed."""


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
"""The folders are in an installed package, and beside it in a checkout."""


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


_lock = RLock()
_users = 0
"""How many threads write results."""
_before = 0
"""The limit on digits when the first of them came."""


@contextmanager
def any_length() -> Iterator[None]:
    """Lift Python's limit on the digits of integers while results are written; reading has limits
    of its own.

    The limit belongs to the whole process: the first thread that comes lifts it, the last one puts
    it back. A signal handler within these lines counts as one more, and does not wait for them.
    """
    global _users, _before
    with _lock:
        _users += 1
        if _users == 1:
            _before = sys.get_int_max_str_digits()
            sys.set_int_max_str_digits(0)
    try:
        yield
    finally:
        with _lock:
            if _users == 1:
                sys.set_int_max_str_digits(_before)
            _users -= 1


def integer(text: str) -> int:
    """The integer written in decimal, of any length (Python's own limit is 4300 digits)."""
    if len(text) < 4000:  # below the limit: Python's own way is faster for short ones
        return int(text)
    import flint  # only here: it would slow the start of every command

    return int(flint.fmpz(text))


def decimal(n: int) -> str:
    """The integer in decimal digits, of any length."""
    if -(1 << 13000) < n < 1 << 13000:  # 3914 digits
        return str(n)
    import flint

    return str(flint.fmpz(n).str())
