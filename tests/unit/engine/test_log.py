"""The logger ``m2bridge``: what is started, and how long it took."""

import logging
import re
import subprocess
import sys

import pytest
from sympy import symbols

from m2bridge import InvalidCaseError, dimension, ideal, implicitize
from m2bridge.engine import computation

t = symbols("t")
CUSP = {"x": t**2, "y": t**3}


@computation
def outer(**options: object) -> int:
    """A computation that calls another one."""
    return inner()


@computation
def inner(**options: object) -> int:
    """A computation."""
    return 5


def messages(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str]]:
    """Levels and messages, without the seconds."""
    return [
        (record.levelname, re.sub(r"[0-9.]+ s$", "… s", record.getMessage()))
        for record in caplog.records
    ]


def test_a_computation_and_those_that_it_calls(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, logger="m2bridge"):
        assert outer() == 5
    assert messages(caplog) == [
        ("INFO", "outer: started"),
        ("DEBUG", "inner: started"),
        ("DEBUG", "inner: took … s"),
        ("INFO", "outer: took … s"),
    ]
    caplog.clear()
    with caplog.at_level(logging.INFO, logger="m2bridge"):
        dimension(CUSP)
        assert inner() == 5
    assert [message for _, message in messages(caplog)] == [
        "dimension: started",
        "dimension: took … s",
        "inner: started",
        "inner: took … s",
    ]


def test_an_error_is_logged_where_it_ends_a_computation(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="m2bridge"), pytest.raises(InvalidCaseError):
        implicitize(ideal("x"))  # type: ignore[arg-type]
    assert messages(caplog)[-1] == ("INFO", "image: InvalidCaseError after … s")


def test_it_is_silent_by_default() -> None:
    """Also where somebody uses the root logger without a level."""
    code = """
import logging
from m2bridge import dimension
logging.getLogger("mine").warning("said")
print(dimension({"x": "t^2", "y": "t^3"}).dimension)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (ran.stdout, ran.stderr) == ("1\n", "said\n")
