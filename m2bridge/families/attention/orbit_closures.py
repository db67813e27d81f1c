"""Closures of orbits: parametrizations and degrees. Dimensions are in :mod:`m2bridge.families.attention.tangents`."""

from __future__ import annotations

from math import comb

from sympy.polys.rings import PolyElement

from m2bridge.algebra.field import QQ
from m2bridge.algebra.polynomial_map import PolynomialMap
from m2bridge.algebra.ring import PolynomialRing
from m2bridge.clock import watched
from m2bridge.families.attention.formulas import determinantal_degree, determinantal_dimension
from m2bridge.families.attention.model import Coordinates, SingleLayerAttention
from m2bridge.families.attention.orbits import Orbit
from m2bridge.families.attention.parametrization import Matrix, entries, images


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
    A = [[sum((b[e][p] * q[e][i] for e in range(orbit.r)), zero) for i in range(d)] for p in watched(range(d))]
    V = [
        [sum((h[e][k] * b[shared[e]][p] for e in range(orbit.s)), zero) for p in range(d)]
        for k in watched(range(model.d_out))
    ]
    named = images(model, A, V, coordinates or model.default_coordinates)
    return PolynomialMap(source, tuple(named), tuple(named.values()))


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
