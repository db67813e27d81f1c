"""Closed formulas: the dimension of Corollary 3.3, and the degree (ours)."""

from __future__ import annotations

from fractions import Fraction
from math import comb, factorial, prod

from m2bridge.families.attention.model import SingleLayerAttention


def dimension_formula(model: SingleLayerAttention) -> int:
    """Dimension of the neuromanifold, α(2d − α) + d·d' − 1.

    Hypotheses: t ≥ 2. The paper assumes besides that α > 1 or d' > 1; the formula holds without it.

    Source: Henry, Marchetti, Kohn, Corollary 3.3.
    """
    return determinantal_dimension(model.d, model.d, model.alpha) + model.d * model.d_out - 1


def weights_dimension(model: SingleLayerAttention) -> int:
    """Dimension of the weights that the function sees, over any field.

    For t ≥ 2 they are the pairs (A, V) with rk A ≤ α. For t = 1 the function is (yᵀAy)·v_k(y), and the quadratic form
    yᵀAy is one in s = min(2α, d) linear forms; such quadratic forms have dimension s(2d − s + 1)/2.
    """
    d = model.d
    if model.t > 1:
        return determinantal_dimension(d, d, model.alpha) + d * model.d_out
    s = min(2 * model.alpha, d)
    return s * (2 * d - s + 1) // 2 + d * model.d_out


def dimension_bound(model: SingleLayerAttention) -> int:
    """An upper bound for the dimension of the neuromanifold, over any field.

    The dimension of the weights that the function sees, less one for the rescaling (λA, V/λ).

    Source: ours, proved in the documentation of m2bridge.
    """
    return weights_dimension(model) - 1


def degree_formula(model: SingleLayerAttention) -> int:
    """Degree of the Zariski closure of the neuromanifold (as a projective variety).

    Hypotheses: t ≥ 2. The parametrization P(D_α) × P(R^{d'×d}) → P^N is a morphism given by forms of bidegree (1, 1),
    birational onto its image, or two-to-one when α = d' = 1 < d; so the degree is C(δ_A + δ_V, δ_V)·deg P(D_α), halved
    in that case, with δ_A = α(2d − α) − 1 and δ_V = d·d' − 1.

    Source: ours (not in the paper), proved in the documentation of m2bridge.
    """
    sheets = 1 if is_birational(model) else 2
    return product_degree(model) * determinantal_degree(model.d, model.d, model.alpha) // sheets


def is_birational(model: SingleLayerAttention) -> bool:
    """Whether the projective parametrization is birational onto its image, for t ≥ 2; otherwise it is two-to-one.

    It is two-to-one exactly for α = d' = 1 < d, where A = k qᵀ and V = vᵀ have the same function as v qᵀ and kᵀ.

    Source: Henry, Marchetti, Kohn, Corollary A.2; the case α = d' = 1 is ours.
    """
    return model.alpha > 1 or model.d_out > 1 or model.d == 1


def product_degree(model: SingleLayerAttention) -> int:
    """The top intersection number (h_A + h_V)^(δ_A + δ_V) on P^δ_A × P^δ_V: C(δ_A + δ_V, δ_V)."""
    dimension_a = determinantal_dimension(model.d, model.d, model.alpha) - 1
    dimension_v = model.d * model.d_out - 1
    return comb(dimension_a + dimension_v, dimension_v)


def determinantal_degree(rows: int, columns: int, rank: int) -> int:
    """Degree of the variety of rows × columns matrices of rank at most ``rank`` in projective space.

    Source: Harris, *Algebraic Geometry: A First Course*, Example 19.10 (for ``rank`` at most the smaller size).
    """
    small, large = sorted((rows, columns))
    if rank >= small:
        return 1
    value = prod(
        (
            Fraction(factorial(large + i) * factorial(i), factorial(rank + i) * factorial(large - rank + i))
            for i in range(small - rank)
        ),
        start=Fraction(1),
    )
    assert value.denominator == 1
    return int(value)


def determinantal_dimension(rows: int, columns: int, rank: int) -> int:
    """Dimension of the affine cone of rows × columns matrices of rank at most ``rank``."""
    rank = min(rank, rows, columns)
    return rank * (rows + columns - rank)
