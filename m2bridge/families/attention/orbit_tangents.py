"""What linear algebra says about the orbits of a case: dimensions, critical points, tangent vectors, equations."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from m2bridge.clock import share
from m2bridge.errors import EngineTimeoutError
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.orbits import Orbit, dense_first
from m2bridge.families.attention.tangent_bounds import tangent_upper_bounds
from m2bridge.families.attention.tangents import best_bounds, is_critical, orbit_dimension, tangent_lower_bound


@dataclass(frozen=True, slots=True)
class OrbitTangents:
    """One orbit.

    Parameters
    ----------
    dimension : int
        Of the orbit in function space (affine), by the tangent map of the group action.
    critical : bool
        By the rank of the differential of the parametrization.
    lower : int
        Lower bound for the tangent dimension of the closure, by explicit tangent vectors.
    witness : Orbit
        The orbit where these vectors are; its closure contains this one.
    upper : int or None
        Upper bound for the tangent dimension, by proved equations.
    """

    dimension: int
    critical: bool
    lower: int
    witness: Orbit
    upper: int | None


def orbit_tangents(model: SingleLayerAttention) -> dict[Orbit, OrbitTangents]:
    """All orbits; within a limit of :mod:`m2bridge.clock` those that the time suffices for, the dense one first.

    Hypothesis: t ≥ 2.

    Raises
    ------
    EngineTimeoutError
        If it does not suffice for the dense one.
    """
    dense, *others = dense_first(model)
    own = {dense: _own(dense, model)}
    with share(0.6), suppress(EngineTimeoutError):
        for orbit in others:
            own[orbit] = _own(orbit, model)
    upper: dict[Orbit, int] = {}
    with share(0.75), suppress(EngineTimeoutError):
        upper = tangent_upper_bounds(model)
    lower = best_bounds({orbit: bound for orbit, (_, _, bound) in own.items()})
    return {orbit: OrbitTangents(*own[orbit][:2], *lower[orbit], upper.get(orbit)) for orbit in own}


def _own(orbit: Orbit, model: SingleLayerAttention) -> tuple[int, bool, int]:
    """What the orbit itself shows: dimension, whether it is critical, bound for the tangent dimension."""
    return orbit_dimension(orbit, model), is_critical(orbit, model), tangent_lower_bound(orbit, model)
