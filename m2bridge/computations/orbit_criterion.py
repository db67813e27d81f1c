"""The Jacobian criterion at one point of each orbit."""

from __future__ import annotations

from m2bridge.computations.closure import Closure, elimination_values
from m2bridge.computations.locus import OrbitStatus
from m2bridge.computations.subject import Subject
from m2bridge.errors import ContradictionError
from m2bridge.geometry.jacobian import tangent_dimension
from m2bridge.geometry.linear_span import reduce_linearly
from m2bridge.geometry.tangent import orbit_dimension
from m2bridge.model.attention import SingleLayerAttention
from m2bridge.model.field import CoefficientField
from m2bridge.model.orbit import Orbit, flatten, orbits, representative
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
