"""The process that worker processes are forked from: it has a single thread and has imported what they need."""

from __future__ import annotations

import multiprocessing
import resource
from multiprocessing import forkserver

from m2bridge.batch.signals import interrupts_held
from m2bridge.errors import BatchError

CONTEXT = multiprocessing.get_context("forkserver")

LEAST_FILES = 24
"""Open files that a process needs to have one worker; each other one takes three more."""


def prepare(module: str = "m2bridge.batch.preload") -> None:
    """Start it, if it does not run, without waiting until it has imported a module and what that needs.

    Raises
    ------
    BatchError
        If this process may not have as many open files as that takes.
    """
    check_files(LEAST_FILES)
    CONTEXT.set_forkserver_preload([module])
    with interrupts_held():
        forkserver.ensure_running()


def check_files(least: int) -> None:
    """Refuse to start processes where the system allows too few open files, before that fails halfway.

    Raises
    ------
    BatchError
        If fewer are allowed.
    """
    allowed = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if allowed != resource.RLIM_INFINITY and allowed < least:
        raise BatchError(f"workers need {least} open files at least, and {allowed} are allowed here (ulimit -n)")
