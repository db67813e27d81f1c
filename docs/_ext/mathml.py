"""Formulas as MathML, which browsers show by themselves: no script, no font, no picture."""

from __future__ import annotations

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator


def formula(translator: HTML5Translator, node: nodes.math | nodes.math_block) -> None:
    """Write one."""
    block = isinstance(node, nodes.math_block)
    mathml = convert(node.astext(), display="block" if block else "inline")
    if block:
        number = f'<span class="eqno">({node["number"]})</span>' if node.get("number") else ""
        name = f' id="{node["ids"][0]}"' if node.get("ids") else ""
        mathml = f'<div class="math"{name}>{mathml}{number}</div>'
    translator.body.append(mathml)
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register it as the renderer ``mathml``."""
    app.add_html_math_renderer("mathml", (formula, None), (formula, None))  # type: ignore[arg-type]
    return {"parallel_read_safe": True, "parallel_write_safe": True}
