"""The points of the fibre over the representative of an orbit, by solving its equations over QQ.

On the chart A_11 = V_11 = 1, with z_q = V_1q, all weights are affine in z, and each z_q is a root of
z² − c_{1,1,1,q} z + c_{1,1,q,q} (documentation of m2bridge, The method of fibres). So the points are among finitely
many candidates, which are put into all equations.
"""

from __future__ import annotations

from itertools import product
from math import isqrt

from m2bridge.algebra.linear_algebra import rank
from m2bridge.errors import MethodUnavailableError
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.orbits import Orbit, WeightPair, representative
from m2bridge.families.attention.reduced_coordinates import Function, function, sparse


def fibre_points(orbit: Orbit, model: SingleLayerAttention) -> frozenset[WeightPair]:
    """All (A, V) with A_11 = V_11 = 1 and rk A ≤ α that give the function of the representative; complex ones included.

    Raises
    ------
    MethodUnavailableError
        If candidates are not rational, which does not happen at our representatives.
    """
    c = _nonzero(function(*map(sparse, representative(orbit, model))))
    places = range(1, model.d)
    candidates = product(*(_roots(c.get((0, 0, 0, q), 0), c.get((0, 0, q, q), 0)) for q in places))
    pairs = (_weights(c, (1, *z), model) for z in candidates)
    return frozenset(pair for pair in pairs if _nonzero(function(*map(sparse, pair))) == c and _low_rank(pair, model))


def _nonzero(values: Function) -> Function:
    return {key: value for key, value in values.items() if value}


def _roots(total: int, constant: int) -> set[int]:
    """The roots of z² − total·z + constant."""
    discriminant = total**2 - 4 * constant
    root = isqrt(max(discriminant, 0))
    if root**2 != discriminant:
        raise MethodUnavailableError(f"a point of a fibre has the irrational coordinate √{discriminant}")
    return {(total - root) // 2, (total + root) // 2}


def _weights(c: Function, z: tuple[int, ...], model: SingleLayerAttention) -> WeightPair:
    """The only (A, V) that can give the function c with V_1q = z_q and A_11 = 1."""
    d, outputs = range(model.d), range(model.d_out)

    def coordinate(k: int, i: int, q: int) -> int:
        return c.get((k, i, 0, q), 0)

    first = [coordinate(0, i, 0) for i in d]
    A = tuple(tuple(first[i] if q == 0 else coordinate(0, i, q) - z[q] * first[i] for i in d) for q in d)
    left = [coordinate(k, 0, 0) for k in outputs]
    V = tuple(tuple(left[k] if q == 0 else coordinate(k, 0, q) - left[k] * A[q][0] for q in d) for k in outputs)
    return A, V


def _low_rank(pair: WeightPair, model: SingleLayerAttention) -> bool:
    return model.alpha == model.d or rank(pair[0]) <= model.alpha
