"""Links from the first use of a term on each page to the glossary."""

from __future__ import annotations

import re
from pathlib import Path

from documents import ancestors
from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

PROCESSORS = re.compile(r"\b(?:[Tt]wo|2|both|each|all|are|of one) cores?\b")
"""Where a core is one of a processor, and not that of the glossary."""
OUTSIDE = (
    nodes.literal,
    nodes.literal_block,
    nodes.title,
    nodes.reference,
    nodes.math,
    nodes.raw,
    addnodes.pending_xref,
    addnodes.desc,
)


def terms(app: Sphinx) -> dict[str, re.Pattern[str]]:
    """Return the terms of the glossary, with the forms in which they occur."""
    text = (Path(app.srcdir) / "glossary.md").read_text(encoding="utf-8")
    names = re.findall(r"^(\w.*)$", text.partition("```{glossary}\n")[2], re.MULTILINE)
    return {name: re.compile(rf"(?<![\w-]){re.escape(name)}(?:s|es)?\b") for name in names}


def first_use(term: re.Pattern[str], text: str) -> re.Match[str] | None:
    """Return where a text uses a term of the glossary first; ``None`` if it does not."""
    other = [found.span() for found in PROCESSORS.finditer(text)]
    uses = (
        use
        for use in term.finditer(text)
        if not any(start <= use.start() < end for start, end in other)
    )
    return next(uses, None)


def link(app: Sphinx, document: nodes.document) -> None:
    """Link the first use of each term on a page of text."""
    page = app.env.docname
    if (
        page == "glossary"
        or page.startswith("reference/")
        or page in app.config.pages_without_terms
    ):
        return
    left = terms(app)
    for text in list(document.findall(nodes.Text)):
        if not left or any(isinstance(node, OUTSIDE) for node in ancestors(text)):
            continue
        found = [
            (match.start(), name, match)
            for name, term in left.items()
            if (match := first_use(term, str(text)))
        ]
        pieces: list[nodes.Node] = []
        end = 0
        for start, name, match in sorted(found, key=lambda item: item[0]):
            if start >= end:
                pieces += [nodes.Text(text[end:start]), reference(page, name, match.group())]
                end = match.end()
                del left[name]
        if pieces:
            text.parent.replace(text, [*pieces, nodes.Text(text[end:])])


def reference(page: str, name: str, text: str) -> addnodes.pending_xref:
    """Return a link to a term."""
    words = nodes.inline("", text, classes=["xref", "std", "std-term"])
    return addnodes.pending_xref(
        "",
        words,
        refdomain="std",
        reftype="term",
        reftarget=name,
        refexplicit=True,
        refdoc=page,
        refwarn=True,
    )


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the links, and the pages that have none."""
    app.add_config_value("pages_without_terms", (), "env")
    app.connect("doctree-read", link)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
