"""Text that stays text on one line, in LaTeX and in Markdown."""

from __future__ import annotations

import re

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
} | {
    sign: rf"\ensuremath{{{command}}}"
    for sign, command in {
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
        "ε": r"\varepsilon",
        "φ": r"\varphi",
        "α": r"\alpha",
        "δ": r"\delta",
        "λ": r"\lambda",
    }.items()
}
_SIGNS = str.maketrans(_LATEX)
_UNKNOWN = re.compile(r"[^\x20-\x7e\xa1-\u017f]|[ĦħĸĿŀŉŦŧſ]")  # all but what the encoding T1 has


def line(text: str) -> str:
    """Text on one line; characters that are not printed, and may command a terminal, as their numbers."""
    return _seen(_joined(text))


def cell(text: str) -> str:
    """Text for a table that a spreadsheet may open: never a formula."""
    seen = "\n".join(map(_seen, text.splitlines()))
    return f"'{seen}" if seen.startswith(("=", "+", "-", "@")) else seen


def _joined(text: str) -> str:
    return " ".join(text.split())


def _seen(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)


def latex(text: str) -> str:
    """Text for LaTeX, where no sign has a special meaning.

    Greek and relations become mathematics; a sign that LaTeX does not know becomes its number.
    """
    return _UNKNOWN.sub(lambda sign: rf"\texttt{{U+{ord(sign[0]):04X}}}", _joined(text).translate(_SIGNS))


def markdown(text: str) -> str:
    """Text for a cell of a Markdown table."""
    return re.sub(r"([\\`*_|<>\[\]~])", r"\\\1", line(text))
