"""Figures of papers, computed anew, and other pictures: each is a command, with options that its family names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from m2bridge.cli.families import as_parameter, value_of
from m2bridge.cli.options import Commands, NewPath, Seconds, engine_option, timeout_option, within
from m2bridge.cli.output import DONE, UNDECIDED, progress, show, written
from m2bridge.engine import Session
from m2bridge.limits import clock, limited
from m2bridge.system import importing

if TYPE_CHECKING:
    from m2bridge.families.definition import Figure


class FigureGroup(Commands):
    """The figures of all families; families are loaded when a figure is asked for."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As for all groups; the limit counts for the families too, which know what figures there are."""
        given = value_of("--timeout", args)
        timeout = None if given is None else Seconds().convert(given, None, ctx)
        with limited(timeout, begin=clock().begin or None):
            return super().resolve_command(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all figures."""
        return sorted(_figures())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command that computes one of them."""
        figure = _figures().get(cmd_name)
        return None if figure is None else _command(figure)


@click.group("figure", cls=FigureGroup, epilog="Example: m2bridge figure 3 --out figure3.svg")
def figure_group() -> None:
    """Figures of the paper, and other pictures, from proved values: m2bridge figure 1 --out figure1.svg."""


def _figures() -> dict[str, Figure]:
    with importing():
        from m2bridge.families import families

    loaded, _ = families()
    return {figure.name: figure for family in loaded.values() for figure in family.figures()}


def _command(figure: Figure) -> click.Command:
    """The options of the figure, and how it is written."""
    command = click.Command(
        figure.name,
        params=[as_parameter(option) for option in figure.options],
        callback=partial(_draw, figure),
        help=f"{figure.title}.",
        short_help=figure.title,
    )
    path = NewPath(dir_okay=False, path_type=Path)
    for option in (
        *([engine_option] if figure.needs_engine else []),
        timeout_option,
        click.option("--json", "form", flag_value="json", help="Print the data, and how they are known, as JSON."),
        click.option("--csv", "form", flag_value="csv", help="Print the data as comma-separated values."),
        click.option("--out", type=path, help="Write the picture to this file: .svg, .pdf or .png."),
    ):
        command = option(command)
    return command


def _draw(figure: Figure, out: Path | None, form: str | None, timeout: float | None, **options: Any) -> int:
    if out is not None:
        _check_can_be_written(out)
    with within(timeout) as clock, progress(f"figure {figure.name}"), _engine(figure, options) as engine:
        found = figure.from_options(options, **engine)
    if out is not None:
        with importing(), _writing(out):
            found.save(out)
        written(out)
    elif form is None:
        click.echo(f"No picture is written without --out {figure.name}.svg", err=True)
    if form == "csv":
        click.echo(found.to_csv(), nl=False)
        return UNDECIDED if found.unfinished else DONE
    return show(found, form or "text", clock)


@contextmanager
def _engine(figure: Figure, options: dict[str, Any]) -> Iterator[dict[str, Session]]:
    """Macaulay2 for a figure that needs it, which starts when it is used."""
    if not figure.needs_engine:
        yield {}
        return
    with Session(options.pop("program")) as engine:
        yield {"engine": engine}


@contextmanager
def _writing(out: Path) -> Iterator[None]:
    """Errors of the system name the file."""
    try:
        yield
    except OSError as reason:
        raise OSError(f"'{out}' cannot be written: {reason.strerror or reason}") from None


def _check_can_be_written(out: Path) -> None:
    """Before anything is computed: the ending of the name, the folder, and whether matplotlib is there."""
    from m2bridge.results.picture import check_available, picture_format

    picture_format(out)
    check_available()
    with _writing(out):
        out.parent.mkdir(parents=True, exist_ok=True)
