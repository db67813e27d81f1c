"""Dimensions, closures and degrees of orbits; the group action is that of :mod:`m2bridge.model.orbit`."""

from __future__ import annotations

from itertools import product
from math import comb

from sympy.polys.rings import PolyElement

from m2bridge.geometry.formulas import determinantal_degree, determinantal_dimension
from m2bridge.linear_algebra import rank
from m2bridge.model.attention import Coordinates, Matrix, SingleLayerAttention, entries
from m2bridge.model.field import QQ
from m2bridge.model.orbit import IntegerMatrix, Orbit, representative
from m2bridge.model.polynomial_map import PolynomialMap
from m2bridge.model.ring import PolynomialRing


def orbit_dimension(orbit: Orbit, model: SingleLayerAttention) -> int:
    """Dimension of the orbit in function space (affine): rank of the tangent map of the group action, exact over QQ.

    The Lie algebra element (X, Y, Z) of gl_d × gl_d × gl_d' moves (A, V) to (XA + AY, V Xᵀ + ZV); the differential of
    the bilinear parametrization f takes this to f(XA + AY, V) + f(A, V Xᵀ + ZV).
    """
    A, V = representative(orbit, model)
    return rank(_action_rows(A, V))


def _action_rows(A: IntegerMatrix, V: IntegerMatrix) -> list[list[int]]:
    d, d_out = len(A), len(V)
    rows = []
    for i, j in product(range(d), repeat=2):  # X = E_ij moves row j of A to row i, column j of V to column i
        moved_a = tuple(A[j] if p == i else (0,) * d for p in range(d))
        moved_v = tuple(tuple(row[j] if q == i else 0 for q in range(d)) for row in V)
        rows.append([x + y for x, y in zip(bilinear(moved_a, V), bilinear(A, moved_v), strict=True)])
        right = tuple(tuple(A[p][i] if q == j else 0 for q in range(d)) for p in range(d))  # Y = E_ij
        rows.append(bilinear(right, V))
    for i, j in product(range(d_out), repeat=2):  # Z = E_ij
        rows.append(bilinear(A, tuple(V[j] if k == i else (0,) * d for k in range(d_out))))
    return rows


def bilinear(A: IntegerMatrix, V: IntegerMatrix) -> list[int]:
    """The reduced function coordinates of (A, V), in the order of the model: V_kp A_qi + V_kq A_pi, or V_kp A_pi."""
    indices = range(len(A))
    return [
        row[p] * A[p][i] if p == q else row[p] * A[q][i] + row[q] * A[p][i]
        for row in V
        for i in indices
        for p in indices
        for q in range(p, len(A))
    ]


def orbit_closure_map(
    orbit: Orbit, model: SingleLayerAttention, coordinates: Coordinates | None = None
) -> PolynomialMap:
    """A parametrization of the Zariski closure of the orbit, which is irreducible.

    Parameters of the source are vectors ``b`` spanning L + U, ``q`` and ``h``: A = Σ_{p ≤ r} b_p q_pᵀ and
    V = Σ_{k ≤ s} h_k b_{σ(k)}ᵀ, with the first m of the b shared between L and U.
    """
    d, span = model.d, orbit.span
    names = entries("b", span, d) + entries("q", orbit.r, d) + entries("h", orbit.s, model.d_out)
    source = PolynomialRing(QQ, names)
    generators = iter(source.sympy_ring.gens)

    def take(rows: int, columns: int) -> Matrix:
        return [[next(generators) for _ in range(columns)] for _ in range(rows)]

    b, q, h = take(span, d), take(orbit.r, d), take(orbit.s, model.d_out)
    shared = [k if k < orbit.m else orbit.r + k - orbit.m for k in range(orbit.s)]
    zero: PolyElement = source.sympy_ring.zero
    A = [[sum((b[e][p] * q[e][i] for e in range(orbit.r)), zero) for i in range(d)] for p in range(d)]
    V = [[sum((h[e][k] * b[shared[e]][p] for e in range(orbit.s)), zero) for p in range(d)] for k in range(model.d_out)]
    images = model.images(A, V, coordinates or model.default_coordinates)
    return PolynomialMap(source, tuple(images), tuple(images.values()))


def orbit_closure_degree(orbit: Orbit, model: SingleLayerAttention) -> int | None:
    """Degree of the Zariski closure of the orbit as a projective variety, by a closed formula where we have one.

    Where m is as small as r and s allow, the closure is the image of P(rk ≤ r) × P(rk ≤ s) by forms of bidegree (1, 1);
    the map is one-to-one on the orbit, or two-to-one on (1, 1, 0), by Theorem 3.2. ``None`` for other orbits.

    Source: ours, with Theorem 3.2 of Henry, Marchetti, Kohn and Harris, *Algebraic Geometry*, Example 19.10.
    """
    d, d_out, r, s = model.d, model.d_out, orbit.r, orbit.s
    if orbit.m != max(0, r + s - d):
        return None
    dimension_a = determinantal_dimension(d, d, r) - 1
    dimension_v = determinantal_dimension(d_out, d, s) - 1
    sheets = 2 if (r, s, orbit.m) == (1, 1, 0) else 1
    product_degree = determinantal_degree(d, d, r) * determinantal_degree(d_out, d, s)
    return comb(dimension_a + dimension_v, dimension_v) * product_degree // sheets
