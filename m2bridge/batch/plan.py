"""What of a batch is left to do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from m2bridge.batch.store import Store
from m2bridge.batch.task import Task
from m2bridge.certificate.schema import file_name


@dataclass(frozen=True, slots=True)
class Plan:
    """The tasks of a batch, parted by what its folder holds.

    Parameters
    ----------
    tasks : tuple of Task
        All of them.
    left : tuple of Task
        Those of which some question is not answered, with these questions only, in the same order.
    answers : Counter
        How often each verdict and each kind of outcome is in the folder, for the questions of this batch.
    unusable : tuple of str
        Files under the names of certificates that are not done: half of one, or that of another case or question.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from m2bridge.batch.store import Store
    >>> from m2bridge.batch.task import tasks
    >>> with TemporaryDirectory() as folder:
    ...     found = plan(tasks([SingleLayerAttention(d=2, d_out=1)]), Store(Path(folder)))
    >>> found.done, [task.name for task in found.left]
    (0, ['d2-dout1-a2-t2'])
    """

    tasks: tuple[Task, ...]
    left: tuple[Task, ...]
    answers: Counter[str]
    unusable: tuple[str, ...] = ()

    @property
    def done(self) -> int:
        """How many cases need nothing more."""
        return len(self.tasks) - len(self.left)

    def to_text(self) -> str:
        """In words, on one line."""
        questions = sum(len(task.questions) for task in self.tasks)
        return f"cases: {len(self.tasks)} ({questions} questions), done: {self.done}, to do: {len(self.left)}"

    def __str__(self) -> str:
        return self.to_text()


def plan(tasks: Sequence[Task], store: Store) -> Plan:
    """Skip what is done.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from m2bridge.batch.store import Store
    >>> from m2bridge.batch.task import tasks
    >>> with TemporaryDirectory() as folder:
    ...     print(plan(tasks([SingleLayerAttention(d=2, d_out=1)], "3.3,3.4"), Store(Path(folder))))
    cases: 1 (2 questions), done: 0, to do: 1
    """
    names = store.names()
    store.sweep(names)
    left, answers, unusable = [], Counter[str](), []
    for task in tasks:
        found = store.answers(task, names)
        answers.update(answer for verdicts in found.values() for answer in verdicts)
        if questions := tuple(question for question in task.questions if question not in found):
            left.append(Task(task.case, questions))
            unusable += [name for q in questions if (name := file_name(task.name, q)) in names]
    return Plan(tuple(tasks), tuple(left), answers, tuple(unusable))
