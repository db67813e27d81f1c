"""Commands about an ideal in a file, instead of a case of a family."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from m2bridge.cli.families import FamilyCommand, family_options, map_options, tool
from m2bridge.cli.options import (
    FieldType,
    MemorySize,
    all_option,
    case_options,
    engine_option,
    request,
    run_options,
    strategy_option,
    timeout_option,
    within,
)
from m2bridge.cli.output import DONE, echo_json, progress, show
from m2bridge.convert.documents import read_bytes, read_open
from m2bridge.engine import Limits, Session
from m2bridge.engine.conversation import quoted
from m2bridge.errors import ConversionError, EngineError, InvalidCaseError, ScriptError
from m2bridge.results.sheet import printable
from m2bridge.system import importing
from m2bridge.workspace.macaulay2 import Macaulay2

if TYPE_CHECKING:
    from m2bridge.algebra.field import CoefficientField
    from m2bridge.algebra.polynomial_map import PolynomialMap
    from m2bridge.ideals.ideal import Ideal


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
    with within(timeout) as clock, Session(program, Limits(memory=memory)) as engine:
        engine.start()
        with importing():
            from m2bridge.ideals.singular_locus import singular_locus

        ideal, title = _read_ideal(ideal_file, options["field"] if "field" in given else None)
        with progress(f"singular locus of {title or printable(ideal_file.name)}"):
            found = singular_locus(ideal, engine=engine, title=title)
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


def _read_ideal(file: Path, field: CoefficientField | None) -> tuple[Ideal, str]:
    from m2bridge.convert.documents import read_text
    from m2bridge.ideals.construct import read_ideal_file

    try:
        return read_ideal_file(read_text(file), field=field)
    except ConversionError as reason:
        raise click.UsageError(f"{file}: {reason}") from None


@click.command("implicitize", epilog="Example: m2bridge implicitize examples/twisted_cubic.toml")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--field", type=FieldType(), default="QQ", show_default=True, help="QQ or GF(p).")
@strategy_option
@click.option("--max-degree", type=int, default=None, help="All generators up to this degree, without elimination.")
@all_option
@run_options
def implicitize_command(
    file: Path,
    program: str | None,
    timeout: float | None,
    memory: int | None,
    form: str,
    everything: bool,
    **options: Any,
) -> int:
    """Closure of the image of the polynomial map in FILE: ideal, dimension, degree, fibres, base locus.

    FILE is TOML: a table [map] with parameters = ["s", "t"] (and relations = ["…"]), and a table [coordinates] with
    lines such as x = "3/7*s^2*t - (s + t)^3". The source is the set of points where all relations vanish.
    """
    with within(timeout) as clock:
        with importing():
            from m2bridge.maps.image import image

        polynomial_map, title = _read(file)
        with (
            Session(program, Limits(memory=memory)) as engine,
            progress(f"image of {title or printable(file.name)}"),
        ):
            try:
                found = image(polynomial_map, engine, title=title, **options)
            except InvalidCaseError as reason:
                if reason.option != "relations":  # that one is no option, but a part of the file
                    raise
                raise click.UsageError(f"{file}: [map] {reason}") from None
    return show(found, form, clock, everything)


def _read(file: Path) -> tuple[PolynomialMap, str]:
    from m2bridge.convert.documents import read_text
    from m2bridge.convert.files import read_map

    try:
        return read_map(read_text(file))
    except ConversionError as reason:
        raise click.UsageError(f"{file}: {reason}") from None


MOST_BYTES = 100_000_000
"""Of code; Macaulay2 reads it all before the first statement runs."""


@click.command("run", epilog="Example: m2bridge run code.m2 --json --timeout 60")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path))
@click.option("--packages", default="", metavar="A,B,…", help="Packages to load besides those that M2 loads by itself.")
@timeout_option
@click.option("--memory", type=MemorySize(), help="Address space of Macaulay2, such as 4G.")
@engine_option
@click.option("--json", "as_json", is_flag=True, help="One JSON object: value, text, output, seconds.")
def run_command(
    file: Path, packages: str, timeout: float | None, memory: int | None, program: str | None, as_json: bool
) -> int:
    """Run the Macaulay2 code in FILE (- for standard input): what it prints, and the value of its last statement.

    The value is written as Macaulay2 writes it; nothing if the statement ends with a semicolon. With --json it is in
    m2bridge's wire format besides, exact and with its rings. An error in the code says file, line and column.
    """
    name = "standard input" if str(file) == "-" else str(file)
    with (
        within(timeout),
        Macaulay2(program, Limits(memory=memory)) as m2,
        m2.workspace(packages.replace(",", " ").split()) as work,
    ):
        code = _code(file, name)
        if str(file) != "-":  # what the file loads may stand beside it
            work.run(f"path = prepend({quoted(f'{file.resolve().parent}/')}, path);")
        try:
            shown = work.show(code, file=name)
        except EngineError as error:
            if not as_json:
                _print(error.output)
            if isinstance(error, ScriptError) and error.line is not None:
                error.message = f"{name}:{error.line}:{error.column}: {error.error}\n{error.excerpt}"
            raise
    if as_json:
        data = {"value": shown.wire, "text": shown.text, "output": shown.output, "seconds": round(shown.seconds, 6)}
        echo_json(json.dumps(data, ensure_ascii=False))
    else:
        _print(shown.output)
        _print(shown.text)
    return DONE


def _code(file: Path, name: str) -> str:
    """The code, whatever its bytes."""
    try:
        data = read_open(0, MOST_BYTES) if str(file) == "-" else read_bytes(file, MOST_BYTES)
    except ConversionError as reason:
        raise click.UsageError(f"{name}: {reason}") from None
    return data.decode("utf-8-sig", errors="surrogateescape")


def _print(text: str) -> None:
    if text:
        click.echo(text, nl=not text.endswith("\n"))


# Copies of what functions accept whose modules need SymPy, which takes long to import; a test holds them together.
DIMENSION_METHODS = ("auto", "elimination", "jacobian", "formula", "all")
LOCUS_METHODS = ("auto", "fibres", "orbits", "jacobian", "all")
SCRIPTS = ("orbits", "jacobian")
WEIGHTS = ("attention", "factored")


@click.command("dimension", cls=FamilyCommand, epilog="Example: m2bridge dimension --d 3 --d-out 2 --a 2")
@case_options
@family_options
@map_options
@click.option("--method", type=click.Choice(DIMENSION_METHODS), default="auto", show_default=True, help="How.")
@run_options
def dimension_command(method: Any, **options: Any) -> int:
    """Dimension of the Zariski closure, by up to three methods."""
    asked = request(options)
    with (
        within(asked.timeout) as clock,
        asked.engine(early=method in ("elimination", "all")) as engine,
        progress(f"dimension of the {asked.model.title}"),
    ):
        with importing():
            from m2bridge.maps.dimension import dimension

        found = dimension(asked.model, engine, asked.field, coordinates=asked.coordinates, method=method)
    return show(found, asked.form, clock)


@click.command("closure", cls=FamilyCommand, epilog="Example: m2bridge closure --d 2 --d-out 2")
@case_options
@family_options
@map_options
@strategy_option
@click.option("--max-degree", type=int, default=None, help="All generators up to this degree, without elimination.")
@click.option(
    "--weights", type=click.Choice(WEIGHTS), default="attention", show_default=True, help="(A, V) or (Q, K, V)."
)
@all_option
@run_options
def closure_command(strategy: Any, max_degree: int | None, weights: Any = None, **options: Any) -> int:
    """Ideal, dimension, degree and Hilbert series of the Zariski closure."""
    asked = request(options)
    with (
        within(asked.timeout) as clock,
        asked.engine(early=strategy != "multigraded" and max_degree is None) as engine,
        progress(f"Zariski closure of the {asked.model.title}"),
    ):
        with importing():
            from m2bridge.maps.closure import closure

        found = closure(
            asked.model,
            engine,
            asked.field,
            coordinates=asked.coordinates,
            weights=weights,
            strategy=strategy,
            max_degree=max_degree,
        )
    return show(found, asked.form, clock, asked.everything)


@click.command("singular-locus", cls=FamilyCommand, epilog="Example: m2bridge singular-locus --d 2 --d-out 1")
@case_options
@family_options
@map_options
@click.option("--method", type=click.Choice(LOCUS_METHODS), default="auto", show_default=True, help="How.")
@click.option("--ideals", is_flag=True, help="Compute the ideals of the components too.")
@ideal_option
@all_option
@run_options
def singular_locus_command(method: Any, ideals: bool, ideal_file: Path | None, **options: Any) -> int:
    """Singular locus of the Zariski closure, orbit by orbit and by components; with --ideal, of any variety."""
    if ideal_file is not None:
        return singular_locus_of_ideal(ideal_file, **options)
    asked = request(options)
    with (
        within(asked.timeout) as clock,
        asked.engine() as engine,
        progress(f"singular locus of the {asked.model.title}"),
    ):
        with importing():
            from m2bridge.maps.singular_locus import singular_locus

        found = singular_locus(
            asked.model, engine, asked.field, coordinates=asked.coordinates, method=method, ideals=ideals
        )
    return show(found, asked.form, clock, asked.everything)


@click.command("script", epilog="Example: m2bridge script closure --d 3 --d-out 1")
@click.argument("computation", type=click.Choice(["closure", "dimension", "singular-locus", "fibres"]))
@case_options
@click.option("--method", type=click.Choice(SCRIPTS), default="orbits", show_default=True, help="Of singular-locus.")
@timeout_option
def script_command(computation: str, method: str, **options: Any) -> int:
    """Print the complete Macaulay2 program of a computation; it runs with M2 --script."""
    asked = request(options)
    with within(asked.timeout):
        with importing():
            standalone = tool("standalone")
        text = standalone(computation, asked.model, field=asked.field, coordinates=asked.coordinates, method=method)
    click.echo(text, nl=False)
    return DONE


COMMANDS = (dimension_command, closure_command, singular_locus_command, script_command)
