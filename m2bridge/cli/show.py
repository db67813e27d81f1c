"""Commands that show: reports and atlases of certificates, figures, and trained weights."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from m2bridge.cli import DONE, USAGE, common
from m2bridge.cli.cases import REACHABLE, FamilyBatch, as_parameter, limit_in
from m2bridge.cli.certificates import certify_command
from m2bridge.cli.common import echo_json, finished, fitted, progress, show, written
from m2bridge.engine import Session
from m2bridge.errors import ConversionError, InvalidCaseError
from m2bridge.families.registry import DEFAULT, families
from m2bridge.limits import clock, limited, overtime
from m2bridge.loading import importing
from m2bridge.results.markup import check_documentation
from m2bridge.results.sheet import plural
from m2bridge.system import save

if TYPE_CHECKING:
    from m2bridge.families.base import Figure
    from m2bridge.reports import Report
    from m2bridge.results.base import Result


FORMATS = ("text", "markdown", "latex", "latex-grid", "html", "csv", "json")
ENDINGS = {
    ".md": "markdown",
    ".tex": "latex",
    ".html": "html",
    ".htm": "html",
    ".csv": "csv",
    ".json": "json",
}
LINKED = ("markdown", "latex", "latex-grid", "html")


def _documentation(context: click.Context, parameter: click.Parameter, address: str) -> str:
    check_documentation(address)
    return address


docs_option = click.option(
    "--docs",
    metavar="ADDRESS",
    default="",
    callback=_documentation,
    help=(
        "Where the documentation is (https://…, or a relative path): citations of its pages are"
        " links then."
    ),
)


@click.command("report", epilog="Example: m2bridge report results --format html --out report.html")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    help="When left out, by the ending of --out; text for any other.",
)
@click.option(
    "--out",
    type=common.NewPath(dir_okay=False, path_type=Path),
    help="Write to this file: .txt, .md, .tex, .html, .csv, .json, or any other with --format.",
)
@docs_option
@common.timeout_option
def report_command(
    *, folder: Path, form: str | None, out: Path | None, docs: str, timeout: float | None
) -> int:
    """Table and summary of a folder of certificates, refuted statements first.

    Certificates are read, not verified; for that there is 'm2bridge verify'.
    """
    if form is None and out is not None:
        form = ENDINGS.get(out.suffix.lower())
    form = form or "text"
    if docs and form not in LINKED:
        raise click.UsageError(
            f"--docs is for links: give --format {', '.join(LINKED[:-1])} or {LINKED[-1]} too"
        )
    with common.within(timeout=timeout):
        with importing():
            from m2bridge import reports as report

        with progress("reading"):
            result = report.collect(folder)
        if not result.rows:
            raise click.UsageError(_nothing(result, folder))
        write = report.FORMATS[form]
        if form in LINKED:
            write = partial(report.LINKED[form], documentation=docs)
        text = write(result)
        if form == "text" and out is None:  # in the width of the terminal, if it is printed on one
            text = fitted(report.to_sheet(result), plain=text.removesuffix("\n")) + "\n"
    if out is not None:
        _save(text, out)
        written(out)
    elif form == "json":
        echo_json(text, end="")
    else:
        click.echo(text, nl=False)
    return DONE


def _nothing(result: Report, folder: Path) -> str:
    """The reason why there is nothing to report."""
    none = f"no certificates in the folder '{folder}'"
    if not result.problems:
        return f"{none}; 'm2bridge certify … --out FOLDER' writes some"
    first, count = result.problems[0], plural(len(result.problems), "file")
    return (
        f"{none} that can be used; {count} with names in .json, such as '{first.file}':"
        f" {first.reason}"
    )


def _save(text: str, out: Path) -> None:
    """Write a report; what stands at its place is replaced at once or not at all, if it is a file.

    Raises
    ------
    OSError
        If it cannot be written.
    """
    with _writing(out):
        save(text, out)


USUAL = "1..4"
"""The range of each number of the default family that is left out."""


@click.command(
    "atlas", cls=FamilyBatch, epilog="Example: m2bridge atlas atlas --d 1..2 --d-out 1..2"
)
@click.argument("out", type=common.NewPath(file_okay=False, path_type=Path))
@click.option("--d", help=f"Input embedding dimensions d; {USUAL} when left out.")
@click.option("--d-out", help=f"Output embedding dimensions d'; {USUAL} when left out.")
@click.option("--a", help=f"Query/key dimensions a ≤ d; {USUAL} when left out.")
@click.option("--t", help="Numbers of tokens; 2 when left out.")
@click.option("--family", help="Another family: --family polynomial-network --widths 1..3,2,1.")
@click.option(
    "--check", help="Questions, such as 3.2,3.4; those that take minutes at most when left out."
)
@click.option(
    "--timeout", type=common.seconds, default=60.0, show_default=True, help="Seconds for each case."
)
@common.batch_options
@click.option(
    "--from",
    "folder",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Take the certificates of this folder, and certify nothing.",
)
@docs_option
@click.pass_context
def atlas_command(
    ctx: click.Context, /, out: Path, folder: Path | None, docs: str, **options: Any
) -> int:
    """One page for each case, from certificates, with an overview: a folder OUT that a browser
    opens.

    Certifies what is missing in OUT/certificates, as 'm2bridge certify' does: killed at any moment,
    the same command goes on from what is there. Exit code 0 when the pages are written, whatever
    the verdicts on them are.
    """
    with importing():
        from m2bridge.reports.atlas import CERTIFICATES, atlas, write_atlas

    certificates = out / CERTIFICATES
    if folder is None:
        ctx.invoke(certify_command, out=certificates, **_questions(options))
    else:
        _copy(ctx, folder, certificates)
    result = atlas(certificates)
    if not result.entries:
        raise click.UsageError(f"no certificates in the folder '{folder or certificates}'")
    index = write_atlas(result, out, docs)
    click.echo(f"{plural(len(result.entries), 'case')}: {index}")
    return DONE


def _questions(options: dict[str, Any]) -> dict[str, Any]:
    """The options of the batch: by default a grid, and the questions within reach."""
    family = options["family"] or DEFAULT
    usual = {}
    if family == DEFAULT:
        usual = {name: options[name] or USUAL for name in ("d", "d_out", "a")}
    return options | usual | {"family": family, "check": options["check"] or REACHABLE}


def _copy(ctx: click.Context, folder: Path, target: Path) -> None:
    """Take over the certificates and outcomes of a folder and below it.

    Raises
    ------
    click.UsageError
        If cases are asked for besides.
    """
    others = sorted(common.explicit_options(ctx) - {"out", "folder", "docs"})
    if others:
        raise click.UsageError(
            "--from takes all certificates of the folder: leave out"
            f" --{others[0].replace('_', '-')}"
        )
    if folder.resolve() == target.resolve():
        return
    for path in sorted(folder.rglob("*.json")):
        if path.is_file() and not path.is_relative_to(target):
            copy = target / path.relative_to(folder)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)


class FigureGroup(common.Commands):
    """The figures of all families; families are loaded when a figure is asked for."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is named; the limit holds while families are loaded, which have it."""
        with limited(limit_in(args), begin=clock().begin or None):
            return super().resolve_command(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all figures."""
        return sorted(_figures())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command that computes one of them."""
        figure = _figures().get(cmd_name)
        if figure is None:
            return None
        return _command(figure)


@click.group("figure", cls=FigureGroup, epilog="Example: m2bridge figure 3 --out figure3.svg")
def figure_group() -> None:
    """Figures of the paper, and other pictures, from proved values: m2bridge figure 1 --out
    figure1.svg.
    """


def _figures() -> dict[str, Figure]:
    """The figures of all families, and that of trained weights, by name."""
    with importing():
        from m2bridge.trained_weights.figure import FIGURES

    loaded, _ = families()
    figures = {figure.name: figure for own in loaded.values() for figure in own.figures()}
    return figures | {figure.name: figure for figure in FIGURES}


def _command(figure: Figure) -> click.Command:
    """The options of the figure, and how it is written."""
    command = click.Command(
        figure.name,
        params=[as_parameter(option) for option in figure.options],
        callback=partial(_draw, figure),
        help=f"{figure.title}.",
        short_help=figure.title,
    )
    path = common.NewPath(dir_okay=False, path_type=Path)
    options = [
        common.timeout_option,
        click.option(
            "--json",
            "form",
            flag_value="json",
            help="Print the data, and how they are known, as JSON.",
        ),
        click.option(
            "--csv", "form", flag_value="csv", help="Print the data as comma-separated values."
        ),
        click.option(
            "--out", type=path, help="Write the picture to this file: .svg, .pdf or .png."
        ),
    ]
    if figure.needs_engine:
        options.insert(0, common.engine_option)
    for option in options:
        command = option(command)
    return command


def _draw(
    figure: Figure, *, out: Path | None, form: str | None, timeout: float | None, **options: Any
) -> int:
    if out is not None:
        _check_can_be_written(out)
    with (
        common.within(timeout=timeout) as clock,
        progress(f"figure {figure.name}"),
        Session(options.pop("program", None)),  # it starts when it is used
    ):
        result = figure.from_options(options)
    if out is not None:
        with overtime(clock, inf), importing(), _writing(out):  # what was found is drawn
            result.save(out)
        written(out)
    elif form is None:
        click.echo(f"No picture is written without --out {figure.name}.svg", err=True)
    if form == "csv":
        click.echo(result.to_csv(), nl=False)
        return finished(result)
    return show(result, form or "text", clock)


@contextmanager
def _writing(out: Path) -> Iterator[None]:
    """Name the file in errors of the system."""
    try:
        yield
    except OSError as reason:
        raise OSError(f"'{out}' cannot be written: {reason.strerror or reason}") from None


def _check_can_be_written(out: Path) -> None:
    """Check name, folder and that matplotlib is there, before anything is computed."""
    from m2bridge.results.picture import check_available, picture_format

    picture_format(out)
    with importing():
        check_available()
    with _writing(out):
        out.parent.mkdir(parents=True, exist_ok=True)


@click.command("weights", epilog="Example: m2bridge weights model.safetensors --heads 12")
@click.argument("file", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--query",
    metavar="NAME",
    help="The array with Q; * stands for what differs from layer to layer.",
)
@click.option("--key", metavar="NAME", help="The array with K.")
@click.option("--value", metavar="NAME", help="The array with V.")
@click.option(
    "--output", metavar="NAME", help="The array with the output matrix O, whose values are then OV."
)
@click.option("--stacked", metavar="NAME", help="One array with Q, K and V, in place of theirs.")
@click.option(
    "--heads",
    type=common.integer,
    help="Heads of each layer; what config.json beside FILE says, or 1.",
)
@click.option(
    "--a", type=common.integer, help="Where A = KᵀQ is given: its largest rank; d when left out."
)
@click.option(
    "--skip", is_flag=True, help="The network has skip connections: each layer adds its input."
)
@click.option(
    "--normalization", type=click.Choice(("none", "softmax")), default="none", show_default=True
)
@click.option(
    "--biases",
    type=click.Choice(("count", "ignore")),
    default="count",
    show_default=True,
    help="Whether biases are coordinates of tokens, or left out.",
)
@click.option(
    "--norm",
    type=click.Choice(("layer", "rms", "rms1", "none")),
    help="The norm before each layer, where FILE does not say it, or in its place; rms1 multiplies"
    " by 1 + γ.",
)
@click.option(
    "--tolerance",
    type=common.decimal,
    help="For effective ranks, relative; that of the stored type.",
)
@click.option(
    "--sort",
    type=click.Choice(("layer", "distance")),
    default="layer",
    show_default=True,
    help="The heads by layers, or by their distances to singular functions.",
)
@click.option(
    "--worst",
    type=common.integer,
    help="As many heads in the tables, those nearest to singular functions.",
)
@common.timeout_option
@common.form_options
def weights_command(file: Path, timeout: float | None, form: str, **options: Any) -> int:
    """Say what trained weights determine: ranks, orbits and singular functions, exactly; distances,
    numerically.

    FILE is .npz, .npy, .safetensors, .json, a state dict of PyTorch, or a folder of such files.
    Usual names of arrays need not be given. Without them, and where no names are known, the arrays
    in FILE are listed.
    """
    with common.within(timeout=timeout) as clock, progress(f"weights in {file.name}"):
        with importing():
            from m2bridge.trained_weights.result import contents, weights
        try:
            listed = None
            names = ("query", "key", "value", "output", "stacked")
            if not any(options[name] for name in names):
                listed = contents(file)
            result: Result | None = listed
            if result is None:
                result = weights(file, **options)
        except ConversionError as reason:
            raise click.UsageError(str(reason)) from None
        except InvalidCaseError as reason:
            if reason.option in options:
                raise
            raise click.UsageError(f"{file.name}: {reason.message}") from None
    code = show(result, form, clock)
    if listed is None:
        return code
    options_text = "--query NAME --key NAME --value NAME, or --stacked NAME (and --output NAME)"
    click.echo(f"Error: no usual names are in it: say {options_text}", err=True)
    return USAGE
