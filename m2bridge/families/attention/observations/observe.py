"""The observation of one case: its orbits by three methods that must agree, and the degree.

The three methods use fibres, tangent vectors, and equations of low degree. The lemma: where the
parametrization is finite and birational, a function in the closure is a smooth point exactly if the
fibre over it is one reduced point, at which the source is smooth (docs/mathematics.md). So, where
the generic fibre is one reduced point, an orbit is singular if its fibre is longer, and smooth if
the source is smooth at the point; else tangent vectors decide. Where the generic fibre is longer,
bounds for tangent dimensions decide. ``singular`` is None where nothing decides.

The degree is by the projection formula, without the closed formula that predicts it. The projective
parametrization P(D_α) × P(R^{d'×d}) → P^N, of D_α = {rk A ≤ α}, is given by forms of bidegree
(1, 1). If they have no common zero, the degree of the image times the number of points of the
generic fibre is (h_A + h_V)^(δ_A + δ_V) on the source, C(δ_A + δ_V, δ_V)·deg P(D_α), with the
projective dimensions δ_A and δ_V (docs/mathematics.md, Degrees).

Methods that disagree are a ContradictionError. After a limit, observations have it, and some orbits
or none. (Notation: the docstring of families/attention.)
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from math import comb, factorial, prod
from typing import Unpack

import flint

from m2bridge.algebra.field import QQ
from m2bridge.convert.answers import answer_to
from m2bridge.engine import RunOptions, computation, current
from m2bridge.errors import (
    ContradictionError,
    EngineError,
    MemoryLimitError,
    MethodUnavailableError,
    TimeLimitError,
    check_flag,
    check_kind,
)
from m2bridge.families.attention.hypotheses import WORDS
from m2bridge.families.attention.observations.at_orbits import Observations, OrbitFacts
from m2bridge.families.attention.observations.linear_section import section_points
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
from m2bridge.families.attention.orbits.parametrization import parametrization
from m2bridge.families.attention.orbits.tangents import (
    OrbitTangents,
    orbit_tangents,
    source_is_smooth,
    source_tangent_dimension,
)
from m2bridge.families.attention.polar.theorem import count_polar_degrees, is_counted_for_verdicts
from m2bridge.families.attention.sizes import LayerSizes
from m2bridge.limits import clock, share
from m2bridge.maps.closure import closure_script
from m2bridge.maps.locus import LocusFindings, OrbitStatus, singular_by_bounds
from m2bridge.maps.polynomial_map_model import MapModel
from m2bridge.results.known import Bounds, intersect_bounds
from m2bridge.statements.statement import Numbers

BY_SECTION = WORDS.remarks["section"]
"""The remark that points of a linear section confirm the degree."""


def degree_by_projection(shape: LayerSizes, dimension: int, generic: Fibre) -> int:
    """Return the degree of the closure, from its affine dimension and the generic fibre.

    Hypothesis: the base locus is empty. In characteristic 0 the generic fibre must be reduced.
    """
    dimension_v = shape.d * shape.d_out - 1  # δ_V
    # δ_A + δ_V is the projective dimension of the source. The closure has the same,
    # because fibres are finite: the affine dimension less one.
    source_degree = comb(dimension - 1, dimension_v) * degree_of_low_rank(shape.d, shape.alpha)
    if not generic.reduced or source_degree % generic.points:
        raise ContradictionError(
            f"the source has degree {source_degree}, and the generic fibre is {generic}"
        )
    return source_degree // generic.points


def degree_of_low_rank(size: int, rank: int) -> int:
    """Return the degree of the projective variety of square matrices of rank at most ``rank``.

    With the corank c = size − rank it is the determinant of the matrix with the entries
    (2c + j + k)! for j, k < rank, divided by the square of c! (c + 1)! … (size − 1)!. The reason is
    that the standard bitableaux are a basis of the polynomials on this variety. By the formulas of
    Weyl, and of Cauchy and Binet, their generating function by degree is a determinant, and the
    degree of the variety is its leading coefficient at 1.
    """
    corank = size - rank
    factorials = [[factorial(2 * corank + j + k) for k in range(rank)] for j in range(rank)]
    denominator = prod(map(factorial, range(corank, size)))
    return int(flint.fmpz_mat(factorials).det()) // denominator**2


def deduce_observations(
    model: LayerSizes,
    fibre_schemes: Fibres,
    tangents: Mapping[Orbit, OrbitTangents] | None = None,
    *,
    degree: bool = True,
) -> Observations:
    """Return the observations that follow from fibres and tangent spaces, without Macaulay2.

    Both are known at all orbits, or at some with the dense one; tangent spaces are computed when
    left out. ``degree`` says whether the degree of the closure is wanted.
    """
    if tangents is None:
        tangents = orbit_tangents(model)
    dense = generic_orbit(model)
    generic = fibre_schemes.at[dense]
    dimension = tangents[dense].dimension
    facts = []
    with_both = fibre_schemes.at.keys() & tangents.keys()
    for orbit in orbits(model):
        if orbit in with_both:
            fact = _facts_at_orbit(
                orbit,
                model,
                fibre=fibre_schemes.at[orbit],
                tangent=tangents[orbit],
                generic=generic,
                dimension=dimension,
            )
            facts.append(fact)
    check_agreement(facts, dimension, model)
    limit = fibre_schemes.limit
    if limit is None and len(facts) < orbit_count(model):
        # not all tangent spaces were computed
        limit = time_limit_after([fact.orbit for fact in facts], model)
    remarks = _agreement_remarks(generic, tangents, limit)
    degree_of_closure = None  # not asked for, or not known
    # the projection formula needs an empty base locus
    if degree and fibre_schemes.base_locus_empty:
        degree_of_closure = degree_by_projection(model, dimension, generic)
        # A linear section has as many points of the closure as the degree, and its preimage in the
        # source has over each of them as many as the generic fibre; None where not counted.
        points = section_points(model)
        if points not in (None, degree_of_closure * generic.length):
            raise ContradictionError(
                f"a section of {points} points, with fibres of {generic.length};"
                f" but degree {degree_of_closure}"
            )
        if points is not None:
            remarks.append(BY_SECTION)
    return Observations(
        model=model,
        orbits=tuple(facts),
        dimension=dimension,
        degree=degree_of_closure,
        closed=fibre_schemes.base_locus_empty,
        products=products_determine_functions(model.d),
        boundary_family=fibre_schemes.boundary_family,
        generic=generic,
        remarks=tuple(remarks),
        limit=limit,
    )


def _agreement_remarks(
    generic: Fibre, tangents: Mapping[Orbit, OrbitTangents], limit: EngineError | None
) -> list[str]:
    """Return the remarks on methods that were compared and agree; after a limit, on how many."""
    # fibres, their points and ranks are always compared
    methods = ["fibres"]
    if generic.length == 1:
        # fibres also decide which orbits are singular, so there are further methods for that
        methods.append("tangents")
        if any(tangent.known.upper is not None for tangent in tangents.values()):
            methods.append("equations")
    remarks = [WORDS.remarks[method] for method in methods]
    if limit is None:
        return remarks
    return [f"{remark} ({limit.progress})" for remark in remarks]


def _facts_at_orbit(
    orbit: Orbit,
    model: LayerSizes,
    *,
    fibre: Fibre,
    tangent: OrbitTangents,
    generic: Fibre,
    dimension: int,
) -> OrbitFacts:
    """Return the facts at one orbit, from its fibre and its tangent vectors, which must agree."""
    preimages = fibre_points(orbit, model)
    # The fibre is reduced exactly where the differential is injective on the projective source, and
    # has as many points as solve its equations.
    if tangent.critical == fibre.reduced or len(preimages) != fibre.points:
        rank = "too small" if tangent.critical else "not too small"
        raise ContradictionError(
            f"at orbit {orbit} the fibre is {fibre}, but the rank of the differential is {rank},"
            f" and {len(preimages)} points solve the equations"
        )
    is_source_smooth = source_is_smooth(orbit, model)
    tangent_dimension = tangent.known
    if generic.length > 1:
        # not birational, so the lemma does not apply
        if tangent.dimension == dimension:  # the dense orbit, smooth in any case
            tangent_dimension = intersect_bounds(
                tangent_dimension, Bounds.at_most(dimension, "the dense orbit is smooth")
            )
        singular = singular_by_bounds(tangent_dimension, dimension)
    elif fibre.length > 1 or is_source_smooth:
        # the lemma: a longer fibre is over a singular point; one reduced point that is smooth in
        # the source is over a smooth point
        singular = fibre.length > 1
    else:
        # One reduced point, singular in the source: more tangent vectors than the dimension prove
        # the orbit singular; without them it is undecided, None.
        singular = tangent_dimension.least > dimension or None
    return OrbitFacts(
        orbit=orbit,
        dimension=tangent.dimension,
        fibre=fibre,
        preimages=preimages,
        source_smooth=is_source_smooth,
        singular=singular,
        critical=tangent.critical,
        boundary=tangent.critical,  # the fibre is not reduced
        tangent=tangent_dimension,
        tangent_witness=tangent.witness,
    )


def check_agreement(facts: Sequence[OrbitFacts], dimension: int, model: LayerSizes) -> None:
    """Check that fibres, tangent vectors and equations agree on whether each orbit is singular."""
    _check_dimension(dimension, model)
    singular = [fact.orbit for fact in facts if fact.singular]
    for fact in facts:
        evidence = f"at orbit {fact.orbit} of {model}: {fact}; dimension {dimension}"
        # bounds of the tangent dimension, by vectors and by equations (infinite without equations)
        lower, most = fact.tangent_lower, fact.tangent.most
        if fact.singular is False and lower > dimension:
            raise ContradictionError(f"smooth by its fibre, singular by tangent vectors {evidence}")
        if fact.singular and most == dimension:
            raise ContradictionError(f"singular by its fibre, smooth by equations {evidence}")
        # the singular locus is closed, so it contains the closures of singular orbits
        if fact.singular is False and any(fact.orbit.in_closure_of(orbit) for orbit in singular):
            raise ContradictionError(f"smooth, but in the closure of a singular orbit {evidence}")


def _check_dimension(dimension: int, model: LayerSizes) -> None:
    """Check that the dimension of the closure is the source's less one, for the rescaling.

    The source is smooth over the dense orbit, so its dimension is its tangent dimension there.
    """
    dimension_of_source = source_tangent_dimension(generic_orbit(model), model)
    if dimension != dimension_of_source - 1:
        raise ContradictionError(
            f"the largest orbit has dimension {dimension}, not the dimension of the source less one"
        )


def time_limit_after(orbits_done: Collection[Orbit], model: LayerSizes) -> TimeLimitError:
    """Return the error for a time limit that is reached when the orbits ``orbits_done`` are
    finished.
    """
    limit = clock().late("the linear algebra at the orbits")
    limit.progress = f"{len(orbits_done)} of {orbit_count(model)} orbits were done"
    return limit


@computation
def observe(
    model: LayerSizes,
    *,
    partial: bool = True,
    degree: bool = True,
    equations: bool = True,
    polar: bool = False,
    **options: Unpack[RunOptions],
) -> Observations:
    """Observe the orbits of a case by the method of fibres, tangent vectors and equations.

    The lemma: for the parametrization f, p = f(q) is a smooth point of the closure if and only if
    the scheme f⁻¹(p) is one reduced point and q is a smooth point of the source. It needs f finite
    (base locus empty, fibres finite) and birational (the generic fibre is one reduced point).

    Parameters
    ----------
    model : LayerSizes
    engine : Engine, optional
        A Macaulay2 to use; without one, the Macaulay2 of the ``with`` block around it, else one
        that the process shares.
    timeout : float, optional
        Seconds for the whole computation. Linear algebra comes first, in half of the time; then
        Macaulay2 has the rest.
    partial : bool
        Whether the result may have some of the orbits only, or none, when a limit is reached. If
        not, the limit raises its error.
    degree : bool
        Whether the degree of the closure is computed.
    equations : bool
        Whether equations of the closure give upper bounds for tangent dimensions, as a third way to
        find the singular orbits.
    polar : bool
        Whether polar degrees are counted too, in small cases; not without ``degree``.

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
    flags = {"partial": partial, "degree": degree, "equations": equations, "polar": polar}
    for option, value in flags.items():
        check_flag(option, value)
    if model.t == 1:
        raise MethodUnavailableError(
            "orbits are observed for t ≥ 2 only; for t = 1 singular_locus has the method jacobian"
        )
    # the count raises the error for cases that are too large
    count = orbit_count(model)
    # Half of the time is left for Macaulay2. But if all orbits are needed, linear algebra may take
    # all of the time, since without it the rest is of no use.
    with share(0.5 if partial else 1.0):
        products = products_determine_functions(model.d)
        tangents = orbit_tangents(model, equations=equations)
    if not partial and len(tangents) < count:
        raise time_limit_after(tangents, model)
    try:
        fibre_schemes = fibres(model, wanted=tuple(tangents))
    except (TimeLimitError, MemoryLimitError) as limit:
        if not partial:
            raise
        dimension = tangents[generic_orbit(model)].dimension
        _check_dimension(dimension, model)
        limit.progress = f"0 of {count} orbits were done"
        without_orbits = Observations(
            model=model, dimension=dimension, products=products, limit=limit
        )
        return _with_engine_and_time(without_orbits)
    if fibre_schemes.limit is not None and not partial:
        raise fibre_schemes.limit
    observations = deduce_observations(model, fibre_schemes, tangents, degree=degree)
    # only complete observations are compared with further methods
    if observations.limit is None and observations.degree is not None:
        if _is_confirmed_by_elimination(model, observations.degree):
            remark = WORDS.remarks["elimination"]
            observations = replace(observations, remarks=(*observations.remarks, remark))
        if polar:
            polar_degrees = _count_polar_degrees_within_limit(model, partial=partial)
            observations = replace(observations, polar_degrees=polar_degrees)
    return _with_engine_and_time(observations)


