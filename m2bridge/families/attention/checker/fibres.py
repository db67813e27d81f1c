"""The fibre of the projective parametrization over a representative, as a scheme.

There A_11 V_11 = 1, so the whole fibre lies on the chart A_11 = V_11 = 1. Put z_q = V_1q. The coordinates with an index
p = 1 give all weights as affine functions of z; column i of A is zero on the whole fibre where it is for the
representative, so rk A ≤ r ≤ α holds by itself. Each z_q is a root of t² − c_{1,1,1,q} t + c_{1,1,q,q}. From a point of
the fibre, moving z_q adds −A_1i to A_qi for all i, and V_k1 to V_kq for all k; so with the bilinear f and these changes
a_q, b_q the equations of the fibre are Σ z_q L_q + Σ z_p z_q Q_pq = 0 with

    L_q = f(a_q, V) + f(A, b_q),    Q_pq = f(a_p, b_q) + f(a_q, b_p)  (p < q),    Q_qq = f(a_q, b_q).

The point is reduced if the L_q are independent. Else the equations without linear part are looked at: where they span all
monomials z_p z_q, the fibre is this point and its functions are 1 and the linear ones modulo the linear parts.
"""

from __future__ import annotations

from itertools import combinations, product
from math import comb, isqrt

from m2bridge.checker.linear_algebra import rank
from m2bridge.errors import ContradictionError
from m2bridge.families.attention.checker.case import Case, Function, Sparse, function

Pair = tuple[Sparse, Sparse]


def fibre(A: Sparse, V: Sparse, case: Case) -> tuple[int, list[Pair]]:
    """Length and points, with A_11 = V_11 = 1, of the fibre over the function of (A, V)."""
    c = function(A, V)
    roots = [_roots(c.get((0, 0, 0, q), 0), c.get((0, 0, q, q), 0)) for q in range(1, case.d)]
    weights = (_weights(c, (1, *z), case) for z in product(*roots))
    points = [pair for pair in weights if function(*pair) == c]
    excess = [_excess(*point, case) for point in points]
    if any(excess) and len(points) > 1:
        raise ContradictionError(f"a fibre of {case} with several points, not all of them reduced")
    return len(points) + sum(excess), points


def _roots(total: int, constant: int) -> set[int]:
    """Of t² − total·t + constant."""
    discriminant = total**2 - 4 * constant
    if discriminant < 0 or isqrt(discriminant) ** 2 != discriminant:
        raise ContradictionError(f"a fibre over a representative has irrational points: √{discriminant}")
    return {(total + sign * isqrt(discriminant)) // 2 for sign in (1, -1)}


def _weights(c: Function, z: tuple[int, ...], case: Case) -> Pair:
    """The only (A, V) with A_11 = 1 and first row z of V that can have the function c."""
    d = range(case.d)
    A = {(q, i): c.get((0, i, 0, q), 0) - (z[q] * c.get((0, i, 0, 0), 0) if q else 0) for q in d for i in d}
    left = {k: c.get((k, 0, 0, 0), 0) for k in range(case.d_out)}
    V = {(k, q): c.get((k, 0, 0, q), 0) - (x * A[q, 0] if q else 0) for k, x in left.items() for q in d}
    return {at: x for at, x in A.items() if x}, {at: x for at, x in V.items() if x}


def _excess(A: Sparse, V: Sparse, case: Case) -> int:
    """The length of the fibre at a point of it, less one."""
    top = {i: x for (p, i), x in A.items() if p == 0}
    left = {k: y for (k, q), y in V.items() if q == 0}
    moves = [({(q, i): -x for i, x in top.items()}, {(k, q): y for k, y in left.items()}) for q in range(1, case.d)]
    linear = [_sum(function(a, V), function(A, b)) for a, b in moves]
    independent = rank(linear)
    if independent == len(moves):
        return 0
    squares = [function(a, b) for a, b in moves]
    mixed = [_sum(function(a, e), function(f, b)) for (a, b), (f, e) in combinations(moves, 2)]
    if rank([*linear, *squares, *mixed]) - independent < comb(case.d, 2):
        raise ContradictionError(f"a fibre of {case} is not contained in a first-order neighbourhood")
    return len(moves) - independent


def _sum(first: Function, second: Function) -> Function:
    return {key: first.get(key, 0) + second.get(key, 0) for key in first.keys() | second.keys()}
