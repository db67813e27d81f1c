"""Which orbits are singular: by tangent spaces, from the ideal of the closure or between bounds.

An orbit is singular exactly if its tangent dimension (tangents.py) exceeds the dimension of the
closure. It is exact if all generators of the ideal are known, as the ideal is radical; else it is
between the number of explicit tangent vectors and a bound by equations of low degree. Bounds that
contradict each other or the dimension are a ContradictionError. All is for t ≥ 2. (Notation: the
docstring of families/attention.)
"""

from collections.abc import Mapping
from dataclasses import replace

from m2bridge.algebra.differential import tangent_dimension
from m2bridge.algebra.field import CoefficientField
from m2bridge.algebra.polynomial_map import PolynomialMap, reduce_linearly
from m2bridge.algebra.ring import GeneratingSet
from m2bridge.engine.script import Script, render
from m2bridge.errors import ContradictionError, TimeLimitError
from m2bridge.families.attention.orbits.orbits import (
    Orbit,
    flatten,
    orbit_findings,
    orbits,
    representative,
)
from m2bridge.families.attention.orbits.tangents import (
    OrbitTangents,
    default_degree,
    orbit_dimension,
    orbit_tangents,
    tangent_upper_bounds,
)
from m2bridge.families.attention.sizes import LayerSizes
from m2bridge.limits import clock, share
from m2bridge.maps.completeness import elimination_values
from m2bridge.maps.equations import MAX_SEARCHED_DEGREE
from m2bridge.maps.locus import LocusFindings, OrbitStatus, singular_by_bounds
from m2bridge.maps.model import Model
from m2bridge.results.known import Bounds, intersect_bounds

MAX_BOUND_SECONDS = 60.0
"""The seconds for equations of higher degree when the caller sets no limit on time."""


def by_orbits(
    ideal: GeneratingSet, dimension: int, shape: LayerSizes, parametrization: PolynomialMap
) -> LocusFindings:
    """Return findings from all generators of the ideal of the closure, at a point of each orbit.

    The parametrization is from weights A and V, to the coordinates of the ideal.
    """
    statuses = []
    for orbit in orbits(shape):
        point = parametrization.evaluate(flatten(*representative(orbit, shape)))
        tangent = tangent_dimension(ideal.generators, point, field=ideal.ring.field)
        if tangent < dimension:
            raise ContradictionError(
                f"tangent dimension {tangent} below the dimension {dimension} at orbit {orbit}"
            )
        status = OrbitStatus(
            orbit=orbit,
            dimension=orbit_dimension(orbit, shape),
            tangent=Bounds.exactly(tangent),
            singular=tangent > dimension,
        )
        statuses.append(status)
    return orbit_findings(
        method="orbits",
        dimension=dimension,
        statuses=tuple(statuses),
        shape=shape,
        field=ideal.ring.field,
    )


def orbit_script(model: Model, *, field: CoefficientField) -> Script:
    """Return a Macaulay2 program that finds the tangent dimension at a point of each orbit.

    It is for people who run it by hand: it computes the ideal of the closure by elimination, and
    then the rank of the Jacobian matrix of its generators at each point, independently of
    :func:`by_orbits`. Its answers are "dimension", of the closure, and "tangent_dimension r s m".
    """
    assert isinstance(model, LayerSizes)
    # only linearly independent coordinates: the others are combinations of them
    independent = reduce_linearly(model.polynomial_map).reduced
    points = []  # (name of the orbit, coordinates of the representative)
    for orbit in orbits(model):
        point = independent.evaluate(flatten(*representative(orbit, model)))
        points.append((f"{orbit.r} {orbit.s} {orbit.m}", point))
    values = elimination_values(independent, field=field) | {"title": model.title, "points": points}
    return render("orbit_criterion", values=values)


def by_bounds(shape: LayerSizes) -> LocusFindings:
    """Return findings about singular orbits by tangent vectors and low equations, over QQ.

    The degree of the equations begins with the largest one that has few enough monomials, and rises
    to 4 while orbits are undecided. If some are undecided in the end, ``unfinished`` names them.
    """
    try:
        tangents = orbit_tangents(shape, equations=False)
    except TimeLimitError as limit:
        return LocusFindings(
            method="tangent bounds", dimension=None, unfinished=str(limit), uses_engine=False
        )
    # at first without equations
    findings = _findings_by_bounds("tangent bounds", tangents, upper={}, shape=shape)
    first_degree = default_degree(shape)
    if first_degree == 0:
        # even quadrics have too many monomials, so there are findings from tangent vectors only
        return findings
    # equations have all of the time that is left, or MAX_BOUND_SECONDS if there is no limit
    with share(1.0, otherwise=MAX_BOUND_SECONDS):
        for degree in range(first_degree, MAX_SEARCHED_DEGREE + 1):
            try:
                upper = tangent_upper_bounds(shape, degree)
                method = f"tangent bounds (degree ≤ {degree})"
                findings = _findings_by_bounds(method, tangents, upper, shape)
                if not findings.unfinished:
                    break
                # equations of the next degree take many times as long
                clock().check()
            except TimeLimitError:
                # the findings before this degree; ``more`` is advice on how to give more time
                unfinished = f"{findings.unfinished} (more equations: {clock().more})"
                return replace(findings, unfinished=unfinished)
    return findings


def _findings_by_bounds(
    method: str,
    tangents: Mapping[Orbit, OrbitTangents],
    upper: Mapping[Orbit, int],
    shape: LayerSizes,
) -> LocusFindings:
    """Return the findings from tangent vectors at some orbits, and upper bounds where known."""
    # the dense orbit is always among them, and has the dimension of the closure
    dimension = max(tangent.dimension for tangent in tangents.values())
    statuses = []
    for orbit, tangent in sorted(tangents.items()):
        reason = f"the tangent space at {orbit} on a variety of dimension {dimension}"
        # a tangent space is at least as large as the variety; and without an upper bound, None,
        # the second entry says nothing
        bounds = [Bounds.at_least(dimension, reason), Bounds.at_most(upper.get(orbit), reason)]
        if tangent.dimension == dimension:
            # this is the dense orbit, as all others have smaller dimensions
            bounds.append(Bounds.at_most(dimension, "the dense orbit is smooth"))
        tangent_dimension = intersect_bounds(*bounds, replace(tangent.known, because=reason))
        status = OrbitStatus(
            orbit=orbit,
            dimension=tangent.dimension,
            tangent=tangent_dimension,
            singular=singular_by_bounds(tangent_dimension, dimension),
        )
        statuses.append(status)
    return orbit_findings(method, dimension, tuple(statuses), shape, uses_engine=False)
