"""Commands, Python code and examples of the documentation, run."""

from __future__ import annotations

import ast
import doctest
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from itertools import chain, repeat
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import psutil
import pytest

import m2bridge
from m2bridge.cli.commands import COMMANDS
from m2bridge.engine.session import OPTIONS
from m2bridge.workspace.macaulay2 import Macaulay2
from tests.conftest import Invoke
from tests.events import PATIENCE
from tests.examples import (
    ASKING,
    ROOT,
    WITH_ENGINE,
    blocks,
    commands,
    dialogues,
    documented,
    examples,
    failures,
    method_examples,
    on_site,
    outputs,
    programs,
    shared,
    shown,
    to_run,
)

pytestmark = pytest.mark.slow

# Every command of README and docs ends within a minute, and says nothing of a mistake. Those whose
# output the site shows are run when it is built.

MOST = 120.0
"""Seconds of computing: a minute on two cores. A busy machine makes commands later, and computes no
more.
"""

REFUTES = {"cross-check", "certify"}
"""Commands that end with 1 where a statement is refuted, as some of the documented ones are meant
to be.
"""


def test_each_command_of_the_program_is_documented() -> None:
    """Which also shows that the blocks are found."""
    named = {
        name for block in documented().values() for command in block for name in command.split()
    }
    assert {str(command.name) for command in COMMANDS} <= named


def test_blocks() -> None:
    text = (
        "m2bridge a\n\n    $ m2bridge b \\\n      --c\n    out\n\nx\n```sh\nm2bridge d  # e\n```\n"
    )
    text += "```python\nm2bridge f\n```\n"
    assert [commands(block) for block in blocks(text)] == [
        ["m2bridge b        --c"],
        ["m2bridge d"],
    ]


def test_each_documented_command_is_run() -> None:
    """By this test, or by the site."""
    run = on_site().union(*to_run().values())
    assert {command for block in documented().values() for command in block} <= run
    assert "m2bridge closure --map grassmannian.toml" in on_site()


def test_outputs_of_a_block() -> None:
    (block,) = blocks("```\n$ m2bridge a  # e\nx  y\n\n…\n$ other\nz\n```\n")
    assert outputs(block) == {"m2bridge a": ["x  y", "…"]}
    assert shows("x  y\n\nz\n", ["x y", "z"])
    assert shows("by Macaulay2 1.21, 0.3 s\nz: is\nx\n", ["by Macaulay2 1.26.06, 12 s", "z: …"])
    assert not shows("x\ny\nz\n", ["x", "z"])
    assert not shows("x\ny\nz\n", ["z", "…", "x"])


def test_output_is_shown_of_commands_that_are_run_here() -> None:
    assert {
        "m2bridge singular-locus --d 2 --d-out 1",
        "m2bridge cross-check 3.4 --all-sizes",
    } <= set(shown())
    assert set(shown()) <= {command for block in to_run().values() for command in block}


def shows(printed: str, lines: list[str]) -> bool:
    """Whether the output is that of the document, apart from spaces, seconds and the version of
    Macaulay2.
    """
    pattern = ".*".join(re.escape(part) for part in plain(lines).split("…"))
    return re.fullmatch(pattern, plain(printed.splitlines()), re.DOTALL) is not None


def plain(lines: list[str]) -> str:
    masked = (
        " ".join(re.sub(r"Macaulay2 [\d.]+|[\d.]+ m?s\b", "_", line).split()) for line in lines
    )
    return "\n".join(line for line in masked if line)


def computed() -> float:
    """Seconds that this process and its children computed, those that have ended among them."""
    seconds = sum(os.times()[:4])
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            seconds += sum(child.cpu_times()[:2])
    return seconds


