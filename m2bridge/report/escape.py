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
        "α": r"\alpha",
        "ε": r"\varepsilon",
        "λ": r"\lambda",
        "φ": r"\varphi",
    }.items()
}
_SIGNS = str.maketrans(_LATEX)


def line(text: str) -> str:
    """Text on one line."""
    return " ".join(text.split())


def latex(text: str) -> str:
    """Text for LaTeX, where no sign has a special meaning; Greek and relations become mathematics."""
    return line(text).translate(_SIGNS)


def markdown(text: str) -> str:
    """Text for a cell of a Markdown table."""
    return re.sub(r"([\\`*_|<>\[\]~])", r"\\\1", line(text))
