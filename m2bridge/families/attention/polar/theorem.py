"""The polar degrees of the closure: the theorem, what it rests on, and points that are counted
without it.

The closure belongs to a case with sizes d, d', a, and α = min(a, d); as a projective variety it has
the dimension n and the polar degrees δ_n, …, δ_0. It is the image of the source, the space of all
([A], [V]) with rk A ≤ α, whose desingularization Y has a subspace W of dimension α that contains
the columns of A in addition. An orbit (r, s, m) consists of the functions with r = rk A, s = rk V,
and m the dimension of the intersection of the column space of A and the row space of V.
"""

from functools import lru_cache

from m2bridge.errors import ContradictionError, MethodUnavailableError, TooLargeError
from m2bridge.families.attention.hypotheses import WORDS, why_not_several_tokens
from m2bridge.families.attention.orbits.fibres import fibre_points
from m2bridge.families.attention.orbits.orbits import Orbit, generic_orbit, orbit_count, orbits
from m2bridge.families.attention.orbits.parametrization import free_parametrization
from m2bridge.families.attention.orbits.tangents import (
    differential_rank,
    orbit_dimension,
    source_tangent_dimension,
)
from m2bridge.families.attention.polar.chern_integrals import (
    MAX_POLAR_DIMENSION,
    has_short_polar_degrees,
    localized_polar_degrees,
    polar_degrees_in_chow_ring,
)
from m2bridge.families.attention.sizes import LayerSizes, dimension_formula, is_birational
from m2bridge.limits import check_deadline_in
from m2bridge.maps.degrees.counting_primes import MIN_AGREEING_PRIMES
from m2bridge.maps.degrees.polar_degrees import second_opinion
from m2bridge.maps.model import CriticalLocus, PolarData
from m2bridge.statements.statement import Numbers

MAX_ORBIT_STEPS = 10**7
"""The number of orbits times coordinates times parameters, up to which the loci of a case are
observed.
"""

LINEAR_SPACE = "the closure is a linear space, for d = 1"


@lru_cache(maxsize=64)
def predicted_polar_degrees(shape: LayerSizes) -> tuple[int, ...]:
    """Return the polar degrees δ_n, …, δ_0 by the theorem, for all t ≥ 2; the first is the degree.

    For d = 1 the closure is a linear space: the projective space over which integrals are taken.
    """
    reason = why_not_several_tokens(shape)
    if reason:
        raise MethodUnavailableError(f"no theorem gives the polar degrees: {reason}")
    if not has_short_polar_degrees(shape):
        raise TooLargeError(
            f"polar degrees are computed of varieties of dimension at most {MAX_POLAR_DIMENSION}"
        )
    return polar_degrees_in_chow_ring(shape)


def are_loci_observed(shape: LayerSizes) -> bool:
    """Return whether the loci over all orbits of a case are few and small enough to be observed."""
    # the entries of the differential at one orbit: coordinates times parameters (A, V)
    steps_of_an_orbit = shape.independent_count * shape.d * (shape.d + shape.d_out)
    if steps_of_an_orbit > MAX_ORBIT_STEPS:
        # Orbits are not counted here, because counting raises an error for the largest cases.
        return False
    return steps_of_an_orbit * orbit_count(shape) <= MAX_ORBIT_STEPS


def observed_loci(shape: LayerSizes) -> tuple[CriticalLocus, ...]:
    """Return the locus of Y over each orbit; empty if the case is too large."""
    if not are_loci_observed(shape):
        return ()
    return tuple(_critical_locus(orbit, shape) for orbit in check_deadline_in(orbits(shape)))


def _critical_locus(orbit: Orbit, shape: LayerSizes) -> CriticalLocus:
    """Return the locus of Y over an orbit: its codimension, and a bound for the kernel there.

    The subspaces W of dimension α that contain the column space of A are a Grassmannian of
    dimension (α − r)(d − α). The kernel of the differential on Y has at most this dimension plus
    the one of the kernel on the Zariski tangent space of the source, which is computed by ranks of
    matrices.
    """
    subspaces = (shape.alpha - orbit.r) * (shape.d - shape.alpha)
    # Y has the dimension of the closure, and fibres over functions are finite but for the W
    codimension = dimension_formula(shape) - orbit_dimension(orbit, shape) - subspaces
    # At ([A], [V]) the tangent space has two dimensions less than at (A, V): the multiples of A and
    # of V. The differential maps both to the multiples of the function, which are zero in the
    # tangent space of projective space: so the rank is smaller by one.
    projective_tangent_dimension = source_tangent_dimension(orbit, shape) - 2
    projective_rank = differential_rank(orbit, shape) - 1
    kernel = projective_tangent_dimension - projective_rank
    return CriticalLocus(name=str(orbit), codimension=codimension, kernel=kernel + subspaces)


