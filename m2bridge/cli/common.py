"""What commands share: their group, options and what these ask for together, results, exit codes.

A command reads its options into a :class:`Run` or a :class:`Request`, which says within which
limits a function is called and in which form its result is printed.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, fields
from difflib import get_close_matches
from itertools import chain
from math import inf
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any, Self

import click
from click.core import ParameterSource

from m2bridge.algebra.field import CoefficientField
from m2bridge.cli import DONE, GRACE, REFUTED, UNDECIDED, WRITING
from m2bridge.cli.cases import Command, complete_kinds, named_case
from m2bridge.engine import Session
from m2bridge.engine.context import chosen
from m2bridge.errors import InvalidCaseError, TimeLimitError
from m2bridge.limits import (
    MOST_MEMORY,
    Clock,
    Limits,
    alarm,
    clock,
    limited,
    overtime,
    progress_listener,
)
from m2bridge.loading import importing
from m2bridge.results import SHOWN
from m2bridge.results.base import Result, VerdictsResult
from m2bridge.results.sheet import Sheet, visible

if TYPE_CHECKING:
    from m2bridge.batch.plan import Summary


def explicit_options(context: click.Context) -> set[str]:
    """The options and arguments that stand on the command line."""
    source = context.get_parameter_source
    return {name for name in context.params if source(name) is ParameterSource.COMMANDLINE}


class Commands(click.Group):
    """Commands with their whole summaries in the help, in sections.

    Parameters
    ----------
    sections : dict of str to sequence of click.Command
        The commands by what they are for; a group without sections lists its commands by name.
    """

    def __init__(
        self,
        *args: Any,
        sections: Mapping[str, Sequence[click.Command]] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.sections = sections or {}
        for command in chain(*self.sections.values()):
            self.add_command(command)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the section of each purpose."""
        sections = self.sections
        if not sections:
            named = [self.get_command(ctx, name) for name in self.list_commands(ctx)]
            sections = {"Commands": list(filter(None, named))}
        for title, commands in sections.items():
            lines = [(one.name or "", one.get_short_help_str(1000)) for one in commands]
            with formatter.section(title):
                formatter.write_dl(lines)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is named.

        Raises
        ------
        click.UsageError
            If there is none of this name; it suggests the closest one, or lists all.
        """
        name, names = args[0], self.list_commands(ctx)
        if name.startswith("-") or ctx.resilient_parsing or name in names:
            return super().resolve_command(ctx, args)
        hint = f"There are: {', '.join(names)}."
        close = get_close_matches(name, names)
        if close:
            hint = f"Did you mean '{close[0]}'?"
        raise click.UsageError(f"No such command '{name:.60}'. {hint}", ctx)


COORDINATES = ("reduced", "full")
STRATEGIES = ("auto", "multigraded", "lattice", "elimination", "ungraded-elimination")

_DIGITS = re.compile(r"[+-]?[0-9]+")
_DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def decimal(value: str) -> float:
    """Return a number in decimal digits; Python takes ``1_0`` and digits of other scripts."""
    if not _DECIMAL.fullmatch(str(value)):
        raise click.BadParameter(f"'{value}' is not a number such as 0.5 or 1e-6")
    return float(value)


def seconds(value: str) -> float:
    """Return a finite number of seconds, greater than 0."""
    if not _DECIMAL.fullmatch(str(value)) or not 0 < float(value) < inf:
        raise click.BadParameter(f"'{value}' is not a number of seconds greater than 0")
    return float(value)


def integer(value: Any) -> Any:
    """Return an integer, where a batch would take several."""
    if re.fullmatch(r"[0-9]+(\.\.|,)[0-9.,]+", str(value)):
        raise click.BadParameter(
            f"'{value}' is more than one number: 'm2bridge certify' takes many cases, this"
            " command one"
        )
    return Integer().convert(value, None, None)


class Integer(click.IntRange):
    """An integer in decimal digits, perhaps within bounds; Python takes ``1_0`` and ``٣`` too."""

    name = "integer"

    def _describe_range(self) -> str:
        """The bounds in the help of an option; click writes ``x<=None`` where there are none."""
        if self.min is None and self.max is None:
            return ""
        return super()._describe_range()

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Convert to an integer."""
        if isinstance(value, str) and not _DIGITS.fullmatch(value):
            self.fail(f"'{value}' is not a valid integer.", param, ctx)
        return super().convert(value, param, ctx)


class NewPath(click.Path):
    """A path at which something may be written; the empty one, elsewhere a folder, is refused."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Convert to a path."""
        if not os.fspath(value):
            self.fail("the name is empty", param, ctx)
        return super().convert(value, param, ctx)


def memory_size(value: str) -> int:
    """Read ``4G``, ``512M`` or a number of bytes."""
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?)(?:i?B)?", value, re.IGNORECASE)
    if match is None:
        raise click.BadParameter(f"'{value}' is not an amount of memory: write 4G or 512M")
    amount = float(match[1]) * 1024 ** " KMGT".index(match[2].upper() or " ")
    return int(min(amount, 2.0 * MOST_MEMORY))


