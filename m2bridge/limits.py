"""The limits of a computation: one deadline, checked in every loop, and the memory of Macaulay2.

A computation runs in ``with limited(seconds):``. Every function that it calls, at any depth, checks
the deadline: with :func:`check` at a step, with :func:`check_deadline_in` around the items of a
loop, with ``check(price)`` before a call of a library that cannot check it and takes ``price``
seconds. After the deadline they raise :class:`~m2bridge.errors.TimeLimitError`; a function that has
a partial result catches it and returns that. Limits nest, and the earliest deadline counts.

The clock is a context variable, like the precision of decimal numbers: a limit holds for the whole
of a computation without being passed as an argument. A new thread begins without a limit.

A loop whose number of steps is known iterates over :func:`with_progress`, which reports each step
to the display that :func:`progress_listener` has set.

Modules that take long to import are imported within :func:`importing`: undisturbed by signals, and
within the time limit.
"""

import gc
import math
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from importlib import import_module
from numbers import Real
from types import FrameType, ModuleType
from typing import NoReturn, TypeVar

from m2bridge.errors import InvalidCaseError, MethodUnavailableError, TimeLimitError
from m2bridge.system import address_space, collection_paused

ItemT = TypeVar("ItemT")
PerformedT = TypeVar("PerformedT")

_PART_OF = "its part of"
"""The first words of the description of a limit that is a part of another limit."""

METHOD_SECONDS = 60.0
"""The time of one of several methods, or of a proof, where the caller sets no limit."""

MAX_WAIT_SECONDS = 3600.0
"""One wait for a file or a terminal, after which the wait is repeated: system calls accept little
more than a month.
"""

MAX_TIMER_SECONDS = 5e7
"""A year and a half: timers of macOS accept at most 1e8 seconds, and no process runs that long.
"""

MIN_ENGINE_MEMORY_BYTES = 640 * 2**20
"""Macaulay2 maps 250 MiB (1.21) to 620 MiB (1.26) of address space before it computes, on
two cores.
"""

MAX_MEMORY_BYTES = 2**62
"""The system stores limits on memory as signed numbers of 64 bits."""


@dataclass(frozen=True, slots=True)
class Clock:
    """Wall time since a computation began, and its deadline."""

    begin: float = 0.0  # as a value of ``now``, like the deadline
    limit: str = ""  # in words, as it was given; empty without one
    deadline: float = math.inf
    now: Callable[[], float] = time.monotonic  # tests pass their own
    option: str = "timeout="  # what gives the computation more time

    @property
    def more(self) -> str:
        """Advice on how to give more time."""
        return f"raise {self.option}"

    @property
    def seconds(self) -> float:
        """The seconds since the beginning."""
        return self.now() - self.begin

    @property
    def remaining(self) -> float | None:
        """Seconds left, or ``None`` without a limit; at least a hundredth, since 0 would mean to
        wait for ever, or not to set a timer.
        """
        if math.isinf(self.deadline):
            return None
        return max(self.deadline - self.now(), 0.01)

    def check(self, price: float = 0.0) -> None:
        """Raise TimeLimitError if the deadline has passed, or if the next step, which takes
        ``price`` seconds and cannot check it, would end after it.
        """
        seconds_left = self.deadline - self.now()
        if seconds_left >= price:
            return
        if seconds_left < 0 or price < 1:  # "about 0 seconds" would be no information
            raise self.late("the computation")
        step = f"the next step takes about {price:.0f} seconds, more than is left of {self.limit}"
        raise TimeLimitError(f"{step}; {self.more}")

    def late(self, subject: str) -> TimeLimitError:
        """Return the error for ``subject``, a noun that begins the message, which was too slow."""
        return TimeLimitError(f"{subject} did not finish within {self.limit}; {self.more}")


_current: ContextVar[Clock] = ContextVar("clock", default=Clock())  # noqa: B039  (a frozen value)


def clock() -> Clock:
    """Return the clock of the running computation."""
    return _current.get()


