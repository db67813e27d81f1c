"""Commands that compute, one call each."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import click

from m2bridge.cli.families import FamilyCommand, family_options, map_options, tool
from m2bridge.cli.options import all_option, case_options, request, run_options, strategy_option, timeout_option, within
from m2bridge.cli.output import DONE, show
from m2bridge.cli.progress import progress
from m2bridge.startup import importing

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
    eliminates = method in ("elimination", "all")
    with (
        within(asked.timeout) as clock,
        asked.engine() if eliminates else nullcontext() as engine,
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
    engineless = strategy == "multigraded" or max_degree is not None
    with (
        within(asked.timeout) as clock,
        nullcontext() if engineless else asked.engine() as engine,
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
@all_option
@run_options
def singular_locus_command(method: Any, ideals: bool, **options: Any) -> int:
    """Singular locus of the Zariski closure, orbit by orbit and by components."""
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
        text = standalone(computation, asked.model, asked.field, asked.coordinates, method)
    click.echo(text, nl=False)
    return DONE


COMMANDS = (dimension_command, closure_command, singular_locus_command, script_command)
