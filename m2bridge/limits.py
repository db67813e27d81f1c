"""The limits of a computation: one deadline, looked at in every loop, and the memory of Macaulay2.

A computation runs in ``with limited(seconds):``. All that it calls, at any depth, looks at the
deadline: :func:`check` at a step, :func:`check_deadline_in` around what a loop goes through,
``check(price)`` before a call of a library that cannot look itself and takes so many seconds. When
the deadline has passed, they raise :class:`~m2bridge.errors.TimeLimitError`; who has found
something by then catches it and gives what was found. Limits nest, and the earliest deadline
counts.

The clock is a context variable, as the precision of decimal numbers is: a limit holds for the whole
of a computation, and no function in between has to hand it on. A new thread begins without a limit.

A loop whose number of steps is known goes around :func:`with_progress`: who shows the progress of a
computation, with :func:`progress_listener`, is told after each step.
"""

import math
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from types import FrameType
from typing import NoReturn, TypeVar

from m2bridge.errors import InvalidCaseError, TimeLimitError
from m2bridge.system import address_space

ItemT = TypeVar("ItemT")

_PART = "its part of"
"""The beginning of the words on a limit that is a part of another."""

LONGEST_WAIT = 3600.0
"""Seconds of one wait for a file or a terminal, after which one waits again.

The system's calls do not take much more than a month.
"""

LONGEST_TIMER = 5e7
"""Seconds, a year and a half: timers of macOS take no more than 1e8, and no process runs that long.
"""

LEAST_MEMORY = 640 * 2**20
"""Bytes: Macaulay2 maps 250 MiB (1.21) to 620 MiB (1.26) of address space before it computes, on
two cores.
"""

MOST_MEMORY = 2**62
"""Bytes: limits on memory are signed numbers of 64 bits."""


@dataclass(frozen=True, slots=True)
class Clock:
    """Wall time since a computation began, and its deadline.

    Parameters
    ----------
    begin : float
        When it began, by ``now``.
    limit : str
        The limit as it was given, in words; empty without one.
    deadline : float
        By ``now``; infinite without a limit.
    now : callable
        Where the time comes from; tests bring their own.
    option : str
        How whoever asked gives more time.
    """

    begin: float = 0.0
    limit: str = ""
    deadline: float = math.inf
    now: Callable[[], float] = time.monotonic
    option: str = "timeout="

    @property
    def more(self) -> str:
        """Advice for when the time is over."""
        return f"give it more with {self.option}"

    @property
    def seconds(self) -> float:
        """The seconds since the beginning."""
        return self.now() - self.begin

    @property
    def remaining(self) -> float | None:
        """Seconds left (at least a hundredth), or ``None`` without a limit."""
        return None if math.isinf(self.deadline) else max(self.deadline - self.now(), 0.01)

    def check(self, price: float = 0.0) -> None:
        """Look at the deadline.

        Parameters
        ----------
        price : float
            Seconds that the next step takes, in which nobody can look again.

        Raises
        ------
        TimeLimitError
            If the deadline has passed, or the next step would not end before it.
        """
        left = self.deadline - self.now()
        if left >= price:
            return
        if left < 0 or price < 1:  # about 0 seconds would say nothing
            raise self.late("the computation")
        step = f"the next step takes about {price:.0f} seconds, more than is left of {self.limit}"
        raise TimeLimitError(f"{step}; {self.more}")

    def late(self, what: str) -> TimeLimitError:
        """The error for something that did not end before the deadline."""
        return TimeLimitError(f"{what} did not finish within {self.limit}; {self.more}")


_current: ContextVar[Clock] = ContextVar("clock", default=Clock())  # noqa: B039  (a frozen value)


def clock() -> Clock:
    """The clock of the computation that is running."""
    return _current.get()


def check(price: float = 0.0) -> None:
    """Look at the deadline of the computation that is running; see :meth:`Clock.check`."""
    _current.get().check(price)


