"""Groups of commands."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from math import inf, nan
from typing import Any, TypeVar

import click

from m2bridge.algebra.field import CoefficientField
from m2bridge.cli.families import named_case
from m2bridge.engine import Limits, Session
from m2bridge.engine.protocol import MOST_MEMORY
from m2bridge.errors import InvalidCaseError
from m2bridge.limits import Clock, alarm, clock, limited


class Commands(click.Group):
    """Commands with their whole summaries in the help, on as many lines as they take."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """One after the other."""
        named = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.get_short_help_str(1000)) for name, command in named if command])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is named; of a name that none has, the closest, or all there are."""
        name, known = args[0], self.list_commands(ctx)
        if name.startswith("-") or ctx.resilient_parsing or name in known:
            return super().resolve_command(ctx, args)
        close = get_close_matches(name, known)
        hint = f"Did you mean '{close[0]}'?" if close else f"There are: {', '.join(known)}."
        raise click.UsageError(f"No such command '{name:.60}'. {hint}", ctx)


COORDINATES = ("reduced", "full")
STRATEGIES = ("auto", "multigraded", "elimination", "ungraded-elimination")

GRACE = 0.4
"""Seconds after the limit, in which loops that look at the clock come first and show what was found."""

Command = TypeVar("Command", bound=Callable[..., Any])


class Seconds(click.ParamType[float]):
    """A finite number of seconds, more than 0; as many as you like."""

    name = "seconds"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number."""
        try:
            seconds = float(value)
        except ValueError:
            seconds = nan
        if not 0 < seconds < inf:
            self.fail(f"'{value}' is not a number of seconds greater than 0", param, ctx)
        return seconds


class Number(click.types.IntParamType):
    """An integer, where a batch would take several."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The integer."""
        if isinstance(value, str) and re.fullmatch(r"[0-9]+(\.\.|,)[0-9.,]+", value):
            self.fail(f"'{value}' is more than one number: 'm2bridge certify' takes many cases, this command one")
        return super().convert(value, param, ctx)


class NewPath(click.Path):
    """A path at which something may be written; the empty one is the current folder for others, and refused here."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path."""
        if not os.fspath(value):
            self.fail("the name is empty", param, ctx)
        return super().convert(value, param, ctx)


class MemorySize(click.ParamType[int]):
    """``4G``, ``512M`` or a number of bytes.

    Parameters
    ----------
    check : callable
        Refuses what is too little or too much with words of its own; those of the engine when left out.
    """

    name = "size"

    def __init__(self, check: Callable[[int], object] = lambda size: Limits(memory=size)) -> None:
        self._check = check

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Bytes."""
        match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?)(?:i?B)?", str(value), re.IGNORECASE)
        if match is None:
            self.fail(f"'{value}' is not an amount of memory: write 4G or 512M", param, ctx)
        wanted = float(match[1]) * 1024 ** " KMGT".index(match[2].upper() or " ")
        size = int(min(wanted, 2.0 * MOST_MEMORY))
        self._check(size)
        return size


class FieldType(click.ParamType[CoefficientField]):
    """``QQ`` or ``GF(p)``; a bad one is refused by the model with its own words."""

    name = "field"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> CoefficientField:
        """The field."""
        return value if isinstance(value, CoefficientField) else CoefficientField.parse(value)


@dataclass(frozen=True, slots=True)
class Request:
    """What every computing command is asked."""

    model: Any
    field: CoefficientField
    coordinates: Any
    timeout: float | None
    memory: int | None
    program: str | None
    form: str
    everything: bool

    def engine(self, early: bool = True) -> Session:
        """Return a session, which starts at its first run, or while Python imports what the computation needs."""
        engine = Session(self.program, Limits(memory=self.memory))
        if early:
            engine.start()
        return engine


@contextmanager
def within(timeout: float | None) -> Iterator[Clock]:
    """A command within a limit on time: the clock that loops look at, and an alarm for those that do not.

    What the program took to start counts.
    """
    with limited(timeout, begin=clock().begin or None) as running, alarm(running, GRACE):
        yield running


strategy_option = click.option(
    "--strategy", type=click.Choice(STRATEGIES), default="auto", show_default=True, help="How the ideal is found."
)

exit_zero_option = click.option(
    "--exit-zero", is_flag=True, help="Exit code 0, not 1, where something is refuted: for set -e and workflows."
)

timeout_option = click.option("--timeout", type=Seconds(), help="Seconds for the whole computation.")


all_option = click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Write all generators and all of each, not the first 12, as text or LaTeX.",
)


def case_options(command: Command) -> Command:
    """``--d --d-out --a --t --field --coordinates``."""
    return _all(
        command,
        click.option("--d", type=Number(), help="Input embedding dimension d."),
        click.option("--d-out", type=Number(), help="Output embedding dimension d'."),
        click.option("--a", type=Number(), default=None, help="Query/key dimension a; d when left out."),
        click.option("--t", type=Number(), default=2, show_default=True, help="Number of tokens."),
        click.option("--field", type=FieldType(), default="QQ", show_default=True, help="QQ or GF(p)."),
        click.option(
            "--coordinates",
            type=click.Choice(COORDINATES),
            default=None,
            help="Reduced ones are the default for t ≥ 2, and full ones for t = 1.",
        ),
    )


def run_options(command: Command) -> Command:
    """``--timeout --memory --m2 --format --json``."""
    return _all(
        command,
        timeout_option,
        click.option("--memory", type=MemorySize(), help="Address space of Macaulay2, such as 4G."),
        engine_option,
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


engine_option = click.option("--m2", "program", default=None, metavar="PATH", help="The Macaulay2 program to use.")


def request(options: dict[str, Any]) -> Request:
    """Take the shared options out of a command's options."""
    model = named_case(options)
    if model is None:
        model = _default_family(options)
    names = ("field", "coordinates", "timeout", "memory", "program", "form")
    chosen = {name: options.pop(name, None) for name in names}
    return Request(model, **chosen, everything=options.pop("everything", False))


def _default_family(options: dict[str, Any]) -> Any:
    from m2bridge.families import DEFAULT, family

    for option, meaning in (("d", "the input embedding dimension"), ("d_out", "the output embedding dimension")):
        if options[option] is None:
            raise InvalidCaseError(option, f"is missing: {meaning}; a case is named by --d 2 --d-out 1 (--a 1)")
    numbers = {name: options.pop(name) for name in ("d", "d_out", "a", "t")}
    return family(DEFAULT).build(**numbers)


def _all(command: Command, *options: Callable[[Command], Command]) -> Command:
    for option in reversed(options):
        command = option(command)
    return command
