"""What to do next, at a mistake on the command line."""

from __future__ import annotations

from collections.abc import Sequence

import click

EXAMPLE = "Example: m2bridge closure --d 2 --d-out 1"


def refusal(error: click.ClickException, words: Sequence[str]) -> str:
    """What click says of a mistake; of an option that there is not, with what was meant."""
    if isinstance(error, click.NoSuchOption) and error.ctx is not None:
        advice = _meant(error, error.ctx, words)
        if advice:
            return f"No such option '{error.option_name}'{advice}"
        return _one_dash(error, error.ctx, words) or error.format_message()
    return error.format_message()


def _meant(error: click.NoSuchOption, ctx: click.Context, words: Sequence[str]) -> str:
    """Where the option belongs, if it is right elsewhere."""
    name, example = error.option_name, (ctx.command.epilog or EXAMPLE).removeprefix("Example: ")
    if isinstance(ctx.command, click.Group):
        return f" before a command: options follow it, as in '{example}'"
    if name in ("--map", "--ideal", "--file", "--folder", "--out") and _takes_a_path(ctx.command):
        return f": the path is given without an option, as in '{example}'"
    if name in ("--out", "--output", "-o"):
        return f": what is printed goes to a file by the shell, as in '{example} > FILE'"
    owners = _families_with(name) if any(param.name == "family" for param in ctx.command.params) else []
    if not owners:
        return ""
    if any(word.partition("=")[0] == "--map" for word in words):
        return ": a case is named by numbers or by --map FILE, and not by both"
    return f": it is an option of {' and '.join(f'--family {owner}' for owner in owners)}"


def _takes_a_path(command: click.Command) -> bool:
    return any(
        isinstance(param, click.Argument) and param.required and isinstance(param.type, click.Path)
        for param in command.params
    )


def _families_with(option: str) -> list[str]:
    """The families whose cases are named by this option, among others."""
    from m2bridge.families import families

    named = option.removeprefix("--").replace("-", "_")
    return [name for name, family in families()[0].items() if named in (own.name for own in family.options)]


def _one_dash(error: click.NoSuchOption, ctx: click.Context, words: Sequence[str]) -> str:
    """The option that was meant where one dash is missing: ``-d 2``."""
    known = {option for param in ctx.command.get_params(ctx) for option in param.opts}
    wrong = (word.partition("=")[0] for word in words if word.startswith(error.option_name))
    meant = next((f"-{word}" for word in (*wrong, error.option_name) if f"-{word}" in known), None)
    return "" if error.possibilities or meant is None else f"No such option '{meant[1:]}'. Did you mean '{meant}'?"


def usage(group: click.Group, words: Sequence[str]) -> str:
    """How to use a command that was given alone, with an example; empty where more was given."""
    command = group.commands.get(words[0]) if len(words) == 1 else None
    if command is None:
        return ""
    context = click.Context(command, info_name=f"m2bridge {command.name}")
    lines = (command.get_usage(context), command.epilog, f"All options: m2bridge {command.name} --help")
    return "".join(f"{line}\n" for line in lines if line)
