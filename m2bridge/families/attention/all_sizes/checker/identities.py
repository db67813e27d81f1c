"""Identities of polynomials in the sizes and ranks, on which verdicts for all sizes rest.

Rests on: a polynomial identity holds for all sizes at once; a polynomial with positive coefficients
is positive at positive numbers.
Proved in: docs/all-sizes.md (proposition-consequences), docs/polar-degrees.md (theorem-polar).
Computed here: the dimensions of closure, tangent spaces, orbits and kernels, as polynomials, and
their differences (FLINT).
On trust: the formulas for these dimensions, by the propositions that the functions name.

Notation. d, d' (``dp`` in code), α = min(a, d), orbits (r, s, m) and the closure are as in
case.py; D_α are the d×d matrices of rank at most α. Conditions are texts that isl reads.
"""

from typing import Any

from m2bridge.checker.algebra import ring
from m2bridge.errors import ContradictionError
from m2bridge.families.attention.all_sizes.checker.fibres import SQUARE, orbits
from m2bridge.families.attention.checker import case as cases


def check_identities() -> None:
    """Raise ContradictionError unless the identities behind the consequences for all sizes hold.

    Three of them are in case.py. The others are identities of polynomials in d, d' and α:

    * Where rk A < α < d tangent vectors span d² + d d' − 1 dimensions. These are (d − α)² more than
      the dimension d² − (d − α)² + d d' − 1, so the closure is singular there.
    * For α = d' = 1, at symmetric matrices of rank one, tangent vectors span d(d + 1)/2 + d − 1
      dimensions. These are (d − 1)(d − 2)/2 more than the dimension 3d − 2.
    * There are more coordinates than the dimension for d ≥ 2, as for d = 2 + u and d' = 1 + w the
      difference has positive coefficients only, and a constant term; for d = 1 there are as many.
      So the cone is a linear space only for d = 1.
    """
    d, dp, alpha = ring(3).gens()
    dimension = d**2 - (d - alpha) ** 2 + d * dp - 1
    more_tangents = d**2 + d * dp - 1 - dimension
    twice_tangents_at_rank_one = d * (d + 1) + 2 * (d - 1)
    twice_more_at_rank_one = twice_tangents_at_rank_one - 2 * (3 * d - 2)
    # here the variables d and d' stand for u and w
    twice_more_coordinates = _twice_codimension(d + 2, dp + 1)
    one = 0 * d + 1  # as a polynomial
    all_hold = (
        cases.base_locus_is_empty()
        and cases.real_family_has_no_real_weights()
        and cases.products_determine_functions()
        and more_tangents == (d - alpha) ** 2
        and twice_more_at_rank_one == (d - 1) * (d - 2)
        and min(twice_more_coordinates.coeffs()) > 0
        and twice_more_coordinates(0, 0, 0) > 0  # the constant term
        and _twice_codimension(one, dp) == 0
    )
    if not all_hold:
        raise ContradictionError("an identity behind the theorems for all sizes does not hold")


def _twice_codimension(d: Any, dp: Any) -> Any:
    """Twice the codimension of the closure for α = d, where the closure is largest."""
    return dp * d**2 * (d + 1) - 2 * (d**2 + d * dp - 1)


def where_kernels_are_small() -> str:
    """The condition for an orbit whose fibre is not reduced to have a kernel below the codimension.

    The codimension is the one of the preimage of the orbit in Y, the set of all (W, A, V) with the
    columns of A in W, of dimension α. Over A of rank r the W are a Grassmannian of dimension (α −
    r)(d − α), whose tangent vectors are in the kernel. The codimension, less its dimension, is (α −
    r)² + (d − s)(d' − s) + m(m + d − r − s), where no term is negative. Where the fibre is reduced
    the kernel has no other vectors. At (1, 1, 1), where it is not, the kernel has d − 1 dimensions
    more, so the difference is (α − 1)² + (d − 1)(d' − 1), positive unless α = d' = 1
    (docs/all-sizes.md#proposition-consequences, 10). ContradictionError if the polynomials are not
    equal, or a factor is negative at some orbit.
    """
    d, dp, alpha, r, s, m = ring(6).gens()
    # Dimensions of weights, both for the orbit and for the closure; dimensions of functions are one
    # less, so that the differences are the same.
    orbit = r * d + s * dp + m * (d - m) + (r - m) * (d - r) + (s - m) * (d - s)
    closure = d**2 - (d - alpha) ** 2 + d * dp
    grassmannian = (alpha - r) * (d - alpha)
    codimension = closure - (orbit + grassmannian)
    codimension_less_kernel = codimension - grassmannian
    codimension_of_span = m + d - r - s  # of L + U
    stated_difference = (alpha - r) ** 2 + (d - s) * (dp - s) + m * codimension_of_span
    is_as_stated = codimension_less_kernel == stated_difference
    can_be_negative = orbits("s > dp or s > d or r + s > d + m")
    if not is_as_stated or not can_be_negative.is_empty():
        raise ContradictionError("the codimensions of orbits are not as in the formula")
    # where the fibre is not reduced d ≥ 2 holds, so that α = 1 says a = 1
    return f"{SQUARE} and not (a = 1 and dp = 1)"
