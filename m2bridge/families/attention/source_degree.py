"""The degree of the closure by the projection formula: observed, without the closed formula that predicts it.

The projective parametrization P(D_α) × P(R^{d'×d}) → P^N is given by forms of bidegree (1, 1). If they have no common
zero, the degree of the image times the number of points of the generic fibre is (h_A + h_V)^(δ_A + δ_V) on the source,
C(δ_A + δ_V, δ_V)·deg P(D_α). This is not in the paper; it is proved in the documentation of m2bridge, section Degrees.
"""

from __future__ import annotations

from math import comb, factorial, prod

import flint

from m2bridge.errors import ContradictionError
from m2bridge.families.attention.fibres import Fibre
from m2bridge.families.attention.model import SingleLayerAttention


def degree_by_projection(model: SingleLayerAttention, dimension: int, generic: Fibre) -> int:
    """The degree of the closure, from its affine dimension and the generic fibre. Hypothesis: the base locus is empty.

    Raises
    ------
    ContradictionError
        If the generic fibre is not reduced, which it is in characteristic 0, or its points do not divide the degree of
        the source.
    """
    of_V = model.d * model.d_out - 1
    source = comb(dimension - 1, of_V) * degree_of_low_rank(model.d, model.alpha)  # fibres are finite
    if not generic.reduced or source % generic.points:
        raise ContradictionError(f"the source has degree {source}, and the generic fibre is {generic}")
    return source // generic.points


def degree_of_low_rank(size: int, rank: int) -> int:
    """The degree of the projective variety of square matrices of rank at most ``rank``.

    The standard bitableaux are a basis of the polynomials on it. Their generating function is a determinant (Weyl's
    dimension formula, and that of Cauchy and Binet); the degree is its leading coefficient at 1.

    Examples
    --------
    >>> degree_of_low_rank(3, 2), degree_of_low_rank(4, 2)
    (3, 20)
    """
    corank = size - rank
    leading = [[factorial(2 * corank + j + k) for k in range(rank)] for j in range(rank)]
    return int(flint.fmpz_mat(leading).det()) // prod(map(factorial, range(corank, size))) ** 2
