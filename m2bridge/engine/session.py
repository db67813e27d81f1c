"""Conversations with a Macaulay2 process, and sessions that run isolated scripts.

Nothing is decided by text that Macaulay2 prints: a request is finished exactly when the last record
of its answer file, the closing record, names it and counts the other records. The name of a
request is random, its nonce; its files are ``<nonce>.m2`` with the code and ``<nonce>.jsonl`` with
the answers. Macaulay2 reports on the terminal that it waits for the next request. The other half of
this protocol is in the shared scripts ``m2scripts/session.m2`` and ``wire.m2``.
"""

import os
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Self

from m2bridge.engine.context import LOG, choose, chosen_engine
from m2bridge.engine.discovery import Candidate, locate
from m2bridge.engine.process import Ended, Overdue, Process
from m2bridge.engine.scratch import Scratch, close_after_fork, sweep
from m2bridge.engine.script import (
    Engine,
    Reply,
    Script,
    Transcript,
    answers_so_far,
    complete_records,
)
from m2bridge.engine.trace import Source, death, ending, script_error
from m2bridge.errors import (
    EngineDiedError,
    EngineError,
    InvalidCaseError,
    ScriptError,
    TimeLimitError,
    check_kind,
    class_with_article,
)
from m2bridge.limits import Clock, Limits, check_timeout, clock, limited
from m2bridge.results.sheet import quoted
from m2bridge.system import FILE_SIZE_COMMAND, m2script

# No setup file of the user, no banner, no prompts; the same random seed at each start.
OPTIONS = ("-q", "--silent", "--no-readline", "--no-prompts", "--no-debug", "--no-randomize")
_START_LIMIT = 120.0
"""Seconds; the start takes one, but more on a busy machine or from a network drive."""


