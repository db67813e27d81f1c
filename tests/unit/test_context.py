"""The Macaulay2 of a computation: chosen by ``engine=``, by a ``with`` block, or that of the
process.
"""

from __future__ import annotations

import inspect
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Unpack

import pytest

import m2bridge
from m2bridge.engine import Engine, RunOptions, computation, current, using
from m2bridge.engine.context import chosen
from m2bridge.errors import EngineNotFoundError, InvalidCaseError
from m2bridge.ideals.ideal import Ideal
from m2bridge.limits import clock
from m2bridge.workspace.macaulay2 import Macaulay2
from tests.limits import RecordedEngine


@computation
def inner(number: int, **options: Unpack[RunOptions]) -> tuple[int, Engine | None, str]:
    """What a computation sees of its context."""
    return number, chosen(), clock().limit


@computation
def outer(**options: Unpack[RunOptions]) -> tuple[int, Engine | None, str]:
    """A computation that hands nothing on."""
    return inner(3)


def test_a_choice_holds_for_all_that_is_called(tmp_path: Path) -> None:
    first, second = RecordedEngine(tmp_path), RecordedEngine(tmp_path)
    assert outer() == (3, None, "")
    assert outer(engine=first, timeout=7) == (3, first, "the limit of 7 seconds")
    with using(first):
        assert outer() == (3, first, "")
        assert outer(engine=second)[1] is second
        assert current() is first
        with ThreadPoolExecutor(1) as pool:  # a choice is that of its thread
            assert pool.submit(chosen).result() is None
    assert chosen() is None


def test_a_with_block_chooses_its_session() -> None:
    with Macaulay2() as first:
        with Macaulay2() as second:
            assert outer()[1] is second
        assert current() is first
    assert chosen() is None
    assert second.over
    assert first.over


def test_what_is_no_engine_and_unknown_keywords_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidCaseError, match="must be a session such as Macaulay2"):
        outer(engine="M2")  # type: ignore[arg-type]
    with pytest.raises(InvalidCaseError, match="positive, finite number of seconds"):
        outer(timeout=-1)
    wrong: Any = {"feild": 3}
    with pytest.raises(TypeError, match=r"inner\(\) got an unexpected keyword argument 'feild'"):
        inner(1, **wrong)
    with using(RecordedEngine(tmp_path)), pytest.raises(EngineNotFoundError):
        m2bridge.ideal("x^2 - y").degree()


@pytest.mark.parametrize(
    "function", [m2bridge.closure, m2bridge.singular_locus, m2bridge.certify, Ideal.radical]
)
def test_signatures_name_the_keywords(function: Any) -> None:
    parameters = inspect.signature(function).parameters
    for name in ("engine", "timeout"):
        assert parameters[name].kind is inspect.Parameter.KEYWORD_ONLY
        assert parameters[name].default is None
    assert "options" not in parameters