def engine_memory(value: str) -> int | None:
    """Read an amount of memory that Macaulay2 can have as its limit."""
    return Limits(memory=memory_size(value)).memory


ImportedFunction = Callable[[], Callable[..., Any]]
"""Imports a function and returns it: its module is imported while Macaulay2 starts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The limits of a command, its Macaulay2, and the form of its result."""

    timeout: float | None = None
    memory: int | None = None
    program: str | None = None
    form: str = "text"
    everything: bool = False

    @classmethod
    def of(cls, options: dict[str, Any], **more: Any) -> Self:
        """The values among the options of a command, which are taken out of them."""
        names = [field.name for field in fields(cls) if field.name in options]
        return cls(**{name: options.pop(name) for name in names}, **more)

    def engine(self, *, early: bool = True) -> AbstractContextManager[Session | None]:
        """A session, which starts while Python imports modules, or later: at its first run.

        None where Macaulay2 may not be needed, or one was chosen before, and nothing is said of it:
        what needs it takes that one, or that of the process.
        """
        own = self.program is not None or self.memory is not None
        if not own and (not early or chosen() is not None):
            return nullcontext()
        engine = Session(self.program, Limits(memory=self.memory))
        if early:
            engine.start()
        return engine

    def compute(
        self, what: str, function: ImportedFunction, *subject: Any, early: bool = True, **more: Any
    ) -> tuple[Any, int]:
        """Show the result of a function, which is imported while Macaulay2 starts."""
        with within(timeout=self.timeout) as running, progress(what), self.engine(early=early):
            with importing():
                compute = function()
            result = compute(*subject, **more)
        return result, show(result, self.form, running, self.everything)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request(Run):
    """A model over a field, and how it is computed with."""

    model: Any
    field: CoefficientField
    coordinates: Any = None

    def show(self, what: str, function: ImportedFunction, **more: Any) -> int:
        """Show what a function computes of the model over the field; return the exit code."""
        more |= {"field": self.field, "coordinates": self.coordinates}
        return self.compute(f"{what} of the {self.model.title}", function, self.model, **more)[1]


def case_request(options: dict[str, Any]) -> Request:
    """The case that the options of a command name; the shared options are taken out of them."""
    return Request.of(options, model=named_case(options))


@contextmanager
def within(*, timeout: float | None) -> Iterator[Clock]:
    """Limit the time of a command by the clock that loops look at, and an alarm for other loops.

    The time that the program took to start counts.
    """
    with limited(timeout, begin=clock().begin or None) as running, alarm(running, GRACE):
        running.check()
        yield running


def together(*options: Callable[[Any], Any]) -> Callable[[Command], Command]:
    """Return what adds options to a command, which its help lists in this order."""

    def add(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return add


strategy_option = click.option(
    "--strategy",
    type=click.Choice(STRATEGIES),
    default="auto",
    show_default=True,
    help="How the ideal is found.",
)

max_degree_option = click.option(
    "--max-degree",
    type=Integer(),
    default=None,
    help="All generators up to this degree, without elimination.",
)

exit_zero_option = click.option(
    "--exit-zero",
    is_flag=True,
    help="Exit code 0, not 1, where something is refuted: for set -e and workflows.",
)


def _begin_limit(ctx: click.Context, param: click.Parameter, value: float | None) -> float | None:
    """Let the limit hold until the command ends: before the computation modules are loaded."""
    # The root is closed whatever happens; the command's own context is not, if another option is
    # refused.
    ctx.find_root().with_resource(limited(value, begin=clock().begin or None))
    return value


timeout_option = click.option(
    "--timeout", type=seconds, callback=_begin_limit, help="Seconds for the whole computation."
)

memory_option = click.option(
    "--memory",
    type=engine_memory,
    metavar="SIZE",
    help="Address space of Macaulay2, and in a batch of its worker, such as 4G.",
)

engine_option = click.option(
    "--m2", "program", default=None, metavar="PATH", help="The Macaulay2 program to use."
)

field_option = click.option(
    "--field",
    type=CoefficientField.parse,
    metavar="FIELD",
    default="QQ",
    show_default=True,
    help="QQ or GF(p).",
)

all_option = click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Write all generators and all of each, not the first 12, as text or LaTeX.",
)


def file_argument(**kind: Any) -> Callable[[Command], Command]:
    """``FILE``, which has to exist."""
    return click.argument(
        "file", type=click.Path(exists=True, dir_okay=False, path_type=Path, **kind)
    )


case_options = together(
    click.option("--d", type=integer, help="Input embedding dimension d."),
    click.option("--d-out", type=integer, help="Output embedding dimension d'."),
    click.option("--a", type=integer, default=None, help="Query/key dimension a; d when left out."),
    click.option("--t", type=integer, default=2, show_default=True, help="Number of tokens."),
    field_option,
    click.option(
        "--coordinates",
        type=click.Choice(COORDINATES),
        default=None,
        help="Reduced ones are the default for t ≥ 2, and full ones for t = 1.",
    ),
)
"""``--d --d-out --a --t --field --coordinates``."""

