"""One long-lived Macaulay2."""

from __future__ import annotations

import json
import os
import secrets
import threading
import time
import weakref
from pathlib import Path
from types import TracebackType
from typing import Self

from m2bridge.clock import Clock, check_timeout, clock
from m2bridge.engine.discovery import locate
from m2bridge.engine.failure import death, script_error
from m2bridge.engine.process import Ended, Overdue, Process
from m2bridge.engine.protocol import Limits, Transcript
from m2bridge.engine.scratch import Scratch, sweep
from m2bridge.errors import EngineError, EngineTimeoutError
from m2bridge.render import Script
from m2bridge.resources import m2script

LIBRARIES = ("wire", "invariants", "fibres")
"""The shared scripts that every session has loaded."""

_OPTIONS = ("-q", "--silent", "--no-readline", "--no-preload", "--no-prompts", "--no-debug", "--no-randomize")
_START_LIMIT = 120.0


class Macaulay2:
    """A Macaulay2 that answers one script after the other; started at the first run, restarted after a failure.

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
        self._process: Process | None = None
        self._ready = False
        self._over = False
        self._scratch: Scratch | None = None
        self._turn = threading.Lock()
        _sessions.add(self)

    @property
    def version(self) -> str:
        """Version of the program."""
        return self.candidate.version

    @property
    def pid(self) -> int | None:
        """Process id of the running Macaulay2, if one runs."""
        return self._process.pid if self._process else None

    @property
    def peak_memory(self) -> int | None:
        """Largest resident memory of the running Macaulay2, in bytes, where the system tells it.

        Since its start, or since :meth:`forget_peak_memory`.
        """
        return self._process.peak_memory if self._process else None

    def forget_peak_memory(self) -> None:
        """Measure :attr:`peak_memory` from now on, where the system can do so (Linux)."""
        if self._process is not None:
            self._process.forget_peak_memory()

    def start(self) -> None:
        """Start Macaulay2, if it does not run, without waiting until it is ready.

        Raises
        ------
        EngineError
            If the session is over: its ``with`` block was left. If there is no temporary folder.
        """
        if self._turn.acquire(blocking=False):  # else another thread has started it
            try:
                self._start()
            finally:
                self._turn.release()

    def _start(self) -> tuple[Process, Path]:
        """The process, and the folder for its files."""
        if self._over:
            raise EngineError("this session is over, because its with block was left: make another Macaulay2()")
        self._scratch = self._scratch or Scratch()
        folder = self._scratch.path
        if self._ready and self._process is not None and self._process.has_ended:  # killed between two runs
            self._end()
        if self._process is None:
            scripts = [str(m2script(name)) for name in (*LIBRARIES, "session")]
            assert self.candidate.program is not None
            self._process = Process(self.candidate.program, (*_OPTIONS, *scripts), self.limits.memory, folder)
            self._ready = False
            sweep()
        return self._process, folder

    def run(self, script: Script, timeout: float | None = None) -> Transcript:
        """Run one script; see :meth:`m2bridge.engine.Engine.run`.

        Parameters
        ----------
        timeout : float, optional
            Seconds; never more than the session's own limit. The start of Macaulay2 counts only where the whole
            computation has a limit, see :mod:`m2bridge.clock`.

        Raises
        ------
        InvalidCaseError
            If the timeout is not a positive number.
        ScriptError
            If Macaulay2 reports an error; the session goes on.
        EngineTimeoutError, EngineMemoryError, EngineDiedError
            If it reached a limit or died; the next run starts a fresh process.
        """
        check_timeout(timeout)
        clock().check()
        limit = min((t for t in (self.limits.timeout, timeout) if t is not None), default=None)
        with self._turn:
            for _ in range(2):
                transcript = self._attempt(script, limit)
                if transcript is not None:
                    return transcript
                self._end()  # an earlier script has made it useless
        raise EngineError(f"Macaulay2 does not take the script '{script.name}'")

    def _attempt(self, script: Script, limit: float | None) -> Transcript | None:
        """Run a script; ``None`` if Macaulay2 did not begin with it."""
        process, folder = self._started()
        nonce = secrets.token_hex(8)
        source, answers = (folder / f"{nonce}.{kind}" for kind in ("m2", "jsonl"))
        try:
            source.write_text(f"{script.body}\nmbFinish()\n", encoding="utf-8")
            begin = time.monotonic()
            process.send(f"mbRun({_quoted(nonce)}, {_quoted(source)}, {_quoted(answers)})\n")
            output, begun = self._report(process, nonce, limit, answers, "Macaulay2 did not finish")
            if begun != nonce:
                return None
            records = _complete_records(answers)
            if not records or records[-1] != json.dumps(
                {"end": nonce, "records": len(records) - 1}, separators=(",", ":")
            ):
                raise script_error(script, source.name, output, records)
            return Transcript(records[:-1], output, time.monotonic() - begin, self.version)
        finally:
            source.unlink(missing_ok=True)
            answers.unlink(missing_ok=True)

    def close(self) -> None:
        """End Macaulay2 and everything it started. The next run starts it again.

        A run that another thread is at fails with :class:`~m2bridge.errors.EngineDiedError`.
        """
        if self._turn.acquire(blocking=False):
            try:
                self._end()
            finally:
                self._turn.release()
        elif (process := self._process) is not None:
            process.stop()  # the thread that waits for its answer does the rest

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()

    def _started(self) -> tuple[Process, Path]:
        """The process, once it has said that it is ready, and the folder for its files."""
        process, folder = self._start()
        if not self._ready:
            what = f"{self.candidate.program} did not start"
            self._report(process, secrets.token_hex(8), _START_LIMIT, None, what)
            self._ready = True
        return process, folder

    def _report(
        self, process: Process, nonce: str, timeout: float | None, answers: Path | None, late: str
    ) -> tuple[str, str]:
        """Ask for the report on the run and wait for it; any failure ends the process.

        What was printed until then, and the nonce of the run that began last.
        """
        limit, seconds = _earlier(timeout, clock())
        try:
            process.send(f"mbReport {_quoted(nonce)}\n")
            return process.read_until(rb"\n\x01m2bridge %s ([^\n]*)\n" % nonce.encode(), seconds)
        except Overdue as reason:
            self._end()
            message = f"{late} within {limit} and was killed; give it more with --timeout"
            raise EngineTimeoutError(message, records=_answers_so_far(answers), output=str(reason)) from None
        except Ended as reason:
            self._process = None
            raise death(process.kill(), str(reason), _answers_so_far(answers), self.limits) from None
        except BaseException:
            self._end()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over = True
        self.close()
        if self._scratch is not None:
            self._scratch.remove()

    def _disown(self) -> None:
        """In a child made by ``fork``: leave the process and its files to the parent, and begin anew."""
        if self._process is not None:
            self._process.disown()
        self._process = self._scratch = None
        self._turn = threading.Lock()


def _earlier(timeout: float | None, running: Clock) -> tuple[str, float | None]:
    """The limit that ends first, of a run or of the computation that it belongs to: in words, and what is left."""
    remaining = running.remaining
    if remaining is None or (timeout is not None and timeout < remaining):
        return f"the limit of {timeout:g} seconds" if timeout is not None else "", timeout
    return running.limit, remaining


_sessions: weakref.WeakSet[Macaulay2] = weakref.WeakSet()


def _disown_all() -> None:
    for session in list(_sessions):
        session._disown()


os.register_at_fork(after_in_child=_disown_all)


def _quoted(text: str | Path) -> str:
    """A Macaulay2 string in ASCII: its strings are bytes, as the names of files are."""
    plain = set(range(32, 127)) - set(b'"\\')
    return '"' + "".join(chr(byte) if byte in plain else f"\\{byte:03o}" for byte in os.fsencode(text)) + '"'


def _answers_so_far(answers: Path | None) -> tuple[str, ...]:
    """The complete records without the closing one, which may have come just before the limit."""
    return tuple(record for record in _complete_records(answers) if not record.startswith('{"end":'))


def _complete_records(answers: Path | None) -> tuple[str, ...]:
    """The records of an answer file that were written to their end."""
    if answers is None or not answers.exists():
        return ()
    text = answers.read_bytes().decode("utf-8", errors="surrogateescape")
    return tuple(text[: text.rfind("\n") + 1].split("\n")[:-1])
