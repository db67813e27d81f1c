"""Processes that perform command lines for ``m2bridge mcp``, and those who ask them.

An idle worker takes the next command line, and has kept its Macaulay2 for it; one that comes while
all are busy begins another. So command lines share a session and nothing in it; and one that is not
waited for, because it was cancelled or is late, is ended with its worker and all that this has
begun.

A worker is ``m2bridge mcp --worker=PIPE``. A command line is a line of its standard input, a list
of words as JSON, and the :class:`Answer` a line of its standard output.

Why processes: threads would share one limit on memory and one standard output, an alarm reaches the
main thread only, and FLINT lets no other thread run meanwhile. So a call could not be ended, and
the notices of others would wait for it. Why not workers of :mod:`m2bridge.batch.pool`: a pool
performs all of a list and takes nothing back; made of its workers this file would be longer, and
every command would load multiprocessing at its start.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import asdict, dataclass
from io import StringIO
from typing import Any

from m2bridge import limits
from m2bridge.cli import shared
from m2bridge.engine import Session
from m2bridge.engine.context import choose
from m2bridge.engine.discovery import VARIABLE
from m2bridge.errors import EngineError
from m2bridge.loading import importing
from m2bridge.system import cores, end_with, limit_address_space

MOST_BYTES = 2**28
"""Bytes of an answer."""
PATIENCE = 1.0
"""Seconds in which a worker may end by itself what it has begun."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a command line printed as JSON, the text of its results, and its message, if any."""

    printed: str = ""
    text: str = ""
    error: str = ""


class Workers:
    """Worker processes: idle ones, and at work as many as there are cores, and two in any case.

    Each has so many bytes of memory, and this program as its Macaulay2, or the one that is found.
    """

    def __init__(self, memory: int, program: str | None) -> None:
        # closed by the system when this process ends, whatever ends it: then workers end too
        self._watched, self._held = os.pipe()
        begin = [sys.executable, "-m", "m2bridge", "mcp", f"--worker={self._watched}"]
        self._words = [*begin, f"--memory={memory}"]
        if program is not None:
            self._words.append(f"--m2={program}")
        self._idle: list[Any] = []

    @asynccontextmanager
    async def kept(self, server: Any) -> AsyncIterator[None]:
        """Keep workers in the block, of which the first begins now, and end them."""
        import anyio

        self._room = anyio.Semaphore(max(cores(), 2))
        self._idle.append(await self._begun())
        try:
            yield
        finally:
            for process in self._idle:
                await _end(process)

    async def ask(self, words: Sequence[str]) -> Answer:
        """The answer of a worker, which is ended if it is not waited for."""
        import anyio
        from anyio.streams.buffered import BufferedByteReceiveStream

        async with self._room:
            self._idle = [process for process in self._idle if process.returncode is None]
            process = self._idle.pop() if self._idle else await self._begun()
            try:
                await process.stdin.send(json.dumps(words).encode() + b"\n")
                line = BufferedByteReceiveStream(process.stdout).receive_until(b"\n", MOST_BYTES)
                answer = Answer(**json.loads(await line))
                self._idle.append(process)
            except (anyio.IncompleteRead, anyio.EndOfStream, anyio.BrokenResourceError):
                await _end(process)
                answer = Answer(error="Error: the process that computed it has ended")
            except BaseException:
                await _end(process)
                raise
        return answer

    async def _begun(self) -> Any:
        import anyio

        return await anyio.open_process(self._words, stderr=None, pass_fds=[self._watched])


async def _end(process: Any) -> None:
    """End a worker and its Macaulay2; by force if it sits in code that cannot be left."""
    import anyio

    with anyio.CancelScope(shield=True):
        with suppress(ProcessLookupError):
            process.terminate()
        with anyio.move_on_after(PATIENCE):
            await process.wait()
        with suppress(ProcessLookupError):
            process.kill()
        await process.aclose()


def work(run: Callable[[], object], pipe: int, memory: int, program: str | None) -> None:
    """Perform command lines until there are none, each by calling ``run``.

    It ends with who holds the other end of ``pipe``. ``memory`` limits the address space of this
    process, and of Macaulay2.
    """
    end_with(pipe)
    # nothing that is computed takes or prints lines
    lines, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    limit_address_space(memory)
    if program is not None:
        os.environ[VARIABLE] = program
    session = Session(limits=limits.Limits(memory=memory))
    with suppress(EngineError), importing():  # a command that needs Macaulay2 says what is missing
        session.start()
        from m2bridge.maps import closure, cross_check  # noqa: F401
    choose(session)
    texts: list[str] = []
    shared.listeners.append(texts.append)
    for line in lines:
        texts.clear()
        limits.start("timeout")
        sys.argv = ["m2bridge", *json.loads(line)]
        with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as error:
            run()
        answer = Answer(printed=out.getvalue(), text="".join(texts), error=error.getvalue())
        print(json.dumps(asdict(answer)), file=answers, flush=True)
