"""Links where words name a page by its file: ``docs/deep-attention.md`` shows as its title.

The words of statements name pages so, which a terminal and a certificate can show; they do not
change for the site.
"""

from __future__ import annotations

import re

from documents import ancestors
from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

OUTSIDE = (
    nodes.literal,
    nodes.literal_block,
    nodes.reference,
    nodes.raw,
    nodes.comment,
    addnodes.pending_xref,
    addnodes.desc_signature,
)
FILE = re.compile(r"docs/([\w/-]+)\.md", re.ASCII)


def link(app: Sphinx, document: nodes.document) -> None:
    """Replace the names of files in running text by links to their pages."""
    for text in list(document.findall(nodes.Text)):
        if any(isinstance(node, OUTSIDE) for node in ancestors(text)):
            continue
        parts: list[nodes.Node] = []
        end = 0
        for file in FILE.finditer(text):
            if file[1] in app.env.found_docs:
                parts.append(nodes.Text(text[end : file.start()]))
                parts.append(reference(app.env.docname, file[1]))
                end = file.end()
        if parts:
            parts.append(nodes.Text(text[end:]))
            siblings = text.parent.children
            (place,) = (i for i, sibling in enumerate(siblings) if sibling is text)
            text.parent[place : place + 1] = parts


def reference(page: str, name: str) -> addnodes.pending_xref:
    """Return a link to a page, which gets the title of the page."""
    return addnodes.pending_xref(
        "",
        nodes.inline("", name),
        refdomain="std",
        reftype="doc",
        reftarget=f"/{name}",
        refexplicit=False,
        refdoc=page,
        refwarn=True,
    )


def setup(app: Sphinx) -> dict[str, bool]:
    """Register it, before formulas and terms are looked for."""
    app.connect("doctree-read", link, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
