"""Every command of README and docs ends within a minute, and says nothing of a mistake.

Those of ``docs/`` are run where M2BRIDGE_DOCUMENTED is set, since they take minutes together.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from m2bridge.cli.commands import COMMANDS
from tests.documented import ROOT, blocks, commands, documented
from tests.events import PATIENCE

MOST = 120.0
"""Seconds of computing: a minute on two cores. A busy machine makes commands later, and computes no more."""

REFUTES = {"cross-check", "certify"}
"""Commands that end with 1 where a statement is refuted, as some of the documented ones are meant to be."""

NOT_RUN = {
    "m2bridge atlas atlas/                          # all d, d' ≤ 4 and a ≤ d": "40 cases of up to a minute each",
}
"""Commands that take a cluster, or hours, with the reason."""


def test_the_exceptions_are_documented() -> None:
    every = {command for block in documented().values() for command in block}
    assert set(NOT_RUN) <= every


def test_each_command_of_the_program_is_documented() -> None:
    """Which also shows that the blocks are found."""
    named = {name for block in documented().values() for command in block for name in command.split()}
    assert {str(command.name) for command in COMMANDS} <= named


def test_blocks() -> None:
    text = "m2bridge a\n\n    $ m2bridge b \\\n      --c\n    out\n\nx\n```sh\nm2bridge d  # e\n```\n"
    text += "```python\nm2bridge f\n```\n"
    assert [commands(block) for block in blocks(text)] == [["m2bridge b        --c"], ["m2bridge d  # e"]]


def computed() -> float:
    """Seconds that child processes computed which have ended."""
    return os.times().children_user + os.times().children_system


def _blocks() -> list[ParameterSet]:
    left_out = pytest.mark.skipif("M2BRIDGE_DOCUMENTED" not in os.environ, reason="set M2BRIDGE_DOCUMENTED=1")
    return [
        pytest.param(block, id=name, marks=() if name.startswith("README") else left_out)
        for name, block in documented().items()
    ]


@pytest.mark.parametrize("block", _blocks())
def test_a_block(block: list[str], m2: str, tmp_path: Path) -> None:
    """One command after the other, in a folder with what the documents suppose."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / "code.m2").write_text("R = QQ[x]\nx^2\n")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    for command in block:
        if command in NOT_RUN:
            continue
        before = computed()
        done = subprocess.run(
            ["sh", "-c", command],
            timeout=PATIENCE,
            cwd=tmp_path,
            env={**os.environ, "PATH": path},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        name = command.partition("m2bridge")[2].split()[0]
        assert done.returncode in ({0, 1} if name in REFUTES else {0}), f"{command}\n{done.stderr}"
        assert computed() - before < MOST, command
        assert "Traceback" not in done.stderr
