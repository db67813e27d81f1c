"""Differences between operating systems, signals, files of the installation, long integers.

Features that only Linux has are used only in this file. Where a function does something else on
macOS, its docstring says so.
"""

import gc
import os
import re
import select
import signal
import sys
import threading
import weakref
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from threading import RLock
from types import FrameType
from typing import IO

from m2bridge.errors import ResourceError, UnsupportedSystemError

LINUX = sys.platform == "linux"
"""Whether this is Linux; used only in this file."""

POSIX = ("fcntl", "resource", "termios")
"""Python modules that Windows lacks and m2bridge needs."""


def check_system() -> None:
    """Check that m2bridge can work here, before an import fails; it cannot on Windows."""
    missing_modules = [name for name in POSIX if find_spec(name) is None]
    if missing_modules:
        raise UnsupportedSystemError(
            "m2bridge needs Linux or macOS; on Windows install it in WSL, the Windows Subsystem"
            " for Linux ('wsl --install', then as README says). This Python has no module"
            f" {', '.join(missing_modules)}"
        )


def cores() -> int:
    """Return the number of cores that this process may use; on macOS, of all cores."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


# Memory and open files: usage and limits.


def peak_memory(pid: int) -> int | None:
    """Return the largest resident memory of a process in bytes, from ``/proc`` of Linux; ``None``
    on other systems, and for a process that has ended.
    """
    if not LINUX:
        return None
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    match = re.search(r"^VmHWM:\s*(\d+) kB$", status, re.MULTILINE)  # the "high water mark"
    return int(match[1]) * 1024 if match else None


def forget_peak_memory(pid: int) -> None:
    """Measure :func:`peak_memory` from now on; this has no effect except on Linux."""
    if LINUX:
        with suppress(OSError):
            # 5 resets the peak to the present size
            Path(f"/proc/{pid}/clear_refs").write_text("5", encoding="ascii")


def limits_memory() -> bool:
    """Return whether the system supports limits on the address space; on macOS memory is not
    limited.
    """
    return LINUX


def address_space() -> int | None:
    """Return the limit on the address space of this process in bytes; ``None`` if unlimited."""
    import resource  # Windows lacks it, which check_system reports

    return _limit(resource.RLIMIT_AS)


def limit_address_space(most: int) -> None:
    """Limit the address space of this process and its children to ``most`` bytes; a lower limit
    stays, and macOS sets none. ValueError if Linux refuses the limit.
    """
    import resource

    if limits_memory():
        _lower(resource.RLIMIT_AS, most)


def leave_no_dump() -> None:
    """Prevent this process and its children from writing core dumps."""
    import resource

    _lower(resource.RLIMIT_CORE, 0)


FILE_SIZE_COMMAND = "ulimit -f"
"""The command of a shell that shows and changes the largest size of a file."""


def max_open_files() -> int | None:
    """Return how many files this process may have open at once, as ``ulimit -n`` shows; ``None`` if
    unlimited.
    """
    import resource

    return _limit(resource.RLIMIT_NOFILE)


def _limit(kind: int) -> int | None:
    """Return the soft limit of this kind (``resource.RLIMIT_…``), which is in force; ``None`` for
    none.
    """
    import resource

    soft, _ = resource.getrlimit(kind)
    return None if soft == resource.RLIM_INFINITY else soft


def _lower(kind: int, target: int) -> None:
    """Lower the soft limit of this kind to ``target``, if it is larger, for this process and its
    children.
    """
    import resource

    soft, hard = resource.getrlimit(kind)
    # infinity is a negative number to Python, so that it cannot be compared
    finite = [limit for limit in (target, soft, hard) if limit != resource.RLIM_INFINITY]
    resource.setrlimit(kind, (min(finite), hard))


PSEUDO_FILES = ("/proc", "/sys", "/dev")
"""Folders with pseudo files, such as the environment of processes."""


def path_of_open(descriptor: int, path: str) -> str:
    """Return a path by which a library opens the file of a descriptor, even if it was renamed; on
    macOS its name ``path``.
    """
    if LINUX:
        return f"/proc/self/fd/{descriptor}"
    return path


# The beginning and the end of processes.

LIMIT_REFUSED_STATUS = 97
"""The exit status of :func:`launcher` if the system refuses the limit on memory."""

# $1 terminal, which becomes the controlling one when it is opened; $2 limit in KiB, or nothing; $3
# whether to ask the system for a signal on the end of the thread that started this (where there is
# a recent setpriv).
_LAUNCH = f"""
ulimit -c 0
if [ -n "$2" ]; then ulimit -v "$2" || exit {LIMIT_REFUSED_STATUS}; fi
exec 0<>"$1" 1>&0 2>&0
watched=$3
shift 3
if [ -n "$watched" ] && setpriv --pdeathsig KILL true 2>/dev/null; then
    set -- setpriv --pdeathsig KILL "$@"
