"""Types of the weights (K, Q, V) for all sizes: which are exposed, by identities of polynomials.

By Lemma 2 of docs/training.md a type is not exposed if its functions with the row spaces of K and Q
have a smaller dimension than the rank of the differential, and by Lemma 3 it is if its functions
have this rank as their dimension. Both are polynomials in the sizes and ranks, and what they differ
by is a sum of terms that are not negative. What the theorem states is in ``predictions.py``.

A type is (r, s, m, k, q): the ranks of A = KᵀQ and V, the dimension m of the intersection of the
column space of A and the row space of V, and the ranks of K and Q. A size is (d, d', a), with d'
written ``dp``. f maps (A, V) to functions, and f' is its differential; K̇ is a derivative of K.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import islpy as isl

from m2bridge.errors import ContradictionError
from m2bridge.families.attention.all_sizes.base_ideals import OBSERVABLES, SizeOrbitSets
from m2bridge.families.attention.all_sizes.integer_sets import IS_ORBIT, SIZE, union, variables

# A type (r, s, m, k, q): an orbit of functions, and the ranks of K and Q.
TYPE = f"{SIZE}, r, s, m, k, q"
RANKS_OF_FACTORS = (
    "r <= k and r <= q and k <= a and q <= a and k <= d and q <= d and k + q - a <= r"
)
IS_TYPE = f"{IS_ORBIT} and {RANKS_OF_FACTORS}"


def types(condition: str = "") -> isl.Set:
    """The pairs of a size and one of its types (r, s, m, k, q) that satisfy a condition."""
    conditions = IS_TYPE
    if condition:
        conditions = f"{conditions} and ({condition})"
    return isl.Set(f"{{ [{TYPE}] : {conditions} }}")


def with_some_type(type_set: isl.Set) -> isl.Set:
    """The sizes over which the set has a type."""
    return type_set.project_out(isl.dim_type.set, 3, 5)


def exposed_types(facts: SizeOrbitSets) -> isl.Set:
    """The types that are exposed, for all sizes.

    They are those where the rank of the differential is the dimension of the functions with the row
    spaces of K and Q. The rank is the dimension of all pairs (K̇ᵀQ + KᵀQ̇, V̇) less the kernel of
    f', which is 1, the scaling, where fibres are reduced, and d on the orbit (1, 1, 1). The
    difference, ``gap``, is a sum of terms that are not negative; so it is zero where each of them
    is. ContradictionError if the dimensions are not what they are computed from, or a term can be
    negative.
    """
    orbits_not_reduced = OBSERVABLES["critical"](facts).true
    # the types over these orbits: r, s, m are theirs, and the ranks k and q any
    not_reduced = orbits_not_reduced.insert_dims(isl.dim_type.set, 6, 2).intersect(types())
    if not not_reduced.is_subset(types("r = 1 and s = 1 and m = 1")):
        raise ContradictionError("a fibre has a kernel where the theorem about fibres has none")
    reduced = types().subtract(not_reduced)
    return union([_exposed_if_reduced(reduced), _exposed_at_squares(not_reduced)])


def _exposed_if_reduced(type_set: isl.Set) -> isl.Set:
    """The exposed types of a set where fibres are reduced, so that the kernel of f' is a line."""
    d, dp, r, s, m, k, q = variables("d", "dp", "r", "s", "m", "k", "q")
    rank = _dimension_of_images(d, dp, k, q) - 1
    gap = rank - _dimension_with_spaces(d, dp, r, s, m, k, q)
    # each term of the gap, with the condition for the term to be zero
    of_factors = (_half_of_squares(k - r, q - r), "k = r and q = r")
    of_values = ((d - s) * (dp - s), _vanishing("d - s", "dp - s"))
    of_intersection = (m * (m + d - r - s), _vanishing("m", "m + d - r - s"))
    return _types_where_zero(gap, (of_factors, of_values, of_intersection), type_set)


def _exposed_at_squares(type_set: isl.Set) -> isl.Set:
    """The exposed types of a set over orbits (1, 1, 1), where the kernel of f' has dimension d."""
    d, dp, k, q = variables("d", "dp", "k", "q")
    one = d**0  # as a polynomial
    rank = _dimension_of_images(d, dp, k, q) - d
    gap = rank - _dimension_with_spaces(d, dp, r=one, s=one, m=one, k=k, q=q)
    # each term of the gap, with the condition for the term to be zero
    of_factors = (_half_of_squares(k - 1, q - 1), "k = 1 and q = 1")
    of_values = ((d - 1) * (dp - 1), _vanishing("d - 1", "dp - 1"))
    return _types_where_zero(gap, (of_factors, of_values), type_set)


def _half_of_squares(x: Any, y: Any) -> Any:
    """x² + y² − xy, written as half of a sum of squares: it is zero only for x = y = 0."""
    return (x**2 + y**2 + (x - y) ** 2) / 2


def _dimension_of_images(d: Any, dp: Any, k: Any, q: Any) -> Any:
    """The dimension of all pairs (K̇ᵀQ + KᵀQ̇, V̇), for K and Q of ranks k and q.

    K̇ᵀQ + KᵀQ̇ are the d × d matrices that map the kernel of Q into the image of Kᵀ.
    """
    return d * k + d * q - k * q + d * dp


def _dimension_with_spaces(d: Any, dp: Any, r: Any, s: Any, m: Any, k: Any, q: Any) -> Any:
    """The dimension of the functions of a type, with the row spaces of K and Q.

    The A of rank r and the V of rank s have the dimensions r(2d − r) and s(d + d' − s), and it is
    m(m + d − r − s) conditions that column space and row space meet in dimension m; less 1 for the
    scaling. The row spaces of K, with the column space of A, and of Q are Grassmannians.
    """
    functions = r * (2 * d - r) + s * (d + dp - s) - m * (m + d - r - s) - 1
    return functions + (k - r) * (d - k) + (q - r) * (d - q)


def _vanishing(*factors: str) -> str:
    """The condition for the product of these factors to be zero; ContradictionError if one can be
    negative.
    """
    for factor in factors:
        if not types(f"{factor} < 0").is_empty():
            raise ContradictionError(f"the factor {factor} of a dimension can be negative")
    return "(" + " or ".join(f"{factor} = 0" for factor in factors) + ")"


def _types_where_zero(gap: Any, terms: Sequence[tuple[Any, str]], type_set: isl.Set) -> isl.Set:
    """The types of a set where the polynomial ``gap`` is zero, the sum of terms with these
    conditions.
    """
    total = sum(term for term, _ in terms)
    if gap != total:
        raise ContradictionError("the dimensions of types are other polynomials")
    all_terms_zero = " and ".join(condition for _, condition in terms)
    return type_set.intersect(types(all_terms_zero))
