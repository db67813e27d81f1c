"""Items of ``run_many``: what is computed for each, its outcome, and the worker that performs it.

An outcome is stored as a file, so that a folder can be resumed; an item that fails, or ends its
process, has an outcome too. The name of the file is the item's name with ``.json`` if there is a
value, and with SUFFIX, ``.outcome.json``, if there is none. What is stored is strictly JSON,
without NaN and without one name twice. If nothing can be stored, BatchError is raised.
"""

from __future__ import annotations

import json
import pickle
import signal
import time
import traceback
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

from m2bridge.batch import CASE_GRACE_SECONDS
from m2bridge.batch.executors import holds_too_much_memory, retry_if_engine_died
from m2bridge.batch.pool import Batch, Performer
from m2bridge.batch.store import (
    CANNOT_STORE,
    SUFFIX,
    OutcomeKind,
    Store,
    TaskResult,
    case_lock,
    kind_of,
    reason_of,
    versions,
)
from m2bridge.convert import MAX_FILE_BYTES
from m2bridge.convert.bounded_io import read_json, read_text
from m2bridge.engine import locate
from m2bridge.errors import ConversionError, M2BridgeError
from m2bridge.ideals.construct import read_ideal, read_ideal_file, read_mrdi
from m2bridge.limits import Limits, alarm, clock, limit_of, limited, start
from m2bridge.results.sheet import in_brackets, quoted
from m2bridge.system import exit_text, write_aside
from m2bridge.workspace.evaluation import Evaluator, bindings_of

FORM = "class and fields"
"""The format of values in a folder; outcomes in another format are computed again."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of an item.

    Parameters
    ----------
    name : str
        The name of the item.
    kind : str
        ``computed``, or why there is no value: ``timed-out``, ``out-of-memory``, ``failed`` (an
        error, see ``reason``), ``died`` (the worker, or Macaulay2, ended twice during this item),
        ``refused`` (no method is able to handle the item) or ``not-applicable``.
    value : object
        What the function returned, or the value of the last statement of the code as a Python
        object.
    text : str
        The value as Macaulay2 prints it; empty for functions.
    output : str
        The output of the code.
    reason, details : str
        One line for a person; the traceback of an unexpected error.
    seconds : float

    Examples
    --------
    >>> run_many("degree item", [ideal("x^2 - y"), ideal("x*y*z")], workers=1)[1].value
    3
    """

    name: str
    kind: Literal["computed"] | OutcomeKind
    value: Any = None
    text: str = ""
    output: str = ""
    reason: str = ""
    details: str = ""
    seconds: float = 0.0

    def __repr__(self) -> str:
        return in_brackets(self, "name", "kind", "value", "reason")


@dataclass(frozen=True, slots=True)
class ItemFile:
    """An item that a worker reads from a file."""

    path: Path

    def read(self) -> Any:
        """Return the ideal in a file in TOML, JSON or ``.mrdi``; the text of any other file."""
        if self.path.suffix == ".mrdi":
            return read_mrdi(self.path)
        text = read_text(self.path, MAX_FILE_BYTES)
        if self.path.suffix == ".toml":
            ideal, _title = read_ideal_file(text)
            return ideal
        if self.path.suffix == ".json":
            return read_ideal(read_json(text))
        return text


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """An item as it is sent to a worker; the ``number``, its position, tells jobs apart."""

    number: int
    name: str = field(compare=False)
    item: bytes = field(compare=False, repr=False)  # pickled
    digest: str = field(compare=False)  # of the item and the work
    effort: int = field(default=1, compare=False)  # the same for all jobs


