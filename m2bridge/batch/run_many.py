"""One function, or one piece of Macaulay2 code, for many items: in parallel, and resumable.

The processes are those of a batch, or a Dask cluster. Items and functions travel pickled; a folder
keeps outcomes as JSON, with a digest of the item and of what is done with it.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import pickle
import signal
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import m2bridge
from m2bridge.batch import GRACE, LARGEST_ITEM
from m2bridge.batch.executors import Dask, is_large, once_more
from m2bridge.batch.plan import Plan, Progress, Summary, run, shown
from m2bridge.batch.pool import Batch, Performer, Pool
from m2bridge.batch.store import (
    NO_ROOM,
    SUFFIX,
    OutcomeKind,
    TaskResult,
    case_lock,
    kind_of,
    reason_of,
    versions,
)
from m2bridge.convert.bounded_io import read_bytes, read_json, read_text
from m2bridge.engine import locate
from m2bridge.errors import ConversionError, InvalidCaseError, M2BridgeError
from m2bridge.ideals.construct import read_ideal, read_ideal_file, read_mrdi
from m2bridge.limits import Limits, alarm, check_timeout, clock, limit_of, limited, start
from m2bridge.results.sheet import quoted
from m2bridge.system import exit_text, write_aside
from m2bridge.workspace.evaluation import Evaluator, bindings_of, value_of

FORM = "class and fields"
"""The form of values in a folder; outcomes with values in another one are computed anew."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of an item.

    Parameters
    ----------
    name : str
        That of the item.
    kind : str
        ``computed``, or why there is no value: ``timed-out``, ``out-of-memory``, ``failed`` (an
        error, see ``reason``), ``died`` (the worker, or Macaulay2, ended twice while at this item),
        ``refused`` (the item is none that there are methods for) or ``not-applicable``.
    value : object
        What the function returned, or the value of the last statement of the code as a Python
        object.
    text : str
        That value as Macaulay2 writes it; empty for functions.
    output : str
        What the code printed.
    reason, details : str
        One line for a person; the traceback of an error that m2bridge does not name.
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


@dataclass(frozen=True, slots=True)
class ItemFile:
    """An item that a worker reads from a file."""

    path: Path

    def read(self) -> Any:
        """The ideal in a file in TOML, JSON or ``.mrdi``; the text of any other one."""
        if self.path.suffix == ".mrdi":
            return read_mrdi(self.path)
        text = read_text(self.path, LARGEST_ITEM)
        if self.path.suffix == ".toml":
            return read_ideal_file(text)[0]
        if self.path.suffix == ".json":
            return read_ideal(read_json(text))
        return text


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """An item on its way to a worker.

    Parameters
    ----------
    number : int
        Its place.
    name : str
    item : bytes
        The item, pickled.
    digest : str
        Of the item and what is done with it.
    """

    number: int
    name: str = field(compare=False)
    item: bytes = field(compare=False, repr=False)
    digest: str = field(compare=False)
    effort: int = field(default=1, compare=False)


