"""How the site is built: ``sphinx-build -W docs OUT``.

All that it needs is in it: no font, script or picture comes from elsewhere, and formulas are MathML, which browsers
show by themselves. Tutorials are executed at each build, by the Macaulay2 that m2bridge finds.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx

from m2bridge import __version__

HERE = Path(__file__).parent
os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # the m2bridge of this Python

project = "m2bridge"
version = release = __version__
copyright = "the authors of m2bridge"
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_click",
    "sphinxcontrib.programoutput",
]
html_theme = "furo"
html_title = f"m2bridge {version}"
html_extra_path = ["reference/certificate.schema.json"]
html_copy_source = False

myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3
myst_links_external_new_tab = False

nb_execution_mode = "force"  # nothing is kept from an earlier build
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_merge_streams = True

autosummary_ignore_module_all = False
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "show-inheritance": False}
napoleon_google_docstring = False
napoleon_use_rtype = False
programoutput_prompt_template = "$ {command}\n{output}"
suppress_warnings = ["config.cache"]


def add_other_pages(app: Sphinx, docname: str, source: list[str]) -> None:
    """In the index, ``(other pages)`` stands for those of this folder that it does not name."""
    if docname == "index":
        named = set(re.findall(r"^[\w-]+$", source[0], re.MULTILINE))
        others = sorted(path.stem for path in HERE.glob("*.md") if path.stem not in named | {"index"})
        source[0] = source[0].replace("(other pages)", "\n".join(others))


def formula(translator: object, node: nodes.math | nodes.math_block) -> None:
    """A formula as MathML."""
    block = isinstance(node, nodes.math_block)
    found = convert(node.astext(), display="block" if block else "inline")
    translator.body.append(f'<div class="math">{found}</div>' if block else found)  # type: ignore[attr-defined]
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    """Register both."""
    app.connect("source-read", add_other_pages)
    app.add_html_math_renderer("mathml", (formula, None), (formula, None))


html_math_renderer = "mathml"
