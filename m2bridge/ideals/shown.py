"""An ideal for people and programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from m2bridge.convert.notation import ideal_macaulay2, polynomial_text
from m2bridge.results.markup import polynomial_latex
from m2bridge.results.sheet import SHOWN, WIDTH, Polynomials, Sheet, first_terms

if TYPE_CHECKING:
    from m2bridge.algebra.ring import Ideal


def json(ideal: Ideal) -> dict[str, Any]:
    """Field, variables and generators, as :func:`m2bridge.read_ideal` reads them."""
    return {
        "field": str(ideal.ring.field),
        "coordinates": list(ideal.ring.variables),
        "generators": [polynomial_text(generator) for generator in ideal.generators],
    }


def sheet(ideal: Ideal) -> Sheet:
    """The generators and the ring on one line; where that is not all of them, a line for each besides."""
    said, whole = line(ideal), line(ideal, None)
    blocks = [] if said == whole else [polynomials(ideal)]
    return Sheet(said, blocks, [] if blocks else [latex(ideal)])


def polynomials(ideal: Ideal, caption: str = "") -> Polynomials:
    """The generators, a line for each."""
    return Polynomials(len(ideal.generators), lambda: map(polynomial_text, ideal.generators), caption)


def line(ideal: Ideal, most: int | None = SHOWN) -> str:
    """The generators, at most so many and shortened, and the ring."""
    return f"ideal({', '.join(listed(ideal, most)) or '0'}) of {ideal.ring}"


def listed(ideal: Ideal, most: int | None = SHOWN, width: int = WIDTH) -> list[str]:
    """The generators; at most so many, each of at most so many characters."""
    if most is None:
        return [polynomial_text(generator) for generator in ideal.generators]
    shown = [first_terms(polynomial_text(generator), width) for generator in ideal.generators[:most]]
    hidden = len(ideal.generators) - most
    return [*shown, f"… and {hidden} more"] if hidden > 0 else shown


def latex(ideal: Ideal) -> str:
    """The generators in angle brackets, in mathematics."""
    texts = map(polynomial_text, ideal.generators)
    return rf"\left\langle {', '.join(map(polynomial_latex, texts)) or '0'} \right\rangle"


def macaulay2(ideal: Ideal) -> str:
    """A Macaulay2 program that defines the ring ``R`` and the ideal ``I``."""
    return ideal_macaulay2(ideal.ring.field, ideal.ring.variables, ideal.generators)
