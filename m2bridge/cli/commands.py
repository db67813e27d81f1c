"""``m2bridge cite``: how to cite the program and the papers."""

from __future__ import annotations

import json
import platform
import sys
import traceback
from collections.abc import Sequence
from importlib import metadata

import click

from m2bridge._version import __version__
from m2bridge.citation import WORKS
from m2bridge.cli import certifying, checking, computing, reporting, verifying
from m2bridge.cli import reporting as atlas
from m2bridge.cli.computing import implicitize_command, run_command
from m2bridge.cli.figure import figure_group
from m2bridge.cli.options import Commands, engine_option
from m2bridge.cli.output import (
    DONE,
    FAILED,
    INTERRUPTED,
    NO_ENGINE,
    UNDECIDED,
    USAGE,
    echo_json,
    fitted,
    refusal,
    usage,
)
from m2bridge.engine import Candidate, candidates, locate
from m2bridge.errors import (
    EngineError,
    EngineNotFoundError,
    EngineVersionError,
    InvalidCaseError,
    M2BridgeError,
    MemoryLimitError,
    MethodUnavailableError,
    PackageError,
    TimeLimitError,
    TooLargeError,
)
from m2bridge.results.sheet import Block, Facts, Sheet, Table, line, shortened, visible
from m2bridge.system import folder


def _text() -> str:
    return "\n".join(f"For {reason}:\n    {work}" for reason, work in WORKS)


def _bibtex() -> str:
    return "\n".join(f"% for {reason}\n{work.to_bibtex()}" for reason, work in WORKS).rstrip()


def _json() -> str:
    return json.dumps([work.to_csl() | {"note": f"For {reason}"} for reason, work in WORKS], ensure_ascii=False)


FORMS = {"text": _text, "bibtex": _bibtex, "json": _json}


@click.command("cite", epilog="Example: m2bridge cite --format bibtex")
@click.option("--format", "form", type=click.Choice(list(FORMS)), default="text", show_default=True, help="How.")
@click.option(
    "--json", "form", flag_value="json", help="The same as --format json: a list for CSL, which Zotero reads."
)
def cite_command(form: str) -> int:
    """How to cite m2bridge, and the papers behind it."""
    text = FORMS[form]()
    echo_json(text) if form == "json" else click.echo(text)
    return DONE


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


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@click.version_option(__version__, prog_name="m2bridge")
def cli() -> None:
    """Algebraic geometry of lightning self-attention, computed by Macaulay2.

    Exit codes: 0 computed or confirmed, 1 refuted, 2 wrong usage, 3 undecided within the limits, 4 no Macaulay2,
    5 another failure, 130 interrupted; 129, 141, 143 ended by SIGHUP, SIGPIPE, SIGTERM.
    """


COMMANDS = (
    *computing.COMMANDS,
    implicitize_command,
    run_command,
    *checking.COMMANDS,
    *certifying.COMMANDS,
    *verifying.COMMANDS,
    *reporting.COMMANDS,
    *atlas.ATLAS_COMMANDS,
    figure_group,
    cite_command,
    doctor_command,
)

for command in COMMANDS:
    cli.add_command(command)


def run() -> int:
    """Run the command line; the exit code."""
    words = sys.argv[1:]
    try:
        return int(cli.main(standalone_mode=False, prog_name="m2bridge") or DONE)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return USAGE
    except click.ClickException as error:
        return _refuse(refusal(error, words), words)
    except (KeyboardInterrupt, click.Abort) as error:
        if isinstance(error.__cause__, EOFError):  # click takes it for the end of what a person types
            return _fail("a process that should have answered has ended", FAILED)
        click.echo("Interrupted.", err=True)
        return INTERRUPTED
    except InvalidCaseError as error:
        return _refuse(f"--{error.option.replace('_', '-')}: {error.message}", words)
    except (MethodUnavailableError, PackageError) as error:
        return _fail(str(error), USAGE)
    except (EngineNotFoundError, EngineVersionError) as error:
        return _fail(str(error), NO_ENGINE)
    except (TimeLimitError, MemoryLimitError, TooLargeError) as error:
        return _fail(str(error), UNDECIDED)
    except M2BridgeError as error:
        return _fail(f"{type(error).__name__}: {error}", FAILED)
    except MemoryError:
        return _fail("there is not enough memory for this, on this machine or within its limit", UNDECIDED)
    except OSError as error:
        return _fail(str(error), FAILED)
    except Exception:  # a mistake in m2bridge: it is shown, and its exit code is not that of a refuted statement
        click.echo(traceback.format_exc(), err=True, nl=False)
        return FAILED


def _refuse(message: str, words: Sequence[str]) -> int:
    """Show what is wrong with the words of the command line; a command without any is shown how it is used."""
    click.echo(usage(cli, words), err=True, nl=False)
    return _fail(message, USAGE)


def _fail(message: str, code: int) -> int:
    """Show a message, in which words of any origin command no terminal; only a failure takes more than one line."""
    said = "\n".join(map(visible, message.split("\n"))) if code == FAILED else shortened(line(message))
    click.echo(f"Error: {said}", err=True)
    return code
