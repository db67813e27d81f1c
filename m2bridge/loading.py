"""Imports within the time limit, undisturbed by signals, with clear errors for missing packages."""

import gc
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType

from m2bridge.errors import MethodUnavailableError
from m2bridge.limits import clock
from m2bridge.system import collection_paused

_wholly = False


def load_wholly() -> None:
    """Let imports in this process finish even if the time limit is reached meanwhile.

    For a process that continues after a limit was reached: a package that is only half imported
    could not be used later. The limit takes effect right after the import.
    """
    global _wholly
    _wholly = True


class _DeadlineFinder:
    """An import finder that finds no module, and raises TimeLimitError after the deadline."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        """Check the deadline; return no module."""
        running = clock()
        if running.now() > running.deadline:
            raise running.late("loading Python's modules")


@contextmanager
def importing() -> Iterator[None]:
    """Block signals and garbage collection while a block imports modules.

    A library may swallow the exception that a signal raises during its import, so the deadline is
    checked before each module instead. Imported modules stay alive, so collecting them only costs
    time.

    Raises
    ------
    TimeLimitError
        If the limit is reached, as it may be on a busy machine or a slow disk.
    """
    before = signal.pthread_sigmask(
        signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM}
    )
    if not _wholly:
        sys.meta_path.insert(0, _DeadlineFinder)
    try:
        with collection_paused():
            yield
            gc.freeze()
    finally:
        if _DeadlineFinder in sys.meta_path:
            sys.meta_path.remove(_DeadlineFinder)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def imported(name: str) -> ModuleType:
    """Return a module, imported within :func:`importing` if it is not imported yet."""
    if name not in sys.modules:
        with importing():
            import_module(name)
    return sys.modules[name]


def library(name: str, need: str) -> ModuleType:
    """Return a module of an optional dependency.

    Raises
    ------
    MethodUnavailableError
        If it is not installed; ``need`` is the message.
    """
    try:
        if name not in sys.modules:
            with importing():
                import_module(name)
        return import_module(name)
    except ImportError:
        raise MethodUnavailableError(need) from None
