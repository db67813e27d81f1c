"""Commands for reports and atlases of certificates, figures, and trained weights.

A report is a table of the verdicts in a folder of certificates, and an atlas a folder of pages, one
for each case. An outcome is a file that says why a question has no certificate.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import m2bridge
from m2bridge.cli import DONE, REFUTED, UNDECIDED, USAGE, common
from m2bridge.cli.cases import (
    REACHABLE,
    Command,
    FamilyBatch,
    ModelPicture,
    as_parameter,
    family_options,
    limit_in,
    named_case,
    names_of_option,
    with_flags,
)
from m2bridge.cli.certificates import certify_command, files_of_batches
from m2bridge.cli.common import echo_json, finished, fitted, progress, report_file_written, show
from m2bridge.cli.ideals import ideal_option, read_ideal, refuse_variables
from m2bridge.convert.bounded_io import read_bytes
from m2bridge.decision_boundary.options import OPTIONS as OPTIONS_OF_BOUNDARY
from m2bridge.engine import Session
from m2bridge.errors import (
    CertificateError,
    ConversionError,
    InvalidCaseError,
    NotApplicableError,
    TooExpensiveError,
)
from m2bridge.families.registry import DEFAULT_FAMILY, families
from m2bridge.limits import clock, importing, limited, overtime
from m2bridge.results.markup import check_documentation
from m2bridge.results.sheet import enumeration, plural, visible
from m2bridge.system import save
from m2bridge.trained_weights.options import OPTIONS, WeightsOption

if TYPE_CHECKING:
    from m2bridge.families.base import Figure
    from m2bridge.results.base import Result


REPORT_FORMATS = ("text", "markdown", "latex", "latex-grid", "html", "csv", "json")
ENDINGS = {
    ".md": "markdown",
    ".tex": "latex",
    ".html": "html",
    ".htm": "html",
    ".csv": "csv",
    ".json": "json",
}
LINKED_FORMATS = ("markdown", "latex", "latex-grid", "html")


def _documentation(context: click.Context, parameter: click.Parameter, address: str) -> str:
    """Return the address after ``--docs``; InvalidCaseError if no links can be made with it."""
    check_documentation(address)
    return address


docs_option = click.option(
    "--docs",
    metavar="ADDRESS",
    default="",
    callback=_documentation,
    help=(
        "Address of the documentation (https://…, or a relative path), to which citations of its"
        " pages become links."
    ),
)


@click.command("report", epilog="Example: m2bridge report results --format html --out report.html")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--format",
    "form",
    type=click.Choice(REPORT_FORMATS),
    help="The output format [default: by the ending of --out, else text].",
)
@click.option(
    "--out",
    type=common.NewPath(dir_okay=False, path_type=Path),
    help="The file to write: .txt, .md, .tex, .html, .csv, .json, or any other with --format.",
)
@docs_option
@common.timeout_option
def report_command(
    *, folder: Path, form: str | None, out: Path | None, docs: str, timeout: float | None
) -> int:
    """Show a table and a summary of a folder of certificates, refuted statements first.

    Certificates are read, not verified; use 'm2bridge verify' for that.
    """
    if form is None:
        form = "text" if out is None else ENDINGS.get(out.suffix.lower(), "text")
    if docs and form not in LINKED_FORMATS:
        raise click.UsageError(
            f"--docs needs a format with links: --format {enumeration(LINKED_FORMATS, 'or')}"
        )
    with common.time_limit(timeout=timeout):
        with importing():
            from m2bridge import reports as report

        with progress("reading"):
            result = report.collect(folder)
        if not result.rows:
            why = "; 'm2bridge certify … --out FOLDER' writes some"
            if result.problems:
                first, count = result.problems[0], plural(len(result.problems), "file")
                why = (
                    f" that can be used; {count} with the ending .json, such as '{first.file}':"
                    f" {first.reason}"
                )
            raise click.UsageError(f"no certificates in the folder '{folder}'{why}")
        if form in LINKED_FORMATS:
            text = report.LINKED[form](result, documentation=docs)
        else:
            text = report.FORMATS[form](result)
        if form == "text" and out is None:  # on a terminal the table has the terminal's width
            text = fitted(report.to_sheet(result), plain=text.removesuffix("\n")) + "\n"
    if out is not None:
        with _name_file_in_errors(out):
            save(text, out)
        report_file_written(out)
    elif form == "json":
        echo_json(text, end="")
    else:
        click.echo(text, nl=False)
    return DONE


DEFAULT_RANGE = "1..4"
"""The range of a number of the default family that is not given."""


@click.command(
    "atlas", cls=FamilyBatch, epilog="Example: m2bridge atlas atlas --d 1..2 --d-out 1..2"
)
@click.argument("out", type=common.NewPath(file_okay=False, path_type=Path))
@click.option("--d", help=f"Input embedding dimensions d [default: {DEFAULT_RANGE}].")
@click.option("--d-out", help=f"Output embedding dimensions d' [default: {DEFAULT_RANGE}].")
@click.option("--a", help=f"Query/key dimensions a ≤ d [default: {DEFAULT_RANGE}].")
@click.option("--t", help="Numbers of tokens [default: 2].")
@click.option(
    "--family", help="A different family of models: --family polynomial-network --widths 1..3,2,1."
)
@click.option(
    "--check",
    help="Questions to answer, such as 3.2,3.4 [default: those that take minutes at most].",
)
@click.option(
    "--timeout",
    type=common.seconds,
    default=60.0,
    show_default=True,
    help="Time limit for each case.",
)
@common.batch_options
@click.option(
    "--from",
    "folder",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Use the certificates in this folder, and certify nothing.",
)
@docs_option
@click.pass_context
def atlas_command(
    ctx: click.Context, /, out: Path, folder: Path | None, docs: str, **options: Any
) -> int:
    """Write a folder OUT of HTML pages: one for each case, from its certificates, and an overview.

    Missing certificates are made in OUT/certificates, as by 'm2bridge certify': an interrupted
    command resumes when it is run again. Exit code 0 when the pages are written, whatever the
    verdicts are.
    """
    with importing():
        from m2bridge.reports.atlas import CERTIFICATES, atlas, write_atlas

    certificates = out / CERTIFICATES
    if folder is None:
        family = options["family"] or DEFAULT_FAMILY
        usual = {"family": family, "check": options["check"] or REACHABLE}
        if family == DEFAULT_FAMILY:
            usual |= {name: options[name] or DEFAULT_RANGE for name in ("d", "d_out", "a")}
        # the exit code of ``certify`` tells the verdicts; an atlas is written whatever they are
        ctx.invoke(certify_command, out=certificates, **(options | usual))
    else:
        _copy_certificates(ctx, folder, certificates)
    result = atlas(certificates)
    if not result.entries:
        raise click.UsageError(f"no certificates in the folder '{folder or certificates}'")
    index = write_atlas(result, out, docs)
    click.echo(f"{plural(len(result.entries), 'case')}: {visible(str(index))}")
    return DONE


def _copy_certificates(ctx: click.Context, folder: Path, target: Path) -> None:
    """Copy what batches leave in ``folder`` and below to ``target``; refuse other options."""
    others = sorted(common.explicit_options(ctx) - {"out", "folder", "docs"})
    if others:
        raise click.UsageError(
            f"--{others[0].replace('_', '-')} has no effect with --from, which takes all"
            " certificates of the folder"
        )
    if folder.resolve() == target.resolve():
        return
    for path in files_of_batches([folder]):
        # The target may be below the folder, and is not copied into itself.
        is_in_target = path.resolve().is_relative_to(target.resolve())
        if path.is_file() and not is_in_target:
            copy = target / path.relative_to(folder)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)


class FigureGroup(common.Commands):
    """The group ``figure``, whose families are loaded when a figure is named or listed."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the named command; the time limit also holds while families are loaded."""
        with limited(limit_in(args), begin=clock().begin or None):
            return super().resolve_command(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all figures."""
        return sorted(_figures())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command for a figure; ``None`` if there is no such figure."""
        figure = _figures().get(cmd_name)
        if figure is None:
            return None
        return _figure_command(figure)


@click.group("figure", cls=FigureGroup, epilog="Example: m2bridge figure 3 --out figure3.svg")
def figure_group() -> None:
    """Draw figures of the paper and other pictures from proved values: m2bridge figure 1 --out
    figure1.svg.
    """


def _figures() -> dict[str, Figure]:
    """Return the figures of families, trained weights and decision boundaries, by name."""
    with importing():
        from m2bridge.decision_boundary.figure import ROBUSTNESS
        from m2bridge.decision_boundary.radii import RADII
        from m2bridge.trained_weights.figure import FIGURES

    loaded, _ = families()  # without families that cannot be loaded
    figures: list[Figure] = []
    for family in loaded.values():
        figures.extend(family.figures())
    figures.extend((*FIGURES, ROBUSTNESS, RADII))
    return {figure.name: figure for figure in figures}


FIGURE_OUTPUT_OPTIONS = (
    common.timeout_option,
    click.option(
        "--json",
        "form",
        flag_value="json",
        help="Print the data, and their justification, as JSON.",
    ),
    click.option(
        "--csv", "form", flag_value="csv", help="Print the data as comma-separated values."
    ),
    click.option(
        "--out",
        type=common.NewPath(dir_okay=False, path_type=Path),
        help="The file for the picture: .svg, .pdf or .png.",
    ),
)
"""The options of each command for a figure, which follow its own."""


def _figure_command(figure: Figure) -> click.Command:
    """Return the command for a figure, with its own options and the options for the output."""
    kind = click.Command if figure.of_model is None else ModelPicture
    command = kind(
        figure.name,
        params=[
            as_parameter(option, is_renamed=figure.of_model is None) for option in figure.options
        ],
        callback=partial(_draw_figure, figure),
        help=f"{figure.title}.",
        short_help=figure.title,
    )
    if figure.of_model is not None:
        command = ideal_option(family_options(command))
    if figure.needs_engine:
        command = common.engine_option(command)
    for option in FIGURE_OUTPUT_OPTIONS:
        command = option(command)
    return command


def _draw_figure(
    figure: Figure, *, out: Path | None, form: str | None, timeout: float | None, **options: Any
) -> int:
    """Compute a figure, write its picture to ``out``, if given, and print its data: as CSV, as
    JSON, or, for ``form`` None, as a summary in words; return the exit code.
    """
    program = options.pop("program", None)  # not an option of the figure itself
    names_a_model = options.get("family") is not None or options.get("file") is not None
    named_ideal = options.pop("named_ideal", None)
    if named_ideal is not None:
        # the options that name a case, a family or a map, which --ideal stands in place of
        flags = {option.name: f"--{option.name.replace('_', '-')}" for option in figure.case}
        explicit = common.explicit_options(click.get_current_context())
        for name, flag in {**flags, "family": "--family", "file": "--map"}.items():
            if name in explicit:
                raise click.UsageError(f"--ideal and {flag} exclude each other")
    elif figure.of_model is not None:
        refuse_variables(options)
    variables = options.pop("variables", None)
    if out is not None:
        _check_writable(out)
    with (
        common.time_limit(timeout=timeout) as clock,
        progress(f"figure {figure.name}"),
        # The functions of the figure compute with the session whose block is entered. Its Macaulay2
        # starts at the first computation, so it does not start for figures without one.
        Session(program),
    ):
        model: Any = None
        if named_ideal is not None:
            with importing():
                model, _ = read_ideal(named_ideal, None, variables)
        elif names_a_model:
            model = named_case(options)
        result = figure.from_options(options, model)
    if out is not None:
        # The limit holds for the computation: its result is drawn however long that takes. Drawing
        # imports modules of matplotlib, which signals must not interrupt.
        with overtime(clock, seconds=inf), importing(), _name_file_in_errors(out):
            result.save(out)
        report_file_written(out)
    elif form is None:
        click.echo(f"No picture is written without --out {figure.name}.svg", err=True)
    if form == "csv":
        click.echo(result.to_csv(), nl=False)
        return finished(result)
    return show(result, form or "text", clock)


@contextmanager
def _name_file_in_errors(out: Path) -> Iterator[None]:
    """Let errors of the system in the block say that the file ``out`` cannot be written."""
    try:
        yield
    except OSError as reason:
        name = visible(str(out))
        raise OSError(f"'{name}' cannot be written: {reason.strerror or reason}") from None


def _check_writable(out: Path) -> None:
    """Check, before anything is computed, that a picture can be written; make its folder."""
    from m2bridge.results.picture import check_available, picture_format

    picture_format(out)
    with importing():
        check_available()
    with _name_file_in_errors(out):
        out.parent.mkdir(parents=True, exist_ok=True)


TENSOR_NAME_OPTIONS = ("query", "key", "value", "output", "stacked")
"""The options of ``weights`` that name arrays of a file."""
_TYPES = {int: common.integer, float: common.decimal}
_TYPES[Path] = click.Path(exists=True, path_type=Path)


def _click_option(option: WeightsOption) -> Callable[[Command], Command]:
    """Return the option of ``weights`` or ``robustness`` that click adds."""
    if option.kind is bool:
        return click.option(f"--{option.name}/--no-{option.name}", default=None, help=option.help)
    names, more = names_of_option(option.name)
    return click.option(
        *names,
        type=click.Choice(option.choices) if option.choices else _TYPES.get(option.kind),
        default=option.default,
        show_default=option.default is not None,
        metavar=option.metavar,
        help=option.help,
        **more,
    )


def _print_layouts(context: click.Context, _option: click.Parameter, is_asked: bool) -> None:
    """Print the table of the names of arrays that are found, and end the command."""
    if is_asked and not context.resilient_parsing:
        from m2bridge.trained_weights.checkpoints.layouts import layouts_sheet

        click.echo(fitted(layouts_sheet(), None))
        context.exit()


@click.command("weights", epilog="Example: m2bridge weights model.safetensors --heads 12")
@click.argument("file", type=click.Path(exists=True, path_type=Path))
@common.stack_options(*map(_click_option, OPTIONS))
@click.option(
    "--arrays",
    "list_arrays",
    is_flag=True,
    help="List what each array of FILE is used for, or why it is left out.",
)
@click.option(
    "--layouts",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_layouts,
    help="Print whose names of arrays are found, and exit.",
)
@common.timeout_option
@common.form_options
def weights_command(file: Path, timeout: float | None, form: str, **options: Any) -> int:
    """Analyse trained weights: ranks, orbits and singular functions exactly, distances numerically.

    FILE is .npz, .npy, .safetensors, .json, a state dict of PyTorch, or a folder of such files.
    Common names of arrays are recognized. If no name is recognized or given, the arrays in FILE
    are listed.
    """
    with common.time_limit(timeout=timeout) as clock, progress(f"weights in {file.name}"):
        with importing():
            from m2bridge.trained_weights.checkpoints.find_layers import contents
            from m2bridge.trained_weights.result import weights
        with _name_file_in_mistakes(file, options):
            has_names = any(options[name] for name in TENSOR_NAME_OPTIONS)
            # the list of the arrays in the file, if no name is given and none in it is known
            arrays = None if has_names else contents(file)
            result: Result = weights(file, **options) if arrays is None else arrays
    code = show(result, form, clock)
    if arrays is None:
        return code
    options_text = (
        "--query NAME --key NAME --value NAME, or --stacked NAME (and --output-matrix NAME)"
    )
    name = visible(file.name)
    click.echo(f"Error: no known tensor names in {name}: give {options_text}", err=True)
    return USAGE


@contextmanager
def _name_file_in_mistakes(file: Path, options: dict[str, Any]) -> Iterator[None]:
    """Let mistakes in a file of weights name the file, and mistakes in an option the option."""
    try:
        yield
    except ConversionError as reason:  # its message has the file
        raise click.UsageError(str(reason)) from None
    except InvalidCaseError as reason:
        if reason.option in options:
            raise
        raise click.UsageError(f"{file.name}: {with_flags(reason.message)}") from None


@click.command(
    "robustness", epilog="Example: m2bridge robustness examples/classifier.npz --threshold 0.5"
)
@click.argument("file", required=False, type=click.Path(exists=True, path_type=Path))
@common.stack_options(*map(_click_option, OPTIONS_OF_BOUNDARY))
@click.option(
    "--point",
    type=common.NewPath(dir_okay=False, path_type=Path),
    help="Write the nearest input, as the array X, into a .npz or .json file.",
)
@click.option(
    "--certificate",
    type=common.NewPath(dir_okay=False, path_type=Path),
    help="Write a certificate of the distance, or of the count, as JSON.",
)
@click.option("--verify", is_flag=True, help="FILE is such a certificate: say if it is accepted.")
@click.option(
    "--count",
    is_flag=True,
    help="Without FILE: count complex critical points for general weights of these sizes.",
)
@click.option("--d", type=common.integer, help="With --count: input embedding dimension d.")
@click.option("--d-out", type=common.integer, help="With --count: output embedding dimension d'.")
@click.option("--a", type=common.integer, help="With --count: query/key dimension a [default: d].")
@click.option("--t", type=common.integer, help="With --count: number of tokens [default: 2].")
@click.option("--cone", is_flag=True, help="With --count: b = 0; else b is general.")
@common.run_options
def robustness_command(
    *,
    file: Path | None,
    point: Path | None,
    certificate: Path | None,
    verify: bool,
    count: bool,
    **options: Any,
) -> int:
    """How far the input in FILE is from the decision boundary of a lightning attention layer.

    FILE has the weights, as for the command weights: K and Q, or A, V and perhaps O, or usual names
    of models. The input X (d×t) and the readout R (d'×t) or w (d' entries) are in FILE or in a
    second file. The sign of g(X) = <R, layer(X)> + b decides. The distance is an interval that is
    proved to contain it.

    With --verify, FILE is a certificate, which is checked by other formulas. Exit code 0 when it is
    accepted, for a count on trust in a prime that is drawn, 1 when it is rejected, and 3 when it is
    too large.

    With --count there is no FILE. The number of complex critical points of the distance is counted
    modulo random primes by Macaulay2, for general weights, input and b, and a general readout R; or
    with --pool for one readout w of all tokens. This is not a proof.
    """
    explicit = common.explicit_options(click.get_current_context())
    run = common.Run.of(options)
    sizes = {name: options.pop(name) for name in ("d", "d_out", "a", "t")}
    cone = options.pop("cone")
    if count:
        allowed = {*sizes, "cone", "pool", "skip", "memory", "program", "timeout", "certificate"}
        _refuse_beside("count", explicit, allowed)
        how = {"pool": options["pool"], "skip": bool(options["skip"]), "cone": cone}
        return _count_critical_points(run, sizes, certificate, how)
    if file is None:
        raise click.UsageError("Missing argument 'FILE'; or --count with --d and --d-out.")
    for name in ("memory", "program", "cone", *sizes):
        if name in explicit:
            raise click.UsageError(f"{_option_name(name)} is for --count")
    if verify:
        _refuse_beside("verify", explicit, {"file"})
        return _verify(file, run.form)
    timeout, form = run.timeout, run.form
    with common.time_limit(timeout=timeout) as clock, progress(f"distance of {file.name}"):
        with importing():
            from m2bridge.decision_boundary.result import robustness
        if point is not None and point.suffix not in (".npz", ".json"):
            raise InvalidCaseError("point", f"{visible(point.name)} is no .npz or .json file")
        with _name_file_in_mistakes(file, options):
            result = robustness(file, **options)
    code = show(result, form, clock)
    if point is not None and result.nearest is None:
        click.echo("Error: no point of the boundary was found; no file is written", err=True)
        return UNDECIDED
    if point is not None:
        save(result.nearest_as_file(".npz" if point.suffix == ".npz" else ".json"), point)
        common.report_file_written(point)
    if certificate is not None:
        try:
            text = result.to_certificate()
        except NotApplicableError as reason:
            click.echo(f"Error: {reason}", err=True)
            return UNDECIDED
        save(text.encode(), certificate)
        common.report_file_written(certificate)
    return code


def _refuse_beside(mode: str, explicit: set[str], allowed: set[str]) -> None:
    """Refuse what a mode of ``robustness`` does not take."""
    others = sorted(explicit - allowed - {mode, "form"})
    if not others:
        return
    reasons = {
        "verify": "the certificate says it itself, and its size bounds the time",
        "count": "it is for general weights, input and b (b = 0: --cone)",
    }
    other = "FILE" if others[0] == "file" else _option_name(others[0])
    raise click.UsageError(f"--{mode} takes no {other}: {reasons[mode]}")


def _option_name(name: str) -> str:
    """The option that a parameter of a command stands for."""
    return "--m2" if name == "program" else f"--{name.replace('_', '-')}"


def _count_critical_points(
    run: common.Run, sizes: dict[str, Any], certificate: Path | None, how: dict[str, Any]
) -> int:
    """Count the critical points for general weights, and print the number."""
    sizes["t"] = 2 if sizes["t"] is None else sizes["t"]
    model = named_case(sizes)
    title = f"critical points of a decision boundary, {model}"
    result, code = run.compute(title, lambda: m2bridge.robustness_count, model, **how)
    if certificate is not None:
        save(result.to_certificate().encode(), certificate)
        common.report_file_written(certificate)
    return code


def _verify(file: Path, form: str) -> int:
    """Check a certificate of a distance or of a count; print the outcome, and return its exit
    code.
    """
    with importing():
        from m2bridge.decision_boundary import checker, count_checker
    code = DONE
    try:
        text = read_bytes(file, checker.MAX_BYTES)
        if count_checker.is_of_count(text):
            outcome, because = "accepted-on-trust", count_checker.check_count(text)
        else:
            outcome, because = "accepted", checker.check_distance(text)
    except TooExpensiveError as reason:
        outcome, code, because = "too-expensive", UNDECIDED, str(reason)
    except CertificateError as reason:
        outcome, code, because = "rejected", REFUTED, str(reason)
    except ConversionError as reason:
        raise click.UsageError(f"{file.name} is not a certificate: {reason}") from None
    if form == "json":
        echo_json(json.dumps({"outcome": outcome, "because": because}, ensure_ascii=False))
    else:
        click.echo(f"{outcome}: {because}")
    return code
