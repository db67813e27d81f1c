"""Text that stays text on one line, in LaTeX, in its formulas and in Markdown."""

from __future__ import annotations

import re

from m2bridge.convert.notation import GREEK_LATEX
from m2bridge.convert.references import references
from m2bridge.layout import line, visible

__all__ = ["cell", "formula", "latex", "latex_links", "line", "markdown", "markdown_links"]

_MATHEMATICS = {
    "≤": r"\leq",
    "≥": r"\geq",
    "≠": r"\neq",
    "∩": r"\cap",
    "↦": r"\mapsto",
    "−": "-",
    "·": r"\cdot",
    "²": "^2",
    "ᵀ": r"^{\top}",
    "′": "'",
    "∞": r"\infty",
    "→": r"\to",
    "∈": r"\in",
    "⊂": r"\subset",
    "∂": r"\partial",
    **GREEK_LATEX,
}
_LATEX = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "-": "{-}",  # no dash from two of them, no other sign from ?`
    "`": "{`}",
    "[": "{[}",
    "]": "{]}",
    "–": "--",
    "…": r"\ldots{}",
} | {sign: rf"\ensuremath{{{command}}}" for sign, command in _MATHEMATICS.items()}
_SIGNS = str.maketrans(_LATEX)
_UNKNOWN = re.compile(r"[^\x20-\x7e\xa1-\u017f]|[ĦħĸĿŀŉŦŧſ]")  # all but what the encoding T1 has


def cell(text: str) -> str:
    """Text for a table that a spreadsheet may open: never a formula."""
    seen = "\n".join(map(visible, text.splitlines()))
    return f"'{seen}" if seen.startswith(tuple("=+-@＝＋－＠")) else seen


def latex(text: str) -> str:
    """Text for LaTeX, where no sign has a special meaning.

    Greek and relations become mathematics; a sign that LaTeX does not know becomes its number.
    """
    return _latex(" ".join(text.split()))


def latex_links(text: str, documentation: str = "") -> str:
    r"""The same, with what it cites (:func:`references`) in ``\\href``."""
    parts = references(" ".join(text.split()), documentation)
    return "".join(
        rf"\href{{{_in_href(address)}}}{{{_latex(said)}}}" if address else _latex(said) for said, address in parts
    )


def _latex(text: str) -> str:
    return _UNKNOWN.sub(lambda sign: rf"\texttt{{U+{ord(sign[0]):04X}}}", text.translate(_SIGNS))


def _in_href(address: str) -> str:
    return re.sub("[%#]", r"\\\g<0>", address)


_FORMULA = (
    {sign: f"\\{sign}" for sign in "&%$#_{}"}
    | {"\\": r"\backslash", "~": r"\sim", "^": r"{}^{\wedge}", "<": "<", ">": ">", "|": "|", "`": r"\text{'}"}
    | {"–": r"\text{-}", "…": r"\ldots", "²": "{}^2", "ᵀ": r"{}^{\top}", "′": "{}'"}
)
_IN_FORMULA = _MATHEMATICS | _FORMULA
_RUNS = re.compile(f"[{re.escape(''.join(_IN_FORMULA))}]|[^{re.escape(''.join(_IN_FORMULA))}]+")


def formula(text: str) -> str:
    r"""Text within a formula, for LaTeX, MathJax and KaTeX, which do not agree on what a sign means in ``\text``.

    Examples
    --------
    >>> formula("rk A ≤ 2, c_1")
    '\\text{rk A }\\leq \\text{ 2, c}\\_ \\text{1}'
    """
    runs = _RUNS.findall(line(text))
    return "".join(f"{_IN_FORMULA[run]} " if run in _IN_FORMULA else rf"\text{{{run}}}" for run in runs)


def markdown(text: str) -> str:
    """Text for a cell of a Markdown table, or an item of a list: neither marks nor entities nor mathematics."""
    return _markdown(line(text))


def markdown_links(text: str, documentation: str = "") -> str:
    """The same, with what it cites (:func:`references`) as links."""
    parts = references(line(text), documentation)
    return "".join(f"[{_markdown(said)}]({address})" if address else _markdown(said) for said, address in parts)


def _markdown(text: str) -> str:
    return re.sub(r"([\\`*_|<>\[\]~&$]|^[-+#]|^[0-9]+(?=[.)] ))", _marked, text)


def _marked(match: re.Match[str]) -> str:
    return match[0] + "\\" if match[0].isdigit() else "\\" + match[0]
