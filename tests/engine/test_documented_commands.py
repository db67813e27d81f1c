"""Every command of README and docs ends within a minute, and says nothing of a mistake.

Those whose output the site shows are run when it is built.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from m2bridge.cli.commands import COMMANDS
from tests.documented import ROOT, blocks, commands, documented, on_site, outputs, shown, to_run
from tests.events import PATIENCE

MOST = 120.0
"""Seconds of computing: a minute on two cores. A busy machine makes commands later, and computes no more."""

REFUTES = {"cross-check", "certify"}
"""Commands that end with 1 where a statement is refuted, as some of the documented ones are meant to be."""


def test_each_command_of_the_program_is_documented() -> None:
    """Which also shows that the blocks are found."""
    named = {name for block in documented().values() for command in block for name in command.split()}
    assert {str(command.name) for command in COMMANDS} <= named


def test_blocks() -> None:
    text = "m2bridge a\n\n    $ m2bridge b \\\n      --c\n    out\n\nx\n```sh\nm2bridge d  # e\n```\n"
    text += "```python\nm2bridge f\n```\n"
    assert [commands(block) for block in blocks(text)] == [["m2bridge b        --c"], ["m2bridge d"]]


def test_each_documented_command_is_run() -> None:
    """By this test, or by the site."""
    run = on_site().union(*to_run().values())
    assert {command for block in documented().values() for command in block} <= run
    assert "m2bridge singular-locus --d 2 --d-out 1" in on_site()


def test_outputs_of_a_block() -> None:
    (block,) = blocks("```\n$ m2bridge a  # e\nx  y\n\n…\n$ other\nz\n```\n")
    assert outputs(block) == {"m2bridge a": ["x  y", "…"]}
    assert shows("x  y\n\nz\n", ["x y", "z"])
    assert shows("by Macaulay2 1.21, 0.3 s\nz: is\nx\n", ["by Macaulay2 1.26.06, 12 s", "z: …"])
    assert not shows("x\ny\nz\n", ["x", "z"])
    assert not shows("x\ny\nz\n", ["z", "…", "x"])


def test_output_is_shown_of_commands_that_are_run_here() -> None:
    assert {"m2bridge singular-locus --d 2 --d-out 1", "m2bridge cross-check 3.4 --all-sizes"} <= set(shown())
    assert set(shown()) <= {command for block in to_run().values() for command in block}


def shows(printed: str, lines: list[str]) -> bool:
    """Whether the output is that of the document, apart from spaces, seconds and the version of Macaulay2."""
    pattern = ".*".join(re.escape(part) for part in plain(lines).split("…"))
    return re.fullmatch(pattern, plain(printed.splitlines()), re.DOTALL) is not None


def plain(lines: list[str]) -> str:
    masked = (" ".join(re.sub(r"Macaulay2 [\d.]+|[\d.]+ m?s\b", "_", line).split()) for line in lines)
    return "\n".join(line for line in masked if line)


def computed() -> float:
    """Seconds that child processes computed which have ended."""
    return os.times().children_user + os.times().children_system


@pytest.mark.parametrize("block", to_run().values(), ids=to_run())
def test_a_block(block: list[str], m2: str, tmp_path: Path) -> None:
    """One command after the other, in a folder with what the documents suppose."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / "code.m2").write_text("R = QQ[x]\nx^2\n")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    for command in block:
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
        assert shows(done.stdout, shown().get(command, ["…"])), done.stdout
