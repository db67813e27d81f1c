"""The Macaulay2 of the computation that is running, as :mod:`m2bridge.limits` has its clock.

A public function that asks Macaulay2 is a :func:`computation`: it takes ``engine=`` and
``timeout=``, which hold for all that it calls. No function in between has to hand them on. What is
below asks :func:`m2bridge.engine.current`. The choice is a context variable: it holds in its
thread.
"""

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import ParamSpec, TypedDict, TypeVar

from m2bridge.engine.script import Engine
from m2bridge.errors import InvalidCaseError
from m2bridge.limits import limited

Parameters = ParamSpec("Parameters")
Returned = TypeVar("Returned")

_chosen: ContextVar[Engine | None] = ContextVar("engine", default=None)


class RunOptions(TypedDict, total=False):
    """The keywords that each :func:`computation` takes.

    ``engine`` is a session to use, such as :class:`m2bridge.Macaulay2`; without one the session of
    the ``with`` block around it is used, else the one that the process shares. ``timeout`` is a
    number of seconds for the whole computation; an earlier limit around it stays.
    """

    engine: Engine | None
    timeout: float | None


def chosen() -> Engine | None:
    """The Macaulay2 that was chosen for this computation; ``None`` where the shared one serves."""
    return _chosen.get()


def choose(engine: Engine | None) -> None:
    """Choose the Macaulay2 of all that comes; ``None`` leaves it to the shared one."""
    _chosen.set(engine)


@contextmanager
def using(engine: Engine | None) -> Iterator[None]:
    """Choose the Macaulay2 for all that the block does; with ``None`` the choice around it stays.

    Raises
    ------
    InvalidCaseError
        If it is something else; programs run isolated, and not in a workspace.
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
    """Let a function take ``engine=`` and ``timeout=``, for all that it calls.

    The function declares them as ``**options: Unpack[RunOptions]``, for type checkers, and finds
    none of them there: it runs within ``limited(timeout)`` and ``using(engine)``.
    """
    signature = inspect.signature(function)
    own = [p for p in signature.parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
    names = {parameter.name for parameter in own}

    @functools.wraps(function)
    def run(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Returned:
        engine = kwargs.pop("engine", None)
        timeout = kwargs.pop("timeout", None)
        for name in kwargs:
            if name not in names:  # the function itself would take any
                message = f"{function.__name__}() got an unexpected keyword argument '{name}'"
                raise TypeError(message)
        with limited(timeout), using(engine):  # type: ignore[arg-type]
            return function(*args, **kwargs)

    keyword = functools.partial(
        inspect.Parameter, kind=inspect.Parameter.KEYWORD_ONLY, default=None
    )
    for name, annotation in RunOptions.__annotations__.items():
        own.append(keyword(name, annotation=annotation))
    run.__signature__ = signature.replace(parameters=own)  # type: ignore[attr-defined]
    return run
