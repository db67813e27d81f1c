"""Figures of papers, computed anew: each is a command of its own, with options that its family names."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from m2bridge.cli.families import as_parameter
from m2bridge.cli.group import Commands
from m2bridge.cli.options import NewPath, timeout_option, within
from m2bridge.cli.output import DONE, UNDECIDED, show
from m2bridge.cli.progress import progress
from m2bridge.startup import importing

if TYPE_CHECKING:
    from m2bridge.families.definition import Figure


class FigureGroup(Commands):
    """The figures of all families; families are loaded when a figure is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The numbers of all figures."""
        return sorted(_figures())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command that computes one of them."""
        figure = _figures().get(cmd_name)
        return None if figure is None else _command(figure)


@click.group("figure", cls=FigureGroup, epilog="Example: m2bridge figure 3 --out figure3.svg")
def figure_group() -> None:
    """Figures of the paper with proved values: m2bridge figure 3 --out figure3.svg."""


def _figures() -> dict[str, Figure]:
    with importing():
        from m2bridge.families import families

    loaded, _ = families()
    return {figure.number: figure for family in loaded.values() for figure in family.figures()}


def _command(figure: Figure) -> click.Command:
    """The options of the figure, and how it is written."""
    command = click.Command(
        figure.number,
        params=[as_parameter(option) for option in figure.options],
        callback=partial(_draw, figure),
        help=f"{figure.title}.",
        short_help=figure.title,
    )
    path = NewPath(dir_okay=False, path_type=Path)
    for option in (
        timeout_option,
        click.option("--json", "form", flag_value="json", help="Print the data with all bounds and methods as JSON."),
        click.option("--csv", "form", flag_value="csv", help="Print the table as comma-separated values."),
        click.option("--out", type=path, help="Write the picture to this SVG file."),
    ):
        command = option(command)
    return command


def _draw(figure: Figure, out: Path | None, form: str | None, timeout: float | None, **options: Any) -> int:
    with within(timeout) as clock, progress(f"figure {figure.number}"):
        found = figure.from_options(options)
    if out is not None:
        out.write_text(found.to_svg(), encoding="utf-8")
    if form == "csv":
        click.echo(found.to_csv(), nl=False)
        return UNDECIDED if found.unfinished else DONE
    return show(found, form or "text", clock)
