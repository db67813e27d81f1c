"""Exit codes, and how results are printed."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from shutil import get_terminal_size
from typing import Any, Protocol

import click

from m2bridge.clock import Clock, overtime
from m2bridge.errors import EngineTimeoutError
from m2bridge.layout import SHOWN
from m2bridge.sheet import Sheet

DONE, REFUTED, USAGE, UNDECIDED, NO_ENGINE, FAILED, INTERRUPTED = 0, 1, 2, 3, 4, 5, 130

WRITING = 0.3
"""Seconds for writing what was found, when the limit was reached."""


class Result(Protocol):
    """What every computation returns."""

    @property
    def unfinished(self) -> str: ...
    def to_json(self) -> dict[str, Any]: ...
    def to_text(self, most: int | None = SHOWN) -> str: ...
    def to_latex(self, most: int | None = SHOWN) -> str: ...
    def to_macaulay2(self) -> str: ...
    def to_sheet(self) -> Sheet: ...


class Decided(Protocol):
    """What decides statements, and says whether any is refuted, or undecided."""

    @property
    def refuted(self) -> bool: ...
    @property
    def undecided(self) -> bool: ...


def exit_code(found: Decided, exit_zero: bool = False) -> int:
    """What is refuted says more than what is undecided, unless a refutation is wanted to count as an answer."""
    if found.refuted and not exit_zero:
        return REFUTED
    return UNDECIDED if found.undecided else DONE


def echo_json(text: str, end: str = "\n") -> None:
    """Print JSON that stays JSON in every encoding, and commands no terminal: other characters as their numbers."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"

    def written(match: re.Match[str]) -> str:
        sign = match[0]
        plain = sign.isprintable() and sign.encode(encoding, "ignore")
        return sign if plain else json.dumps(sign)[1:-1]

    click.echo(re.sub(r"[^\x00-\x7e]", written, text) + end, nl=False)


def fitted(plain: Callable[[], str], sheet: Callable[[], Sheet], most: int | None = SHOWN) -> str:
    """What a person reads: on a terminal the sheet, in its width; elsewhere the plain text, whatever its width."""
    if not sys.stdout.isatty():
        return plain()
    from m2bridge.presentation import terminal

    return terminal.written(sheet(), most, width=get_terminal_size().columns)


def written(path: Path) -> None:
    """Say where a file is, apart from what the command prints."""
    click.echo(f"Written: {path}", err=True)


def show(result: Result, form: str, clock: Clock, everything: bool = False) -> int:
    """Print a result, in the time that is left and a moment more; the exit code says whether it is finished.

    Of each ideal text and LaTeX have the first generators, or everything; other forms have everything anyway.
    """
    most = None if everything else SHOWN
    writers: dict[str, Callable[[], str]] = {
        "text": lambda: fitted(lambda: result.to_text(most), result.to_sheet, most),
        "latex": lambda: result.to_latex(most),
        "m2": result.to_macaulay2,
        "json": lambda: json.dumps(result.to_json(), ensure_ascii=False),
    }
    try:
        with overtime(clock, WRITING):
            text = writers[form]()
    except EngineTimeoutError:
        raise clock.late(f"writing the result as {form}") from None
    if form == "json":
        echo_json(text)
    else:
        click.echo(text)
    return UNDECIDED if result.unfinished else DONE
