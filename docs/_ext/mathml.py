"""Formulas as MathML, which browsers show by themselves: no script and no picture.

The words of statements and the docstrings of the package are plain text, so that a terminal can
show them; what they write as ``A_k``, ``d_{k−1}``, ``x^2`` or ``α(2d − α) ≥ 2`` is a formula on the
site.
"""

from __future__ import annotations

import re

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

ABC = "A-Za-zα-ωΑ-Ω"
HIGH = "ᵀ⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻"
PART = r"(?:\{[^{}]+\}|\([^()]+\)|[0-9]+|(?:[a-zα-ω∞]{1,4}|[A-ZΑ-Ω])(?![a-z])[⁺⁻]?|\*)"
"""A subscript or an exponent: in braces or parentheses, a number, or a few letters."""
SCRIPTED = re.compile(
    rf"(?P<base>(?<![A-Za-z_`/.-])(?:\d+|GL|[{ABC}]['’]?)|\))(?P<scripts>(?:[_^]{PART})+)(?!_)"
)

NAMES = "rk|dim|codim|deg|min|max|det|log|span|diag|Gr|Sym|GL|gl"
WORD = (
    rf"(?<![A-Za-z_])(?!(?:{NAMES}|row|col)(?![A-Za-z_])|[A-Zds]?[A-Z][a-z]?(?![A-Za-z]))"
    rf"[A-Za-z]{{2,}}|QQ|OV"
)
"""A word, which is in no formula; ``AY`` and ``sB`` are products."""
FACTOR = rf"[{ABC}]['’]?(?:[_^]{PART})*[{HIGH}]*"
"""A letter with all that it carries."""
PRODUCT = (
    rf"(?!a\s)(?:{FACTOR}(?![a-z])\s?){{0,3}}{FACTOR}(?<=[{HIGH}])"
    rf"(?:[A-Z][a-z](?![a-z])|\s?(?!a\s){FACTOR}(?![a-z]))*"
)
"""Letters side by side of which one is transposed or has a power: ``V X Xᵀ A X``."""
PLAIN = rf"[A-Z]_{PART}\s[A-Z]|\d*(?:[ds]?{FACTOR}|GL)|[a-z]?[α-ωΑ-Ω][A-Za-z]"
LETTER = rf"(?<![{ABC}_`])(?:{PRODUCT}|{PLAIN})(?:_{PART})*(?![{ABC}])"
NUMBER = rf"(?<![A-Za-z\d.])\d+(?:\^\d+|[{HIGH}]+)?(?![A-Za-z\d]|\.\d)"
OPERATOR = r"\s*(?:[=≤≥≠+−·×∩∪∈⊂⊗⊕↦→∘|~∥]|(?<=\s)[<>](?=\s))\s*"
SIGN = rf"(?:(?!{WORD})[^(){{}}\"\n])"
INNER = rf"(?:{SIGN}|\((?:{SIGN}|\({SIGN}*\))*\)|\{{{SIGN}*\}})*"
PARENTHESES = rf"(?:\({INNER}\)|\{{{INNER}\}})[{HIGH}]*"
ATOM = rf"(?:{NUMBER}|(?:√|{LETTER})?{PARENTHESES}|{LETTER})"
BEFORE = rf"[−Σ]?(?:(?<![A-Za-z])(?:{NAMES})\s?|[ΣΠ](?:_{PART})?\s)?"
TERM = rf"{BEFORE}{ATOM}(?:{PARENTHESES}|(?<=\)){FACTOR}(?![a-z]))*(?:(?<=\))/\d)?"
BOUND = r"[≤≥]\s\+?\d[\d.]*(?<!\.)"
FORMULA = re.compile(
    rf"(?<![\w/.^{{-])(?:(?:[≤≥]\s)?{TERM}(?:{OPERATOR}{TERM})*(?![\w/^])|{BOUND})"
)
"""Numbers, letters and functions of them, with operators between."""
MARK = re.compile(rf"[=≤≥≠+−·×∩∪∈⊂⊗⊕↦→∘|~∥<>α-ωΑ-Ω{{√{HIGH}]|[A-Za-z]'|\(.*,.*\)|\w\(")
"""What a formula has, and a number, a letter or a remark in parentheses has not."""
OPERATORS = (
    "·cdot ×times ≤le ≥ge ≠ne ∩cap ∪cup ∈in ⊂subset ⊗otimes ⊕oplus ↦mapsto →to ∘circ |mid ~sim Σsum"
    " <lt >gt"
)
OPERATORS += " ∥parallel …dots Πprod"
SIGNS = {word[0]: rf"\{word[1:]} " for word in OPERATORS.split()} | {"−": "-", "’": "'"}
POWERS = dict(zip(HIGH, (r"\top", *"0123456789+-"), strict=True))
LITERAL = (
    nodes.literal,
    nodes.literal_block,
    nodes.math,
    nodes.math_block,
    nodes.raw,
    nodes.comment,
)


