"""Tangent vectors at a representative of an orbit, exactly: the differential, the group action, curves.

Weights and function coordinates are sparse: mappings from index to integer. Everything is over QQ, for t ≥ 2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import product

from m2bridge.algebra.linear_algebra import sparse_rank
from m2bridge.clock import share, watched
from m2bridge.errors import ContradictionError, EngineTimeoutError
from m2bridge.families.attention.formulas import determinantal_dimension
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.orbits import Orbit, dense_first, generic_orbit, representative
from m2bridge.families.attention.reduced_coordinates import Function, Sparse, function, sparse

LowerBounds = dict[Orbit, tuple[int, Orbit]]
"""For orbits a lower bound for the tangent dimension, and the orbit where the tangent vectors are."""


def _plus(first: Function, second: Function) -> Function:
    return {key: first.get(key, 0) + second.get(key, 0) for key in first.keys() | second.keys()}


def orbit_dimension(orbit: Orbit, model: SingleLayerAttention) -> int:
    """Dimension of the orbit in function space (affine): rank of the tangent map of the group action.

    The Lie algebra element (X, Y, Z) of gl_d × gl_d × gl_d' moves (A, V) to (XA + AY, V Xᵀ + ZV); the differential of
    the bilinear parametrization f takes this to f(XA + AY, V) + f(A, V Xᵀ + ZV).
    """
    A, V = map(sparse, representative(orbit, model))
    return sparse_rank(_action(A, V, model))


def closure_dimension(model: SingleLayerAttention) -> int:
    """Affine dimension of the closure: that of the dense orbit, of A and V of the largest rank in general position."""
    return orbit_dimension(generic_orbit(model), model)


def zero_tangent_dimension(model: SingleLayerAttention) -> int:
    """Tangent dimension of the closure at the zero function: all reduced coordinates.

    The closure is a cone, so its tangent space at zero is its linear span. The reduced coordinates are linearly
    independent functions over every field: V_kp A_qi occurs in c_{k,i,{p,q}} only, with coefficient 1, and the minors
    that vanish on A for a < d have degree ≥ 2 in A.
    """
    return model.coordinate_count("reduced")


def _action(A: Sparse, V: Sparse, model: SingleLayerAttention) -> Iterator[Function]:
    for i, j in product(range(model.d), repeat=2):
        moved_v = {(k, i): v for (k, q), v in V.items() if q == j}
        yield _plus(function(_row_moved(A, i, j), V), function(A, moved_v))
        yield function(_column_moved(A, i, j), V)
    for i, j in product(range(model.d_out), repeat=2):
        yield function(A, _row_moved(V, i, j))


def _row_moved(matrix: Sparse, i: int, j: int) -> dict[tuple[int, int], int]:
    """E_ij · matrix: row j put in place i."""
    return {(i, column): entry for (row, column), entry in matrix.items() if row == j}


def _column_moved(matrix: Sparse, i: int, j: int) -> dict[tuple[int, int], int]:
    """Matrix · E_ij: column i put in place j."""
    return {(row, j): entry for (row, column), entry in matrix.items() if column == i}


def source_tangent_dimension(orbit: Orbit, model: SingleLayerAttention) -> int:
    """Dimension of the Zariski tangent space of {rk A ≤ α} × {V} at the representative (affine).

    Source: the determinantal variety is smooth exactly at rank α, with tangent space {XA + AY}; at lower rank its
    tangent space is the space of all matrices. Harris, *Algebraic Geometry: A First Course*, Example 14.16.
    """
    rank_a = model.d if orbit.r < model.alpha else model.alpha
    return determinantal_dimension(model.d, model.d, rank_a) + model.d * model.d_out


def _differential(A: Sparse, V: Sparse, orbit: Orbit, model: SingleLayerAttention) -> Iterator[Function]:
    """Images of a spanning set of the Zariski tangent space of the source at (A, V)."""
    pairs = [(i, j) for i in range(model.d) for j in range(model.d)]
    if orbit.r < model.alpha or model.alpha == model.d:
        yield from (function({pair: 1}, V) for pair in pairs)
    else:
        yield from (function(_row_moved(A, i, j), V) for i, j in pairs)
        yield from (function(_column_moved(A, i, j), V) for i, j in pairs)
    yield from (function(A, {(k, p): 1}) for k in range(model.d_out) for p in range(model.d))


def differential_rank(orbit: Orbit, model: SingleLayerAttention) -> int:
    """Rank of the differential on the Zariski tangent space of the source, at the representative."""
    A, V = map(sparse, representative(orbit, model))
    return sparse_rank(_differential(A, V, orbit, model))


def is_critical(orbit: Orbit, model: SingleLayerAttention) -> bool:
    """Whether the differential has a kernel beyond the rescaling (A, −V): critical on the projective source."""
    return differential_rank(orbit, model) < source_tangent_dimension(orbit, model) - 1


def preimages(orbit: Orbit, model: SingleLayerAttention) -> list[tuple[Sparse, Sparse]]:
    """Weights of the representative's function: its own, and for rk A = rk V = 1 those with k and v exchanged.

    A = k qᵀ, V = h vᵀ and A' = v qᵀ, V' = h kᵀ give the same function, since only the product of the linear forms k
    and v enters. That these are all preimages is not used.
    """
    A, V = representative(orbit, model)
    found: list[tuple[Sparse, Sparse]] = [(sparse(A), sparse(V))]
    if orbit.r == orbit.s == 1:
        k, v = tuple(row[0] for row in A), V[0]  # q = h = the first unit vector
        swapped = {(p, 0): entry for p, entry in enumerate(v) if entry}, {(0, p): e for p, e in enumerate(k) if e}
        if function(*swapped) != function(*found[0]):
            raise ContradictionError(f"exchanging k and v changed the function at orbit {orbit}")
        if swapped != found[0]:
            found.append(swapped)
    return found


def _limits(model: SingleLayerAttention) -> Iterator[Function]:
    """Limits of tangent vectors at A = l qᵀ, V = h vᵀ with l = v + εw, as ε → 0: tangent to the closure at l = v.

    f(b q'ᵀ, h vᵀ) is tangent at (l qᵀ, h vᵀ), and f(b q'ᵀ, h lᵀ) at the other preimage (v qᵀ, h lᵀ) of the same
    function; their difference is ε f(b q'ᵀ, h wᵀ). In the same way f(w qᵀ, h' cᵀ) is found. For α = 1 only q' = q is
    tangent to the source at both. Here v = q = h is the first unit vector.
    """
    columns = range(model.d if model.alpha > 1 else 1)
    for b, w, i in product(range(model.d), range(model.d), columns):
        yield function({(b, i): 1}, {(0, w): 1})
    for w, c, k in product(range(model.d), range(model.d), range(model.d_out)):
        yield function({(w, 0): 1}, {(k, c): 1})


def tangent_lower_bound(orbit: Orbit, model: SingleLayerAttention) -> int:
    """A lower bound for the tangent dimension of the closure at the orbit's representative.

    The span of the images of the differential at all preimages, and at (1, 1, 1), where two preimages come together, of
    limits of such images. Where rk A < a < d the tangent space of the source is spanned by curves A + sB with rk B = 1,
    which stay in it; elsewhere the source is smooth.
    """
    vectors = [row for A, V in preimages(orbit, model) for row in _differential(A, V, orbit, model)]
    if orbit == Orbit(1, 1, 1):
        vectors += _limits(model)
    return sparse_rank(vectors)


def tangent_lower_bounds(model: SingleLayerAttention) -> LowerBounds:
    """For each orbit the best lower bound for its tangent dimension, and the orbit where the vectors are.

    The tangent dimension is upper semicontinuous: on an orbit it is at least that of any orbit whose closure contains
    it. Within a limit of :mod:`m2bridge.clock`, for the orbits that three quarters of the time suffice for, the dense
    one first.
    """
    own: dict[Orbit, int] = {}
    with share(0.75), suppress(EngineTimeoutError):
        for orbit in dense_first(model):
            own[orbit] = tangent_lower_bound(orbit, model)
    return best_bounds(own)


def best_bounds(own: Mapping[Orbit, int]) -> LowerBounds:
    """For each orbit the best of the lower bounds of orbits whose closure contains it."""
    return {
        orbit: max(
            ((bound, larger) for larger, bound in own.items() if orbit.in_closure_of(larger)),
            key=lambda pair: (pair[0], pair[1] == orbit, pair[1]),
        )
        for orbit in watched(own)
    }
