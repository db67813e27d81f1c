"""All commands, and the exit code of every error."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence

import click

from m2bridge._version import __version__
from m2bridge.cli import atlas, certifying, checking, computing, reporting, verifying
from m2bridge.cli.advice import refusal, usage
from m2bridge.cli.cite import cite_command
from m2bridge.cli.doctor import doctor_command
from m2bridge.cli.figure import figure_group
from m2bridge.cli.group import Commands
from m2bridge.cli.implicitize import implicitize_command
from m2bridge.cli.output import DONE, FAILED, INTERRUPTED, NO_ENGINE, UNDECIDED, USAGE
from m2bridge.cli.running import run_command
from m2bridge.errors import (
    EngineMemoryError,
    EngineNotFoundError,
    EngineTimeoutError,
    EngineVersionError,
    InvalidCaseError,
    M2BridgeError,
    MethodUnavailableError,
    PackageError,
    TooLargeError,
)
from m2bridge.layout import line, shortened, visible


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
    *atlas.COMMANDS,
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
    except (EngineTimeoutError, EngineMemoryError, TooLargeError) as error:
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
