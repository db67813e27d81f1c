"""Pages that are files of the repository, and pages that the index does not name.

A page whose text is ``(file README.md)`` is that file, with its links changed to lead to the pages
of the site; below a title of the page's own, the file is without its title. In the index,
``(other pages)`` stands for all pages of this folder that it does not name, so that none is left
out.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from posixpath import dirname, join, normpath

from sphinx.application import Sphinx

DOCS = Path(__file__).parents[1]
_FILE = re.compile(r"^\(file ([\w./-]+)\)$", re.MULTILINE)
_TITLE_OF_THE_FILE = re.compile(r"\A(# .*\n\n)# .*\n\n")
_LINK = re.compile(r"(?<=\]\()([^)#:\s]+)(?=(?:#[^)]*)?\))")
_FOLDERS = {"examples": "gallery", "benchmarks": "benchmarks"}


@cache
def _pages() -> dict[str, str]:
    """By file or folder of the repository, the page that shows it."""
    texts = {path.stem: path.read_text(encoding="utf-8") for path in DOCS.glob("*.md")}
    return _FOLDERS | {
        found[1]: name for name, text in texts.items() if (found := _FILE.search(text))
    }


def read(app: Sphinx, docname: str, source: list[str]) -> None:
    """Fill in what a page leaves to this."""
    if docname == "index":
        named = set(re.findall(r"^(?:.*<)?([\w-]+)>?$", source[0], re.MULTILINE))
        others = sorted(
            path.stem for path in DOCS.glob("*.md") if path.stem not in named | {"index"}
        )
        source[0] = source[0].replace("(other pages)", "\n".join(others))
    whole = _FILE.sub(lambda found: _file(found[1]), source[0])
    source[0] = _TITLE_OF_THE_FILE.sub(r"\1", whole)


def _file(name: str) -> str:
    text = (DOCS.parent / name).read_text(encoding="utf-8")
    return _LINK.sub(lambda link: _target(normpath(join(dirname(name), link[1]))), text)


def _target(path: str) -> str:
    """Where a link to a file of the repository leads on the site."""
    page = _pages().get(path)
    return (
        f"{page}.md"
        if page
        else path.removeprefix("docs/")
        if path.startswith("docs/")
        else f"../{path}"
    )


def setup(app: Sphinx) -> dict[str, bool]:
    """Register it."""
    app.connect("source-read", read)
    return {"parallel_read_safe": True}
