"""The command for reports."""

from __future__ import annotations

from pathlib import Path

import click

from m2bridge.cli.options import NewPath
from m2bridge.cli.output import DONE, echo_json
from m2bridge.cli.progress import progress
from m2bridge.importing import importing

FORMATS = ("text", "markdown", "latex", "html", "csv", "json")


@click.command("report")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", show_default=True)
@click.option("--out", type=NewPath(dir_okay=False, path_type=Path), help="Write to this file.")
def report_command(folder: Path, form: str, out: Path | None) -> int:
    """Table and summary of a folder of certificates, refuted statements first.

    Certificates are read, not verified; for that there is 'm2bridge verify'.
    """
    with importing():
        from m2bridge import report

    with progress("reading"):
        found = report.collect(folder)
    if not found.rows and not found.problems:
        raise click.UsageError(f"no certificates in the folder '{folder}'")
    text = report.FORMATS[form](found)
    if out is None:
        echo_json(text, end="") if form == "json" else click.echo(text, nl=False)
    else:
        try:
            out.write_text(text, encoding="utf-8")
        except OSError as reason:
            raise click.FileError(str(out), str(reason.strerror)) from None
    return DONE


COMMANDS = (report_command,)
