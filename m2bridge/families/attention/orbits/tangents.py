"""Tangent spaces at a representative of an orbit, from within by vectors, from outside by
equations; singular orbits.

Weights and function coordinates are sparse: mappings from index to integer. All is exact and over
QQ, for t ≥ 2.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from types import MappingProxyType

from m2bridge.algebra.determinantal import matrices_of_rank
from m2bridge.algebra.differential import tangent_dimension
from m2bridge.algebra.field import CoefficientField
from m2bridge.algebra.linear_algebra import sparse_rank
from m2bridge.algebra.polynomial_map import PolynomialMap, reduce_linearly
from m2bridge.algebra.ring import GeneratingSet
from m2bridge.engine.script import Script, render
from m2bridge.errors import ContradictionError, MethodUnavailableError, TimeLimitError
from m2bridge.families.attention.orbits.fibres import fibre_points
from m2bridge.families.attention.orbits.orbits import (
    Orbit,
    dense_first,
    flatten,
    orbit_findings,
    orbits,
    representative,
)
from m2bridge.families.attention.orbits.parametrization import (
    FunctionCoordinates,
    Sparse,
    function,
    indices,
    multigraded_attention,
    sparse,
)
from m2bridge.families.attention.orbits.weight_spaces import WeightSpaces
from m2bridge.families.attention.sizes import LayerSizes, coordinate_count
from m2bridge.implicitization.implicitize import Implicitization, implicitize
from m2bridge.limits import check_deadline_in, clock, share
from m2bridge.maps.completeness import elimination_values
from m2bridge.maps.equations import MAX_SEARCHED_DEGREE, default_max_degree
from m2bridge.maps.locus import LocusFindings, OrbitStatus, singular_by_bounds
from m2bridge.maps.model import Model
from m2bridge.results.known import Bounds, intersect_bounds

MAX_BOUND_MONOMIALS = 125_000
"""The most monomials of the degree up to which equations bound tangent spaces at once: seconds."""
MAX_BOUND_SECONDS = 60.0
"""The seconds for equations of higher degree when there is no limit."""


def orbit_dimension(orbit: Orbit, shape: LayerSizes) -> int:
    """The affine dimension of the orbit: the rank of the tangent map of the group action.

    The Lie algebra element (X, Y, Z) of gl_d × gl_d × gl_d' moves (A, V) to (XA + AY, V Xᵀ + ZV);
    the differential of the bilinear parametrization f takes this to f(XA + AY, V) + f(A, V Xᵀ +
    ZV).
    """
    A, V = map(sparse, representative(orbit, shape))
    spaces = WeightSpaces.of(orbit, shape)
    directions = []
    for name, pair, weight in spaces.action():
        directions.append((weight, partial(_moved, name, *pair, A=A, V=V)))
    return spaces.rank(directions)


def _moved(name: str, i: int, j: int, *, A: Sparse, V: Sparse) -> FunctionCoordinates:
    """The image of the matrix E_ij in the summand X, Y or Z of the Lie algebra."""
    if name == "X":
        # it moves both: E_ij A, and V E_jiᵀ, whose column i is the column j of V
        moved_v = {(k, i): v for (k, q), v in V.items() if q == j}
        moved = function(_row_moved(A, i, j), V)
        moved.update(function(A, moved_v))
        return moved
    if name == "Y":
        return function(_column_moved(A, i, j), V)
    return function(A, _row_moved(V, i, j))


def _row_moved(matrix: Sparse, i: int, j: int) -> dict[tuple[int, int], int]:
    """The product E_ij · matrix: row j put in place i."""
    return {(i, column): entry for (row, column), entry in matrix.items() if row == j}


def _column_moved(matrix: Sparse, i: int, j: int) -> dict[tuple[int, int], int]:
    """The product matrix · E_ij: column i put in place j."""
    return {(row, j): entry for (row, column), entry in matrix.items() if column == i}


def source_tangent_dimension(orbit: Orbit, shape: LayerSizes) -> int:
    """The affine dimension of the Zariski tangent space of {rk A ≤ α} × {V} at the representative.

    Source: the determinantal variety is smooth exactly at rank α, with tangent space {XA + AY}; at
    lower rank its tangent space is the space of all matrices. Harris, *Algebraic Geometry: A First
    Course*, Example 14.16.
    """
    of_V = shape.d * shape.d_out
    if orbit.r < shape.alpha:
        return shape.d**2 + of_V
    return matrices_of_rank(shape.d, shape.alpha) + of_V


def _differential(
    A: Sparse, V: Sparse, orbit: Orbit, shape: LayerSizes
) -> Iterator[FunctionCoordinates]:
    """Images of a spanning set of the Zariski tangent space of the source at (A, V)."""
    all_are_tangent = _all_are_tangent(orbit, shape)
    for i, j in product(range(shape.d), repeat=2):
        if all_are_tangent:
            yield function({(i, j): 1}, V)
        else:
            yield function(_row_moved(A, i, j), V)
            yield function(_column_moved(A, i, j), V)
    for entry in product(range(shape.d_out), range(shape.d)):
        yield function(A, {entry: 1})


def differential_rank(orbit: Orbit, shape: LayerSizes) -> int:
    """The rank of the differential on the Zariski tangent space of the source."""
    A, V = map(sparse, representative(orbit, shape))
    spaces = WeightSpaces.of(orbit, shape)
    directions = []
    if _all_are_tangent(orbit, shape):
        for entry, weight in spaces.entries_of_a():
            directions.append((weight, partial(function, {entry: 1}, V)))
    else:
        for name, (i, j), weight in spaces.action():
            if name != "Z":
                move = _row_moved if name == "X" else _column_moved
                directions.append((weight, partial(function, move(A, i, j), V)))
    for entry, weight in spaces.entries_of_v():
        directions.append((weight, partial(function, A, {entry: 1})))
    return spaces.rank(directions)


def _all_are_tangent(orbit: Orbit, shape: LayerSizes) -> bool:
    """Whether all matrices are tangent to those of rank ≤ α at the representative.

    They are where the rank is below α, and everywhere for α = d.
    """
    return orbit.r < shape.alpha or shape.alpha == shape.d


def _limits(shape: LayerSizes) -> Iterator[FunctionCoordinates]:
    """Limits of tangent vectors at A = l qᵀ, V = h vᵀ with l = v + εw, as ε → 0.

    They are tangent to the closure at l = v. f(b q'ᵀ, h vᵀ) is tangent at (l qᵀ, h vᵀ), and f(b
    q'ᵀ, h lᵀ) at the other preimage (v qᵀ, h lᵀ) of the same function; their difference is ε f(b
    q'ᵀ, h wᵀ). In the same way f(w qᵀ, h' cᵀ) is found. For α = 1 only q' = q is tangent to the
    source at both. Here v = q = h is the first unit vector.
    """
    # the columns of q'
    columns = range(shape.d)
    if shape.alpha == 1:
        columns = range(1)
    for b, w, i in product(range(shape.d), range(shape.d), columns):
        yield function({(b, i): 1}, {(0, w): 1})
    for w, c, k in product(range(shape.d), range(shape.d), range(shape.d_out)):
        yield function({(w, 0): 1}, {(k, c): 1})


def tangent_lower_bound(orbit: Orbit, shape: LayerSizes) -> int:
    """A lower bound for the tangent dimension of the closure at the orbit's representative.

    The span of the images of the differential at all preimages, and at (1, 1, 1), where two
    preimages come together, of limits of such images. Where rk A < a < d the tangent space of the
    source is spanned by curves A + sB with rk B = 1, which stay in it; elsewhere the source is
    smooth.
    """
    vectors: list[FunctionCoordinates] = []
    for A, V in fibre_points(orbit, shape):
        vectors += _differential(sparse(A), sparse(V), orbit, shape)
    if orbit == Orbit(1, 1, 1):
        vectors += _limits(shape)
    return sparse_rank(vectors)


def tangent_upper_bounds(
    shape: LayerSizes,
    max_degree: int | None = None,
    lower: Mapping[Orbit, int] = MappingProxyType({}),
) -> dict[Orbit, int]:
    """Upper bounds for the tangent dimension of the closure at each orbit.

    They are from all equations of degree ≤ max_degree. The Zariski tangent space lies in the kernel
    of the differentials of any equations. So where the bound equals the dimension of the closure,
    the orbit is proved smooth; where it is larger, nothing is proved. Exact over QQ.

    Parameters
    ----------
    shape : LayerSizes
        With t ≥ 2.
    max_degree : int, optional
        :func:`default_degree` when left out.
    lower : mapping from Orbit to int, optional
        Proved lower bounds, which save equations: they change no result.

    Returns
    -------
    dict from Orbit to int
        One affine dimension for each orbit of nonzero functions; empty for models too large even
        for quadrics, if no degree was asked for. Within a limit of :mod:`m2bridge.limits`, by the
        equations of the degrees that three quarters of the time sufficed for, and for the orbits
        that the rest did.

    Raises
    ------
    MethodUnavailableError
        For t = 1, where orbits classify no functions.

    Source: Eisenbud, *Commutative Algebra*, Theorem 16.19.

    Examples
    --------
    >>> tangent_upper_bounds(SingleLayerAttention(2, 1), 4)[Orbit(2, 1, 1)]
    5
    """
    if shape.t == 1:
        raise MethodUnavailableError("orbits classify functions of attention with t ≥ 2 only")
    degree = max_degree
    if degree is None:
        degree = default_degree(shape)
    if degree < 1:
        return {}
    source = shape
    if degree <= shape.alpha:
        # Equations of degree ≤ α are those of all matrices
        # (docs/completeness.md#proposition-low-degree).
        source = replace(shape, a=shape.d)
    with share(0.75):
        implicitization = implicitize(multigraded_attention(source), degree)
    bounds: dict[Orbit, int] = {}
    with suppress(TimeLimitError):
        points = {orbit: _point(orbit, shape) for orbit in check_deadline_in(orbits(shape))}
        for orbit, point in points.items():
            bounds[orbit] = _upper_bound_at(point, implicitization, lower.get(orbit, 0))
    return bounds


def _upper_bound_at(point: Sequence[int], equations: Implicitization, lower: int) -> int:
    """The dimension of the common kernel of the differentials of all equations at a point.

    Those of higher degree are left out where the others attain the proved lower bound ``lower`` of
    the tangent dimension: they cannot make the kernel smaller.
    """
    gradients: list[dict[int, int]] = []
    bound = len(point)
    for degree in sorted(equations.generator_counts):
        if bound == lower:
            break
        gradients += equations.gradients(point, degree)
        bound = len(point) - sparse_rank(gradients)
    return bound


def _point(orbit: Orbit, shape: LayerSizes) -> tuple[int, ...]:
    """The reduced coordinates of the representative."""
    values = function(*map(sparse, representative(orbit, shape)))
    return tuple(values[index] for index in indices(shape))


def default_degree(shape: LayerSizes) -> int:
    """The largest N ≤ 4 with few enough monomials of degree N; 0 if N = 2 has too many."""
    coordinates = coordinate_count(shape, shape.default_coordinates)
    degree = default_max_degree(coordinates, MAX_BOUND_MONOMIALS)
    if degree == 1:
        # the reduced coordinates have no linear equation
        return 0
    return degree


@dataclass(frozen=True, slots=True, kw_only=True)
class OrbitTangents:
    """The tangent spaces at one orbit.

    Parameters
    ----------
    dimension : int
        Affine dimension of the orbit in function space, by the tangent map of the group action.
    critical : bool
        Whether the differential of the parametrization is not injective, by its rank.
    known : Bounds
        The tangent dimension of the closure: at least the number of explicit tangent vectors, at
        most what proved equations leave.
    witness : Orbit
        The orbit where these vectors are; its closure contains this one.
    """

    dimension: int
    critical: bool
    known: Bounds
    witness: Orbit


def orbit_tangents(shape: LayerSizes, *, equations: bool = True) -> dict[Orbit, OrbitTangents]:
    """The tangent spaces at all orbits; within a limit, at those that the time suffices for.

    The tangent dimension is upper semicontinuous: on an orbit it is at least that of any orbit
    whose closure contains it. Hypothesis: t ≥ 2.

    Parameters
    ----------
    equations : bool
        Whether upper bounds are computed, by equations.

    Raises
    ------
    TimeLimitError
        If it does not suffice for the dense one.
    """
    dense, *others = dense_first(shape)
    own = {dense: _own(dense, shape)}
    with share(0.6), suppress(TimeLimitError):
        for orbit in others:
            own[orbit] = _own(orbit, shape)
    upper: dict[Orbit, int] = {}
    if equations:
        with share(0.75), suppress(TimeLimitError):
            lower = {orbit: found.known.lower or 0 for orbit, found in own.items()}
            upper = tangent_upper_bounds(shape, lower=lower)
    tangents = {}
    for orbit, found in check_deadline_in(own.items()):
        above = [other for other in own if orbit.in_closure_of(other)]
        # of orbits with equally many tangent vectors, the orbit itself is the simplest witness
        witness = max(above, key=lambda other: (own[other].known.value, other == orbit, other))
        because = f"tangent vectors and equations at {orbit}"
        known = Bounds(own[witness].known.lower, upper.get(orbit), because)
        tangents[orbit] = replace(found, known=known, witness=witness)
    return tangents


def _own(orbit: Orbit, shape: LayerSizes) -> OrbitTangents:
    """The tangent vectors at preimages of the orbit alone.

    It is critical, on the projective source, if the differential has a kernel beyond the rescaling
    (A, −V). Its rank is the bound where no other tangent vectors are known.
    """
    rank = differential_rank(orbit, shape)
    bound = rank
    if orbit.r == orbit.s == 1:
        bound = tangent_lower_bound(orbit, shape)
    return OrbitTangents(
        dimension=orbit_dimension(orbit, shape),
        critical=rank < source_tangent_dimension(orbit, shape) - 1,
        known=Bounds.at_least(bound),
        witness=orbit,
    )


def by_orbits(
    ideal: GeneratingSet, dimension: int, shape: LayerSizes, parametrization: PolynomialMap
) -> LocusFindings:
    """Findings from all generators of the ideal of the closure, in the coordinates of the map.

    The ideal is radical, so its differentials cut out the tangent spaces. A point is singular
    exactly when its tangent dimension exceeds the dimension, and all points of an orbit are alike.
    Hypothesis: t ≥ 2.
    """
    statuses = []
    for orbit in orbits(shape):
        point = parametrization.evaluate(flatten(*representative(orbit, shape)))
        tangent = tangent_dimension(ideal.generators, point, field=ideal.ring.field)
        if tangent < dimension:
            raise ContradictionError(
                f"tangent dimension {tangent} below the dimension {dimension} at orbit {orbit}"
            )
        statuses.append(
            OrbitStatus(
                orbit=orbit,
                dimension=orbit_dimension(orbit, shape),
                tangent=Bounds.exactly(tangent),
                singular=tangent > dimension,
            )
        )
    return orbit_findings("orbits", dimension, tuple(statuses), shape, field=ideal.ring.field)


def orbit_script(model: Model, *, field: CoefficientField) -> Script:
    """The complete Macaulay2 program, elimination included: another way than :func:`by_orbits`."""
    assert isinstance(model, LayerSizes)
    independent = reduce_linearly(model.polynomial_map).reduced
    points = []
    for orbit in orbits(model):
        point = independent.evaluate(flatten(*representative(orbit, model)))
        points.append((f"{orbit.r} {orbit.s} {orbit.m}", point))
    values = elimination_values(independent, field=field) | {"title": model.title, "points": points}
    return render("orbit_criterion", values=values)


def by_bounds(shape: LayerSizes) -> LocusFindings:
    """Findings from explicit tangent vectors, and from equations of low degree, over QQ.

    More independent tangent vectors than the dimension prove an orbit singular; equations whose
    differentials leave no more than the dimension prove it smooth, and the dense orbit is always
    smooth. The degree of the equations begins with :func:`default_degree` and rises to 4 while
    orbits are undecided; if some are so in the end, the method is unfinished. Hypothesis: t ≥ 2.

    Raises
    ------
    ContradictionError
        If the bounds contradict each other or the dimension.
    """
    try:
        tangents = orbit_tangents(shape, equations=False)
    except TimeLimitError as limit:
        return LocusFindings("tangent bounds", None, unfinished=str(limit), uses_engine=False)
    findings = _findings("tangent bounds", tangents, {}, shape)
    first = default_degree(shape)
    if first == 0:
        return findings
    with share(1.0, otherwise=MAX_BOUND_SECONDS):
        for degree in range(first, MAX_SEARCHED_DEGREE + 1):
            try:
                upper = tangent_upper_bounds(shape, degree)
                findings = _findings(f"tangent bounds (degree ≤ {degree})", tangents, upper, shape)
                if not findings.unfinished:
                    break
                # equations of the next degree take many times as long
                clock().check()
            except TimeLimitError:
                unfinished = f"{findings.unfinished} (more equations: {clock().more})"
                return replace(findings, unfinished=unfinished)
    return findings


def _findings(
    method: str,
    tangents: Mapping[Orbit, OrbitTangents],
    upper: Mapping[Orbit, int],
    shape: LayerSizes,
) -> LocusFindings:
    """The findings from both bounds; the dense orbit is smooth."""
    # of the dense orbit, which is there whatever the limit
    dimension = max(tangent.dimension for tangent in tangents.values())
    statuses = []
    for orbit, tangent in sorted(tangents.items()):
        reason = f"the tangent space at {orbit} on a variety of dimension {dimension}"
        bounds = [Bounds.at_least(dimension, reason), Bounds.at_most(upper.get(orbit), reason)]
        if tangent.dimension == dimension:
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
