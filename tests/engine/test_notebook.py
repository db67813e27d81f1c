"""``%%m2`` in an IPython of this process."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from m2bridge import Macaulay2, dimension, ideal
from m2bridge.convert.printing import expression_text
from tests.events import PATIENCE

if TYPE_CHECKING:
    from IPython.core.interactiveshell import ExecutionResult, InteractiveShell

pytest.importorskip("IPython", reason="IPython is not installed: pip install '.[notebook]'")

from m2bridge.algebra.field import QQ
from m2bridge.algebra.modules import Matrix, Module
from m2bridge.notebook import CellProgress, doings


@pytest.fixture(scope="module")
def shell(program: Path) -> Iterator[InteractiveShell]:
    """A notebook's Python, whose cells use one Macaulay2."""
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell()
    shell.run_cell("%load_ext m2bridge")
    shell.run_cell(f"%m2 --m2 {program}")
    yield shell
    shell.run_cell("%unload_ext m2bridge")


def run(shell: InteractiveShell, cell: str) -> Any:
    result: ExecutionResult = shell.run_cell(cell)
    assert result.success, result.error_in_exec
    return result.result


def shown(error: BaseException) -> str:
    """An error as a cell shows it, without colours."""
    return re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(error._render_traceback_()))  # type: ignore[attr-defined]


