"""An engine where none is given."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from m2bridge.engine.discovery import Candidate, locate
from m2bridge.engine.protocol import Engine
from m2bridge.engine.session import Macaulay2
from m2bridge.engine.workspace import Workspace
from m2bridge.errors import InvalidCaseError

_SESSIONS: dict[Candidate, Macaulay2] = {}


def given_or_shared(engine: Engine | None) -> Engine:
    """The engine that is given; else the one session of this process for short questions, which ends with Python.

    Threads take turns with it, and a child made by ``fork`` starts its own, as with every session. Where another
    Macaulay2 is to be used than before, the session of the old one is dropped.

    Raises
    ------
    EngineNotFoundError
        If none is given, and there is no Macaulay2 here.
    """
    if engine is not None:
        return engine
    candidate = locate()
    for other in list(_SESSIONS):
        if other != candidate:
            _SESSIONS.pop(other, None)
    return _SESSIONS.setdefault(candidate, Macaulay2())  # of several threads the first; nothing has started yet


@contextmanager
def given_or_own(engine: Engine | None) -> Iterator[Engine]:
    """The engine that is given; else a Macaulay2 of its own, which starts when it is used and ends with the block.

    Raises
    ------
    InvalidCaseError
        If something else is given; programs run isolated, and not in a workspace.
    EngineNotFoundError
        If none is given, and there is no Macaulay2 here.
    """
    if engine is not None:
        if isinstance(engine, Workspace | type) or not hasattr(engine, "run"):
            raise InvalidCaseError("engine", f"must be a session such as Macaulay2(), not {engine!r:.60}")
        yield engine
        return
    with Macaulay2() as own:
        yield own
