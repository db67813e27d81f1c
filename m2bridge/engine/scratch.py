"""Temporary folders that do not outlive their process for long, however it ends.

A folder is locked by the kernel for the process that made it, and the lock ends with the process.
So unlocked folders were left by processes that were killed, and the next process that starts
removes them. A process id would not do: the system reuses it, and containers that share a folder
number their processes each for itself.
"""

import errno
import fcntl
import os
import shutil
import tempfile
import time
import weakref
from contextlib import suppress
from pathlib import Path
from typing import Any

from m2bridge.errors import EngineError

PREFIX = "m2bridge-run-"
"""The beginning of the names of temporary folders."""

_SYSTEM = ("/tmp", "/var/tmp")
"""The folders for temporary files that each system has."""

close_after_fork: weakref.WeakSet[Any] = weakref.WeakSet()
"""Objects that a child made by ``fork`` must leave to its parent, by their method ``disown``."""


def _disown_all() -> None:
    """Leave all processes and folders to the parent, in a child made by ``fork``."""
    for thing in list(close_after_fork):
        thing.disown()


os.register_at_fork(after_in_child=_disown_all)


class Scratch:
    """A new temporary folder, removed by :meth:`remove`, by garbage collection or when Python ends;
    a child made by ``fork`` leaves it to the parent.
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
        """Remove the folder and its content."""
        self._finalizer()

    def disown(self) -> None:
        """Leave the folder to the parent, in a child made by ``fork``."""
        if self._finalizer.detach() is not None:
            os.close(self._lock)


def short_folders() -> tuple[str, ...]:
    """Return folders with names short enough for temporary folders that contain sockets: TMPDIR if
    possible, else the folders of the system.
    """
    folder = tempfile.gettempdir()
    # the name of a socket of multiprocessing is 40 bytes longer, and systems accept 103
    if len(os.fsencode(folder)) <= 60:
        return (folder,)
    return _SYSTEM


def sweep(*folders: Path) -> None:
    """Remove temporary folders that killed processes of this user have left in ``folders``, or in
    all folders in which this module makes them.
    """
    for folder in folders or {tempfile.gettempdir(), *short_folders()}:
        # tempfile appends eight random letters, which folders named by people have not
        for path in Path(folder).glob(f"{PREFIX}????????"):
            # OSError: a process holds its lock, or another process is removing it
            with suppress(OSError):
                descriptor = _opened(path)
                try:
                    if os.fstat(descriptor).st_uid == os.geteuid():
                        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                        _remove_tree(path)
                finally:
                    os.close(descriptor)  # this ends the lock, too


def _make(where: str | None) -> tuple[Path, int]:
    """Make a folder in ``where`` and lock it; return its path and the descriptor that locks it.
    Before it is locked, another process may remove it as one that was left; then another is made.
    """
    while True:
        path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=where)).absolute()
        with suppress(FileNotFoundError):
            descriptor = _opened(path)  # FileNotFoundError if it was removed already
            if try_to_lock(descriptor) and path.exists():
                return path, descriptor
            os.close(descriptor)  # another process removes the folder, or has done so


def try_to_lock(descriptor: int) -> bool:
    """Lock an open file or folder; return whether no other process had locked it, as on a file
    system without locks.
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
    """Open a folder, but no link to one, for its lock; return the descriptor."""
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)


def _remove(path: Path, descriptor: int) -> None:
    """Remove a folder, and then close the descriptor that locks it, so that no other process sweeps
    it meanwhile.
    """
    _remove_tree(path)
    os.close(descriptor)


def _remove_tree(path: Path) -> None:
    """Remove a folder and its content, again if a process that is ending writes into it."""
    # A Macaulay2 whose Python was killed ends a moment later, and may write until then.
    for _ in range(10):
        shutil.rmtree(path, ignore_errors=True)
        if not path.exists():
            return
        time.sleep(0.05)
