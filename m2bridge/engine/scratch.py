"""Temporary folders that do not outlive their process for long, however it ends.

A folder is locked by the kernel for the process that made it, and the lock ends with the process.
So folders that nobody holds were left by processes that were killed, and whoever starts next
removes them. A process id would not do: it may be given again, and containers that share a folder
number their processes each for itself.
"""

import errno
import fcntl
import os
import shutil
import tempfile
import weakref
from contextlib import suppress
from pathlib import Path
from typing import Any

from m2bridge.errors import EngineError

PREFIX = "m2bridge-run-"
"""The beginning of their names."""

_RANDOM = 8
"""Letters after it, by which :mod:`tempfile` makes names new; people give other names."""

_SYSTEM = ("/tmp", "/var/tmp")

_SHORT = 60
"""Bytes of a name: the socket that multiprocessing makes in it has 40 more, systems take 103."""

close_after_fork: weakref.WeakSet[Any] = weakref.WeakSet()
"""What a child made by ``fork`` leaves to its parent, by a method ``disown``."""


def _disown_all() -> None:
    for thing in list(close_after_fork):
        thing.disown()


os.register_at_fork(after_in_child=_disown_all)


class Scratch:
    """A new temporary folder, removed by :meth:`remove`, when it is dropped, and at Python's end.

    A child made by ``fork`` leaves it to the parent.

    Parameters
    ----------
    where : str, optional
        The folder in which it is made; that for temporary files when left out.

    Raises
    ------
    EngineError
        If no temporary folder can be made.
    """

    def __init__(self, where: str | None = None) -> None:
        try:
            self.path, self._lock = _make(where)
        except OSError as reason:
            raise EngineError(
                f"no temporary folder can be made: {reason.strerror or reason}; TMPDIR names where"
            ) from None
        self._finalizer = weakref.finalize(self, _remove, self.path, self._lock)
        close_after_fork.add(self)

    def remove(self) -> None:
        """Remove the folder and all that is in it."""
        self._finalizer()

    def disown(self) -> None:
        """Leave the folder to the parent, in a child made by ``fork``."""
        if self._finalizer.detach() is not None:
            os.close(self._lock)


def short_folders() -> tuple[str, ...]:
    """The folders in which temporary folders with sockets may be made, whose names are short."""
    usual = tempfile.gettempdir()
    return (usual,) if len(os.fsencode(usual)) <= _SHORT else _SYSTEM


def sweep(*folders: Path) -> None:
    """Remove what processes of this user, which were killed, have left in folders.

    In those for temporary files when none are named.
    """
    for folder in folders or {tempfile.gettempdir(), *short_folders()}:
        for path in Path(folder).glob(f"{PREFIX}{'?' * _RANDOM}"):
            with suppress(OSError):  # somebody else's, or swept by another process at this moment
                _sweep(path)


def _sweep(path: Path) -> None:
    lock = _opened(path)
    try:
        if os.fstat(lock).st_uid == os.geteuid():
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(path, ignore_errors=True)
    finally:
        os.close(lock)


def _make(where: str | None) -> tuple[Path, int]:
    """A new folder and its lock."""
    # Once more, where another process took it for one that was left, before it was locked.
    while True:
        path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=where)).absolute()
        with suppress(FileNotFoundError):
            lock = _opened(path)
            if locked(lock) and path.exists():
                return path, lock
            os.close(lock)


def locked(descriptor: int) -> bool:
    """Lock an open file or folder for this process; whether it was free.

    On a file system without locks all are.
    """
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as reason:
        if reason.errno not in (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS):
            raise
    return True


def _opened(path: Path) -> int:
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)


def _remove(path: Path, lock: int) -> None:
    shutil.rmtree(path, ignore_errors=True)
    os.close(lock)
