"""Cheap stand-ins for ``certify_all``; in a module of their own, so that worker processes can
import them.
"""

import hashlib
import os
import signal
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from m2bridge.batch import CASE_GRACE_SECONDS
from m2bridge.certificates.form import Certificate
from m2bridge.certification.make import certify_all
from m2bridge.engine import Engine
from m2bridge.engine.script import Script
from m2bridge.families.attention.model import SingleLayerAttention
from tests.limits import HOUR

LOG = "M2BRIDGE_TEST_LOG"
"""Names a file in which each piece of work leaves a line."""

ONE_TOKEN = SingleLayerAttention(1, 1, 1, 1)


def quick(
    model: SingleLayerAttention, questions: Sequence[str], *, engine: Engine, timeout: float | None
) -> list[Certificate]:
    """Ask Macaulay2 next to nothing."""
    engine.run(Script("quick", 'mbEmit("x", 1)'), timeout=timeout)
    if LOG in os.environ:
        with open(os.environ[LOG], "a", encoding="utf-8") as log:
            log.write(f"{model}\n")
    (plain,) = certify_all(ONE_TOKEN, ("3.3",), engine=engine)
    about = {"case": model.to_json(), "name": model.key, "digest": ""}
    return [replace(plain, question=question, **about).sealed() for question in questions]


def fails(
    model: SingleLayerAttention, questions: Sequence[str], *, engine: Engine, timeout: float | None
) -> list[Certificate]:
    """Fail in one case, in a way that nobody foresaw."""
    if model.d == 2:
        raise ZeroDivisionError("unforeseen")
    return quick(model, questions, engine=engine, timeout=timeout)


def sleeps(
    model: SingleLayerAttention, questions: Sequence[str], *, engine: Engine, timeout: float | None
) -> list[Certificate]:
    """Fail in one case, and never end in another, in Python; its limit is reached at once."""
    if model.d == 3:
        assert 0 < signal.getitimer(signal.ITIMER_REAL)[0] <= HOUR + CASE_GRACE_SECONDS
        signal.setitimer(signal.ITIMER_REAL, 1e-6)
        while True:
            signal.pause()
    return fails(model, questions, engine=engine, timeout=timeout)


def hangs(
    model: SingleLayerAttention, questions: Sequence[str], *, engine: Engine, timeout: float | None
) -> list[Certificate]:
    """Never end in one case, in C code, where no handler of a signal gets its turn; say which
    worker.
    """
    engine.run(Script("quick", 'mbEmit("x", 1)'), timeout=timeout)
    if model.d == 2:
        mark = Path(os.environ[LOG]).with_suffix(".hanging")
        mark.write_text(f"{os.getpid()} {engine.pid}")  # type: ignore[attr-defined]
        hashlib.pbkdf2_hmac("sha256", b"", b"", 2**31 - 1)
    return quick(model, questions, engine=engine, timeout=timeout)


def kills_worker(
    model: SingleLayerAttention, questions: Sequence[str], *, engine: Engine, timeout: float | None
) -> list[Certificate]:
    """Kill the worker at d = 2 whenever it comes there, and at d = 3 the first time."""
    if model.d == 2 or (model.d == 3 and _first()):
        os.kill(os.getpid(), signal.SIGKILL)
    return quick(model, questions, engine=engine, timeout=timeout)


def kills_worker_once(
    model: SingleLayerAttention, questions: Sequence[str], *, engine: Engine, timeout: float | None
) -> list[Certificate]:
    """Kill the worker the first time at d = 3, in the middle of a case."""
    engine.run(Script("quick", 'mbEmit("x", 1)'), timeout=timeout)
    if model.d == 3 and _first():
        os.kill(os.getpid(), signal.SIGKILL)
    return quick(model, questions, engine=engine, timeout=timeout)


def kills_macaulay2(
    model: SingleLayerAttention, questions: Sequence[str], *, engine: Engine, timeout: float | None
) -> list[Certificate]:
    """Kill Macaulay2 at d = 2, and the first time at d = 3, in the middle of a case."""
    engine.run(Script("quick", 'mbEmit("x", 1)'), timeout=timeout)
    if model.d == 2 or (model.d == 3 and _first()):
        engine.run(Script("death", 'run "kill -9 $PPID"; while true do 1'), timeout=timeout)
    return quick(model, questions, engine=engine, timeout=timeout)


def _first() -> bool:
    mark = Path(os.environ[LOG]).with_suffix(".killed")
    try:
        mark.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True
