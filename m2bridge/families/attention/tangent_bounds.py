"""Upper bounds for tangent dimensions at the orbits, from equations of low degree, without an engine."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Sequence
from contextlib import suppress
from itertools import combinations_with_replacement
from math import prod

from m2bridge.algebra.linear_algebra import sparse_rank
from m2bridge.algebra.sparse_polynomial import Terms
from m2bridge.clock import share, watched
from m2bridge.errors import EngineTimeoutError, MethodUnavailableError
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.orbits import Orbit, orbits, representative
from m2bridge.families.attention.reduced_coordinates import function, name, sparse
from m2bridge.implicitization.implicitize import implicitize
from m2bridge.maps.multigraded_closure import default_max_degree, graded_source
from m2bridge.maps.subject import Subject

Occurrences = dict[int, dict[tuple[int, ...], list[tuple[int, int]]]]
"""For each degree and each monomial, the polynomials in which it occurs, by number, and its coefficients there."""

MOST_MONOMIALS_FOR_BOUNDS = 125_000
"""Bounds for the tangent dimensions use equations of the largest degree ≤ 4 with at most this many monomials."""


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
        degree was asked for. Within a limit of :mod:`m2bridge.clock`, by the equations of the degrees that three
        quarters of the time sufficed for, and for the orbits that the rest did.

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
    source = graded_source(Subject.of(model, "reduced"))
    with share(0.75):
        implicitization = implicitize(source, degree)
    bounds: dict[Orbit, int] = {}
    with suppress(EngineTimeoutError):
        coordinates = source.polynomial_map.coordinates
        points = {orbit: _point(orbit, model, coordinates) for orbit in watched(orbits(model))}
        nonzero = {j for point in points.values() for j, value in enumerate(point) if value}
        found = _occurrences(watched(implicitization.sparse_generators()), nonzero)
        for orbit, point in points.items():
            bounds[orbit] = len(point) - _rank_at_sparse_point(found, point)
    return bounds


def _point(orbit: Orbit, model: SingleLayerAttention, coordinates: Sequence[str]) -> tuple[int, ...]:
    """The function coordinates of the representative, without the minors that its weights satisfy."""
    values = function(*map(sparse, representative(orbit, model)))
    named = {name(index): value for index, value in values.items()}
    return tuple(named.get(name, 0) for name in coordinates)


def default_degree(model: SingleLayerAttention) -> int:
    """The largest N ≤ 4 with few enough monomials of degree N in the coordinates; 0 if N = 2 has too many."""
    degree = default_max_degree(model.coordinate_count(model.default_coordinates), MOST_MONOMIALS_FOR_BOUNDS)
    return degree if degree > 1 else 0


def _occurrences(polynomials: Iterable[Terms], nonzero: Container[int]) -> Occurrences:
    """Without the monomials with two factors that are zero at all points; no derivative of these matters."""
    found: Occurrences = {}
    for number, polynomial in enumerate(polynomials):
        for monomial, coefficient in polynomial:
            if len([j for j in monomial if j not in nonzero]) > 1:
                continue
            found.setdefault(len(monomial), {}).setdefault(monomial, []).append((number, coefficient))
    return found


def _rank_at_sparse_point(found: Occurrences, point: Sequence[int]) -> int:
    """Rank over QQ of the Jacobian matrix at an integer point with few nonzero coordinates.

    There the derivative of a monomial by x_j is zero unless the monomial is x_j times nonzero coordinates.
    """
    support = [j for j, value in enumerate(point) if value]
    rows: defaultdict[int, dict[int, int]] = defaultdict(dict)
    for degree, monomials in found.items():
        for factors in watched(combinations_with_replacement(support, degree - 1)):
            value = prod([point[i] for i in factors])
            for j in range(len(point)):
                monomial = tuple(sorted((*factors, j)))
                for number, coefficient in monomials.get(monomial, ()):
                    row = rows[number]
                    row[j] = row.get(j, 0) + coefficient * value * monomial.count(j)
    return sparse_rank(rows.values())
