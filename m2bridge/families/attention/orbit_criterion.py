"""The Jacobian criterion at one point of each orbit."""

from __future__ import annotations

from m2bridge.algebra.field import CoefficientField
from m2bridge.algebra.jacobian import tangent_dimension
from m2bridge.algebra.linear_span import reduce_linearly
from m2bridge.errors import ContradictionError
from m2bridge.families.attention.components import orbit_components
from m2bridge.families.attention.coordinates import AttentionCoordinates
from m2bridge.families.attention.orbits import Orbit, flatten, orbits, representative
from m2bridge.families.attention.tangents import orbit_dimension
from m2bridge.maps.agreement import LocusFindings
from m2bridge.maps.closure_result import Closure
from m2bridge.maps.elimination import elimination_values
from m2bridge.maps.singular_locus_result import OrbitStatus
from m2bridge.maps.subject import Subject
from m2bridge.render import Script, render


def by_orbits(found: Closure, model: AttentionCoordinates) -> LocusFindings:
    """Findings from all generators of the ideal of the closure, which is radical.

    A point is singular exactly when its tangent dimension exceeds the dimension, and all points of an orbit are alike.
    Hypothesis: t ≥ 2; ``model`` is what the closure is about.
    """
    ideal = found.ideal
    assert ideal is not None
    statuses = tuple(_status(found, model, orbit) for orbit in orbits(model.shape))
    linear = all(degree == 1 for degree in ideal.generator_degrees)
    return LocusFindings(
        "orbits", found.dimension, statuses, orbit_components(statuses, linear, model.shape, found.field)
    )


def orbit_script(subject: Subject, field: CoefficientField) -> Script:
    """The complete Macaulay2 program, elimination included; a second method for :func:`by_orbits`."""
    model = subject.model
    assert isinstance(model, AttentionCoordinates)
    independent = reduce_linearly(subject.parametrization).reduced
    points = [
        (f"{orbit.r} {orbit.s} {orbit.m}", independent.evaluate(flatten(*representative(orbit, model.shape))))
        for orbit in orbits(model.shape)
    ]
    values = elimination_values(independent, field) | {"title": subject.title, "points": points}
    return render("orbit_criterion", values=values)


def _status(found: Closure, model: AttentionCoordinates, orbit: Orbit) -> OrbitStatus:
    assert found.ideal is not None
    assert found.dimension is not None
    point = found.subject.parametrization.evaluate(flatten(*representative(orbit, model.shape)))
    tangent = tangent_dimension(found.ideal.generators, point, found.field)
    if tangent < found.dimension:
        raise ContradictionError(f"tangent dimension {tangent} below the dimension {found.dimension} at orbit {orbit}")
    return OrbitStatus(orbit, orbit_dimension(orbit, model.shape), tangent, tangent > found.dimension)
