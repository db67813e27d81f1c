"""The help of commands is plain text: nothing in it is markup."""

from __future__ import annotations

import re

import click
from sphinx.application import Sphinx


def escaped(app: Sphinx, ctx: click.Context, lines: list[str]) -> None:
    """Let signs that would be markup stand for themselves."""
    lines[:] = [re.sub(r"[*`|\\]|(?<=\w)_(?!\w)", r"\\\g<0>", line) for line in lines]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register it for the text of each command."""
    app.connect("sphinx-click-process-description", escaped)
    return {"parallel_read_safe": True}
