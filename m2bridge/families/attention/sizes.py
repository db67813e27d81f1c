"""The numbers of a case of single-layer lightning self-attention, and closed formulas in them.

Notation: the docstring of families/attention.

Source: Henry, Marchetti, Kohn, *Geometry of Lightning Self-Attention: Identifiability and
Dimension*, ICLR 2025 (arXiv 2408.17221), Definition 1, proof of Theorem 3.2, Proposition A.5.
"""

from dataclasses import dataclass
from math import comb
from typing import Literal

from m2bridge.algebra.determinantal import (
    determinantal_degree,
    dimension_of_symmetric_rank,
    matrices_of_rank,
    symmetric_determinantal_degree,
)
from m2bridge.families.base import positive_integer

NAME = "attention"
"""The name of the family."""

CoordinateSystem = Literal["reduced", "full"]
"""The coordinates of functions, as SingleLayerAttention describes them."""
Parametrization = Literal["attention", "factored"]
"""The weights that are parameters: A and V, or Q, K and V."""


@dataclass(frozen=True, slots=True, init=False)
class LayerSizes:
    """The numbers d, d', a and t of a case; functions of the sizes alone take them, or a model."""

    d: int
    d_out: int
    a: int
    t: int

    def __init__(self, d: int, d_out: int, a: int | None = None, t: int = 2) -> None:
        if a is None:
            # a ≥ d is not a condition on A, so leaving a out is the same as a = d
            a = d
        for option, value in (("d", d), ("d_out", d_out), ("a", a), ("t", t)):
            # the only way to set a field of a frozen value
            object.__setattr__(self, option, positive_integer(option, value))

    def __str__(self) -> str:
        return f"(d, d', a) = ({self.d}, {self.d_out}, {self.a}), t = {self.t}"

    @property
    def key(self) -> str:
        """The name of the case in files, such as ``d3-dout2-a2-t2``."""
        return f"d{self.d}-dout{self.d_out}-a{self.a}-t{self.t}"

    @property
    def title(self) -> str:
        """The variety and its sizes in words."""
        return f"neuromanifold of lightning self-attention, {self}"

    def to_json(self) -> dict[str, int]:
        """Return the four numbers by name, for ``json.dumps``."""
        return {"d": self.d, "d_out": self.d_out, "a": self.a, "t": self.t}

    @property
    def alpha(self) -> int:
        """Largest rank of an attention matrix, α = min(a, d)."""
        return min(self.a, self.d)

    @property
    def default_coordinates(self) -> CoordinateSystem:
        """``reduced`` for t ≥ 2, and ``full`` for t = 1, where the reduced ones do not exist."""
        return "reduced" if self.t >= 2 else "full"

    @property
    def independent_count(self) -> int:
        """The number of reduced coordinates, for t ≥ 2: the tangent dimension at the zero function.

        The closure is a cone, so its tangent space at zero is its linear span. The reduced
        coordinates are linearly independent functions over every field: V_kp A_qi occurs in
        c_{k,i,p,q} only, with coefficient 1, and the minors that vanish on A have degree ≥ 2.
        """
        return self.d_out * self.d * comb(self.d + 1, 2)


def coordinate_count(shape: LayerSizes, coordinates: CoordinateSystem) -> int:
    """Return the number of function coordinates of a case that are not identically zero."""
    if coordinates == "reduced":
        return shape.independent_count
    # The outputs of token j have the cubic monomials in x_j, and for each other token u those that
    # are quadratic in x_u and linear in x_j, as many as there are reduced coordinates.
    cubic_in_one_token = shape.d_out * comb(shape.d + 2, 3)
    return shape.t * (cubic_in_one_token + (shape.t - 1) * shape.independent_count)


def dimension_formula(shape: LayerSizes) -> int:
    """Return the dimension of the neuromanifold, α(2d − α) + d·d' − 1, for t ≥ 2 (Corollary 3.3).

    The paper also assumes that α > 1 or d' > 1; the formula holds without it.
    """
    return matrices_of_rank(shape.d, shape.alpha) + shape.d * shape.d_out - 1


