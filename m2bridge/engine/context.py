"""The Macaulay2 session of the running computation, a context variable like its clock.

A public function that needs Macaulay2 is a :func:`computation`: it takes ``engine=`` and
``timeout=``, which hold for all functions that it calls, so these need not pass them on. They get
the session from :func:`m2bridge.engine.current`. The choice holds in its own thread only.

The logger ``m2bridge`` says which computation is started and how long it took: at the level INFO
those that a user calls, at DEBUG those that they call.
"""

import functools
import inspect
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, ParamSpec, TypedDict, TypeVar

from m2bridge.engine.script import Engine
from m2bridge.errors import InvalidCaseError
from m2bridge.limits import limited

Parameters = ParamSpec("Parameters")
Returned = TypeVar("Returned")

LOG = logging.getLogger("m2bridge")
LOG.addHandler(logging.NullHandler())

_chosen: ContextVar[Engine | None] = ContextVar("engine", default=None)
_is_logged: ContextVar[bool] = ContextVar("is_logged", default=False)
"""Whether a computation runs whose start was logged, so that those that it calls are at DEBUG."""


class RunOptions(TypedDict, total=False):
    """The keyword arguments of each :func:`computation`.

    ``engine`` is a session to use, such as :class:`m2bridge.Macaulay2`; without one the session of
    the enclosing ``with`` block is used, else the one shared in the process. ``timeout`` is a
    number of seconds for the whole computation; ``None`` adds no limit, and an earlier limit of an
    enclosing block stays.
    """

    engine: Engine | None
    timeout: float | None


def chosen_engine() -> Engine | None:
    """Return the session chosen for this computation; ``None`` if the shared one is used."""
    return _chosen.get()


def choose(engine: Engine | None) -> None:
    """Choose the session for all further computations; ``None`` means the shared one."""
    _chosen.set(engine)


@contextmanager
def using(engine: Engine | None) -> Iterator[None]:
    """Choose the session for the block; with ``None`` the choice of the enclosing block stays. A
    workspace is refused: it keeps symbols, and programs of computations run isolated from each
    other.
    """
    if engine is None:
        yield
        return
    if not all(hasattr(type(engine), name) for name in ("run", "version")):
        raise InvalidCaseError(
            "engine", f"must be a session such as Macaulay2(), not {engine!r:.60}"
        )
    token = _chosen.set(engine)
    try:
        yield
    finally:
        _chosen.reset(token)


def computation(function: Callable[Parameters, Returned]) -> Callable[Parameters, Returned]:
    """Add the keywords ``engine=`` and ``timeout=`` to a function, for all functions that it calls.

    The function declares them as ``**options: Unpack[RunOptions]`` for type checkers, but never
    receives them: it runs within ``limited(timeout)`` and ``using(engine)``.
    """
    signature = inspect.signature(function)
    own = [p for p in signature.parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
    names = {parameter.name for parameter in own}
    # in place of **options the signature shows the two keywords
    keywords = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
        for name, annotation in RunOptions.__annotations__.items()
    ]

    @functools.wraps(function)
    def run(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Returned:
        """Call the function within the limit and with the session that the keywords name."""
        engine: Any = kwargs.pop("engine", None)
        timeout: Any = kwargs.pop("timeout", None)
        for name in kwargs:
            if name not in names:  # because of **options the function itself would accept any
                message = f"{function.__name__}() got an unexpected keyword argument '{name}'"
                raise TypeError(message)
        with limited(timeout), using(engine), _logged(function.__qualname__):
            return function(*args, **kwargs)

    public_signature = signature.replace(parameters=[*own, *keywords])
    run.__signature__ = public_signature  # type: ignore[attr-defined]
    return run


@contextmanager
def _logged(name: str) -> Iterator[None]:
    """Log the start of a computation and the seconds that it took, with the error if it failed."""
    level = logging.DEBUG if _is_logged.get() else logging.INFO
    if not LOG.isEnabledFor(level):
        yield
        return
    token = _is_logged.set(True)
    begin = time.monotonic()
    LOG.log(level, "%s: started", name)
    outcome = "took"
    try:
        yield
    except BaseException as reason:
        outcome = f"{type(reason).__name__} after"
        raise
    finally:
        LOG.log(level, "%s: %s %.2f s", name, outcome, time.monotonic() - begin)
        _is_logged.reset(token)