class Conversation:
    """A process of Macaulay2, its folder, and the lock that lets threads take turns.

    After a timeout, a crash or an interrupt the process is killed with all its descendants: a
    conversation is never repaired, and nothing is run again unasked. A signal handler interrupts
    its own thread, so waiting for the turn of that thread would never end: there a request is
    refused.
    """

    max_sources = 1
    """The number of sources kept for messages: later code may call a function from earlier code."""
    why_closed = ""
    """Why no process can be started any more; empty while one can."""

    def __init__(
        self,
        locate: Callable[[], Candidate],
        limits: Limits,
        options: tuple[str, ...],
        scripts: tuple[str, ...],
    ) -> None:
        self._locate = locate
        self.limits = limits
        self.why_ended = ""
        """Why the last process ended, in words; empty if none has ended."""
        self._why_stopped = ""
        """Why another thread has ended the process, until the thread that waits for it says so."""
        self.first_column = 0
        """The number of the first column in messages of this Macaulay2: 1 in old ones, else 0."""
        self._options = (*OPTIONS, *options)
        self._scripts = scripts
        self.process: Process | None = None
        """The running process, if any."""
        self._mark = secrets.token_hex(8)  # in the reports of this process; code cannot know it
        self._ready = False  # whether the process waits for requests
        self._scratch: Scratch | None = None
        self._sources: dict[str, Source] = {}
        """The last pieces of code, by the names of their requests."""
        self._turn = threading.RLock()
        self._whose_turn: int | None = None
        """The identifier of the thread that has the turn, if one has it."""
        self._process_began = 0.0
        """When the process was started, on the monotonic clock."""
        close_after_fork.add(self)

    @property
    def candidate(self) -> Candidate:
        """The program, located at its first use.

        Raises
        ------
        EngineNotFoundError, EngineVersionError
            If there is no program, or the named one is not a supported Macaulay2.
        """
        return self._locate()

    @property
    def pid(self) -> int | None:
        """The process id of Macaulay2, if it is running."""
        return self.process.pid if self.process else None

    def check_open(self) -> None:
        """Raise EngineError if no process may be started; called before each start."""
        if self.why_closed:
            raise EngineError(self.why_closed)

    def settings(self) -> Mapping[str, str]:
        """Environment variables for the process, by name; one that the user has set stays so."""
        return {}

    def start(self) -> None:
        """Start Macaulay2, if it is not running, without waiting until it is ready.

        Raises
        ------
        EngineError
            If there is no temporary folder, or the session is over because its block was left.
        """
        with self._its_turn(seconds=0) as mine:
            if mine:  # otherwise a request has the turn, and that starts the process itself
                self._start()

    @property
    def _is_within_a_turn(self) -> bool:
        """Whether this thread has the turn already, so that a signal handler is running."""
        return self._whose_turn == threading.get_ident()

    @contextmanager
    def _its_turn(self, seconds: float | None) -> Iterator[bool]:
        """Wait at most ``seconds`` (``None``: for ever) for the turn, and keep it during the block,
        which gets ``True``. It gets ``False`` if another thread still has the turn then, and at
        once if this thread has it already, so that a signal handler has interrupted its request.
        """
        if self._is_within_a_turn:
            yield False
            return
        patience = -1.0  # for ever
        if seconds is not None:
            patience = min(seconds, threading.TIMEOUT_MAX)
        turn = self._turn  # the block may fork, and disown makes a new lock in the child
        # The lock is reentrant, and _whose_turn tells whether a request is being performed. If a
        # signal handler runs between both, no request has begun, or it is finished: the handler may
        # use Macaulay2, and gets the lock.
        if not turn.acquire(timeout=patience):
            yield False
            return
        try:
            self._whose_turn = threading.get_ident()
            yield True
        finally:
            self._whose_turn = None
            turn.release()

    def _no_turn(self, waiting: Clock) -> EngineError:
        """Return the error for a request that did not get the turn; ``waiting`` is its clock."""
        if self._is_within_a_turn:
            return EngineError(
                "this Macaulay2 performs a request of the same thread, which a signal handler has"
                " interrupted: use another Macaulay2() there"
            )
        return TimeLimitError(
            f"Macaulay2 performed requests of other threads until the end of {waiting.limit}; give"
            f" each thread its own Macaulay2(), or {waiting.more}"
        )

    def _start(self) -> tuple[Process, Path]:
        """Start the process if it is not running; return it, and the folder for its files."""
        # Macaulay2 may have been killed between two requests, or while it started unawaited.
        # If it cannot start, waiting for the first report of the new one raises the error.
        if self.process is not None and self.process.has_ended:
            self._end(f"Macaulay2 {ending(self.process.kill())} between two calls")
        if self.process is None:
            self.check_open()
            program = self.candidate.program
            assert program is not None
            if self._scratch is None:
                self._scratch = Scratch()
            scripts = [str(m2script(name)) for name in self._scripts]
            self.process = Process(
                program,
                arguments=[*self._options, *scripts],
                memory=self.limits.memory,
                folder=self._scratch.path,
                settings=self.settings(),
            )
            # Its report that it has loaded the scripts is asked for at once, so that it is there
            # when it is needed, perhaps much later. The error message of 1/0 shows how this version
            # numbers columns.
            self.process.send(f"1/0\nmbStart({quoted(self._mark)});\n")
            self._process_began = time.monotonic()
            LOG.info("Macaulay2 is started as process %d: %s", self.process.pid, program)
            self._ready = False
            self._why_stopped = ""
            sweep()
        assert self._scratch is not None
        return self.process, self._scratch.path

    def request(
        self,
        function: str,
        source: Source,
        arguments: Sequence[str] = (),
        *,
        bindings: str = "",
        timeout: float | None,
    ) -> Transcript:
        """Run code within a number of seconds, which include the wait for its turn but not the
        start of Macaulay2; the limits of the clock and of the conversation hold as well.

        ``function``, in ``m2scripts/session.m2``, is called with the name of the request, the path
        of its files without their endings, and the ``arguments``, which are Macaulay2 code.
        ``bindings`` is code that sets values and is run first; an error in it is a ConversionError.
        """
        check_timeout(timeout)
        clock().check()
        timeouts = [seconds for seconds in (self.limits.timeout, timeout) if seconds is not None]
        limit = min(timeouts, default=None)
        texts = {".m2": source.code}
        if bindings:
            texts[".given.m2"] = bindings
        with limited(limit) as waiting:  # the clock ``waiting`` runs on after the block
            patience = waiting.remaining
        with self._its_turn(patience) as mine:
            if not mine:
                raise self._no_turn(waiting)
            waited = waiting.seconds
            exchange = partial(self._exchange, function, texts, arguments, limit, waited)
            try:
                # In a process that was started before, earlier code may have made it useless, or it
                # may be ending just now: then a new one is used.
                reply = exchange(is_first=True)
                if reply is None:
                    reply = exchange(is_first=False)
            except TimeLimitError as late:
                own = self.limits.timeout
                late.of_session = own is not None and (timeout is None or own < timeout)
                raise
            if reply is None:
                raise EngineError(f"Macaulay2 does not accept {source.name}")
            if len(self._sources) >= self.max_sources:  # the oldest is dropped
                del self._sources[next(iter(self._sources))]
            self._sources[reply.nonce] = source
            LOG.debug("Macaulay2 ran %s: took %.2f s", source.name, reply.seconds)
            answers = reply.answers
            if answers is None:  # the code has not run to its end
                raise script_error(reply, self._sources, self.first_column)
        return Transcript(answers, reply.output, reply.seconds, self.candidate.version)

    def _exchange(
        self,
        function: str,
        texts: Mapping[str, str],
        arguments: Sequence[str],
        limit: float | None,
        waited: float,
        *,
        is_first: bool,
    ) -> Reply | None:
        """Write the texts to files, by their endings such as ``.m2``, call the function on them,
        and wait for the report; ``limit`` includes the seconds that the request has ``waited`` for
        its turn.

        ``None`` means that Macaulay2 did not begin with the request: earlier code made the process
        useless, and it was ended; or, if ``is_first``, it was killed before, and the request may be
        sent again.
        """
        process, folder = self._started()
        # a report is believed only if it names the request, so leftovers of others do no harm
        nonce = secrets.token_hex(8)
        files = {folder / f"{nonce}{ending}": text for ending, text in texts.items()}
        answers = folder / f"{nonce}.jsonl"
        try:
            for path, text in files.items():
                _write_code(path, text)
            called_with = ", ".join([quoted(nonce), quoted(folder / nonce), *arguments])
            begin = time.monotonic()
            process.send(f"{function}({called_with});\n")
            late = "Macaulay2 did not finish within"
            # time spent waiting for the turn counts, since the caller waited as well
            with limited(limit, begin=clock().now() - waited) as running:
                try:
                    output, first_nonce = self._report(process, running, answers, late)
                except EngineDiedError:
                    # Macaulay2 makes the answer file before it runs anything of the code.
                    if not is_first or answers.exists() or self._why_stopped:
                        raise
                    return None
            seconds = time.monotonic() - begin
            # Another request began last, so this one was not accepted: the process is in an unknown
            # state, and nothing that it says is used.
            if first_nonce != nonce:
                self._end("Macaulay2 did not accept the request")
                return None
            records = complete_records(answers)
            return Reply(nonce=nonce, records=records, output=output, seconds=seconds)
        finally:
            for path in (*files, answers):
                path.unlink(missing_ok=True)

    def close(self, reason: str = "it was closed") -> None:
        """End Macaulay2 and its descendants; the next request starts it again.

        ``reason``, a clause whose subject is Macaulay2, becomes :attr:`why_ended`. A request of
        another thread fails with :class:`~m2bridge.errors.EngineDiedError`.
        """
        with self._its_turn(seconds=0) as mine:
            process = self.process
            if mine:
                self._end(reason)
            elif process is not None:
                self._why_stopped = reason
                process.stop()  # the thread that waits for its answer does the rest

    def remove(self, reason: str) -> None:
        """End Macaulay2 for good, and remove its folder; ``reason`` becomes :attr:`why_closed`."""
        self.why_closed = reason
        self.close()
        if self._scratch is not None:
            self._scratch.remove()

    def _end(self, reason: str) -> None:
        """Kill the process, if there is one, and keep the reason for messages."""
        process, self.process = self.process, None
        if process is not None:
            self.why_ended = reason
            LOG.info("Macaulay2 is ended, process %d: %s", process.pid, reason)
            process.kill()

    def _started(self) -> tuple[Process, Path]:
        """Return the process, once it is ready, and the folder for its files; TimeLimitError if it
        is not ready by the deadline of the computation, or two minutes after its start.
        """
        computation = clock()
        computation.check()
        was_started_before = self.process is not None
        process, folder = self._start()
        if not self._ready:
            try:
                self._wait_until_ready(process, computation)
            except EngineDiedError:
                # It was killed while nobody waited for it. A new one that cannot start is an error.
                if not was_started_before or self._why_stopped:
                    raise
                process, folder = self._start()
                self._wait_until_ready(process, computation)
        return process, folder

    def _wait_until_ready(self, process: Process, computation: Clock) -> None:
        """Wait for the first report of the process, by the deadline of the computation."""
        # seconds that the process has been starting, perhaps in the background
        age = time.monotonic() - self._process_began
        process_start = computation.now() - age  # on the clock of the computation
        with limited(_START_LIMIT, begin=process_start) as running:
            period = "within"
            if running.deadline >= computation.deadline:  # the computation ends before 120 seconds
                seconds = max(running.deadline - process_start, 0)
                period = f"in the {seconds:.1f} seconds that it had of"
            late = f"{self.candidate.program} did not start {period}"
            output, _ = self._report(process, running, answers=None, late=late)
        # the message for 1/0, sent first, names the slash: column 2 if the first column is 1
        self.first_column = 1 if "stdio:1:2:" in output else 0
        self._ready = True
        seconds = time.monotonic() - self._process_began
        LOG.debug("Macaulay2 is ready as process %d: took %.2f s", process.pid, seconds)

    def _report(
        self, process: Process, running: Clock, answers: Path | None, late: str
    ) -> tuple[str, str]:
        """Wait for the report of the process; return what was printed before it, and the name of
        the request that began last. Any failure ends the process; its error keeps the complete
        records of ``answers``, and ``late`` begins the message for a timeout.
        """
        # the mark of this process, which code cannot know, and the name of the request
        report = rb"\n\x01m2bridge %s ([^\n]*)\n" % self._mark.encode()
        try:
            return process.read_until(report, running.remaining)
        except Overdue as reason:
            message = f"{late} {running.limit} and was stopped"
            self._end(message)
            message += f"; {running.more}"
            records = answers_so_far(answers)
            raise TimeLimitError(message, records=records, output=str(reason)) from None
        except Ended as reason:
            self.process = None
            records = answers_so_far(answers)
            error = death(process.kill(), str(reason), records, self.limits)
            if self._why_stopped:  # it did not end by itself
                message = f"Macaulay2 was ended by another thread: {self._why_stopped}"
                error = EngineDiedError(message, records=records, output=str(reason))
            self.why_ended = error.message
            LOG.info("Macaulay2 has ended, process %d: %s", process.pid, error.message)
            raise error from None
        except BaseException:
            self._end("it was interrupted")
            raise

    def disown(self) -> None:
        """Leave the process and its files to the parent, in a child made by ``fork``."""
        if self.process is not None:
            self.process.disown()
            self.why_ended = "this process is a child of the one in which Macaulay2 runs"
        if self._scratch is not None:
            self._scratch.disown()
        self.process = self._scratch = None
        self._turn = threading.RLock()  # the old one may be held by a thread of the parent
        self._whose_turn = None


