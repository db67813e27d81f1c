"""Shared parts of commands: the group, options, limits, output of results, exit codes.

A command reads its options into a :class:`Run` or a :class:`Request`, which hold the limits of the
computation and the output format; the rest of its ``options`` are arguments of the computation.
A function that imports and returns a second one lets modules be imported within the time limit,
while Macaulay2 starts. Objects ``…_option`` and ``…_options`` are decorators that add options to a
command. A batch is many cases that one command computes; its summary counts verdicts and outcomes,
which say why a question has no answer. With ``exit_zero`` a refuted statement has the exit code 0.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
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
from m2bridge.cli import DONE, REFUTED, UNDECIDED
from m2bridge.cli.cases import Command, complete_kinds, named_case
from m2bridge.engine import Session
from m2bridge.engine.context import chosen_engine
from m2bridge.errors import TimeLimitError
from m2bridge.limits import (
    Clock,
    Limits,
    alarm,
    clock,
    importing,
    limited,
    memory_in_bytes,
    overtime,
    progress_listener,
)
from m2bridge.results import MAX_SHOWN_GENERATORS
from m2bridge.results.base import Result, VerdictsResult
from m2bridge.results.sheet import Sheet, visible

if TYPE_CHECKING:
    from m2bridge.batch.plan import Summary
    from m2bridge.families.attention.sizes import CoordinateSystem


def explicit_options(context: click.Context) -> set[str]:
    """Return the names of the options and arguments that are given on the command line."""
    source = context.get_parameter_source
    return {name for name in context.params if source(name) is ParameterSource.COMMANDLINE}


class Commands(click.Group):
    """A group whose help lists its commands in sections, by title, with a summary of each."""

    def __init__(
        self,
        *args: Any,
        sections: Mapping[str, Mapping[click.Command, str]] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.sections = sections or {}
        for command in chain(*self.sections.values()):
            self.add_command(command)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a section of the help for each group of commands."""
        sections = self.sections
        if not sections:
            named = [self.get_command(ctx, name) for name in self.list_commands(ctx)]
            # the first sentence of the help, of at most 1000 characters: untruncated
            sections = {
                "Commands": {one: one.get_short_help_str(1000) for one in named if one is not None}
            }
        for title, commands in sections.items():
            lines = [(command.name or "", summary) for command, summary in commands.items()]
            with formatter.section(title):
                formatter.write_dl(lines)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the named command; a usage error suggests the closest one, or lists all."""
        name, names = args[0], self.list_commands(ctx)
        # an option in place of a command is refused by click, and completion shows no errors
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
    """Read a number in decimal digits, not ``1_0`` or ``nan``; a very large one is infinite."""
    if not _DECIMAL.fullmatch(str(value)):
        raise click.BadParameter(f"'{value}' is not a number such as 0.5 or 1e-6")
    return float(value)


def seconds(value: str) -> float:
    """Read a finite number of seconds greater than 0."""
    if not _DECIMAL.fullmatch(str(value)) or not 0 < float(value) < inf:
        raise click.BadParameter(f"'{value}' is not a number of seconds greater than 0")
    return float(value)


def integer(value: Any) -> Any:
    """Read an integer; a list or range is refused with a hint at the command that accepts it."""
    if re.fullmatch(r"[0-9]+(\.\.|,)[0-9.,]+", str(value)):
        raise click.BadParameter(
            f"'{value}' is more than one number: this command takes one case, 'm2bridge certify'"
            " takes many"
        )
    return Integer().convert(value, param=None, ctx=None)


class Integer(click.IntRange):
    """An integer in decimal digits, within bounds; Python would accept ``1_0`` and ``٣``."""

    name = "integer"

    def _describe_range(self) -> str:
        """Return the bounds for click's help, which would show ``x<=None`` where there are none."""
        has_bounds = self.min is not None or self.max is not None
        return super()._describe_range() if has_bounds else ""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the integer in a text; a default may be an integer already."""
        if isinstance(value, str) and not _DIGITS.fullmatch(value):
            self.fail(f"'{value}' is not a valid integer.", param, ctx)
        return super().convert(value, param, ctx)


class NewPath(click.Path):
    """A path that will be written; the empty path, which click takes for a folder, is refused."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Convert a nonempty text to a path."""
        if not os.fspath(value):
            self.fail("the name is empty", param, ctx)
        return super().convert(value, param, ctx)


