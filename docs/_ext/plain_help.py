"""The help of commands is plain text: nothing in it is markup."""

from __future__ import annotations

import re

import click
from sphinx.application import Sphinx

TYPED = re.compile(
    r"(?<!\S)('[^']*[*^][^']*'|\w+ = \[[^]]*\]|(?<=Example: )m2bridge .*)"
    r"|(?<![\w-])(--[a-z][\w-]*(?![\w=])|https://…)"
)
"""Polynomials in quotation marks, lists as in TOML, examples, options, and how addresses begin."""
MARKUP = re.compile(r"[*`|\\]|(?<=\w)_(?!\w)")


def escaped(app: Sphinx, ctx: click.Context, lines: list[str]) -> None:
    """Let signs that would be markup stand for themselves, and what is typed be code."""
    lines[:] = [as_typed(line, MARKUP) for line in lines]


def without_emphasis(app: Sphinx, ctx: click.Context, lines: list[str]) -> None:
    """The same where the rest of an option's description is markup of the extension."""
    star = re.compile(r"\*")
    lines[:] = [
        line if line.strip().startswith((".. ", ":")) else as_typed(line, star) for line in lines
    ]


def as_typed(line: str, markup: re.Pattern[str]) -> str:
    """Return a line of reStructuredText in which what is typed is code, and no sign is markup."""
    written = []
    end = 0
    for typed in TYPED.finditer(line):
        written += [markup.sub(r"\\\g<0>", line[end : typed.start()]), f"``{typed[0]}``"]
        end = typed.end()
    return "".join([*written, markup.sub(r"\\\g<0>", line[end:])])


def setup(app: Sphinx) -> dict[str, bool]:
    """Register it for the text of each command, of its options and of its example."""
    app.connect("sphinx-click-process-description", escaped)
    app.connect("sphinx-click-process-epilog", escaped)
    app.connect("sphinx-click-process-options", without_emphasis)
    return {"parallel_read_safe": True}
