"""The command for reports."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from m2bridge.cli import families as completion
from m2bridge.cli.certifying import certify_command
from m2bridge.cli.families import FamilyBatch
from m2bridge.cli.options import MemorySize, NewPath, Seconds, engine_option, timeout_option, within
from m2bridge.cli.output import DONE, echo_json, fitted, progress, written
from m2bridge.families import DEFAULT
from m2bridge.results.markup import check_documentation
from m2bridge.results.sheet import plural
from m2bridge.system import importing

if TYPE_CHECKING:
    from m2bridge.reports import Report


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
            from m2bridge import reports as report

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
    from m2bridge import reports as report

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
    from m2bridge.certificates.files import write_aside

    try:
        if out.exists() and not out.is_file():  # a pipe, or a device
            out.write_text(text, encoding="utf-8")
        else:
            write_aside(text, out.resolve())
    except OSError as reason:
        raise OSError(f"'{out}' cannot be written: {reason.strerror or reason}") from None


COMMANDS = (report_command,)


USUAL = "1..4"
"""The range of each number of the default family that is left out."""


@click.command("atlas", cls=FamilyBatch, epilog="Example: m2bridge atlas atlas --d 1..2 --d-out 1..2")
@click.argument("out", type=NewPath(file_okay=False, path_type=Path))
@click.option("--d", help=f"Input embedding dimensions d; {USUAL} when left out.")
@click.option("--d-out", help=f"Output embedding dimensions d'; {USUAL} when left out.")
@click.option("--a", help=f"Query/key dimensions a ≤ d; {USUAL} when left out.")
@click.option("--t", help="Numbers of tokens; 2 when left out.")
@click.option("--family", help="Another family: --family polynomial-network --widths 1..3,2,1.")
@click.option("--check", help="Questions, such as 3.2,3.4; those that take minutes at most when left out.")
@click.option("--workers", type=click.IntRange(min=1), help="How many; one for each core when left out.")
@click.option("--timeout", type=Seconds(), default=60.0, show_default=True, help="Seconds for each case.")
@click.option("--memory", type=MemorySize(), help="Address space of Macaulay2 and of its worker, such as 4G.")
@click.option("--retry", default="", help="Outcomes to try again: timed-out,out-of-memory,failed,died,refused.")
@engine_option
@click.option(
    "--from",
    "folder",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Take the certificates of this folder, and certify nothing.",
)
@docs_option
@click.pass_context
def atlas_command(ctx: click.Context, /, out: Path, folder: Path | None, docs: str, **options: Any) -> int:
    """One page for each case, from certificates, with an overview: a folder OUT that a browser opens.

    Certifies what is missing in OUT/certificates, as 'm2bridge certify' does: killed at any moment, the same command
    goes on from what is there. Exit code 0 when the pages are written, whatever the verdicts on them are.
    """
    with importing():
        from m2bridge.reports.atlas import CERTIFICATES, atlas, write_atlas

    certificates = out / CERTIFICATES
    if folder is None:
        ctx.invoke(certify_command, out=certificates, **_questions(options))
    else:
        _copy(ctx, folder, certificates)
    found = atlas(certificates)
    if not found.sheets:
        raise click.UsageError(f"no certificates in the folder '{folder or certificates}'")
    index = write_atlas(found, out, docs)
    click.echo(f"{plural(len(found.sheets), 'case')}: {index}")
    return DONE


def _questions(options: dict[str, Any]) -> dict[str, Any]:
    """What the batch is asked: what is in reach, and of the default family a grid, if nothing else is said."""
    family = options["family"] or DEFAULT
    usual = {name: options[name] or USUAL for name in ("d", "d_out", "a")} if family == DEFAULT else {}
    return options | usual | {"family": family, "check": options["check"] or completion.REACHABLE}


def _copy(ctx: click.Context, folder: Path, target: Path) -> None:
    """Take over the certificates and outcomes of a folder and below it.

    Raises
    ------
    click.UsageError
        If cases are asked for besides.
    """
    named = [name for name, value in ctx.params.items() if value is not None and _given(ctx, name)]
    if others := [name for name in named if name not in ("out", "folder", "docs")]:
        raise click.UsageError(
            f"--from takes all certificates of the folder: leave out --{others[0].replace('_', '-')}"
        )
    if folder.resolve() == target.resolve():
        return
    for path in sorted(folder.rglob("*.json")):
        if path.is_file() and not path.is_relative_to(target):
            copy = target / path.relative_to(folder)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)


def _given(ctx: click.Context, name: str) -> bool:
    return ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE


ATLAS_COMMANDS = (atlas_command,)
