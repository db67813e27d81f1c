"""The tasks of a batch, and its folder of results, which is its whole state.

A task is a case with questions about it. For each question the folder gets a file: a certificate,
or an outcome that says why there is no certificate. The *answers* to a question are its verdicts,
or the kind of its outcome. Only one process at a time works on a case, even among several batches.

A file counts as missing if it is incomplete, or does not have the content that its name promises;
``None`` stands for it, and for a limit that is not set. Limits are in seconds and bytes. A mistake
in an argument raises InvalidCaseError; where nothing can be stored, a BatchError names the folder.
"""

import errno
import json
import os
import platform
import stat
import time
import traceback
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set as AbstractSet
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, Literal, get_args

from m2bridge import errors
from m2bridge._version import __version__
from m2bridge.batch import MAX_CASE_NAME_BYTES
from m2bridge.certificates.form import Certificate, file_name, text_of_file
from m2bridge.certification.make import question_of, questions
from m2bridge.convert.bounded_io import read_json
from m2bridge.engine.scratch import try_to_lock
from m2bridge.families.all_sizes import AllSizesCase
from m2bridge.families.registry import family
from m2bridge.maps.model import Model
from m2bridge.results.sheet import visible
from m2bridge.system import is_aside, write_all_aside, write_aside

# Of kinds, ``died`` is Macaulay2 or the worker ended twice during the case; ``refused``: the case
# is too large for all methods; ``not-applicable``: the question does not apply to the case.
OutcomeKind = Literal["timed-out", "out-of-memory", "failed", "died", "refused", "not-applicable"]
KINDS: tuple[OutcomeKind, ...] = get_args(OutcomeKind)
SUFFIX = ".outcome.json"

CLAIMS_FOLDER = ".claims"
"""The folder of the locks on cases."""

COMPUTED = "COMPUTED"
"""The answer to a question that is computed but not compared with a statement."""

NOT_APPLICABLE = "NOT_APPLICABLE"
"""The verdict on a statement, or the answer to a question, that does not apply to the case."""

_WORDS_OF_KINDS: dict[OutcomeKind, str] = {"not-applicable": NOT_APPLICABLE}
"""The answers that stand for kinds of outcomes, where they are not the names of the kinds."""

CANNOT_STORE = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)
"""Errors of the system after which no file at all can be stored."""

_UNREADABLE = (
    FileNotFoundError,
    ValueError,
    KeyError,
    TypeError,
    RecursionError,
    errors.M2BridgeError,
)
"""Errors of reading an incomplete or foreign file, which then counts as missing."""

CaseInFile = tuple[str, dict[str, Any]]
"""A case as files name it: its family, and the numbers of the case by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unanswered:
    """Why a question has no certificate."""

    family: str
    case: dict[str, Any]
    name: str
    question: str
    kind: OutcomeKind
    reason: str
    details: str  # the traceback of an unexpected failure, else empty
    timeout: float | None  # this and the next field are the limits of the batch
    memory: int | None
    versions: dict[str, str]

    def to_text(self) -> str:
        """Return the content of the file for this outcome."""
        return json.dumps(asdict(self), sort_keys=True, indent=1, ensure_ascii=False) + "\n"


def kind_of(error: BaseException) -> OutcomeKind:
    """Return the kind of outcome for an exception."""
    if isinstance(error, errors.TimeLimitError):
        return "timed-out"
    if isinstance(error, errors.MemoryLimitError | MemoryError):
        return "out-of-memory"
    if isinstance(error, errors.NotApplicableError):
        return "not-applicable"
    if isinstance(
        error, errors.InvalidCaseError | errors.MethodUnavailableError | errors.TooLargeError
    ):
        return "refused"
    if isinstance(error, errors.EngineDiedError):
        return "died"
    return "failed"


def reason_of(error: BaseException) -> str:
    """Return the first line of an exception's message, with its type unless m2bridge raised it."""
    line = (str(error).splitlines() or [""])[0]
    if isinstance(error, errors.M2BridgeError) and line:
        return line
    return f"{type(error).__name__}: {line}"