def memory_size(value: str) -> int:
    """Return the bytes in an amount of memory such as ``4G`` or ``512M``."""
    amount = memory_in_bytes(value)
    if amount is None:
        raise click.BadParameter(f"'{value}' is not an amount of memory: write 4G or 512M")
    return amount


def engine_memory(value: str) -> int | None:
    """Return the bytes in a limit such as ``4G`` for Macaulay2; ``Limits`` may refuse them."""
    return Limits(memory=memory_size(value)).memory


ImportedFunction = Callable[[], Callable[..., Any]]
"""Imports a function and returns it: its module is imported while Macaulay2 starts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The limits of a command, its Macaulay2 program, and the format of its result."""

    timeout: float | None = None  # seconds
    memory: int | None = None  # bytes, of Macaulay2
    program: str | None = None  # the path after --m2
    form: str = "text"  # or json, latex, m2
    everything: bool = False  # --all: text and LaTeX have all generators of an ideal

    @classmethod
    def of(cls, options: dict[str, Any], **more: Any) -> Self:
        """Take the options that are fields of this class out of ``options``."""
        names = [field.name for field in fields(cls) if field.name in options]
        return cls(**{name: options.pop(name) for name in names}, **more)

    def engine(self, *, starts_early: bool = True) -> AbstractContextManager[Session | None]:
        """Return a session with the program and limits of the command; with ``starts_early`` it
        starts while Python imports modules.

        If the command names no program or limit on memory, and Macaulay2 may not be needed or a
        session is current already, the context is ``None``: computations use the current one, or
        start one.
        """
        has_own_settings = self.program is not None or self.memory is not None
        if not has_own_settings and (not starts_early or chosen_engine() is not None):
            return nullcontext()
        engine = Session(self.program, Limits(memory=self.memory))
        if starts_early:
            engine.start()
        return engine

    def compute(
        self,
        title: str,
        import_function: ImportedFunction,
        *subject: Any,
        starts_engine_early: bool = True,
        **more: Any,
    ) -> tuple[Any, int]:
        """Compute within the limits, and print the result; return it, and the exit code.

        The imported function is called with ``subject`` and ``more``; ``title`` is for the display
        of progress. Printing may exceed the limit a little.
        """
        with (
            time_limit(timeout=self.timeout) as clock,  # ``show`` uses it after the block
            progress(title),
            self.engine(starts_early=starts_engine_early),  # computations find this session
        ):
            with importing():
                function = import_function()
            result = function(*subject, **more)
        return result, show(result, self.form, clock, self.everything)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request(Run):
    """A model with its field and coordinates (``None``: the usual ones); a :class:`Run`."""

    model: Any
    field: CoefficientField
    coordinates: CoordinateSystem | None = None

    def show(self, quantity: str, function: ImportedFunction, **more: Any) -> int:
        """Print a ``quantity`` of the model over the field; return the exit code."""
        more |= {"field": self.field, "coordinates": self.coordinates}
        title = f"{quantity} of the {self.model.title}"
        _, code = self.compute(title, function, self.model, **more)
        return code


def case_request(options: dict[str, Any]) -> Request:
    """Take the case and the shared options out of the options of a command."""
    return Request.of(options, model=named_case(options))


@contextmanager
def time_limit(*, timeout: float | None) -> Iterator[Clock]:
    """Limit the time of a command, by the deadline that loops check and by an alarm for other code.

    The alarm comes some time after the deadline, so that loops can return what they have found. The
    limit counts from the start of the program, or from now where no command was begun.
    """
    begin = clock().begin or None  # 0 where no command was begun
    # loops that check the deadline have 0.4 seconds to return what they have found
    with limited(timeout, begin=begin) as running, alarm(running, 0.4):
        running.check()
        yield running


