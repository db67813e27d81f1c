"""The help of commands is plain text: nothing in it is markup."""

from __future__ import annotations

import re

import click
from sphinx.application import Sphinx


def escaped(app: Sphinx, ctx: click.Context, lines: list[str]) -> None:
    """Let signs that would be markup stand for themselves."""
    lines[:] = [re.sub(r"[*`|\\]|(?<=\w)_(?!\w)", r"\\\g<0>", line) for line in lines]


def without_emphasis(app: Sphinx, ctx: click.Context, lines: list[str]) -> None:
    """Let stars stand for themselves; the rest of an option's description is markup of the
    extension.
    """
    lines[:] = [line.replace("*", r"\*") for line in lines]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register it for the text of each command and of its options."""
    app.connect("sphinx-click-process-description", escaped)
    app.connect("sphinx-click-process-options", without_emphasis)
    return {"parallel_read_safe": True}