def check(price: float = 0.0) -> None:
    """Raise TimeLimitError if the deadline of the running computation has passed, or if a next step
    that takes ``price`` seconds would end after it: see :meth:`Clock.check`.
    """
    _current.get().check(price)


def check_deadline_in(items: Iterable[ItemT]) -> Iterator[ItemT]:
    """Yield the items, and check the deadline before each of them."""
    running = _current.get()
    if math.isinf(running.deadline):
        yield from items
        return
    # Local variables are faster, which counts because most inner loops go through this one.
    now = running.now
    deadline = running.deadline
    for item in items:
        if now() > deadline:
            running.check()  # raises TimeLimitError
        yield item


_display: ContextVar[Callable[[int, int, str], object] | None] = ContextVar("display", default=None)


def with_progress(items: Iterable[ItemT], total: int, items_name: str) -> Iterator[ItemT]:
    """Yield the items, check the deadline before each, and report to the display how many of the
    ``total`` are done; ``items_name`` names them, in the plural.
    """
    report = _display.get() or _no_display
    report(0, total, items_name)
    for done, item in enumerate(check_deadline_in(items), 1):
        yield item
        # the loop has come back for the next item, so this one is done
        report(done, total, items_name)


def _no_display(done: int, total: int, items_name: str) -> None:
    """Do nothing, where no display is set."""


@contextmanager
def progress_listener(display: Callable[[int, int, str], object]) -> Iterator[None]:
    """Call ``display(done, total, what)`` at each step of :func:`with_progress` in the block."""
    token = _display.set(display)
    try:
        yield
    finally:
        _display.reset(token)


def start(option: str = "--timeout") -> None:
    """Begin a command, which ``option`` gives more time: the seconds of a limit that it sets later
    count from now.
    """
    _current.set(Clock(begin=time.monotonic(), option=option))


@contextmanager
def limited(
    timeout: float | None, now: Callable[[], float] | None = None, begin: float | None = None
) -> Iterator[Clock]:
    """Limit the time of the block, which gets the clock; an earlier deadline of an enclosing block
    stays. The seconds count from ``begin``, or from the beginning of the block.
    """
    check_timeout(timeout)
    outer = clock()
    now = now or outer.now
    if begin is None:
        begin = now()
    # with the limit and deadline of the enclosing block, which stay if they are stricter
    inner = replace(outer, now=now, begin=begin)
    if timeout is not None and begin + timeout < outer.deadline:
        inner = replace(inner, limit=limit_of(timeout), deadline=begin + timeout)
    with _running(inner):
        yield inner


def limit_of(seconds: float) -> str:
    """Describe a limit in words, as it was given: ``the limit of 0.5 seconds``."""
    unit = "second" if seconds == 1 else "seconds"
    return f"the limit of {seconds:.12g} {unit}"


@contextmanager
def share(part: float, otherwise: float | None = None) -> Iterator[Clock]:
    """Limit the block, which gets the clock, to a part of the remaining time (more than 0, at most
    1); the rest is for the code after it. Where there is no limit, the block has ``otherwise``
    seconds, if any.
    """
    outer = clock()
    now = outer.now()
    if not math.isinf(outer.deadline):
        limit = outer.limit  # in words, such as "the limit of 10 seconds"
        # a part of a part is still called "its part of the limit of 10 seconds"
        if part < 1 and not limit.startswith(_PART_OF):
            limit = f"{_PART_OF} {limit}"
        inner = replace(outer, limit=limit, deadline=now + part * (outer.deadline - now))
    elif otherwise is not None:
        inner = replace(outer, limit=f"{otherwise:g} seconds", deadline=now + otherwise)
    else:
        inner = outer
    with _running(inner):
        yield inner


@contextmanager
def turn(part: float) -> Iterator[Clock]:
    """Limit the block, one of several methods, to a part of the remaining time, or to
    :data:`METHOD_SECONDS` where there is no limit.
    """
    with share(part, otherwise=METHOD_SECONDS) as inner:
        yield inner


@contextmanager
def overtime(clock: Clock, seconds: float) -> Iterator[None]:
    """Allow the block some seconds after the deadline of a clock, or from now where it has passed,
    to write the results.
    """
    end = max(clock.deadline, clock.now()) + seconds
    with _running(replace(clock, deadline=end)):
        yield