@dataclass(frozen=True, slots=True)
class ItemWork(Batch[Job, TaskResult]):
    """The work for each item, its limits, and the folder of the outcomes.

    Parameters
    ----------
    code : str
        Macaulay2 code; or empty, and there is a function.
    function : bytes
        Pickled.
    file : str
        What errors call the code.
    packages : tuple of str
        Of Macaulay2, for the code.
    beside : str
        The folder in which Macaulay2 looks first for what the code loads.
    program : str or None
    timeout : float or None
    memory : int or None
    folder : Path or None
    retry : frozenset of str
        Kinds of outcomes in the folder that count as not done...
    since : float
        ...if they were written before this time.
    option : str
        How whoever asked gives more time.
    """

    module: ClassVar[str] = __name__
    patience: ClassVar[float] = GRACE + 5.0
    code: str
    function: bytes = b""
    file: str = "the code"
    packages: tuple[str, ...] = ()
    beside: str = ""
    program: str | None = None
    timeout: float | None = None
    memory: int | None = None
    folder: Path | None = None
    retry: frozenset[str] = frozenset()
    since: float = field(default_factory=time.time)
    option: str = field(default_factory=lambda: clock().option)

    def stored(self, job: Job) -> Outcome | None:
        """The outcome in the folder, if it is that of this item, and of what is done with it."""
        if self.folder is None:
            return None
        for suffix in (".json", SUFFIX):
            path = self.folder / f"{job.name}{suffix}"
            try:
                data = read_json(read_text(path, LARGEST_ITEM))
                outcome = Outcome(**{name: data[name] for name in Outcome.__dataclass_fields__})
                is_of_this_job = data["digest"] == job.digest
                is_tried_again = outcome.kind in self.retry and path.stat().st_mtime < self.since
            except (OSError, ConversionError, KeyError, TypeError):
                continue  # there is none, or half of one, or another file
            if is_of_this_job and _suffix(outcome) == suffix and not is_tried_again:
                return outcome
        return None

    def store(self, job: Job, outcome: Outcome) -> Outcome:
        """Write the outcome to the folder, if there is one; return it as it is read from there."""
        if self.folder is None:
            return outcome
        try:
            outcome = replace(outcome, value=json.loads(json.dumps(outcome.value)))
        except (TypeError, ValueError) as reason:
            why = f"the value is kept in a folder as JSON, and it is none: {reason}"
            outcome = replace(outcome, kind="failed", reason=why, value=None)
        macaulay2 = ""
        if self.code:
            macaulay2 = locate(self.program).version
        data = asdict(outcome) | {
            "digest": job.digest,
            "timeout": self.timeout,
            "memory": self.memory,
            "versions": versions(macaulay2),
        }
        suffix = _suffix(outcome)
        path = self.folder / f"{job.name}{suffix}"
        write_aside(json.dumps(data, ensure_ascii=False) + "\n", path)
        # An outcome of before, of the other kind, is overtaken by this one.
        (other,) = {".json", SUFFIX} - {suffix}
        overtaken = self.folder / f"{job.name}{other}"
        if _is_outcome(overtaken):
            overtaken.unlink(missing_ok=True)
        return outcome

    def report(self, job: Job, outcome: Outcome) -> TaskResult:
        """The report, after the outcome is stored."""
        import cloudpickle

        outcome = self.store(job, outcome)
        try:
            data = cloudpickle.dumps(outcome)
        except Exception as reason:  # a value such as a file or a thread
            why = f"the value cannot be sent from the worker: {reason_of(reason)}"
            outcome = Outcome(outcome.name, "failed", reason=why, seconds=outcome.seconds)
            data = cloudpickle.dumps(outcome)
        return TaskResult(job, Counter([outcome.kind]), outcome.seconds, outcome=data)

    def make_folder(self) -> None:
        """Make the folder of outcomes, if they are kept."""
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)

    def performer(self) -> Performance:
        """Return what performs jobs in a worker."""
        return Performance(self)

    def lost(self, job: Job, status: int | None) -> TaskResult:
        """The report on an item that was not done in time, or at which workers ended."""
        kind: OutcomeKind = "died"
        reason = "workers ended at this item"
        if status is None and self.timeout is not None:
            kind = "timed-out"
            reason = f"the item did not finish within {limit_of(self.timeout)}; {clock().more}"
        elif status:
            reason = f"the worker {exit_text(status)} at this item, twice"
            # FLINT and GMP abort where they get no more memory.
            if status == -signal.SIGABRT and self.memory is not None:
                kind = "out-of-memory"
        return self.report(job, Outcome(job.name, kind, reason=reason))


def _is_outcome(path: Path) -> bool:
    """Whether a file is an outcome, and not one of somebody else that has its name."""
    try:
        data = read_json(read_text(path, LARGEST_ITEM))
    except (OSError, ConversionError):
        return False
    fields = {"digest", *Outcome.__dataclass_fields__}
    return isinstance(data, dict) and fields <= data.keys() and not path.is_symlink()


