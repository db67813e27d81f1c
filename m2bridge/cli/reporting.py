"""The command for reports."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from m2bridge.cli.options import NewPath, timeout_option, within
from m2bridge.cli.output import DONE, echo_json, fitted, written
from m2bridge.cli.progress import progress
from m2bridge.convert.references import check_documentation
from m2bridge.layout import plural
from m2bridge.startup import importing

if TYPE_CHECKING:
    from m2bridge.report import Report

FORMATS = ("text", "markdown", "latex", "latex-grid", "html", "csv", "json")
ENDINGS = {".md": "markdown", ".tex": "latex", ".html": "html", ".htm": "html", ".csv": "csv", ".json": "json"}
LINKED = ("markdown", "latex", "latex-grid", "html")


def _documentation(context: click.Context, parameter: click.Parameter, given: str) -> str:
    check_documentation(given)
    return given


docs_option = click.option(
    "--docs",
    metavar="ADDRESS",
    default="",
    callback=_documentation,
    help="Where the documentation is (https://…, or a relative path): citations of its pages are links then.",
)


@click.command("report", epilog="Example: m2bridge report results --format html --out report.html")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--format", "form", type=click.Choice(FORMATS), help="When left out, by the ending of --out; text for any other."
)
@click.option(
    "--out",
    type=NewPath(dir_okay=False, path_type=Path),
    help="Write to this file: .txt, .md, .tex, .html, .csv, .json, or any other with --format.",
)
@docs_option
@timeout_option
def report_command(folder: Path, form: str | None, out: Path | None, docs: str, timeout: float | None) -> int:
    """Table and summary of a folder of certificates, refuted statements first.

    Certificates are read, not verified; for that there is 'm2bridge verify'.
    """
    form = form or ENDINGS.get(out.suffix.lower() if out else "", "text")
    if docs and form not in LINKED:
        raise click.UsageError(f"--docs is for links: give --format {', '.join(LINKED[:-1])} or {LINKED[-1]} too")
    with within(timeout):
        with importing():
            from m2bridge import report

        with progress("reading"):
            found = report.collect(folder)
        if not found.rows:
            raise click.UsageError(_nothing(found, folder))
        text = _written(found, form, docs, out is None)
    if out is None:
        echo_json(text, end="") if form == "json" else click.echo(text, nl=False)
    else:
        _save(text, out)
        written(out)
    return DONE


def _written(found: Report, form: str, docs: str, for_reading: bool) -> str:
    """The text in a form; where somebody reads it on a terminal, in its width."""
    from m2bridge import report

    if form == "text" and for_reading:
        return fitted(lambda: report.FORMATS[form](found).removesuffix("\n"), lambda: report.to_sheet(found)) + "\n"
    return report.LINKED[form](found, docs) if form in LINKED else report.FORMATS[form](found)


def _nothing(found: Report, folder: Path) -> str:
    """Why there is nothing to report."""
    none = f"no certificates in the folder '{folder}'"
    if not found.problems:
        return f"{none}; 'm2bridge certify … --out FOLDER' writes some"
    first, count = found.problems[0], plural(len(found.problems), "file")
    return f"{none} that can be used; {count} with names in .json, such as '{first.file}': {first.reason}"


def _save(text: str, out: Path) -> None:
    """Write a report; what stands at its place is replaced at once or not at all, if it is a file.

    Raises
    ------
    OSError
        If it cannot be written.
    """
    from m2bridge.certificate.files import write_aside

    try:
        if out.exists() and not out.is_file():  # a pipe, or a device
            out.write_text(text, encoding="utf-8")
        else:
            write_aside(text, out.resolve())
    except OSError as reason:
        raise OSError(f"'{out}' cannot be written: {reason.strerror or reason}") from None


COMMANDS = (report_command,)