form_options = together(
    click.option(
        "--format",
        "form",
        type=click.Choice(["text", "json", "latex", "m2"]),
        default="text",
        show_default=True,
        help="How the result is written.",
    ),
    click.option("--json", "form", flag_value="json", help="The same as --format json."),
)
"""``--format --json``."""

run_options = together(timeout_option, memory_option, engine_option, form_options)
"""``--timeout --memory --m2 --format --json``."""

batch_options = together(
    click.option(
        "--workers", type=Integer(min=1), help="Worker processes; one for each core when left out."
    ),
    memory_option,
    click.option(
        "--retry",
        default="",
        shell_complete=complete_kinds,
        help="Outcomes to try again: timed-out,out-of-memory,failed,died,refused.",
    ),
    engine_option,
)
"""``--workers --memory --retry --m2``."""


def results_folder(path: Path) -> Path:
    """The folder of results, which is made if it is not there.

    Raises
    ------
    InvalidCaseError
        If there cannot be a folder of this name.
    """
    from m2bridge.batch.store import NO_ROOM

    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as reason:
        if reason.errno in NO_ROOM:
            raise
        raise InvalidCaseError(
            "out", f"'{path}' cannot be made a folder: {reason.strerror}"
        ) from None
    return path.absolute()


def outcome_kinds(text: str) -> frozenset[Any]:
    """The kinds of outcomes of ``--retry``.

    Raises
    ------
    InvalidCaseError
        If there is none of a name.
    """
    from m2bridge.batch.store import KINDS

    kinds = frozenset(part.strip() for part in text.split(",") if part.strip())
    unknown = sorted(kinds - set(KINDS))
    if unknown:
        raise InvalidCaseError("retry", f"unknown kind '{unknown[0]}': use {', '.join(KINDS)}")
    return kinds


def exit_code(result: VerdictsResult | Summary, exit_zero: bool = False) -> int:
    """The exit code of verdicts; with ``exit_zero`` a refutation counts as an answer."""
    if result.refuted and not exit_zero:
        return REFUTED
    if result.undecided:
        return UNDECIDED
    return DONE


def finished(result: Result) -> int:
    """The exit code of a result without verdicts."""
    if result.unfinished:
        return UNDECIDED
    return DONE


def show_batch(summary: Summary, as_json: bool, quiet: bool, exit_zero: bool = False) -> int:
    """Print how a batch went, and return its exit code."""
    if as_json:
        echo_json(json.dumps(summary.to_json()))
    elif not quiet:
        click.echo(summary.to_text())
    return exit_code(summary, exit_zero)


def echo_json(text: str, end: str = "\n") -> None:
    """Print JSON, with numbers for what the encoding lacks or what would control a terminal."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"

    def written(match: re.Match[str]) -> str:
        sign = match[0]
        if sign.isprintable() and sign.encode(encoding, "ignore"):
            return sign
        return json.dumps(sign)[1:-1]

    click.echo(re.sub(r"[^\x00-\x7e]", written, text) + end, nl=False)


def fitted(sheet: Sheet, most: int | None = SHOWN, plain: str | None = None) -> str:
    """The sheet in the width of the terminal; where there is none its text, or the plain one."""
    if not sys.stdout.isatty():
        if plain is None:
            return sheet.text(most)
        return plain
    from m2bridge.results import terminal

    return terminal.written(sheet, most, width=get_terminal_size().columns)


def written(path: Path) -> None:
    """Say on standard error where a file was written."""
    click.echo(f"Written: {path}", err=True)


def show(result: Result, form: str, clock: Clock, everything: bool = False) -> int:
    """Print a result in the time that is left and a moment more; return the exit code.

    Of each ideal text and LaTeX have the first generators, or everything; other forms have
    everything anyway.
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
    for listener in listeners:
        listener(result.to_text())
    return finished(result)


listeners: list[Callable[[str], object]] = []
"""Who gets the text of each result, in whichever form it is printed: the worker of ``mcp``."""


@contextmanager
def progress(what: str) -> Iterator[None]:
    """Show what is being computed and the elapsed time until the block ends, then remove it.

    Where the computation counts its steps, a bar shows them too. On a terminal only.
    """
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    spinner = SpinnerColumn()
    text = TextColumn("{task.description}", markup=False)
    elapsed = TimeElapsedColumn()
    count = TextColumn("{task.completed} of {task.total} {task.fields[steps]}", markup=False)
    console = Console(stderr=True)
    with Progress(spinner, text, elapsed, console=console, transient=True) as display:
        task = display.add_task(visible(what), total=None, steps="")

        def show_count(done: int, total: int, steps: str) -> None:
            display.columns = (spinner, text, BarColumn(), count, elapsed)
            display.update(task, completed=done, total=total, steps=steps)

        with progress_listener(show_count):
            yield