@pytest.mark.slow
def test_symbols_stay_and_values_go_both_ways(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(shell, "%%m2\nR = QQ[x,y]\nprint 17\nI = ideal(x^2, x*y);\n") is None
    assert capsys.readouterr().out == "17\n"
    assert run(shell, "%m2 codim I") == 1
    run(shell, "n, m = 12, 5")
    assert run(shell, "%%m2 -i n,m -o k -o l\nk = n^m\nl = toString I;") is None
    assert (shell.user_ns["k"], shell.user_ns["l"]) == (12**5, "ideal(x^2,x*y)")
    assert run(shell, "%m2 -i n n + 1") == 13
    assert run(shell, '%m2 "two  spaces; -o x"') == "two  spaces; -o x"


def test_errors_are_marked_in_the_cell(shell: InteractiveShell) -> None:
    """The line is that of the cell, its first line counted; no Python is shown."""
    result = shell.run_cell("%%m2\n1 + 1\n2 + noSuchFunction(3)\n4")
    text = shown(result.error_in_exec)
    assert text.startswith("ScriptError: ")
    assert f"line {result.error_in_exec.line}, column {result.error_in_exec.column} of In [" in text
    assert result.error_in_exec.line == 3
    source, caret = text.split(">    3 | ")[1].splitlines()[:2]
    assert source == "2 + noSuchFunction(3)"
    assert caret.endswith("^")
    assert "Traceback" not in text
    syntax = shell.run_cell("%%m2 -o x\nx = (1,\n2")
    assert syntax.error_in_exec.line in (2, 3)
    assert run(shell, "%m2 1 + 1") == 2
    assert "no value" in shown(shell.run_cell("%m2 -o neverDefined").error_in_exec)


def test_errors_name_their_cell(shell: InteractiveShell) -> None:
    """The cell is named whose code fails, where a function of an earlier cell does so too."""
    numbers = []
    for cell in (
        "%%m2\nfails = x -> x + noSuchFunction 3",
        "%%m2\n1 + 1\nfails 2\n",
        "%m2 noSuchFunction 4",
    ):
        numbers.append(shell.execution_count)
        error = shell.run_cell(cell, store_history=True).error_in_exec
    assert f"of In [{numbers[2]}])" in shown(error)
    error = shell.run_cell("%%m2\n1 + 1\nfails 2\n", store_history=True).error_in_exec
    assert f"of In [{numbers[0]}], called from line 3, column " in shown(error)
    assert f"of In [{numbers[2] + 1}])" in shown(error)


def test_input_that_is_not_there(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    shell.run_cell("%m2 -i nothing 3")
    assert "-i nothing: Python has no such name" in capsys.readouterr().err


def test_long_values_and_outputs_are_short(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(shell, "%m2 2^20000") is None
    assert "(6021 characters; -o NAME" in capsys.readouterr().out
    run(shell, "%%m2 -o big\nbig = 2^20000;")
    assert shell.user_ns["big"] == 2**20000
    run(shell, '%m2 print concatenate(200000: "x");')
    assert len(capsys.readouterr().out) < 100_100


def complete(shell: InteractiveShell, cell: str) -> list[str]:
    from IPython.core.completer import provisionalcompleter

    with provisionalcompleter():
        return [found.text for found in shell.Completer.completions(cell, len(cell))]


@pytest.mark.slow
def test_completion(shell: InteractiveShell) -> None:
    run(shell, "%m2 myOwnName = 3;")
    assert complete(shell, "%%m2\nI = primaryDecom")[0] == "primaryDecomposition"
    assert complete(shell, "%m2 1 + myOwn") == ["myOwnName"]
    assert "primaryDecomposition" not in complete(shell, "primaryDecom")
    assert not [name for name in complete(shell, "%%m2\nmb") if name.startswith("mb")]


def test_completion_leaves_the_last_value_alone(shell: InteractiveShell) -> None:
    run(shell, "%m2 -o k k = 6; 7 * k")
    complete(shell, "%m2 primaryDecom")
    assert run(shell, "%m2 oo + k") == 48


@pytest.mark.slow
def test_a_lost_workspace_says_how_to_begin_anew(shell: InteractiveShell) -> None:
    shell.run_cell("%m2 kept = 1")
    lost = shell.run_cell("%%m2 --timeout 0.5\nwhile true do sleep 1")
    assert type(lost.error_in_exec).__name__ == "TimeLimitError"
    assert "%m2 --restart starts again" in shown(shell.run_cell("%m2 kept").error_in_exec)
    assert run(shell, "%m2 --restart class kept === Symbol") is True


@pytest.mark.parametrize("written", ["1_0", "٥", "nan"])
def test_seconds_are_written_in_decimal_digits(shell: InteractiveShell, written: str) -> None:
    refused = shell.run_cell(f"%%m2 --timeout {written}\n1")
    assert type(refused.error_in_exec).__name__ == "UsageError"
    assert written in str(refused.error_in_exec)


def test_unloading_ends_macaulay2(shell: InteractiveShell) -> None:
    magics = shell.magics_manager.registry["Macaulay2Magics"]
    work = magics.work
    assert work.pid
    run(shell, "%unload_ext m2bridge")
    assert work.pid is None
    assert "m2" not in shell.magics_manager.magics["cell"]
    shell.run_cell("%load_ext m2bridge")


# The line below a cell that takes long.


class Waiting:
    """Its text is ready when something was shown."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._shown = threading.Event()

    def show(self, line: str) -> None:
        self.lines.append(line)
        self._shown.set()

    def __str__(self) -> str:
        assert self._shown.wait(PATIENCE)
        return "text"


def test_the_function_that_runs_is_named_and_the_line_stays() -> None:
    cell = Waiting()
    progress = CellProgress(0.001, cell.show)
    progress.begin()
    expression_text(cell)  # type: ignore[arg-type]
    progress.end()
    assert cell.lines[0].startswith("m2bridge: expression_text, ")
    assert cell.lines[0].endswith(" …")
    assert ", done after" in cell.lines[-1]
    assert not [thread for thread in threading.enumerate() if thread.name == "m2bridge progress"]


def test_a_computation_is_named_and_waits_for_macaulay2_only_where_it_does(
    m2: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = []

    def watch(place: str) -> None:
        """Let a function note what is said while it is called."""
        module, _, name = place.rpartition(".")
        watched = getattr(import_module(module), name)

        def noting(*args: Any, **options: Any) -> Any:
            said.append(doings(sys._getframe()))
            return watched(*args, **options)

        monkeypatch.setattr(place, noting)

    watch("m2bridge.maps.dimension.jacobian_findings")
    dimension({"x": "t^2"})
    assert said == ["dimension"]
    watch("m2bridge.engine.session.complete_records")
    with Macaulay2(m2):
        dimension(ideal("x^2"))
    assert said == ["dimension", "dimension (Macaulay2)"]


def test_other_code_is_not_reported() -> None:
    looked = threading.Event()

    class Looking(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            ended = super().wait(timeout)
            looked.set()
            return ended

    cell = Waiting()
    progress = CellProgress(0.001, cell.show)
    over = Looking()
    watcher = threading.Thread(
        target=progress._watch, args=(threading.get_ident(), over, cell.show)
    )
    watcher.start()
    assert looked.wait(PATIENCE)
    over.set()
    watcher.join()
    assert cell.lines == []


def test_methods_of_notebooks_have_no_names_for_readers(monkeypatch: pytest.MonkeyPatch) -> None:
    """While IPython asks a value for its forms, the line of progress says that."""
    said = []

    def watched(entries: object) -> str:
        said.append(doings(sys._getframe()))
        return "x"

    monkeypatch.setattr("m2bridge.algebra.modules.matrix_latex", watched)
    line = Module(QQ, ((0,),))
    Matrix(line, line, ((1,),))._repr_latex_()
    assert said == ["showing the result"]
