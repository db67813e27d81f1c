"""Whether the functions of several tokens are determined by the products of linear forms, by linear algebra."""

from __future__ import annotations

from collections import Counter
from itertools import combinations_with_replacement, product

from m2bridge.algebra.linear_algebra import sparse_rank

Bilinear = Counter[tuple[int, int, int]]
"""A bilinear form in A and one row of V: the coefficient of A_pi V_q at (p, i, q)."""


def products_determine_functions(d: int) -> bool:
    """Whether coefficients of an output token of V X Xᵀ A X and coefficients of the products l_i·v span the same space.

    Computed for one row v of V, since each output has its own; for two tokens, since each summand of
    Σ_u (x_uᵀ A x)(V x_u) has one other token at most; and for d ≤ 3, since forms with different sets of three indices
    have no monomial in common, and all sets are alike.
    """
    size = min(d, 3)
    full, reduced = _output_coefficients(size), _product_coefficients(size)
    return sparse_rank(full) == sparse_rank(reduced) == sparse_rank([*full, *reduced])


def _output_coefficients(d: int) -> list[Bilinear]:
    """Of (xᵀ A x)(v·x) + (yᵀ A x)(v·y), by monomials in x and y."""
    found: dict[tuple[tuple[int, ...], tuple[int, ...]], Bilinear] = {}
    for p, i, q in product(range(d), repeat=3):
        alone, other = ((), tuple(sorted((p, i, q)))), (tuple(sorted((p, q))), (i,))
        for monomial in (alone, other):
            found.setdefault(monomial, Counter())[p, i, q] += 1
    return list(found.values())


def _product_coefficients(d: int) -> list[Bilinear]:
    """Of (Σ A_pi y_p)(Σ V_q y_q) for all i."""
    pairs = combinations_with_replacement(range(d), 2)
    return [Counter({(p, i, q), (q, i, p)}) for (p, q), i in product(pairs, range(d))]
