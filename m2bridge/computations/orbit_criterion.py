"""The Jacobian criterion at one point of each orbit."""

from __future__ import annotations

from dataclasses import replace

from m2bridge.computations.closure import Closure, closure
from m2bridge.computations.elimination import elimination_values
from m2bridge.computations.jacobian_criterion import ZERO
from m2bridge.computations.locus import Component, OrbitStatus
from m2bridge.computations.subject import Subject
from m2bridge.engine import Engine
from m2bridge.errors import ContradictionError
from m2bridge.geometry.jacobian import tangent_dimension
from m2bridge.geometry.linear_span import reduce_linearly
from m2bridge.geometry.orbit_geometry import orbit_closure_degree, orbit_closure_map, orbit_dimension
from m2bridge.model.attention import SingleLayerAttention
from m2bridge.model.field import QQ, CoefficientField
from m2bridge.model.orbit import Orbit, flatten, maximal_orbits, orbits, representative
from m2bridge.render import Script, render


def orbit_statuses(found: Closure) -> tuple[OrbitStatus, ...]:
    """Tangent dimension of the closure at a representative of each orbit, from all generators of its ideal.

    The ideal is radical, so the point is singular exactly when the tangent dimension exceeds the dimension; and all
    points of an orbit are alike.
    """
    model = found.subject.model
    assert model is not None
    return tuple(_status(found, model, orbit) for orbit in orbits(model))


def orbit_script(subject: Subject, field: CoefficientField) -> Script:
    """The complete Macaulay2 program, elimination included; a second method for :func:`orbit_statuses`."""
    model = subject.model
    assert model is not None
    independent = reduce_linearly(subject.parametrization).reduced
    points = [
        (f"{orbit.r} {orbit.s} {orbit.m}", independent.evaluate(flatten(*representative(orbit, model))))
        for orbit in orbits(model)
    ]
    values = elimination_values(independent, field) | {"title": subject.title, "points": points}
    return render("orbit_criterion", values=values)


def _status(found: Closure, model: SingleLayerAttention, orbit: Orbit) -> OrbitStatus:
    assert found.ideal is not None
    assert found.dimension is not None
    attention = model.parametrization(found.subject.coordinates)
    point = attention.evaluate(flatten(*representative(orbit, model)))
    tangent = tangent_dimension(found.ideal.generators, point, found.field)
    if tangent < found.dimension:
        raise ContradictionError(f"tangent dimension {tangent} below the dimension {found.dimension} at orbit {orbit}")
    return OrbitStatus(orbit, orbit_dimension(orbit, model), tangent, tangent > found.dimension)


def orbit_components(
    statuses: tuple[OrbitStatus, ...], found: Closure, engine: Engine, ideals: bool, timeout: float | None
) -> tuple[Component, ...]:
    """The components of the singular locus: closures of the maximal singular orbits, or the zero function alone.

    Zero is a singular point of a cone unless the cone is a linear space.
    """
    assert found.ideal is not None
    singular = maximal_orbits(tuple(status.orbit for status in statuses if status.singular))
    if not singular:
        linear = all(degree == 1 for degree in found.ideal.generator_degrees)
        return () if linear else (Component(ZERO, None, 0, 1),)
    dimensions = {status.orbit: status.dimension for status in statuses}
    components = (_component(orbit, dimensions[orbit], found, engine, ideals, timeout) for orbit in singular)
    return tuple(sorted(components, key=lambda component: (-component.dimension, component.description)))


def _component(
    orbit: Orbit, dimension: int, found: Closure, engine: Engine, ideals: bool, timeout: float | None
) -> Component:
    model = found.subject.model
    assert model is not None
    formula = orbit_closure_degree(orbit, model) if found.field == QQ else None
    component = Component(f"closure of the orbit {orbit}", orbit, dimension, formula)
    if not ideals:
        return component
    parametrization = orbit_closure_map(orbit, model, found.subject.coordinates)
    eliminated = closure(parametrization, engine, found.field, strategy="elimination", timeout=timeout)
    if eliminated.degree is None:
        return component
    if eliminated.dimension != dimension or formula not in (None, eliminated.degree):
        raise ContradictionError(
            f"the closure of the orbit {orbit} has dimension {dimension} and degree {formula} by its group action and "
            f"formula, but {eliminated.dimension} and {eliminated.degree} by elimination"
        )
    return replace(component, degree=eliminated.degree, ideal=eliminated.ideal)
