"""What equations of low degree say about tangent spaces, without an engine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import comb

from m2bridge.errors import MethodUnavailableError
from m2bridge.geometry.tangent import function, sparse
from m2bridge.implicitization import implicitize, multigraded_attention
from m2bridge.implicitization.substitution import Terms
from m2bridge.linear_algebra import rank
from m2bridge.model.attention import SingleLayerAttention
from m2bridge.model.orbit import Orbit, orbits, representative

LARGEST_DEGREE = 4
MOST_MONOMIALS = 100_000


def tangent_upper_bounds(model: SingleLayerAttention, max_degree: int | None = None) -> dict[Orbit, int]:
    """Upper bounds for the tangent dimension of the closure at each orbit, from all equations of degree ≤ max_degree.

    The Zariski tangent space lies in the kernel of the differentials of any equations. So where the bound equals the
    dimension of the closure, the orbit is proved smooth; where it is larger, nothing is proved. Exact over QQ.

    Parameters
    ----------
    model : SingleLayerAttention
        With t ≥ 2.
    max_degree : int, optional
        :func:`default_degree` when left out.

    Returns
    -------
    dict from Orbit to int
        One affine dimension for each orbit of nonzero functions; empty for models too large even for quadrics, if no
        degree was asked for.

    Raises
    ------
    MethodUnavailableError
        For t = 1, where orbits classify no functions.

    Source: Eisenbud, *Commutative Algebra*, Theorem 16.19.

    Examples
    --------
    >>> tangent_upper_bounds(SingleLayerAttention(2, 1), 4)[Orbit(2, 1, 1)]
    5
    """
    if model.t == 1:
        raise MethodUnavailableError("orbits classify functions of attention with t ≥ 2 only")
    degree = default_degree(model) if max_degree is None else max_degree
    if degree < 1:
        return {}
    source = multigraded_attention(model, "reduced")
    generators = list(implicitize(source, degree).sparse_generators())
    points = {orbit: _point(orbit, model, source.polynomial_map.coordinates) for orbit in orbits(model)}
    return {orbit: len(point) - _differential_rank(generators, point) for orbit, point in points.items()}


def _point(orbit: Orbit, model: SingleLayerAttention, coordinates: Sequence[str]) -> tuple[int, ...]:
    """The function coordinates of the representative, without the minors that its weights satisfy."""
    values = function(*map(sparse, representative(orbit, model)))
    named = {"_".join(["c", *(str(i + 1) for i in key)]): value for key, value in values.items()}
    return tuple(named.get(name, 0) for name in coordinates)


def default_degree(model: SingleLayerAttention) -> int:
    """The largest degree N ≤ 4 with at most 10^5 monomials of degree N in the coordinates; 0 if even N = 2 has more."""
    size = model.coordinate_count(model.default_coordinates)
    fitting = (n for n in range(LARGEST_DEGREE, 1, -1) if comb(size + n - 1, n) <= MOST_MONOMIALS)
    return next(fitting, 0)


def _differential_rank(generators: Iterable[Terms], point: Sequence[int]) -> int:
    """Rank over QQ of the Jacobian matrix of sparse polynomials at an integer point."""
    vanishing = frozenset(j for j, value in enumerate(point) if not value)
    rows = {gradient for polynomial in generators if (gradient := _gradient(polynomial, point, vanishing))}
    matrix = [[0] * len(point) for _ in rows]
    for row, gradient in zip(matrix, rows, strict=True):
        for j, value in gradient:
            row[j] = value
    return rank(matrix)


def _gradient(polynomial: Terms, point: Sequence[int], vanishing: frozenset[int]) -> tuple[tuple[int, int], ...]:
    """The nonzero partial derivatives at the point; monomials with two vanishing factors contribute nothing."""
    total: dict[int, int] = {}
    for monomial, coefficient in polynomial:
        zeros = [j for j in monomial if j in vanishing]
        if len(zeros) > 1:
            continue
        for place, j in enumerate(monomial):
            if zeros and j != zeros[0]:
                continue
            value = coefficient
            for other, i in enumerate(monomial):
                if other != place:
                    value *= point[i]
            total[j] = total.get(j, 0) + value
    return tuple(sorted((j, value) for j, value in total.items() if value))
