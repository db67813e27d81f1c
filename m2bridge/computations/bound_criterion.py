"""Bounds for the tangent dimension at one point of each orbit: no engine, and not the whole ideal of the closure."""

from __future__ import annotations

import time
from collections.abc import Mapping

from m2bridge.computations.agreement import LocusFindings
from m2bridge.computations.components import orbit_components, undecided_orbits
from m2bridge.computations.equations import default_degree, singular_by_bounds, tangent_upper_bounds
from m2bridge.computations.locus import OrbitStatus
from m2bridge.computations.multigraded_closure import LARGEST_DEGREE
from m2bridge.geometry.tangent import closure_dimension, orbit_dimension, tangent_lower_bounds
from m2bridge.model.attention import SingleLayerAttention
from m2bridge.model.field import QQ
from m2bridge.model.orbit import Orbit, generic_orbit, orbits

BOUND_SECONDS = 60.0
"""How long equations of higher degree are sought when no limit was given."""


def by_bounds(model: SingleLayerAttention, timeout: float | None) -> LocusFindings:
    """LocusFindings from explicit tangent vectors, and from equations of low degree, over QQ.

    More independent tangent vectors than the dimension prove an orbit singular; equations whose differentials leave
    no more than the dimension prove it smooth, and the dense orbit is always smooth. The degree of the equations begins
    with :func:`m2bridge.computations.equations.default_degree` and rises to 4 while orbits are undecided; if some are
    so in the end, the method is unfinished. Hypothesis: t ≥ 2.

    Raises
    ------
    ContradictionError
        If the bounds contradict each other or the dimension.
    """
    deadline = time.monotonic() + (BOUND_SECONDS if timeout is None else timeout)
    dimension = closure_dimension(model)
    method, statuses = "tangent bounds", _statuses(model, dimension, {})
    first = default_degree(model)
    for degree in range(first, LARGEST_DEGREE + 1) if first else ():
        method = f"tangent bounds (degree ≤ {degree})"
        statuses = _statuses(model, dimension, tangent_upper_bounds(model, degree, deadline=deadline))
        if not undecided_orbits(statuses) or time.monotonic() > deadline:
            break
    if undecided := undecided_orbits(statuses):
        late = " (more equations with a larger --timeout)" if time.monotonic() > deadline else ""
        return LocusFindings(method, dimension, statuses, None, f"{undecided}{late}", uses_engine=False)
    linear = dimension == model.coordinate_count("reduced")
    components = orbit_components(statuses, linear, model, QQ)
    return LocusFindings(method, dimension, statuses, components, uses_engine=False)


def _statuses(model: SingleLayerAttention, dimension: int, upper: Mapping[Orbit, int]) -> tuple[OrbitStatus, ...]:
    dense = generic_orbit(model)
    upper = {**upper, dense: min(upper.get(dense, dimension), dimension)}
    lower = tangent_lower_bounds(model)
    return tuple(
        _status(orbit, model, max(lower[orbit][0], dimension), upper.get(orbit), dimension) for orbit in orbits(model)
    )


def _status(orbit: Orbit, model: SingleLayerAttention, lower: int, upper: int | None, dimension: int) -> OrbitStatus:
    singular = singular_by_bounds(lower, upper, dimension)
    exact = lower if lower == upper else None
    return OrbitStatus(orbit, orbit_dimension(orbit, model), exact, singular, lower, upper)
