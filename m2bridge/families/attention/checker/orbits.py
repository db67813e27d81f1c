"""Fibres, tangent vectors and dimensions at the representative of one orbit.

The fibre of the projective parametrization lies on the chart A_11 = V_11 = 1. Put z_q = V_1q. The coordinates with an index
p = 1 give all weights as affine functions of z; column i of A is zero on the whole fibre where it is for the
representative, so rk A ≤ r ≤ α holds by itself. Each z_q is a root of t² − c_{1,1,1,q} t + c_{1,1,q,q}. From a point of
the fibre, moving z_q adds −A_1i to A_qi for all i, and V_k1 to V_kq for all k; so with the bilinear f and these changes
a_q, b_q the equations of the fibre are Σ z_q L_q + Σ z_p z_q Q_pq = 0 with

    L_q = f(a_q, V) + f(A, b_q),    Q_pq = f(a_p, b_q) + f(a_q, b_p)  (p < q),    Q_qq = f(a_q, b_q).

The point is reduced if the L_q are independent. Else the equations without linear part are looked at: where they span all
monomials z_p z_q, the fibre is this point and its functions are 1 and the linear ones modulo the linear parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, combinations_with_replacement, product
from math import comb, isqrt

from m2bridge.checker.algebra import rank
from m2bridge.errors import ContradictionError
from m2bridge.families.attention.checker.case import Case, Function, Orbit, Sparse, function, representative

Pair = tuple[Sparse, Sparse]


def fibre(orbit: Orbit, case: Case) -> tuple[int, list[Pair]]:
    """Its length and its points, with A_11 = V_11 = 1."""
    c = function(*representative(orbit))
    roots = [_roots(c.get((0, 0, 0, q), 0), c.get((0, 0, q, q), 0)) for q in range(1, case.d)]
    points = [pair for z in product(*roots) if function(*(pair := _weights(c, (1, *z), case))) == c]
    excess = [_excess(*point, case) for point in points]
    if not points or (any(excess) and len(points) > 1):
        raise ContradictionError(f"the fibre over orbit {orbit} of {case} has {len(points)} points, some not reduced")
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
    linear = [_plus(function(a, V), function(A, b)) for a, b in moves]
    if (independent := rank(linear)) == len(moves):
        return 0
    squares = [function(a, b) for a, b in moves]
    mixed = [_plus(function(a, e), function(f, b)) for (a, b), (f, e) in combinations(moves, 2)]
    if rank([*linear, *squares, *mixed]) - independent < comb(case.d, 2):
        raise ContradictionError(f"a fibre of {case} is not contained in a first-order neighbourhood")
    return len(moves) - independent


def _plus(first: Function, second: Function) -> Function:
    return {key: first.get(key, 0) + second.get(key, 0) for key in first.keys() | second.keys()}


def dimension(orbit: Orbit, case: Case) -> int:
    """By counting subspaces L, U with L ∩ U of dimension m, spans of L and U; less one, since fibres are finite."""
    (r, s, m), d = orbit, case.d
    return r * d + s * case.d_out + m * (d - m) + (r - m) * (d - r) + (s - m) * (d - s) - 1


def source_is_smooth(orbit: Orbit, case: Case) -> bool:
    """Whether {rk A ≤ α} is smooth at rank r; elsewhere its tangent space is that of all matrices (a lemma)."""
    return case.alpha in (case.d, orbit[0])


def _differential(A: Sparse, V: Sparse, orbit: Orbit, case: Case) -> Iterator[Function]:
    """Images of a spanning set of the Zariski tangent space of {rk A ≤ α} × {V}; where α < d is the rank, {XA + AY}."""
    for i, j in product(range(case.d), repeat=2):
        if case.alpha < case.d and source_is_smooth(orbit, case):
            yield function({(i, column): x for (row, column), x in A.items() if row == j}, V)
            yield function({(row, j): x for (row, column), x in A.items() if column == i}, V)
        else:
            yield function({(i, j): 1}, V)
    yield from (function(A, {pair: 1}) for pair in product(range(case.d_out), range(case.d)))


def tangent_bound(orbit: Orbit, points: Sequence[Pair], case: Case) -> int:
    """A lower bound for the tangent dimension of the closure: images of the differential at all points of the fibre.

    At (1, 1, 1), where two points come together, there are limits of such images (docs/mathematics.md, Singular for a
    second reason): f(b q'ᵀ, h wᵀ) for all b, w and q' (for α = 1 only q' = q), and f(w qᵀ, h' cᵀ) for all w, h', c.
    """
    found = [vector for A, V in points for vector in _differential(A, V, orbit, case)]
    if orbit == (1, 1, 1):
        columns = range(case.d if case.alpha > 1 else 1)
        for p, q in combinations_with_replacement(range(case.d), 2):
            found += [{(0, i, p, q): 1} for i in columns]
            found += [{(k, 0, p, q): 1} for k in range(case.d_out)]
    return rank(found)


def is_critical(orbit: Orbit, case: Case) -> bool:
    """Whether the kernel of the differential is larger than the line of (A, −V)."""
    full = case.alpha if source_is_smooth(orbit, case) else case.d
    tangents = full * (2 * case.d - full) + case.d * case.d_out
    return rank(_differential(*representative(orbit), orbit, case)) < tangents - 1
