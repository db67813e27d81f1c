"""Each command once in the process of the tests, and each exit code of a failure.

A command that is new needs its line in ``COMMANDS``; an exit code that is new, one in ``FAILURES``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from m2bridge import errors
from m2bridge.cli.commands import cli
from m2bridge.errors import M2BridgeError
from tests.conftest import Invoke

pytestmark = pytest.mark.macaulay2("any")

ROOT = Path(__file__).parents[2]
CERTIFICATES = ROOT / "tests" / "certificates" / "accepted"
BLOCKS = (
    str(ROOT / "examples" / "blocks.npz"),
    *(part for name in ("query", "key", "value") for part in (f"--{name}", f"blocks.*.{name}")),
)
CUBIC = str(ROOT / "examples" / "twisted_cubic.toml")
LAYER = ("--d", "2", "--d-out", "1")
ONE_TOKEN = ("--d", "1", "--d-out", "1", "--t", "1")

COMMANDS: dict[str, tuple[tuple[str, ...], int, str]] = {
    "dimension": (LAYER, 0, "5 (proved)"),
    "closure": (LAYER, 0, "projective dimension   4"),
    "singular-locus": (("--ideal", "x^2 - y^2*z"), 0, "x, y"),
    "polar-degrees": (("--ideal", "x*z - y^2"), 0, "2, 2"),
    "ed-degree": (("--ideal", "y - x^2", "--no-generic"), 0, "ED degree        3"),
    "critical-points": ((*LAYER, "--a", "1", "--tokens", "gaussian", "--t", "2"), 0, "6"),
    "implicitize": ((CUBIC,), 0, "3 quadrics"),
    "ideal": (("x^2, x*y", "radical"), 0, "x"),
    "cross-check": (("3.4", "--d", "3", "--d-out", "2", "--a", "2"), 1, "REFUTED"),
    "membership": (
        (*LAYER, "--A", "[[1, 2], [3, 4]]", "--V", "[[1, 2]]"),
        0,
        "in the neuromanifold",
    ),
    "weights": (BLOCKS, 0, "proved"),
    "robustness": ((str(ROOT / "examples" / "classifier.npz"), "--bias", "-0.5"), 0, "proved"),
    "certify": (
        (*ONE_TOKEN, "--check", "3.3", "--executor", "serial", "--out", "OUT"),
        0,
        "d1-dout1-a1-t1",
    ),
    "verify": ((str(CERTIFICATES / "d1-dout2-a1-t2-3.4.json"),), 0, "accepted"),
    "report": ((str(CERTIFICATES),), 0, "3.4"),
    "atlas": (("--from", str(CERTIFICATES), "OUT"), 0, "OUT"),
    "figure": (("1", "--out", "OUT.svg"), 0, "OUT.svg"),
    "run": (("-",), 0, "42"),
    "script": (("closure", *LAYER), 0, "mbEmit"),
    "mcp": (("--help",), 0, "as tools for assistants"),
    "doctor": ((), 0, "Macaulay2"),
    "cite": ((), 0, "2408.17221"),
}
"""The arguments of each command, its exit code, and a part of what it prints."""


def placed(argument: str, folder: Path) -> str:
    """Return an argument in which OUT stands for a place below a folder of the test."""
    return argument.replace("OUT", str(folder / "OUT"))


def test_no_command_is_left_out() -> None:
    assert set(COMMANDS) == set(cli.commands)


@pytest.mark.usefixtures("one_session")
@pytest.mark.parametrize("name", COMMANDS)
def test_the_command(name: str, invoke: Invoke, engine: Any, tmp_path: Path) -> None:
    arguments, code, part = COMMANDS[name]
    done = invoke(name, *(placed(argument, tmp_path) for argument in arguments), code="6*7")
    assert done.returncode == code, done.stderr
    assert placed(part, tmp_path) in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


FAILURES: dict[int, tuple[tuple[str, ...], str]] = {
    2: (("closure", "--d", "0"), "--d"),
    3: (
        ("closure", "--d", "40", "--d-out", "40", "--strategy", "elimination"),
        "at most 20000 can be stored",
    ),
    4: (("closure", *LAYER, "--m2", "/no/such/M2"), "/no/such/M2"),
    5: (("run", "OUT.m2"), "2/0"),
}
"""For each exit code of a failure a command that ends with it, and a part of its message."""


def test_each_exit_code_of_an_exception_has_a_command() -> None:
    classes = [one for one in vars(errors).values() if isinstance(one, type)]
    codes = {one.exit_code for one in classes if issubclass(one, M2BridgeError)}
    assert codes == set(FAILURES)


@pytest.mark.parametrize("code", FAILURES)
def test_a_failure(code: int, invoke: Invoke, engine: Any, tmp_path: Path) -> None:
    arguments, part = FAILURES[code]
    (tmp_path / "OUT.m2").write_text("1;\n2/0\n")
    done = invoke(*(placed(argument, tmp_path) for argument in arguments))
    assert done.returncode == code, done.stdout
    assert part in done.stderr
    assert "Traceback" not in done.stderr