@dataclass(frozen=True, slots=True)
class ItemWork(Batch[Job, TaskResult]):
    """The work for each item, code or a function, its limits, and the folder of the outcomes."""

    module: ClassVar[str] = __name__
    patience: ClassVar[float] = CASE_GRACE_SECONDS + 5.0
    code: str  # may be empty; it has no meaning if there is a function
    function: bytes = b""  # pickled
    file: str = "the code"  # the name of the code in errors
    packages: tuple[str, ...] = ()
    code_folder: str = ""  # where Macaulay2 first looks for files that the code loads
    program: str | None = None
    timeout: float | None = None
    memory: int | None = None  # of each worker and of each Macaulay2
    folder: Path | None = None
    # kinds of outcomes that count as not done, if they were written before a time
    retry: frozenset[str] = frozenset()
    since: float = field(default_factory=time.time)
    # the argument or option that gives an item more time
    option: str = field(default_factory=lambda: clock().option)

    @property
    def is_code(self) -> bool:
        """Whether the work is Macaulay2 code, and not a function."""
        return not self.function

    def stored(self, job: Job) -> Outcome | None:
        """Return the outcome of this item and work in the folder, unless it is tried again."""
        if self.folder is None:
            return None
        for suffix in (".json", SUFFIX):
            path = self.folder / f"{job.name}{suffix}"
            try:
                data = _read_stored(read_text(path, MAX_FILE_BYTES))
                outcome = Outcome(**{name: data[name] for name in Outcome.__dataclass_fields__})
                is_of_this_job = data["digest"] == job.digest
                is_tried_again = outcome.kind in self.retry and path.stat().st_mtime < self.since
            except (OSError, ConversionError, KeyError, TypeError):
                continue  # there is no outcome, or an incomplete or foreign file
            if is_of_this_job and _suffix(outcome) == suffix and not is_tried_again:
                return outcome
        return None

    def store(self, job: Job, outcome: Outcome) -> Outcome:
        """Write the outcome to the folder, if there is one; return it as it will be read: a list
        for a tuple, and ``failed`` if JSON cannot represent the value, such as NaN, or a dictionary
        with keys 1 and "1".
        """
        if self.folder is None:
            return outcome
        try:
            outcome = replace(outcome, value=_read_stored(json.dumps(outcome.value)))
        except (TypeError, ValueError, RecursionError, ConversionError) as reason:
            why = f"cannot store the value as JSON in the folder: {reason}"
            outcome = replace(outcome, kind="failed", reason=why, value=None)
        data = asdict(outcome) | {
            "digest": job.digest,
            "timeout": self.timeout,
            "memory": self.memory,
            "versions": versions(locate(self.program).version if self.is_code else ""),
        }
        text = json.dumps(data, ensure_ascii=False) + "\n"
        suffix = _suffix(outcome)
        path = self.folder / f"{job.name}{suffix}"
        # This outcome replaces an earlier one under the other ending.
        (other,) = {".json", SUFFIX} - {suffix}
        overtaken = self.folder / f"{job.name}{other}"
        with Store(self.folder).writing():
            # half of a surrogate pair, which UTF-8 lacks, is written as JSON escapes it: \ud800
            write_aside(text.encode(errors="backslashreplace"), path)
            if _is_outcome(overtaken):
                overtaken.unlink(missing_ok=True)
        return outcome

    def report(self, job: Job, outcome: Outcome) -> TaskResult:
        """Store an outcome; return the result for the batch, which carries it, pickled."""
        import cloudpickle

        outcome = self.store(job, outcome)
        try:
            data = cloudpickle.dumps(outcome)
        except Exception as reason:  # the value may be a file or a thread
            why = f"the value cannot be sent from the worker: {reason_of(reason)}"
            outcome = Outcome(outcome.name, "failed", reason=why, seconds=outcome.seconds)
            data = cloudpickle.dumps(outcome)
        return _result(job, outcome, data)

    def make_folder(self) -> None:
        """Make the folder of outcomes, if there is one; BatchError if it cannot be made."""
        if self.folder is not None:
            Store(self.folder).make()

    def performer(self) -> Performance:
        """Return the performer of jobs in a worker."""
        return Performance(self)

    def outcome_of_lost(self, job: Job, status: int | None) -> TaskResult:
        """Return the result for an item at which two workers have ended, or one was too slow."""
        kind: OutcomeKind = "died"
        reason = "the worker process ended during this item"
        if status is None and self.timeout is not None:
            kind = "timed-out"
            # ``more`` is the advice how to give more time
            reason = f"the item did not finish within {limit_of(self.timeout)}; {clock().more}"
        elif status:
            reason = f"the worker {exit_text(status)} at this item, twice"
            # FLINT and GMP abort when memory runs out.
            if status == -signal.SIGABRT and self.memory is not None:
                kind = "out-of-memory"
        return self.report(job, Outcome(job.name, kind, reason=reason))


def _result(job: Job, outcome: Outcome, pickled: bytes) -> TaskResult:
    """Return the result of a job for the batch; ``pickled`` is the outcome, pickled."""
    return TaskResult(
        task=job,
        counts=Counter([outcome.kind]),
        seconds=outcome.seconds,
        outcome=pickled,
        reason=outcome.reason,
    )


def _read_stored(text: str) -> Any:
    """Return the value of a JSON text that is stored in a folder of outcomes, or is to be."""
    return read_json(text, digits=4300)  # Python writes no longer integers


