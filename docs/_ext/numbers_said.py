"""Numbers in running text are those that the cells beside it have computed.

In a section whose programs are run with the site, a dimension, a degree, a rank or a number of
points that running text names has to stand in a program or an output of that section. Else there is
a warning, and so no site. What is derived on the page, such as 22 - 2 = 20, is a formula.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging

RUN = re.compile(r"^```\{(?:code-cell|command-output)\}", re.MULTILINE)
"""Programs of a page that are run with the site."""
SMALL = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
TEENS = ("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen")
WORDS = {word: str(number) for number, word in enumerate(SMALL + TEENS, start=2)}
NUMBER = rf"\b(\d+|{'|'.join(WORDS)})\b"
MEASURES = "dimensions?|degrees?|rank|length"
COUNTED = (
    r"dimensions|parameters|points|directions|coordinates|generators|certificates|velocities|vectors"
    r"|orbits|quadrics|cubics|quartics|quintics"
)
SAID = (
    re.compile(rf"\b(?:{MEASURES})(?: (?:is|are|of|at least|at most))* {NUMBER}", re.IGNORECASE),
    re.compile(rf"{NUMBER}(?: [a-z]+)? (?:{COUNTED})\b", re.IGNORECASE),
    re.compile(rf"{NUMBER}(?:, of which\b| (?:are )?independent\b)", re.IGNORECASE),
    re.compile(rf"^{NUMBER}(?=:)", re.IGNORECASE),
)
"""How running text says a number, as in "dimension 13", "six parameters" and "Three: …"."""


def numbers_said(text: str) -> Iterator[tuple[str, str]]:
    """Numbers of something computed in running text, in digits, each with its words."""
    for said in SAID:
        for match in said.finditer(text):
            number = match[1].lower()
            yield WORDS.get(number, number), match[0]


def running_text(paragraph: nodes.paragraph) -> str:
    """The text of a paragraph on one line, with a dot for each formula and each piece of code."""
    parts = []
    for text in paragraph.findall(nodes.Text):
        is_said = not isinstance(text.parent, nodes.literal | nodes.math)
        parts.append(text.astext() if is_said else "·")
    return " ".join("".join(parts).split())


def without_subsections(section: nodes.section) -> list[nodes.Node]:
    """The nodes of a section that are in none of the sections below it."""
    children = [child for child in section.children if not isinstance(child, nodes.section)]
    return [node for child in children for node in child.findall()]


def unfounded(document: nodes.document) -> Iterator[tuple[nodes.paragraph, str]]:
    """Each paragraph with a number that its section has not computed, and the words for it."""
    for section in document.findall(nodes.section):
        found = without_subsections(section)
        programs = [node.astext() for node in found if is_program(node)]
        computed = set(re.findall(r"\d+", "\n".join(programs)))
        for node in found:
            if programs and isinstance(node, nodes.paragraph):
                for number, words in numbers_said(running_text(node)):
                    if number not in computed:
                        yield node, words


def is_program(node: nodes.Node) -> bool:
    """Whether a node is a program, or an output."""
    is_cell = isinstance(node, nodes.container) and "cell" in node["classes"]
    return is_cell or isinstance(node, nodes.literal_block)


def compare(app: Sphinx, document: nodes.document) -> None:
    """Warn of each number that was not computed beside the text that says it."""
    source = Path(app.env.doc2path(app.env.docname)).read_text(encoding="utf-8")
    if not RUN.search(source):
        return
    for paragraph, words in unfounded(document):
        message = f"'{words}' is in no program or output of this section"
        logging.getLogger(__name__).warning(message, location=paragraph)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register it, after the extensions that run programs."""
    app.connect("doctree-read", compare, priority=900)
    return {"parallel_read_safe": True}
