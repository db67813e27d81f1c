"""Tasks of a batch, their reports, and the outcomes of questions that got no certificate."""

import json
import platform
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from m2bridge._version import __version__
from m2bridge.batch.cases import Case
from m2bridge.crosscheck.questions import question_of, questions
from m2bridge.errors import (
    EngineDiedError,
    InvalidCaseError,
    M2BridgeError,
    MemoryLimitError,
    MethodUnavailableError,
    NotApplicableError,
    TimeLimitError,
    TooLargeError,
)
from m2bridge.families import family

Kind = Literal["timed-out", "out-of-memory", "failed", "died", "refused", "not-applicable"]
KINDS: tuple[Kind, ...] = get_args(Kind)
SUFFIX = ".outcome.json"


@dataclass(frozen=True, slots=True)
class Unanswered:
    """Why a question has no certificate.

    Parameters
    ----------
    family : str
    case : dict
    name : str
        As of :class:`~m2bridge.certificates.schema.Certificate`.
    question : str
    kind : {"timed-out", "out-of-memory", "failed", "died", "refused", "not-applicable"}
        ``died``: Macaulay2 or the worker ended twice while at this case. ``refused``: the case is too large for the
        methods that there are. ``not-applicable``: the question is not about this case, and nothing is missing.
    reason : str
        One line for a person.
    details : str
        The traceback of an unexpected failure; empty otherwise.
    timeout, memory : float, int or None
        The limits of the batch.
    versions : dict of str to str
    """

    family: str
    case: dict[str, Any]
    name: str
    question: str
    kind: Kind
    reason: str
    details: str
    timeout: float | None
    memory: int | None
    versions: dict[str, str]

    def to_json(self) -> dict[str, Any]:
        """A dictionary for ``json.dumps``."""
        return asdict(self)

    def to_text(self) -> str:
        """The content of its file."""
        return json.dumps(self.to_json(), sort_keys=True, indent=1, ensure_ascii=False) + "\n"


def kind_of(error: BaseException) -> Kind:
    """The kind of outcome that an exception amounts to."""
    if isinstance(error, TimeLimitError):
        return "timed-out"
    if isinstance(error, MemoryLimitError | MemoryError):
        return "out-of-memory"
    if isinstance(error, NotApplicableError):
        return "not-applicable"
    if isinstance(error, InvalidCaseError | MethodUnavailableError | TooLargeError):
        return "refused"
    return "died" if isinstance(error, EngineDiedError) else "failed"


def reason_of(error: BaseException) -> str:
    """The first line of an exception's message, with its type where the message does not say enough."""
    line = (str(error).splitlines() or [""])[0]
    return line if isinstance(error, M2BridgeError) and line else f"{type(error).__name__}: {line}"


def versions(macaulay2: str) -> dict[str, str]:
    """Versions that an outcome records."""
    return {"m2bridge": __version__, "macaulay2": macaulay2, "python": platform.python_version()}


LONGEST_NAME = 200
"""Bytes of the name of a case: with the question and what a store adds a name of a file has at most 255."""


@dataclass(frozen=True, slots=True)
class Task:
    """Questions about one case, answered together by one worker.

    Parameters
    ----------
    case : Model
        Of a family in the registry.
    questions : tuple of str
        Keys of :func:`m2bridge.crosscheck.questions.questions`.
    """

    case: Case
    questions: tuple[str, ...]

    @property
    def name(self) -> str:
        """``d3-dout2-a2-t2``."""
        return family(self.case.family).label(self.case)

    @property
    def effort(self) -> int:
        """A rough measure of how long it takes."""
        return family(self.case.family).effort(self.case)

    @property
    def needs_engine(self) -> bool:
        """Whether some question needs Macaulay2."""
        return any(question_of(self.case.family, key).needs_engine(self.case) for key in self.questions)

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Questions that share their observation."""
        groups: dict[str, list[str]] = {}
        for key in self.questions:
            groups.setdefault(question_of(self.case.family, key).observation, []).append(key)
        return tuple(map(tuple, groups.values()))


@dataclass(frozen=True, slots=True)
class TaskReport:
    """The report on a task.

    Parameters
    ----------
    task : Task
    answers : dict of str to tuple of str
        For each question the verdicts, or the kind of outcome.
    seconds : float
    held : bool
        Another process is at this case; nothing was done.
    """

    task: Task
    answers: dict[str, tuple[str, ...]]
    seconds: float
    held: bool = False

    @property
    def counts(self) -> Counter[str]:
        """The number of answers with each verdict, and with each kind of outcome."""
        return counted(self.answers)


def counted(answers: Mapping[str, Iterable[str]]) -> Counter[str]:
    """The number of answers to questions with each verdict, and with each kind of outcome."""
    return Counter(answer for verdicts in answers.values() for answer in verdicts)


def tasks(cases: Iterable[Case], check: str = "all") -> tuple[Task, ...]:
    """One task for each case.

    Parameters
    ----------
    cases : iterable of Model
    check : str
        A list of questions separated by commas, by their keys or by the names that reports print, in which ``all``
        stands for every question that is usual for a case, and ``reachable`` for every question of which an answer is
        expected within minutes.

    Raises
    ------
    InvalidCaseError
        If a question is unknown, there are none about the cases, or the name of a case is too long for a file.
    """
    words = tuple(dict.fromkeys(part.strip() for part in check.split(",")))
    listed = tuple(_task(case, words) for case in cases)
    if listed and not any(task.questions for task in listed):
        raise InvalidCaseError("check", f"'{check}' asks nothing about these cases")
    return listed


def _task(case: Case, words: Sequence[str]) -> Task:
    task = Task(case, _questions(case, words))
    if (length := len(task.name.encode())) > LONGEST_NAME:
        named_by = family(case.family).options
        raise InvalidCaseError(
            named_by[0].name if named_by else "family",
            f"'{task.name:.40}…' has a name of {length} letters, and results are files of at most {LONGEST_NAME}:"
            " 'dimension' and 'cross-check' have no such limit",
        )
    return task


def _questions(case: Case, words: Sequence[str]) -> tuple[str, ...]:
    by_key = questions(case.family)
    if not by_key:
        raise InvalidCaseError("family", f"there are no questions about {family(case.family).title} to be certified")
    meanings = {name: [key] for key, question in by_key.items() for name in question.names()} | {
        "all": [key for key, question in by_key.items() if question.usual(case)],
        "reachable": [key for key, question in by_key.items() if question.within_reach(case)],
    }
    if unknown := [key for key in words if key not in meanings and key not in by_key]:
        raise InvalidCaseError("check", f"unknown question '{unknown[0]}': use all, reachable, or {', '.join(by_key)}")
    return tuple(dict.fromkeys(key for part in words for key in meanings.get(part, (part,))))
