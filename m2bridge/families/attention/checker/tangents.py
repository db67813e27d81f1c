"""Dimensions of orbits, ranks of the differential, tangent vectors: ranks over QQ at the representatives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from m2bridge.checker.linear_algebra import rank
from m2bridge.errors import ContradictionError
from m2bridge.families.attention.checker.case import Case, Function, Orbit, Sparse, function, representative
from m2bridge.families.attention.checker.fibres import Pair


def orbit_dimension(orbit: Orbit, case: Case) -> int:
    """By the tangent map of the group, and by counting the subspaces L, U with L ∩ U of dimension m and their spans."""
    A, V = representative(orbit, case)
    (r, s, m), d = orbit, case.d
    counted = r * d + s * case.d_out + m * (d - m) + (r - m) * (d - r) + (s - m) * (d - s) - 1
    if rank(_moved(A, V, case)) != counted:
        raise ContradictionError(f"orbit {orbit} of {case} has dimension {counted}, but another tangent space")
    return counted


def _moved(A: Sparse, V: Sparse, case: Case) -> Iterator[Function]:
    """Tangent vectors of (A, V) ↦ (XA, VXᵀ), AY, ZV at the identity, in function space; X, Y, Z elementary matrices."""
    for i, j in product(range(case.d), repeat=2):
        first = function(_row(A, j, i), V)
        for key, x in function(A, {(k, i): x for (k, q), x in V.items() if q == j}).items():
            first[key] = first.get(key, 0) + x
        yield first
        yield function(_column(A, i, j), V)
    yield from (function(A, _row(V, j, i)) for i, j in product(range(case.d_out), repeat=2))


def _row(matrix: Sparse, j: int, i: int) -> Sparse:
    """Row j, put in place i."""
    return {(i, column): x for (row, column), x in matrix.items() if row == j}


def _column(matrix: Sparse, i: int, j: int) -> Sparse:
    """Column i, put in place j."""
    return {(row, j): x for (row, column), x in matrix.items() if column == i}


def source_is_smooth(orbit: Orbit, case: Case) -> bool:
    """Whether {rk A ≤ α} is smooth at rank r; elsewhere its tangent space is that of all matrices (a lemma)."""
    return case.alpha == case.d or case.alpha == orbit[0]


def _differential(A: Sparse, V: Sparse, orbit: Orbit, case: Case) -> Iterator[Function]:
    """Images of a spanning set of the Zariski tangent space of {rk A ≤ α} × {V}."""
    pairs = list(product(range(case.d), repeat=2))
    if case.alpha == case.d or not source_is_smooth(orbit, case):
        yield from (function({pair: 1}, V) for pair in pairs)
    else:
        yield from (function(change, V) for i, j in pairs for change in (_row(A, j, i), _column(A, i, j)))
    yield from (function(A, {pair: 1}) for pair in product(range(case.d_out), range(case.d)))


def is_critical(orbit: Orbit, case: Case) -> bool:
    """Whether the kernel of the differential is larger than the line of (A, −V)."""
    full = case.d if case.alpha == case.d or not source_is_smooth(orbit, case) else case.alpha
    tangents = full * (2 * case.d - full) + case.d * case.d_out
    return rank(_differential(*representative(orbit, case), orbit, case)) < tangents - 1


def tangent_bound(orbit: Orbit, points: Sequence[Pair], case: Case) -> int:
    """A lower bound for the tangent dimension of the closure: images of the differential at all points of the fibre.

    At (1, 1, 1), where two points come together, there are limits of such images (docs/mathematics.md, Singular for a
    second reason): f(b q'ᵀ, h wᵀ) for all b, w and q' (for α = 1 only q' = q), and f(w qᵀ, h' cᵀ) for all w, h', c.
    """
    found = [vector for A, V in points for vector in _differential(A, V, orbit, case)]
    if orbit == (1, 1, 1):
        d = range(case.d)
        found += [{(0, i, p, q): 1} for i in (d if case.alpha > 1 else (0,)) for p in d for q in range(p, case.d)]
        found += [{(k, 0, p, q): 1} for k in range(case.d_out) for p in d for q in range(p, case.d)]
    return rank(found)