def versions(macaulay2: str) -> dict[str, str]:
    """Return the versions that an outcome records; ``macaulay2`` is ``1.24.11`` or ``none``."""
    return {"m2bridge": __version__, "macaulay2": macaulay2, "python": platform.python_version()}


@dataclass(frozen=True, slots=True)
class Task:
    """Questions about one case, answered together by one worker.

    Parameters
    ----------
    case : Model
        A model of a family in the registry.
    questions : tuple of str
        Keys of questions of the family, such as ``3.4``.

    Examples
    --------
    >>> Task(SingleLayerAttention(d=2, d_out=1), ("3.3", "3.4")).name
    'd2-dout1-a2-t2'
    """

    case: Model
    questions: tuple[str, ...]

    @property
    def name(self) -> str:
        """The name of the case, such as ``d3-dout2-a2-t2``."""
        return family(self.case.family).label(self.case)

    @property
    def effort(self) -> int:
        """A rough measure of the time that the task takes, in a unit of the family."""
        return family(self.case.family).effort(self.case)

    @property
    def answer_count(self) -> int:
        """The number of verdicts and other answers to all questions together."""
        return sum(len(question_of(self.case.family, key).names()) for key in self.questions)

    @property
    def needs_engine(self) -> bool:
        """Whether some question needs Macaulay2."""
        questions = [question_of(self.case.family, key) for key in self.questions]
        return any(question.needs_engine(self.case) for question in questions)

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The questions, in groups that share one observation."""
        by_observation: dict[str, list[str]] = {}
        for key in self.questions:
            observation = question_of(self.case.family, key).observation
            by_observation.setdefault(observation, []).append(key)
        return tuple(map(tuple, by_observation.values()))


@dataclass(frozen=True, slots=True)
class TaskResult:
    """The result of a task, or of an item of :mod:`m2bridge.batch.run_many`."""

    task: Any  # it has a name and an effort
    counts: Counter[str]  # the number of answers of each kind
    seconds: float
    held: bool = False  # another process is working on this case; nothing was done
    outcome: bytes = b""  # the pickled outcome of an item; the answers of a task are in the store
    reason: str = ""  # why an item has no result


def count_answers(answers: Mapping[str, Iterable[str]]) -> Counter[str]:
    """Count verdicts and kinds of outcomes, given the answers to each question, by its key."""
    return Counter(answer for verdicts in answers.values() for answer in verdicts)


def tasks(cases: Iterable[Model], check: str = "all") -> tuple[Task, ...]:
    """Return one task for each case.

    Parameters
    ----------
    cases : iterable of Model
    check : str
        A list of questions separated by commas, by their keys or by the names that reports print,
        in which ``all`` stands for every question that is usual for a case, and ``reachable`` for
        every question of which an answer is expected within minutes.

    Raises
    ------
    InvalidCaseError
        If a question is unknown, no question is about the cases, or the name of a case is too long
        for a file.

    Examples
    --------
    >>> [task.questions for task in tasks([SingleLayerAttention(d=2, d_out=1)], "3.3,3.4")]
    [('3.3', '3.4')]
    """
    models = errors.elements("cases", cases, "a list of models")
    for model in models:
        errors.check_kind("cases", model, (Model, AllSizesCase), "a list of models")
    errors.check_kind("check", check, str, "a text")
    words = tuple(dict.fromkeys(part.strip() for part in check.split(",")))
    listed = []
    for model in models:
        task = Task(model, _questions(model, words))
        listed.append(task)
        length = len(task.name.encode())
        if length > MAX_CASE_NAME_BYTES:
            # the error names the first option of the case, which usually makes the name so long
            named_by = [option.name for option in family(task.case.family).options]
            raise errors.InvalidCaseError(
                [*named_by, "family"][0],
                f"the name '{task.name:.40}…' has {length} letters, and names of files have at"
                f" most {MAX_CASE_NAME_BYTES}: 'dimension' and 'cross-check' have no such limit",
            )
    if listed and not any(task.questions for task in listed):
        raise errors.InvalidCaseError("check", f"'{check}' contains no question about these cases")
    return tuple(listed)


def _questions(case: Model, words: Sequence[str]) -> tuple[str, ...]:
    """Return the keys of the questions that the words (keys, names of statements, ``all``,
    ``reachable``) mean for a case, each once.
    """
    by_key = questions(case.family)
    if not by_key:
        raise errors.InvalidCaseError(
            "family", f"there are no questions about {family(case.family).title} to be certified"
        )
    meanings = {key: [key] for key in by_key}  # the keys of the questions that each word means
    for key, question in by_key.items():
        # Reports print names such as '3.4 (iii)', which mean the question with this part.
        meanings |= {name: [key] for name in question.names()}
    meanings["all"] = [key for key, question in by_key.items() if question.usual(case)]
    if "reachable" in words:  # to tell, a question may load what computes its answer
        meanings["reachable"] = [
            key for key, question in by_key.items() if question.within_reach(case)
        ]
    unknown = [word for word in words if word not in meanings]
    if unknown:
        raise errors.InvalidCaseError(
            "check", f"unknown question '{unknown[0]}': use all, reachable, or {', '.join(by_key)}"
        )
    # Several words may mean one question, which is asked once.
    keys = chain.from_iterable(meanings[word] for word in words)
    return tuple(dict.fromkeys(keys))


@contextmanager
def case_lock(results: Path, name: str) -> Iterator[bool]:
    """Lock the case with this name during the block; the context is whether it was free.

    The kernel holds the lock for this process, so it is never stale. On file systems without locks
    every case is free; then two batches may do the same work, and the later certificate replaces
    the earlier one. A link in its place is a BatchError: nothing outside the folder is made or
    removed.
    """
    path = results / CLAIMS_FOLDER
    with suppress(FileExistsError):
        path.mkdir()  # without parents: a deleted folder of results is not made again
    with (
        _opened(path, folder=None, flags=os.O_RDONLY | os.O_DIRECTORY) as claims,
        _opened(name, claims, flags=os.O_WRONLY | os.O_CREAT) as file,
    ):
        mine = False
        # The name must still lead to the file that was locked: its last owner may have removed it
        # meanwhile, and another process may have made a new one.
        with suppress(FileNotFoundError):
            present = os.stat(name, dir_fd=claims, follow_symlinks=False)
            mine = try_to_lock(file) and os.path.samestat(os.fstat(file), present)
        try:
            yield mine
        finally:
            if mine:
                with suppress(FileNotFoundError):
                    os.unlink(name, dir_fd=claims)


@contextmanager
def _opened(path: str | Path, folder: int | None, flags: int) -> Iterator[int]:
    """Open a file or folder, but no link, in the open ``folder``; the context is its descriptor."""
    try:
        descriptor = os.open(path, flags | os.O_NOFOLLOW, 0o666, dir_fd=folder)
    except OSError as reason:
        if reason.errno not in (errno.ELOOP, errno.ENOTDIR):
            raise
        raise errors.BatchError(
            f"'{visible(str(path))}', the place of the locks on cases, is a link or not a folder:"
            " remove it; nothing is made or deleted where it leads"
        ) from None
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@dataclass(frozen=True, slots=True)
class Store:
    """The results of a batch: for each case and question one certificate, or one outcome.

    Parameters
    ----------
    folder : Path, or its text
    retry : frozenset of str
        Kinds of outcomes that count as not done ...
    since : float
        ... if they were written before this time.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> (task,) = tasks([SingleLayerAttention(d=2, d_out=1)], "3.3")
    >>> with TemporaryDirectory() as folder:
    ...     Store(Path(folder)).answers(task), Store(Path(folder)).left(task).questions
    ({}, ('3.3',))
    """

    folder: Path
    retry: frozenset[OutcomeKind] = frozenset()
    since: float = field(default_factory=time.time)

    def __post_init__(self) -> None:
        """Make a path of the folder, which may be given as text."""
        errors.check_kind("folder", self.folder, (str, os.PathLike), "the path of a folder")
        object.__setattr__(self, "folder", Path(self.folder))

    def names(self) -> frozenset[str]:
        """Return the names of the files in the folder."""
        return frozenset(os.listdir(self.folder)) if self.folder.is_dir() else frozenset()

    def answers(
        self, task: Task, names: Collection[str] | None = None
    ) -> dict[str, tuple[str, ...]]:
        """Read the answers to a task: for each question its verdicts, or the kind of its outcome.

        Questions that are left to do are left out.

        Parameters
        ----------
        task : Task
        names : collection of str, optional
            The names of the files in the folder, if they are known, which saves attempts to open
            files that are not there.
        """
        errors.check_kind("task", task, Task, "a Task")
        if names is not None:
            errors.check_kind("names", names, (AbstractSet, list, tuple), "names of files")
        case = task.case.family, task.case.to_json()
        answers: dict[str, tuple[str, ...]] = {}
        for question in task.questions:
            certificate = file_name(task.name, question)
            if names is None or certificate in names:
                verdicts = _answers_in(self.folder / certificate, case)
                if verdicts:  # they count more than an outcome of an earlier attempt
                    answers[question] = verdicts
                    continue
            outcome = outcome_name(task.name, question)
            if names is None or outcome in names:
                path = self.folder / outcome
                kind = None
                with suppress(*_UNREADABLE):
                    kind = _content(path, SUFFIX, case)["kind"]
                if kind not in KINDS:  # there is no usable outcome
                    continue
                is_tried_again = kind in self.retry and path.stat().st_mtime < self.since
                if not is_tried_again:
                    answers[question] = (_WORDS_OF_KINDS.get(kind, kind),)
        return answers

    def check(self, tasks: Iterable[Task]) -> None:
        """Raise BatchError if a question of tasks that were performed has no file."""
        listed = errors.elements("tasks", tasks, "a list of Tasks")
        # a deleted file would otherwise look like a question that was never asked
        names = self.names()
        number = 0
        gaps = []
        for task in listed:
            errors.check_kind("tasks", task, Task, "a list of Tasks")
            for question in task.questions:
                number += 1
                name = file_name(task.name, question)
                if names.isdisjoint((name, outcome_name(task.name, question))):
                    gaps.append(name)
        if gaps:
            raise errors.BatchError(
                f"{len(gaps)} of {number} results are not in '{visible(str(self.folder))}', such"
                f" as '{gaps[0]}': the folder, or files in it, were deleted during the batch;"
                " the same command computes what is missing"
            )

    def left(self, task: Task) -> Task:
        """Return the task with its unanswered questions."""
        answers = self.answers(task)
        left = tuple(question for question in task.questions if question not in answers)
        return Task(task.case, left)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Turn errors of the system in the block into a BatchError that names the folder."""
        try:
            yield
        except OSError as reason:
            folder = visible(str(self.folder))
            raise errors.BatchError(
                f"'{folder}' cannot be written: {reason.strerror or reason}; its files are"
                " complete, and the same command resumes from them"
            ) from None

    def make(self) -> None:
        """Make the folder, once for a batch; :meth:`check` says if it is deleted meanwhile."""
        with self.writing():
            self.folder.mkdir(parents=True, exist_ok=True)

    def put(self, certificates: Sequence[Certificate]) -> None:
        """Store certificates, which replace earlier outcomes."""
        write_all_aside({self.folder / one.file_name: one.to_text() for one in certificates})
        for one in certificates:
            (self.folder / outcome_name(one.name, one.question)).unlink(missing_ok=True)

    def put_outcomes(
        self,
        task: Task,
        error: Exception,
        timeout: float | None,
        memory: int | None,
        macaulay2: str,
    ) -> None:
        """Store an outcome for each question of a task that ended with an error, with the limits of
        the batch and the version of Macaulay2 in words, such as ``none``.
        """
        kind = kind_of(error)
        details = ""
        if kind == "failed":
            # an unexpected error is a fault of the program, whose place is wanted later
            details = "".join(traceback.format_exception(error))
        for question in task.questions:
            outcome = Unanswered(
                family=task.case.family,
                case=task.case.to_json(),
                name=task.name,
                question=question,
                kind=kind,
                reason=reason_of(error),
                details=details,
                timeout=timeout,
                memory=memory,
                versions=versions(macaulay2),
            )
            self.put_outcome(outcome)

    def put_outcome(self, outcome: Unanswered) -> None:
        """Store an outcome, unless there is a certificate."""
        if _answers_in(self.folder / file_name(outcome.name, outcome.question)) is None:
            path = self.folder / outcome_name(outcome.name, outcome.question)
            write_aside(outcome.to_text(), path)

    def sweep(self, names: Iterable[str]) -> None:
        """Remove remains of killed batches, and outcomes of questions that have a certificate,
        among the files with these names.
        """
        present = set(names)
        for name in present:
            certificate = name.removesuffix(SUFFIX) + ".json"
            is_beside = name.endswith(SUFFIX) and certificate in present
            if not is_beside and not is_aside(name):
                continue
            path = self.folder / name
            with suppress(FileNotFoundError):  # another batch may remove it too
                status = path.lstat()
                if not stat.S_ISREG(status.st_mode):
                    continue  # a batch leaves no links or folders
                # another batch may be writing a file that is younger
                age = time.time() - status.st_mtime
                # writing a file takes milliseconds, so one that is half written after an hour is
                # left over
                is_abandoned = is_aside(name) and age > 3600.0
                if is_abandoned or (is_beside and _answers_in(self.folder / certificate)):
                    path.unlink()


