"""The command for atlases."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import click

from m2bridge.cli import completion
from m2bridge.cli.certifying import certify_command
from m2bridge.cli.families import FamilyBatch
from m2bridge.cli.options import MemorySize, NewPath, Seconds, engine_option
from m2bridge.cli.output import DONE
from m2bridge.cli.reporting import docs_option
from m2bridge.families import DEFAULT
from m2bridge.layout import plural
from m2bridge.startup import importing

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
        from m2bridge.atlas import atlas, write_atlas
        from m2bridge.atlas.write import CERTIFICATES

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


COMMANDS = (atlas_command,)
