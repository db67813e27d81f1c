"""What commands print: results, refusals with what to do next, progress; and the exit codes."""

import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from shutil import get_terminal_size
from typing import Any, Protocol

import click

from m2bridge.errors import TimeLimitError
from m2bridge.limits import Clock, overtime
from m2bridge.results.sheet import SHOWN, Sheet, visible

EXAMPLE = "Example: m2bridge closure --d 2 --d-out 1"


def refusal(error: click.ClickException, words: Sequence[str]) -> str:
    """The message for a mistake; for an unknown option with what was probably meant."""
    if isinstance(error, click.NoSuchOption) and error.ctx is not None:
        advice = _meant(error, error.ctx, words)
        if advice:
            return f"No such option '{error.option_name}'{advice}"
        return _one_dash(error, error.ctx, words) or error.format_message()
    return error.format_message()


def _meant(error: click.NoSuchOption, ctx: click.Context, words: Sequence[str]) -> str:
    """The place where the option belongs, if it is right elsewhere."""
    name, example = error.option_name, (ctx.command.epilog or EXAMPLE).removeprefix("Example: ")
    if isinstance(ctx.command, click.Group):
        return f" before a command: options follow it, as in '{example}'"
    if name in ("--map", "--ideal", "--file", "--folder", "--out") and _takes_a_path(ctx.command):
        return f": the path is given without an option, as in '{example}'"
    if name in ("--out", "--output", "-o"):
        return f": what is printed goes to a file by the shell, as in '{example} > FILE'"
    owners = _families_with(name) if any(param.name == "family" for param in ctx.command.params) else []
    if not owners:
        return ""
    if any(word.partition("=")[0] == "--map" for word in words):
        return ": a case is named by numbers or by --map FILE, and not by both"
    return f": it is an option of {' and '.join(f'--family {owner}' for owner in owners)}"


def _takes_a_path(command: click.Command) -> bool:
    return any(
        isinstance(param, click.Argument) and param.required and isinstance(param.type, click.Path)
        for param in command.params
    )


def _families_with(option: str) -> list[str]:
    """The families whose cases are named by this option, among others."""
    from m2bridge.families import families

    named = option.removeprefix("--").replace("-", "_")
    return [name for name, family in families()[0].items() if named in (own.name for own in family.options)]


def _one_dash(error: click.NoSuchOption, ctx: click.Context, words: Sequence[str]) -> str:
    """The option that was meant where one dash is missing: ``-d 2``."""
    known = {option for param in ctx.command.get_params(ctx) for option in param.opts}
    wrong = (word.partition("=")[0] for word in words if word.startswith(error.option_name))
    meant = next((f"-{word}" for word in (*wrong, error.option_name) if f"-{word}" in known), None)
    return "" if error.possibilities or meant is None else f"No such option '{meant[1:]}'. Did you mean '{meant}'?"


def usage(group: click.Group, words: Sequence[str]) -> str:
    """The usage of a command that was given alone, with an example; empty where more was given."""
    command = group.commands.get(words[0]) if len(words) == 1 else None
    if command is None:
        return ""
    context = click.Context(command, info_name=f"m2bridge {command.name}")
    lines = (command.get_usage(context), command.epilog, f"All options: m2bridge {command.name} --help")
    return "".join(f"{line}\n" for line in lines if line)


DONE, REFUTED, USAGE, UNDECIDED, NO_ENGINE, FAILED, INTERRUPTED = 0, 1, 2, 3, 4, 5, 130

WRITING = 0.3
"""Seconds for writing what was found, when the limit was reached."""


class Result(Protocol):
    """The result of a computation."""

    @property
    def unfinished(self) -> str: ...
    def to_json(self) -> dict[str, Any]: ...
    def to_text(self, most: int | None = SHOWN) -> str: ...
    def to_latex(self, most: int | None = SHOWN) -> str: ...
    def to_macaulay2(self) -> str: ...
    def to_sheet(self) -> Sheet: ...


class Decided(Protocol):
    """A result with verdicts on statements."""

    @property
    def refuted(self) -> bool: ...
    @property
    def undecided(self) -> bool: ...


def exit_code(found: Decided, exit_zero: bool = False) -> int:
    """The exit code of verdicts: REFUTED takes precedence over UNDECIDED, unless a refutation counts as an answer."""
    if found.refuted and not exit_zero:
        return REFUTED
    return UNDECIDED if found.undecided else DONE


def echo_json(text: str, end: str = "\n") -> None:
    """Print JSON; characters that the encoding lacks, or that control a terminal, are written by their numbers."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"

    def written(match: re.Match[str]) -> str:
        sign = match[0]
        plain = sign.isprintable() and sign.encode(encoding, "ignore")
        return sign if plain else json.dumps(sign)[1:-1]

    click.echo(re.sub(r"[^\x00-\x7e]", written, text) + end, nl=False)


def fitted(plain: Callable[[], str], sheet: Callable[[], Sheet], most: int | None = SHOWN) -> str:
    """The text for a person: on a terminal the sheet in its width, elsewhere the plain text."""
    if not sys.stdout.isatty():
        return plain()
    from m2bridge.results import terminal

    return terminal.written(sheet(), most, width=get_terminal_size().columns)


def written(path: Path) -> None:
    """Say on standard error where a file was written."""
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
