"""Polynomials and ideals as people read them: plain text, LaTeX, and short Macaulay2 programs.

Text is Python's (``**`` for powers) and exact; what shortens it says so with an ellipsis. Programs
that are run are rendered from templates, with :mod:`m2bridge.convert.m2_syntax`.

A monomial is the sorted places of its variables in ``names``, with repetition: with the names x, y,
z the monomial (0, 0, 2) is x**2*z. Terms come in graded reverse lexicographic order, the largest
first: by decreasing degree, and in one degree by the places from the last variable on. At most
``most`` generators are shown, each shortened; if it is ``None``, all are, in full.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import groupby

from sympy import Expr
from sympy.polys.rings import PolyElement

from m2bridge.algebra.ring import GeneratingSet
from m2bridge.algebra.sparse_polynomial import Monomial, Terms
from m2bridge.convert import m2_syntax
from m2bridge.convert.m2_syntax import all_to_macaulay2
from m2bridge.limits import check_deadline_in
from m2bridge.results import MAX_POLYNOMIAL_CHARS, MAX_SHOWN_GENERATORS
from m2bridge.results.markup import polynomial_latex
from m2bridge.results.sheet import Polynomials, first_terms, plural, printable
from m2bridge.system import any_length, decimal

_DEGREE_NAMES = {
    1: "linear form",
    2: "quadric",
    3: "cubic",
    4: "quartic",
    5: "quintic",
    6: "sextic",
}


def degree_summary(degrees: Mapping[int, int] | Mapping[str, int]) -> str:
    """``5 quadrics, 10 quartics``, from the number of generators of each degree, which may be text,
    as in JSON; ``none`` without generators.
    """
    parts = []
    for degree, count in degrees.items():
        name = _DEGREE_NAMES.get(int(degree))
        parts.append(plural(count, name) if name else f"{count} of degree {degree}")
    return ", ".join(parts) or "none"


def polynomial_text(polynomial: PolyElement | Expr) -> str:
    """A polynomial, number or expression, exact, in Python's notation (``**``), however long."""
    with any_length():
        return str(polynomial)


def sparse_text(terms: Iterable[tuple[Monomial, int]], names: Sequence[str]) -> str:
    """The text of a polynomial with integer coefficients, as SymPy writes it."""
    (text,) = sparse_texts([tuple(terms)], names)
    return text


def sparse_texts(polynomials: Sequence[Terms], names: Sequence[str]) -> list[str]:
    """The texts of polynomials with many common monomials: each monomial is written and compared
    with others once, not in every polynomial.
    """
    monomials = {monomial for polynomial in polynomials for monomial, _ in polynomial}
    # the largest first: by degree, then from the last variable on
    ordered = sorted(monomials, key=lambda monomial: (-len(monomial), monomial[::-1]))
    factors = [_monomial_text(monomial, names) for monomial in ordered]
    place = {monomial: i for i, monomial in enumerate(ordered)}
    sign_and_number = cache(_sign_and_number)  # the same few coefficients recur
    texts = []
    for polynomial in polynomials:
        terms = sorted([(place[monomial], c) for monomial, c in polynomial])
        pieces = [sign_and_number(c, bool(factors[i])) + factors[i] for i, c in terms]
        text = "".join(pieces)
        # The sign of the first term has no blanks, and is left out if it is +.
        leading_sign = "-" if text.startswith(" - ") else ""
        texts.append(leading_sign + text[3:] if text else "0")
    return texts


def _monomial_text(monomial: Monomial, names: Sequence[str]) -> str:
    """A monomial as ``x**2*y``, empty for the monomial 1."""
    if len(set(monomial)) == len(monomial):  # most of the time, and faster
        return "*".join([names[place] for place in monomial])
    factors = []
    for place, group in groupby(monomial):
        exponent = len(list(group))
        factors.append(f"{names[place]}**{exponent}" if exponent > 1 else names[place])
    return "*".join(factors)


def _sign_and_number(coefficient: int, has_factors: bool) -> str:
    """What stands before the variables of a term: `` - 3*`` for −3; without variables there is no
    asterisk, and the number 1 is written.
    """
    sign = " - " if coefficient < 0 else " + "
    number = abs(coefficient)
    if not has_factors:
        return sign + decimal(number)
    return sign if number == 1 else f"{sign}{decimal(number)}*"


def ideal_text(ideal: GeneratingSet, most: int | None = MAX_SHOWN_GENERATORS) -> str:
    """The first generators, each shortened, and the ring, on one line."""
    return f"ideal({', '.join(generator_texts(ideal, most)) or '0'}) of {ideal.ring}"


def generator_texts(
    ideal: GeneratingSet, most: int | None = MAX_SHOWN_GENERATORS, width: int = MAX_POLYNOMIAL_CHARS
) -> list[str]:
    """The texts of the first generators, each shortened to about ``width`` characters; if there are
    more, the last text says how many, as ``… and 3 more``.
    """
    texts = [polynomial_text(generator) for generator in ideal.generators[:most]]
    if most is None:
        return texts
    texts = [first_terms(text, width) for text in texts]
    hidden = len(ideal.generators) - most
    return [*texts, f"… and {hidden} more"] if hidden > 0 else texts


def variety_text(ideal: GeneratingSet, most: int = 3, width: int = 40) -> str:
    """The variety of an ideal as ``V(x*w - y*z)``, with the first ``most`` equations, shortened."""
    return f"V({', '.join(generator_texts(ideal, most, width)) or '0'})"


def generator_lines(ideal: GeneratingSet, caption: str = "") -> Polynomials:
    """The generators as a block of a sheet under this caption, a line for each."""
    count = len(ideal.generators)
    return Polynomials(count, lambda: map(polynomial_text, ideal.generators), caption)


def ideal_latex(ideal: GeneratingSet) -> str:
    """The generators in angle brackets, ⟨0⟩ if there are none, in LaTeX for ``$…$``."""
    texts = [polynomial_latex(polynomial_text(generator)) for generator in ideal.generators]
    return rf"\left\langle {', '.join(texts) or '0'} \right\rangle"


def ideal_macaulay2(ideal: GeneratingSet) -> str:
    """A Macaulay2 program that defines the ring ``R`` and the ideal ``I``, or ``coordinateRing``
    and ``givenIdeal`` where variables have these names.
    """
    names = all_to_macaulay2(ideal.ring.variables)
    ring = "coordinateRing" if "R" in names else "R"
    symbol = "givenIdeal" if "I" in names else "I"  # the name of the ideal
    glossary = ""  # comments such as ``-- mbvZ3bbZ is λ``
    for name, name_in_program in zip(ideal.ring.variables, names, strict=True):
        if not name.isascii():
            glossary += f"-- {name_in_program} is {printable(name)}\n"
    header = f"{glossary}{ring} = {m2_syntax.ring(ideal.ring)}"
    if not ideal.generators:
        return f"{header}\n{symbol} = ideal(0_{ring})"
    generator_codes = []
    for generator in check_deadline_in(ideal.generators):
        text = m2_syntax.polynomial(generator, names)
        # A number alone would be one of Macaulay2's integers or fractions.
        generator_codes.append(f"({text})_{ring}" if generator.is_ground else text)
    return f"{header}\n{symbol} = ideal {m2_syntax.sequence(generator_codes)}"


def expression_text(expression: Expr) -> str:
    """The text of an expression with ``^`` for powers, as of a Hilbert polynomial."""
    return str(expression).replace("**", "^")