def _suffix(outcome: Outcome) -> str:
    """The ending of the file of an outcome."""
    if outcome.kind == "computed":
        return ".json"
    return SUFFIX


class Performance(Performer[Job, TaskResult]):
    """The part of a worker: performs jobs one after the other, with one Macaulay2."""

    def __init__(self, work: ItemWork) -> None:
        self._work = work
        # the parent wrote it
        self._function = pickle.loads(work.function) if work.function else None
        program = cache(partial(locate, work.program))
        self._engine = Evaluator(program, Limits(memory=work.memory), passing=True)

    @property
    def exhausted(self) -> bool:
        """Whether this process and its Macaulay2 hold too much memory."""
        return is_large(self._engine.pid)

    def perform(self, job: Job) -> TaskResult:
        """Perform a job, unless another process is at it, or has done it."""
        if self._work.folder is None:
            return self._work.report(job, self._outcome(job))
        with case_lock(self._work.folder, job.name) as mine:
            if not mine:
                return TaskResult(job, Counter(), 0.0, held=True)
            done = self._work.stored(job)
            if done is not None:
                return TaskResult(
                    job, Counter([done.kind]), done.seconds, outcome=pickle.dumps(done)
                )
            return self._work.report(job, self._outcome(job))

    def _outcome(self, job: Job) -> Outcome:
        """What becomes of an item."""
        begin = time.monotonic()
        try:
            return once_more(partial(self._computed, job))
        except Exception as error:  # whatever it is, it becomes the outcome of this item
            if isinstance(error, OSError) and error.errno in NO_ROOM:
                raise
            details = ""
            if not isinstance(error, M2BridgeError):
                details = "".join(traceback.format_exception(error))
            seconds = round(time.monotonic() - begin, 6)
            return Outcome(
                job.name, kind_of(error), reason=reason_of(error), details=details, seconds=seconds
            )

    def _start(self) -> None:
        """Let Macaulay2 run, if it is needed: no item pays for its start."""
        if self._work.code and self._engine.process is None:
            self._engine.answer("")

    def _computed(self, job: Job) -> Outcome:
        self._start()
        with limited(self._work.timeout) as running, alarm(running, GRACE):
            outcome = self._value(job)
        return replace(outcome, seconds=round(running.seconds, 6))

    def _value(self, job: Job) -> Outcome:
        item = pickle.loads(job.item)  # the parent wrote it
        if isinstance(item, ItemFile):
            item = item.read()
        if self._function is not None:
            return Outcome(job.name, "computed", self._function(item))
        if not isinstance(item, Mapping):
            item = {"item": item}
        work = self._work
        prelude = ""
        if work.beside:
            prelude += f"path = prepend({quoted(work.beside + '/')}, path);\n"
        for package in work.packages:
            prelude += f"needsPackage {quoted(package)};\n"
        prelude += bindings_of(item)
        shown = self._engine.show(work.code, work.file, prelude, timeout=None)
        return Outcome(
            job.name, "computed", value=shown.value, text=shown.text, output=shown.output
        )

    def __enter__(self) -> Self:
        start(self._work.option)
        self._start()
        return self

    def __exit__(self, *reason: object) -> None:
        self._engine.remove("its worker has ended")


def run_jobs(
    work: ItemWork,
    jobs: Sequence[Job],
    workers: int | None,
    executor: str,
    scheduler: str | None,
    progress: Progress,
) -> tuple[list[Outcome], Summary]:
    """The outcomes of jobs, in their order, and the whole in numbers."""
    done: dict[int, Outcome] = {}
    left = []
    for job in jobs:
        outcome = work.stored(job)
        if outcome is None:
            left.append(job)
        else:
            done[job.number] = outcome
    answers = Counter[str](outcome.kind for outcome in done.values())
    plan = Plan(tuple(jobs), tuple(left), answers)

    def begin_workers() -> Pool[Job, TaskResult] | Dask[Job, TaskResult]:
        if executor == "dask":
            return Dask(work, scheduler, workers)
        return Pool(work, workers)

    def keep(report: TaskResult) -> None:
        done[report.task.number] = pickle.loads(report.outcome)  # a worker wrote it

    summary = run(plan, begin_workers, progress, keep)
    return [done[job.number] for job in jobs], summary


