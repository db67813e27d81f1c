"""Figures of the paper, computed anew."""

from __future__ import annotations

from pathlib import Path

import click

from m2bridge.cli.options import NewPath, timeout_option, within
from m2bridge.cli.output import DONE, UNDECIDED, show
from m2bridge.cli.progress import progress
from m2bridge.errors import InvalidCaseError
from m2bridge.startup import importing


@click.command("figure")
@click.argument("number", type=click.Choice(["3"]))
@click.option("--layers", type=int, default=2, show_default=True, help="Number of layers l.")
@click.option("--t", type=int, default=3, show_default=True, help="Number of tokens.")
@click.option("--a", type=int, default=2, show_default=True, help="Query/key dimension of all layers.")
@click.option("--delta", default="3..10", show_default=True, help="Widths δ of all layers: one, or first..last.")
@click.option("--out", type=NewPath(dir_okay=False, path_type=Path), help="Write the picture to this SVG file.")
@click.option("--csv", "form", flag_value="csv", help="Print the table as comma-separated values.")
@click.option("--json", "form", flag_value="json", help="Print the data with all bounds and methods as JSON.")
@timeout_option
def figure_command(
    number: str,
    layers: int,
    t: int,
    a: int,
    delta: str,
    out: Path | None,
    form: str | None,
    timeout: float | None,
) -> int:
    """A figure of the paper with proved values.

    Figure 3: the dimension of deep networks of width δ, with lightning attention and with softmax, beside Eq. 14 and
    Eq. 16.
    """
    deltas = _range(delta)
    with within(timeout) as clock, progress(f"figure {number}"):
        with importing():
            from m2bridge.families.deep_attention.figure import figure_3
            from m2bridge.families.deep_attention.presentation.figure import csv, svg

        found = figure_3(layers, t, a, deltas)
    if out is not None:
        out.write_text(svg(found), encoding="utf-8")
    if form == "csv":
        click.echo(csv(found), nl=False)
        return UNDECIDED if found.unfinished else DONE
    return show(found, form or "text", clock)


def _range(text: str) -> range:
    """``3..10``, or one number."""
    first, dots, last = text.partition("..")
    numbers = (first, last) if dots else (first, first)
    if not all(number.isascii() and number.isdigit() and len(number) <= 9 for number in numbers):
        raise InvalidCaseError("delta", f"'{text}' is neither a width nor a range such as 3..10")
    return range(int(numbers[0]), int(numbers[1]) + 1)
