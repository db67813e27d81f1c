"""A function, or Macaulay2 code, applied to many items in parallel, resumable.

The processes are the workers of a batch, or a Dask cluster. Items and functions are pickled. The
*work* is what is done with each item, a function or code. A :class:`Job` is an item as it is sent
to a worker; an :class:`Outcome` is its result: its ``kind`` is ``computed``, or says why there is
no value.

A folder of outcomes is resumed by digests, each of an item and the *source* of the work: the code,
or a text that identifies the function. A mistake in an argument raises InvalidCaseError.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import pickle
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from numbers import Integral
from pathlib import Path
from typing import Any, Literal

import m2bridge
from m2bridge.batch.executors import Dask
from m2bridge.batch.items import FORM, ItemFile, ItemWork, Job, Outcome
from m2bridge.batch.plan import Plan, Progress, Summary, outcome_kinds, progress_display, run
from m2bridge.batch.pool import Pool
from m2bridge.batch.store import SUFFIX, OutcomeKind, TaskResult, reason_of
from m2bridge.convert import MAX_FILE_BYTES
from m2bridge.convert.bounded_io import read_bytes
from m2bridge.errors import (
    ConversionError,
    InvalidCaseError,
    M2BridgeError,
    check_flag,
    check_kind,
    class_with_article,
)
from m2bridge.limits import Limits, check_timeout
from m2bridge.workspace.evaluation import value_of


def run_jobs(
    work: ItemWork,
    jobs: Sequence[Job],
    workers: int | None,
    executor: str,
    scheduler: str | None,
    progress: Progress,
) -> tuple[list[Outcome], Summary]:
    """Perform the jobs whose outcomes are not in the folder of ``work``; return all outcomes in
    order, and a summary. ``None`` is one worker for each core, or a Dask cluster of this machine.
    """
    outcomes: dict[int, Outcome] = {}
    jobs_left = []
    for job in jobs:
        outcome = work.stored(job)
        if outcome is None:
            jobs_left.append(job)
        else:
            outcomes[job.number] = outcome
    answers = Counter[str](outcome.kind for outcome in outcomes.values())
    plan = Plan(tasks=tuple(jobs), left=tuple(jobs_left), answers=answers)

    def begin_workers() -> Pool[Job, TaskResult] | Dask[Job, TaskResult]:
        """Return the executor of the jobs that are left."""
        if executor == "dask":
            return Dask(work, scheduler, workers)
        return Pool(work, workers)

    def keep(report: TaskResult) -> None:
        """Take the outcome of a job from the result that a worker sent."""
        outcomes[report.task.number] = pickle.loads(report.outcome)  # pickled by a worker

    summary = run(plan, begin_workers, progress, keep)
    return [outcomes[job.number] for job in jobs], summary


def run_many(
    work: str | Callable[[Any], Any],
    items: Iterable[Any],
    *,
    workers: int | None = None,
    timeout: float | None = None,
    memory: int | str | None = None,
    executor: Literal["processes", "dask"] = "processes",
    scheduler: str | None = None,
    folder: str | os.PathLike[str] | None = None,
    retry: str | Iterable[OutcomeKind] = (),
    progress: bool = False,
) -> list[Outcome]:
    """Run Macaulay2 code, or call a function, for each item; return the outcomes in order.

    Even if an item crashes its process, every item gets an outcome. When this function returns or
    raises, after Ctrl-C too, all processes have ended.

    Parameters
    ----------
    work : str or callable
        Macaulay2 code, in which each item is the value of the symbol ``item``; an item that is a
        mapping sets the symbols that it names. Symbols are reset after each item; other state of
        Macaulay2, such as methods that the code installs, stays for the next items of the worker.
        Or a function of the item that ``cloudpickle`` can pickle; methods of ideals that it calls
        without an engine share one Macaulay2 for each worker.
    items : iterable
        Values that Macaulay2 accepts (ideals, numbers, polynomials, …), or any arguments of the
        function.
    workers : int, optional
        Number of processes; default: one for each core that this process may use.
    timeout : float, optional
        Seconds for each item.
    memory : int or str, optional
        Bytes of address space, or text such as ``"4G"``, of each worker and of each Macaulay2.
    executor : {"processes", "dask"}
        A Dask cluster, local or of the ``scheduler``, needs the extra ``cluster``; there
        ``memory`` holds for the Macaulay2 of code only, and ``timeout`` in Python only where it
        checks the deadline (:mod:`m2bridge.limits`).
    scheduler : str, optional
        The address of a Dask cluster, such as ``tcp://host:8786``, for ``executor="dask"`` only;
        then ``workers`` has no effect.
    folder : path, optional
        A folder with a JSON file for each outcome; an item whose outcome is there for the same work
        is not computed again. A function is known by its source, defaults and captured values, not
        by global variables. It must then return values that JSON can represent.
    retry : str or iterable of str
        Kinds of outcomes in the folder to try again, such as ``timed-out``.
    progress : bool
        Whether progress is shown on standard error.

    Raises
    ------
    InvalidCaseError
        If an argument is invalid.
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
    check_timeout(timeout)
    check_flag("progress", progress)
    if isinstance(items, str | bytes) or not isinstance(items, Iterable):
        raise InvalidCaseError("items", f"must be a list of items, not {items!r:.40}")
    if executor not in ("processes", "dask"):
        raise InvalidCaseError("executor", f"must be processes or dask, not {executor!r:.40}")
    if workers is not None:
        if not isinstance(workers, Integral) or isinstance(workers, bool):
            raise InvalidCaseError("workers", f"must be an integer, not {workers!r:.40}")
        if workers < 1:
            raise InvalidCaseError("workers", f"must be at least 1, not {workers}")
    if scheduler is not None:
        check_kind("scheduler", scheduler, str, "the address of a Dask cluster")
        if executor != "dask":
            raise InvalidCaseError("scheduler", "has no effect without executor='dask'")
    code, function = "", b""
    if isinstance(work, str):
        code = source = work
    elif callable(work):
        advice = "; let it make such objects itself"
        function = _pickled(work, "work", "the function", advice)
        source = _source(work)
    else:
        kind = class_with_article(type(work))
        raise InvalidCaseError("work", f"must be Macaulay2 code as text, or a function, not {kind}")
    memory_bytes = Limits(memory=memory).memory  # an invalid limit raises an error
    kinds_to_retry = outcome_kinds(retry)
    if kinds_to_retry and folder is None:
        raise InvalidCaseError("retry", "has no effect without a folder of outcomes")
    if folder is not None:  # it need not exist yet
        check_kind("folder", folder, (str, os.PathLike), "the path of a folder")
        folder = Path(folder).absolute()
        if folder.exists() and not folder.is_dir():
            raise InvalidCaseError("folder", f"is the file '{folder}'; outcomes need a folder")
    item_work = ItemWork(
        code=code,
        function=function,
        timeout=timeout,
        memory=memory_bytes,
        folder=folder,
        retry=kinds_to_retry,
    )
    outcomes, _ = run_jobs(
        work=item_work,
        jobs=_jobs(items, source),
        workers=workers,
        executor=executor,
        scheduler=scheduler,
        progress=progress_display(not progress),
    )
    if not item_work.is_code:
        return outcomes
    # values of code are in the JSON that workers and folders have
    decoded = []
    for outcome in outcomes:
        try:
            decoded.append(replace(outcome, value=value_of({"value": outcome.value})))
        except M2BridgeError as error:  # Python has no such value
            reason = reason_of(error)
            decoded.append(replace(outcome, kind="failed", value=None, reason=reason))
    return decoded


