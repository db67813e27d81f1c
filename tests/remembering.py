"""Engines for tests: one Macaulay2 that is asked each question once, and transcripts that stand for one."""

import json
from dataclasses import asdict
from pathlib import Path

from m2bridge.engine import Engine, Transcript
from m2bridge.engine.script import Script
from m2bridge.errors import EngineNotFoundError
from m2bridge.workspace.macaulay2 import Macaulay2


class Remembering:
    """An engine that gives the same answer to the same program, as Macaulay2 does, without asking again."""

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
            raise EngineNotFoundError(f"no transcript of the script '{script.name}' with digest {script.digest[:12]}")
        stored = json.loads(path.read_text(encoding="utf-8"))
        return Transcript(tuple(stored["records"]), stored["output"], stored["seconds"], stored["version"])


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
