"""Bounds for the tangent dimension at one point of each orbit: no engine, and not the whole ideal of the closure."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from m2bridge.algebra.field import QQ
from m2bridge.clock import clock, share
from m2bridge.errors import EngineTimeoutError
from m2bridge.families.attention.components import orbit_components, undecided_orbits
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.orbits import Orbit, generic_orbit
from m2bridge.families.attention.tangent_bounds import default_degree, tangent_upper_bounds
from m2bridge.families.attention.tangents import closure_dimension, orbit_dimension, tangent_lower_bounds
from m2bridge.maps.agreement import LocusFindings
from m2bridge.maps.multigraded_closure import LARGEST_DEGREE
from m2bridge.maps.singular_locus_result import OrbitStatus
from m2bridge.maps.tangent_bounds import singular_by_bounds

BOUND_SECONDS = 60.0
"""How long equations of higher degree are sought when no limit was given."""


def by_bounds(model: SingleLayerAttention) -> LocusFindings:
    """Findings from explicit tangent vectors, and from equations of low degree, over QQ.

    More independent tangent vectors than the dimension prove an orbit singular; equations whose differentials leave
    no more than the dimension prove it smooth, and the dense orbit is always smooth. The degree of the equations begins
    with :func:`~m2bridge.families.attention.tangent_bounds.default_degree` and rises to 4 while orbits are undecided;
    if some are so in the end, the method is unfinished. Hypothesis: t ≥ 2.

    Raises
    ------
    ContradictionError
        If the bounds contradict each other or the dimension.
    """
    try:
        dimension = closure_dimension(model)
        lower = tangent_lower_bounds(model)
    except EngineTimeoutError as limit:
        return LocusFindings("tangent bounds", None, (), None, str(limit), uses_engine=False)
    known: dict[Orbit, tuple[int, int]] = {}
    with share(0.5), suppress(EngineTimeoutError):
        for orbit, (bound, _) in lower.items():
            known[orbit] = orbit_dimension(orbit, model), max(bound, dimension)
    with share(1.0, otherwise=BOUND_SECONDS):
        return _by_equations(model, dimension, known)


def _by_equations(model: SingleLayerAttention, dimension: int, known: Mapping[Orbit, tuple[int, int]]) -> LocusFindings:
    """The findings with equations of higher and higher degree; of each orbit its dimension and lower bound are known.

    What the limit leaves no time for is undecided.
    """
    statuses = _statuses(model, dimension, known, {})
    method, late = "tangent bounds", ""
    first = default_degree(model)
    for degree in range(first, LARGEST_DEGREE + 1) if first else ():
        try:
            statuses = _statuses(model, dimension, known, tangent_upper_bounds(model, degree))
            method = f"tangent bounds (degree ≤ {degree})"
            clock().check()
        except EngineTimeoutError:
            late = f" (more equations: {clock().more})"
            break
        if not undecided_orbits(statuses, model):
            break
    if undecided := undecided_orbits(statuses, model):
        return LocusFindings(method, dimension, statuses, None, f"{undecided}{late}", uses_engine=False)
    linear = dimension == model.coordinate_count("reduced")
    components = orbit_components(statuses, linear, model, QQ)
    return LocusFindings(method, dimension, statuses, components, uses_engine=False)


def _statuses(
    model: SingleLayerAttention, dimension: int, known: Mapping[Orbit, tuple[int, int]], upper: Mapping[Orbit, int]
) -> tuple[OrbitStatus, ...]:
    dense = generic_orbit(model)
    upper = {**upper, dense: min(upper.get(dense, dimension), dimension)}
    return tuple(
        _status(orbit, own, lower, upper.get(orbit), dimension) for orbit, (own, lower) in sorted(known.items())
    )


def _status(orbit: Orbit, own: int, lower: int, upper: int | None, dimension: int) -> OrbitStatus:
    singular = singular_by_bounds(lower, upper, dimension)
    exact = lower if lower == upper else None
    return OrbitStatus(orbit, own, exact, singular, lower, upper)
