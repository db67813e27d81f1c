"""Computations by Macaulay2 beside Python's, with engines that need no process."""

from __future__ import annotations

import threading

import pytest

from m2bridge.engine import Transcript, current, using
from m2bridge.engine.background import in_background
from m2bridge.engine.script import Script
from m2bridge.errors import EngineDiedError
from m2bridge.limits import clock, limited
from tests.events import PATIENCE

PROGRAM = Script("test", 'mbEmit("answer", 1)')


class Answering:
    """An engine that answers when it is told to."""

    version = "1.26"

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.told = threading.Event()

    def run(self, script: Script, *, timeout: float | None = None) -> Transcript:
        self.asked.set()
        if not self.told.wait(PATIENCE):
            raise EngineDiedError("nobody told it to answer")
        return Transcript(("answer",), "", 0.0, self.version)


def asked() -> tuple[str, float]:
    """The first record of an answer, and the deadline of the computation that asked for it."""
    return current().run(PROGRAM).records[0], clock().deadline


def test_the_block_runs_while_the_engine_computes_within_the_same_limit() -> None:
    engine = Answering()
    with limited(1000.0), using(engine), in_background(asked) as result:
        assert engine.asked.wait(PATIENCE)
        # this line runs before there is an answer, and the answer needs it
        engine.told.set()
        assert result() == ("answer", clock().deadline)


def test_an_error_of_the_engine_is_raised_where_the_result_is_asked_for() -> None:
    def dies() -> None:
        raise EngineDiedError("it died")

    with (
        using(Answering()),
        in_background(dies) as result,
        pytest.raises(EngineDiedError, match="it died"),
    ):
        result()
