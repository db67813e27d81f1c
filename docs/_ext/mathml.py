"""Formulas as MathML, which browsers show by themselves: no script, no font, no picture.

The words of statements and the docstrings of the package are plain text, so that a terminal can show them; what they
write as ``A_k``, ``d_{k−1}``, ``x^2`` or ``α(2d − α) ≥ 2`` is a formula on the site.
"""

from __future__ import annotations

import re

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

PART = r"(?:\{[^{}]+\}|\([^()]+\)|[0-9]+|[A-Za-zα-ωΑ-Ω∞]{1,4}(?![A-Za-z])|\*)"
"""A subscript or an exponent: in braces or parentheses, a number, or a few letters."""
SCRIPTED = re.compile(
    rf"(?P<base>(?<![A-Za-z_`/.-])(?:\d+|GL|[A-Za-zα-ωΑ-Ω]['’]?)|\))(?P<scripts>(?:[_^]{PART})+)(?!_)"
)

NAMES = "rk|dim|codim|deg|min|max|det|log"
LETTER = rf"(?<![A-Za-zα-ωΑ-Ω_`])(?:\d*(?:GL|[A-Za-zα-ωΑ-ΩΣ])['’]?(?:[_^]{PART})*[ᵀ²³⁴⁺]?)(?![A-Za-zα-ωΑ-Ω])"
NUMBER = r"(?<![A-Za-z\d.])\d+(?:\^\d+)?(?![A-Za-z\d]|\.\d)"
OPERATOR = r"\s*(?:[=≤≥≠+−·×∩∪∈⊂⊗⊕↦→∘|~]|(?<=\s)[<>](?=\s))\s*"


PARENTHESES = r"\((?:[^()\n]|\((?:[^()\n]|\([^()\n]*\))*\))*\)[ᵀ²³]?"
ATOM = rf"(?:{NUMBER}|{LETTER}(?:\s[a-z]['’]?ᵀ)?|(?:(?<![A-Za-zα-ω])\d*[A-Za-zα-ω]['’]?)?{PARENTHESES})"
TERM = rf"[−Σ]?(?:(?<![A-Za-z])(?:{NAMES})\s?)?{ATOM}(?:{PARENTHESES})*(?:(?<=\))/\d)?"
FORMULA = re.compile(rf"(?<![\w/.^{{-]){TERM}(?:{OPERATOR}{TERM})+(?![\w/^])")
"""Numbers, letters and functions of them with at least one operator between."""
WORD = re.compile(rf"(?<![_A-Za-z])(?!(?:{NAMES}|GL)(?![A-Za-z]))[A-Za-z]{{2,}}")
"""A word, which is in no formula."""
OPERATORS = "·cdot ×times ≤le ≥ge ≠ne ∩cap ∪cup ∈in ⊂subset ⊗otimes ⊕oplus ↦mapsto →to ∘circ |mid ~sim Σsum <lt >gt"
SIGNS = {word[0]: rf"\{word[1:]} " for word in OPERATORS.split()} | {"−": "-", "’": "'", "ᵀ": r"^{\top}"}
SIGNS |= {sign: f"^{{{power}}}" for sign, power in zip("²³⁴⁺", "234+", strict=True)}
LITERAL = (nodes.literal, nodes.literal_block, nodes.math, nodes.math_block, nodes.raw, nodes.comment)


def formula(translator: HTML5Translator, node: nodes.math | nodes.math_block) -> None:
    """Write a formula, with its number if it has one."""
    block = isinstance(node, nodes.math_block)
    mathml = convert(node.astext(), display="block" if block else "inline")
    if block:
        number = f'<span class="eqno">({node["number"]})</span>' if node.get("number") else ""
        name = f' id="{node["ids"][0]}"' if node.get("ids") else ""
        mathml = f'<div class="math"{name}>{mathml}{number}</div>'
    translator.body.append(mathml)
    raise nodes.SkipNode


def typeset(app: Sphinx, document: nodes.document) -> None:
    """Replace letters with subscripts or exponents, and sums and comparisons, in running text by formulas."""
    for text in list(document.findall(nodes.Text)):
        if any(isinstance(ancestor, LITERAL) for ancestor in ancestors(text)):
            continue
        if SCRIPTED.search(text) or FORMULA.search(text):
            text.parent.replace(text, list(pieces(str(text))))


def ancestors(node: nodes.Node) -> list[nodes.Node]:
    """Return the nodes above one."""
    return [] if node.parent is None else [node.parent, *ancestors(node.parent)]


def pieces(text: str) -> list[nodes.Node]:
    """Return running text and formulas in turn."""
    parts: list[nodes.Node] = []
    end = 0
    scripts = list(SCRIPTED.finditer(text))
    for match in FORMULA.finditer(text):
        if WORD.search(match[0]) or any(script.start() < match.start() < script.end() for script in scripts):
            continue
        parts += [*scripted(text[end : match.start()]), nodes.math("", spelled(match[0]))]
        end = match.end()
    return [*parts, *scripted(text[end:])]


def scripted(text: str) -> list[nodes.Node]:
    """Return running text in which letters have scripts."""
    parts: list[nodes.Node] = []
    end = 0
    for match in SCRIPTED.finditer(text):
        parts += [nodes.Text(text[end : match.start()]), nodes.math("", latex(match["base"], match["scripts"]))]
        end = match.end()
    return [*parts, nodes.Text(text[end:])]


def spelled(text: str) -> str:
    """Return a formula as LaTeX."""
    text = SCRIPTED.sub(lambda match: latex(match["base"], match["scripts"]), text)
    text = re.sub(rf"(?<![A-Za-z\\])({NAMES}|GL)(?![A-Za-z])\s?", r"\\operatorname{\1} ", text)
    return "".join(SIGNS.get(sign, sign) for sign in text)


def latex(base: str, scripts: str) -> str:
    """Return a letter with its scripts as LaTeX; several indices are one subscript."""
    marks = re.findall(rf"[_^]{PART}", scripts)
    parts = {sign: [mark[1:].strip("{}()") for mark in marks if mark[0] == sign] for sign in "_^"}
    written = "".join(f"{sign}{{{','.join(names)}}}" for sign, names in parts.items() if names)
    return (base.replace("’", "'") + written).replace("−", "-")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer ``mathml``, and the formulas of running text."""
    app.add_html_math_renderer("mathml", (formula, None), (formula, None))  # type: ignore[arg-type]
    app.connect("doctree-read", typeset)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
