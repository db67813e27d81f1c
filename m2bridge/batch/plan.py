"""The plan of a batch, which says what is left to do; its run, and its progress on the screen.

An executor performs what is left, in whatever order and processes; here its reports are counted,
shown, and tried again where another batch was at the case.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, TextIO

from m2bridge.batch import PAUSE
from m2bridge.batch.store import KINDS, Store, Task, TaskResult, counted
from m2bridge.certificates.form import file_name
from m2bridge.errors import check_kind
from m2bridge.results.sheet import duration, plural

if TYPE_CHECKING:
    from rich.table import Table


@dataclass(frozen=True, slots=True)
class Plan:
    """The tasks of a batch, parted by what its folder holds.

    Parameters
    ----------
    tasks : tuple of Task
        All of them, or all items of :mod:`m2bridge.batch.run_many`.
    left : tuple of Task
        Those of which some question is not answered, with these questions only, in the same order.
    answers : Counter
        How often each verdict and each kind of outcome is in the folder, for the questions of this
        batch.
    unusable : tuple of str
        Files under the names of certificates that are not done: half of one, or that of another
        case or question.

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

    @property
    def done(self) -> int:
        """The number of cases that need nothing more."""
        return len(self.tasks) - len(self.left)

    def to_text(self) -> str:
        """A line in words."""
        questions = sum(len(task.questions) for task in self.tasks)
        # a question about a theorem has one for each part
        answers = sum(task.answer_count for task in self.tasks)
        asked = plural(questions, "question")
        if answers != questions:
            asked += f" with {plural(answers, 'answer')}"
        return f"cases: {len(self.tasks)} ({asked}), done: {self.done}, to do: {len(self.left)}"

    __str__ = to_text


def plan(tasks: Sequence[Task], store: Store) -> Plan:
    """Return what is left to do: the tasks without what is done.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     print(plan(tasks([SingleLayerAttention(d=2, d_out=1)], "3.3,3.4"), Store(Path(folder))))
    cases: 1 (2 questions with 4 answers), done: 0, to do: 1
    """
    check_kind("store", store, Store, "a Store")
    names = store.names()
    store.sweep(names)
    left: list[Task] = []
    unusable: list[str] = []
    answers = Counter[str]()
    for task in tasks:
        done = store.answers(task, names)
        answers += counted(done)
        questions = tuple(question for question in task.questions if question not in done)
        if questions:
            left.append(Task(task.case, questions))
            files = [file_name(task.name, question) for question in questions]
            unusable += [name for name in files if name in names]
    return Plan(tuple(tasks), tuple(left), answers, tuple(unusable))


class Progress:
    """A display of the progress of a batch; this one counts and shows nothing."""

    def __init__(self) -> None:
        self._done = self._number = 0

    @contextmanager
    def of(self, plan: Plan) -> Iterator[None]:
        """Show the progress of a plan during the block."""
        self._done, self._number = plan.done, len(plan.tasks)
        yield

    def started(self, task: Any) -> None:
        """Take note that a worker began with a task."""

    def finished(self, report: TaskResult) -> None:
        """Take note that a task is done."""
        self._done += 1


class Lines(Progress):
    """One plain line for each case that is done."""

    def __init__(self, stream: TextIO | None = None) -> None:
        super().__init__()
        self._stream = stream or sys.stderr

    def finished(self, report: TaskResult) -> None:
        """Print a line about the task."""
        super().finished(report)
        name, answers = report.task.name, _counted(report.counts)
        text = f"{self._done}/{self._number}  {name}  {duration(report.seconds)}  {answers}"
        with suppress(OSError):  # nobody may be there any more to read it, and the batch goes on
            print(text, file=self._stream, flush=True)


