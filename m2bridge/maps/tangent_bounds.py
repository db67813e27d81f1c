"""What equations of low degree say about tangent spaces, without an engine."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import combinations_with_replacement
from math import prod

from m2bridge.algebra.field import CoefficientField
from m2bridge.algebra.jacobian import random_point
from m2bridge.algebra.linear_algebra import sparse_rank
from m2bridge.clock import share, watched
from m2bridge.errors import ContradictionError, EngineTimeoutError, MethodUnavailableError
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.orbits import Orbit, orbits, representative
from m2bridge.families.attention.tangents import function, sparse
from m2bridge.implicitization import Implicitization, implicitize, multigraded_attention
from m2bridge.implicitization.multigraded_map import IntegerPolynomial
from m2bridge.implicitization.substitution import Terms
from m2bridge.maps.jacobian_rank import Status, jacobian_findings
from m2bridge.maps.multigraded_closure import default_max_degree
from m2bridge.maps.subject import Subject

Occurrences = dict[int, dict[tuple[int, ...], list[tuple[int, int]]]]
"""For each degree and each monomial, the polynomials in which it occurs, by number, and its coefficients there."""

MOST_MONOMIALS = 125_000
"""Bounds for the tangent dimensions use equations of the largest degree ≤ 4 with at most so many monomials."""


def singular_by_bounds(lower: int, upper: int | None, dimension: int) -> bool | None:
    """Whether a point is singular whose tangent dimension lies between two bounds; ``None`` if they do not decide.

    Raises
    ------
    ContradictionError
        If the upper bound is below the lower one, or below the dimension of the variety.
    """
    if upper is not None and upper < max(lower, dimension):
        raise ContradictionError(
            f"tangent dimension at least {lower} by tangent vectors and at most {upper} by equations, on a variety of "
            f"dimension {dimension}"
        )
    return True if lower > dimension else False if upper == dimension else None


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
    source = multigraded_attention(model, "reduced")
    with share(0.75):
        implicitization = implicitize(source, degree)
    bounds: dict[Orbit, int] = {}
    with suppress(EngineTimeoutError):
        found = _occurrences(watched(implicitization.sparse_generators()))
        for orbit in orbits(model):
            point = _point(orbit, model, source.polynomial_map.coordinates)
            bounds[orbit] = len(point) - _rank_at_sparse_point(found, point)
    return bounds


def _point(orbit: Orbit, model: SingleLayerAttention, coordinates: Sequence[str]) -> tuple[int, ...]:
    """The function coordinates of the representative, without the minors that its weights satisfy."""
    values = function(*map(sparse, representative(orbit, model)))
    named = {"_".join(["c", *(str(i + 1) for i in key)]): value for key, value in values.items()}
    return tuple(named.get(name, 0) for name in coordinates)


def default_degree(model: SingleLayerAttention) -> int:
    """The largest N ≤ 4 with at most MOST_MONOMIALS monomials of degree N in the coordinates; 0 if N = 2 has more."""
    degree = default_max_degree(model.coordinate_count(model.default_coordinates), MOST_MONOMIALS)
    return degree if degree > 1 else 0


def known_dimension(subject: Subject, field: CoefficientField) -> tuple[int | None, Status]:
    """What the ranks of the differential say about the dimension, found in at most half of the time."""
    with share(0.5):
        findings = jacobian_findings(subject.model or subject.parametrization, field, subject.coordinates)
    best = max(findings, key=lambda finding: (finding.status == "proved", finding.value or -1))
    return best.value, best.status


def image_dimension(known: tuple[int | None, Status], found: Implicitization) -> tuple[int | None, Status]:
    """Dimension of the closure of the image: ranks of the differential below, ranks of the equations above.

    At a point of the image the tangent space has at least the dimension of the closure, and lies in the kernel of the
    differentials of all equations. Where a random point does not show it, another one is tried.

    Parameters
    ----------
    known : (int or None, status)
        What :func:`known_dimension` says.
    """
    value, status = known
    if status == "lower bound" and any(_tangent_bound(found, seed) == value for seed in range(1, 4)):
        return value, "proved"
    return known


def _tangent_bound(found: Implicitization, seed: int) -> int:
    """The number of coordinates less the rank of the equations at a random point of the image."""
    parameters = random_point(found.source.polynomial_map, 9, seed)
    point = [_value(image, parameters) for image in found.source.integral_images]
    return len(point) - sparse_rank(_gradient(generator, point) for generator in found.sparse_generators())


def _value(image: IntegerPolynomial, parameters: Sequence[int]) -> int:
    return sum(c * prod(x**e for x, e in zip(parameters, exponents, strict=True)) for exponents, c in image.items())


def _gradient(polynomial: Terms, point: Sequence[int]) -> dict[int, int]:
    """The partial derivatives at the point."""
    total: dict[int, int] = {}
    for monomial, coefficient in watched(polynomial):
        for place, j in enumerate(monomial):
            factors = monomial[:place] + monomial[place + 1 :]
            total[j] = total.get(j, 0) + coefficient * prod([point[i] for i in factors])
    return total


def _occurrences(polynomials: Iterable[Terms]) -> Occurrences:
    found: Occurrences = {}
    for number, polynomial in enumerate(polynomials):
        for monomial, coefficient in polynomial:
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
