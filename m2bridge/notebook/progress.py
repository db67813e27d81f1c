"""What m2bridge is at and for how long, below a cell that takes long; seen from outside, so that nothing reports it."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from contextvars import copy_context
from pathlib import Path
from types import FrameType
from typing import Any

from IPython.display import DisplayHandle

import m2bridge
from m2bridge.layout import duration

_PACKAGE = str(Path(m2bridge.__file__).parent)
_OWN = str(Path(__file__).parent)


class Progress:
    """A line below each cell in which a function of m2bridge takes longer than ``patience`` seconds.

    Parameters
    ----------
    patience : float
        Seconds between two looks.
    show : callable, optional
        Shows a line in place of the one before; the cell's output when left out.
    """

    def __init__(self, patience: float = 1.0, show: Callable[[str], object] | None = None) -> None:
        self._patience, self._show = patience, show
        self._over = threading.Event()
        self._watcher: threading.Thread | None = None

    def begin(self, *_: Any) -> None:
        """A cell begins, in this thread."""
        self.end()
        self._over = threading.Event()
        watch, over = copy_context().run, self._over  # the context says below which cell lines are shown
        arguments = (self._watch, threading.get_ident(), over, self._show or _Line())
        self._watcher = threading.Thread(target=watch, args=arguments, name="m2bridge progress", daemon=True)
        self._watcher.start()

    def end(self, *_: Any) -> None:
        """The cell has ended."""
        self._over.set()
        if self._watcher is not None:
            self._watcher.join()
        self._watcher = None

    def _watch(self, thread: int, over: threading.Event, show: Callable[[str], object]) -> None:
        begin, last = time.monotonic(), ""
        while not over.wait(self._patience):
            if doing := doings(sys._current_frames().get(thread)):
                last = doing
                show(f"m2bridge: {last}, {duration(time.monotonic() - begin)} …")
        if last:
            show(f"m2bridge: {last}, done after {duration(time.monotonic() - begin)}")


def doings(frame: FrameType | None) -> str:
    """The function of m2bridge that was called, and whether it waits for Macaulay2; empty outside m2bridge."""
    called, waits = "", False
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith(_PACKAGE) and not file.startswith(_OWN):
            called, waits = frame.f_code.co_name, waits or "/engine/" in file
        frame = frame.f_back
    return f"{called} (Macaulay2)" if called and waits else called


class _Line:
    """One line of output, which is replaced."""

    def __init__(self) -> None:
        self._handle: DisplayHandle | None = None

    def __call__(self, text: str) -> None:
        data = {"text/plain": text}
        if self._handle is None:
            self._handle = DisplayHandle()
            self._handle.display(data, raw=True)
        else:
            self._handle.update(data, raw=True)
