"""How modules are loaded: in time, undisturbed by signals, and with words if they are missing."""

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
    """Let modules be loaded to their end in this process, whatever the limit is.

    For a process that goes on after a limit was reached: a package that is left half loaded is of
    no use to what comes later. A limit that was reached meanwhile holds right after.
    """
    global _wholly
    _wholly = True


class _DeadlineFinder:
    """Looks at the clock when a module is sought, and finds none."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        """Find nothing, in time."""
        running = clock()
        if running.now() > running.deadline:
            raise running.late("loading Python's modules")


@contextmanager
def importing() -> Iterator[None]:
    """Hold signals back, and garbage collection off, while a block imports modules.

    Libraries may swallow the exception that a signal raises while they are imported, so the clock
    is looked at before each module. What is imported stays: collecting it only costs time, now and
    at the end.

    Raises
    ------
    TimeLimitError
        If the limit is reached; on a busy machine, or from a slow disk, imports take long.
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
    """A module; imported as by :func:`importing`, unless it is there already."""
    if name not in sys.modules:
        with importing():
            import_module(name)
    return sys.modules[name]


def library(name: str, need: str) -> ModuleType:
    """A module of a package that is not installed with m2bridge.

    Raises
    ------
    MethodUnavailableError
        With the words on what needs it, if it is missing.
    """
    try:
        if name not in sys.modules:
            with importing():
                import_module(name)
        return import_module(name)
    except ImportError:
        raise MethodUnavailableError(need) from None