fi
exec "$@"
"""


def launcher(terminal: str, memory: int | None) -> tuple[str, ...]:
    """Return the words that, before a command, make it run on a terminal, in its own session, until
    the terminal closes.

    On Linux its address space is limited to ``memory`` bytes, and the system kills it when the main
    thread of this process ends, if that has started it: other threads may end before the process.
    """
    kibibytes = ""  # no limit
    if memory is not None and limits_memory():
        kibibytes = str(max(memory // 1024, 1))
    is_main = threading.current_thread() is threading.main_thread()
    ends_with_thread = "yes" if LINUX and is_main else ""
    # "sh" is $0 of the script _LAUNCH, the following words are $1, $2 and $3, then the command
    return ("/bin/sh", "-c", _LAUNCH, "sh", terminal, kibibytes, ends_with_thread)


def has_ended(child: int) -> bool:
    """Return whether a child process has ended, without collecting its exit status; true for a
    process that is not a child. Python has no ``waitid`` on macOS before 3.13; there psutil detects
    zombies.
    """
    if hasattr(os, "waitid"):
        try:
            # WNOWAIT leaves the exit status there; the result is None while the child runs
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
    """Kill the process group of this leader, if it exists. macOS refuses this by PermissionError if
    all its processes are zombies: they have ended anyway.
    """
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)


def polls_terminals() -> bool:
    """Return whether ``poll`` can wait for terminals; on macOS only ``select`` can."""
    return LINUX


def is_hung_up(terminal: int) -> bool:
    """Return whether the other end of a terminal is closed, or this is unknown (macOS)."""
    if not polls_terminals():
        return True
    poll = select.poll()
    poll.register(terminal, 0)  # no event is asked for, and a hang-up is reported in any case
    return bool(poll.poll(0))


def end_with(pipe: int) -> None:
    """Let this process end as soon as the other end of a pipe, which is never written to, is
    closed: on Linux by a signal, on macOS by a thread, for which a computation in C must release
    Python's lock.
    """
    if LINUX:
        _end_by_signal(pipe)
    else:
        threading.Thread(target=_end_by_waiting, args=(pipe,), daemon=True).start()


def _end_by_signal(pipe: int) -> None:
    """Let the system send SIGIO, which ends the process, when the pipe is closed."""
    import fcntl  # Windows lacks it

    signal.signal(signal.SIGIO, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGIO})
    fcntl.fcntl(pipe, fcntl.F_SETOWN, os.getpid())  # signals of the pipe go to this process
    flags = fcntl.fcntl(pipe, fcntl.F_GETFL)
    fcntl.fcntl(pipe, fcntl.F_SETFL, flags | os.O_ASYNC)  # SIGIO at any event of the pipe
    closing = select.poll()
    closing.register(pipe, select.POLLIN)
    if closing.poll(0):  # it was closed before the signal was asked for
        os._exit(1)


def _end_by_waiting(pipe: int) -> None:
    """Wait until the pipe is closed, and end the process."""
    closing = select.poll()
    closing.register(pipe, select.POLLIN)
    closing.poll()  # nothing is ever written, so only the end of the pipe ends the wait
    os._exit(1)


def exit_text(status: int) -> str:
    """Return how a process ended as text that follows its name: ``was killed by SIGKILL`` for −9,
    ``ended with exit status 3``.
    """
    if status < 0:
        killer = signal_of(status)  # Python has no names for real-time signals
        return f"was killed by {killer.name if killer else f'signal {-status}'}"
    return f"ended with exit status {status}"


def signal_of(status: int | None) -> signal.Signals | None:
    """Return the signal that ended a program, if one did. Python's status for signal n is -n; the
    status of a shell script whose last program n ended is 128 + n.
    """
    if status is None:
        return None
    number = -status if status < 0 else status - 128
    return signal.Signals(number) if number in set(signal.Signals) else None


def write_aside(content: str | bytes, target: Path) -> None:
    """Write a file atomically, by renaming a temporary file, in UTF-8; an existing file is replaced
    as a whole or not at all, and keeps its permissions.
    """
    write_all_aside({target: content})


def write_all_aside(contents: Mapping[Path, str | bytes]) -> None:
    """Write files as :func:`write_aside` does; the system stores them together when all are
    written.
    """
    aside: dict[Path, Path] = {}  # the temporary file for each target
    try:
        with ExitStack() as opened:
            files = []
            for target, content in contents.items():
                file = opened.enter_context(_temporary_file_for(target))
                aside[target] = Path(file.name)
                file.write(content.encode() if isinstance(content, str) else content)
                file.flush()
                files.append(file)
            for file in files:
                # without fsync before the renaming it could be empty after a power failure
                os.fsync(file.fileno())
        for target, path in aside.items():
            permissions = target.stat().st_mode & 0o777 if target.exists() else 0o644
            path.chmod(permissions)
            path.replace(target)
    except BaseException:
        for path in aside.values():
            path.unlink(missing_ok=True)
        raise


def _temporary_file_for(target: Path) -> IO[bytes]:
    """Return a new file, with a name of the form of :func:`is_aside`, opened for writing in the
    folder of a target, which is made if missing.
    """
    import tempfile  # slow to import, and most commands do not need it

    target.parent.mkdir(parents=True, exist_ok=True)
    return tempfile.NamedTemporaryFile(
        prefix=".", suffix=".partial", dir=target.parent, delete=False
    )


def is_aside(name: str) -> bool:
    """Return whether a name is one of the temporary names of :func:`write_aside`."""
    return re.fullmatch(r"\.[a-z0-9_]{8}\.partial", name) is not None


def save(content: str | bytes, path: Path) -> None:
    """Write to a path that a person names: a file, by :func:`write_aside`, or a pipe or device."""
    if path.exists() and not path.is_file():  # a pipe, or a device
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    else:
        write_aside(content, path.resolve())


def leave(number: int, frame: FrameType | None) -> None:
    """Handle the signal ``number`` by SystemExit, so that Macaulay2 ends and no files are left."""
    if not threading.main_thread().is_alive():
        return  # Python is shutting down, where an exception would only be printed
    if _is_finalizing(frame):
        # An exception there would be printed and lost, so the signal is sent again a moment later,
        # when the temporary folder is removed.
        threading.Timer(0.05, os.kill, (os.getpid(), number)).start()
        return
    raise SystemExit(128 + number)


def _is_finalizing(frame: FrameType | None) -> bool:
    """Return whether a finalizer is running in this frame or a caller."""
    while frame is not None:
        if frame.f_code is weakref.finalize.__call__.__code__:
            return True
        frame = frame.f_back
    return False


@contextmanager
def collection_paused() -> Iterator[None]:
    """Disable garbage collection while a block makes many objects that stay alive, which the
    collector would traverse repeatedly.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