SHELL = set("|<>;&$`*")
"""Signs that a shell reads; commands without any, but in quotation marks, are run in this process,
but for README's first.
"""
QUOTED = re.compile("'[^']*'")
GRID = re.compile(r"\b1\.\.[2-9]\b")
"""Sizes of grids, the first of which goes up to 2 here: that large ones lose nothing is tested with
the batches.
"""
LONG = {
    "m2bridge closure --d 3 --d-out 2 --timeout 50": (
        "m2bridge closure --d 2 --d-out 1 --timeout 50"
    ),
    "m2bridge weights examples/weights.npz --heads 4 --skip --json": (
        "m2bridge weights narrow.npz --heads 1 --skip --json"
    ),
    "m2bridge figure weights examples/weights.npz --heads 4 --out weights.svg": (
        "m2bridge figure weights narrow.npz --heads 1 --out weights.svg"
    ),
    "m2bridge figure weights examples/weights.npz --heads 4 --worst 3 --out worst.svg": (
        "m2bridge figure weights narrow.npz --heads 1 --worst 1 --out worst.svg"
    ),
}
"""What takes longest, in a smaller case; the generators of degree 5 are found in
``test_implicitization_attention``, and all of (3, 2, 2) are proved in ``test_paper``, by the
command. The weights of all heads are README's.
"""


def narrow(path: Path) -> None:
    """Write one head of width 4 of the weights that are an example."""
    with np.load(ROOT / "examples" / "weights.npz") as weights:
        first = {
            name: matrix
            for name, matrix in weights.items()
            if "self_attn" in name and matrix.ndim == 2
        }
    parts = {name: matrix.reshape(-1, 16, 16)[:, :4, :4] for name, matrix in first.items()}
    np.savez(path, **{name: part.reshape(-1, 4) for name, part in parts.items()})


def smaller(command: str) -> str:
    """The command with small grids, and in this process or one other; more are for the tests of
    batches.
    """
    ranges = chain(["1..2"], repeat("1"))
    few = {"certify": " --executor serial", "atlas": " --workers 1" * ("--from" not in command)}
    return GRID.sub(lambda _: next(ranges), command) + few.get(command.split()[1], "")


