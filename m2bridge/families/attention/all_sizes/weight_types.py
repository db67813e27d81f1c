"""Types of the weights (K, Q, V) for all sizes: which are exposed, by identities of polynomials.

By Lemma 2 of docs/training.md a type is not exposed if its functions with the row spaces of K and Q
have a smaller dimension than the rank of the differential, and by Lemma 3 it is if its functions
have this rank as their dimension. Both are polynomials in the sizes and ranks, and what they differ
by is a sum of terms that are not negative. What the theorem states is in ``predictions.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import islpy as isl

from m2bridge.errors import ContradictionError
from m2bridge.families.attention.all_sizes.base_ideals import OBSERVABLES, SizeOrbitSets
from m2bridge.families.attention.all_sizes.integer_sets import IS_ORBIT, SIZE, union, variables

TYPE = f"{SIZE}, r, s, m, k, q"
RANKS_OF_FACTORS = (
    "r <= k and r <= q and k <= a and q <= a and k <= d and q <= d and k + q - a <= r"
)
IS_TYPE = f"{IS_ORBIT} and {RANKS_OF_FACTORS}"


def types(condition: str = "") -> isl.Set:
    """The pairs of a size and one of its types (r, s, m, k, q) that satisfy a condition."""
    always = IS_TYPE
    if condition:
        always = f"{always} and ({condition})"
    return isl.Set(f"{{ [{TYPE}] : {always} }}")


def with_some_type(type_set: isl.Set) -> isl.Set:
    """The sizes over which the set has a type."""
    return type_set.project_out(isl.dim_type.set, 3, 5)


def exposed_types(facts: SizeOrbitSets) -> isl.Set:
    """The types that are exposed, for all sizes.

    Raises
    ------
    ContradictionError
        If the dimensions are not what they are computed from, or a term can be negative.
    """
    fibres_with_kernel = OBSERVABLES["critical"](facts).true
    # as a set of types: their orbits are those of functions, with any ranks of K and Q
    with_kernel = fibres_with_kernel.insert_dims(isl.dim_type.set, 6, 2).intersect(types())
    without = types().subtract(with_kernel)
    d, dp, r, s, m, k, q = variables("d", "dp", "r", "s", "m", "k", "q")
    # each term with the condition for it to be zero
    of_factors = (_half_of_squares(k - r, q - r), "k = r and q = r")
    of_values = ((d - s) * (dp - s), _vanishing("d - s", "dp - s"))
    of_meeting = (m * (m + d - r - s), _vanishing("m", "m + d - r - s"))
    # the kernel is the scaling, of dimension 1
    rank = _images(d, dp, k, q) - 1
    gap = rank - _functions_with_spaces(d, dp, r, s, m, k, q)
    exposed = [_where_zero(gap, (of_factors, of_values, of_meeting), without)]
    # on the orbit with a larger kernel r = s = m = 1, and the kernel has dimension d
    if not with_kernel.is_subset(types("r = 1 and s = 1 and m = 1")):
        raise ContradictionError("a fibre has a kernel where the theorem about fibres has none")
    one = d**0
    rank = _images(d, dp, k, q) - d
    gap = rank - _functions_with_spaces(d, dp, r=one, s=one, m=one, k=k, q=q)
    of_factors = (_half_of_squares(k - 1, q - 1), "k = 1 and q = 1")
    of_values = ((d - 1) * (dp - 1), _vanishing("d - 1", "dp - 1"))
    exposed.append(_where_zero(gap, (of_factors, of_values), with_kernel))
    return union(exposed)


def _half_of_squares(x: Any, y: Any) -> Any:
    """x² + y² − xy, written as a sum of squares: it is zero only for x = y = 0."""
    return (x**2 + y**2 + (x - y) ** 2) / 2


def _images(d: Any, dp: Any, k: Any, q: Any) -> Any:
    """The dimension of {K̇ᵀQ + KᵀQ̇} × {V̇}; the rank is less by that of the kernel."""
    return d * k + d * q - k * q + d * dp


def _functions_with_spaces(d: Any, dp: Any, r: Any, s: Any, m: Any, k: Any, q: Any) -> Any:
    """The dimension of the functions of a type, with the row spaces of K and Q.

    That of the functions is the one of the orbit of (A, V) less the scaling. The row space of K has
    dimension k and contains the column space of A; that of Q likewise.
    """
    functions = r * (2 * d - r) + s * (d + dp - s) - m * (m + d - r - s) - 1
    return functions + (k - r) * (d - k) + (q - r) * (d - q)


def _vanishing(*factors: str) -> str:
    """The condition for a product to be zero whose factors are not negative at any type."""
    for factor in factors:
        if not types(f"{factor} < 0").is_empty():
            raise ContradictionError(f"the factor {factor} of a dimension can be negative")
    return "(" + " or ".join(f"{factor} = 0" for factor in factors) + ")"


def _where_zero(gap: Any, terms: Sequence[tuple[Any, str]], among: isl.Set) -> isl.Set:
    """The types among these where a polynomial is zero that is a sum of terms, none negative."""
    total = sum(term for term, _ in terms)
    if gap != total:
        raise ContradictionError("the dimensions of types are other polynomials")
    vanish = " and ".join(condition for _, condition in terms)
    return among.intersect(types(vanish))