def stack_options(*options: Callable[[Any], Any]) -> Callable[[Command], Command]:
    """Return a decorator that adds options to a command, in the order of its help."""

    def add(command: Command) -> Command:
        # click shows the option that was added last first, as of decorators in several lines
        for option in reversed(options):
            command = option(command)
        return command

    return add


def method_option(methods: tuple[str, ...]) -> Callable[[Command], Command]:
    """Return the option ``--method`` with these choices; ``auto``, which is one, is the default."""
    return click.option(
        "--method",
        type=click.Choice(methods),
        default="auto",
        show_default=True,
        help="The method of computation.",
    )


strategy_option = click.option(
    "--strategy",
    type=click.Choice(STRATEGIES),
    default="auto",
    show_default=True,
    help="How the ideal is computed.",
)

max_degree_option = click.option(
    "--max-degree",
    type=Integer(),
    default=None,
    help="Compute all generators up to this degree, without elimination.",
)

exit_zero_option = click.option(
    "--exit-zero",
    is_flag=True,
    help="Exit with code 0 instead of 1 if a statement is refuted, for set -e and workflows.",
)


def _begin_limit(ctx: click.Context, param: click.Parameter, value: float | None) -> float | None:
    """Begin the time limit, before modules are loaded; it ends with the command."""
    # The root context is always closed; the command's own is not if another option is
    # refused.
    ctx.find_root().with_resource(limited(value, begin=clock().begin or None))
    return value


timeout_option = click.option(
    "--timeout", type=seconds, callback=_begin_limit, help="Time limit for the whole computation."
)

memory_option = click.option(
    "--memory",
    type=engine_memory,
    metavar="SIZE",
    help="Limit on the address space of Macaulay2, such as 4G; in a batch also of each worker.",
)

engine_option = click.option(
    "--m2", "program", default=None, metavar="PATH", help="The Macaulay2 program to use."
)


def _named_field(text: str) -> CoefficientField:
    """Return the field after ``--field``; ``singular-locus`` takes GF(9) and QQ(a), too."""
    context = click.get_current_context(silent=True)
    if text == "QQ" or context is None or context.info_name != "singular-locus":
        return CoefficientField.parse(text)
    from m2bridge.convert.fields import parse_field  # imports SymPy

    return parse_field(text)


field_option = click.option(
    "--field",
    type=_named_field,
    metavar="FIELD",
    default="QQ",
    show_default=True,
    help="The field of coefficients, QQ or GF(p).",
)

all_option = click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Write all generators in full, not the first 12 shortened (text and LaTeX).",
)


def file_argument(**kind: Any) -> Callable[[Command], Command]:
    """Return the argument ``FILE``, an existing file; ``kind`` has more options of click's path."""
    return click.argument(
        "file", type=click.Path(exists=True, dir_okay=False, path_type=Path, **kind)
    )


layer_options = stack_options(
    click.option("--d", type=integer, help="Input embedding dimension d."),
    click.option("--d-out", type=integer, help="Output embedding dimension d'."),
    click.option("--a", type=integer, default=None, help="Query/key dimension a [default: d]."),
    click.option("--t", type=integer, default=2, show_default=True, help="Number of tokens."),
)
"""``--d --d-out --a --t``."""

case_options = stack_options(
    layer_options,
    field_option,
    click.option(
        "--coordinates",
        type=click.Choice(COORDINATES),
        default=None,
        help="Coordinates of functions [default: reduced for t ≥ 2, full for t = 1].",
    ),
)
"""``--d --d-out --a --t --field --coordinates``."""

form_options = stack_options(
    click.option(
        "--format",
        "form",
        type=click.Choice(["text", "json", "latex", "m2"]),
        default="text",
        show_default=True,
        help="The output format.",
    ),
    click.option("--json", "form", flag_value="json", help="Short for --format json."),
)
"""``--format --json``."""

run_options = stack_options(timeout_option, memory_option, engine_option, form_options)
"""``--timeout --memory --m2 --format --json``."""

