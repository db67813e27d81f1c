"""One Macaulay2 for many tests, asked each question once."""

from m2bridge.engine import Transcript
from m2bridge.engine.script import Script
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
