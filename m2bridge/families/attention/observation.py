"""Observation of a case: orbits by fibres, tangent vectors and equations, methods that must agree;
and the degree.

The degree is by the projection formula, without the closed formula that predicts it. The projective
parametrization P(D_α) × P(R^{d'×d}) → P^N is given by forms of bidegree (1, 1). If they have no
common zero, the degree of the image times the number of points of the generic fibre is (h_A +
h_V)^(δ_A + δ_V) on the source, C(δ_A + δ_V, δ_V)·deg P(D_α). This is not in the paper; it is proved
in the documentation of m2bridge, section Degrees.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import comb, factorial, prod
from typing import Any, Unpack

import flint

from m2bridge.algebra.field import QQ
from m2bridge.algebra.numbers import LARGE_PRIME
from m2bridge.algebra.sparse_polynomial import WeightedAlgebra
from m2bridge.convert.answers import answer_to
from m2bridge.engine import RunOptions, computation, current
from m2bridge.errors import (
    ContradictionError,
    MemoryLimitError,
    MethodUnavailableError,
    TimeLimitError,
)
from m2bridge.families.attention.fibres import (
    Fibre,
    Fibres,
    fibre_points,
    fibres,
    products_determine_functions,
)
from m2bridge.families.attention.hypotheses import WORDS
from m2bridge.families.attention.observed import Observations, OrbitFacts
from m2bridge.families.attention.orbits import (
    Orbit,
    generic_orbit,
    orbit_count,
    orbit_findings,
    orbits,
)
from m2bridge.families.attention.parametrization import Index, coordinate, indices, parametrization
from m2bridge.families.attention.polar import counted_polar_degrees, has_few_points
from m2bridge.families.attention.shape import Shape
from m2bridge.families.attention.tangents import (
    OrbitTangents,
    orbit_tangents,
    source_tangent_dimension,
)
from m2bridge.limits import clock, share
from m2bridge.maps.closure import closure_script
from m2bridge.maps.map_model import MapModel
from m2bridge.maps.statement import LocusFindings, Numbers, OrbitStatus, singular_by_bounds
from m2bridge.results.known import Known


def degree_by_projection(shape: Shape, dimension: int, generic: Fibre) -> int:
    """The degree of the closure, from its affine dimension and the generic fibre. Hypothesis: the
    base locus is empty.

    Raises
    ------
    ContradictionError
        If the generic fibre is not reduced, which it is in characteristic 0, or its points do not
        divide the degree of the source.
    """
    of_V = shape.d * shape.d_out - 1
    # fibres are finite
    source = comb(dimension - 1, of_V) * degree_of_low_rank(shape.d, shape.alpha)
    if not generic.reduced or source % generic.points:
        raise ContradictionError(
            f"the source has degree {source}, and the generic fibre is {generic}"
        )
    return source // generic.points


def degree_of_low_rank(size: int, rank: int) -> int:
    """The degree of the projective variety of square matrices of rank at most ``rank``.

    The standard bitableaux are a basis of the polynomials on it. Their generating function is a
    determinant (Weyl's dimension formula, and that of Cauchy and Binet); the degree is its leading
    coefficient at 1.

    Examples
    --------
    >>> degree_of_low_rank(3, 2), degree_of_low_rank(4, 2)
    (3, 20)
    """
    corank = size - rank
    leading = [[factorial(2 * corank + j + k) for k in range(rank)] for j in range(rank)]
    return int(flint.fmpz_mat(leading).det()) // prod(map(factorial, range(corank, size))) ** 2


MOST_POINTS = 1500
"""Sections with more points are not counted."""

Factor = list[Any]
"""Coefficients of a polynomial in T, which are polynomials in the unknowns; the first is 1."""


def section_points(shape: Shape) -> int | None:
    """The number of points, with multiplicities, of the section in P(D_α) × P(R^{d'×d}).

    It is the degree of the closure times the length of the generic fibre. Hypothesis: t ≥ 2.

    Returns
    -------
    int or None
        ``None`` where they are not counted: for 1 < α < d, and where they seem to be more than
        :data:`MOST_POINTS`.
    """
    return section_algebra(shape).length() if is_counted(shape) else None


def is_counted(shape: Shape) -> bool:
    """Whether the points of the section are counted. This depends on the case alone.

    The measure of the work is the number of points that Bézout's theorem with weights expects.
    """
    sizes = _sizes(shape)
    weights = [weight for size in sorted(sizes)[:-1] for weight in range(1, size)]
    if shape.alpha not in (1, shape.d) or len(weights) >= MOST_POINTS.bit_length():
        return False  # each unknown at least doubles the number
    return prod(range(max(sizes), sum(sizes) - len(sizes) + 1)) // prod(weights) <= MOST_POINTS


def section_algebra(shape: Shape) -> WeightedAlgebra:
    """The functions on the section; the largest factor is eliminated, whose coefficients the first
    equations give.
    """
    sizes = _sizes(shape)
    solved = sizes.index(max(sizes))
    weights = tuple(e for j, size in enumerate(sizes) if j != solved for e in range(1, size))
    ring = flint.nmod_mpoly_ctx.get(("x", max(len(weights), 1)), LARGE_PRIME, flint.Ordering.lex)
    unknowns, zero, one = iter(ring.gens()), ring.constant(0), ring.constant(1)
    factors = [
        [one, *(zero if j == solved else next(unknowns) for _ in range(1, n))]
        for j, n in enumerate(sizes)
    ]
    coordinates, relations = _coordinates(shape), []
    for e in range(1, sum(sizes) - len(sizes) + 1):
        equation = sum((_value(index, shape, factors) for index in coordinates[e]), start=zero)
        if e < sizes[solved]:
            factors[solved][e] = -equation  # in which it has the coefficient 1
        else:
            relations.append((e, {monomial: int(c) for monomial, c in equation.to_dict().items()}))
    return WeightedAlgebra(weights, tuple(relations))


def _sizes(shape: Shape) -> tuple[int, ...]:
    """The numbers of coefficients of the factors A and V; for α = 1, where A = k qᵀ, of k,
    q and V.
    """
    return (*((shape.d, shape.d) if shape.alpha == 1 else (shape.d**2,)), shape.d_out * shape.d)


def _coordinates(shape: Shape) -> dict[int, list[Index]]:
    """The indices (k, i, p, q) of the coordinates of each weight."""
    step = 1 if shape.alpha == 1 else shape.d
    places: dict[int, list[Index]] = {}
    for k, i, p, q in indices(shape):
        places.setdefault(p + q + step * i + shape.d * k, []).append((k, i, p, q))
    return places


def _value(index: Index, shape: Shape, factors: Sequence[Factor]) -> Any:
    """The coordinate c_{k,i,p,q} of the weights with these factors."""
    *first, last = factors
    return coordinate(
        index,
        lambda p, i: first[0][p] * first[1][i] if shape.alpha == 1 else first[0][p + shape.d * i],
        lambda k, q: last[q + shape.d * k],
    )


AGREEMENTS = tuple(WORDS.remarks[name] for name in ("fibres", "tangents", "equations"))
BY_SECTION, BY_ELIMINATION = WORDS.remarks["section"], WORDS.remarks["elimination"]


def deduce(
    model: Shape,
    fibre_schemes: Fibres,
    tangents: Mapping[Orbit, OrbitTangents] | None = None,
    *,
    degree: bool = True,
) -> Observations:
    """The observations that follow from these fibres without an engine; the lemma is that of
    :func:`observe`.

    Parameters
    ----------
    tangents : mapping, optional
        The result of :func:`m2bridge.families.attention.tangents.orbit_tangents`, perhaps of some
        orbits only.

    Raises
    ------
    ContradictionError
        If independent methods disagree.
    """
    tangent_spaces = orbit_tangents(model) if tangents is None else tangents
    dimension = tangent_spaces[generic_orbit(model)].dimension
    done = [
        orbit for orbit in orbits(model) if orbit in fibre_schemes.at and orbit in tangent_spaces
    ]
    facts = tuple(
        _facts(orbit, model, fibre_schemes, dimension, tangent_spaces[orbit]) for orbit in done
    )
    check(facts, dimension, model)
    limit = fibre_schemes.limit or (late(done, model) if len(done) < orbit_count(model) else None)
    upper = any(tangent.known.upper is not None for tangent in tangent_spaces.values())
    generic = fibre_schemes.at[generic_orbit(model)]
    agreements = AGREEMENTS[: 1 if generic.length > 1 else 3 if upper else 2]
    if limit is not None:  # on the orbits that were observed
        agreements = tuple(f"{agreement} ({limit.progress})" for agreement in agreements)
    closed, family = fibre_schemes.base_locus_empty, fibre_schemes.boundary_family
    products = products_determine_functions(model.d)
    points = section_points(model) if degree and closed else None
    counted = _degree(model, dimension, generic, points) if degree and closed else None
    remarks = agreements + (() if points is None else (BY_SECTION,))
    return Observations(
        model, facts, dimension, counted, closed, products, family, generic, remarks, limit=limit
    )


def _degree(model: Shape, dimension: int, generic: Fibre, points: int | None) -> int:
    """The degree by the projection formula, held against the points of a linear section, where they
    were counted.
    """
    degree = degree_by_projection(model, dimension, generic)
    if points not in (None, degree * generic.length):
        raise ContradictionError(
            f"a section of {points} points, with fibres of {generic.length}; but degree {degree}"
        )
    return degree


def _facts(
    orbit: Orbit, model: Shape, fibre_schemes: Fibres, dimension: int, tangent: OrbitTangents
) -> OrbitFacts:
    fibre, preimages, critical = (
        fibre_schemes.at[orbit],
        fibre_points(orbit, model),
        tangent.critical,
    )
    if critical == fibre.reduced or len(preimages) != fibre.points:
        raise ContradictionError(
            f"at orbit {orbit} the fibre is {fibre}, but the rank of the differential is"
            f" {'' if critical else 'not '}too small, and {len(preimages)} points solve the"
            " equations"
        )
    smooth = source_is_smooth(orbit, model)
    birational = fibre_schemes.at[generic_orbit(model)].length == 1
    if birational:  # the lemma; where the source seems singular, tangents say so
        singular = fibre.length > 1 or (
            False if smooth else tangent.known.least > dimension or None
        )
    else:
        singular = singular_by_bounds(tangent.known, dimension)
    return OrbitFacts(
        orbit=orbit,
        dimension=tangent.dimension,
        fibre=fibre,
        preimages=preimages,
        source_smooth=smooth,
        singular=singular,
        critical=critical,
        boundary=critical,  # the fibre is not reduced
        tangent=tangent.known,
        tangent_witness=tangent.witness,
    )


def source_is_smooth(orbit: Orbit, model: Shape) -> bool:
    """Whether D_α is smooth at rank r: matrices of rank α are one orbit, and below all derivatives
    of minors vanish.
    """
    return model.alpha in (model.d, orbit.r)


def check(facts: tuple[OrbitFacts, ...], dimension: int, model: Shape) -> None:
    """Hold the verdict of the fibres on each orbit against the tangent vectors and the equations.

    Raises
    ------
    ContradictionError
        If an orbit is smooth by its fibre but has too many tangent vectors, or singular but smooth
        by equations; if a singular orbit's closure has smooth points; if the generic orbit does not
        have the dimension of the source.
    """
    if dimension != source_tangent_dimension(generic_orbit(model), model) - 1:
        raise ContradictionError(
            f"the largest orbit has dimension {dimension}, not that of the source less one"
        )
    singular = [fact.orbit for fact in facts if fact.singular]
    for fact in facts:
        evidence = f"at orbit {fact.orbit} of {model}: {fact}; dimension {dimension}"
        if fact.singular is False and fact.tangent_lower > dimension:
            raise ContradictionError(f"smooth by its fibre, singular by tangent vectors {evidence}")
        if fact.tangent_upper is not None and (fact.tangent_upper == dimension) and fact.singular:
            raise ContradictionError(f"singular by its fibre, smooth by equations {evidence}")
        if fact.tangent_upper is not None and fact.tangent_upper < fact.tangent_lower:
            raise ContradictionError(f"more tangent vectors than the equations allow {evidence}")
        if fact.singular is False and any(fact.orbit.in_closure_of(orbit) for orbit in singular):
            raise ContradictionError(f"smooth, but in the closure of a singular orbit {evidence}")


def late(done: Sequence[Orbit] | Mapping[Orbit, OrbitTangents], model: Shape) -> TimeLimitError:
    limit = clock().late("the linear algebra at the orbits")
    limit.progress = f"{len(done)} of {orbit_count(model)} orbits were done"
    return limit


FEW_COORDINATES = 12
"""The degree is computed by elimination too for cases with at most this many coordinates."""


@computation
def observe(
    model: Shape,
    *,
    partial: bool = True,
    degree: bool = True,
    polar: bool = False,
    **options: Unpack[RunOptions],
) -> Observations:
    """Observe the orbits of a case by the method of fibres, tangent vectors and equations.

    The lemma: p = f(q) is a smooth point of the closure X if and only if the scheme f⁻¹(p) is one
    reduced point and q is a smooth point of the source. It needs f finite (base locus empty, fibres
    finite) and birational (the generic fibre is one reduced point).

    Parameters
    ----------
    model : Shape
    engine : Engine, optional
        A Macaulay2 to use; without one, that of the ``with`` block around it, else one that the
        process shares.
    timeout : float, optional
        Seconds for the whole computation. Linear algebra comes first, in half of the time; then
        Macaulay2 has the rest.
    partial : bool
        Whether some of the orbits are enough when a limit is reached.
    degree : bool
        Whether the degree is asked for.
    polar : bool
        Whether the polar degrees are, which are counted in small cases.

    Returns
    -------
    Observations
        With ``limit`` set, and the orbits that were observed until then, if a limit was reached.
        The dimension and what else linear algebra tells are there before any orbit.

    Raises
    ------
    TooLargeError
        If there are too many orbits.
    MethodUnavailableError
        If t = 1, where these are not the orbits.
    ContradictionError
        If independent methods disagree.
    EngineError
        If Macaulay2 failed in another way, or a limit was reached before the dimension was known
        or, unless ``partial``, before all orbits were observed.

    Examples
    --------
    >>> seen = observe(SingleLayerAttention(d=2, d_out=1))
    >>> seen.dimension, seen.degree, seen.closed
    (5, 4, True)
    """
    if model.t == 1:
        raise MethodUnavailableError(
            "orbits are observed for t ≥ 2 only; for t = 1 singular_locus has the method jacobian"
        )
    count = orbit_count(model)  # refuses what is too large
    with share(0.5 if partial else 1.0):
        products = products_determine_functions(model.d)
        tangents = orbit_tangents(model)
    if not (partial or len(tangents) == count):
        raise late(tangents, model)
    try:
        fibre_schemes = fibres(model, wanted=tuple(tangents))
    except (TimeLimitError, MemoryLimitError) as limit:
        if not partial:
            raise
        dimension = tangents[generic_orbit(model)].dimension
        check((), dimension, model)
        limit.progress = f"0 of {count} orbits were done"
        seen = None, None, products, False, None, (), current().version, clock().seconds, limit
        return Observations(model, (), dimension, *seen)
    if fibre_schemes.limit is not None and not partial:
        raise fibre_schemes.limit
    observations = deduce(model, fibre_schemes, tangents, degree=degree)
    compared = observations.limit is None and observations.degree is not None
    eliminated = _degree_by_elimination(model) if compared else None
    if eliminated not in (None, observations.degree):
        raise ContradictionError(
            f"the degree is {observations.degree} by the fibres, and {eliminated} by elimination"
        )
    remarks = (
        observations.remarks if eliminated is None else (*observations.remarks, BY_ELIMINATION)
    )
    counted = _polar_degrees(model, partial) if compared and polar else None
    observations = replace(observations, remarks=remarks, polar_degrees=counted)
    return replace(observations, engine_version=current().version, seconds=clock().seconds)


def _polar_degrees(model: Shape, partial: bool) -> Numbers | None:
    """The polar degrees that were counted; ``None`` where none were.

    Raises
    ------
    TimeLimitError, MemoryLimitError
        If a limit was reached, unless some of the numbers are enough.
    """
    if not has_few_points(model):
        return None
    try:
        counted = counted_polar_degrees(model)
    except (TimeLimitError, MemoryLimitError):
        if partial:
            return None
        raise
    if None in counted.entries and not partial:
        raise clock().late("counting points in slices")
    return counted


def _degree_by_elimination(model: Shape) -> int | None:
    """The degree of the ideal, in small cases and where the limit allows it."""
    if model.independent_count > FEW_COORDINATES:
        return None
    two_tokens = Shape(model.d, model.d_out, model.a)
    reduced = MapModel(parametrization(two_tokens, "reduced", "attention"), two_tokens.title)
    try:
        answer = answer_to(closure_script(reduced, field=QQ))
    except (TimeLimitError, MemoryLimitError):
        return None
    return answer.integer("degree")


def by_fibres(shape: Shape) -> LocusFindings:
    """The singular locus orbit by orbit, by the method of :func:`observe`.

    Hypotheses: t ≥ 2, and not α = d' = 1 < d (where the map is two-to-one).
    """
    try:
        observations = observe(shape, degree=False)
    except (TimeLimitError, MemoryLimitError) as limit:
        return LocusFindings("fibres", None, unfinished=str(limit))
    statuses = tuple(_status_by_fibre(fact, observations.dimension) for fact in observations.orbits)
    return orbit_findings(
        "fibres", observations.dimension, statuses, shape, unfinished=observations.unfinished
    )


def _status_by_fibre(fact: OrbitFacts, dimension: int) -> OrbitStatus:
    """The status by the fibre, which knows the tangent dimension at smooth points only."""
    tangent = fact.tangent
    if fact.singular is False:
        tangent = Known.exactly(dimension)
    elif tangent.exact is None:
        tangent = Known.at_least(tangent.lower)
    return OrbitStatus(
        orbit=fact.orbit, dimension=fact.dimension, tangent=tangent, singular=fact.singular
    )
