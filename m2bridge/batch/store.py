"""The folder of results, and locks on cases: only one process at a time works on a case, of whichever batch."""

import errno
import fcntl
import os
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from m2bridge.batch.task import SUFFIX, Kind, Task, Unanswered
from m2bridge.certificates.files import text_of, write, write_aside
from m2bridge.certificates.schema import Certificate, file_name
from m2bridge.convert.documents import read_json
from m2bridge.errors import BatchError, CertificateError, M2BridgeError

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


COMPUTED = "COMPUTED"
"""The answer to a question that is computed and not compared with a statement."""

NOT_APPLICABLE = "NOT_APPLICABLE"
"""The verdict on a statement, and the answer to a question, that are not about the case."""

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)
"""Reasons for which nothing at all can be stored, whatever its name."""

_ABANDONED = 3600.0
_NOTHING = (FileNotFoundError, ValueError, KeyError, TypeError, RecursionError, M2BridgeError)


@dataclass(frozen=True, slots=True)
class Store:
    """The results of a batch: for each case and question one certificate, or one outcome.

    Parameters
    ----------
    folder : Path
    retry : frozenset of str
        Kinds of outcomes that count as not done...
    since : float
        ...if they were written before this time.
    """

    folder: Path
    retry: frozenset[Kind] = frozenset()
    since: float = field(default_factory=time.time)

    def names(self) -> frozenset[str]:
        """The files that are there."""
        return frozenset(os.listdir(self.folder)) if self.folder.is_dir() else frozenset()

    def answers(self, task: Task, names: Collection[str] | None = None) -> dict[str, tuple[str, ...]]:
        """Read what is done of a task: for each question the verdicts of its certificate, or the kind of its outcome.

        Parameters
        ----------
        task : Task
        names : collection of str, optional
            The files that are there, if they are known.
        """
        answers = {}
        for question in task.questions:
            name = file_name(task.name, question)
            path, other = self.folder / name, self.folder / outcome_name(task.name, question)
            about = task.case.family, task.case.to_json()
            if (names is None or name in names) and (verdicts := _verdicts(path, about)):
                answers[question] = verdicts
            elif (
                (names is None or other.name in names)
                and (kind := _kind(other, about))
                and not self._again(other, kind)
            ):
                answers[question] = (NOT_APPLICABLE if kind == "not-applicable" else kind,)
        return answers

    def check(self, tasks: Iterable[Task]) -> None:
        """Raise BatchError if there is not a file for each question of tasks that were performed."""
        names = self.names()
        files = [(file_name(t.name, q), outcome_name(t.name, q)) for t in tasks for q in t.questions]
        if missing := [name for name, outcome in files if name not in names and outcome not in names]:
            raise BatchError(
                f"{len(missing)} of {len(files)} results are not in '{self.folder}', such as '{missing[0]}': it was "
                "deleted, or files in it were, while they were computed; the same command computes what is missing"
            )

    def put(self, certificate: Certificate) -> None:
        """Store a certificate; it takes the place of an earlier outcome."""
        write(certificate, self.folder)
        (self.folder / outcome_name(certificate.name, certificate.question)).unlink(missing_ok=True)

    def put_outcome(self, outcome: Unanswered) -> None:
        """Store an outcome, unless there is a certificate."""
        if _verdicts(self.folder / file_name(outcome.name, outcome.question)) is None:
            write_aside(outcome.to_text(), self.folder / outcome_name(outcome.name, outcome.question))

    def sweep(self, names: Iterable[str]) -> None:
        """Remove what batches that were killed left: half-written files, and outcomes overtaken by certificates."""
        present = set(names)
        for name in present:
            certificate = name.removesuffix(SUFFIX) + ".json"
            overtaken = name.endswith(SUFFIX) and certificate in present and _verdicts(self.folder / certificate)
            half = name.startswith(".") and name.endswith(".partial") and _age(self.folder / name) > _ABANDONED
            if overtaken or half:
                (self.folder / name).unlink(missing_ok=True)

    def _again(self, path: Path, kind: Kind) -> bool:
        return kind in self.retry and path.stat().st_mtime < self.since


def outcome_name(name: str, question: str) -> str:
    """``d3-dout2-a2-t2-3.4.outcome.json``."""
    return file_name(name, question).removesuffix(".json") + SUFFIX


About = tuple[str, dict[str, Any]]
"""A family, and the case within it."""


def _verdicts(path: Path, about: About | None = None) -> tuple[str, ...] | None:
    """The verdicts in a certificate; ``None`` if there is no whole certificate of this name."""
    try:
        answer = _content(path, ".json", about)["answer"]
        return tuple(v["verdict"] for v in answer["verdicts"]) if "verdicts" in answer else (COMPUTED,)
    except _NOTHING:
        return None


def _kind(path: Path, about: About) -> Kind | None:
    try:
        return _content(path, SUFFIX, about)["kind"]  # type: ignore[no-any-return]
    except _NOTHING:
        return None


def _content(path: Path, suffix: str, about: About | None) -> dict[str, Any]:
    """The content of a file, if it is about the case and question that it is named after."""
    data: dict[str, Any] = read_json(text_of(path))
    name = file_name(data["name"], data["question"])
    if path.name != name.removesuffix(".json") + suffix or about not in (None, (data["family"], data["case"])):
        raise CertificateError(f"the content is that of {name}")
    return data


def _age(path: Path) -> float:
    try:
        return time.time() - path.stat().st_mtime
    except FileNotFoundError:
        return 0.0
