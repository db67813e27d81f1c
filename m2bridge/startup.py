"""Imports in the middle of things, where an interrupt may come; and when not to collect garbage."""

from __future__ import annotations

import gc
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType


@contextmanager
def importing() -> Iterator[None]:
    """Hold signals back, and garbage collection off, while a block imports modules.

    Libraries may swallow the exception that a signal raises while they are imported. What is imported stays: collecting
    it only costs time, now and at the end.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM})
    gc.disable()
    try:
        yield
    finally:
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
