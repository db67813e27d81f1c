"""The components of the singular locus as closures of orbits."""

from __future__ import annotations

from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.orbit_closures import orbit_closure_degree
from m2bridge.families.attention.orbits import maximal_orbits, orbit_count
from m2bridge.layout import plural
from m2bridge.maps.singular_locus_result import ZERO, Component, OrbitStatus


def orbit_components(
    statuses: tuple[OrbitStatus, ...], linear: bool, model: SingleLayerAttention, field: CoefficientField
) -> tuple[Component, ...]:
    """The closures of the maximal singular orbits, or the zero function alone, or nothing.

    Parameters
    ----------
    statuses : tuple of OrbitStatus
    linear : bool
        Whether the variety is a linear space. Zero is a singular point of every other cone.
    field : CoefficientField
        Degrees, by a closed formula, are given over QQ only.
    """
    dimensions = {status.orbit: status.dimension for status in statuses if status.singular}
    if not dimensions:
        return () if linear else (Component(ZERO, None, 0, 1),)
    components = (
        Component(
            f"closure of the orbit {orbit}",
            orbit,
            dimensions[orbit],
            orbit_closure_degree(orbit, model) if field == QQ else None,
        )
        for orbit in maximal_orbits(tuple(dimensions))
    )
    return tuple(sorted(components, key=lambda component: (-component.dimension, component.description)))


def undecided_orbits(statuses: tuple[OrbitStatus, ...], model: SingleLayerAttention) -> str:
    """Which orbits are undecided, in words; empty if none is."""
    listed = [f"the orbit {status.orbit}" for status in statuses if status.singular is None]
    others = orbit_count(model) - len(statuses)
    listed += [f"{plural(others, 'orbit')} that the time did not suffice for"] if others else []
    return f"undecided: {', '.join(listed)}" if listed else ""
