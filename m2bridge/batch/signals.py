"""Signals: those that end a command, and workers that Ctrl-C does not reach."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker

ENDING = (signal.SIGTERM, signal.SIGHUP)
"""Signals that end a command in an orderly way, as Ctrl-C does."""


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
