"""The magics ``%%m2`` and ``%m2``."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from typing import Any

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, line_cell_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring

from m2bridge.clock import asked_by
from m2bridge.digits import any_length
from m2bridge.engine import Macaulay2
from m2bridge.engine.workspace import Workspace
from m2bridge.errors import M2BridgeError, WorkspaceLostError
from m2bridge.layout import printable, shortened
from m2bridge.notebook.progress import Progress

MOST_TEXT = 100_000
"""Characters of what a cell prints, and of the text of its value."""

_OPTIONS = re.compile(r"(?:\s*(?:(?:-i|-o|--input|--output|--timeout|--m2)[ =]\s*\S+|--restart\b))*")


@magics_class
class Macaulay2Magics(Magics):
    """One workspace of Macaulay2 for a notebook: from the first cell that needs it to the end of the kernel."""

    def __init__(self, shell: InteractiveShell, progress: Progress) -> None:
        super().__init__(shell)
        self._shell, self.progress = shell, progress
        self._work: Workspace | None = None
        self._program: str | None = None

    @property
    def work(self) -> Workspace:
        """The workspace."""
        if self._work is None:
            self._work = Macaulay2(self._program).workspace()
        return self._work

    @property
    def _cell(self) -> int:
        """The number of the cell that runs; IPython itself counts the next one from its beginning on."""
        running = getattr(self._shell.displayhook.exec_result, "execution_count", None)
        return self._shell.execution_count if running is None else int(running)

    def close(self) -> None:
        """End it; the next cell starts another."""
        if self._work is not None:
            self._work.close()
        self._work = None

    @magic_arguments()
    @argument("-i", "--input", action="append", default=[], metavar="NAME", help="Python name to take in (or several)")
    @argument("-o", "--output", action="append", default=[], metavar="NAME", help="name to bring to Python")
    @argument("--timeout", type=float, metavar="SECONDS", help="limit of this cell; its end costs all symbols")
    @argument("--restart", action="store_true", help="begin with a fresh Macaulay2, without symbols")
    @argument("--m2", metavar="PATH", help="begin with this Macaulay2 program, for this notebook")
    @line_cell_magic
    def m2(self, line: str, cell: str | None = None) -> Any:
        """Evaluate Macaulay2 code in the workspace of this notebook; show what it printed, and its last value.

        ``%%m2 -i f -o I`` takes the Python object ``f`` in, and brings the value of ``I`` to Python afterwards. Several
        names are separated by commas. A semicolon at the end says that the last value is not wanted.
        """
        head = line if cell is not None else line[: _OPTIONS.match(line).end()]  # type: ignore[union-attr]
        options = parse_argstring(self.m2, head)
        if options.restart or options.m2:
            self.close()
            self._program = options.m2 or self._program
        try:
            # The line of the magic is a comment, so that lines have the numbers that they have in the cell.
            code = line[len(head) :] if cell is None else f"-- %%m2 {printable(line)}\n{cell}"
            return self._evaluate(code, options)
        except M2BridgeError as error:
            raise marked(error) from None

    def _evaluate(self, code: str, options: Any) -> Any:
        user = self._shell.user_ns
        for name in _names(options.input):
            if name not in user:
                raise UsageError(f"-i {name}: Python has no such name here")
            self.work[name] = user[name]
        file = f"In [{self._cell}]"
        with asked_by("--timeout"):
            evaluation = self.work.evaluate(code, references=True, timeout=options.timeout, file=file)
        sys.stdout.write(shortened(evaluation.output, MOST_TEXT))
        user.update({name: self.work.get(name, references=True) for name in _names(options.output)})
        return _shown(evaluation.value)


def _names(given: Iterable[str]) -> list[str]:
    return [name.strip() for names in given for name in names.split(",") if name.strip()]


def _shown(value: Any) -> Any:
    """The value, for IPython to show; nothing, where that is a text of more than :data:`MOST_TEXT` characters.

    What has HTML of its own keeps that short by itself.
    """
    if hasattr(value, "_repr_html_"):
        return value
    with any_length():
        text = repr(value)
    if len(text) <= MOST_TEXT and not (isinstance(value, int) and len(text) > sys.get_int_max_str_digits() > 0):
        return value
    print(f"{shortened(text)}\n({len(text)} characters; -o NAME brings the value of NAME to Python)")
    return None


def marked(error: M2BridgeError) -> M2BridgeError:
    """The error, shown in the cell by its message, with the place in the code, and without Python's own calls."""
    red, plain = "\x1b[31m", "\x1b[0m"
    advice = "\n%m2 --restart begins anew" if isinstance(error, WorkspaceLostError) else ""
    lines = [f"{red}{type(error).__name__}{plain}: {error}{advice}"]
    error._render_traceback_ = lambda: lines  # type: ignore[attr-defined]
    return error
