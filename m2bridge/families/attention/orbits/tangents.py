"""Tangent spaces at a representative of an orbit: from within by vectors, from outside by
equations.

Weights and function coordinates are sparse: mappings from index to integer. All is exact and over
QQ, for t ≥ 2.

Notation. The sizes d, d' (``d_out``), a and t of a model are in a LayerSizes, mostly ``shape``, and
α = min(a, d). Weights are a d×d matrix A of rank at most α and a d'×d matrix V. l_i = Σ_p A_pi y_p,
from column i of A, and v_k = Σ_q V_kq y_q, from row k of V, are linear forms; they span L and U. A
function is given, for t ≥ 2, by its reduced coordinates c_{k,i,p,q}, p ≤ q: the coefficient of
y_p y_q in l_i v_k. The parametrization f, which is bilinear, takes (A, V) to these. The orbit
(r, s, m) has the functions with rk A = r, rk V = s, dim L ∩ U = m; its representative is f of the
weights that :func:`.representative` returns. The closure is that of the image of f; the tangent
dimension at an orbit is that of the Zariski tangent space of the closure at the representative.
Dimensions are those of cones.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import product
from types import MappingProxyType

from m2bridge.algebra.determinantal import matrices_of_rank
from m2bridge.algebra.linear_algebra import sparse_rank
from m2bridge.errors import MethodUnavailableError, TimeLimitError
from m2bridge.families.attention.orbits.fibres import fibre_points
from m2bridge.families.attention.orbits.orbits import Orbit, dense_first, orbits, representative
from m2bridge.families.attention.orbits.parametrization import (
    FunctionCoordinates,
    Sparse,
    function_coordinates,
    indices,
    multigraded_attention,
    sparse_matrix,
)
from m2bridge.families.attention.orbits.weight_spaces import (
    Direction,
    IndexClasses,
    RanksByWeight,
    WeightSpaces,
)
from m2bridge.families.attention.sizes import LayerSizes, coordinate_count
from m2bridge.implicitization.differentials import EquationsAtPoints, Gradient
from m2bridge.limits import check_deadline_in, share
from m2bridge.maps.equations import default_max_degree
from m2bridge.results.known import Bounds

MAX_BOUND_MONOMIALS = 125_000
"""The largest number of monomials of the last degree of equations, which then take seconds."""


def orbit_dimension(orbit: Orbit, shape: LayerSizes) -> int:
    """Return the affine dimension of the orbit: the rank of the tangent map of the group action.

    At (A, V) the element (X, Y, Z) of the Lie algebra gl_d × gl_d × gl_d' gives the tangent vector
    (XA + AY, V Xᵀ + ZV), which the differential of the bilinear parametrization f maps to
    f(XA + AY, V) + f(A, V Xᵀ + ZV). A torus fixes the representative, and unit matrices are
    homogeneous for it; so the rank is a sum over weights of the torus (:class:`.WeightSpaces`).
    """
    classes = IndexClasses.of(orbit, shape)
    return _ranks_of_action(classes.kept()).total(classes)


@lru_cache(maxsize=4096)
def _ranks_of_action(kept: IndexClasses) -> RanksByWeight:
    """Return the ranks of the tangent map of the group action, where the classes are ``kept``.

    They are the numbers of symbols that :meth:`IndexClasses.kept` returns.
    """
    spaces = WeightSpaces.of(kept)
    image_of = partial(_image_of_unit_matrix, A=spaces.A, V=spaces.V)
    return spaces.ranks(spaces.unit_matrices(), image_of)


def _image_of_unit_matrix(direction: Direction, *, A: Sparse, V: Sparse) -> FunctionCoordinates:
    """Return the tangent vector at f(A, V) that a matrix E_ij of the Lie algebra gives.

    E_ij has the entry 1 in row i and column j, and zeros elsewhere. The space of the direction is
    "X", "Y" or "Z": the factor gl_d, gl_d or gl_d' of the Lie algebra to which E_ij belongs.
    """
    i, j = direction.place
    if direction.space == "X":
        # X = E_ij moves A to E_ij A, and V to V E_ijᵀ, whose column i is column j of V
        moved_v = {(k, i): v for (k, q), v in V.items() if q == j}
        image = function_coordinates(_unit_matrix_times(A, i, j), V)
        # a Counter adds the values
        image.update(function_coordinates(A, moved_v))
        return image
    if direction.space == "Y":
        return function_coordinates(_times_unit_matrix(A, i, j), V)
    return function_coordinates(A, _unit_matrix_times(V, i, j))


def _unit_matrix_times(matrix: Sparse, i: int, j: int) -> dict[tuple[int, int], int]:
    """Return the product E_ij · matrix: its row i is row j of the matrix, all others are zero."""
    return {(i, column): entry for (row, column), entry in matrix.items() if row == j}


def _times_unit_matrix(matrix: Sparse, i: int, j: int) -> dict[tuple[int, int], int]:
    """Return the product matrix · E_ij: its column j is column i of the matrix, the rest zero."""
    return {(row, j): entry for (row, column), entry in matrix.items() if column == i}


def source_tangent_dimension(orbit: Orbit, shape: LayerSizes) -> int:
    """Return the dimension of the Zariski tangent space of the source at the representative.

    The source is the affine variety {rk A ≤ α} × {V}. For α < d its first factor is smooth exactly
    at rank α, with tangent space {XA + AY}; at lower rank its tangent space is the space of all
    matrices, as it is everywhere for α = d.

    Source: Harris, *Algebraic Geometry: A First Course*, Example 14.16.
    """
    of_V = shape.d * shape.d_out
    if orbit.r < shape.alpha:
        return shape.d**2 + of_V
    return matrices_of_rank(shape.d, shape.alpha) + of_V


def _differential_images(
    A: Sparse, V: Sparse, orbit: Orbit, shape: LayerSizes
) -> Iterator[FunctionCoordinates]:
    """Yield the images of a spanning set of the Zariski tangent space of the source at (A, V).

    The source is {rk A ≤ α} × {V}, and (A, V) any point of the source whose function is in the
    orbit. The differential of f maps the tangent vector (B, W) to f(B, V) + f(A, W).
    """
    all_are_tangent = _all_are_tangent(orbit, shape)
    # first the tangent vectors (B, 0), and then all (0, W)
    for i, j in product(range(shape.d), repeat=2):
        if all_are_tangent:
            yield function_coordinates({(i, j): 1}, V)
        else:
            # the tangent space is spanned by all E_ij A and A E_ij
            yield function_coordinates(_unit_matrix_times(A, i, j), V)
            yield function_coordinates(_times_unit_matrix(A, i, j), V)
    for entry in product(range(shape.d_out), range(shape.d)):
        yield function_coordinates(A, {entry: 1})


def differential_rank(orbit: Orbit, shape: LayerSizes) -> int:
    """Return the rank at the representative of the differential of the parametrization.

    The differential, (B, W) ↦ f(B, V) + f(A, W), is that on the Zariski tangent space of the source
    {rk A ≤ α} × {V}. A torus fixes the representative, so the rank of the differential is a sum
    over weights of the torus (:class:`.WeightSpaces`).
    """
    classes = IndexClasses.of(orbit, shape)
    all_are_tangent = _all_are_tangent(orbit, shape)
    return _ranks_of_differential(classes.kept(), all_are_tangent).total(classes)


@lru_cache(maxsize=4096)
def _ranks_of_differential(kept: IndexClasses, all_are_tangent: bool) -> RanksByWeight:
    """Return the ranks of the differential on the tangent space of the source.

    ``kept`` has the numbers of symbols that :meth:`IndexClasses.kept` returns; ``all_are_tangent``
    says whether all d×d matrices are tangent to {rk A ≤ α} (:func:`_all_are_tangent`).
    """
    spaces = WeightSpaces.of(kept)
    directions = list(spaces.entries_of_v())
    if all_are_tangent:
        directions += spaces.entries_of_a()
    else:
        # the tangent vectors XA and AY; matrices Z move V only
        directions += [matrix for matrix in spaces.unit_matrices() if matrix.space != "Z"]
    return spaces.ranks(directions, partial(_image_of_tangent_vector, A=spaces.A, V=spaces.V))


def _image_of_tangent_vector(direction: Direction, *, A: Sparse, V: Sparse) -> FunctionCoordinates:
    """Return the image of a tangent vector of the source at (A, V), under the differential.

    The direction is a matrix of the space "A" or "V", which is the tangent vector; or a matrix X or
    Y of the Lie algebra, for the tangent vector XA or AY.
    """
    i, j = direction.place
    if direction.space == "V":
        return function_coordinates(A, {(i, j): 1})
    if direction.space == "A":
        return function_coordinates({(i, j): 1}, V)
    if direction.space == "X":
        return function_coordinates(_unit_matrix_times(A, i, j), V)
    return function_coordinates(_times_unit_matrix(A, i, j), V)


def _all_are_tangent(orbit: Orbit, shape: LayerSizes) -> bool:
    """Return whether all d×d matrices are tangent to those of rank ≤ α at the representative.

    They are tangent where rk A < α, because the derivatives of all (α+1)-minors vanish there; and
    everywhere for α = d, where all matrices are allowed.
    """
    return orbit.r < shape.alpha or shape.alpha == shape.d


def _limits_of_tangent_vectors(shape: LayerSizes) -> Iterator[FunctionCoordinates]:
    """Yield tangent vectors of the closure at the representative of (1, 1, 1), found as limits.

    The representative is the limit, as ε → 0, of the function of A = l qᵀ, V = h vᵀ with l = v +
    εw. This function has two preimages, (l qᵀ, h vᵀ) and (v qᵀ, h lᵀ). Tangent vectors there have
    limits that are tangent at the representative:

    * The direction A' = b q'ᵀ gives f(b q'ᵀ, h vᵀ) at one preimage, and f(b q'ᵀ, h lᵀ) at the
      other. Their difference divided by ε is f(b q'ᵀ, h wᵀ), for all b, q' and w. For α ≥ 2 the
      lines A + sA' stay in the source; for α = 1 only q' = q is tangent at both preimages.
    * The direction V' = h' cᵀ gives f(w qᵀ, h' cᵀ) in the same way, for all h', c and w.

    Here v, q and h are the first unit vectors; all unit vectors are taken as b, q', w, h' and c.
    """
    # the positions of the entry 1 of q'
    positions = range(shape.d)
    if shape.alpha == 1:
        positions = range(1)
    for b, w, i in product(range(shape.d), range(shape.d), positions):
        yield function_coordinates({(b, i): 1}, {(0, w): 1})
    for w, c, k in product(range(shape.d), range(shape.d), range(shape.d_out)):
        yield function_coordinates({(w, 0): 1}, {(k, c): 1})


def tangent_lower_bound(orbit: Orbit, shape: LayerSizes) -> int:
    """Return a lower bound for the tangent dimension of the closure at the representative.

    It is the dimension of the span of the images of the differential at all preimages (A, V). For
    the orbit (1, 1, 1), where two preimages come together, limits of such images are added. All of
    these are tangent vectors of the closure. Where the source is smooth, the differential takes its
    tangent vectors to such. Where rk A < α < d, the tangent space of the source is spanned by
    directions that move V, and directions that move A by a B of rank 1; the line A + sB stays in
    the source, so its image is a curve in the closure.
    """
    vectors: list[FunctionCoordinates] = []
    for A, V in fibre_points(orbit, shape):
        vectors += _differential_images(sparse_matrix(A), sparse_matrix(V), orbit, shape)
    if orbit == Orbit(1, 1, 1):
        vectors += _limits_of_tangent_vectors(shape)
    return sparse_rank(vectors)


def tangent_upper_bounds(
    shape: LayerSizes,
    max_degree: int | None = None,
    lower: Mapping[Orbit, int] = MappingProxyType({}),
) -> dict[Orbit, int]:
    """Return upper bounds for the tangent dimension of the closure at each orbit, exact over QQ.

    The bound is the dimension of the kernel of the differentials of all equations of degree ≤
    max_degree, which contains the Zariski tangent space. So where it equals the dimension of the
    closure, the orbit is proved smooth; where it is larger, nothing is proved.

    Parameters
    ----------
    shape : LayerSizes
        With t ≥ 2.
    max_degree : int, optional
        When left out, the largest one ≤ 4 with few enough monomials (:func:`default_degree`).
    lower : mapping from Orbit to int, optional
        Proved lower bounds, which save equations: they change no result.

    Returns
    -------
    dict from Orbit to int
        One affine dimension for each orbit of nonzero functions. Empty for ``max_degree`` 0, or if
        it is left out and even quadrics have too many monomials. Within a limit of
        :mod:`m2bridge.limits` the bounds may be by equations of lower degrees, and at some orbits.

    Raises
    ------
    MethodUnavailableError
        For t = 1, where orbits classify no functions.
    TimeLimitError
        If the limit was reached before the first equations.

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
        # no degree has few enough monomials
        return {}
    points = _coordinates_by_orbit(shape)
    equations = _equations_at_points(shape, degree)
    # at each orbit the gradients of all equations so far, and the bound that they give, which
    # becomes smaller with the degree n
    gradients: dict[Orbit, list[Gradient]] = {orbit: [] for orbit in points}
    bounds: dict[Orbit, int] = {}
    # bounds that were found before the limit are kept
    with suppress(TimeLimitError):
        for n, (orbit, point) in product(range(1, degree + 1), points.items()):
            # The dimension of this kernel is upper semicontinuous, and the same on an orbit. So the
            # bounds at all orbits in the closure hold here too; the orbit itself is one of them.
            hold_here = [bounds[other] for other in bounds if other.in_closure_of(orbit)]
            if lower.get(orbit) in hold_here:
                # the kernel contains the tangent space, so no equation makes it smaller than that
                bounds[orbit] = lower[orbit]
                continue
            gradients[orbit] += equations.gradients(point, n)
            bounds[orbit] = len(point) - sparse_rank(gradients[orbit])
    return bounds


def _equations_at_points(shape: LayerSizes, degree: int) -> EquationsAtPoints:
    """Return the equations of the closure of degree at most ``degree``, to be used at points."""
    source = shape
    if degree <= shape.alpha:
        # Equations of degree ≤ α are those of all matrices
        # (docs/completeness.md#proposition-low-degree).
        source = replace(shape, a=shape.d)
    return EquationsAtPoints.of(multigraded_attention(source), degree)


def _coordinates_by_orbit(shape: LayerSizes) -> dict[Orbit, tuple[int, ...]]:
    """Return the reduced coordinates of the representative of each orbit.

    An orbit comes after those in its closure.
    """
    # orbits in the closure have smaller ranks
    in_order = sorted(orbits(shape), key=_sum_of_ranks)
    return {
        orbit: _representative_coordinates(orbit, shape) for orbit in check_deadline_in(in_order)
    }


def _sum_of_ranks(orbit: Orbit) -> int:
    """Return r + s + dim (L + U), which is smaller for all other orbits in the closure.

    None of the three numbers is larger there, and they determine the orbit.
    """
    return orbit.r + orbit.s + orbit.span


def _representative_coordinates(orbit: Orbit, shape: LayerSizes) -> tuple[int, ...]:
    """Return all reduced coordinates of the orbit's representative, in the parametrization's order.

    Coordinates that are zero are among them.
    """
    values = function_coordinates(*map(sparse_matrix, representative(orbit, shape)))
    return tuple(values[index] for index in indices(shape))


def default_degree(shape: LayerSizes) -> int:
    """Return the degree up to which equations bound tangent spaces within seconds.

    It is the largest N ≤ 4 with at most :data:`MAX_BOUND_MONOMIALS` monomials of degree N; 0 if
    already N = 2 has more.
    """
    coordinates = coordinate_count(shape, shape.default_coordinates)
    degree = default_max_degree(coordinates, MAX_BOUND_MONOMIALS)
    if degree == 1:
        # already N = 2 has more; and for N = 1 there is no equation, as coordinates are independent
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
        Whether the differential of the projective parametrization is not injective, by its rank.
    known : Bounds
        The tangent dimension of the closure: at least the number of explicit independent tangent
        vectors, at most the bound by proved equations.
    witness : Orbit
        The orbit at which these vectors are tangent; its closure contains this one.
    """

    dimension: int
    critical: bool
    known: Bounds
    witness: Orbit


def orbit_tangents(shape: LayerSizes, *, equations: bool = True) -> dict[Orbit, OrbitTangents]:
    """Return the tangent spaces at all orbits, or at some if a limit on time was reached.

    The dense orbit is always among them.

    The tangent dimension is upper semicontinuous: on an orbit it is at least that of any orbit
    whose closure contains it. Hypothesis: t ≥ 2.

    Parameters
    ----------
    shape : LayerSizes
    equations : bool
        Whether upper bounds are computed, by equations.

    Raises
    ------
    TimeLimitError
        If the time does not suffice for the dense orbit.
    """
    dense, *smaller_orbits = dense_first(shape)
    # what the tangent vectors at each orbit prove about this orbit
    own_tangents = {dense: _tangents_by_own_vectors(dense, shape)}
    # time is left for the steps that follow; what was found within the share of a step is kept
    with share(0.6), suppress(TimeLimitError):
        for orbit in check_deadline_in(smaller_orbits):
            own_tangents[orbit] = _tangents_by_own_vectors(orbit, shape)
    upper: dict[Orbit, int] = {}
    if equations:
        with share(0.75), suppress(TimeLimitError):
            # 0, a bound for any dimension, stands for ``None``, which does not occur here
            lower = {orbit: found.known.lower or 0 for orbit, found in own_tangents.items()}
            upper = tangent_upper_bounds(shape, lower=lower)
    tangents = {}
    for orbit, witness in _witnesses(own_tangents).items():
        because = f"tangent vectors and equations at {orbit}"
        # the upper bound is None where equations were not evaluated
        known = Bounds(own_tangents[witness].known.lower, upper.get(orbit), because)
        tangents[orbit] = replace(own_tangents[orbit], known=known, witness=witness)
    return tangents


def _witnesses(own_tangents: Mapping[Orbit, OrbitTangents]) -> dict[Orbit, Orbit]:
    """Return for each orbit the one with the most tangent vectors whose closure contains it.

    Where several have this number of vectors it is the orbit itself if it is one of them, and else
    the last of them in the order of (r, s, m). ``own_tangents`` has the tangent spaces at some
    orbits, with the numbers of tangent vectors at each as lower bounds.
    """
    # the orbit with the most tangent vectors first, and of several with this number the last one
    by_vectors = sorted(
        own_tangents, key=lambda orbit: (own_tangents[orbit].known.value, orbit), reverse=True
    )
    witnesses = {}
    for orbit, own in check_deadline_in(own_tangents.items()):
        # the closure of the orbit itself contains it, so there is such an orbit
        witness = next(other for other in by_vectors if orbit.in_closure_of(other))
        if own_tangents[witness].known.value == own.known.value:
            witness = orbit
        witnesses[orbit] = witness
    return witnesses


def _tangents_by_own_vectors(orbit: Orbit, shape: LayerSizes) -> OrbitTangents:
    """Return what tangent vectors at the orbit itself prove about its tangent space.

    The orbit is critical if the kernel of the differential is larger than the line of the rescaling
    (A, −V), which is zero on the projective source. The lower bound is the rank of the differential
    where there is one preimage. For rk A = rk V = 1 there are two preimages, or limits where the
    two come together; then :func:`tangent_lower_bound` takes all these tangent vectors together.
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