def run_many(
    work: str | Callable[[Any], Any],
    items: Iterable[Any],
    *,
    workers: int | None = None,
    timeout: float | None = None,
    memory: int | None = None,
    executor: Literal["processes", "dask"] = "processes",
    scheduler: str | None = None,
    folder: str | os.PathLike[str] | None = None,
    retry: Iterable[OutcomeKind] = (),
    progress: bool = False,
) -> list[Outcome]:
    """Perform Macaulay2 code, or a function, for each item; the outcomes, in their order.

    Whatever an item does to the process that is at it, it gets an outcome, and the others get
    theirs. When this returns or raises, at Ctrl-C too, all processes have ended.

    Parameters
    ----------
    work : str or callable
        Macaulay2 code, in which each item is bound to the symbol ``item``, or an item that is a
        mapping to the names that it has. Symbols are forgotten after each item; other state of
        Macaulay2, such as methods that the code installs, stays for the next items of the worker.
        Or a function of the item, any that ``cloudpickle`` takes; methods of ideals that it calls
        without an engine share one Macaulay2 for each worker.
    items : iterable
        Values that Macaulay2 takes (ideals, numbers, polynomials, …), or anything that the function
        takes.
    workers : int, optional
        Processes; one for each core that this process may use, when left out.
    timeout : float, optional
        Seconds for each item.
    memory : int, optional
        Bytes of address space, of each worker and of each Macaulay2.
    executor : {"processes", "dask"}
        A local Dask cluster, or the one of the ``scheduler``, needs the extra ``cluster``; there
        ``memory`` holds for the Macaulay2 of code only, and ``timeout`` in Python only where it
        looks at the clock (:mod:`m2bridge.limits`).
    folder : path, optional
        Where each outcome is kept in a file of JSON; what is there for the same item and work is
        not done once more. Then a function has to return what JSON holds.
    retry : iterable of str
        Kinds of outcomes in the folder to try again, such as ``timed-out``.
    progress : bool
        Whether progress is shown on standard error.

    Raises
    ------
    InvalidCaseError
        If an argument is none of these.
    BatchError
        If workers do not start, or results cannot be stored.

    Examples
    --------
    >>> [outcome.value for outcome in run_many("item^2", [1, 2, 3], workers=2)]
    [1, 4, 9]
    >>> primes = run_many(Ideal.minimal_primes, [ideal("x*y"), ideal("x^2")], workers=1)
    >>> [len(outcome.value) for outcome in primes]
    [2, 1]
    >>> run_many("1/item", [0], workers=1)[0].kind
    'failed'
    """
    import cloudpickle

    check_timeout(timeout)
    if executor not in ("processes", "dask"):
        raise InvalidCaseError("executor", f"'{executor!s:.40}' is none: use processes or dask")
    if workers is not None and workers < 1:
        raise InvalidCaseError("workers", f"must be at least 1, not {workers}")
    if not (isinstance(work, str) or callable(work)):
        raise InvalidCaseError(
            "work", f"must be Macaulay2 code as text, or a function, not a {type(work).__name__}"
        )
    Limits(memory=memory)  # raises an error for what is no limit
    if folder is not None:
        folder = Path(folder).absolute()
    code = source = ""
    function = b""
    if isinstance(work, str):
        code = source = work
    else:
        function = cloudpickle.dumps(work)
        source = _source(work)
    todo = ItemWork(
        code=code,
        function=function,
        timeout=timeout,
        memory=memory,
        folder=folder,
        retry=frozenset(retry),
    )
    outcomes, _ = run_jobs(
        work=todo,
        jobs=_jobs(items, source),
        workers=workers,
        executor=executor,
        scheduler=scheduler,
        progress=shown(not progress),
    )
    if code:
        return [_decoded(outcome) for outcome in outcomes]
    return outcomes