def _pickled(value: object, argument: str, subject: str, advice: str = "") -> bytes:
    """Return the pickle of a value of an argument; InvalidCaseError if it has none."""
    import cloudpickle

    try:
        data: bytes = cloudpickle.dumps(value)
    except Exception as reason:  # it may use a lock or an open file
        message = f"{subject} cannot be sent to a worker: {reason_of(reason)}{advice}"
        raise InvalidCaseError(argument, message) from None
    return data


def _jobs(items: Iterable[Any], source: str) -> list[Job]:
    """Return a job for each item."""
    jobs = []
    for number, item in enumerate(items):
        identifying = data = _pickled(item, "items", f"item {number}")
        with suppress(TypeError, ValueError):  # the pickle of a set is not the same in each process
            # ideals and other values of m2bridge have a JSON of their own
            value = item.to_json() if hasattr(item, "to_json") else item
            identifying = json.dumps(value, sort_keys=True).encode()
        digest = _digest(source, identifying)
        job = Job(number=number, name=f"item-{number:05d}", item=data, digest=digest)
        jobs.append(job)
    return jobs


def file_jobs(work: ItemWork, paths: Sequence[Path]) -> list[Job]:
    """Return a job for each file, refusing outcomes that would replace it; its digest is made from
    the code, its packages and the content of the file.
    """
    names = _names_of_jobs(paths)
    jobs = []
    for number, path in enumerate(paths):
        try:
            digest = _digest(work.code, *work.packages, read_bytes(path, MAX_FILE_BYTES))
        except ConversionError as reason:
            raise InvalidCaseError("each", f"'{path}' cannot be read: {reason}") from None
        item = pickle.dumps(ItemFile(path.absolute()))
        jobs.append(Job(number=number, name=names[number], item=item, digest=digest))
    if work.folder is None:
        return jobs
    items = {path.resolve() for path in paths}
    for job in jobs:
        for suffix in (".json", SUFFIX):
            if work.folder.resolve() / f"{job.name}{suffix}" in items:
                raise InvalidCaseError(
                    "out",
                    f"'{work.folder}' has the item '{job.name}{suffix}', which the outcome of"
                    f" '{job.name}' would replace: name another folder",
                )
    return jobs


