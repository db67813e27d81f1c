"""The observation of one case: its orbits by three methods that must agree, and the degree.

The three methods use fibres, tangent vectors, and equations of low degree.

The degree is by the projection formula, without the closed formula that predicts it. The projective
parametrization P(D_α) × P(R^{d'×d}) → P^N is given by forms of bidegree (1, 1). If they have no
common zero, the degree of the image times the number of points of the generic fibre is (h_A +
h_V)^(δ_A + δ_V) on the source, C(δ_A + δ_V, δ_V)·deg P(D_α). This is not in the paper; it is proved
in the documentation of m2bridge, section Degrees.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import islice
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
    check_kind,
)
from m2bridge.families.attention.hypotheses import WORDS
from m2bridge.families.attention.observations.at_orbits import Observations, OrbitFacts
from m2bridge.families.attention.orbits.fibres import (
    Fibre,
    Fibres,
    fibre_points,
    fibres,
    products_determine_functions,
)
from m2bridge.families.attention.orbits.orbits import (
    Orbit,
    generic_orbit,
    orbit_count,
    orbit_findings,
    orbits,
)
from m2bridge.families.attention.orbits.parametrization import (
    Index,
    coordinate,
    indices,
    parametrization,
)
from m2bridge.families.attention.orbits.tangents import (
    OrbitTangents,
    orbit_tangents,
    source_tangent_dimension,
)
from m2bridge.families.attention.polar.theorem import counted_polar_degrees, has_few_points
from m2bridge.families.attention.sizes import LayerSizes
from m2bridge.limits import clock, share
from m2bridge.maps.closure import closure_script
from m2bridge.maps.locus import LocusFindings, OrbitStatus, singular_by_bounds
from m2bridge.maps.polynomial_map_model import MapModel
from m2bridge.results.known import Bounds, intersect_bounds
from m2bridge.statements.statement import Numbers

MAX_SECTION_POINTS = 1500
"""Points of larger linear sections are not counted, since their linear algebra takes minutes."""
MAX_DEGREE_ELIMINATION_COORDINATES = 12
"""For at most this many coordinates elimination computes the degree too, within seconds."""

BY_SECTION = WORDS.remarks["section"]


def degree_by_projection(shape: LayerSizes, dimension: int, generic: Fibre) -> int:
    """The degree of the closure, from its affine dimension and the generic fibre. Hypothesis: the
    base locus is empty.

    Raises
    ------
    ContradictionError
        If the generic fibre is not reduced, which it is in characteristic 0, or its points do not
        divide the degree of the source.
    """
    of_V = shape.d * shape.d_out - 1
    # fibres are finite, so the source has the dimension of the image, δ_A + δ_V
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
    denominator = prod(map(factorial, range(corank, size)))
    return int(flint.fmpz_mat(leading).det()) // denominator**2


SeriesFactor = list[Any]
"""Coefficients of a polynomial in T, which are polynomials in the unknowns; the first is 1."""


def section_points(shape: LayerSizes) -> int | None:
    """The number of points, with multiplicities, of the section in P(D_α) × P(R^{d'×d}).

    It is the degree of the closure times the length of the generic fibre. Hypothesis: t ≥ 2.

    Returns
    -------
    int or None
        ``None`` where they are not counted: for 1 < α < d, and where they seem to be more than
        :data:`MAX_SECTION_POINTS`.
    """
    return section_algebra(shape).length() if is_counted(shape) else None


def is_counted(shape: LayerSizes) -> bool:
    """Whether the points of the section are counted. This depends on the case alone.

    The measure of the work is the number of points that Bézout's theorem with weights expects.
    """
    if shape.alpha not in (1, shape.d):
        # the section of D_α is not given by products of polynomials in one variable
        return False
    sizes = _sizes(shape)
    largest = max(sizes)
    weights = _weights(sizes, sizes.index(largest))
    if len(weights) >= MAX_SECTION_POINTS.bit_length():
        # each unknown at least doubles the number
        return False
    # the equations that remain have the weights from the largest size on
    return prod(range(largest, _last_weight(sizes) + 1)) // prod(weights) <= MAX_SECTION_POINTS


def section_algebra(shape: LayerSizes) -> WeightedAlgebra:
    """The functions on the section.

    The largest factor is eliminated, whose coefficients the first equations give.
    """
    sizes = _sizes(shape)
    solved = sizes.index(max(sizes))
    weights = _weights(sizes, solved)
    ring = flint.nmod_mpoly_ctx.get(("x", max(len(weights), 1)), LARGE_PRIME, flint.Ordering.lex)
    unknowns = iter(ring.gens())
    zero = ring.constant(0)
    factors: list[SeriesFactor] = []
    for number, size in enumerate(sizes):
        coefficients = [zero] * (size - 1)
        if number != solved:
            coefficients = list(islice(unknowns, size - 1))
        factors.append([ring.constant(1), *coefficients])
    coordinates = _coordinates(shape)
    relations = []
    for weight in range(1, _last_weight(sizes) + 1):
        equation = sum((_value(index, shape, factors) for index in coordinates[weight]), start=zero)
        if weight < sizes[solved]:
            # the unknown of this weight, 0 until here, stands in the equation alone
            factors[solved][weight] = -equation
        else:
            terms = {monomial: int(c) for monomial, c in equation.to_dict().items()}
            relations.append((weight, terms))
    return WeightedAlgebra(weights, tuple(relations))


def _sizes(shape: LayerSizes) -> tuple[int, ...]:
    """The numbers of coefficients of the factors A and V; of k, q and V for α = 1, A = k qᵀ."""
    of_V = shape.d_out * shape.d
    if shape.alpha == 1:
        return shape.d, shape.d, of_V
    return shape.d**2, of_V


def _weights(sizes: tuple[int, ...], solved: int) -> tuple[int, ...]:
    """The weights of the unknowns: of the coefficients of all factors but the one solved for."""
    weights: list[int] = []
    for number, size in enumerate(sizes):
        if number != solved:
            weights += range(1, size)
    return tuple(weights)


def _last_weight(sizes: tuple[int, ...]) -> int:
    """The degree of the product of the factors in T."""
    return sum(sizes) - len(sizes)


def _coordinates(shape: LayerSizes) -> dict[int, list[Index]]:
    """The indices (k, i, p, q) of the coordinates of each weight."""
    # A_pi is the coefficient of T^(p + di), but of T^(p + i) in k(T) q(T)
    step = shape.d
    if shape.alpha == 1:
        step = 1
    places: defaultdict[int, list[Index]] = defaultdict(list)
    for k, i, p, q in indices(shape):
        places[p + q + step * i + shape.d * k].append((k, i, p, q))
    return places


def _value(index: Index, shape: LayerSizes, factors: Sequence[SeriesFactor]) -> Any:
    """The coordinate c_{k,i,p,q} of the weights with these factors.

    A_pi is the coefficient of T^(p + di) of the first factor, or for α = 1 the product of those of
    T^p in k(T) and of T^i in q(T); V_kq is that of T^(q + dk) of the last.
    """
    *of_A, of_V = factors

    def A(p: int, i: int) -> Any:
        if shape.alpha == 1:
            return of_A[0][p] * of_A[1][i]
        return of_A[0][p + shape.d * i]

    def V(k: int, q: int) -> Any:
        return of_V[q + shape.d * k]

    return coordinate(index, A, V)


def deduce(
    model: LayerSizes,
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
        The result of :func:`m2bridge.families.attention.orbits.tangents.orbit_tangents`, perhaps of
        some orbits only.

    Raises
    ------
    ContradictionError
        If independent methods disagree.
    """
    if tangents is None:
        tangents = orbit_tangents(model)
    dense = generic_orbit(model)
    generic = fibre_schemes.at[dense]
    dimension = tangents[dense].dimension
    # a limit may have been reached on the way to either of them
    both = fibre_schemes.at.keys() & tangents.keys()
    done = [orbit for orbit in orbits(model) if orbit in both]
    facts = []
    for orbit in done:
        fact = _facts(
            orbit,
            model,
            fibre=fibre_schemes.at[orbit],
            tangent=tangents[orbit],
            generic=generic,
            dimension=dimension,
        )
        facts.append(fact)
    check(facts, dimension, model)
    limit = fibre_schemes.limit
    if limit is None and len(done) < orbit_count(model):
        limit = time_limit_after(done, model)
    remarks = _agreements(generic, tangents)
    if limit is not None:
        # the methods agree on the orbits that were observed
        remarks = [f"{remark} ({limit.progress})" for remark in remarks]
    counted = points = None
    if degree and fibre_schemes.base_locus_empty:
        points = section_points(model)
        counted = _degree(model, dimension, generic, points)
    if points is not None:
        remarks.append(BY_SECTION)
    return Observations(
        model=model,
        orbits=tuple(facts),
        dimension=dimension,
        degree=counted,
        closed=fibre_schemes.base_locus_empty,
        products=products_determine_functions(model.d),
        boundary_family=fibre_schemes.boundary_family,
        generic=generic,
        remarks=tuple(remarks),
        limit=limit,
    )


def _agreements(generic: Fibre, tangents: Mapping[Orbit, OrbitTangents]) -> list[str]:
    """Return remarks on the methods that decide singular orbits and agree."""
    methods = ["fibres"]
    if generic.length == 1:
        # otherwise fibres say nothing about smoothness, and the bounds alone decide
        methods.append("tangents")
        if any(tangent.known.upper is not None for tangent in tangents.values()):
            methods.append("equations")
    return [WORDS.remarks[method] for method in methods]


def _degree(model: LayerSizes, dimension: int, generic: Fibre, points: int | None) -> int:
    """Return the degree by the projection formula, compared with the section if it is counted."""
    degree = degree_by_projection(model, dimension, generic)
    if points not in (None, degree * generic.length):
        raise ContradictionError(
            f"a section of {points} points, with fibres of {generic.length}; but degree {degree}"
        )
    return degree


def _facts(
    orbit: Orbit,
    model: LayerSizes,
    *,
    fibre: Fibre,
    tangent: OrbitTangents,
    generic: Fibre,
    dimension: int,
) -> OrbitFacts:
    """The facts at one orbit, from its fibre and its tangent vectors, which must agree.

    The fibre is reduced exactly where the differential is injective on the projective source.
    """
    preimages = fibre_points(orbit, model)
    critical = tangent.critical
    if critical == fibre.reduced or len(preimages) != fibre.points:
        rank = "too small" if critical else "not too small"
        raise ContradictionError(
            f"at orbit {orbit} the fibre is {fibre}, but the rank of the differential is {rank},"
            f" and {len(preimages)} points solve the equations"
        )
    smooth = source_is_smooth(orbit, model)
    singular: bool | None
    if generic.length > 1:
        # not birational, so the lemma does not apply; but the dense orbit is smooth in any case
        known = tangent.known
        if tangent.dimension == dimension:
            known = intersect_bounds(known, Bounds.at_most(dimension, "the dense orbit is smooth"))
        singular = singular_by_bounds(known, dimension)
        tangent = replace(tangent, known=known)
    elif fibre.length > 1 or smooth:
        # the lemma, for an orbit that is singular by its fibre or whose source is smooth
        singular = fibre.length > 1
    else:
        # where the source seems singular, tangent vectors may prove it; else it is undecided
        singular = tangent.known.least > dimension or None
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


def source_is_smooth(orbit: Orbit, model: LayerSizes) -> bool:
    """Whether D_α is smooth at rank r.

    Matrices of rank α are one orbit; below, all derivatives of the minors vanish.
    """
    return model.alpha in (model.d, orbit.r)


def check(facts: Sequence[OrbitFacts], dimension: int, model: LayerSizes) -> None:
    """Check that fibres, tangent vectors and equations agree on whether each orbit is singular.

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
        if fact.singular and fact.tangent_upper == dimension:
            raise ContradictionError(f"singular by its fibre, smooth by equations {evidence}")
        if fact.tangent.most < fact.tangent_lower:
            raise ContradictionError(f"more tangent vectors than the equations allow {evidence}")
        # the singular locus is closed
        if fact.singular is False and any(fact.orbit.in_closure_of(orbit) for orbit in singular):
            raise ContradictionError(f"smooth, but in the closure of a singular orbit {evidence}")


def time_limit_after(done: Collection[Orbit], model: LayerSizes) -> TimeLimitError:
    """Return the error for a time limit that is reached after these orbits."""
    limit = clock().late("the linear algebra at the orbits")
    limit.progress = f"{len(done)} of {orbit_count(model)} orbits were done"
    return limit


@computation
def observe(
    model: LayerSizes,
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
    model : LayerSizes
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
        The dimension and the other results of linear algebra come before any orbit.

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
    check_kind("model", model, LayerSizes, "a SingleLayerAttention")
    if model.t == 1:
        raise MethodUnavailableError(
            "orbits are observed for t ≥ 2 only; for t = 1 singular_locus has the method jacobian"
        )
    count = orbit_count(model)  # refuses what is too large
    with share(0.5 if partial else 1.0):
        products = products_determine_functions(model.d)
        tangents = orbit_tangents(model)
    if not partial and len(tangents) < count:
        raise time_limit_after(tangents, model)
    try:
        fibre_schemes = fibres(model, wanted=tuple(tangents))
    except (TimeLimitError, MemoryLimitError) as limit:
        if not partial:
            raise
        dimension = tangents[generic_orbit(model)].dimension
        check((), dimension, model)
        limit.progress = f"0 of {count} orbits were done"
        return Observations(
            model=model,
            dimension=dimension,
            products=products,
            engine_version=current().version,
            seconds=clock().seconds,
            limit=limit,
        )
    if fibre_schemes.limit is not None and not partial:
        raise fibre_schemes.limit
    observations = deduce(model, fibre_schemes, tangents, degree=degree)
    remarks = observations.remarks
    counted = None
    if observations.limit is None and observations.degree is not None:
        if _is_confirmed_by_elimination(model, observations.degree):
            remarks += (WORDS.remarks["elimination"],)
        if polar:
            counted = _polar_degrees(model, partial)
    return replace(
        observations,
        remarks=remarks,
        polar_degrees=counted,
        engine_version=current().version,
        seconds=clock().seconds,
    )


def _polar_degrees(model: LayerSizes, partial: bool) -> Numbers | None:
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


def _is_confirmed_by_elimination(model: LayerSizes, degree: int) -> bool:
    """Return whether elimination gives the same degree; False for large cases and at a limit.

    Raises
    ------
    ContradictionError
        If the ideal has a different degree.
    """
    if model.independent_count > MAX_DEGREE_ELIMINATION_COORDINATES:
        return False
    # functions of more tokens have the same reduced coordinates
    two_tokens = LayerSizes(model.d, model.d_out, model.a)
    reduced = MapModel(parametrization(two_tokens, "reduced", "attention"), two_tokens.title)
    try:
        eliminated = answer_to(closure_script(reduced, field=QQ)).integer("degree")
    except (TimeLimitError, MemoryLimitError):
        return False
    if eliminated != degree:
        raise ContradictionError(
            f"the degree is {degree} by the fibres, and {eliminated} by elimination"
        )
    return True


def by_fibres(shape: LayerSizes) -> LocusFindings:
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
        tangent = Bounds.exactly(dimension)
    elif tangent.exact is None:
        tangent = Bounds.at_least(tangent.lower)
    return OrbitStatus(
        orbit=fact.orbit, dimension=fact.dimension, tangent=tangent, singular=fact.singular
    )
