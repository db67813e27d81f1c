"""Commands about an ideal in a file, instead of a case of a family."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from m2bridge.cli.options import within
from m2bridge.cli.output import show
from m2bridge.cli.progress import progress
from m2bridge.engine import Limits, Macaulay2
from m2bridge.errors import ConversionError
from m2bridge.layout import printable
from m2bridge.startup import importing

if TYPE_CHECKING:
    from m2bridge.algebra.field import CoefficientField
    from m2bridge.algebra.ring import Ideal

Command = TypeVar("Command", bound=Callable[..., Any])

ALLOWED = frozenset({"ideal_file", "field", "timeout", "memory", "program", "form", "everything"})
"""Options that have a meaning for an ideal."""


def ideal_option(command: Command) -> Command:
    """``--ideal FILE``."""
    path = click.Path(exists=True, dir_okay=False, path_type=Path)
    help_ideal = (
        'Of the variety of the ideal in a TOML file: [ideal], variables = ["x", "y"], generators = ["x^2 - y^3"].'
    )
    return click.option("--ideal", "ideal_file", type=path, help=help_ideal)(command)


def singular_locus_of_ideal(
    ideal_file: Path,
    program: str | None,
    timeout: float | None,
    memory: int | None,
    form: str,
    everything: bool,
    **options: Any,
) -> int:
    """Compute and show the singular locus of the variety of an ideal in a file."""
    given = _given()
    if foreign := sorted(given - ALLOWED):
        raise click.UsageError(f"--ideal and {_written(foreign[0])} exclude each other")
    with within(timeout) as clock, Macaulay2(program, Limits(memory=memory)) as engine:
        engine.start()
        with importing():
            from m2bridge.ideals.singular_locus import singular_locus

        ideal, title = _read(ideal_file, options["field"] if "field" in given else None)
        with progress(f"singular locus of {title or printable(ideal_file.name)}"):
            found = singular_locus(ideal, engine, title=title)
    return show(found, form, clock, everything)


def _given() -> set[str]:
    """The parameters that stand on the command line."""
    context = click.get_current_context()
    return {name for name in context.params if context.get_parameter_source(name) == ParameterSource.COMMANDLINE}


def _written(name: str) -> str:
    """A parameter as it stands on the command line."""
    context = click.get_current_context()
    parameter = next(parameter for parameter in context.command.get_params(context) if parameter.name == name)
    return parameter.get_error_hint(context).strip("'")


def _read(file: Path, field: CoefficientField | None) -> tuple[Ideal, str]:
    from m2bridge.convert.documents import read_text
    from m2bridge.ideals.file import read_ideal_file

    try:
        return read_ideal_file(read_text(file), field)
    except ConversionError as reason:
        raise click.UsageError(f"{file}: {reason}") from None
