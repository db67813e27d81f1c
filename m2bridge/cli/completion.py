"""What the shell completes where the values are not in the program: names of families, statements and questions."""

from __future__ import annotations

from collections.abc import Iterable

import click
from click.shell_completion import CompletionItem

from m2bridge.errors import InvalidCaseError

ALL = "all"
"""Every statement, or every usual question."""
REACHABLE = "reachable"
"""Every question of which an answer is expected within minutes."""


def families(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The families that are installed."""
    from m2bridge.families import family_names

    return _items(family_names(), incomplete)


def statements(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The statements about the family that is named."""
    from m2bridge.families import family

    try:
        named = dict.fromkeys(statement.key for statement in family(_family(ctx)).statements())
    except InvalidCaseError:
        return []
    return _items((ALL, *named), incomplete)


def questions(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The questions about the family that is named; the last one of several."""
    from m2bridge.certifying.questions import questions

    try:
        return _last((ALL, REACHABLE, *questions(_family(ctx))), incomplete)
    except InvalidCaseError:
        return []


def kinds(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The kinds of outcomes of a batch; the last one of several."""
    from m2bridge.batch.unanswered import KINDS

    return _last(KINDS, incomplete)


def _family(ctx: click.Context) -> str:
    from m2bridge.families import DEFAULT

    return ctx.params.get("family") or DEFAULT


def _items(names: Iterable[str], incomplete: str, before: str = "") -> list[CompletionItem]:
    return [CompletionItem(before + name) for name in names if name.startswith(incomplete)]


def _last(names: Iterable[str], incomplete: str) -> list[CompletionItem]:
    before, comma, begun = incomplete.rpartition(",")
    return _items(names, begun, before + comma)
