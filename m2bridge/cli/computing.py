"""Commands that compute: dimensions, closures, singular loci, and images of maps in files."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from m2bridge.cli.families import Command, FamilyCommand, family_options, map_options, read_file
from m2bridge.cli.options import (
    Run,
    all_option,
    case_options,
    case_request,
    field_option,
    file_argument,
    max_degree_option,
    run_options,
    strategy_option,
    within,
)
from m2bridge.cli.output import progress, show
from m2bridge.errors import InvalidCaseError
from m2bridge.results.sheet import printable
from m2bridge.system import importing

# Copies of the choices of functions in modules that need SymPy, which is slow to import; a test compares them.
DIMENSION_METHODS = ("auto", "elimination", "jacobian", "formula", "all")
LOCUS_METHODS = ("auto", "fibres", "orbits", "jacobian", "all")
WEIGHTS = ("attention", "factored")


def method_option(methods: tuple[str, ...]) -> Callable[[Command], Command]:
    """``--method``, one of these."""
    return click.option("--method", type=click.Choice(methods), default="auto", show_default=True, help="How.")


@click.command("dimension", cls=FamilyCommand, epilog="Example: m2bridge dimension --d 3 --d-out 2 --a 2")
@case_options
@family_options
@map_options
@method_option(DIMENSION_METHODS)
@run_options
def dimension_command(method: Any, **options: Any) -> int:
    """Dimension of the Zariski closure, by up to three methods."""
    request = case_request(options)
    eliminates = method in ("elimination", "all")
    with request.computing(f"dimension of the {request.model.title}", early=eliminates) as (clock, engine):
        with importing():
            from m2bridge.maps.dimension import dimension

        result = dimension(
            request.model, engine=engine, field=request.field, coordinates=request.coordinates, method=method
        )
    return show(result, request.form, clock)


@click.command("closure", cls=FamilyCommand, epilog="Example: m2bridge closure --d 2 --d-out 2")
@case_options
@family_options
@map_options
@strategy_option
@max_degree_option
@click.option(
    "--weights", type=click.Choice(WEIGHTS), default="attention", show_default=True, help="(A, V) or (Q, K, V)."
)
@all_option
@run_options
def closure_command(strategy: Any, max_degree: int | None, weights: Any = None, **options: Any) -> int:
    """Ideal, dimension, degree and Hilbert series of the Zariski closure."""
    request = case_request(options)
    eliminates = strategy != "multigraded" and max_degree is None
    with request.computing(f"Zariski closure of the {request.model.title}", early=eliminates) as (clock, engine):
        with importing():
            from m2bridge.maps.closure import closure

        result = closure(
            request.model,
            engine=engine,
            field=request.field,
            coordinates=request.coordinates,
            weights=weights,
            strategy=strategy,
            max_degree=max_degree,
        )
    return show(result, request.form, clock, request.everything)


OF_AN_IDEAL = frozenset({"ideal_file", "field", "timeout", "memory", "program", "form", "everything"})
"""The options of ``singular-locus`` that have a meaning for an ideal."""


def ideal_option(command: Command) -> Command:
    """``--ideal FILE``."""
    path = click.Path(exists=True, dir_okay=False, path_type=Path)
    help_ideal = (
        'Of the variety of the ideal in a TOML file: [ideal], variables = ["x", "y"], generators = ["x^2 - y^3"].'
    )
    return click.option("--ideal", "ideal_file", type=path, help=help_ideal)(command)


@click.command("singular-locus", cls=FamilyCommand, epilog="Example: m2bridge singular-locus --d 2 --d-out 1")
@case_options
@family_options
@map_options
@method_option(LOCUS_METHODS)
@click.option("--ideals", is_flag=True, help="Compute the ideals of the components too.")
@ideal_option
@all_option
@run_options
def singular_locus_command(method: Any, ideals: bool, ideal_file: Path | None, **options: Any) -> int:
    """Singular locus of the Zariski closure, orbit by orbit and by components; with --ideal, of any variety."""
    if ideal_file is not None:
        return _singular_locus_of_ideal(ideal_file, options)
    request = case_request(options)
    with request.computing(f"singular locus of the {request.model.title}") as (clock, engine):
        with importing():
            from m2bridge.maps.singular_locus import singular_locus

        result = singular_locus(
            request.model,
            engine=engine,
            field=request.field,
            coordinates=request.coordinates,
            method=method,
            ideals=ideals,
        )
    return show(result, request.form, clock, request.everything)


def _singular_locus_of_ideal(file: Path, options: dict[str, Any]) -> int:
    context = click.get_current_context()
    given = {name for name in context.params if context.get_parameter_source(name) == ParameterSource.COMMANDLINE}
    if foreign := sorted(given - OF_AN_IDEAL):
        parameter = next(param for param in context.command.get_params(context) if param.name == foreign[0])
        name = parameter.get_error_hint(context).strip("'")
        raise click.UsageError(f"--ideal and {name} exclude each other")
    request = Run.of(options)
    with within(timeout=request.timeout) as clock, request.engine() as engine:
        with importing():
            from m2bridge.ideals.construct import read_ideal_file
            from m2bridge.ideals.singular_locus import singular_locus

        field = options["field"] if "field" in given else None
        ideal, title = read_file(file, partial(read_ideal_file, field=field))
        with progress(f"singular locus of {title or printable(file.name)}"):
            result = singular_locus(ideal, engine=engine, title=title)
    return show(result, request.form, clock, request.everything)


@click.command("implicitize", epilog="Example: m2bridge implicitize examples/twisted_cubic.toml")
@file_argument()
@field_option
@strategy_option
@max_degree_option
@all_option
@run_options
def implicitize_command(file: Path, **options: Any) -> int:
    """Closure of the image of the polynomial map in FILE: ideal, dimension, degree, fibres, base locus.

    FILE is TOML: a table [map] with parameters = ["s", "t"] (and relations = ["…"]), and a table [coordinates] with
    lines such as x = "3/7*s^2*t - (s + t)^3". The source is the set of points where all relations vanish.
    """
    request = Run.of(options)
    with within(timeout=request.timeout) as clock:
        with importing():
            from m2bridge.convert.files import read_map
            from m2bridge.maps.image import image

        polynomial_map, title = read_file(file, read_map)
        with request.engine(early=False) as engine, progress(f"image of {title or printable(file.name)}"):
            try:
                result = image(polynomial_map, engine=engine, title=title, **options)
            except InvalidCaseError as reason:
                if reason.option != "relations":  # that one is no option, but a part of the file
                    raise
                raise click.UsageError(f"{file}: [map] {reason}") from None
    return show(result, request.form, clock, request.everything)
