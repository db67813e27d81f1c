"""The help of commands is plain text: nothing in it is markup."""

from __future__ import annotations

import re

import click
from sphinx.application import Sphinx

TYPED = re.compile(
    r"(?<!\S)('[^']*[*^][^']*'|\w+ = \[[^]]*\]|(?<=Example: )m2bridge .*)"
    r"|--family [\w-]+ --widths [\d.,]*\d"
    r"|(?<![\w-])(--[A-Za-z][\w-]*(?![\w=])|https://…|tcp://host:port)"
)
"""Polynomials in quotation marks, lists as in TOML, examples, options (a family with its sizes, or
the name alone), and addresses that are no links.
"""
REQUIRED = "**Required**"
"""How the extension begins the description of an option that is required."""
MARKUP = re.compile(r"[*`|\\]|(?<=\w)_(?!\w)")


def escaped(app: Sphinx, ctx: click.Context, lines: list[str]) -> None:
    """Let signs that would be markup stand for themselves, and what is typed be code."""
    lines[:] = [as_typed(line, MARKUP) for line in lines]


def without_emphasis(app: Sphinx, ctx: click.Context, lines: list[str]) -> None:
    """Do so for the options of a command, where all but the stars in a help text is markup of the
    extension: directives, fields, and the word for options that are required.
    """
    star = re.compile(r"\*")
    for place, line in enumerate(lines):
        if line.strip().startswith((".. ", ":")):
            continue
        before, required, help_text = line.rpartition(REQUIRED)
        lines[place] = f"{before}{required}{as_typed(help_text, star)}"


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