def performed_within_limit(
    computations: Iterable[tuple[str, Callable[[], PerformedT]]],
) -> tuple[tuple[PerformedT, ...], str]:
    """Perform computations, given by their names, one after the other; return the results that were
    reached, and the message of the limit, empty if all are done. Without a result the limit is
    raised.
    """
    results: dict[str, PerformedT] = {}
    try:
        for name, perform in check_deadline_in(computations):
            results[name] = perform()
    except TimeLimitError as limit:
        # a computation may have said itself how far it came
        limit.progress = limit.progress or f"decided so far: {', '.join(results) or 'nothing'}"
        if not results:
            raise
        return tuple(results.values()), str(limit)
    return tuple(results.values()), ""


@contextmanager
def asked_by(option: str) -> Iterator[None]:
    """Let messages in the block name this option as the one that gives more time."""
    with _running(replace(clock(), option=option)):
        yield


@contextmanager
def _running(inner: Clock) -> Iterator[None]:
    """Let this be the clock of the running computation during the block."""
    token = _current.set(inner)
    try:
        yield
    finally:
        _current.reset(token)


def check_timeout(timeout: float | None) -> None:
    """Check that a timeout, if there is one, is a positive, finite number."""
    if timeout is None:
        return
    # to Python True and False are integers
    is_number = isinstance(timeout, int | float) and not isinstance(timeout, bool)
    if not is_number or not 0 < timeout < math.inf:
        raise InvalidCaseError(
            "timeout", f"must be a positive, finite number of seconds, not {timeout!r}"
        )


@contextmanager
def alarm(clock: Clock, grace: float) -> Iterator[None]:
    """Raise TimeLimitError ``grace`` seconds after the deadline of a clock, in the main thread
    only: code in other threads has to check the deadline itself.

    The exception discards what the block has found unless the block catches it, so checks in loops
    come first, within the seconds of grace: they can return partial results.
    """
    seconds_left = clock.remaining
    is_main = threading.current_thread() is threading.main_thread()
    # Python delivers signals to the main thread alone, and the timer has a largest number
    if seconds_left is None or seconds_left > MAX_TIMER_SECONDS or not is_main:
        yield
        return

    def late(number: int, frame: FrameType | None) -> NoReturn:
        """Raise the error of a computation that is late, when the signal arrives."""
        raise clock.late("the computation")

    previous = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds_left + grace)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


_AMOUNT_OF_MEMORY = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?)(?:i?B)?", re.IGNORECASE)


def memory_in_bytes(text: str) -> int | None:
    """Return the bytes in an amount of memory such as ``4G`` or ``512M``; ``None`` if it is none.

    Numbers above :data:`MAX_MEMORY_BYTES` become twice that: they are refused where they are used.
    """
    match = _AMOUNT_OF_MEMORY.fullmatch(text)
    if match is None:
        return None
    number, letter = match.groups()
    power = " KMGT".index(letter.upper() or " ")  # 0 without a letter, 1 for K, 2 for M …
    return int(min(float(number) * 1024**power, 2.0 * MAX_MEMORY_BYTES))


