"""Many certificates verified at once, on several cores."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from multiprocessing.connection import Connection, wait
from pathlib import Path

from m2bridge.batch.forkserver import CONTEXT, prepare
from m2bridge.batch.signals import ENDING, interrupts_held
from m2bridge.certificate.finding import Finding
from m2bridge.errors import BatchError, M2BridgeError
from m2bridge.importing import importing

FEW = 24
"""So many certificates are verified before other processes have started."""


def verify_files(paths: Sequence[Path], workers: int | None = None) -> list[Finding]:
    """What :func:`m2bridge.certificate.verify.verify_path` says of each file, in their order.

    Parameters
    ----------
    paths : sequence of Path
    workers : int, optional
        Processes; one for each core that this process may use, when left out. A few files are verified in this process.

    Raises
    ------
    OSError
        If a file cannot be read.
    ContradictionError
        If independent methods disagree: then m2bridge itself is wrong, not the certificate.
    BatchError
        If a worker process ended.
    """
    waiting = deque(_groups(paths))
    number = min(workers or len(os.sched_getaffinity(0)), len(waiting))
    if number < 2 or len(paths) <= FEW:
        return _verified(paths)
    found: dict[Path, Finding] = {}
    with _workers(number) as idle:
        busy: dict[Connection, list[Path]] = {}
        while waiting or busy:
            while waiting and idle:
                line = idle.pop()
                busy[line] = waiting.popleft()
                with suppress(OSError):  # a dead worker is noticed when its answer is awaited
                    line.send(busy[line])
            for speaking in wait(list(busy)):
                assert isinstance(speaking, Connection)
                found.update(zip(busy.pop(speaking), _heard(speaking), strict=True))
                idle.append(speaking)
    return [found[path] for path in paths]


def _groups(paths: Sequence[Path]) -> list[list[Path]]:
    """Files of the same functions together, by their names, as verification remembers its last cases; large ones first.

    A file under another name is verified all the same, at the cost of some time.
    """
    groups: dict[tuple[Path, str], list[Path]] = {}
    for path in dict.fromkeys(paths):
        groups.setdefault((path.parent, path.name.partition("-t")[0]), []).append(path)
    return sorted(groups.values(), key=lambda group: sum(map(_size, group)), reverse=True)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:  # what is wrong with it is said when it is read
        return 0


@contextmanager
def _workers(number: int) -> Iterator[list[Connection]]:
    """Lines to processes that Ctrl-C does not reach, and that end with the block in whatever way it ends."""
    prepare("m2bridge.certificate.verify")
    lines, processes = [], []
    try:
        for _ in range(number):
            ours, theirs = CONTEXT.Pipe()
            process = CONTEXT.Process(target=_serve, args=(theirs,), daemon=True)
            with interrupts_held(*ENDING):  # half a start makes the fork server complain
                process.start()
            theirs.close()
            lines.append(ours)
            processes.append(process)
        yield lines.copy()
    finally:
        for process in processes:
            process.terminate()
        for line in lines:
            line.close()
        for process in processes:
            process.join()


def _heard(line: Connection) -> list[Finding]:
    try:
        answer = line.recv()
    except (EOFError, OSError):
        raise BatchError("a process that verified certificates ended; try again with --workers 1") from None
    if isinstance(answer, Exception):
        raise answer
    return answer  # type: ignore[no-any-return]


def _serve(line: Connection) -> None:
    """The life of a worker: groups of files come, findings go, until the line is closed."""
    threading.Thread(target=_follow_parent, daemon=True).start()
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            paths = line.recv()
            answer: list[Finding] | Exception
            try:
                answer = _verified(paths)
            except (M2BridgeError, OSError) as reason:
                answer = reason
            line.send(answer)


def _follow_parent() -> None:
    """End when the parent has ended, even in the middle of a group."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _verified(paths: Sequence[Path]) -> list[Finding]:
    verify_path = _verifier()
    return [verify_path(path) for path in paths]


@cache
def _verifier() -> Callable[[Path], Finding]:
    with importing():
        from m2bridge.certificate.verify import verify_path

    return verify_path
