"""``%load_ext m2bridge``: Macaulay2 in cells of a notebook, and the progress of long cells.

This is the only module that imports IPython. One workspace, a Macaulay2 that keeps its symbols,
serves a notebook; errors are shown as in a terminal, without the traceback of Python. A value that
Python lacks comes as a reference, an object that stands for the value in Macaulay2.
"""

from __future__ import annotations

import re
import sys
import threading
import time
from collections.abc import Callable, Iterable
from contextvars import copy_context
from pathlib import Path
from types import FrameType
from typing import Any

from IPython.core.completer import (
    CompletionContext,
    SimpleCompletion,
    SimpleMatcherResult,
    context_matcher,
)
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, line_cell_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring
from IPython.display import DisplayHandle

import m2bridge
from m2bridge.errors import M2BridgeError, WorkspaceLostError
from m2bridge.limits import asked_by
from m2bridge.results.sheet import duration, printable, shortened
from m2bridge.system import any_length
from m2bridge.workspace.macaulay2 import Macaulay2, Workspace


def load(shell: InteractiveShell) -> None:
    """Add the magics ``%%m2`` and ``%m2``, the completion of names, and the progress of cells."""
    magics = Macaulay2Magics(shell, CellProgress())
    shell.register_magics(magics)
    # a function, since ``work`` is made at its first use, and another after a restart
    shell.Completer.custom_matchers.append(name_matcher(lambda: magics.work.names()))
    shell.events.register("pre_run_cell", magics.progress.begin)
    shell.events.register("post_run_cell", magics.progress.end)


def unload(shell: InteractiveShell) -> None:
    """End the notebook's Macaulay2, and remove magics, completion and progress."""
    magics = shell.magics_manager.registry.pop(Macaulay2Magics.__name__)
    magics.close()
    shell.events.unregister("pre_run_cell", magics.progress.begin)
    shell.events.unregister("post_run_cell", magics.progress.end)
    magics.progress.end()
    # IPython has no function that removes a magic or a matcher
    for magics_of_a_kind in shell.magics_manager.magics.values():
        magics_of_a_kind.pop("m2", None)
    matchers = shell.Completer.custom_matchers
    for matcher in list(matchers):
        if getattr(matcher, "matcher_identifier", "") == IDENTIFIER:
            matchers.remove(matcher)


MAX_CELL_TEXT_CHARS = 100_000
"""Characters of what a cell prints, and of the text of its value."""

_WITH_VALUE = r"(?:-i|-o|--input|--output|--timeout|--m2)[ =]\s*\S+"
_OPTIONS = re.compile(rf"(?:\s*(?:{_WITH_VALUE}|--restart\b))*")
"""The options at the beginning of a line, before its code."""

