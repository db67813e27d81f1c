"""What a batch shows while it runs, on standard error."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Protocol, TextIO

from m2bridge.batch.plan import Plan
from m2bridge.batch.task import Task, TaskReport
from m2bridge.layout import duration

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from rich.table import Table


class Progress(Protocol):
    """Is told what happens."""

    def of(self, plan: Plan) -> AbstractContextManager[None]:
        """Show the progress of a plan during the block."""
        ...

    def started(self, task: Task) -> None:
        """A worker began with a task."""
        ...

    def finished(self, report: TaskReport) -> None:
        """A task is done."""
        ...


class Silent:
    """Shows nothing."""

    @contextmanager
    def of(self, plan: Plan) -> Iterator[None]:
        """See :meth:`Progress.of`."""
        yield

    def started(self, task: Task) -> None:
        """See :meth:`Progress.started`."""

    def finished(self, report: TaskReport) -> None:
        """See :meth:`Progress.finished`."""


class Lines:
    """One plain line for each case that is done."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._done = self._number = 0

    @contextmanager
    def of(self, plan: Plan) -> Iterator[None]:
        """See :meth:`Progress.of`."""
        self._done, self._number = plan.done, len(plan.tasks)
        yield

    def started(self, task: Task) -> None:
        """See :meth:`Progress.started`."""

    def finished(self, report: TaskReport) -> None:
        """See :meth:`Progress.finished`."""
        self._done += 1
        case, said = report.task.name, _counted(Counter(a for v in report.answers.values() for a in v))
        text = f"{self._done}/{self._number}  {case}  {duration(report.seconds)}  {said}"
        with suppress(OSError):  # nobody may be there any more to read it, and the batch goes on
            print(text, file=self._stream, flush=True)


class Live:
    """A display on a terminal that is brought up to date in place."""

    def __init__(self) -> None:
        self._answers: Counter[str] = Counter()
        self._running: dict[Task, float] = {}
        self._done = self._number = self._effort_done = self._effort = 0
        self._begin = 0.0

    @contextmanager
    def of(self, plan: Plan) -> Iterator[None]:
        """See :meth:`Progress.of`."""
        from rich.console import Console
        from rich.live import Live as Display

        self._answers = plan.answers.copy()
        self._done, self._number, self._begin = plan.done, len(plan.tasks), time.monotonic()
        self._effort = sum(task.effort for task in plan.left)
        with Display(get_renderable=self._table, console=Console(stderr=True), refresh_per_second=4, transient=True):
            yield

    def started(self, task: Task) -> None:
        """See :meth:`Progress.started`."""
        self._running[task] = time.monotonic()

    def finished(self, report: TaskReport) -> None:
        """See :meth:`Progress.finished`."""
        self._running.pop(report.task, None)
        self._answers.update(answer for verdicts in report.answers.values() for answer in verdicts)
        self._done += 1
        self._effort_done += report.task.effort

    def _table(self) -> Table:
        from rich.progress_bar import ProgressBar
        from rich.table import Table

        now = time.monotonic()
        elapsed = now - self._begin
        running = [f"{task.name} ({duration(now - since)})" for task, since in list(self._running.items())]
        left = elapsed * (self._effort - self._effort_done) / self._effort_done if self._effort_done else None
        table = Table.grid(padding=(0, 2))
        table.add_row("cases", ProgressBar(self._number, self._done, width=40), f"{self._done} of {self._number}")
        table.add_row("answers", _counted(self._answers))
        table.add_row("running", "\n".join(running[:8]) + ("\n…" if len(running) > 8 else ""))
        table.add_row("elapsed", duration(elapsed), "" if left is None else f"about {duration(left)} left")
        return table


def shown(quiet: bool) -> Progress:
    """The display that fits: live on a terminal, plain lines elsewhere, nothing when ``quiet``."""
    if quiet:
        return Silent()
    return Live() if sys.stderr.isatty() else Lines()


def _counted(answers: Counter[str]) -> str:
    return ", ".join(f"{number} {name}" for name, number in sorted(answers.items()))