def check_deadline_in(items: Iterable[ItemT]) -> Iterator[ItemT]:
    """The same items; the deadline is looked at before each of them."""
    running = _current.get()
    if math.isinf(running.deadline):
        yield from items
        return
    # Looked up once: this loop goes around the innermost ones.
    now = running.now
    deadline = running.deadline
    for item in items:
        if now() > deadline:
            running.check()
        yield item


_display: ContextVar[Callable[[int, int, str], object] | None] = ContextVar("display", default=None)


def with_progress(items: Iterable[ItemT], total: int, what: str) -> Iterator[ItemT]:
    """The same items, watched; a display is told how many of them are done.

    Parameters
    ----------
    items : iterable
    total : int
        How many there are.
    what : str
        What they are, plural.
    """
    tell = _display.get() or _nobody
    tell(0, total, what)
    for done, item in enumerate(check_deadline_in(items), 1):
        yield item
        tell(done, total, what)


def _nobody(done: int, total: int, what: str) -> None:
    """Tell nobody."""


@contextmanager
def progress_listener(display: Callable[[int, int, str], object]) -> Iterator[None]:
    """Tell a display, in the block, how many steps of how many are done, and what they are."""
    token = _display.set(display)
    try:
        yield
    finally:
        _display.reset(token)


def start(option: str = "--timeout") -> None:
    """Begin a command: a limit that it sets later counts from now on, as :func:`limited` says."""
    _current.set(Clock(begin=time.monotonic(), option=option))


@contextmanager
def limited(
    timeout: float | None, now: Callable[[], float] | None = None, begin: float | None = None
) -> Iterator[Clock]:
    """A limit on the time of all that the block does; an earlier deadline around it stays.

    Parameters
    ----------
    timeout : float, optional
        Seconds; no limit of its own when left out.
    now : callable, optional
        Where the time comes from; the source of the clock around it when left out.
    begin : float, optional
        From when on the seconds count; the beginning of the block when left out.

    Raises
    ------
    InvalidCaseError
        If the limit is not a positive, finite number of seconds.
    """
    check_timeout(timeout)
    outer = clock()
    inner = replace(outer, now=now or outer.now)
    inner = replace(inner, begin=inner.now() if begin is None else begin)
    if timeout is not None and inner.begin + timeout < outer.deadline:
        inner = replace(inner, limit=limit_of(timeout), deadline=inner.begin + timeout)
    with _running(inner):
        yield inner


def limit_of(seconds: float) -> str:
    """A limit as it was given, in words.

    Examples
    --------
    >>> limit_of(1), limit_of(0.5), limit_of(12345678)
    ('the limit of 1 second', 'the limit of 0.5 seconds', 'the limit of 12345678 seconds')
    """
    unit = "second" if seconds == 1 else "seconds"
    return f"the limit of {seconds:.12g} {unit}"


@contextmanager
def share(part: float, otherwise: float | None = None) -> Iterator[Clock]:
    """A part of the time that is left for the block, and the rest for what comes after it.

    Parameters
    ----------
    part : float
        More than 0, at most 1.
    otherwise : float, optional
        Seconds, where there is no limit.
    """
    outer = clock()
    now = outer.now()
    if not math.isinf(outer.deadline):
        limit = outer.limit
        if part < 1 and not limit.startswith(_PART):
            limit = f"{_PART} {limit}"
        inner = replace(outer, limit=limit, deadline=now + part * (outer.deadline - now))
    elif otherwise is not None:
        inner = replace(outer, limit=f"{otherwise:g} seconds", deadline=now + otherwise)
    else:
        inner = outer
    with _running(inner):
        yield inner


@contextmanager
def overtime(clock: Clock, seconds: float) -> Iterator[None]:
    """Allow some seconds after the end of a limit, to write what was found."""
    with _running(replace(clock, deadline=max(clock.deadline, clock.now()) + seconds)):
        yield


