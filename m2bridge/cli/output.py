"""Output of commands: results, JSON, progress, and the exit code of verdicts."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING

import click

from m2bridge.cli import DONE, REFUTED, UNDECIDED
from m2bridge.errors import TimeLimitError
from m2bridge.limits import Clock, overtime
from m2bridge.results.sheet import SHOWN, Sheet, visible

if TYPE_CHECKING:
    from m2bridge.batch.plan import Summary
    from m2bridge.results.base import Result, VerdictsResult

WRITING = 0.3
"""Seconds for writing what was found, when the limit was reached."""


def exit_code(result: VerdictsResult | Summary, exit_zero: bool = False) -> int:
    """The exit code of verdicts: REFUTED takes precedence over UNDECIDED, unless a refutation counts as an answer."""
    if result.refuted and not exit_zero:
        return REFUTED
    return UNDECIDED if result.undecided else DONE


def show_batch(summary: Summary, as_json: bool, quiet: bool, exit_zero: bool = False) -> int:
    """Print how a batch went, and return its exit code."""
    if as_json:
        echo_json(json.dumps(summary.to_json()))
    elif not quiet:
        click.echo(summary.to_text())
    return exit_code(summary, exit_zero)


def echo_json(text: str, end: str = "\n") -> None:
    """Print JSON; characters that the encoding lacks, or that control a terminal, are written by their numbers."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"

    def written(match: re.Match[str]) -> str:
        sign = match[0]
        plain = sign.isprintable() and sign.encode(encoding, "ignore")
        return sign if plain else json.dumps(sign)[1:-1]

    click.echo(re.sub(r"[^\x00-\x7e]", written, text) + end, nl=False)


def fitted(sheet: Sheet, most: int | None = SHOWN, plain: str | None = None) -> str:
    """The text for a person: on a terminal the sheet in its width, elsewhere its text, or the plain one."""
    if not sys.stdout.isatty():
        return sheet.text(most) if plain is None else plain
    from m2bridge.results import terminal

    return terminal.written(sheet, most, width=get_terminal_size().columns)


def written(path: Path) -> None:
    """Say on standard error where a file was written."""
    click.echo(f"Written: {path}", err=True)


def show(result: Result, form: str, clock: Clock, everything: bool = False) -> int:
    """Print a result, in the time that is left and a moment more; the exit code says whether it is finished.

    Of each ideal text and LaTeX have the first generators, or everything; other forms have everything anyway.
    """
    most = None if everything else SHOWN
    writers: dict[str, Callable[[], str]] = {
        "text": lambda: fitted(result.to_sheet(), most),
        "latex": lambda: result.to_latex(most),
        "m2": result.to_macaulay2,
        "json": lambda: json.dumps(result.to_json(), ensure_ascii=False),
    }
    try:
        with overtime(clock, WRITING):
            text = writers[form]()
    except TimeLimitError:
        raise clock.late(f"writing the result as {form}") from None
    if form == "json":
        echo_json(text)
    else:
        click.echo(text)
    return UNDECIDED if result.unfinished else DONE


@contextmanager
def progress(what: str) -> Iterator[None]:
    """Show what is being computed and the elapsed time until the block ends, then remove it."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as display:
        display.add_task(visible(what), total=None)
        yield
