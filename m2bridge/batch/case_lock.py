"""Locks on cases: only one process at a time works on a case, whichever batch it belongs to."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FOLDER = ".claims"
_UNSUPPORTED = (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS)


@contextmanager
def case_lock(results: Path, name: str) -> Iterator[bool]:
    """Lock a case for the time of the block; whether it was free.

    The lock is one that the kernel holds for this process, not the file on which it is put: it ends with the
    process, however that ends, so that none is ever stale. On file systems without locks every case is free;
    then two batches may do the same work, and the later certificate replaces the earlier one.
    """
    path = results / FOLDER / name
    path.parent.mkdir(exist_ok=True)  # whoever deleted the folder of results does not want it again
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        mine = _lock(descriptor) and _is_still(descriptor, path)
        try:
            yield mine
        finally:
            if mine:
                path.unlink(missing_ok=True)
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as reason:
        if reason.errno not in _UNSUPPORTED:
            raise
    return True


def _is_still(descriptor: int, path: Path) -> bool:
    """Whether the locked file is the one that others find; its last owner may have removed it meanwhile."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False
