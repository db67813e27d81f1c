"""Polynomials that are written out, in Python's notation, as LaTeX; and their parts, for HTML."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from m2bridge.convert.notation import GREEK_LATEX

LONG = 36
"""Digits of a number, or characters of a term, after which a line may end within it."""

BREAK = r"\penalty900 "
"""Where a line may end, if it cannot end at a sign."""

_PARTS = re.compile(
    r"(?P<variable>[^\s*+/()0-9-][^\s*+/()-]*)(?:\*\*(?P<power>[0-9]+))?"
    r"|(?P<number>[0-9]+)(?:/(?P<denominator>[0-9]+))?|(?P<sign>[-+])|(?P<product>\*(?!\*))|\s+"
)


@dataclass(frozen=True, slots=True)
class Part:
    """A sign, a number or a power of a variable.

    Parameters
    ----------
    kind : {"sign", "number", "variable"}
    text : str
        The sign, the numerator, or the name without its indices.
    indices : tuple of str
        Of a variable.
    power : str
        The exponent of a variable, or the denominator of a number; empty for 1.
    """

    kind: str
    text: str
    indices: tuple[str, ...] = ()
    power: str = ""


def parts(text: str) -> Iterator[Part]:
    """The parts of a polynomial, one after the other.

    Raises
    ------
    ValueError
        If it is not a sum of products of numbers and powers of variables.

    Examples
    --------
    >>> [part.text for part in parts("-1/2*c_1_2**3 + x")]
    ['-', '1', 'c', '+', 'x']
    """
    end = 0
    while end < len(text):
        match = _PARTS.match(text, end)
        if match is None:
            raise ValueError(f"'{text[end : end + 40]}' is not part of a polynomial that is written out")
        end = match.end()
        if match["variable"]:
            base, *indices = match["variable"].split("_")
            yield Part("variable", base, tuple(indices), match["power"] or "")
        elif match["number"]:
            yield Part("number", match["number"], power=match["denominator"] or "")
        elif match["sign"]:
            yield Part("sign", match["sign"])


def polynomial_latex(text: str) -> str:
    r"""A polynomial in LaTeX, with indices as in ``c_{1,1,1,2}``; ends of lines may be at signs and in long terms.

    Examples
    --------
    >>> polynomial_latex("-1/2*c_1_12**3 + λ")
    '-\\tfrac{1}{2} c_{1,12}^{3} + \\lambda'
    """
    return "".join(f"{sign}{_term(factors)}" for sign, factors in terms(text, BREAK))


def latex_lines(text: str, width: int) -> list[str]:
    """The same in lines, each of which is at most so many characters as it is typed, or one term."""
    lines = [""]
    for sign, factors in terms(text):
        term = " ".join(factors)
        if lines[-1] and len(lines[-1]) + len(sign) + len(term) > width:
            lines.append("")
        lines[-1] += sign + term
    return lines


def terms(text: str, between: str = "") -> Iterator[tuple[str, list[str]]]:
    """The terms: how the sign is written in LaTeX (empty before the first one that is positive), and the factors.

    ``between`` stands between the digits of long numbers, here and there.
    """
    sign, factors, first = "", list[str](), True
    for part in parts(text):
        if part.kind != "sign":
            factors.append(_number(part, between) if part.kind == "number" else variable_latex(part))
            continue
        if not first or factors:
            yield sign, factors
        sign, factors, first = part.text if first and not factors else f" {part.text} ", [], False
    yield sign, factors


def _term(factors: list[str]) -> str:
    return (BREAK if sum(map(len, factors)) > LONG else " ").join(factors)


def _number(part: Part, between: str) -> str:
    if not part.power:
        return _digits(part.text, between)
    if len(part.text) + len(part.power) > LONG:
        return f"{_digits(part.text, between)}/{_digits(part.power, between)}"
    return rf"\tfrac{{{part.text}}}{{{part.power}}}"


def _digits(number: str, between: str) -> str:
    if len(number) <= LONG:
        return number
    return between.join(number[i : i + 12] for i in range(0, len(number), 12))


def variable_latex(part: Part) -> str:
    """A power of a variable; Greek letters by their commands, other alphabets as words, in fonts of the user."""
    indices = f"_{{{','.join(map(_letters, part.indices))}}}" if part.indices else ""
    return _letters(part.text) + indices + (f"^{{{part.power}}}" if part.power else "")


def _letters(word: str) -> str:
    return word if word.isascii() else GREEK_LATEX.get(word) or rf"\text{{{word}}}"
