"""Which functions of the Zariski closure have no real weights, for t ≥ 2.

A function is a family of quadratic forms l_i v_k. If they are not all proportional, rk A · rk V > 1, its weights are
unique up to rescaling (Theorem 3.2), so they are their own conjugates and can be chosen real. If all are multiples of
one form Q = k·v, the weights are the two factors of Q in either order, and they are not real exactly if Q is definite
on its two variables. Then, as Q has rank at most 2, the sum of the principal 2×2 minors of its matrix is positive; it
is negative where Q is indefinite, and zero where it has rank at most 1. (Proved in docs/pictures.md.)
"""

from __future__ import annotations

from itertools import combinations

from sympy.polys.rings import PolyElement

from m2bridge.algebra.field import QQ
from m2bridge.algebra.ring import PolynomialRing
from m2bridge.clock import watched
from m2bridge.families.attention.model import Coordinates, SingleLayerAttention
from m2bridge.families.attention.parametrization import coordinate_names, name_in
from m2bridge.families.attention.reduced_coordinates import indices
from m2bridge.maps.model import WithoutRealWeights

REASON = (
    "no real weights exactly where all forms l_i v_k are multiples of one definite form (Theorem 3.2 and "
    "docs/pictures.md); membership confirms it at rational points"
)


def without_real_weights(model: SingleLayerAttention, coordinates: Coordinates) -> WithoutRealWeights:
    """The 2×2 minors of the coefficients of all forms, and the sum of 4 c_pp c_qq − c_pq² over all forms."""
    names = coordinate_names(model, coordinates)
    ring = PolynomialRing(QQ, names).sympy_ring
    named = dict(zip(names, ring.gens, strict=True))
    coordinate = {index: named[name_in(index, coordinates)] for index in indices(model)}
    forms: dict[tuple[int, int], list[PolyElement]] = {}
    for (k, i, _, _), variable in coordinate.items():
        forms.setdefault((k, i), []).append(variable)
    minors = tuple(
        one[a] * other[b] - one[b] * other[a]
        for one, other in watched(combinations(forms.values(), 2))
        for a, b in combinations(range(len(one)), 2)
    )
    positive = sum(
        (
            4 * coordinate[k, i, p, p] * coordinate[k, i, q, q] - coordinate[k, i, p, q] ** 2
            for k, i in forms
            for p, q in combinations(range(model.d), 2)
        ),
        ring.zero,
    )
    return WithoutRealWeights(minors, positive, REASON)
