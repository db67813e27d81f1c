"""Many certificates verified at once, on several cores, each file within limits of its own."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar, Self

from m2bridge import reading
from m2bridge.batch import LEAST_MEMORY
from m2bridge.batch.pool import Batch, Performer, Pool, prepare
from m2bridge.batch.store import reason_of
from m2bridge.checker.verify import VerifyResult
from m2bridge.errors import InvalidCaseError
from m2bridge.limits import check_timeout, clock
from m2bridge.loading import imported
from m2bridge.results.sheet import duration
from m2bridge.system import exit_text, leave_no_dump

Check = Callable[[Path], VerifyResult]

OUT_OF_MEMORY = 77
"""Exit status of a process in which Python had no memory left; FLINT and GMP abort it then."""

ITSELF = "m2bridge itself"
"""What failed, where it is no check."""


@dataclass(frozen=True, slots=True)
class Verification(Batch[Path, VerifyResult]):
    """The check of files, each within limits that no check can escape.

    Parameters
    ----------
    timeout : float
        Seconds of wall time.
    memory : int
        Bytes of address space of the process that checks it.
    check : callable, optional
        A function of a module that takes the place of ``verify_path``.
    folders : sequence of Path, optional
        Those below which files are read; all files where this process is not confined.

    Raises
    ------
    InvalidCaseError
        If one of them is no limit, or too small to check anything.
    """

    module: ClassVar[str] = "m2bridge.certification.verify"
    farewell: ClassVar[float] = 0.0
    timeout: float = 120.0
    memory: int = 2 * 2**30
    check: Check | None = None
    folders: Sequence[Path] | None = field(default_factory=reading.folders)

    def __post_init__(self) -> None:
        check_timeout(self.timeout)
        if self.memory < LEAST_MEMORY:
            least = LEAST_MEMORY // 2**20
            raise InvalidCaseError(
                "memory", f"what checks certificates needs {least}M of address space at least"
            )

    def performer(self) -> Checker:
        """Return what checks files in a worker."""
        # the parent need not wait for it
        return Checker(self.check or imported(self.module).verify_path, self.folders)

    def lost(self, path: Path, status: int | None) -> VerifyResult:
        """The finding about a file that was not done in time, or at which processes ended."""
        name = str(path)
        if status is None:
            late = f"not decided within {duration(self.timeout)}; {clock().option} gives it more"
            return VerifyResult("too-expensive", name, check="time", found=late)
        # FLINT aborts where there is no memory left; GMP raises SIGFPE for its own limits.
        if status in (-signal.SIGABRT, -signal.SIGFPE, OUT_OF_MEMORY):
            memory = f"{self.memory / 2**30:.3g} GiB of memory"
            large = f"not decided within {memory}; --memory gives it more"
            return VerifyResult("too-expensive", name, check="memory", found=large)
        ended = f"what checks it {exit_text(status)}, twice"
        return VerifyResult("failed", name, check="process", found=ended)


class Checker(Performer[Path, VerifyResult]):
    """Checks files one after the other, in a worker process."""

    def __init__(self, check: Check, folders: Sequence[Path] | None = None) -> None:
        self._check = check
        self._folders = folders

    def perform(self, path: Path) -> VerifyResult:
        """The finding about a file."""
        finding = self._found(path)
        quotes = finding.outcome == "malformed" or finding.check in ("schema", ITSELF)
        if self._folders is None or not quotes:
            return finding
        return replace(finding, stored="", found=reading.UNQUOTED)

    def _found(self, path: Path) -> VerifyResult:
        try:
            return self._check(path)
        except MemoryError:
            os._exit(OUT_OF_MEMORY)
        except OSError as reason:
            found = str(reason.strerror or reason)
            return VerifyResult("failed", str(path), check="reading", found=found)
        # Whatever it is, it becomes the finding about this file, and others get theirs.
        except Exception as reason:
            found = reason_of(reason)
            return VerifyResult("failed", str(path), check=ITSELF, found=found)

    def __enter__(self) -> Self:
        """Drop what libraries say when they abort the process, and their dumps; be confined, as
        the process is that asked.
        """
        leave_no_dump()
        if self._folders is not None:
            reading.confine(self._folders)
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 2)
        os.close(nothing)
        return self


def verify_files(
    paths: Sequence[Path], verification: Verification | None = None, workers: int | None = None
) -> list[VerifyResult]:
    """The findings of :func:`m2bridge.certification.verify.verify_path` about files, in their
    order.

    Whatever a file does to the process that checks it, it gets a finding, and the others get
    theirs.

    Parameters
    ----------
    paths : sequence of Path
    verification : Verification, optional
        With the time and memory for each file.
    workers : int, optional
        Processes; one for each core that this process may use, when left out.

    Raises
    ------
    BatchError
        If worker processes do not start.
    """
    prepare(Verification.module, "m2bridge.maps.singular_locus")  # imported once for all workers
    with Pool(verification or Verification(), workers) as pool:
        findings = dict(pool.results(_groups(paths)))
    return [findings[path] for path in paths]


def _groups(paths: Sequence[Path]) -> list[list[Path]]:
    """Files of the same functions together, by their names; the largest groups first.

    Verification remembers its last cases, so together they are faster. A file under another name is
    verified all the same, at the cost of some time.
    """
    groups: dict[tuple[Path, str], list[Path]] = {}
    for path in dict.fromkeys(paths):
        functions, _, _ = path.name.partition("-t")  # t is the number of tokens
        groups.setdefault((path.parent, functions), []).append(path)

    def size(group: list[Path]) -> int:
        return sum(map(_size, group))

    return sorted(groups.values(), key=size, reverse=True)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:  # what is wrong with it is said when it is read
        return 0
