"""The command line as a whole: all commands, by what they are for, and the exit codes of errors."""

import sys
import traceback
from collections.abc import Sequence
from itertools import chain

import click

from m2bridge._version import __version__
from m2bridge.cli.bridge import cite_command, doctor_command, run_command, script_command
from m2bridge.cli.certifying import certify_command, verify_command
from m2bridge.cli.computing import closure_command, dimension_command, implicitize_command, singular_locus_command
from m2bridge.cli.deciding import cross_check_command, membership_command
from m2bridge.cli.options import Commands
from m2bridge.cli.output import DONE, FAILED, INTERRUPTED, NO_ENGINE, UNDECIDED, USAGE, refusal, usage
from m2bridge.cli.showing import atlas_command, figure_group, report_command
from m2bridge.errors import (
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
from m2bridge.results.sheet import line, shortened, visible

SECTIONS = {
    "Compute": (dimension_command, closure_command, singular_locus_command, implicitize_command),
    "Decide": (cross_check_command, membership_command),
    "Certify and verify": (certify_command, verify_command),
    "Show": (report_command, atlas_command, figure_group),
    "Bridge to Macaulay2, and this program": (run_command, script_command, doctor_command, cite_command),
}
COMMANDS: tuple[click.Command, ...] = tuple(chain(*SECTIONS.values()))


@click.group(
    cls=Commands, sections=SECTIONS, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120}
)
@click.version_option(__version__, prog_name="m2bridge")
def cli() -> None:
    """Algebraic geometry of lightning self-attention, computed by Macaulay2.

    Exit codes: 0 computed or confirmed, 1 refuted, 2 wrong usage, 3 undecided within the limits, 4 no Macaulay2,
    5 another failure, 130 interrupted; 129, 141, 143 ended by SIGHUP, SIGPIPE, SIGTERM.
    """


def run() -> int:
    """Run the command line, and return its exit code."""
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
    """Show what is wrong with the words of the command line, and how a command that stands alone is used."""
    click.echo(usage(cli, words), err=True, nl=False)
    return _fail(message, USAGE)


def _fail(message: str, code: int) -> int:
    """Show a message, without control characters; only that of a failure takes more than one line."""
    text = "\n".join(map(visible, message.split("\n"))) if code == FAILED else shortened(line(message))
    click.echo(f"Error: {text}", err=True)
    return code
