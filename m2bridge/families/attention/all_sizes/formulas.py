"""Numbers of all sizes: formulas as polynomials in d, d', a, compared as such.

The letter D stands for the degree C(δ_A + δ_V, δ_V)·deg P(D_α) of the source P(D_α) × P(R^{d'×d}) by forms of
bidegree (1, 1); it is positive.
"""

from __future__ import annotations

from math import lcm
from typing import Any

import flint
import islpy as isl

from m2bridge.families.attention.all_sizes.sizes import sizes, union

NAMES = ("d", "dp", "a", "D")


def variables(*names: str) -> list[Any]:
    """The variables of a polynomial ring over QQ."""
    return list(flint.fmpq_mpoly_ctx.get(names, flint.Ordering.degrevlex).gens())


def source_dimension(d: Any, dp: Any, alpha: Any) -> Any:
    """Of {rk A ≤ α} × {V}; D_α has codimension (d − α)² (Harris, *Algebraic Geometry: A First Course*, 12.2)."""
    return d**2 - (d - alpha) ** 2 + d * dp


def zeros(polynomial: Any) -> isl.Set | None:
    """The sizes where a polynomial in d, dp, a, D is zero; ``None`` if that is not known to be a Presburger set.

    It is one where all factors are D, or linear and without D.
    """
    if polynomial == 0:
        return sizes()
    _, factors = polynomial.factor()
    kept = [factor for factor, _ in factors if str(factor) != "D"]
    if any(_not_linear(factor) for factor in kept):
        return None
    return union([sizes("1 = 0"), *(sizes(f"{_text(factor)} = 0") for factor in kept)])


def _not_linear(factor: Any) -> bool:
    return any(sum(exponents) > 1 or exponents[-1] for exponents, _ in factor.terms())


def _text(factor: Any) -> str:
    """A multiple with integer coefficients in the language of the library: ``2 * d + -1 * a + 1``."""
    scale = lcm(*(int(c.q) for c in factor.coeffs()))
    return " + ".join(
        " * ".join([str(int(c * scale)), *(name for name, e in zip(NAMES, exponents, strict=True) if e)])
        for exponents, c in factor.terms()
    )


def excess_of_tangents(d: Any, dp: Any, alpha: Any) -> Any:
    """What the tangent space at rk A < α < d has more than the dimension.

    The curves φ(A + sB, V), rk B = 1, stay in the neuromanifold; with all φ(A, V + sW) their tangents span a space of
    dimension d² + d d' − 1, if the fibre is one reduced point.
    """
    return (d**2 + d * dp - 1) - (source_dimension(d, dp, alpha) - 1)


def tangents_exceed_dimension() -> bool:
    """Whether that excess is (d − α)², so positive for α < d."""
    d, dp, a, _ = variables(*NAMES)
    return bool(excess_of_tangents(d, dp, a) == (d - a) ** 2)


def ambient_exceeds_dimension() -> bool:
    """Whether there are more coordinates than the dimension for d ≥ 2, and as many for d = 1.

    For d = 2 + u, d' = 1 + w, and α = d, which has the largest dimension, no coefficient of the difference is negative,
    and the constant one is positive.
    """
    u, w = variables("u", "w")
    difference = _ambient_excess(u + 2, w + 1)
    coefficients = dict(difference.terms())
    positive = all(c > 0 for c in coefficients.values()) and coefficients.get((0, 0), 0) > 0
    return bool(positive and _ambient_excess(0 * w + 1, w + 1) == 0)


def _ambient_excess(d: Any, dp: Any) -> Any:
    return dp * d**2 * (d + 1) / 2 - (source_dimension(d, dp, d) - 1)
