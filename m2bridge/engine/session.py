"""One long-lived Macaulay2."""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

from m2bridge.engine.conversation import Conversation, Reply
from m2bridge.engine.discovery import Candidate, locate
from m2bridge.engine.protocol import Engine, Limits, Transcript
from m2bridge.engine.script import Script
from m2bridge.engine.trace import Source, script_error
from m2bridge.errors import EngineError, InvalidCaseError, ScriptError
from m2bridge.limits import check_timeout, clock
from m2bridge.workspace.evaluation import Evaluation, Evaluator, form
from m2bridge.workspace.workspace import Workspace

LIBRARIES = ("wire", "invariants", "fibres")
"""The shared scripts that every session has loaded."""


class _Isolated(Conversation):
    """The process of isolated runs; it loads no package that a script does not ask for."""

    over = False

    def may_begin(self) -> None:
        if self.over:
            raise EngineError("this session is over, because its with block was left: make another Macaulay2()")


class Macaulay2:
    """A Macaulay2 that answers one script after the other; started at the first run, restarted after a failure.

    :meth:`value` and :meth:`evaluate` take any Macaulay2 code, :meth:`workspace` keeps its symbols between calls; they
    have processes of their own. :meth:`run` is for scripts of m2bridge.

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

    Examples
    --------
    >>> with Macaulay2() as m2:
    ...     m2.value("binomial(20, 10)")
    184756
    >>> from sympy import symbols
    >>> t = symbols("t")
    >>> cusp = PolynomialMap.from_expressions([t], {"x": t**2, "y": t**3})
    >>> with Macaulay2() as engine:
    ...     locus = singular_locus(cusp, engine)
    >>> locus.dimension
    0
    """

    def __init__(self, program: str | os.PathLike[str] | None = None, limits: Limits | None = None) -> None:
        self.candidate = locate(program)
        self.limits = limits or Limits()
        self._runs = _Isolated(self.candidate, self.limits, ("--no-preload",), (*LIBRARIES, "session"))
        self._values: Evaluator | None = None
        self._workspaces: weakref.WeakSet[Workspace] = weakref.WeakSet()

    @property
    def version(self) -> str:
        """Version of the program."""
        return self.candidate.version

    @property
    def pid(self) -> int | None:
        """Process id of the Macaulay2 for isolated runs, if one runs."""
        process = self._runs.process
        return process.pid if process else None

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

    def run(self, script: Script, timeout: float | None = None) -> Transcript:
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
        check_timeout(timeout)
        clock().check()
        for _ in range(2):
            reply = self._runs.request("mbRun", {".m2": script.body}, timeout)
            if reply is not None:  # else an earlier script had made the process useless
                return self._transcript(script, reply)
        raise EngineError(f"Macaulay2 does not take the script '{script.name}'")

    def _transcript(self, script: Script, reply: Reply) -> Transcript:
        name = f"the script '{script.name}'"
        if not reply.whole:
            raise script_error(reply, {reply.nonce: Source(name, script.body)}, self._runs.first_column)
        if not reply.records:
            error = "the script emitted nothing"
            advice = f'{name} emitted nothing: say mbEmit("name", value) in it, or evaluate code by Macaulay2().value'
            raise ScriptError(advice, error=error, file=name, output=reply.output)
        return Transcript(reply.records, reply.output, reply.seconds, self.version)

    def value(
        self, code: str, /, *, timeout: float | None = None, references: bool = False, file: str = "", **inputs: Any
    ) -> Any:
        """The value of the last statement of some Macaulay2 code, as a Python object; see :meth:`evaluate`.

        Examples
        --------
        >>> with Macaulay2() as m2:
        ...     m2.value("first entries gens gb ideal(n, 15)", n=6)
        [3]
        """
        return self.evaluate(code, timeout=timeout, references=references, file=file, **inputs).value

    def evaluate(
        self, code: str, /, *, timeout: float | None = None, references: bool = False, file: str = "", **inputs: Any
    ) -> Evaluation:
        """Evaluate Macaulay2 code, with fresh symbols, in a process with the packages that ``M2`` loads by itself.

        Symbols are forgotten afterwards; a :meth:`workspace` keeps them. Other state of Macaulay2, such as methods
        that the code installs, stays until the process ends: isolated runs have another one and see nothing of it.

        Parameters
        ----------
        code : str
            A semicolon at its end says that there is no value: it is ``None`` then.
        timeout : float, optional
            Seconds; never more than the session's own limit.
        references : bool
            Whether what has no counterpart in Python becomes a :class:`~m2bridge.Reference` instead of an error.
        file : str, optional
            What errors call the code.
        **inputs
            Python objects, bound to symbols of these names.

        Raises
        ------
        ScriptError
            If Macaulay2 reports an error.
        ValueTypeError
            If the value has no counterpart in Python.
        ConversionError, InvalidCaseError
            If an input has no counterpart in Macaulay2, or its name cannot be one there.
        TimeLimitError, MemoryLimitError, EngineDiedError
            If it reached a limit or died; the next call starts a fresh process.

        Examples
        --------
        >>> with Macaulay2() as m2:
        ...     evaluation = m2.evaluate('print "hello"; 2^100')
        >>> evaluation.value, evaluation.output
        (1267650600228229401496703205376, 'hello\\n')
        """
        self._runs.may_begin()
        self._values = self._values or Evaluator(self.candidate, self.limits, passing=True)
        return self._values.evaluate(code, inputs, timeout, form(references), file)

    def workspace(self, packages: Iterable[str] = ()) -> Workspace:
        """A Macaulay2 of its own that keeps its symbols between calls; it ends with the session's ``with`` block.

        Parameters
        ----------
        packages : iterable of str
            What to load besides the packages that ``M2`` loads by itself.

        Raises
        ------
        PackageError
            If Macaulay2 does not have one of them, or cannot load it.

        Examples
        --------
        >>> with Macaulay2() as m2, m2.workspace() as work:
        ...     _ = work.run("n = 3")
        ...     work.value("n + 1")
        4
        """
        from m2bridge.workspace.workspace import Workspace

        self._runs.may_begin()
        workspace = Workspace(self.candidate, self.limits, packages)
        self._workspaces.add(workspace)
        return workspace

    def close(self) -> None:
        """End the Macaulay2 of isolated runs and that of :meth:`value`, and all they started; the next call starts it.

        A run that another thread is at fails with :class:`~m2bridge.errors.EngineDiedError`. Workspaces go on.
        """
        self._runs.close()
        if self._values is not None:
            self._values.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._runs.over = True
        self._runs.remove()
        if self._values is not None:
            self._values.remove()
        for workspace in list(self._workspaces):
            workspace.close()


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
