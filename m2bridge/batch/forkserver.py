"""The process that worker processes are forked from: it has a single thread and has imported what they need."""

from __future__ import annotations

import multiprocessing
from multiprocessing import forkserver

from m2bridge.batch.signals import interrupts_held

CONTEXT = multiprocessing.get_context("forkserver")


def prepare(module: str = "m2bridge.batch.preload") -> None:
    """Start it, if it does not run, without waiting until it has imported a module and what that needs."""
    CONTEXT.set_forkserver_preload([module])
    with interrupts_held():
        forkserver.ensure_running()