def _jobs(items: Iterable[Any], source: str) -> list[Job]:
    """Return a job for each item, with a digest of the item and of the source of the work.

    The folder tells by the digest which items are done.
    """
    import cloudpickle

    jobs = []
    for number, item in enumerate(items):
        try:
            data = cloudpickle.dumps(item)
        except Exception as reason:
            raise InvalidCaseError(
                "items", f"item {number} cannot be sent to a worker: {reason_of(reason)}"
            ) from None
        digest = _digest(source, _identity(item, data))
        job = Job(number=number, name=f"item-{number:05d}", item=data, digest=digest)
        jobs.append(job)
    return jobs


def file_jobs(work: ItemWork, paths: Sequence[Path]) -> list[Job]:
    """A job for each file, named after it.

    Raises
    ------
    InvalidCaseError
        If a file cannot be read, or is where the outcome of one is to be written.
    """
    are_short_names_different = len({path.stem for path in paths}) == len(paths)
    jobs = []
    for number, path in enumerate(paths):
        try:
            digest = _digest(work.code, *work.packages, read_bytes(path, LARGEST_ITEM))
        except ConversionError as reason:
            raise InvalidCaseError("each", f"'{path}' cannot be read: {reason}") from None
        name = path.stem
        if not are_short_names_different:
            name = str(path).strip("/.").replace("/", "-")
        item = pickle.dumps(ItemFile(path.absolute()))
        jobs.append(Job(number=number, name=name, item=item, digest=digest))
    _check_folder(work, jobs, paths)
    return jobs


def _check_folder(work: ItemWork, jobs: Sequence[Job], paths: Sequence[Path]) -> None:
    """Check that no outcome takes the place of an item."""
    if work.folder is None:
        return
    items = {path.resolve() for path in paths}
    folder = work.folder.resolve()
    for job in jobs:
        for suffix in (".json", SUFFIX):
            if folder / f"{job.name}{suffix}" in items:
                raise InvalidCaseError(
                    "out",
                    f"'{work.folder}' has the item '{job.name}{suffix}', which the outcome of"
                    f" '{job.name}' would replace: name another folder",
                )


def _decoded(outcome: Outcome) -> Outcome:
    """The outcome of code with its value as a Python object."""
    try:
        return replace(outcome, value=value_of({"value": outcome.value}))
    except M2BridgeError as error:
        return replace(outcome, kind="failed", value=None, reason=reason_of(error))


def _digest(*parts: str | bytes) -> str:
    return hashlib.sha256(repr((FORM, *parts)).encode("utf-8", "backslashreplace")).hexdigest()


def _identity(item: Any, data: bytes) -> bytes:
    """The bytes by which the folder tells items apart: the JSON, or the pickle if there is none."""
    try:
        if hasattr(item, "to_json"):
            item = item.to_json()
        return json.dumps(item, sort_keys=True).encode()
    except (TypeError, ValueError):
        return data


def _source(function: Any) -> str:
    """The text by which the folder tells functions apart: the name and the source.

    Public functions of release 1.0 keep the text that they had there, so that its folders go on
    where they were.
    """
    public = _public_name(function)
    if public in _of_1_0():
        return _of_1_0()[public]
    module = getattr(function, "__module__", "")
    qualified_name = getattr(function, "__qualname__", type(function).__qualname__)
    name = f"{module}.{qualified_name}"
    try:
        return f"{name}\n{inspect.getsource(function)}"
    except (OSError, TypeError):
        return name


def _public_name(function: Any) -> str:
    """The name of a public function or method of m2bridge, such as ``Ideal.radical``; or empty."""
    name = getattr(function, "__qualname__", "")
    found: Any = m2bridge
    for part in name.split("."):
        found = getattr(found, part, None)
    return name if found is function else ""


@cache
def _of_1_0() -> dict[str, str]:
    """The texts of public functions in release 1.0, by public names."""
    text = (Path(__file__).parent / "functions_1_0.json").read_text(encoding="utf-8")
    texts: dict[str, str] = json.loads(text)
    return texts
