"""The process that worker processes are forked from: it has a single thread and has imported what they need."""

from __future__ import annotations

import multiprocessing
import resource
from contextlib import suppress
from functools import cache
from multiprocessing import forkserver

from m2bridge.batch.signals import interrupts_held
from m2bridge.engine.scratch import Scratch, short_folders, sweep
from m2bridge.errors import BatchError, EngineError

CONTEXT = multiprocessing.get_context("forkserver")

LEAST_FILES = 24
"""Open files that a process needs to have one worker; each other one takes three more."""

_kept: list[Scratch] = []


def prepare(module: str = "m2bridge.batch.worker_imports") -> None:
    """Start it, if it does not run, without waiting until it has imported a module and what that needs.

    Raises
    ------
    BatchError
        If this process may not have as many open files as that takes, or there is no folder for its socket.
    """
    check_files(LEAST_FILES)
    CONTEXT.set_forkserver_preload([module])
    with interrupts_held():
        _choose_folder()
        try:
            forkserver.ensure_running()
        except OSError as reason:
            raise BatchError(f"the server of worker processes cannot be started: {reason}") from None


@cache
def _choose_folder() -> None:
    """Let multiprocessing put its sockets where their names are short enough, and where they are swept.

    By itself it takes the folder for temporary files, whose name may be long, and leaves one there if it is killed.
    """
    for place in short_folders():
        with suppress(EngineError):
            _kept.append(Scratch(place))
            multiprocessing.current_process()._config["tempdir"] = str(_kept[-1].path)  # type: ignore[attr-defined]
            sweep()
            return
    raise BatchError("workers need a temporary folder with a short name: let TMPDIR name one")


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