def _is_outcome(path: Path) -> bool:
    """Return whether a file is an outcome, not a foreign file of this name."""
    try:
        data = _read_stored(read_text(path, MAX_FILE_BYTES))
    except (OSError, ConversionError):
        return False
    fields = {"digest", *Outcome.__dataclass_fields__}
    return isinstance(data, dict) and fields <= data.keys() and not path.is_symlink()


def _suffix(outcome: Outcome) -> str:
    """Return the ending of the file for an outcome: ``.json``, or SUFFIX if there is no value."""
    return ".json" if outcome.kind == "computed" else SUFFIX


class Performance(Performer[Job, TaskResult]):
    """Performs jobs in a worker, one after the other, with one Macaulay2."""

    def __init__(self, work: ItemWork) -> None:
        self._work = work
        # the bytes come from the parent, which pickled a function of its own
        self._function = pickle.loads(work.function) if work.function else None
        # Macaulay2 is looked for when it is first needed, and once
        program = cache(partial(locate, work.program))
        # symbols are forgotten after each item, so that the next one finds none of them
        self._engine = Evaluator(program, Limits(memory=work.memory), forgets_symbols=True)

    @property
    def exhausted(self) -> bool:
        """Whether this process and its Macaulay2 use too much memory."""
        return holds_too_much_memory(self._engine.pid)

    def perform(self, job: Job) -> TaskResult:
        """Perform a job, store its outcome and return the result with it; if another process has
        done the job, its stored outcome, and ``held`` while it does.
        """
        # without a folder no other process can have the item
        if self._work.folder is None:
            return self._work.report(job, self._outcome(job))
        # several commands may work on one folder, each on other items
        folder = self._work.folder
        with Store(folder).writing(), case_lock(folder, job.name) as mine:
            if not mine:
                return TaskResult(task=job, counts=Counter(), seconds=0.0, held=True)
            # another command may have done the item since this one read the folder
            earlier_outcome = self._work.stored(job)
            if earlier_outcome is not None:
                return _result(job, earlier_outcome, pickle.dumps(earlier_outcome))
            return self._work.report(job, self._outcome(job))

    def _outcome(self, job: Job) -> Outcome:
        """Return the outcome of an item, also of one whose computation raises an error; OSError if
        nothing can be stored in the folder, so that the batch cannot continue.
        """
        begin = time.monotonic()
        try:
            return retry_if_engine_died(partial(self._outcome_within_limit, job))
        except Exception as error:  # any error becomes the outcome of this item
            is_of_system = isinstance(error, OSError) and error.errno in CANNOT_STORE
            if is_of_system and self._work.folder is not None:
                raise
            details = ""
            if not isinstance(error, M2BridgeError):
                details = "".join(traceback.format_exception(error))
            seconds = round(time.monotonic() - begin, 6)
            return Outcome(
                job.name, kind_of(error), reason=reason_of(error), details=details, seconds=seconds
            )

    def _start(self) -> None:
        """Start Macaulay2, if it is needed, outside the time limit of an item."""
        if self._work.is_code and self._engine.process is None:
            self._engine.answer("")  # the empty program

    def _outcome_within_limit(self, job: Job) -> Outcome:
        """Return the outcome, with a value, of the function or code, within the limit."""
        self._start()
        with limited(self._work.timeout) as running, alarm(running, CASE_GRACE_SECONDS):
            item = pickle.loads(job.item)  # pickled by the parent
            if isinstance(item, ItemFile):
                item = item.read()
            if self._function is not None:
                outcome = Outcome(name=job.name, kind="computed", value=self._function(item))
            else:
                outcome = self._outcome_of_code(job.name, item)
        return replace(outcome, seconds=round(running.seconds, 6))

    def _outcome_of_code(self, name: str, item: Any) -> Outcome:
        """Return the outcome of code, before which packages are loaded and symbols are set."""
        work = self._work
        prelude = ""
        if work.code_folder:
            # files that the code loads are looked for there first
            prelude += f"path = prepend({quoted(work.code_folder + '/')}, path);\n"
        for package in work.packages:
            prelude += f"needsPackage {quoted(package)};\n"
        prelude += bindings_of(item if isinstance(item, Mapping) else {"item": item})
        # without a limit of its own: the time of the item is limited already
        display = self._engine.show(work.code, work.file, prelude, timeout=None)
        return Outcome(
            name, "computed", value=display.value, text=display.text, output=display.output
        )

    def __enter__(self) -> Self:
        # messages about limits name this option
        start(self._work.option)
        self._start()
        return self

    def __exit__(self, *reason: object) -> None:
        self._engine.remove("its worker has ended")