@pytest.mark.parametrize("block", to_run().values(), ids=to_run())
@pytest.mark.usefixtures("one_session")
def test_a_block(
    block: list[str],
    m2: str,
    tmp_path: Path,
    invoke: Invoke,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    """One command after the other, in a folder with what the documents suppose."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / "code.m2").write_text("R = QQ[x]\nx^2\n")
    narrow(tmp_path / "narrow.npz")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    typed = "README" in request.node.name and len(block) == 1
    for command in block:
        before = computed()
        if typed or SHELL & set(QUOTED.sub("", command)):
            line = ["sh", "-c", command]
            done = subprocess.run(
                line, timeout=PATIENCE, stdin=subprocess.DEVNULL, capture_output=True, text=True
            )
        else:
            program, *words = shlex.split(smaller(LONG.get(command, command)))
            assert program == "m2bridge"
            done = invoke(*words)
        name = command.partition("m2bridge")[2].split()[0]
        assert done.returncode in ({0, 1} if name in REFUTES else {0}), f"{command}\n{done.stderr}"
        assert computed() - before < MOST, command
        assert "Traceback" not in done.stderr
        for lines in shown().get(command, []):
            assert shows(done.stdout, lines), done.stdout


# The Python of README and docs that no cell of the site is: it runs, and says what its comments
# say.

SMALLER = {"/shared/results": "results", "1..6": "1", "workers=2": "workers=1"}
"""What stands in documents, and is run in a folder of its own and in seconds."""


def local_cluster(**options: Any) -> Any:
    """In the place of a cluster that SLURM runs: one worker with one thread."""
    from distributed import LocalCluster

    assert {"cores", "processes", "memory", "walltime", "job_extra_directives"} == set(options)
    found = LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None)
    found.adapt = lambda minimum_jobs, maximum_jobs: None
    return found


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with what the documents suppose."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "tests" / "certificates" / "accepted" / "d3-dout2-a2-t2-3.4.json", tmp_path)
    programs_here = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    monkeypatch.setenv("PATH", programs_here)  # `m2bridge`, and the Macaulay2 of this environment
    slurm = ModuleType("dask_jobqueue")
    slurm.SLURMCluster = local_cluster  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "dask_jobqueue", slurm)
    return tmp_path


def run(program: str, names: dict[str, Any]) -> list[tuple[str, str]]:
    """The values that the program shows without printing them, each with the comment in its
    line.
    """
    shown, lines = [], program.splitlines()
    for statement in ast.parse(program).body:
        if isinstance(statement, ast.Expr) and isinstance(
            statement.value, ast.Compare | ast.Attribute
        ):
            value = eval(compile(ast.Expression(statement.value), "document", "eval"), names)
            shown.append((str(value), lines[statement.lineno - 1].partition("  # ")[2]))
        else:
            exec(compile(ast.Module([statement], []), "document", "exec"), names)
    return shown


def test_what_is_shown_is_compared() -> None:
    assert run("x = 2\nx == 3  # True\nx.real  # 2", {}) == [("False", "True"), ("2", "2")]


def test_programs_are_found() -> None:
    assert {"README.md: 1", "docs/ideals.md: 1", "docs/pictures.md: 1"} <= set(programs())


@pytest.mark.parametrize("name", programs())
def test_a_program(
    name: str,
    m2: str,
    sessions: Callable[[Path], Macaulay2],
    here: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    program = programs()[name]
    for long, short in SMALLER.items():
        program = program.replace(long, short)
    with shared(sessions(Path(m2)), monkeypatch) as names:
        monkeypatch.setattr(m2bridge, "Macaulay2", names["Macaulay2"])
        for value, said in run(program, {"__name__": "document"}):
            assert value == said
    if name.startswith("docs/batches.md") and "plan(" not in program:
        assert list((here / "results").glob("*.json"))


@pytest.mark.parametrize("name", dialogues())
def test_a_dialogue(
    name: str, m2: str, sessions: Callable[[Path], Macaulay2], monkeypatch: pytest.MonkeyPatch
) -> None:
    test = doctest.DocTestParser().get_doctest(dialogues()[name], {}, name, None, 0)
    with shared(sessions(Path(m2)), monkeypatch):
        assert not failures(test)


def test_readme_begins_with_a_dialogue() -> None:
    assert "README.md: 1" in dialogues()


# The examples of the public names that need Macaulay2; all share one session.


@pytest.fixture
def bare_workspaces(
    m2: str, sessions: Callable[[Path], Macaulay2], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Workspaces begin without the packages that Macaulay2 loads at its start, of which no example
    needs one; the shared session, which other tests use, has them.
    """
    sessions(Path(m2)).value("1")
    monkeypatch.setattr("m2bridge.engine.session.OPTIONS", (*OPTIONS, "--no-preload"))


@pytest.mark.parametrize("name", [*sorted(WITH_ENGINE | ASKING), "m2bridge"])
@pytest.mark.usefixtures("bare_workspaces")
def test_examples(
    name: str, m2: str, sessions: Callable[[Path], Macaulay2], monkeypatch: pytest.MonkeyPatch
) -> None:
    test = examples(name)
    with shared(sessions(Path(m2)), monkeypatch) as names:
        test.globs.update(names)
        assert not failures(test)


@pytest.mark.usefixtures("bare_workspaces")
def test_examples_of_methods(
    m2: str, sessions: Callable[[Path], Macaulay2], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = method_examples("Macaulay2", "Workspace")
    assert {test.name for test in found} >= {
        "Macaulay2.value",
        "Macaulay2.workspace",
        "Workspace.run",
    }
    with shared(sessions(Path(m2)), monkeypatch) as names:
        for test in found:
            test.globs.update(names)
            assert not failures(test)
