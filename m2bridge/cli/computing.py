"""Commands that compute, one call each."""

from __future__ import annotations

from typing import Any

import click

from m2bridge.cli.options import case_options, request, run_options
from m2bridge.cli.output import DONE, show
from m2bridge.cli.progress import progress


@click.command("dimension")
@case_options
@click.option("--method", default="auto", show_default=True, help="auto, elimination, jacobian, formula or all.")
@run_options
def dimension_command(method: str, **options: Any) -> int:
    """Dimension of the Zariski closure of the neuromanifold, by up to three methods."""
    from m2bridge.computations.dimension import dimension

    asked = request(options)
    if method not in ("elimination", "all"):
        return show(
            dimension(asked.model, None, asked.field, coordinates=asked.coordinates, method=method),  # type: ignore[arg-type]
            asked.form,
        )
    with asked.engine() as engine, progress(f"dimension of {asked.model}"):
        found = dimension(
            asked.model,
            engine,
            asked.field,
            coordinates=asked.coordinates,
            method=method,  # type: ignore[arg-type]
            timeout=asked.timeout,
        )
    return show(found, asked.form)


@click.command("closure")
@case_options
@click.option("--strategy", default="auto", show_default=True, help="auto, elimination or ungraded-elimination.")
@click.option("--weights", default="attention", show_default=True, help="attention (A, V) or factored (Q, K, V).")
@run_options
def closure_command(strategy: Any, weights: Any, **options: Any) -> int:
    """Ideal, dimension, degree and Hilbert series of the Zariski closure."""
    from m2bridge.computations.closure import closure

    asked = request(options)
    with asked.engine() as engine, progress(f"Zariski closure of {asked.model}"):
        found = closure(
            asked.model,
            engine,
            asked.field,
            coordinates=asked.coordinates,
            weights=weights,
            strategy=strategy,
            timeout=asked.timeout,
        )
    return show(found, asked.form)


@click.command("singular-locus")
@case_options
@click.option("--method", default="auto", show_default=True, help="auto, orbits, jacobian or all.")
@click.option("--ideals", is_flag=True, help="Compute the ideals of the components too.")
@run_options
def singular_locus_command(method: Any, ideals: bool, **options: Any) -> int:
    """Singular locus of the Zariski closure, orbit by orbit and by components."""
    from m2bridge.computations.singular_locus import singular_locus

    asked = request(options)
    with asked.engine() as engine, progress(f"singular locus of {asked.model}"):
        found = singular_locus(
            asked.model,
            engine,
            asked.field,
            coordinates=asked.coordinates,
            method=method,
            ideals=ideals,
            timeout=asked.timeout,
        )
    return show(found, asked.form)


@click.command("script")
@click.argument("computation", type=click.Choice(["closure", "dimension", "singular-locus", "fibres"]))
@case_options
@click.option("--method", default="orbits", show_default=True, help="For singular-locus: orbits or jacobian.")
def script_command(computation: str, method: str, **options: Any) -> int:
    """Print the complete Macaulay2 program of a computation; it runs with M2 --script."""
    from m2bridge.computations.scripts import standalone

    asked = request(options)
    click.echo(standalone(computation, asked.model, asked.field, asked.coordinates, method), nl=False)
    return DONE


COMMANDS = (dimension_command, closure_command, singular_locus_command, script_command)
