"""``m2bridge implicitize``: any polynomial map from a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from m2bridge.cli.options import FieldType, all_option, run_options, strategy_option, within
from m2bridge.cli.output import show
from m2bridge.cli.progress import progress
from m2bridge.engine import Limits, Macaulay2
from m2bridge.errors import ConversionError, InvalidCaseError
from m2bridge.layout import printable
from m2bridge.startup import importing

if TYPE_CHECKING:
    from m2bridge.algebra.polynomial_map import PolynomialMap


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
            Macaulay2(program, Limits(memory=memory)) as engine,
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
    from m2bridge.convert.map_file import read_map

    try:
        return read_map(read_text(file))
    except ConversionError as reason:
        raise click.UsageError(f"{file}: {reason}") from None
