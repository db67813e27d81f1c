"""Limits that are reached when something has happened, however long that takes; clocks, and engines
that remember.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from m2bridge.engine import Engine, Transcript
from m2bridge.engine.process import Overdue, Process
from m2bridge.engine.script import Script
from m2bridge.errors import EngineNotFoundError, TimeLimitError
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.statements import REGISTRY
from m2bridge.results.sheet import name_with_part
from m2bridge.workspace.macaulay2 import Macaulay2

# Limits that are reached when something has happened, however long that takes.

HOUR = 3600.0
"""A limit that is not reached by itself."""

# After so many answers the script never ends. It emits them by this function, as mbEmit itself is
# protected.
_STUCK = """answersLeft = {answers}
emitAnswer = (name, value) -> (
    mbEmit(name, value);
    answersLeft = answersLeft - 1;
    while answersLeft == 0 do sleep 1;)
while answersLeft == 0 do sleep 1
"""


def by_linear_algebra(model: SingleLayerAttention) -> set[str]:
    """Names of the statements about a layer that are decided without Macaulay2."""
    names = set()
    for s in REGISTRY:
        needs_engine = any("Macaulay2" in part for part in s.computed)
        is_separate = getattr(s, "separate_computation", False)
        if not needs_engine and not is_separate and not s.hypotheses(model):
            names.add(name_with_part(s.key, s.part))
    return names


@contextmanager
def limit_when(event: Callable[[], object]) -> Iterator[None]:
    """In the block, a wait for Macaulay2 that has a limit reaches it when the event has come, and
    not before.
    """
    wait = Process.read_until

    def waiting(process: Process, pattern: bytes, timeout: float | None) -> tuple[str, str]:
        while True:
            try:
                return wait(process, pattern, None if timeout is None else 0.05)
            except Overdue:
                if event():
                    raise

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Process, "read_until", waiting)
        yield


@contextmanager
def limit_after(session: Macaulay2, answers: int, name: str) -> Iterator[Stuck]:
    """An engine whose script of this name reaches any limit after so many answers."""
    stuck = Stuck(session, answers, name)
    with limit_when(stuck.is_stuck):
        yield stuck


class Stuck:
    """Gives so many answers and then computes for ever."""

    def __init__(self, session: Macaulay2, answers: int, name: str) -> None:
        self._session, self._answers, self._name = session, answers, name
        self._running = False

    @property
    def version(self) -> str:
        return self._session.version

    def run(self, script: Script, *, timeout: float | None = None) -> Transcript:
        if script.name != self._name:
            return self._session.run(script, timeout=timeout)
        self._running = True
        body = _STUCK.format(answers=self._answers) + script.body.replace("mbEmit(", "emitAnswer(")
        return self._session.run(replace(script, body=body), timeout=timeout)

    def is_stuck(self) -> bool:
        return (
            self._running
            and bool(_files(self._session))
            and len(answers_so_far(self._session)) >= self._answers
        )


def answers_so_far(session: Macaulay2) -> list[str]:
    """The answers that the run of this session has given; none between runs."""
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in _files(session)]
    return [
        line for text in texts for line in text.splitlines(keepends=True) if line.endswith("\n")
    ]


def _files(session: Macaulay2) -> list[Path]:
    scratch = session._scratch
    return [] if scratch is None else list(scratch.path.glob("*.jsonl"))


class Late:
    """An engine that reaches its limit after some runs."""

    def __init__(self, engine: Engine, runs: int) -> None:
        self._engine, self._runs = engine, runs

    @property
    def version(self) -> str:
        return self._engine.version

    def run(self, script: Script, *, timeout: float | None = None) -> Transcript:
        if not self._runs:
            raise TimeLimitError("late")
        self._runs -= 1
        return self._engine.run(script, timeout=timeout)


# Engines for tests: one Macaulay2 that is asked each question once, and transcripts that stand for
# one.


class Remembering:
    """An engine that gives the same answer to the same program, as Macaulay2 does, without asking
    again.
    """

    def __init__(self, session: Macaulay2) -> None:
        self._session = session
        self._known: dict[Script, Transcript] = {}

    @property
    def version(self) -> str:
        return self._session.version

    def run(self, script: Script, *, timeout: float | None = None) -> Transcript:
        if script not in self._known:
            self._known[script] = self._session.run(script, timeout=timeout)
        return self._known[script]


class RecordedEngine:
    """Answers scripts from a folder of transcripts, by the digest of the script.

    Raises
    ------
    EngineNotFoundError
        At a run whose script was never recorded.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    version = "recorded"

    def run(self, script: Script, *, timeout: float | None = None) -> Transcript:
        """The stored transcript of this very script."""
        path = _path(self._folder, script)
        if not path.exists():
            raise EngineNotFoundError(
                f"no transcript of the script '{script.name}' with digest {script.digest[:12]}"
            )
        stored = json.loads(path.read_text(encoding="utf-8"))
        return Transcript(
            tuple(stored["records"]), stored["output"], stored["seconds"], stored["version"]
        )


class RecordingEngine:
    """Passes scripts to another engine and stores the transcripts."""

    def __init__(self, engine: Engine, folder: Path) -> None:
        self._engine = engine
        self._folder = folder

    @property
    def version(self) -> str:
        """Version of the recorded engine."""
        return self._engine.version

    def run(self, script: Script, *, timeout: float | None = None) -> Transcript:
        """Run and store."""
        transcript = self._engine.run(script, timeout=timeout)
        self._folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(asdict(transcript), indent=1, ensure_ascii=False)
        _path(self._folder, script).write_text(text + "\n", encoding="utf-8")
        return transcript


def _path(folder: Path, script: Script) -> Path:
    return folder / f"{script.name}-{script.digest[:12]}.json"


# Sources of time that no machine makes faster or slower.


class Looks:
    """A clock on which a second passes at each look."""

    def __init__(self) -> None:
        self.number = 0

    def __call__(self) -> float:
        """The time."""
        self.number += 1
        return float(self.number)
