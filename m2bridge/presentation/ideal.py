"""An ideal for people and programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from m2bridge.convert.notation import SHOWN, ideal_latex, ideal_macaulay2, polynomial_text, shortened_text

if TYPE_CHECKING:
    from m2bridge.algebra.ring import Ideal


def json(ideal: Ideal) -> dict[str, Any]:
    """Field, variables and generators, as :func:`m2bridge.read_ideal` reads them."""
    return {
        "field": str(ideal.ring.field),
        "coordinates": list(ideal.ring.variables),
        "generators": [polynomial_text(generator) for generator in ideal.generators],
    }


def text(ideal: Ideal) -> str:
    """The first generators, and the ring, on one line."""
    shown = [shortened_text(polynomial_text(generator)) for generator in ideal.generators[:SHOWN]]
    hidden = len(ideal.generators) - SHOWN
    if hidden > 0:
        shown.append(f"… and {hidden} more")
    return f"ideal({', '.join(shown) or '0'}) of {ideal.ring}"


def latex(ideal: Ideal) -> str:
    """The generators in angle brackets."""
    return ideal_latex(ideal.generators)


def macaulay2(ideal: Ideal) -> str:
    """A Macaulay2 program that defines the ring ``R`` and the ideal ``I``."""
    return ideal_macaulay2(ideal.ring.field, ideal.ring.variables, ideal.generators)
