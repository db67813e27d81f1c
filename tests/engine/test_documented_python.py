"""The Python of README and docs that no cell of the site is: it runs, and says what its comments say."""

from __future__ import annotations

import ast
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import m2bridge
from m2bridge.workspace.macaulay2 import Macaulay2
from tests.documented import ROOT, programs
from tests.examples import shared

SMALLER = {"/shared/results": "results", "1..6": "1..2"}
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
    slurm = ModuleType("dask_jobqueue")
    slurm.SLURMCluster = local_cluster  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "dask_jobqueue", slurm)
    return tmp_path


def run(program: str, names: dict[str, Any]) -> list[tuple[str, str]]:
    """The values that the program shows without printing them, each with the comment in its line."""
    shown, lines = [], program.splitlines()
    for statement in ast.parse(program).body:
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Compare | ast.Attribute):
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
    name: str, m2: str, sessions: Callable[[Path], Macaulay2], here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = programs()[name]
    for long, short in SMALLER.items():
        program = program.replace(long, short)
    with shared(sessions(Path(m2)), monkeypatch) as names:
        monkeypatch.setattr(m2bridge, "Macaulay2", names["Macaulay2"])
        for value, said in run(program, {"__name__": "document"}):
            assert value == said
    if name.startswith("docs/batches.md"):
        assert list((here / "results").glob("*.json"))