def _write_code(path: Path, text: str) -> None:
    """Write code for Macaulay2; raise EngineError, with the name of the file, if that fails."""
    try:
        path.write_text(text, encoding="utf-8", errors="surrogateescape", newline="")
    except OSError as reason:
        raise EngineError(
            f"the temporary file {str(path)!r} cannot be written: {reason.strerror or reason};"
            f" TMPDIR names the folder, and {FILE_SIZE_COMMAND} the largest size of a file"
        ) from None


LIBRARIES = ("wire", "extension_fields", "checks", "invariants", "fibres", "fibres_of_weights")
"""The shared scripts that every session loads."""


class Session(Conversation):
    """A Macaulay2 that runs one script after the other; found and started at the first run.

    A script works with its own symbols, and its output is never parsed for answers. A child made by
    ``fork`` leaves the process to its parent and starts its own when it runs a script. A session
    that is garbage-collected ends its process. In its ``with`` block it is the :func:`current`
    session, which computations use.
    """

    def __init__(
        self, program: str | os.PathLike[str] | None = None, limits: Limits | None = None
    ) -> None:
        if limits is None:
            limits = Limits()
        check_kind("limits", limits, Limits, "Limits(timeout, memory)")
        super().__init__(
            cache(partial(locate, program)),  # the program is looked for once, at its first use
            limits,
            options=("--no-preload",),  # no package that a script does not ask for
            scripts=(*LIBRARIES, "session"),
        )
        self._enclosing: list[Engine | None] = []
        """The sessions that were chosen before each entered block."""

    @property
    def version(self) -> str:
        """The version of the program."""
        return self.candidate.version

    @property
    def peak_memory(self) -> int | None:
        """Largest resident memory of the Macaulay2 for isolated runs, in bytes, since its start or
        :meth:`forget_peak_memory`; ``None`` if it does not run, or the system does not report it.
        """
        if self.process is None:
            return None
        return self.process.peak_memory

    def forget_peak_memory(self) -> None:
        """Measure :attr:`peak_memory` from now on, where the system can do so (Linux)."""
        if self.process is not None:
            self.process.forget_peak_memory()

    def run(self, script: Script, *, timeout: float | None = None) -> Transcript:
        """Run one script to its end; return the records that it emitted, its output and the time.

        Parameters
        ----------
        timeout : float, optional
            Seconds, including the wait for its turn; never more than the session's own limit. The
            start of Macaulay2 counts only if the whole computation has a limit, see
            :mod:`m2bridge.limits`.

        Raises
        ------
        InvalidCaseError
            If the timeout is not a positive number, or the script is not a
            :class:`~m2bridge.Script`.
        ScriptError
            If Macaulay2 reports an error, or the script emits nothing; the session continues.
        TimeLimitError, MemoryLimitError, EngineDiedError
            If Macaulay2 reached a limit or died; the next run starts a new process.
        EngineError
            If a signal handler has interrupted a run of this session.
        """
        if not isinstance(script, Script):
            kind = class_with_article(type(script))
            advice = "value(code) evaluates Macaulay2 code"
            raise InvalidCaseError("script", f"must be a Script, not {kind}; {advice}")
        name = f"the script '{script.name}'"
        transcript = self.request("mbRun", Source(name, script.code), timeout=timeout)
        if not transcript.records:
            raise ScriptError(
                f'{name} emitted nothing: call mbEmit("name", value) in it, or evaluate code by'
                " Macaulay2().value",
                error="the script emitted nothing",
                file=name,
                output=transcript.output,
            )
        return transcript

    def __enter__(self) -> Self:
        """Choose this session for the computations of the block."""
        self._enclosing.append(chosen_engine())
        choose(self)
        return self

    def __exit__(self, *_: object) -> None:
        """End the session, and choose the one again that was chosen before the block."""
        enclosing = self._enclosing.pop()
        if chosen_engine() is self:  # not if another thread leaves the block
            choose(enclosing)
        self.end("this session is over because its with block was left: make another Macaulay2()")

    def end(self, reason: str = "this session was ended: make another Macaulay2()") -> None:
        """End Macaulay2 for good; ``reason`` is the message of errors at a later use."""
        self.remove(reason)


def current() -> Engine:
    """Return the session of the running computation: the chosen one, or the shared one,
    which ends with Python. If another Macaulay2 program is located than before, the session of the
    old one is dropped.
    """
    return chosen_engine() or _shared(locate())


@lru_cache(maxsize=1)
def _shared(candidate: Candidate) -> Session:
    """Return the session of this process, a new one if another program is located than before."""
    return Session()  # it locates its program again: candidate is only the key of the cache
