"""Sessions: a Macaulay2 that runs one script after the other, each isolated from the others."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partial
from typing import Self

from m2bridge.engine.conversation import Conversation
from m2bridge.engine.discovery import Candidate, locate
from m2bridge.engine.protocol import Engine, Limits, Transcript
from m2bridge.engine.script import Script
from m2bridge.engine.trace import Source
from m2bridge.errors import InvalidCaseError, ScriptError

LIBRARIES = ("wire", "invariants", "fibres")
"""The shared scripts that every session has loaded."""


class Session:
    """A Macaulay2 that answers one script after the other; found and started at the first run.

    A script goes in as a file and works with symbols of its own; its answers come out in another file, whose closing
    record carries the nonce of the run. What the script prints is kept apart and never read for answers. After a
    time-out, a crash or an interrupt the process is killed with everything it started: a conversation is never
    repaired, and no script is run again unasked.

    Threads that share a session take turns. A child made by ``fork`` leaves the process to its parent, and starts
    another when it runs something. A session that is dropped ends its process.

    Parameters
    ----------
    program : path, optional
        Which Macaulay2; found by :func:`m2bridge.engine.locate` when left out.
    limits : Limits
        Limits for each run.
    """

    def __init__(self, program: str | os.PathLike[str] | None = None, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self._locate = cache(partial(locate, program))
        # it loads no package that a script does not ask for
        self._runs = Conversation(self._locate, self.limits, ("--no-preload",), (*LIBRARIES, "session"))

    @property
    def candidate(self) -> Candidate:
        """The program, which is sought when it is needed first.

        Raises
        ------
        EngineNotFoundError, EngineVersionError
            If there is none, or the one that was named is not a Macaulay2 that m2bridge works with.
        """
        return self._locate()

    @property
    def version(self) -> str:
        """The version of the program."""
        return self.candidate.version

    @property
    def pid(self) -> int | None:
        """Process id of the Macaulay2 for isolated runs, if one runs."""
        return self._runs.pid

    @property
    def peak_memory(self) -> int | None:
        """Largest resident memory of the Macaulay2 for isolated runs, in bytes, where the system tells it.

        Since its start, or since :meth:`forget_peak_memory`.
        """
        process = self._runs.process
        return process.peak_memory if process else None

    def forget_peak_memory(self) -> None:
        """Measure :attr:`peak_memory` from now on, where the system can do so (Linux)."""
        if (process := self._runs.process) is not None:
            process.forget_peak_memory()

    def start(self) -> None:
        """Start Macaulay2 for isolated runs, if it does not run, without waiting until it is ready.

        Raises
        ------
        EngineError
            If the session is over: its ``with`` block was left. If there is no temporary folder.
        """
        self._runs.start()

    def run(self, script: Script, *, timeout: float | None = None) -> Transcript:
        """Run one script; see :meth:`m2bridge.engine.Engine.run`.

        Parameters
        ----------
        timeout : float, optional
            Seconds; never more than the session's own limit. The start of Macaulay2 counts only where the whole
            computation has a limit, see :mod:`m2bridge.limits`.

        Raises
        ------
        InvalidCaseError
            If the timeout is not a positive number, or the script is not a :class:`~m2bridge.Script`.
        ScriptError
            If Macaulay2 reports an error, or the script emits nothing; the session goes on.
        TimeLimitError, MemoryLimitError, EngineDiedError
            If it reached a limit or died; the next run starts a fresh process.
        """
        if not isinstance(script, Script):
            raise InvalidCaseError(
                "script", f"must be a Script, not a {type(script).__name__}; value(code) evaluates Macaulay2 code"
            )
        name = f"the script '{script.name}'"
        transcript = self._runs.request("mbRun", Source(name, script.body), timeout=timeout)
        if not transcript.records:
            error = "the script emitted nothing"
            advice = f'{name} emitted nothing: say mbEmit("name", value) in it, or evaluate code by Macaulay2().value'
            raise ScriptError(advice, error=error, file=name, output=transcript.output)
        return transcript

    def close(self) -> None:
        """End Macaulay2 and all it started; the next run starts it again.

        A run that another thread is at fails with :class:`~m2bridge.errors.EngineDiedError`.
        """
        self._runs.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._runs.remove("this session is over, because its with block was left: make another Macaulay2()")


_SESSIONS: dict[Candidate, Session] = {}


def engine_or_shared(engine: Engine | None) -> Engine:
    """The engine; without one, the session of this process for short questions, which ends with Python.

    Threads take turns with it, and a child made by ``fork`` starts its own, as with every session. Where another
    Macaulay2 is to be used than before, the session of the old one is dropped.

    Raises
    ------
    InvalidCaseError
        If something else is passed; programs run isolated, and not in a workspace.
    EngineNotFoundError
        If none is passed, and there is no Macaulay2 here.
    """
    if engine is not None:
        return _checked(engine)
    candidate = locate()
    for other in list(_SESSIONS):
        if other != candidate:
            _SESSIONS.pop(other, None)
    return _SESSIONS.setdefault(candidate, Session())  # of several threads the first; nothing has started yet


@contextmanager
def engine_or_own(engine: Engine | None) -> Iterator[Engine]:
    """The engine; without one, a session that starts when it is used and ends with the block.

    Raises
    ------
    InvalidCaseError
        If something else is passed; programs run isolated, and not in a workspace.
    """
    if engine is not None:
        yield _checked(engine)
        return
    with Session() as own:
        yield own


def _checked(engine: Engine) -> Engine:
    if not all(hasattr(type(engine), name) for name in ("run", "version")):
        raise InvalidCaseError("engine", f"must be a session such as Macaulay2(), not {engine!r:.60}")
    return engine