def _names_of_jobs(paths: Sequence[Path]) -> list[str]:
    """Return the names of the jobs for files, in their order: the names without their endings.

    If the outcomes of two jobs could have one file then, all are named by paths, with - for /; if
    that is so again, as of a/b and a-b, the numbers of the files are added to all.
    """
    names = [path.stem for path in paths]
    if not _have_files_of_their_own(names):
        names = [str(path).strip("/.").replace("/", "-") for path in paths]
    if not _have_files_of_their_own(names):
        names = [f"{name}-{number}" for number, name in enumerate(names)]
    return names


def _have_files_of_their_own(names: Sequence[str]) -> bool:
    """Whether jobs with these names store their outcomes in different files; not if two names are
    equal, or are such as a and a.outcome: a.outcome.json is of the first without a value, of the
    second with one.
    """
    suffixes = (".json", SUFFIX)
    files = {f"{name}{suffix}" for name in names for suffix in suffixes}
    return len(files) == len(suffixes) * len(names)


def _digest(*parts: str | bytes) -> str:
    """Return the digest of what identifies an item, its work, and the format of outcomes."""
    return hashlib.sha256(repr((FORM, *parts)).encode("utf-8", "backslashreplace")).hexdigest()


def _source(function: Any) -> str:
    """Return the text that identifies a function: its name, its source, where there is one, and the
    pickle of the values that it uses and its source does not show.

    A public function of m2bridge is known by its name alone, in all releases.
    """
    import cloudpickle

    name: str = getattr(function, "__qualname__", "")
    if _named(m2bridge, name) is function:  # somebody else's may have the name of a public one
        return f"m2bridge.{name}"
    module = getattr(function, "__module__", "")
    qualified_name = getattr(function, "__qualname__", type(function).__qualname__)
    text = f"{module}.{qualified_name}"
    with suppress(OSError, TypeError):
        text += f"\n{inspect.getsource(function)}"
    values = _unshown_values(function)
    if values:
        text += f"\n{cloudpickle.dumps(values).hex()}"
    return text


def _named(module: Any, name: str) -> Any:
    """Return what a module has under a name such as ``Ideal.radical``; ``None`` if nothing."""
    for part in name.split("."):
        module = getattr(module, part, None)
    return module


def _unshown_values(function: Any) -> list[Any]:
    """Return the values that a function uses and its source does not show, but no global variables.

    They are the variables of a closure, the defaults, and the object of a bound method; an object
    that is not a function, such as a ``partial``, is such a value itself.
    """
    if not hasattr(function, "__qualname__"):
        return [function]
    module = sys.modules.get(getattr(function, "__module__", None) or "")
    if inspect.isclass(function) or _named(module, function.__qualname__) is function:
        return []
    values = list[Any]()
    # a function of a module written in C has the module in this place
    owner = getattr(function, "__self__", None)
    if owner is not None and not inspect.ismodule(owner):
        values.append(owner)
    for attribute in ("__defaults__", "__kwdefaults__"):
        defaults = getattr(function, attribute, None)
        if defaults:
            values.append(defaults)
    for cell in getattr(function, "__closure__", None) or ():
        with suppress(ValueError):  # an empty cell
            values.append(cell.cell_contents)
    return values