class Live(Progress):
    """A display on a terminal that is brought up to date in place."""

    @contextmanager
    def of(self, plan: Plan) -> Iterator[None]:
        """Show the progress of a plan during the block."""
        from rich.console import Console
        from rich.live import Live as Display

        self._answers = plan.answers.copy()
        self._begin = time.monotonic()
        self._running: dict[Any, float] = {}
        self._effort = sum(task.effort for task in plan.left)
        self._effort_done = 0
        console = Console(stderr=True)
        display = Display(
            get_renderable=self._table, console=console, refresh_per_second=4, transient=True
        )
        with super().of(plan), display:
            yield

    def started(self, task: Any) -> None:
        """Take note that a worker began with a task."""
        self._running[task] = time.monotonic()

    def finished(self, report: TaskResult) -> None:
        """Take note that a task is done."""
        super().finished(report)
        self._running.pop(report.task, None)
        self._answers += report.counts
        self._effort_done += report.task.effort

    def _table(self) -> Table:
        from rich.progress_bar import ProgressBar
        from rich.table import Table

        now = time.monotonic()
        elapsed = now - self._begin
        # Another thread draws, while this one goes on: it has a copy.
        running = [f"{task.name} ({duration(now - at)})" for task, at in [*self._running.items()]]
        if len(running) > 8:
            running[8:] = ["…"]
        left = ""
        if self._effort_done:
            expected = elapsed * (self._effort - self._effort_done) / self._effort_done
            left = f"about {duration(expected)} left"
        table = Table.grid(padding=(0, 2))
        done = ProgressBar(self._number, self._done, width=40)
        table.add_row("cases", done, f"{self._done} of {self._number}")
        table.add_row("answers", _counted(self._answers))
        table.add_row("running", "\n".join(running))
        table.add_row("elapsed", duration(elapsed), left)
        return table


def shown(quiet: bool) -> Progress:
    """The display that fits: live on a terminal, plain lines elsewhere, nothing when ``quiet``."""
    if quiet:
        return Progress()
    if sys.stderr.isatty():
        return Live()
    return Lines()


def _counted(answers: Counter[str]) -> str:
    return ", ".join(f"{number} {name}" for name, number in sorted(answers.items()))


@dataclass(frozen=True, slots=True)
class Summary:
    """The end of a batch in numbers.

    Parameters
    ----------
    cases : int
        How many cases the batch has.
    done_before : int
        How many of them were done when it began.
    answers : Counter
        How often each verdict and each kind of outcome is in the folder, for the questions of this
        batch.
    seconds : float
    """

    cases: int
    done_before: int
    answers: Counter[str]
    seconds: float

    @property
    def refuted(self) -> bool:
        """Whether some statement is refuted."""
        return self.answers["REFUTED"] > 0

    @property
    def undecided(self) -> bool:
        """Whether some question has no answer."""
        return any(self.answers[name] for name in ("UNDECIDED", *KINDS))

    def to_json(self) -> dict[str, Any]:
        """A dictionary for ``json.dumps``."""
        return asdict(self) | {
            "answers": dict(sorted(self.answers.items())),
            "seconds": round(self.seconds, 3),
        }

    def to_text(self) -> str:
        """A line in words."""
        ran = ""
        if self.done_before < self.cases:
            ran = f" in {duration(self.seconds)}"
        return f"cases: {self.cases}{ran}: {_counted(self.answers) or 'no answers'}"

    __str__ = to_text


def run(
    plan: Plan,
    start: Callable[[], Any],
    progress: Progress,
    keep: Callable[[TaskResult], object] = lambda report: None,
) -> Summary:
    """Perform what a plan says is left.

    A case that another batch is at is left to it, and looked at again until it is done or free.

    Parameters
    ----------
    plan : Plan
    start : callable
        Starts the executor; not called when nothing is left. All its workers have ended when
        ``run`` returns or raises.
    progress : Progress
    keep : callable
        Is told of each report.

    Raises
    ------
    BatchError
        If results cannot be stored or workers do not start.
    """
    begin = time.monotonic()
    answers = plan.answers.copy()
    if plan.left:
        with start() as executor, progress.of(plan):
            for report in _performed(plan.left, executor, progress):
                progress.finished(report)
                keep(report)
                answers += report.counts
    return Summary(len(plan.tasks), plan.done, answers, time.monotonic() - begin)


def _performed(tasks: Sequence[Any], executor: Any, progress: Progress) -> Iterator[TaskResult]:
    while tasks:
        held = []
        for report in executor.run(tasks, progress.started):
            if report.held:
                held.append(report.task)
            else:
                yield report
        if held:
            time.sleep(PAUSE)
        tasks = held
