"""Formulas as MathML, which browsers show by themselves: no script, no font, no picture."""

from __future__ import annotations

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator


def formula(translator: HTML5Translator, node: nodes.math | nodes.math_block) -> None:
    """Write one."""
    block = isinstance(node, nodes.math_block)
    found = convert(node.astext(), display="block" if block else "inline")
    translator.body.append(f'<div class="math">{found}</div>' if block else found)
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register it as the renderer ``mathml``."""
    app.add_html_math_renderer("mathml", (formula, None), (formula, None))  # type: ignore[arg-type]
    return {"parallel_read_safe": True, "parallel_write_safe": True}
