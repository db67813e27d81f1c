"""Identities that hold for all d, by expansion."""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import combinations_with_replacement, product

import flint


@cache
def base_locus_is_empty() -> bool:
    """Whether φ(A, V) = 0 implies A = 0 or V = 0: x = l_p v_q satisfies x² − c_pq x + c_pp c_qq = 0."""
    context = flint.fmpz_mpoly_ctx.get(("l_p", "l_q", "v_p", "v_q"), flint.Ordering.lex)
    lp, lq, vp, vq = context.gens()
    x, c_pq = lp * vq, lp * vq + lq * vp
    return bool((x * x - c_pq * x + lp * vp * lq * vq).is_zero())


@cache
def boundary_family() -> bool:
    """Whether the functions of k = (1, iε), v = (1, −iε), times h qᵀ, are boundary points that tend to (1, 1, 1).

    They are real and tend to the function (1, 0, 0) of the representative. V_12 of all their weights is a root of
    t² − c_12 t + c_11 c_22; its discriminant is −(2ε)².
    """
    e, zero = flint.fmpz_poly([0, 1]), flint.fmpz_poly([0])
    k, v = ((e**0, zero), (zero, e)), ((e**0, zero), (zero, -e))

    def times(x: tuple, y: tuple) -> tuple:  # type: ignore[type-arg]
        return x[0] * y[0] - x[1] * y[1], x[0] * y[1] + x[1] * y[0]

    c11, c22, first, second = times(k[0], v[0]), times(k[1], v[1]), times(k[0], v[1]), times(k[1], v[0])
    c12 = first[0] + second[0], first[1] + second[1]
    real = c11[1] == c12[1] == c22[1] == zero
    limit = [int(c[0](0)) for c in (c11, c12, c22)] == [1, 0, 0]
    return bool(real and limit and c12[0] ** 2 - 4 * c11[0] * c22[0] == -((2 * e) ** 2))


@cache
def products_determine_functions() -> bool:
    """Whether coefficients of an output token are sums of the coefficients of products l_i·v, and these among them.

    (xᵀAx)(v·x) + (yᵀAx)(v·y) has at x_i y_p y_q the coefficient of y_p y_q in l_i·v, and at three entries of x the sum of
    those for all places of i. Outputs have rows v of their own, each summand has one other token y, and forms with
    other sets of three indices no monomials in common: three indices decide all d.
    """
    alone: dict[tuple[int, ...], Counter[tuple[int, int, int]]] = {}
    products: dict[tuple[int, int, int], Counter[tuple[int, int, int]]] = {}
    for p, i, q in product(range(3), repeat=3):
        alone.setdefault(tuple(sorted((p, i, q))), Counter())[p, i, q] += 1  # A_pi v_q at x_p x_i x_q
        products.setdefault((i, min(p, q), max(p, q)), Counter())[p, i, q] += 1  # A_pi v_q at x_i y_p y_q
    for three in combinations_with_replacement(range(3), 3):
        total: Counter[tuple[int, int, int]] = Counter()
        for place in {(three[0], *three[1:]), (three[1], three[0], three[2]), (three[2], *three[:2])}:
            total += products[place]
        if total != alone[three]:
            return False
    return True
