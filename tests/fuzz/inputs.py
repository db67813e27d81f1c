"""Bad input for every command and every format: one clear line, an exit code from the table, at
once.

``python -m tests.fuzz inputs --count 5000 --seed 3``; commands run in this process, with an engine
that always says that its time is over, so that hundreds of inputs take seconds.
"""

from __future__ import annotations

import faulthandler
import io
import os
import signal
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from random import Random
from types import FrameType
from unittest.mock import patch

from m2bridge.cli import commands
from m2bridge.engine import Transcript
from m2bridge.engine.context import choose
from m2bridge.engine.script import Script
from m2bridge.errors import ConversionError, TimeLimitError
from m2bridge.ideals.construct import read_ideal
from m2bridge.limits import Limits
from tests.fuzz.inputs_corpus import Input, corpus, ideal_data, random_input

CPU_SECONDS = 10.0
"""For one input; most take a hundredth. Time of this process only, so that a busy machine does not
matter.
"""

STUCK = 600
"""Seconds after which one input ends all: a computation in C hears of no other limit."""


class TooLong(BaseException):
    """An input took more than :data:`CPU_SECONDS`; no ``except Exception`` takes it for something
    else.
    """


@dataclass(frozen=True)
class Answer:
    """What the command line said to one input."""

    code: int
    out: str
    err: str
    seconds: float


class NoTime:
    """An engine whose time is over before it begins."""

    version = "1.26.06"

    def __init__(self, program: str | None = None, limits: Limits | None = None) -> None:
        self.limits = limits

    def start(self) -> None:
        """Nothing."""

    def run(self, script: Script, timeout: float | None = None) -> Transcript:
        """See :meth:`m2bridge.engine.Engine.run`."""
        raise TimeLimitError("no time is left")

    def __enter__(self) -> NoTime:
        choose(self)
        return self

    def __exit__(self, *reason: object) -> None:
        choose(None)


def ask(arguments: list[str]) -> Answer:
    """Run one command line in this process."""
    out, err = _stream(), _stream()
    begin = time.process_time()
    with (
        patch.object(sys, "argv", ["m2bridge", *arguments]),
        redirect_stdout(out),
        redirect_stderr(err),
        _limit(),
    ):
        try:
            code = commands.run()
        except TooLong:
            code = -1
    return Answer(code, _text(out), _text(err), time.process_time() - begin)


def complaint(input_: Input, answer: Answer) -> str:
    """What is wrong with an answer; empty if nothing is."""
    if answer.code == -1:
        return f"more than {CPU_SECONDS:g} s of CPU time"
    if "Traceback" in answer.err:
        return "a traceback: " + answer.err.strip().splitlines()[-1]
    if answer.code not in input_.codes:
        return f"exit code {answer.code}, not in {sorted(input_.codes)}"
    lines = answer.err.strip().splitlines()
    # a command alone
    one = len(lines) == 1 or (len(input_.words) == 1 and lines[0].startswith("Usage: "))
    if answer.code in (2, 4) and (not one or (answer.code == 2 and answer.out)):
        return "not one line"
    if answer.err and len(answer.err) > 2000:
        return f"a message of {len(answer.err)} characters"
    if bad := [
        sign for sign in answer.out + answer.err if not (sign.isprintable() or sign == "\n")
    ]:
        return f"a character that commands the terminal: {bad[0]!a}"
    return ""


def run(count: int, seed: int) -> int:
    """The whole corpus, then ``count`` random inputs; the number of failures, each of which is
    shown.
    """
    with environment() as folder:
        random = Random(seed)
        inputs = [*corpus(folder), *(random_input(random) for _ in range(count))]
        found = [
            *complaints(inputs, folder),
            *filter(None, (ideal_complaint(random) for _ in range(count))),
        ]
    for said in found:
        print(said)
    print(
        f"{len(inputs)} inputs of commands and {count} ideals, seed {seed}: {len(found)} failures"
    )
    return len(found)


def complaints(inputs: Iterable[Input], folder: Path) -> Iterator[str]:
    """What is wrong with the answers to inputs, each with its input."""
    for input_ in inputs:
        answer = ask(arguments := input_.arguments(folder))
        if said := complaint(input_, answer):
            shown = [argument[:100] for argument in arguments]
            yield f"{shown!a} {input_.what[:200]!a}: {said}\n  {answer.err[:300]!a}"


def ideal_complaint(random: Random) -> str:
    """What is wrong with how one random JSON of an ideal is read; empty if nothing is."""
    data = ideal_data(random)
    try:
        with _limit():
            read_ideal(data)  # type: ignore[arg-type]
    except ConversionError as reason:
        return "" if len(str(reason)) < 500 and "\n" not in str(reason) else f"not a line: {reason}"
    except TooLong:
        return f"too long: {str(data)[:200]!a}"
    except Exception as reason:
        return f"{reason!r} for {str(data)[:200]!a}"
    return ""


@contextmanager
def environment() -> Iterator[Path]:
    """An empty folder, an engine and proofs that have no time, and nothing of the user's."""
    with tempfile.TemporaryDirectory() as folder, patch.dict(os.environ), ExitStack() as engines:
        for module in ("common", "show"):
            engines.enter_context(patch(f"m2bridge.cli.{module}.Session", NoTime))
        engines.enter_context(patch("m2bridge.engine.session._shared", lambda candidate: NoTime()))
        engines.enter_context(patch("m2bridge.limits.METHOD_SECONDS", 1.0))
        os.environ.pop("M2BRIDGE_M2", None)
        yield Path(folder)


@contextmanager
def _limit() -> Iterator[None]:
    def over(number: int, frame: FrameType | None) -> None:
        raise TooLong

    before = signal.signal(signal.SIGPROF, over)
    # again, where an exception was lost in a callback
    signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS, 1.0)
    faulthandler.dump_traceback_later(STUCK, exit=True, file=2)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _stream() -> io.TextIOWrapper:
    return io.TextIOWrapper(
        io.BytesIO(), encoding="utf-8", errors="backslashreplace", write_through=True
    )


def _text(stream: io.TextIOWrapper) -> str:
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode("utf-8")
