"""The command line as a whole: all commands in sections, and how errors are reported.

In this module ``words`` are the arguments on the command line, without the name of the program, and
``ctx`` is the context of the command with the mistake. Advice that does not apply is empty.
"""

import sys
import traceback
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

import click

from m2bridge import errors
from m2bridge._version import __version__
from m2bridge.cli import (
    DONE,
    FAILED,
    INTERRUPTED,
    UNDECIDED,
    USAGE,
    certificates as certifying,
    compute as computing,
    decide as deciding,
    doctor,
    ideals,
    macaulay2 as bridge,
    mcp,
    show as showing,
)
from m2bridge.cli.cases import RENAMED, flag_of, with_flags
from m2bridge.cli.common import Commands
from m2bridge.families.registry import families
from m2bridge.results.sheet import line as on_one_line, shortened, visible_lines

# By who asks; each command with a sentence that fits on a line of 80 characters.
SECTIONS = {
    "Ideals and polynomial maps": {
        ideals.ideal_command: "Compute dimension, radical, decomposition … of an ideal.",
        computing.implicitize_command: "Compute the closure of the image of a map in a file.",
        computing.dimension_command: "Compute the dimension of a closure, by several methods.",
        computing.closure_command: "Compute the equations and invariants of a closure.",
        computing.singular_locus_command: "Compute the singular locus of a closure or a variety.",
        computing.polar_degrees_command: "Compute the polar degrees of a closure or a variety.",
        computing.ed_degree_command: "Count the critical points of a distance on a variety.",
    },
    "Attention and statements about it": {
        deciding.cross_check_command: "Decide statements for one case, or for all sizes.",
        deciding.membership_command: "Decide whether a function is in the neuromanifold.",
        computing.critical_points_command: "Find where training on given data stops.",
        showing.figure_group: "Draw figures of the paper and other pictures.",
    },
    "Certificates": {
        certifying.certify_command: "Certify the cases of a grid, into a folder.",
        certifying.verify_command: "Verify certificates, without Macaulay2.",
        showing.report_command: "Show a table of a folder of certificates.",
        showing.atlas_command: "Write a folder of HTML pages, one for each case.",
    },
    "Trained weights": {
        showing.weights_command: "Analyse a checkpoint: ranks, symmetries, distances.",
        showing.robustness_command: "Prove how far an input is from a decision boundary.",
    },
    "Macaulay2 and this program": {
        bridge.run_command: "Run Macaulay2 code.",
        bridge.script_command: "Print the Macaulay2 program of a computation.",
        mcp.mcp_command: "Serve commands as tools for assistants.",
        doctor.doctor_command: "Show which Macaulay2 is used, and what is installed.",
        bridge.cite_command: "Print how to cite m2bridge and its sources.",
    },
}
COMMANDS: tuple[click.Command, ...] = tuple(chain(*SECTIONS.values()))


@click.group(
    cls=Commands,
    sections=SECTIONS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
)
@click.version_option(__version__, prog_name="m2bridge")
def cli() -> None:
    """Algebraic geometry of lightning self-attention, computed by Macaulay2.

    Exit codes: 0 computed or confirmed, 1 refuted, 2 wrong usage, 3 undecided within the limits, 4
    no Macaulay2, 5 another failure, 130 interrupted; 129, 141, 143 ended by SIGHUP, SIGPIPE,
    SIGTERM.
    """


def run() -> int:
    """Run the command line and return its exit code."""

    def main() -> Any:
        # click passes ``obj`` to ``mcp``, which reports errors of commands in its workers with it
        return cli.main(standalone_mode=False, prog_name="m2bridge", obj=run_reporting_errors)

    return run_reporting_errors(main, sys.argv[1:])


def run_reporting_errors(perform: Callable[[], Any], words: Sequence[str] = ()) -> int:
    """Run a command, print its error, if any, and return its exit code, as the help of :func:`cli`
    lists them; advice is made from ``words``.
    """
    try:
        return int(perform() or DONE)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()  # the help of a group that was given without a command
        return USAGE
    except click.ClickException as error:
        message = error.format_message()
        if isinstance(error, click.NoSuchOption) and error.ctx is not None:
            message = _missing_dash(error, error.ctx, words) or message
            advice = _where_option_belongs(error, error.ctx, words)
            if advice:
                message = f"No such option '{error.option_name}'{advice}"
        return _refuse(message, words)
    except (KeyboardInterrupt, click.Abort) as error:
        # click makes Abort of KeyboardInterrupt, and of EOFError: nobody is asked for input, so
        # that is the end of the pipe from a process
        if isinstance(error.__cause__, EOFError):
            return _print_error("a process ended before it answered", FAILED)
        click.echo("Interrupted.", err=True)
        return INTERRUPTED
    except errors.InvalidCaseError as error:
        return _refuse(_invalid_option(error), words)
    except errors.M2BridgeError as error:
        message = str(error)
        if error.exit_code == FAILED:
            message = f"{type(error).__name__}: {message}"
        return _print_error(message, error.exit_code)
    except MemoryError:
        message = "not enough memory on this machine, or within the limit on memory"
        return _print_error(message, UNDECIDED)
    except OSError as error:
        return _print_error(str(error), FAILED)
    except Exception:
        # A bug in m2bridge shows its traceback; its exit code differs from a refuted statement's.
        click.echo(visible_lines(traceback.format_exc()), err=True, nl=False)
        return FAILED