def each(items: Iterable[tuple[str, Callable[[], ItemT]]]) -> tuple[tuple[ItemT, ...], str]:
    """The results of computations; at the limit those so far, and the reason for the end.

    Raises
    ------
    TimeLimitError
        If the limit is reached before the first result.
    """
    values: dict[str, ItemT] = {}
    try:
        for name, computation in check_deadline_in(items):
            values[name] = computation()
    except TimeLimitError as limit:
        limit.progress = limit.progress or f"decided so far: {', '.join(values) or 'nothing'}"
        if not values:
            raise
        return tuple(values.values()), str(limit)
    return tuple(values.values()), ""


@contextmanager
def asked_by(option: str) -> Iterator[None]:
    """Name, in the block, the option that gives more time."""
    with _running(replace(clock(), option=option)):
        yield


@contextmanager
def _running(inner: Clock) -> Iterator[None]:
    token = _current.set(inner)
    try:
        yield
    finally:
        _current.reset(token)


def check_timeout(timeout: float | None) -> None:
    """Check that a timeout, if there is one, is a positive, finite number.

    Raises
    ------
    InvalidCaseError
        If it is not.
    """
    number = isinstance(timeout, int | float) and not isinstance(timeout, bool)
    if timeout is not None and not (number and 0 < timeout < math.inf):
        raise InvalidCaseError(
            "timeout", f"must be a positive, finite number of seconds, not {timeout!r}"
        )


@contextmanager
def alarm(clock: Clock, grace: float) -> Iterator[None]:
    """Raise :class:`~m2bridge.errors.TimeLimitError` some seconds after the deadline of a clock.

    In the main thread only: others cannot be interrupted, and look at the clock themselves. What
    the block has found by then is lost with the exception, unless it catches it; looking at the
    clock comes first and can say more.
    """
    remaining = clock.remaining
    is_main = threading.current_thread() is threading.main_thread()
    if remaining is None or remaining > LONGEST_TIMER or not is_main:
        yield
        return

    def late(number: int, frame: FrameType | None) -> NoReturn:
        raise clock.late("the computation")

    previous = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, remaining + grace)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on one run.

    Parameters
    ----------
    timeout : float, optional
        Seconds of wall time, as many as you like; no limit when left out or infinite.
    memory : int, optional
        Bytes of address space of each process of the engine, at least :data:`LEAST_MEMORY`; what
        this process has (``ulimit -v``) when left out. Useful limits start at 1 GiB; machines with
        many cores need more.

    Raises
    ------
    InvalidCaseError
        If the time is not a positive number, if Macaulay2 cannot start within this memory, or if
        this process may not use so much itself: no limit that was set before is ever raised.

    Examples
    --------
    >>> from sympy import symbols
    >>> t = symbols("t")
    >>> cusp = PolynomialMap.from_expressions([t], {"x": t**2, "y": t**3})
    >>> with Macaulay2(limits=Limits(timeout=60, memory=2 * 2**30)) as engine:
    ...     print(closure(cusp, engine=engine).degree)
    3
    """

    timeout: float | None = None
    memory: int | None = None

    def __post_init__(self) -> None:
        check_timeout(self.timeout)
        if self.memory is None:
            return
        if self.memory < LEAST_MEMORY:
            raise InvalidCaseError(
                "memory",
                "Macaulay2 takes up to 620 MiB of address space before it computes anything: "
                "give it 640M at least, better 1G or more",
            )
        if self.memory > MOST_MEMORY:
            raise InvalidCaseError(
                "memory", f"this system takes no limit above {MOST_MEMORY / 2**30:.3g} GiB"
            )
        inherited = address_space()
        if inherited is not None and self.memory > inherited:
            allowed = f"{inherited // 2**20}M"
            raise InvalidCaseError(
                "memory", f"more than the {allowed} of address space allowed here (ulimit -v)"
            )
