"""How mathematics is written for people: plain text, LaTeX, Macaulay2."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from sympy import ZZ, Expr
from sympy.polys.rings import PolyElement

from m2bridge.clock import watched
from m2bridge.convert import macaulay2
from m2bridge.convert.names import all_to_macaulay2
from m2bridge.digits import any_length, decimal
from m2bridge.layout import plural, printable


def _greek_command(letter: str) -> str:
    word = unicodedata.name(letter).split()[-1].lower().replace("lamda", "lambda")
    return "\\" + (word if letter.islower() else word.capitalize())


GREEK_LATEX = {letter: _greek_command(letter) for letter in "αβγδζηθικλμνξπρστυχψωΓΔΘΛΞΠΣΥΦΨΩ"} | {
    "ε": r"\varepsilon",
    "φ": r"\varphi",
    "ς": r"\varsigma",
}
"""The commands of LaTeX for Greek letters; the capitals that look Latin have none."""

_DEGREE_NAMES = {1: "linear form", 2: "quadric", 3: "cubic", 4: "quartic", 5: "quintic", 6: "sextic"}


def degree_summary(degrees: dict[int, int]) -> str:
    """``5 quadrics, 10 quartics``; ``none`` for the zero ideal."""
    parts = [
        plural(count, _DEGREE_NAMES[degree]) if degree in _DEGREE_NAMES else f"{count} of degree {degree}"
        for degree, count in degrees.items()
    ]
    return ", ".join(parts) or "none"


def polynomial_text(polynomial: PolyElement) -> str:
    """A polynomial in the names of its variables, exact, in Python's notation (``**``)."""
    domain = polynomial.ring.domain
    if not domain.is_FiniteField:
        with any_length():
            return str(polynomial)
    integers = polynomial.ring.clone(domain=ZZ)
    return str(integers.from_dict({monomial: ZZ(domain.to_int(c)) for monomial, c in polynomial.items()}))


def sparse_text(terms: Iterable[tuple[tuple[int, ...], int]], names: Sequence[str]) -> str:
    """The same text for a polynomial given by its terms: sorted tuples of positions in ``names``, and coefficients.

    Terms in decreasing order, as SymPy writes them: a larger graded reverse lexicographic monomial comes first.
    """
    ordered = sorted(terms, key=lambda term: (-len(term[0]), term[0][::-1]))
    written = [_sparse_term(monomial, coefficient, names) for monomial, coefficient in ordered]
    signs = [" - " if coefficient < 0 else " + " for _, coefficient in ordered]
    text = "".join([piece for pair in zip(signs, written, strict=True) for piece in pair])
    return f"-{text[3:]}" if text.startswith(" - ") else text[3:] or "0"


def _sparse_term(monomial: tuple[int, ...], coefficient: int, names: Sequence[str]) -> str:
    if len(set(monomial)) == len(monomial):  # most of the time, and faster
        factors = [names[j] for j in monomial]
    else:
        powers = ((names[j], len(list(group))) for j, group in groupby(monomial))
        factors = [name if exponent == 1 else f"{name}**{exponent}" for name, exponent in powers]
    size = abs(coefficient)
    return "*".join(factors if size == 1 and factors else [decimal(size), *factors])


def ideal_macaulay2(field: Any, coordinates: Sequence[str], generators: Sequence[PolyElement]) -> str:
    """A Macaulay2 program that defines the ring ``R`` and the ideal ``I``."""
    names = all_to_macaulay2(coordinates)
    ring = f"{_glossary(coordinates, names)}R = {macaulay2.field(field)}[{', '.join(names)}]"
    if not generators:
        return f"{ring}\nI = ideal(0_R)"
    return f"{ring}\nI = ideal {macaulay2.sequence(macaulay2.polynomial(g, names) for g in watched(generators))}"


def _glossary(names: Sequence[str], written: Sequence[str]) -> str:
    """Comments that say how names in other alphabets are written in a program."""
    pairs = zip(names, written, strict=True)
    return "".join(f"-- {program} is {printable(name)}\n" for name, program in pairs if not name.isascii())


def exact_text(expression: Expr) -> str:
    """A number or expression, exact, in SymPy's notation, however long."""
    with any_length():
        return str(expression)


def expression_text(expression: Expr) -> str:
    """A univariate expression with ``^`` for powers."""
    return str(expression).replace("**", "^")
