"""Many certificates verified at once, on several cores, each file within limits of its own."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from multiprocessing.connection import wait
from pathlib import Path
from types import TracebackType
from typing import Self

from m2bridge.batch.verifier import Allowance, Check, Verifier, by_death, by_limit
from m2bridge.batch.worker import Begun, Ready, prepare
from m2bridge.checker.verify import VerifyResult
from m2bridge.errors import BatchError
from m2bridge.system import cores, exit_text

_FALSE_STARTS = 3


def verify_files(
    paths: Sequence[Path], allowance: Allowance | None = None, workers: int | None = None, check: Check | None = None
) -> list[VerifyResult]:
    """What :func:`m2bridge.crosscheck.verified.verify_path` says of each file, in their order.

    Whatever a file does to the process that checks it, it gets a finding, and the others get theirs.

    Parameters
    ----------
    paths : sequence of Path
    allowance : Allowance, optional
        Time and memory for each file.
    workers : int, optional
        Processes; one for each core that this process may use, when left out.
    check : callable, optional
        A function of a module that takes the place of ``verify_path``.

    Raises
    ------
    BatchError
        If worker processes do not start.
    """
    prepare("m2bridge.crosscheck.verified")
    number = workers or cores()
    with _Pool(_groups(paths), number, allowance or Allowance(), check) as pool:
        found = pool.run()
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


class _Pool:
    """Processes at work on groups of files.

    A process that ended is replaced. Its file is checked once more in a fresh one, unless its time was up: the files
    before it may have left too little memory, and whoever killed it may have meant another. The second end counts.
    """

    def __init__(self, groups: Sequence[Sequence[Path]], number: int, allowance: Allowance, check: Check | None):
        self._waiting = deque(groups)
        self._number = number
        self._allowance = allowance
        self._check = check
        self._workers: list[Verifier] = []
        self._found: dict[Path, VerifyResult] = {}
        self._ends = Counter[Path]()
        self._false_starts = 0

    def run(self) -> dict[Path, VerifyResult]:
        """The finding about each file."""
        while self._waiting or any(worker.left for worker in self._workers):
            self._recruit()
            for worker in self._workers:
                if self._waiting and worker.ready and not worker.left:
                    worker.give(self._waiting.popleft())
            by_line = {worker.connection: worker for worker in self._workers}
            for line in wait(list(by_line)):
                self._hear(by_line[line])  # type: ignore[index]
        return self._found

    def _recruit(self) -> None:
        """Start processes, as many as are of use."""
        idle = sum(not worker.left for worker in self._workers)
        for _ in range(min(self._number - len(self._workers), len(self._waiting) - idle)):
            self._workers.append(Verifier(self._allowance, self._check))

    def _hear(self, worker: Verifier) -> None:
        message = worker.receive()
        if isinstance(message, VerifyResult):
            self._found[worker.left.popleft()] = message
            worker.at_work = False
        elif isinstance(message, Begun):
            worker.at_work, self._false_starts = True, 0
            worker.begun += 1
        elif isinstance(message, Ready):
            worker.ready = True
        else:
            self._workers.remove(worker)
            self._bury(worker, worker.end())

    def _bury(self, worker: Verifier, status: int) -> None:
        """What the end of a process means for the files that it had."""
        if not worker.begun:
            self._false_starts += 1
            if self._false_starts >= _FALSE_STARTS:
                raise BatchError(f"processes end before they check anything; the last one {exit_text(status)}")
        if not worker.at_work:  # killed between two files: none of them is to blame
            if worker.left:
                self._waiting.appendleft(list(worker.left))
            return
        path, *others = worker.left
        if others:
            self._waiting.appendleft(others)
        self._ends[path] += 1
        late = by_limit(status, path, self._allowance)
        if self._ends[path] > 1 or (late and late.check == "time"):
            self._found[path] = late or by_death(status, path)
        else:
            self._waiting.appendleft([path])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for worker in self._workers:
            worker.process.kill()
        for worker in self._workers:
            worker.end()
