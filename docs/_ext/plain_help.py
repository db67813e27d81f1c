"""The help of commands is plain text: nothing in it is markup."""

from __future__ import annotations

import re
from itertools import chain, zip_longest

import click
from sphinx.application import Sphinx

TYPED = re.compile(r"(?<!\S)('[^']*[*^][^']*'|\w+ = \[[^]]*\])")
"""A polynomial in quotation marks, or a list as in TOML."""


def escaped(app: Sphinx, ctx: click.Context, lines: list[str]) -> None:
    """Let signs that would be markup stand for themselves."""
    lines[:] = [re.sub(r"[*`|\\]|(?<=\w)_(?!\w)", r"\\\g<0>", line) for line in lines]


def without_emphasis(app: Sphinx, ctx: click.Context, lines: list[str]) -> None:
    """Let stars stand for themselves, and what is typed be code; the rest of an option's
    description is markup of the extension.
    """
    lines[:] = [as_typed(line) for line in lines]


def as_typed(line: str) -> str:
    """Return a line of reStructuredText, with polynomials and settings in it as code."""
    parts = TYPED.split(line)
    words = [part.replace("*", r"\*") for part in parts[::2]]
    code = [f"``{part}``" for part in parts[1::2]]
    return "".join(chain.from_iterable(zip_longest(words, code, fillvalue="")))


def setup(app: Sphinx) -> dict[str, bool]:
    """Register it for the text of each command and of its options."""
    app.connect("sphinx-click-process-description", escaped)
    app.connect("sphinx-click-process-options", without_emphasis)
    return {"parallel_read_safe": True}
