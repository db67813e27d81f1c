"""Formulas as MathML, which browsers show by themselves: no script and no picture.

Running text has formulas too: :mod:`m2bridge.results.formulas` finds them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from documents import ancestors
from docutils import nodes
from latex2mathml.converter import convert
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.ext.autosummary import autosummary_table
from sphinx.writers.html5 import HTML5Translator

from m2bridge.results.formulas import letters, pieces, spelled

LITERAL = (
    nodes.literal,
    nodes.literal_block,
    nodes.math,
    nodes.math_block,
    nodes.raw,
    nodes.comment,
    addnodes.desc_signature,
)


SPACING = (
    (r'(?<!<munder>)<mo movablelimits="true">([A-Za-z]{2,})</mo>', r"<mo>\1</mo>"),
    (
        r"(</m(?:i|n|sub|sup|under|underover)>)(?=(?:<msu[bp]>)?<mo>[A-Za-z]{2,}</mo>(?!</ms))",
        r"\1<mspace width='0.17em'/>",
    ),
    (
        r"(?<!<msup>)(?<!<msub>)(?<!<msubsup>)<m[io]>([A-Za-z]{2,})</m[io]>(?=<m[insr])",
        r"<mi>\1</mi><mspace width='0.17em'/>",
    ),
    (r"<mo>([A-Za-z]{2,})</mo>", r"<mi>\1</mi>"),
    (r"<mi>([:;]|&#x0007E;)</mi>", r"<mo>\1</mo>"),
    ("&#x0007E;", "&#x223C;"),
    ("<mo>(&#x02026;|&#x022A4;|&#x02202;)</mo>", r"<mi>\1</mi>"),
    (
        r"(</m(?:i|n|sub|sup)>)(<mi>&#x02026;</mi>)(?=<m(?:i|n|sub|sup)>)",
        r"\1<mspace width='0.17em'/>\2<mspace width='0.17em'/>",
    ),
    (
        r'<mo(?: fence="false")?(?: stretchy="false")?>(&#x000(?:2F|7C);|&#x02016;)</mo>',
        r"<mo lspace='0' rspace='0' stretchy='false'>\1</mo>",
    ),
    (
        r'<mo stretchy="true" fence="true" minsize="1.2em" maxsize="1.2em">',
        "<mo stretchy='false' mathsize='120%'>",
    ),
    (
        r"(<mo[^>]*>(?:[(,\[]|&#x000(?:28|2C|3D|3C|3E|5B);|&#x0226[45];)</mo>)<mo>(&#x02212;|−|&#x0002B;)</mo>",
        r"\1<mo form='prefix'>\2</mo>",
    ),
    (r"(<math[^>]*><mrow>)<mo>(?=&#x0226[45];)", r"\1<mo lspace='0'>"),
    ('<mo m[^>]*="2.047em">(&#x00028;)</mo>(?=<mfrac linethickness="0">)', r"<mrow><mo>\1</mo>"),
    ('(?<=</mfrac>)<mo m[^>]*="2.047em">(&#x00029;)</mo>', r"<mo>\1</mo></mrow>"),
)
"""Mended in what latex2mathml writes: names of functions are no operators, with a thin space beside
them; ``:``, ``;`` and ``~`` are no letters; dots in a list, the ⊤ of a transpose, the ∂ of a
derivative, slashes and the bars of an absolute value have no space about them, nor has the minus of
a negative number one after it; large parentheses are as wide as they look, and those of a binomial
coefficient as high as it is.
"""
PUNCTUATION = re.compile(r"[.,;:?!)’]+")
OPENING = re.compile(r"[(“‘]+$")

TOKEN = re.compile(r"\\[A-Za-z]+|\\.|.", re.DOTALL)
COMMANDS = "le leq lt ge geq gt equiv to mapsto subset in sim cdot"
BREAKS = {*"=<>+-,", *(rf"\{name}" for name in COMMANDS.split())}
"""After these signs a line of running text may end, as in TeX."""
LONG = 20
"""Signs of a formula that is kept on one line of a telephone."""
SHORT = 3
"""Signs that do not stand alone on a line."""


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

    A line does not end between a formula and a comma, nor after a parenthesis before it.
    """
    join_lines(document)
    for text in list(document.findall(nodes.Text)):
        if is_literal(text):
            continue
        parts = pieces(str(text))
        if app.env.docname not in app.config.pages_without_terms:
            parts = with_letters(parts)
        found = list(parts)
        if any(is_formula for _, is_formula in found):
            text.parent.replace(text, nodes_of(found))
    for node in list(document.findall(nodes.math)):
        parts_of_lines = lines(node.astext())
        if len(parts_of_lines) > 1:
            node.parent.replace(node, [nodes.math("", part) for part in parts_of_lines])
    for node in list(document.findall(nodes.math)):
        keep_together(node)


