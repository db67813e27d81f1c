"""The plan of a batch, which determines what is left to do; its run and its progress display.

An executor performs the tasks that are left, in any order and process. This file counts and shows
its results, and tries a task again if another batch was working on the case.

A *task* is a case with questions about it; for each question the folder of results (a *store*) has
a certificate, or an *outcome* that says why there is none. *Answers* are verdicts such as
``CONFIRMED``, and kinds of outcomes such as ``timed-out``; they are counted by these words.

In displays ``_number`` counts all tasks, and ``_done`` the tasks that are done, also in earlier
runs. ``started`` and ``finished`` are called when a worker begins a task, and when it is done.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from m2bridge.batch.store import CANNOT_STORE, KINDS, Store, Task, TaskResult, count_answers
from m2bridge.certificates.form import file_name
from m2bridge.errors import InvalidCaseError, check_kind, elements
from m2bridge.results.sheet import duration, in_brackets, line, plural, shortened, visible

if TYPE_CHECKING:
    from rich.table import Table


@dataclass(frozen=True, slots=True)
class Plan:
    """The tasks of a batch, and those that its folder leaves to do.

    Parameters
    ----------
    tasks : tuple of Task
        All tasks, or all items of :mod:`m2bridge.batch.run_many`.
    left : tuple of Task
        The tasks with unanswered questions, with only these questions, in the same order.
    answers : Counter
        The number of verdicts and outcomes of each kind in the folder, for the questions of this
        batch.
    unusable : tuple of str
        Files with the name of a certificate that are not this certificate: incomplete ones, or
        certificates of a different case or question.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     found = plan(tasks([SingleLayerAttention(d=2, d_out=1)]), Store(Path(folder)))
    >>> found.done, [task.name for task in found.left]
    (0, ['d2-dout1-a2-t2'])
    """

    tasks: tuple[Any, ...]
    left: tuple[Any, ...]
    answers: Counter[str]
    unusable: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return in_brackets(self, "done", "answers")

    @property
    def done(self) -> int:
        """The number of cases that are done."""
        return len(self.tasks) - len(self.left)

    def to_text(self) -> str:
        """The plan in words: ``cases: 1 (2 questions with 4 answers), done: 0, to do: 1``."""
        questions = sum(len(task.questions) for task in self.tasks)
        # a question about a theorem has one answer for each part
        answers = sum(task.answer_count for task in self.tasks)
        extent = plural(questions, "question")
        if answers != questions:
            extent += f" with {plural(answers, 'answer')}"
        return f"cases: {len(self.tasks)} ({extent}), done: {self.done}, to do: {len(self.left)}"

    __str__ = to_text


def plan(tasks: Sequence[Task], store: Store) -> Plan:
    """Return the plan for tasks, given the results in a folder.

    Incomplete files of stopped batches are removed first, and outcomes beside a certificate.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     print(plan(tasks([SingleLayerAttention(d=2, d_out=1)], "3.3,3.4"), Store(Path(folder))))
    cases: 1 (2 questions with 4 answers), done: 0, to do: 1
    """
    check_kind("store", store, Store, "a Store")
    for task in elements("tasks", tasks, "a list of Tasks"):
        check_kind("tasks", task, Task, "a list of Tasks")
    names = store.names()
    store.sweep(names)
    tasks_left: list[Task] = []
    unusable: list[str] = []
    answers = Counter[str]()
    for task in tasks:
        answers_in_store = store.answers(task, names)
        answers += count_answers(answers_in_store)
        questions = tuple(
            question for question in task.questions if question not in answers_in_store
        )
        if questions:
            tasks_left.append(Task(task.case, questions))
            files = [file_name(task.name, question) for question in questions]
            # a file that is there and answers nothing is damaged, or of a different case
            unusable += [name for name in files if name in names]
    return Plan(
        tasks=tuple(tasks), left=tuple(tasks_left), answers=answers, unusable=tuple(unusable)
    )


class Progress:
    """A display of the progress of a batch. The base class counts, and shows nothing."""

    def __init__(self) -> None:
        self._done = self._number = 0

    @contextmanager
    def of(self, plan: Plan) -> Iterator[None]:
        """Show the progress of a plan during the block."""
        self._done, self._number = plan.done, len(plan.tasks)
        yield

    def started(self, task: Any) -> None:
        """Record that a worker began a task."""

    def finished(self, report: TaskResult) -> None:
        """Record that a task is done."""
        self._done += 1


class Lines(Progress):
    """A display of one plain line for each case that is done."""

    def __init__(self, stream: TextIO | None = None) -> None:
        super().__init__()
        self._stream = stream or sys.stderr

    def finished(self, report: TaskResult) -> None:
        """Print a line about the task."""
        super().finished(report)
        name, answers = report.task.name, _counts_text(report.counts)
        text = f"{self._done}/{self._number}  {name}  {duration(report.seconds)}  {answers}"
        if report.reason:
            text += f": {shortened(line(report.reason))}"
        with suppress(OSError):  # the batch continues even if nobody can read the line
            print(visible(text), file=self._stream, flush=True)


class Live(Progress):
    """A display on a terminal, a table that is drawn again and again; the time that is left is
    estimated from the efforts of the tasks.
    """

    @contextmanager
    def of(self, plan: Plan) -> Iterator[None]:
        """Show the progress of a plan during the block."""
        from rich.console import Console
        from rich.live import Live as Display

        self._answers = plan.answers.copy()
        self._begin = time.monotonic()
        # the tasks at which workers are, with the time when each began
        self._running: dict[Any, float] = {}
        self._effort = sum(task.effort for task in plan.left)
        self._effort_done = 0
        console = self._console = Console(stderr=True)
        display = Display(
            get_renderable=self._table, console=console, refresh_per_second=4, transient=True
        )
        with super().of(plan), display:
            yield

    def started(self, task: Any) -> None:
        """Record that a worker began a task."""
        self._running[task] = time.monotonic()

    def finished(self, report: TaskResult) -> None:
        """Record that a task is done."""
        super().finished(report)
        self._running.pop(report.task, None)
        if report.reason:  # stays on the screen, above the table
            text = visible(f"{report.task.name}: {shortened(line(report.reason))}")
            self._console.print(text, markup=False, highlight=False)
        self._answers += report.counts
        self._effort_done += report.task.effort

    def _table(self) -> Table:
        """Return the table to draw at this moment; the display asks for it in a thread."""
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        now = time.monotonic()
        elapsed = now - self._begin
        # The main thread changes this dictionary meanwhile, so a copy of it is read.
        began = dict(self._running)
        running = [
            visible(f"{task.name} ({duration(now - begin)})") for task, begin in began.items()
        ]
        # at most eight tasks are named, so that the table stays on the screen
        if len(running) > 8:
            running[8:] = ["…"]
        time_left = ""
        if self._effort_done:
            seconds_left = elapsed * (self._effort - self._effort_done) / self._effort_done
            time_left = f"about {duration(seconds_left)} left"
        table = Table.grid(padding=(0, 2))
        bar = ProgressBar(self._number, self._done, width=40)
        table.add_row("cases", bar, f"{self._done} of {self._number}")
        table.add_row("answers", _counts_text(self._answers))
        # as text, in which rich finds no markup
        table.add_row("running", Text("\n".join(running)))
        table.add_row("elapsed", duration(elapsed), time_left)
        return table


def progress_display(quiet: bool) -> Progress:
    """Return the display: live on a terminal, plain lines elsewhere, nothing when ``quiet``."""
    if quiet:
        return Progress()
    if sys.stderr.isatty():
        return Live()
    return Lines()


def _counts_text(answers: Counter[str]) -> str:
    """Return the numbers of answers of each kind in words: ``1 REFUTED, 3 CONFIRMED``."""
    return ", ".join(f"{number} {name}" for name, number in sorted(answers.items()))


@dataclass(frozen=True, slots=True)
class Summary:
    """The results of a batch in numbers."""

    cases: int  # of the batch, of which ``done_before`` were done when it began
    done_before: int
    answers: Counter[str]  # in the folder, for the questions of this batch
    seconds: float

    @property
    def refuted(self) -> bool:
        """Whether some statement is refuted."""
        return self.answers["REFUTED"] > 0

    @property
    def undecided(self) -> bool:
        """Whether some question is undecided, or has an outcome in place of an answer."""
        return any(self.answers[name] for name in ("UNDECIDED", *KINDS))

    def to_json(self) -> dict[str, Any]:
        """A dictionary for ``json.dumps``."""
        return asdict(self) | {
            "answers": dict(sorted(self.answers.items())),
            "seconds": round(self.seconds, 3),
        }

    def to_text(self) -> str:
        """The numbers in words: ``cases: 40 in 8 s: 120 CONFIRMED, 2 REFUTED``."""
        ran = ""
        if self.done_before < self.cases:
            ran = f" in {duration(self.seconds)}"
        return f"cases: {self.cases}{ran}: {_counts_text(self.answers) or 'no answers'}"

    __str__ = to_text


def run(
    plan: Plan,
    start: Callable[[], Any],
    progress: Progress,
    keep: Callable[[TaskResult], object] = lambda report: None,
) -> Summary:
    """Perform the tasks that a plan leaves to do, with the executor that ``start`` makes; a case on
    which another batch works is tried again until it is done or free.

    The summary counts the answers that were there before, and the answers of the tasks performed.
    All workers have ended when this returns or raises.
    """
    begin = time.monotonic()
    answers = plan.answers.copy()
    if plan.left:
        with start() as executor, progress.of(plan):
            tasks: Sequence[Any] = plan.left
            while tasks:
                postponed = []  # by another batch
                for report in executor.run(tasks, progress.started):
                    if report.held:
                        postponed.append(report.task)
                        continue
                    progress.finished(report)
                    keep(report)
                    answers += report.counts
                if postponed:
                    time.sleep(0.5)  # another batch is computing these cases
                tasks = postponed
    return Summary(
        cases=len(plan.tasks),
        done_before=plan.done,
        answers=answers,
        seconds=time.monotonic() - begin,
    )


def results_folder(path: Path) -> Path:
    """Return the absolute path of the folder of results, made if it does not exist."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as reason:
        if reason.errno in CANNOT_STORE:  # a full or read-only disk is not a mistake in the option
            raise
        raise InvalidCaseError(
            "out", f"cannot make the folder '{path}': {reason.strerror}"
        ) from None
    return path.absolute()


def outcome_kinds(kinds: str | Iterable[str]) -> frozenset[Any]:
    """Return the kinds of outcomes in a text such as ``timed-out,failed``, or in a list of them;
    Python would take a text for the list of its letters.
    """
    if isinstance(kinds, str):
        kinds = [part.strip() for part in kinds.split(",") if part.strip()]
    if not isinstance(kinds, Iterable):
        message = f"must be kinds of outcomes such as 'timed-out', not {kinds!r:.40}"
        raise InvalidCaseError("retry", message)
    # a list of anything may be given in Python, so that nothing is sorted or hashed before the test
    listed_kinds = list(kinds)
    for kind in listed_kinds:
        if kind not in KINDS:
            raise InvalidCaseError("retry", f"unknown kind '{kind!s:.40}': use {', '.join(KINDS)}")
    return frozenset(listed_kinds)
