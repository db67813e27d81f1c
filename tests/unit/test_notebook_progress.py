"""The line below a cell that takes long."""

import threading

import pytest

pytest.importorskip("IPython", reason="IPython is not installed: pip install '.[notebook]'")

from m2bridge.convert.notation import expression_text
from m2bridge.notebook import Progress
from tests.events import PATIENCE


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
    progress = Progress(0.001, cell.show)
    progress.begin()
    expression_text(cell)  # type: ignore[arg-type]
    progress.end()
    assert cell.lines[0].startswith("m2bridge: expression_text, ")
    assert cell.lines[0].endswith(" …")
    assert ", done after" in cell.lines[-1]
    assert not [thread for thread in threading.enumerate() if thread.name == "m2bridge progress"]


def test_other_code_is_not_reported() -> None:
    looked = threading.Event()

    class Looking(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            ended = super().wait(timeout)
            looked.set()
            return ended

    cell = Waiting()
    progress = Progress(0.001, cell.show)
    over = Looking()
    watcher = threading.Thread(target=progress._watch, args=(threading.get_ident(), over, cell.show))
    watcher.start()
    assert looked.wait(PATIENCE)
    over.set()
    watcher.join()
    assert cell.lines == []
