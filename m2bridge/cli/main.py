"""Entry point: commands, exit codes, and what happens to errors and signals."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable
from contextlib import nullcontext
from types import FrameType
from typing import Any, NoReturn, Protocol

import click

from m2bridge._version import __version__
from m2bridge.cli import doctor as doctor_report
from m2bridge.cli.implicitize import implicitize_command
from m2bridge.cli.options import case_options, engine_option, request, run_options
from m2bridge.cli.progress import progress
from m2bridge.errors import (
    EngineMemoryError,
    EngineNotFoundError,
    EngineTimeoutError,
    EngineVersionError,
    InvalidCaseError,
    M2BridgeError,
    MethodUnavailableError,
)

DONE, REFUTED, USAGE, UNDECIDED, NO_ENGINE, FAILED, INTERRUPTED = 0, 1, 2, 3, 4, 5, 130


class Result(Protocol):
    """What every computation returns."""

    @property
    def unfinished(self) -> str: ...
    def to_json(self) -> dict[str, Any]: ...
    def to_text(self) -> str: ...
    def to_latex(self) -> str: ...
    def to_macaulay2(self) -> str: ...


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@click.version_option(__version__, prog_name="m2bridge")
def cli() -> None:
    """Algebraic geometry of lightning self-attention, computed by Macaulay2.

    Exit codes: 0 computed or confirmed, 1 refuted, 2 wrong usage, 3 undecided within the limits, 4 no Macaulay2,
    5 another failure, 130 interrupted.
    """


@cli.command("dimension")
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


@cli.command("closure")
@case_options
@click.option(
    "--strategy", default="auto", show_default=True, help="auto, multigraded, elimination or ungraded-elimination."
)
@click.option("--max-degree", type=int, default=None, help="All generators up to this degree, without elimination.")
@click.option("--weights", default="attention", show_default=True, help="attention (A, V) or factored (Q, K, V).")
@run_options
def closure_command(strategy: Any, max_degree: int | None, weights: Any, **options: Any) -> int:
    """Ideal, dimension, degree and Hilbert series of the Zariski closure."""
    from m2bridge.computations.closure import closure

    asked = request(options)
    engineless = strategy == "multigraded" or max_degree is not None
    with nullcontext() if engineless else asked.engine() as engine, progress(f"Zariski closure of {asked.model}"):
        found = closure(
            asked.model,
            engine,
            asked.field,
            coordinates=asked.coordinates,
            weights=weights,
            strategy=strategy,
            max_degree=max_degree,
            timeout=asked.timeout,
        )
    return show(found, asked.form)


@cli.command("singular-locus")
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


@cli.command("script")
@click.argument("computation", type=click.Choice(["closure", "dimension", "singular-locus"]))
@case_options
@click.option("--method", default="orbits", show_default=True, help="For singular-locus: orbits or jacobian.")
def script_command(computation: str, method: str, **options: Any) -> int:
    """Print the complete Macaulay2 program of a computation; it runs with M2 --script."""
    from m2bridge.computations.scripts import standalone

    asked = request(options)
    click.echo(standalone(computation, asked.model, asked.field, asked.coordinates, method), nl=False)
    return DONE


@cli.command("doctor")
@engine_option
def doctor_command(program: str | None) -> int:
    """Show which Macaulay2 is used, and from where everything comes."""
    text, failure = doctor_report.report(program)
    click.echo(text)
    if failure is not None:
        click.echo(f"\n{failure}", err=True)
        return NO_ENGINE
    return DONE


cli.add_command(implicitize_command)


def show(result: Result, form: str) -> int:
    """Print a result; the exit code says whether it is finished."""
    if form == "json":
        click.echo(json.dumps(result.to_json(), ensure_ascii=False))
    else:
        writers: dict[str, Callable[[], str]] = {
            "text": result.to_text,
            "latex": result.to_latex,
            "m2": result.to_macaulay2,
        }
        click.echo(writers[form]())
    return UNDECIDED if result.unfinished else DONE


def main() -> NoReturn:
    """Run the command line and exit."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _terminate)
    sys.exit(_run())


def _run() -> int:
    try:
        return int(cli.main(standalone_mode=False, prog_name="m2bridge") or DONE)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return USAGE
    except click.ClickException as error:
        return _fail(error.format_message(), USAGE)
    except (KeyboardInterrupt, click.Abort):
        click.echo("Interrupted.", err=True)
        return INTERRUPTED
    except InvalidCaseError as error:
        return _fail(f"--{error.option.replace('_', '-')}: {error.message}", USAGE)
    except MethodUnavailableError as error:
        return _fail(str(error), USAGE)
    except (EngineNotFoundError, EngineVersionError) as error:
        return _fail(str(error), NO_ENGINE)
    except (EngineTimeoutError, EngineMemoryError) as error:
        return _fail(str(error), UNDECIDED)
    except M2BridgeError as error:
        return _fail(f"{type(error).__name__}: {error}", FAILED)


def _fail(message: str, code: int) -> int:
    click.echo(f"Error: {message}", err=True)
    return code


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    """End in an orderly way, so that Macaulay2 and temporary files go too."""
    raise SystemExit(128 + number)