def _invalid_option(error: errors.InvalidCaseError) -> str:
    """Return the message for an invalid argument, with the option's name, as click writes it."""
    if error.option == "relations":  # this is not an option but a part of the file with a map
        return f"Invalid value for '--map': [map] relations: {error.message}"
    option = f"--{RENAMED.get(error.option) or flag_of(error.option)}"
    message = with_flags(error.message)
    # Messages 'must …', and whole clauses, are about the value. Other predicates, such as 'has no
    # effect', have the option itself as their subject.
    is_about_value = error.message.startswith("must ") or not error.is_predicate
    if is_about_value:
        return f"Invalid value for '{option}': {message}"
    return f"Option {with_flags(error.with_name(option))}"


def _refuse(message: str, words: Sequence[str]) -> int:
    """Print the usage of a command without any arguments, with an example, and a mistake; return
    the exit code.
    """
    command = cli.commands.get(words[0]) if len(words) == 1 else None
    if command is not None:
        context = click.Context(command, info_name=f"m2bridge {command.name}")
        lines = (
            command.get_usage(context),
            command.epilog,
            f"All options: m2bridge {command.name} --help",
        )
        # not all commands have an example
        click.echo("".join(f"{text}\n" for text in lines if text), err=True, nl=False)
    return _print_error(errors.as_sentence(message), USAGE)


def _print_error(message: str, exit_code: int) -> int:
    """Print an error message, on one line unless it is a failure; return the exit code."""
    text = shortened(on_one_line(message))
    if exit_code == FAILED:
        text = visible_lines(message)
    click.echo(f"Error: {text}", err=True)
    return exit_code


EXAMPLE = "Example: m2bridge closure --d 2 --d-out 1"


def _where_option_belongs(
    error: click.NoSuchOption, ctx: click.Context, words: Sequence[str]
) -> str:
    """Return advice on where an unknown option belongs."""
    name = error.option_name
    example = (ctx.command.epilog or EXAMPLE).removeprefix("Example: ")
    params = ctx.command.params
    takes_a_path = any(
        isinstance(param, click.Argument) and param.required and isinstance(param.type, click.Path)
        for param in params
    )
    if isinstance(ctx.command, click.Group):  # as in 'm2bridge --d 2 closure'
        return f" before a command: options follow it, as in '{example}'"
    if name in ("--map", "--ideal", "--file", "--folder", "--out") and takes_a_path:
        return f": the path is given without an option, as in '{example}'"
    if name in ("--out", "--output", "-o"):
        return f": redirect the output to a file, as in '{example} > FILE'"
    if not any(param.name == "family" for param in params):
        return ""
    parameter = name.removeprefix("--").replace("-", "_")
    loaded, _ = families()  # without those that cannot be loaded
    owners = []
    for family_name, family in loaded.items():
        if parameter in [option.name for option in family.options]:
            owners.append(family_name)
    if not owners:
        return ""
    if any(word.partition("=")[0] == "--map" for word in words):
        return ": give numbers or --map FILE, not both"
    return f": it is an option of {' and '.join(f'--family {owner}' for owner in owners)}"


def _missing_dash(error: click.NoSuchOption, ctx: click.Context, words: Sequence[str]) -> str:
    """Return the message for an option with one dash too few, such as ``-d 2``.

    Of ``-json``, which click takes for several short options, ``error`` has only ``-j``; so all
    words that begin with that are looked at.
    """
    options: set[str] = set()
    for param in ctx.command.get_params(ctx):
        options.update(param.opts)
    begun_alike = [word for word in words if word.startswith(error.option_name)]
    candidates = [word.partition("=")[0] for word in begun_alike]  # without the value
    candidates.append(error.option_name)
    meant = [word for word in candidates if f"-{word}" in options]
    if error.possibilities or not meant:  # possibilities are the options that click suggests
        return ""
    return f"No such option '{meant[0]}'. Did you mean '-{meant[0]}'?"