SPACING = (
    (
        r"(?<!<msup>)(?<!<msub>)<m[io]>([A-Za-z]{2,})</m[io]>(?=<m[insr])",
        r"<mi>\1</mi><mspace width='0.17em'/>",
    ),
    (r"<mo>([A-Za-z]{2,})</mo>", r"<mi>\1</mi>"),
    (r"<mi>([:;]|&#x0007E;)</mi>", r"<mo>\1</mo>"),
    ("&#x0007E;", "&#x223C;"),
    (
        r"(<mo[^>]*>(?:[(,\[]|&#x000(?:28|2C|3D|3C|3E|5B);|&#x0226[45];)</mo>)<mo>(&#x02212;|−)</mo>",
        r"\1<mo form='prefix'>\2</mo>",
    ),
)
"""Mended in what latex2mathml writes: names of functions are no operators, ``:``, ``;`` and ``~``
no letters, and the minus of a negative number has no space after it.
"""
PUNCTUATION = re.compile(r"[.,;:?!)’]+")


def formula(translator: HTML5Translator, node: nodes.math | nodes.math_block) -> None:
    """Write a formula, with its number if it has one."""
    block = isinstance(node, nodes.math_block)
    mathml = convert(node.astext(), display="block" if block else "inline")
    for mistake, right in SPACING:
        mathml = re.sub(mistake, right, mathml)
    if block:
        number = f'<span class="eqno">({node["number"]})</span>' if node.get("number") else ""
        name = f' id="{node["ids"][0]}"' if node.get("ids") else ""
        mathml = f'<div class="math"{name}>{mathml}{number}</div>'
    translator.body.append(mathml)
    raise nodes.SkipNode


def typeset(app: Sphinx, document: nodes.document) -> None:
    """Replace letters with subscripts or exponents, and sums and comparisons, in running text by
    formulas.

    A line does not end between a formula and a comma.
    """
    for text in list(document.findall(nodes.Text)):
        if any(isinstance(ancestor, LITERAL) for ancestor in ancestors(text)):
            continue
        if SCRIPTED.search(text) or FORMULA.search(text):
            text.parent.replace(text, list(pieces(str(text))))
    for node in list(document.findall(nodes.math)):
        after = node.next_node(descend=False, siblings=True)
        if isinstance(after, nodes.Text) and (mark := PUNCTUATION.match(after)):
            after.parent.replace(after, nodes.Text(after[mark.end() :]))
            node.replace_self(
                nodes.inline("", "", node.deepcopy(), nodes.Text(mark[0]), classes=["unbroken"])
            )


def ancestors(node: nodes.Node) -> list[nodes.Node]:
    """Return the nodes above one."""
    return [] if node.parent is None else [node.parent, *ancestors(node.parent)]


def pieces(text: str) -> list[nodes.Node]:
    """Return running text and formulas in turn."""
    parts: list[nodes.Node] = []
    end = 0
    scripts = list(SCRIPTED.finditer(text))
    for match in FORMULA.finditer(text):
        if not MARK.search(match[0]) or any(
            script.start() < match.start() < script.end() for script in scripts
        ):
            continue
        parts += [*scripted(text[end : match.start()]), nodes.math("", spelled(match[0]))]
        end = match.end()
    return [*parts, *scripted(text[end:])]


def scripted(text: str) -> list[nodes.Node]:
    """Return running text in which letters have scripts."""
    parts: list[nodes.Node] = []
    end = 0
    for match in SCRIPTED.finditer(text):
        parts += [nodes.Text(text[end : match.start()]), nodes.math("", spelled(match[0]))]
        end = match.end()
    return [*parts, nodes.Text(text[end:])]


def spelled(text: str) -> str:
    """Return a formula as LaTeX."""
    text = SCRIPTED.sub(lambda match: latex(match["base"], match["scripts"]), text)
    text = re.sub(r"(?<![_^])\{((?:[^{}]|[_^]\{[^{}]*\})*)\}", r"\\{\1\\}", text)
    text = re.sub(r"√\(([^()]*)\)", r"\\sqrt{\1}", text)
    text = re.sub(rf"(?<![A-Za-z\\])({NAMES}|row|col)(?![A-Za-z])\s?", r"\\operatorname{\1} ", text)
    text = re.sub(
        f"[{''.join(POWERS)}]+",
        lambda match: f"^{{{''.join(POWERS[sign] for sign in match[0])}}}",
        text,
    )
    return "".join(SIGNS.get(sign, sign) for sign in text)


def latex(base: str, scripts: str) -> str:
    """Return a letter with its scripts as LaTeX; several indices are one subscript."""
    marks = re.findall(rf"[_^]{PART}", scripts)
    parts = {
        sign: [re.sub(r"^[({](.*)[)}]$", r"\1", mark[1:]) for mark in marks if mark[0] == sign]
        for sign in "_^"
    }
    written = "".join(f"{sign}{{{','.join(names)}}}" for sign, names in parts.items() if names)
    return base + written


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer ``mathml``, and the formulas of running text."""
    app.add_html_math_renderer("mathml", (formula, None), (formula, None))  # type: ignore[arg-type]
    app.connect("doctree-read", typeset)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
