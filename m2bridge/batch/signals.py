"""Signals: a limit on the wall time of Python code (Macaulay2 has its own), and workers that Ctrl-C does not reach."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from types import FrameType
from typing import NoReturn

from m2bridge.errors import EngineTimeoutError

ENDING = (signal.SIGTERM, signal.SIGHUP)
"""Signals that end a command in an orderly way, as Ctrl-C does."""

GRACE = 1.0
"""Seconds after the limit, in which Macaulay2's own limit comes first and can say more."""

LONGEST = 1e9
"""Thirty years: the system's timers do not take much more, and no process runs that long."""


@contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Raise :class:`EngineTimeoutError` in the block when it takes longer; in the main thread only.

    Other threads cannot be interrupted: there the limit holds for Macaulay2 alone.
    """
    if seconds is None or seconds > LONGEST or threading.current_thread() is not threading.main_thread():
        yield
        return

    def late(number: int, frame: FrameType | None) -> NoReturn:
        raise EngineTimeoutError(f"the case did not finish within {seconds:.3g} seconds")

    previous = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds + GRACE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


@contextmanager
def interrupts_held(*more: signal.Signals) -> Iterator[None]:
    """Hold Ctrl-C, and more signals, back during the block; for good in the processes and threads that it starts.

    Ctrl-C reaches the whole foreground group; workers leave it to their parent, which then ends them.
    """
    resource_tracker.ensure_running()  # started in the block it would let the signal through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, *more})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
