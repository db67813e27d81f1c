"""``m2bridge doctor``: what this installation consists of."""

from __future__ import annotations

import platform
from importlib import metadata

import click

from m2bridge._version import __version__
from m2bridge.cli.options import engine_option
from m2bridge.cli.output import DONE, NO_ENGINE, fitted
from m2bridge.engine import Candidate, candidates, locate
from m2bridge.errors import EngineError
from m2bridge.layout import line, shortened
from m2bridge.resources import folder
from m2bridge.sheet import Block, Facts, Sheet, Table

PACKAGES = ("sympy", "python-flint", "jinja2", "pexpect", "click", "psutil", "rich", "passagemath-macaulay2")


def report(explicit: str | None) -> tuple[Sheet, EngineError | None]:
    """The report, and the error if there is no engine to work with."""
    failure: EngineError | None = None
    taken: Candidate | None = None
    try:
        taken = locate(explicit)
    except EngineError as error:
        failure = error
    rows = [(*_describe(c), "taken" if c == taken else "") for c in candidates(explicit)]
    title = f"m2bridge {__version__}, Python {platform.python_version()}, {platform.platform(terse=True)}"
    blocks: list[Block] = [
        Facts([(name, folder(name)) for name in ("templates", "m2scripts")]),
        Table(("from", "program", "version", ""), rows, "Macaulay2, in the order of search"),
        Table(("package", "version"), [(name, _installed(name)) for name in PACKAGES]),
    ]
    return Sheet(title, blocks), failure


def _describe(candidate: Candidate) -> tuple[str, str, str]:
    if candidate.program is None:
        return candidate.origin, "not found", ""
    try:
        return candidate.origin, line(str(candidate.program)), candidate.version
    except EngineError as error:
        said = str(error).split(". Get Macaulay2")[0]
        return candidate.origin, line(str(candidate.program)), shortened(line(said))


def _installed(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"


@click.command("doctor", epilog="Example: m2bridge doctor")
@engine_option
def doctor_command(program: str | None) -> int:
    """Show which Macaulay2 is used, and from where everything comes."""
    sheet, failure = report(program)
    click.echo(fitted(sheet.text, lambda: sheet))
    if failure is not None:
        click.echo(f"\n{shortened(line(str(failure)))}", err=True)
        return NO_ENGINE
    return DONE