def keep_together(formula: nodes.math) -> None:
    """Let no line end between a formula and the signs that stand beside it."""
    parent = formula.parent
    place = parent.index(formula)
    together: list[nodes.Node] = [formula.deepcopy()]
    if place > 0 and isinstance(parent[place - 1], nodes.Text):
        opening = OPENING.search(parent[place - 1])
        if opening:
            together.insert(0, nodes.Text(opening[0]))
            parent[place - 1] = nodes.Text(parent[place - 1][: opening.start()])
    if place + 1 < len(parent) and isinstance(parent[place + 1], nodes.Text):
        mark = PUNCTUATION.match(parent[place + 1])
        if mark:
            together.append(nodes.Text(mark[0]))
            parent[place + 1] = nodes.Text(parent[place + 1][mark.end() :])
    if len(together) > 1:
        parent[place] = nodes.inline("", "", *together, classes=["unbroken"])


def join_lines(document: nodes.document) -> None:
    """Make one text of the lines of a paragraph, so that what stands beside a letter is seen."""
    for node in list(document.findall(nodes.TextElement)):
        joined: list[nodes.Node] = []
        for child in node.children:
            if isinstance(child, nodes.Text) and joined and isinstance(joined[-1], nodes.Text):
                joined[-1] = nodes.Text(joined[-1] + child)
            else:
                joined.append(child)
        if len(joined) < len(node.children):
            node.children = joined
            for child in joined:
                child.parent = node


def lines(text: str) -> list[str]:
    """Return the parts of a long formula between which a line may end.

    They are outside of braces and parentheses; browsers end no line within a formula.
    """
    parts = [""]
    depth = 0
    left = signs(text)
    if left <= LONG or r"\begin" in text:
        return [text]
    before = ""
    for token in TOKEN.findall(text):
        parts[-1] += token
        is_script = before in {"^", "_"}
        before = token
        depth += token in {"(", "[", "{", r"\{", r"\langle", r"\lfloor", r"\lceil"}
        depth -= token in {")", "]", "}", r"\}", r"\rangle", r"\rfloor", r"\rceil"}
        size = signs(parts[-1])
        may_end = depth == 0 and token in BREAKS and not is_script
        if may_end and size > SHORT and left - size > SHORT:
            left -= size
            parts.append("")
    if depth or any(part.count(r"\left") != part.count(r"\right") for part in parts):
        return [text]
    return parts


def signs(text: str) -> int:
    """Return the number of signs that are seen of a formula, roughly."""
    return sum(token not in set("{}^_ ") for token in TOKEN.findall(text))


def is_literal(text: nodes.Text) -> bool:
    """Whether a text is code or the like; a table of names is not, though it counts as comment."""
    for ancestor in ancestors(text):
        if isinstance(ancestor, LITERAL) and not isinstance(ancestor, autosummary_table):
            return True
    return False


def with_letters(parts: Iterable[tuple[str, bool]]) -> Iterator[tuple[str, bool]]:
    """Yield the parts of a text, where letters between words are formulas too."""
    for part, is_formula in parts:
        if is_formula:
            yield part, True
        else:
            yield from letters(part)


def nodes_of(parts: Iterable[tuple[str, bool]]) -> list[nodes.Node]:
    """Return running text and formulas in turn."""
    found: list[nodes.Node] = []
    for part, is_formula in parts:
        if is_formula:
            found.append(nodes.math("", spelled(part)))
        elif part:
            found.append(nodes.Text(part))
    return found


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer ``mathml``, and the formulas of running text."""
    app.add_html_math_renderer("mathml", (formula, None), (formula, None))  # type: ignore[arg-type]
    app.connect("doctree-read", typeset)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
