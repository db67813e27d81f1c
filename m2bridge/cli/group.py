"""Groups of commands."""

from __future__ import annotations

from difflib import get_close_matches

import click


class Commands(click.Group):
    """Commands with their whole summaries in the help, on as many lines as they take."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """One after the other."""
        named = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.get_short_help_str(1000)) for name, command in named if command])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is named; of a name that none has, the closest, or all there are."""
        name, known = args[0], self.list_commands(ctx)
        if name.startswith("-") or ctx.resilient_parsing or name in known:
            return super().resolve_command(ctx, args)
        close = get_close_matches(name, known)
        hint = f"Did you mean '{close[0]}'?" if close else f"There are: {', '.join(known)}."
        raise click.UsageError(f"No such command '{name:.60}'. {hint}", ctx)