def _with_engine_and_time(observations: Observations) -> Observations:
    """Return observations with the version of the present Macaulay2 and the seconds until now."""
    return replace(observations, engine_version=current().version, seconds=clock().seconds)


def _count_polar_degrees_within_limit(model: LayerSizes, *, partial: bool) -> Numbers | None:
    """Return the polar degrees δ_n, …, δ_0, counted as points in slices; ``None`` without them.

    With ``partial`` a limit raises no error: numbers that were not counted until then are ``None``.
    """
    if not is_counted_for_verdicts(model):
        return None
    try:
        degrees = count_polar_degrees(model)
    except (TimeLimitError, MemoryLimitError):
        if partial:
            return None
        raise
    if None in degrees.entries and not partial:
        raise clock().late("counting points in slices")
    return degrees


def _is_confirmed_by_elimination(model: LayerSizes, degree: int) -> bool:
    """Return whether elimination gives the same degree; False where it does not end in time."""
    # up to 12 coordinates take seconds
    if model.independent_count > 12:
        return False
    # functions of more tokens have the same reduced coordinates
    two_tokens = LayerSizes(model.d, model.d_out, model.a, t=2)
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
    """Return the findings about the singular locus, by one fibre for each orbit.

    Hypotheses: t ≥ 2, and not α = d' = 1 < d (where the map is two-to-one).
    """
    try:
        observations = observe(shape, degree=False)
    except (TimeLimitError, MemoryLimitError) as limit:
        return LocusFindings(method="fibres", dimension=None, unfinished=str(limit))
    statuses = []
    for fact in observations.orbits:
        tangent = fact.tangent
        if fact.singular is False:
            # at a smooth point the tangent dimension is the dimension of the closure
            tangent = Bounds.exactly(observations.dimension)
        elif tangent.exact is None:
            # the upper bound is by equations, so it is left out as no finding of this method
            tangent = Bounds.at_least(tangent.lower)
        # else the orbit is singular or undecided, and the bounds meet: the number is proved
        status = OrbitStatus(
            orbit=fact.orbit, dimension=fact.dimension, tangent=tangent, singular=fact.singular
        )
        statuses.append(status)
    return orbit_findings(
        method="fibres",
        dimension=observations.dimension,
        statuses=tuple(statuses),
        shape=shape,
        unfinished=observations.unfinished,
    )