@dataclass(frozen=True, slots=True, init=False)
class Limits:
    """Limits on one run.

    Parameters
    ----------
    timeout : float, optional
        Seconds of wall time; no limit when left out.
    memory : int, float or str, optional
        Bytes of address space of each process of the engine, or text such as ``"4G"`` or
        ``"512M"``; the attribute is in bytes. At least :data:`MIN_ENGINE_MEMORY_BYTES`; the limit
        of this process (``ulimit -v``) when left out. Of a number that is not whole, such as
        1.5e9 + 0.5, the integral part is taken. Useful limits start at 1 GiB; machines with many
        cores need more.

    Raises
    ------
    InvalidCaseError
        If the time is not a positive finite number, if Macaulay2 cannot start within this memory,
        or if this process may not use as much itself: a limit that was set before is never raised.

    Examples
    --------
    >>> from sympy import symbols
    >>> t = symbols("t")
    >>> cusp = PolynomialMap.from_expressions([t], {"x": t**2, "y": t**3})
    >>> with Macaulay2(limits=Limits(timeout=60, memory="2G")) as engine:
    ...     print(closure(cusp, engine=engine).degree)
    3
    """

    timeout: float | None
    memory: int | None

    def __init__(
        self, timeout: float | None = None, memory: int | float | str | None = None
    ) -> None:
        check_timeout(timeout)
        object.__setattr__(self, "timeout", timeout)
        object.__setattr__(self, "memory", None)
        if memory is None:
            return
        amount = memory_in_bytes(memory) if isinstance(memory, str) else memory
        is_number = isinstance(amount, Real) and not isinstance(amount, bool)
        # comparisons with "not a number" are all false: it would pass the checks below
        # an integer may be too large for a float, so that only floats are asked
        is_undefined = isinstance(amount, float) and math.isnan(amount)
        if amount is None or not is_number or is_undefined:
            message = f"must be bytes, such as 4 * 2**30, or text such as '4G', not {memory!r:.40}"
            raise InvalidCaseError("memory", message)
        if amount < MIN_ENGINE_MEMORY_BYTES:
            raise InvalidCaseError(
                "memory",
                "must be at least 640M: Macaulay2 takes up to 620 MiB of address space before it"
                " computes anything; 1G or more is better",
            )
        if amount > MAX_MEMORY_BYTES:
            raise InvalidCaseError(
                "memory", f"must be at most {MAX_MEMORY_BYTES / 2**30:.3g} GiB on this system"
            )
        # A process may lower the limit that it inherits, but not raise it.
        inherited = address_space()
        if inherited is not None and amount > inherited:
            allowed = f"{inherited // 2**20}M"
            raise InvalidCaseError(
                "memory", f"must be at most {allowed}, the address space allowed here (ulimit -v)"
            )
        # a float such as 2e9 becomes whole bytes, as the system takes them
        object.__setattr__(self, "memory", int(amount))


_imports_without_limit = False
"""Whether imports in this process finish even if the time limit is reached meanwhile."""


def load_wholly() -> None:
    """Let imports in this process, which continues after a limit was reached, finish even if the
    limit is reached meanwhile: a package that is only half imported could not be used later.
    """
    global _imports_without_limit
    _imports_without_limit = True


class _DeadlineFinder:
    """An import finder that finds no module, and raises TimeLimitError after the deadline."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        """Check the deadline; Python calls this for each module that is not imported yet."""
        running = clock()
        if running.now() > running.deadline:
            raise running.late("loading Python's modules")


@contextmanager
def importing() -> Iterator[None]:
    """Block signals and garbage collection while a block imports modules.

    A library may swallow the exception that a signal raises during its import, so the deadline is
    checked before each module instead, unless :func:`load_wholly` was called. Imported modules stay
    alive, so collecting them only costs time.
    """
    mask = signal.pthread_sigmask(
        signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM}
    )
    if not _imports_without_limit:
        sys.meta_path.insert(0, _DeadlineFinder)
    try:
        with collection_paused():
            count = len(sys.modules)
            yield
            if len(sys.modules) > count:
                # Later collections leave out all objects that exist now, which mostly belong to
                # the modules.
                gc.freeze()
    finally:
        if _DeadlineFinder in sys.meta_path:
            sys.meta_path.remove(_DeadlineFinder)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def imported(name: str) -> ModuleType:
    """Return a module, imported within :func:`importing` if it is not imported yet."""
    if name not in sys.modules:
        with importing():
            import_module(name)
    return sys.modules[name]


def library(name: str, need: str) -> ModuleType:
    """Return the module ``name`` of an optional dependency; MethodUnavailableError with the message
    ``need`` if it is not installed.
    """
    try:
        if name not in sys.modules:
            with importing():
                import_module(name)
        # from sys.modules; an entry None there, which forbids the module, raises ImportError
        return import_module(name)
    except ImportError:
        raise MethodUnavailableError(need) from None
