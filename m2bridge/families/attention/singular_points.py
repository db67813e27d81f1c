"""The singular locus orbit by orbit: by the ideal, by fibres, or by bounds for tangent dimensions."""

from collections.abc import Mapping
from contextlib import suppress

from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.algebra.jacobian import tangent_dimension
from m2bridge.algebra.polynomial_map import PolynomialMap, reduce_linearly
from m2bridge.algebra.ring import GeneratingSet
from m2bridge.engine.script import Script, render
from m2bridge.errors import ContradictionError, TimeLimitError
from m2bridge.families.attention.orbits import (
    Orbit,
    flatten,
    generic_orbit,
    orbit_components,
    orbits,
    representative,
    undecided_orbits,
)
from m2bridge.families.attention.shape import Shape
from m2bridge.families.attention.tangents import (
    closure_dimension,
    default_degree,
    orbit_dimension,
    tangent_lower_bounds,
    tangent_upper_bounds,
)
from m2bridge.limits import clock, share
from m2bridge.maps.completeness import LARGEST_DEGREE, elimination_values
from m2bridge.maps.model import Model
from m2bridge.maps.statement import LocusFindings, OrbitStatus, singular_by_bounds


def by_orbits(ideal: GeneratingSet, dimension: int, shape: Shape, parametrization: PolynomialMap) -> LocusFindings:
    """Findings from all generators of the ideal of the closure, which is radical, in the coordinates of the map.

    A point is singular exactly when its tangent dimension exceeds the dimension, and all points of an orbit are alike.
    Hypothesis: t ≥ 2.
    """
    statuses = []
    for orbit in orbits(shape):
        point = parametrization.evaluate(flatten(*representative(orbit, shape)))
        tangent = tangent_dimension(ideal.generators, point, field=ideal.ring.field)
        if tangent < dimension:
            raise ContradictionError(f"tangent dimension {tangent} below the dimension {dimension} at orbit {orbit}")
        statuses.append(OrbitStatus(orbit, orbit_dimension(orbit, shape), tangent, tangent > dimension))
    linear = all(degree == 1 for degree in ideal.generator_degrees)
    components = orbit_components(tuple(statuses), linear, shape, ideal.ring.field)
    return LocusFindings("orbits", dimension, tuple(statuses), components)


def orbit_script(model: Model, *, field: CoefficientField) -> Script:
    """The complete Macaulay2 program, elimination included; a second method for :func:`by_orbits`."""
    assert isinstance(model, Shape)
    independent = reduce_linearly(model.polynomial_map).reduced
    points = [
        (f"{orbit.r} {orbit.s} {orbit.m}", independent.evaluate(flatten(*representative(orbit, model))))
        for orbit in orbits(model)
    ]
    values = elimination_values(independent, field=field) | {"title": model.title, "points": points}
    return render("orbit_criterion", values=values)


BOUND_SECONDS = 60.0
"""The seconds for equations of higher degree when there is no limit."""


def by_bounds(shape: Shape) -> LocusFindings:
    """Findings from explicit tangent vectors, and from equations of low degree, over QQ.

    More independent tangent vectors than the dimension prove an orbit singular; equations whose differentials leave
    no more than the dimension prove it smooth, and the dense orbit is always smooth. The degree of the equations begins
    with :func:`~m2bridge.families.attention.tangents.default_degree` and rises to 4 while orbits are undecided;
    if some are so in the end, the method is unfinished. Hypothesis: t ≥ 2.

    Raises
    ------
    ContradictionError
        If the bounds contradict each other or the dimension.
    """
    try:
        dimension = closure_dimension(shape)
        lower = tangent_lower_bounds(shape)
    except TimeLimitError as limit:
        return LocusFindings("tangent bounds", None, (), None, str(limit), uses_engine=False)
    bounds: dict[Orbit, tuple[int, int]] = {}
    with share(0.5), suppress(TimeLimitError):
        for orbit, (bound, _) in lower.items():
            bounds[orbit] = orbit_dimension(orbit, shape), max(bound, dimension)
    with share(1.0, otherwise=BOUND_SECONDS):
        return _by_equations(shape, dimension, bounds)


def _by_equations(shape: Shape, dimension: int, bounds: Mapping[Orbit, tuple[int, int]]) -> LocusFindings:
    """The findings with equations of higher and higher degree; of each orbit its dimension and lower bound are known.

    What the limit leaves no time for is undecided.
    """
    statuses = _statuses(shape, dimension, bounds, {})
    method, late = "tangent bounds", ""
    first = default_degree(shape)
    for degree in range(first, LARGEST_DEGREE + 1) if first else ():
        try:
            statuses = _statuses(shape, dimension, bounds, tangent_upper_bounds(shape, degree))
            method = f"tangent bounds (degree ≤ {degree})"
            clock().check()
        except TimeLimitError:
            late = f" (more equations: {clock().more})"
            break
        if not undecided_orbits(statuses, shape):
            break
    if undecided := undecided_orbits(statuses, shape):
        return LocusFindings(method, dimension, statuses, None, f"{undecided}{late}", uses_engine=False)
    linear = dimension == shape.independent_count
    components = orbit_components(tuple(statuses), linear, shape, QQ)
    return LocusFindings(method, dimension, statuses, components, uses_engine=False)


def _statuses(
    shape: Shape, dimension: int, bounds: Mapping[Orbit, tuple[int, int]], upper: Mapping[Orbit, int]
) -> tuple[OrbitStatus, ...]:
    dense = generic_orbit(shape)
    upper = {**upper, dense: min(upper.get(dense, dimension), dimension)}
    return tuple(
        _status_by_bounds(orbit, own, lower, upper.get(orbit), dimension)
        for orbit, (own, lower) in sorted(bounds.items())
    )


def _status_by_bounds(orbit: Orbit, own: int, lower: int, upper: int | None, dimension: int) -> OrbitStatus:
    singular = singular_by_bounds(lower, upper, dimension)
    exact = lower if lower == upper else None
    return OrbitStatus(orbit, own, exact, singular, lower, upper)
