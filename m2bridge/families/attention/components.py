"""The components of the singular locus as closures of orbits."""

from __future__ import annotations

from dataclasses import replace

from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.engine import Engine
from m2bridge.errors import ContradictionError, EngineTimeoutError
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.orbit_closures import orbit_closure_degree, orbit_closure_map
from m2bridge.families.attention.orbits import maximal_orbits, orbit_count
from m2bridge.layout import plural
from m2bridge.maps.closure import closure
from m2bridge.maps.singular_locus_result import ZERO, Component, OrbitStatus
from m2bridge.maps.subject import Subject


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


def with_ideal(component: Component, subject: Subject, field: CoefficientField, engine: Engine) -> Component:
    """The component with its ideal and degree by elimination; unchanged if that did not finish.

    Raises
    ------
    ContradictionError
        If dimension or degree differ from what is known.
    """
    if component.ideal is not None or component.orbit is None:
        return component
    assert subject.model is not None
    try:
        parametrization = orbit_closure_map(component.orbit, subject.model, subject.coordinates)
        found = closure(parametrization, engine, field, strategy="elimination")
    except EngineTimeoutError:
        return component
    if found.ideal is None or found.degree is None:
        return component
    if found.dimension != component.dimension or component.degree not in (None, found.degree):
        raise ContradictionError(
            f"the {component.description} has dimension {component.dimension} and degree {component.degree} by its "
            f"group action and formula, but {found.dimension} and {found.degree} by elimination"
        )
    return replace(component, degree=found.degree, ideal=found.ideal)