_DECIMAL = re.compile(r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def seconds(text: str) -> float:
    """Read a number in decimal digits, such as 1e3; ValueError for all else, such as 1_0 or inf."""
    if not _DECIMAL.fullmatch(text):
        raise ValueError(f"'{text}' is not a number of seconds")
    return float(text)


@magics_class
class Macaulay2Magics(Magics):
    """One workspace of Macaulay2 for a notebook, from the first cell that needs it on."""

    def __init__(self, shell: InteractiveShell, progress: CellProgress) -> None:
        super().__init__(shell)
        self._shell = shell
        self.progress = progress
        self._work: Workspace | None = None
        self._program: str | None = None

    @property
    def work(self) -> Workspace:
        """The workspace, which is made at its first use."""
        if self._work is None:
            self._work = Macaulay2(self._program).workspace()
        return self._work

    @property
    def _cell(self) -> int:
        """The number of the cell that runs."""
        # While a cell runs, ``execution_count`` of the shell may be the next cell's already; the
        # result that is being computed, if there is one, has the number of its own cell.
        running = getattr(self._shell.displayhook.exec_result, "execution_count", None)
        return self._shell.execution_count if running is None else int(running)

    def close(self) -> None:
        """End the workspace; the next cell starts another."""
        if self._work is not None:
            self._work.close()
        self._work = None

    @magic_arguments()
    @argument(
        "-i",
        "--input",
        action="append",
        default=[],
        metavar="NAME",
        help="Python name to take in (or several)",
    )
    @argument(
        "-o",
        "--output",
        action="append",
        default=[],
        metavar="NAME",
        help="name to bring to Python",
    )
    @argument(
        "--timeout",
        type=seconds,
        metavar="SECONDS",
        help="limit of this cell; its end costs all symbols",
    )
    @argument(
        "--restart", action="store_true", help="begin with a fresh Macaulay2, without symbols"
    )
    @argument("--m2", metavar="PATH", help="begin with this Macaulay2 program, for this notebook")
    @line_cell_magic
    def m2(self, line: str, cell: str | None = None) -> Any:
        """Evaluate Macaulay2 code in the workspace of this notebook.

        What it printed is shown, and its last value. ``%%m2 -i f -o I`` takes the Python object
        ``f`` in, and brings the value of ``I`` to Python afterwards. Several names are separated by
        commas. A semicolon at the end says that the last value is not wanted.
        """
        # ``%%m2`` has its options in the line and its code in the cell; ``%m2`` has no cell, and
        # its line is options, here called the head, and then code.
        head = line
        if cell is None:
            begins = _OPTIONS.match(line)
            assert begins is not None  # a line without options has an empty head
            head = line[: begins.end()]
        options = parse_argstring(self.m2, head)
        if options.restart or options.m2:
            self.close()
            self._program = options.m2 or self._program
        try:
            if cell is None:
                return self._evaluate(line[len(head) :], options)
            # The line of the magic is a comment, so that lines have their numbers in the cell.
            return self._evaluate(f"-- %%m2 {printable(line)}\n{cell}", options)
        except M2BridgeError as error:
            raise without_traceback(error) from None

    def _evaluate(self, code: str, options: Any) -> Any:
        """Evaluate the code of a cell, print its output, and return its value for display."""
        user = self._shell.user_ns
        for name in _names(options.input):
            if name not in user:
                raise UsageError(f"-i {name}: Python has no such name here")
            self.work[name] = user[name]
        file = f"In [{self._cell}]"
        with asked_by("--timeout"):
            work = self.work
            evaluation = work.evaluate(code, references=True, timeout=options.timeout, file=file)
        sys.stdout.write(shortened(evaluation.output, MAX_CELL_TEXT_CHARS))
        # first all values are fetched: if one fails, Python gets none
        brought = {name: work.get(name, references=True) for name in _names(options.output)}
        user.update(brought)
        return _shown(evaluation.value)


def _names(lists: Iterable[str]) -> list[str]:
    """Return the names after the uses of an option, such as ``["a,b", "c"]``: a, b and c."""
    names = [name.strip() for name in ",".join(lists).split(",")]
    return [name for name in names if name]


def _shown(value: Any) -> Any:
    """Return the value for IPython to show; of a text too long for a cell print the beginning."""
    if hasattr(value, "_repr_html_"):  # IPython shows HTML, which is short
        return value
    with any_length():
        text = repr(value)
    # IPython calls repr() again, with Python's own limit on digits.
    too_many_digits = isinstance(value, int) and len(text) > sys.get_int_max_str_digits() > 0
    if len(text) <= MAX_CELL_TEXT_CHARS and not too_many_digits:
        return value
    advice = f"({len(text)} characters; -o NAME brings the value of NAME to Python)"
    print(f"{shortened(text)}\n{advice}")
    return None


def without_traceback(error: M2BridgeError) -> M2BridgeError:
    """Return the error, with the method by which IPython shows its message without a traceback."""
    red, plain = "\x1b[31m", "\x1b[0m"
    advice = "\n%m2 --restart starts again" if isinstance(error, WorkspaceLostError) else ""
    lines = [f"{red}{type(error).__name__}{plain}: {error}{advice}"]
    error._render_traceback_ = lambda: lines  # type: ignore[attr-defined]
    return error


IDENTIFIER = "m2bridge"
_CELL = re.compile(r"\s*%%m2\b")
_LINE = re.compile(r"\s*%m2\s")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9']*$")


def name_matcher(
    names: Callable[[], Iterable[str]],
) -> Callable[[CompletionContext], SimpleMatcherResult]:
    """Return a matcher, by which IPython completes the ``names`` of Macaulay2 at the cursor."""

    @context_matcher(identifier=IDENTIFIER)
    def matcher(context: CompletionContext) -> SimpleMatcherResult:
        """Return the names that complete the word at the cursor, short ones first.

        If a name is found, other matchers are suppressed, as they would complete names of Python.
        """
        word = _NAME.search(context.text_until_cursor)
        if word is None or not _is_macaulay2(context):
            return SimpleMatcherResult(completions=[])
        try:
            matches = sorted({name for name in names() if name.startswith(word[0])})
            matches.sort(key=len)  # of one length in alphabetical order
        except M2BridgeError:  # no Macaulay2, or it is lost: the next cell says so
            matches = []
        completions = [SimpleCompletion(name, type="Macaulay2") for name in matches]
        return SimpleMatcherResult(
            completions=completions, matched_fragment=word[0], suppress=bool(matches)
        )

    return matcher


def _is_macaulay2(context: CompletionContext) -> bool:
    """Whether the cursor is in Macaulay2 code: below ``%%m2``, or in a line after ``%m2``."""
    if _CELL.match(context.full_text):
        return context.cursor_line > 0
    return _LINE.match(context.line_with_cursor) is not None


SHOWING = "showing the result"
DISPLAY_METHODS = {"__repr__", "_repr_html_", "_repr_latex_", "_repr_pretty_"}
"""Methods that IPython calls by itself, and the words shown while one of them runs."""

_PACKAGE = str(Path(m2bridge.__file__).parent)
_ENGINE = str(Path(_PACKAGE, "engine"))
_CONTEXT = str(Path(_ENGINE, "context.py"))
"""The file of the function that runs each computation, and is none itself."""
_OWN = __file__


class CellProgress:
    """A line below each cell in which a function of m2bridge takes long; a thread, the watcher,
    looks every ``patience`` seconds what the thread of the cell does.
    """

    def __init__(self, patience: float = 1.0, show: Callable[[str], object] | None = None) -> None:
        self._patience = patience
        self._show = show
        self._over = threading.Event()
        self._watcher: threading.Thread | None = None

    def begin(self, *_: Any) -> None:
        """Watch the cell that begins in this thread; IPython calls this, with its own arguments."""
        self.end()
        self._over = threading.Event()
        self._watcher = threading.Thread(
            target=copy_context().run,  # the context says below which cell lines are shown
            args=(self._watch, threading.get_ident(), self._over, self._show or _Line()),
            name="m2bridge progress",
            daemon=True,
        )
        self._watcher.start()

    def end(self, *_: Any) -> None:
        """Stop watching the cell, which has ended."""
        self._over.set()
        if self._watcher is not None:
            self._watcher.join()
        self._watcher = None

    def _watch(self, thread: int, over: threading.Event, show: Callable[[str], object]) -> None:
        """Show what the cell does, again and again until it is ``over``; nothing if it is quick."""
        begin = time.monotonic()
        last = ""
        while not over.wait(self._patience):
            doing = doings(sys._current_frames().get(thread))
            if doing:
                last = doing
                show(f"m2bridge: {last}, {duration(time.monotonic() - begin)} …")
        if last:
            show(f"m2bridge: {last}, done after {duration(time.monotonic() - begin)}")


def doings(frame: FrameType | None) -> str:
    """Return what m2bridge does in this frame, as text: ``closure`` or ``closure (Macaulay2)``.

    The text names the outermost function of m2bridge among the frame and its callers, which the
    cell has called, and says whether it waits for Macaulay2. Methods by which IPython shows a value
    have names that say nothing to the reader: ``SHOWING`` stands for them.
    """
    function = ""
    waits = False
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith(_PACKAGE) and not file.startswith((_OWN, _CONTEXT)):
            name = frame.f_code.co_name
            function = SHOWING if name in DISPLAY_METHODS else name  # the outermost is met last
            waits = waits or file.startswith(_ENGINE)
        frame = frame.f_back
    return f"{function} (Macaulay2)" if waits else function


class _Line:
    """One line of output below a cell, which each call replaces."""

    def __init__(self) -> None:
        self._handle = DisplayHandle()
        self._shown = False

    def __call__(self, text: str) -> None:
        """Show the text below the cell, in place of the text of the call before."""
        show = self._handle.update if self._shown else self._handle.display
        show({"text/plain": text}, raw=True)  # raw: a text by its type, and no object to be shown
        self._shown = True
