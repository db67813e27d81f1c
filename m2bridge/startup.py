"""Imports in the middle of things, where an interrupt may come; and when not to collect garbage."""

from __future__ import annotations

import gc
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType

from m2bridge.clock import clock


class _Look:
    """Looks at the clock when a module is sought, and finds none."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        """Nothing, in time."""
        running = clock()
        if running.now() > running.deadline:
            raise running.late("loading Python's modules")


@contextmanager
def importing() -> Iterator[None]:
    """Hold signals back, and garbage collection off, while a block imports modules.

    Libraries may swallow the exception that a signal raises while they are imported, so the clock is looked at before
    each module. What is imported stays: collecting it only costs time, now and at the end.

    Raises
    ------
    EngineTimeoutError
        If the limit is reached; on a busy machine, or from a slow disk, imports take long.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM})
    gc.disable()
    sys.meta_path.insert(0, _Look)
    try:
        yield
    finally:
        sys.meta_path.remove(_Look)
        gc.freeze()
        gc.enable()
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def imported(name: str) -> ModuleType:
    """A module; imported as by :func:`importing`, unless it is there already."""
    if name not in sys.modules:
        with importing():
            import_module(name)
    return sys.modules[name]


@contextmanager
def collection_paused() -> Iterator[None]:
    """Hold the collector off while a block makes many objects that stay: it would look at them again and again."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
