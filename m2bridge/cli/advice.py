"""What to do next, at a mistake on the command line."""

from __future__ import annotations

from collections.abc import Sequence

import click


def refusal(error: click.ClickException, words: Sequence[str]) -> str:
    """What click says of a mistake, with the option that was meant where one dash is missing: ``-d 2``."""
    if isinstance(error, click.NoSuchOption) and not error.possibilities and error.ctx is not None:
        known = {option for param in error.ctx.command.get_params(error.ctx) for option in param.opts}
        wrong = (word.partition("=")[0] for word in words if word.startswith(error.option_name))
        if meant := next((f"-{word}" for word in (*wrong, error.option_name) if f"-{word}" in known), None):
            return f"No such option '{meant[1:]}'. Did you mean '{meant}'?"
    return error.format_message()


def usage(group: click.Group, words: Sequence[str]) -> str:
    """How to use a command that was given alone, with an example; empty where more was given."""
    command = group.commands.get(words[0]) if len(words) == 1 else None
    if command is None:
        return ""
    context = click.Context(command, info_name=f"m2bridge {command.name}")
    lines = (command.get_usage(context), command.epilog, f"All options: m2bridge {command.name} --help")
    return "".join(f"{line}\n" for line in lines if line)