def polar_theorem(shape: LayerSizes) -> PolarData | None:
    """Return the polar degrees with the loci on which they rely; ``None`` for t = 1."""
    if why_not_several_tokens(shape):
        return None
    degrees = predicted_polar_degrees(shape)
    method = _how_known(shape, degrees)
    if not is_birational(shape):  # α = d' = 1 < d
        return _two_to_one_polar_data(shape, degrees, method)
    loci = observed_loci(shape)
    points = _general_fibre_points(shape)
    # the hypotheses: one point in a general fibre, and over each orbit a kernel that is zero or
    # smaller than the codimension of its locus
    has_large_kernel = any(locus.kernel > 0 and locus.kernel >= locus.codimension for locus in loci)
    if points not in (None, 1) or has_large_kernel:
        raise ContradictionError(
            f"{shape}: the theorem does not apply, {points} points in a general fibre, {loci}"
        )
    if shape.d == 1:
        # the theorem assumes d ≥ 2; here the integrals are over the closure, a projective space
        method, lemma_names = LINEAR_SPACE, ["reduced"]
    elif loci:
        lemma_names = WORDS.closure["polar-observed"]
    else:
        lemma_names = WORDS.closure["polar"]
    return PolarData(
        degrees=degrees,
        known=method,
        rests_on=tuple(WORDS.lemmas[name] for name in lemma_names),
        loci=loci,
        generic_fibre=points,
    )


def _how_known(shape: LayerSizes, degrees: tuple[int, ...]) -> str:
    """Return in words how the polar degrees are known, by one or two ways that agree."""
    localized = localized_polar_degrees(shape)
    if localized is None:
        return "by the theorem, integrals by Segre classes"
    if localized.entries != degrees:
        raise ContradictionError(
            f"{shape}: the polar degrees are {localized} by localization, but different in the"
            " Chow ring"
        )
    return "by the theorem, integrals by Segre classes and by localization, which agree"


def _general_fibre_points(shape: LayerSizes) -> int | None:
    """Return the number of points in a general fibre; ``None`` for cases too large to observe."""
    if not are_loci_observed(shape):
        return None
    return len(fibre_points(generic_orbit(shape), shape))


def _two_to_one_polar_data(shape: LayerSizes, degrees: tuple[int, ...], method: str) -> PolarData:
    """Return the polar degrees for α = d' = 1 < d, where the parametrization is two-to-one.

    Here A = k qᵀ and V = vᵀ have rank 1, and their function is q times the symmetric product of k
    and v: exchanging k and v gives the second point of a fibre. So the closure is the Segre product
    of a projective space and the symmetric matrices of rank at most two. The theorem needs no
    critical loci, as the tangent spaces of the closure are a bundle on its resolution Y
    (docs/polar-degrees.md, Polar degrees where the map is two-to-one).
    """
    points = _general_fibre_points(shape)
    if points not in (None, 2):
        raise ContradictionError(
            f"{shape}: the theorem does not apply, {points} points in a general fibre"
        )
    lemmas = tuple(WORDS.lemmas[name] for name in WORDS.closure["polar-symmetric"])
    return PolarData(degrees=degrees, known=method, rests_on=lemmas, generic_fibre=points)


MAX_COUNTED_OUTPUTS = 1
"""For d = 2 and at most this many outputs a verdict compares points that are counted: that takes
tenths of a second. For (2, 2, 1) and (2, 2, 2) it takes seconds, and for (2, 3, 1) minutes; there
``polar-degrees --method slices`` counts them.
"""


def is_counted_for_verdicts(shape: LayerSizes) -> bool:
    """Return whether a verdict also compares polar degrees counted as points."""
    return shape.t >= 2 and shape.d == 2 and shape.d_out <= MAX_COUNTED_OUTPUTS


def count_polar_degrees(shape: LayerSizes) -> Numbers:
    """Count the polar degrees δ_n, …, δ_0 as points modulo random primes (Macaulay2).

    They are the numbers of points of general slices of the conormal variety, modulo two primes that
    agree. A number that was not counted within the limit on time is ``None``. All are ``None``
    without a second prime, since numbers modulo one prime alone refute nothing.
    """
    # reduced coordinates are the same for all t ≥ 2
    two_tokens = LayerSizes(shape.d, shape.d_out, shape.a)
    # counts modulo a prime, and then once more modulo a second one
    point_counts = second_opinion(free_parametrization(two_tokens, "reduced"))
    if len(point_counts.primes) < MIN_AGREEING_PRIMES:
        return Numbers((None,) * (point_counts.dimension + 1))
    # degrees are counted from δ_n on, so the last ones can be missing
    gap = point_counts.dimension + 1 - len(point_counts.degrees)
    return Numbers((*point_counts.degrees, *(None,) * gap))
