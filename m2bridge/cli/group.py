"""Groups of commands."""

from __future__ import annotations

import click


class Commands(click.Group):
    """Commands with their whole summaries in the help, on as many lines as they take."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """One after the other."""
        named = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.get_short_help_str(1000)) for name, command in named if command])