def outcome_name(name: str, question: str) -> str:
    """Return the name of the file of an outcome, such as ``d3-dout2-a2-t2-3.4.outcome.json``."""
    return file_name(name, question).removesuffix(".json") + SUFFIX


def certificate_of_outcome(path: Path) -> str:
    """Return the name of the certificate in whose place a usable outcome is; else ''."""
    try:
        is_usable = _content(path, SUFFIX, case=None)["kind"] in KINDS
    except (*_UNREADABLE, OSError):
        is_usable = False
    if not is_usable:
        return ""
    return path.name.removesuffix(SUFFIX) + ".json"


def _answers_in(path: Path, case: CaseInFile | None = None) -> tuple[str, ...] | None:
    """Return the verdicts in a certificate, ``COMPUTED`` alone for a question without verdicts."""
    try:
        answer = _content(path, ".json", case)["answer"]
        if "verdicts" not in answer:
            return (COMPUTED,)
        return tuple(str(verdict["verdict"]) for verdict in answer["verdicts"])
    except _UNREADABLE:
        return None


def _content(path: Path, suffix: str, case: CaseInFile | None) -> dict[str, Any]:
    """Return the content of a certificate or outcome, whose name ends in ``suffix``;
    CertificateError if it belongs to a file of another name, or is about another case.
    """
    data: dict[str, Any] = read_json(text_of_file(path))
    name = file_name(data["name"], data["question"])
    is_named = path.name == name.removesuffix(".json") + suffix
    is_about_case = case is None or case == (data["family"], data["case"])
    if not is_named or not is_about_case:
        raise errors.CertificateError(f"the content belongs to {name}")
    return data