batch_options = stack_options(
    click.option(
        "--workers",
        type=Integer(min=1),
        help="Number of worker processes [default: one for each core].",
    ),
    memory_option,
    click.option(
        "--retry",
        default="",
        shell_complete=complete_kinds,
        help="Kinds of outcomes to try again: timed-out,out-of-memory,failed,died,refused.",
    ),
    engine_option,
)
"""``--workers --memory --retry --m2``."""


def exit_code(result: VerdictsResult | Summary, exit_zero: bool = False) -> int:
    """Return the exit code for verdicts: a refuted one counts more than an undecided one."""
    if result.refuted and not exit_zero:
        return REFUTED
    if result.undecided:
        return UNDECIDED
    return DONE


def finished(result: Result) -> int:
    """Return the exit code for a result without verdicts, of which a part may be unfinished."""
    return UNDECIDED if result.unfinished else DONE


def show_batch(summary: Summary, as_json: bool, quiet: bool, exit_zero: bool = False) -> int:
    """Print the summary of a batch as JSON, as text, or not at all; return its exit code."""
    if as_json:
        echo_json(json.dumps(summary.to_json()))
    elif not quiet:
        click.echo(summary.to_text())
    return exit_code(summary, exit_zero)


@contextmanager
def progress(title: str) -> Iterator[None]:
    """Show the computation, the elapsed time and the steps that it counts on a terminal."""
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
    # transient: when the result is printed, nothing of the display is left above it
    with Progress(spinner, text, elapsed, console=console, transient=True) as display:
        task = display.add_task(visible(title), total=None, steps="")

        def show_count(done: int, total: int, steps: str) -> None:
            """Show a bar, and that ``done`` of ``total`` steps are done; ``steps`` names them."""
            display.columns = (spinner, text, BarColumn(), count, elapsed)
            display.update(task, completed=done, total=total, steps=steps)

        with progress_listener(show_count):
            yield


def echo_json(text: str, end: str = "\n") -> None:
    """Print a JSON text; escape what the encoding lacks, or what controls a terminal."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"

    def escape(match: re.Match[str]) -> str:
        character = match[0]
        # encoded, a character that the encoding lacks is empty
        if character.isprintable() and character.encode(encoding, "ignore"):
            return character
        return json.dumps(character)[1:-1]  # without the quotation marks

    click.echo(re.sub(r"[^\x00-\x7e]", escape, text) + end, nl=False)


def fitted(sheet: Sheet, most: int | None = MAX_SHOWN_GENERATORS, plain: str | None = None) -> str:
    """Return a sheet in the width of the terminal, or where there is none as ``plain`` text."""
    if not sys.stdout.isatty():
        return sheet.text(most) if plain is None else plain
    from m2bridge.results import terminal

    return terminal.terminal_text(sheet, most, width=get_terminal_size().columns)


def report_file_written(path: Path) -> None:
    """Print the path of a written file on standard error."""
    click.echo(f"Written: {visible(str(path))}", err=True)


def show(result: Result, form: str, clock: Clock, everything: bool = False) -> int:
    """Print a result within the remaining time and a short grace; return the exit code.

    Text and LaTeX have the first generators of each ideal, or with ``everything`` all; other
    formats always have all. TimeLimitError is raised if the grace is too short.
    """
    most = None if everything else MAX_SHOWN_GENERATORS
    writers: dict[str, Callable[[], str]] = {
        "text": lambda: fitted(result.to_sheet(), most),
        "latex": lambda: result.to_latex(most),
        "m2": result.to_macaulay2,
        "json": lambda: json.dumps(result.to_json(), ensure_ascii=False),
    }
    try:
        # what was computed within the limit is worth a moment of writing
        with overtime(clock, 0.3):
            text = writers[form]()
    except TimeLimitError:
        raise clock.late(f"writing the result as {form}") from None
    if form == "json":
        echo_json(text)
    else:
        click.echo(text)
    for listener in listeners:  # in a worker of mcp, which shows the text to people
        listener(result.to_text())
    return finished(result)


listeners: list[Callable[[str], object]] = []
"""Functions that receive the text of each result, in any format; a worker of ``mcp`` adds one."""
