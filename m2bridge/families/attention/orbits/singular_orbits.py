"""Which orbits are singular: by tangent spaces, from the ideal of the closure or between bounds.

An orbit is singular exactly if its tangent dimension, that of the Zariski tangent space of the
closure at the representative, exceeds the dimension of the closure. It is exact if all generators
of the ideal are known; else it is between the number of explicit tangent vectors and a bound by
equations of low degree (:mod:`m2bridge.families.attention.orbits.tangents`). Dimensions are those
of cones. Orbits, and their representatives, are those of
:mod:`m2bridge.families.attention.orbits.orbits`; all is for t ≥ 2.
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

    The ideal is radical, so its differentials cut out the tangent spaces. A point is singular
    exactly when its tangent dimension exceeds the dimension, and all points of an orbit are alike.
    Hypothesis: t ≥ 2.

    Parameters
    ----------
    ideal : GeneratingSet
        In the coordinates of the parametrization.
    dimension : int
        The affine dimension of the closure.
    shape : LayerSizes
    parametrization : PolynomialMap
        From weights A and V.

    Raises
    ------
    ContradictionError
        If a tangent space is smaller than the closure.
    """
    statuses = []
    for orbit in orbits(shape):
        # the function of the representative, in the coordinates of the ideal
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

    It is for people who run it by hand. The program computes the ideal of the closure by
    elimination, and then the rank of the Jacobian matrix of its generators at each point,
    independently of :func:`by_orbits`. Its answers are "dimension", that of the closure, and for
    each orbit "tangent_dimension r s m". The model is one of attention, t ≥ 2.
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

    More independent tangent vectors than the dimension prove an orbit singular; equations whose
    differentials leave no more than the dimension prove it smooth, and the dense orbit is always
    smooth. The degree of the equations begins with the largest one that has few enough monomials
    (:func:`default_degree`), and rises to 4 while orbits are undecided. If some are undecided in
    the end, ``unfinished`` names them.
    Hypothesis: t ≥ 2.

    Raises
    ------
    ContradictionError
        If the bounds contradict each other or the dimension.
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
                findings = _findings_up_to_degree(degree, tangents, shape)
                if not findings.unfinished:
                    break
                # equations of the next degree take many times as long
                clock().check()
            except TimeLimitError:
                # the findings before this degree; ``more`` is advice on how to give more time
                unfinished = f"{findings.unfinished} (more equations: {clock().more})"
                return replace(findings, unfinished=unfinished)
    return findings


def _findings_up_to_degree(
    degree: int, tangents: Mapping[Orbit, OrbitTangents], shape: LayerSizes
) -> LocusFindings:
    """Return the findings from tangent vectors at some orbits and equations up to a degree.

    Raises
    ------
    TimeLimitError
        If the limit was reached before the first equations.
    ContradictionError
        If the bounds contradict each other or the dimension.
    """
    upper = tangent_upper_bounds(shape, degree)
    return _findings_by_bounds(f"tangent bounds (degree ≤ {degree})", tangents, upper, shape)


def _findings_by_bounds(
    method: str,
    tangents: Mapping[Orbit, OrbitTangents],
    upper: Mapping[Orbit, int],
    shape: LayerSizes,
) -> LocusFindings:
    """Return the findings from tangent vectors and from upper bounds, by orbit.

    Parameters
    ----------
    method : str
        The name of the method.
    tangents : mapping from Orbit to OrbitTangents
        Tangent spaces at some orbits, the dense one among them.
    upper : mapping from Orbit to int
        Upper bounds for tangent dimensions, where they are known.
    shape : LayerSizes

    Raises
    ------
    ContradictionError
        If the bounds contradict each other or the dimension.
    """
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
        known = intersect_bounds(*bounds, replace(tangent.known, because=reason))
        status = OrbitStatus(
            orbit=orbit,
            dimension=tangent.dimension,
            tangent=known,
            singular=singular_by_bounds(known, dimension),
        )
        statuses.append(status)
    return orbit_findings(method, dimension, tuple(statuses), shape, uses_engine=False)
