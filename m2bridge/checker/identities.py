"""Polynomial identities that prove, for every d, what Macaulay2 computes case by case; exact, by FLINT."""

from __future__ import annotations

from functools import cache
from typing import Any

import flint


@cache
def base_locus_is_empty() -> bool:
    """Whether the radical of the coefficients of l·v is the ideal of all products l_p v_q, for linear forms l and v.

    With c_pp = l_p v_p and c_pq = l_p v_q + l_q v_p the products x = l_p v_q satisfy x² − c_pq x + c_pp c_qq = 0, so
    x² is in the ideal of the coefficients. Only two indices occur, so this is a proof for all d: if every
    product of a column of A and a row of V is zero then A = 0 or V = 0.
    """
    one, (lp, lq, vp, vq) = _variables("l_p", "l_q", "v_p", "v_q")
    product = lp * vq
    return bool(product**2 - (lp * vq + lq * vp) * product + (lp * vp) * (lq * vq) == 0 * one)


@cache
def boundary_family_is_verified() -> bool:
    """Whether the functions of k = e_1 + iεe_2, v = e_1 − iεe_2 are real, without real weights, and tend to (1, 1, 1).

    The coordinates of k·v are those of y_1² + ε² y_2², which tend to the y_1² of the representative. On the whole
    fibre, where v = (1, z_2, …) and so l = (1, −z_2, …), the coordinate at y_2² says z_2² + ε² = 0: no real point for
    ε ≠ 0.
    """
    one, (i, e, z) = _variables("i", "e", "z_2")
    k, v = (one, i * e), (one, -i * e)
    mixed, square = k[0] * v[1] + k[1] * v[0], k[1] * v[1]
    is_real = mixed == 0 * one and square - e**2 == -(i**2 + 1) * e**2  # zero where i² = −1
    limit = e**2
    on_the_fibre = (0 - z) * z - e**2
    return bool(is_real and limit.subs({"e": 0}) == 0 * one and on_the_fibre == -(z**2 + e**2))


def _variables(*names: str) -> tuple[Any, tuple[Any, ...]]:
    """1 and the variables of a polynomial ring over ZZ."""
    context = flint.fmpz_mpoly_ctx.get(names, flint.Ordering.degrevlex)
    return context.from_dict({(0,) * len(names): 1}), tuple(context.gens())
