"""Polynomials and ideals as plain text, LaTeX and Macaulay2 programs for people."""

from collections.abc import Iterable, Sequence
from itertools import groupby

from sympy import Expr
from sympy.polys.rings import PolyElement

from m2bridge.algebra.ring import GeneratingSet
from m2bridge.convert import macaulay2
from m2bridge.convert.macaulay2 import all_to_macaulay2
from m2bridge.limits import watched
from m2bridge.results.markup import polynomial_latex
from m2bridge.results.sheet import SHOWN, WIDTH, Polynomials, first_terms, plural, printable
from m2bridge.system import any_length, decimal

_DEGREE_NAMES = {
    1: "linear form",
    2: "quadric",
    3: "cubic",
    4: "quartic",
    5: "quintic",
    6: "sextic",
}


def degree_summary(degrees: dict[int, int]) -> str:
    """``5 quadrics, 10 quartics``; ``none`` for the zero ideal."""
    parts = [
        (
            plural(count, _DEGREE_NAMES[degree])
            if degree in _DEGREE_NAMES
            else f"{count} of degree {degree}"
        )
        for degree, count in degrees.items()
    ]
    return ", ".join(parts) or "none"


def polynomial_text(polynomial: PolyElement | Expr) -> str:
    """A polynomial, number or expression, exact, in Python's notation (``**``), however long."""
    with any_length():
        return str(polynomial)


def sparse_text(terms: Iterable[tuple[tuple[int, ...], int]], names: Sequence[str]) -> str:
    """The text of a polynomial that is given by its terms: sorted tuples of positions in ``names``,
    and coefficients.

    Terms in decreasing order, as SymPy writes them: a larger graded reverse lexicographic monomial
    comes first.
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


def ideal_text(ideal: GeneratingSet, most: int | None = SHOWN) -> str:
    """The generators, at most so many and shortened, and the ring, on one line."""
    return f"ideal({', '.join(generator_texts(ideal, most)) or '0'}) of {ideal.ring}"


def generator_texts(
    ideal: GeneratingSet, most: int | None = SHOWN, width: int = WIDTH
) -> list[str]:
    """The generators; at most so many, each of at most so many characters."""
    if most is None:
        return [polynomial_text(generator) for generator in ideal.generators]
    shown = [
        first_terms(polynomial_text(generator), width) for generator in ideal.generators[:most]
    ]
    hidden = len(ideal.generators) - most
    return [*shown, f"… and {hidden} more"] if hidden > 0 else shown


def generator_lines(ideal: GeneratingSet, caption: str = "") -> Polynomials:
    """The generators as a block of a sheet, a line for each."""
    return Polynomials(
        len(ideal.generators), lambda: map(polynomial_text, ideal.generators), caption
    )


def ideal_latex(ideal: GeneratingSet) -> str:
    """The generators in angle brackets, in mathematics."""
    texts = map(polynomial_text, ideal.generators)
    return rf"\left\langle {', '.join(map(polynomial_latex, texts)) or '0'} \right\rangle"


def ideal_macaulay2(ideal: GeneratingSet) -> str:
    """A Macaulay2 program that defines the ring ``R`` and the ideal ``I``; longer names where
    variables have these.
    """
    names = all_to_macaulay2(ideal.ring.variables)
    ring, symbol = (
        ("R" if "R" not in names else "coordinateRing"),
        ("I" if "I" not in names else "givenIdeal"),
    )
    header = (
        f"{_glossary(ideal.ring.variables, names)}{ring} ="
        f" {macaulay2.field(ideal.ring.field)}[{', '.join(names)}]"
    )
    if not ideal.generators:
        return f"{header}\n{symbol} = ideal(0_{ring})"
    written = (macaulay2.polynomial(g, names) for g in watched(ideal.generators))
    pairs = zip(ideal.generators, written, strict=True)
    listed = macaulay2.sequence(f"({text})_{ring}" if g.is_ground else text for g, text in pairs)
    return f"{header}\n{symbol} = ideal {listed}"


def _glossary(names: Sequence[str], written: Sequence[str]) -> str:
    """Comments that say how names in other alphabets are written in a program."""
    pairs = zip(names, written, strict=True)
    return "".join(
        f"-- {program} is {printable(name)}\n" for name, program in pairs if not name.isascii()
    )


def expression_text(expression: Expr) -> str:
    """A univariate expression with ``^`` for powers."""
    return str(expression).replace("**", "^")