def weights_dimension(shape: LayerSizes) -> int:
    """Return the dimension of the variety of weights on which the function depends, over any field.

    For t ≥ 2 they are the pairs (A, V) with rk A ≤ α. For t = 1 output k of the function is
    (yᵀAy)·v_k(y), so it depends on V and on the quadratic form yᵀAy. This has rank at most s =
    :func:`form_rank`, and the quadratic forms of rank at most s have dimension s(2d − s + 1)/2.
    """
    entries_of_V = shape.d * shape.d_out
    if shape.t > 1:
        return matrices_of_rank(shape.d, shape.alpha) + entries_of_V
    return dimension_of_symmetric_rank(shape.d, form_rank(shape)) + entries_of_V


def form_rank(shape: LayerSizes) -> int:
    """Return the largest rank of the quadratic form yᵀAy, a sum of α products of linear forms."""
    return min(2 * shape.alpha, shape.d)


def dimension_bound(shape: LayerSizes) -> int:
    """Return an upper bound for the dimension of the neuromanifold, over any field."""
    # the rescaling (λA, V/λ) moves no function
    return weights_dimension(shape) - 1


def degree_formula(shape: LayerSizes) -> int:
    """Return the degree of the Zariski closure of the neuromanifold (as a projective variety).

    Hypotheses: t ≥ 2. Let D_α be the d×d matrices of rank at most α. The parametrization P(D_α) ×
    P(R^{d'×d}) → P^N is a morphism given by forms of bidegree (1, 1), birational onto its image, or
    two-to-one when α = d' = 1 < d; so the degree is :func:`source_degree`, halved in that case.
    This is not in the paper; it is proved in docs/mathematics.md.
    """
    if is_birational(shape):
        return source_degree(shape)
    # the source counts each point of the image twice
    return source_degree(shape) // 2


def source_degree(shape: LayerSizes) -> int:
    """Return the degree of P(D_α) × P(R^{d'×d}) under forms of bidegree (1, 1).

    It is C(δ_A + δ_V, δ_V)·deg P(D_α) with the dimensions δ_A = α(2d − α) − 1 and δ_V = d·d' − 1.
    """
    return product_degree(shape) * determinantal_degree(shape.d, shape.d, shape.alpha)


def one_token_degree(shape: LayerSizes) -> int:
    """Return the degree of the Zariski closure for t = 1 (as a projective variety).

    The functions are the products q·v_k of a quadratic form q of rank at most s =
    :func:`form_rank` and d' linear forms. Let Q_s be these quadratic forms. Then the closure is the
    image of P(Q_s) × P(R^{d'×d}) under a morphism given by forms of bidegree (1, 1). It is
    birational, or three-to-one for d' = 1 and s = 2: there q·v is a product of three linear forms,
    and each of them can be v. This is not in the paper; it is proved in docs/mathematics.md.
    """
    rank = form_rank(shape)
    dimension_q = dimension_of_symmetric_rank(shape.d, rank) - 1
    dimension_v = shape.d * shape.d_out - 1
    source_degree = comb(dimension_q + dimension_v, dimension_v)
    source_degree *= symmetric_determinantal_degree(shape.d, rank)
    if shape.d_out == 1 and rank == 2:
        # the source counts each point of the image three times
        return source_degree // 3
    return source_degree


def is_birational(shape: LayerSizes) -> bool:
    """Return whether the projective parametrization is birational onto its image, for t ≥ 2.

    Otherwise it is two-to-one: exactly for α = d' = 1 < d, where A = k qᵀ and V = vᵀ have the same
    function as v qᵀ and kᵀ.

    Source: Henry, Marchetti, Kohn, Corollary A.2; the case α = d' = 1 is ours.
    """
    return shape.alpha > 1 or shape.d_out > 1 or shape.d == 1


def hilbert_formula_is_too_large(shape: LayerSizes) -> bool:
    """Whether d ≥ 4, d' ≥ 2, α ≥ 2: then no Hilbert function is predicted, for t ≥ 2.

    The formula, ``ideal.sections.predicted_hilbert_function``, was seen to be too large at (d, d',
    a) = (4, 2, 2), in the degrees 2, 3 and 4.
    """
    return shape.d >= 4 and shape.d_out >= 2 and shape.alpha >= 2


def product_degree(shape: LayerSizes) -> int:
    """Return the number of common zeros of δ_A + δ_V general forms of bidegree (1, 1)."""
    dimension_a = matrices_of_rank(shape.d, shape.alpha) - 1
    dimension_v = shape.d * shape.d_out - 1
    return comb(dimension_a + dimension_v, dimension_v)