_PACKAGE = Path(__file__).resolve().parent
"""The folders of :func:`folder` are in an installed package, or next to it in a checkout."""


def folder(name: str) -> Path:
    """Return the folder ``templates`` (Jinja, one for each computation) or ``m2scripts``."""
    for candidate in (_PACKAGE / name, _PACKAGE.parent / name):
        if candidate.is_dir():
            return candidate
    raise ResourceError(
        f"the folder '{name}' is missing from this installation of m2bridge; reinstall it"
    )


def m2script(name: str) -> Path:
    """Return the path of the shared Macaulay2 script ``name`` (without ``.m2``)."""
    path = folder("m2scripts") / f"{name}.m2"
    if not path.is_file():
        raise ResourceError(
            f"the Macaulay2 script '{path.name}' is missing from this installation of m2bridge"
        )
    return path


# reentrant: a signal handler that interrupts the lines below counts as a further user
_lock = RLock()
_users = 0
"""The number of threads in a block :func:`any_length`."""
_before = 0
"""The limit on digits before the first of them."""


@contextmanager
def any_length() -> Iterator[None]:
    """Lift Python's limit on the digits of integers, which belongs to the whole process, while
    results are written: the first thread that enters such a block lifts it, the last one that
    leaves restores it.
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
    """Read an integer in decimal of any length (Python's own limit is 4300 digits)."""
    if len(text) < 4000:  # below the limit, where Python is faster
        return int(text)
    import flint  # only here: it would slow the start of every command

    return int(flint.fmpz(text.removeprefix("+")))  # FLINT reads no plus sign


def decimal(n: int) -> str:
    """Write an integer of any length in decimal."""
    if -(1 << 13000) < n < 1 << 13000:  # 3914 digits, which Python writes in any case
        return str(n)
    import flint  # only here: it would slow the start of every command

    return str(flint.fmpz(n).str())
