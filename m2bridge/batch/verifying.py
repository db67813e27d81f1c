"""Verification of many certificates on several cores, each file within its own limits.

The *finding* for a file is a :class:`~m2bridge.checker.verify.VerifyResult`: its ``outcome``, such
as ``accepted``, with the place of the first error. Files are checked by a pool of worker processes;
a process is *confined* if it may read files below certain folders only, as for a server.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar, Self

from m2bridge import reading
from m2bridge.batch import MIN_CHECK_MEMORY_BYTES
from m2bridge.batch.pool import Batch, Performer, Pool, prepare
from m2bridge.batch.store import reason_of
from m2bridge.checker.verify import VerifyResult
from m2bridge.errors import InvalidCaseError
from m2bridge.limits import MAX_MEMORY_BYTES, check_timeout, clock, imported
from m2bridge.results.sheet import duration
from m2bridge.system import exit_text, leave_no_dump

Check = Callable[[Path], VerifyResult]

OUT_OF_MEMORY_STATUS = 77
"""Exit status of a process in which Python had no memory left; FLINT and GMP abort it then."""

ITSELF = "m2bridge itself"
"""The name of the check where m2bridge failed, not a check."""


@dataclass(frozen=True, slots=True)
class Verification(Batch[Path, VerifyResult]):
    """The verification of files, each in a process with limits, which may be confined."""

    module: ClassVar[str] = "m2bridge.certification.verify"
    shutdown_seconds: ClassVar[float] = 0.0
    timeout: float = 120.0  # seconds of wall time for each file
    memory: int = 2 * 2**30  # bytes of address space of a process
    check: Check | None = None  # a function of a module, used in place of ``verify_path``
    folders: Sequence[Path] | None = field(default_factory=reading.folders)

    def __post_init__(self) -> None:
        """Check the limits."""
        check_timeout(self.timeout)
        if self.memory < MIN_CHECK_MEMORY_BYTES:
            least = MIN_CHECK_MEMORY_BYTES // 2**20
            raise InvalidCaseError(
                "memory", f"must be at least {least}M of address space to check certificates"
            )
        if self.memory > MAX_MEMORY_BYTES:
            most = MAX_MEMORY_BYTES / 2**30
            raise InvalidCaseError("memory", f"must be at most {most:.3g} GiB on this system")

    def performer(self) -> Checker:
        """Return the checker of files in a worker."""
        # imported here, so that the parent need not wait for it
        return Checker(self.check or imported(self.module).verify_path, self.folders)

    def outcome_of_lost(self, path: Path, status: int | None) -> VerifyResult:
        """Return the finding for a file at which two workers ended, or one was too slow."""
        name = str(path)
        if status is None:
            # ``more`` is the advice how to give more time
            late = f"not decided within {duration(self.timeout)}; {clock().more}"
            return VerifyResult("too-expensive", name, check="time", found=late)
        # FLINT aborts where there is no memory left; GMP raises SIGFPE for its own limits.
        if status in (-signal.SIGABRT, -signal.SIGFPE, OUT_OF_MEMORY_STATUS):
            memory = f"{self.memory / 2**30:.3g} GiB of memory"
            large = f"not decided within {memory}; raise --memory"
            return VerifyResult("too-expensive", name, check="memory", found=large)
        ended = f"the process of the check {exit_text(status)}, twice"
        return VerifyResult("failed", name, check="process", found=ended)


class Checker(Performer[Path, VerifyResult]):
    """Verifies files one after the other, in a worker process."""

    def __init__(self, check: Check, folders: Sequence[Path] | None = None) -> None:
        self._check = check
        self._folders = folders

    def perform(self, path: Path) -> VerifyResult:
        """Return the finding for a file; if confined, quote nothing but certificates."""
        finding = self._finding(path)
        # findings of these kinds may quote a file that is not a certificate, but somebody's secret
        may_quote = finding.outcome == "malformed" or finding.check in ("schema", ITSELF)
        if self._folders is None or not may_quote:
            return finding
        return replace(finding, stored="", found=reading.UNQUOTED)

    def _finding(self, path: Path) -> VerifyResult:
        """Return the finding for a file; an error of the check becomes a finding, too.

        Without memory the process ends, with a status that its parent understands.
        """
        try:
            return self._check(path)
        except MemoryError:
            os._exit(OUT_OF_MEMORY_STATUS)
        except OSError as reason:
            text = str(reason.strerror or reason)
            return VerifyResult("failed", str(path), check="reading", found=text)
        # Any error becomes the finding for this file and does not affect the other files.
        except Exception as reason:
            text = reason_of(reason)
            return VerifyResult("failed", str(path), check=ITSELF, found=text)

    def __enter__(self) -> Self:
        """Drop output and dumps of libraries that abort the process; confine it to the folders."""
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
    """Verify files by :func:`m2bridge.certification.verify.verify_path`; return a finding for each
    in order, even if a file crashes the process that checks it.
    """
    # the server from which workers are forked imports these modules, once for all of them
    prepare(Verification.module, "m2bridge.maps.singular_locus")
    with Pool(verification or Verification(), workers) as pool:
        findings = dict(pool.results(_groups(paths)))
    return [findings[path] for path in paths]


def _groups(paths: Sequence[Path]) -> list[list[Path]]:
    """Return the files in groups about the same functions, the largest groups first.

    Names of files about the same functions differ only after ``-t``, in the number of tokens and
    the question: d3-dout2-a2-t2-3.4.json and d3-dout2-a2-t3-3.3.json are in one group. The checker
    caches its last cases, so files of one group are verified faster. A file with an unusual name is
    verified as well, only more slowly.
    """
    groups: dict[tuple[Path, str], list[Path]] = {}
    for path in dict.fromkeys(paths):
        functions, _, _ = path.name.partition("-t")
        groups.setdefault((path.parent, functions), []).append(path)

    return sorted(groups.values(), key=lambda group: sum(map(_size, group)), reverse=True)


def _size(path: Path) -> int:
    """Return the size of a file in bytes, which measures the time of its check; 0 if unknown."""
    try:
        return path.stat().st_size
    except OSError:  # the error is reported when the file is read
        return 0
