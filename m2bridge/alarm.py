"""The last resort of commands: a signal where a loop does not look at the clock."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

from m2bridge.clock import Clock

LONGEST = 1e9
"""Thirty years: the system's timers do not take much more, and no process runs that long."""


@contextmanager
def alarm(clock: Clock, grace: float) -> Iterator[None]:
    """Raise :class:`~m2bridge.errors.EngineTimeoutError` in the block some seconds after the deadline of its clock.

    In the main thread only: others cannot be interrupted, and look at the clock themselves. What the block has found by
    then is lost with the exception, unless it catches it; looking at the clock comes first and can say more.
    """
    remaining = clock.remaining
    if remaining is None or remaining > LONGEST or threading.current_thread() is not threading.main_thread():
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
