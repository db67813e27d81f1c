"""Types of the weights (K, Q, V) for all sizes: which are exposed, and which are stated to be.

Rests on: a type is exposed if the dimension of its functions is the rank of the differential, and
not if the dimension of its functions with the row spaces of K and Q is smaller.
Proved in: docs/training.md (lemma-dimension, lemma-tangents, theorem-exposed).
Computed here: the difference of both numbers, as a polynomial (FLINT); where it is zero, and where
the statement says something else (isl).
On trust: the lemmas that words.toml lists; isl.

Notation. A type is (r, s, m, k, q), with the ranks k and q of K and Q and an orbit (r, s, m). With
κ = k − r, λ = q − r, δ = d − s, ε = d' − s and n = m + d − r − s, the codimension of U + L, none of
κ, λ, δ, ε, m, n is negative. f maps (A, V) to functions, and f' is its differential; K̇ is a
derivative of K. Where the fibre over the orbit is reduced, the kernel of f' is a line; else the
orbit is (1, 1, 1) and the kernel has dimension d.
"""

from typing import Any

import islpy as isl

from m2bridge.checker.algebra import ring
from m2bridge.errors import ContradictionError
from m2bridge.families.attention.all_sizes.checker.fibres import IS_ORBIT, SIZE, fibres

NAMES = f"{SIZE}, r, s, m, k, q"
IS_TYPE = (
    f"{IS_ORBIT} and r <= k and k <= a and k <= d and r <= q and q <= a and q <= d"
    " and k + q <= r + a"
)


def types(condition: str) -> isl.Set:
    """The types of all sizes that satisfy a condition."""
    return isl.Set(f"{{ [{NAMES}] : {IS_TYPE} and ({condition}) }}")


def sizes_with_wrong_types(condition: str) -> isl.Set:
    """The sizes with a type that is exposed and not stated to be, or the other way round."""
    exposed = exposed_types()
    stated_types = types(condition)
    wrong = exposed.subtract(stated_types).union(stated_types.subtract(exposed))
    return wrong.project_out(isl.dim_type.set, 3, 5)  # r, s, m, k, q


def exposed_types() -> isl.Set:
    """The types for which the rank of the differential is the dimension of the functions with the
    row spaces of K and Q.

    Where fibres are reduced the difference is κ² + λ² − κλ + δε + mn, a sum of terms that are not
    negative. At (1, 1, 1) the rank is smaller by d − 1 where the fibre is not reduced, and mn = d −
    1 is left out. ContradictionError if the polynomial is different, or a fibre is not reduced
    elsewhere.
    """
    kappa, lambda_, delta, epsilon, m, n, s = ring(7).gens()
    # the sizes and the ranks in these variables
    d = s + delta
    dp = s + epsilon
    r = m + delta - n
    k = r + kappa
    q = r + lambda_
    # the rank of f' on all (K̇ᵀQ + KᵀQ̇, V̇): their dimension less 1, for the kernel of f'
    # for K and Q of ranks k and q; K̇ᵀQ + KᵀQ̇ are the d × d matrices that map the kernel of Q into
    # the image of Kᵀ
    rank = d * (k + q) - k * q + d * dp - 1
    difference = rank - dimension_with_spaces(d, dp, r, s, m, k, q)
    # four times κ² + λ² − κλ, as a sum of squares
    four_times_of_factors = (2 * kappa - lambda_) ** 2 + 3 * lambda_**2
    if 4 * difference != four_times_of_factors + 4 * delta * epsilon + 4 * m * n:
        raise ContradictionError("the dimensions of types differ by another polynomial")
    # the types over the orbits whose fibre is not reduced, with any ranks k and q: these are the
    # coordinates of a type after the six of an orbit with its size
    not_reduced = fibres().many.insert_dims(isl.dim_type.set, 6, 2).intersect(types("0 = 0"))
    square = types("r = 1 and s = 1 and m = 1")
    if not not_reduced.is_subset(square):
        raise ContradictionError("a fibre is not reduced outside (1, 1, 1)")
    # κ = λ = 0 and δε = 0
    balanced = types("k = r and q = r and (d = s or dp = s)")
    # mn = 0: the spaces L and U meet in the smallest dimension
    general = types("m = 0 or m + d = r + s")
    # where fibres are not reduced there is no condition on mn
    return balanced.intersect(general.union(not_reduced))


def dimension_with_spaces(d: Any, dp: Any, r: Any, s: Any, m: Any, k: Any, q: Any) -> Any:
    """The dimension of the functions of a type, with the row spaces of K and Q.

    The choices are: L ∩ U, then L and U that contain it (``subspaces``), then A and V with these
    spaces, up to scaling; then the row spaces of K and Q, which contain the ones of Aᵀ and A.
    """
    subspaces = m * (d - m) + (r - m) * (d - r) + (s - m) * (d - s)
    orbit = subspaces + r * d + s * dp - 1
    return orbit + (k - r) * (d - k) + (q - r) * (d - q)
