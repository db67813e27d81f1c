"""Theorems of the site have names and no numbers, since numbers are those of the papers.

A theorem stands as *Theorem (Fibres for all sizes)*, and a reference to it is *Theorem “Fibres for
all sizes”*; one with a letter, as *L: the dimension of lightning attention*, is *Theorem L*.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

DOCS = Path(__file__).parents[1]
HEAD = re.compile(r"^```\{prf:(?!proof\b)(\w+)\} (.+)\n:label: ([\w-]+)\n", re.MULTILINE)
LETTER = re.compile(r"([A-Z]\d?): ")
BEFORE_REFERENCES = 5
"""The references of Sphinx are resolved with priority 10."""


def without_number(app: Sphinx, docname: str, source: list[str]) -> None:
    """Take its number from each theorem of a page."""
    source[0] = HEAD.sub(lambda found: f"{found[0]}:nonumber:\n", source[0])


@cache
def names() -> dict[str, str]:
    """The name of each theorem, by its label."""
    found = {}
    for page in DOCS.rglob("*.md"):
        for kind, title, label in HEAD.findall(page.read_text(encoding="utf-8")):
            letter = LETTER.match(title)
            name = letter[1] if letter else f"“{title}”"
            found[label] = f"{kind.title()} {name}"
    return found


class NamedReferences(SphinxPostTransform):
    """Write the names of theorems into references to them."""

    default_priority = BEFORE_REFERENCES

    def run(self, **options: Any) -> None:
        for reference in self.document.findall(addnodes.pending_xref):
            label = reference["reftarget"]
            if reference.get("refdomain") == "prf" and reference.astext() == label:
                reference.children = [nodes.inline("", names()[label])]
                reference[0].parent = reference


def setup(app: Sphinx) -> dict[str, bool]:
    """Register both."""
    app.connect("source-read", without_number)
    app.add_post_transform(NamedReferences)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
