"""Tangent spaces at a representative of an orbit: from within by vectors, from outside by
equations.

The tangent dimension at an orbit is the dimension of the Zariski tangent space of the closure at
the representative. Two tangent maps are needed there, with ranks that are sums over weights of a
torus (weight_spaces.py):

* the action of the group: an element (X, Y, Z) of the Lie algebra gl_d × gl_d × gl_d' gives
  f(XA + AY, V) + f(A, V Xᵀ + ZV), and the rank is the dimension of the orbit;
* the differential of f on the Zariski tangent space of the source {rk A ≤ α} × {V}: (B, W) has the
  image f(B, V) + f(A, W). All B are tangent where rk A < α, as the derivatives of all (α+1)-minors
  vanish there, and for α = d; else the B are XA + AY (Harris, *Algebraic Geometry*, Example 14.16).

Images of the differential at all preimages, and limits of these, are tangent vectors of the
closure: a bound from below. Equations bound the tangent dimension from above. Where both meet, it
is proved; where the bound by equations is the dimension, the orbit is smooth. The tangent dimension
is upper semicontinuous: on an orbit it is at least as large as on any orbit whose closure contains
it. Weights and functions are sparse, mappings from index to integer; all is exact over QQ, for
t ≥ 2. (Notation: the docstring of families/attention.)
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
from m2bridge.families.attention.orbits.coordinates import (
    FunctionCoordinates,
    Sparse,
    function_coordinates,
    indices,
    sparse_matrix,
)
from m2bridge.families.attention.orbits.fibres import fibre_points
from m2bridge.families.attention.orbits.orbits import Orbit, dense_first, orbits, representative
from m2bridge.families.attention.orbits.parametrization import multigraded_attention
from m2bridge.families.attention.orbits.weight_spaces import (
    Direction,
    IndexClasses,
    IndexPair,
    RanksByWeight,
    WeightSpaces,
)
from m2bridge.families.attention.sizes import LayerSizes, coordinate_count
from m2bridge.implicitization.differentials import EquationsAtPoints, Gradient
from m2bridge.limits import check_deadline_in, share
from m2bridge.maps.equations import default_max_degree
from m2bridge.results.known import Bounds


def orbit_dimension(orbit: Orbit, shape: LayerSizes) -> int:
    """Return the affine dimension of the orbit: the rank of the tangent map of the group action."""
    classes = IndexClasses.of(orbit, shape)
    return _ranks_of_action(classes.kept()).total(classes)


@lru_cache(maxsize=4096)
def _ranks_of_action(classes: IndexClasses) -> RanksByWeight:
    """Return the ranks of the tangent map of the group action, for numbers of kept symbols."""
    spaces = WeightSpaces.of(classes)
    image_of = partial(_image_of_unit_matrix, A=spaces.A, V=spaces.V)
    return spaces.ranks(spaces.unit_matrices(), image_of)


def _image_of_unit_matrix(direction: Direction, *, A: Sparse, V: Sparse) -> FunctionCoordinates:
    """Return the tangent vector at f(A, V) that a unit matrix of the Lie algebra gives."""
    i, j = direction.place
    if direction.space == "Z":
        return function_coordinates(A, _unit_matrix_times(V, i, j))
    image = _image_of_tangent_vector(direction.space, direction.place, A, V)
    if direction.space == "X":
        # X moves V, too, to V Xᵀ; a Counter adds the values
        image.update(function_coordinates(A, _times_unit_matrix(V, j, i)))
    return image


def _unit_matrix_times(matrix: Sparse, i: int, j: int) -> dict[tuple[int, int], int]:
    """Return the product E_ij · matrix, whose row i is row j of the matrix."""
    return {(i, column): entry for (row, column), entry in matrix.items() if row == j}


def _times_unit_matrix(matrix: Sparse, i: int, j: int) -> dict[tuple[int, int], int]:
    """Return the product matrix · E_ij, whose column j is column i of the matrix."""
    return {(row, j): entry for (row, column), entry in matrix.items() if column == i}


def source_is_smooth(orbit: Orbit, shape: LayerSizes) -> bool:
    """Return whether the variety of matrices of rank ≤ α is smooth at the A of the orbit."""
    return shape.alpha in (shape.d, orbit.r)


def source_tangent_dimension(orbit: Orbit, shape: LayerSizes) -> int:
    """Return the dimension of the Zariski tangent space of the source at the representative."""
    of_V = shape.d * shape.d_out
    if orbit.r < shape.alpha:
        return shape.d**2 + of_V
    return matrices_of_rank(shape.d, shape.alpha) + of_V


def differential_rank(orbit: Orbit, shape: LayerSizes) -> int:
    """Return the rank at the representative of the differential of the parametrization."""
    classes = IndexClasses.of(orbit, shape)
    all_are_tangent = _all_are_tangent(orbit, shape)
    return _ranks_of_differential(classes.kept(), all_are_tangent).total(classes)


@lru_cache(maxsize=4096)
def _ranks_of_differential(classes: IndexClasses, all_are_tangent: bool) -> RanksByWeight:
    """Return the ranks of the differential on the tangent space, for numbers of kept symbols."""
    spaces = WeightSpaces.of(classes)
    directions = list(spaces.entries_of_v())
    if all_are_tangent:
        directions += spaces.entries_of_a()
    else:
        # the tangent vectors XA and AY; matrices Z move V only
        directions += [matrix for matrix in spaces.unit_matrices() if matrix.space != "Z"]
    return spaces.ranks(
        directions,
        lambda direction: _image_of_tangent_vector(
            direction.space, direction.place, spaces.A, spaces.V
        ),
    )


def _image_of_tangent_vector(
    space: str, place: IndexPair, A: Sparse, V: Sparse
) -> FunctionCoordinates:
    """Return the image under the differential at (A, V) of a unit matrix in a space.

    The matrix is itself the tangent vector in "A" or "V"; in "X" or "Y" it is XA or AY.
    """
    i, j = place
    if space == "V":
        return function_coordinates(A, {(i, j): 1})
    if space == "A":
        return function_coordinates({(i, j): 1}, V)
    if space == "X":
        return function_coordinates(_unit_matrix_times(A, i, j), V)
    return function_coordinates(_times_unit_matrix(A, i, j), V)


def _all_are_tangent(orbit: Orbit, shape: LayerSizes) -> bool:
    """Return whether all d×d matrices are tangent to {rk A ≤ α} at the representative."""
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

    It is the dimension of the span of the images of the differential at all preimages (A, V); for
    the orbit (1, 1, 1), where two preimages come together, with limits of such images. All these
    are tangent vectors of the closure, also where the source is not smooth, rk A < α < d: there a
    B of rank 1 is a direction of a line A + sB in the source.
    """
    vectors: list[FunctionCoordinates] = []
    # (space, place) of unit matrices that span the tangent space of the source
    spaces_moving_A = ["A"] if _all_are_tangent(orbit, shape) else ["X", "Y"]
    directions = [*product(spaces_moving_A, product(range(shape.d), range(shape.d)))]
    directions += product(["V"], product(range(shape.d_out), range(shape.d)))
    for A, V in fibre_points(orbit, shape):
        sparse_A, sparse_V = sparse_matrix(A), sparse_matrix(V)
        for space, place in directions:
            vectors.append(_image_of_tangent_vector(space, place, sparse_A, sparse_V))
    if orbit == Orbit(1, 1, 1):
        vectors += _limits_of_tangent_vectors(shape)
    return sparse_rank(vectors)


def tangent_upper_bounds(
    shape: LayerSizes,
    max_degree: int | None = None,
    lower: Mapping[Orbit, int] = MappingProxyType({}),
) -> dict[Orbit, int]:
    """Return upper bounds for the tangent dimensions, by equations of degree ≤ max_degree.

    The bound is the dimension of the kernel of their differentials, which contains the Zariski
    tangent space (Eisenbud, *Commutative Algebra*, Theorem 16.19). ``lower`` has proved lower
    bounds, which save equations and change no result. Without ``max_degree`` it is
    :func:`default_degree`; where this is 0 there are no bounds. After a limit on time, bounds are
    by equations of lower degrees or at some orbits only; before the first equations it is raised.
    """
    if shape.t == 1:
        raise MethodUnavailableError("orbits classify functions of attention with t ≥ 2 only")
    degree = max_degree
    if degree is None:
        degree = default_degree(shape)
    if degree < 1:
        # no degree has few enough monomials
        return {}
    # all coordinates of each representative, zeros among them; orbits in the closure of another
    # one come first, as r + s + dim (L + U) is smaller there
    points: dict[Orbit, tuple[int, ...]] = {}
    by_size = sorted(orbits(shape), key=lambda orbit: orbit.r + orbit.s + orbit.span)
    for orbit in check_deadline_in(by_size):
        values = function_coordinates(*map(sparse_matrix, representative(orbit, shape)))
        points[orbit] = tuple(values[index] for index in indices(shape))
    source = shape
    if degree <= shape.alpha:
        # equations of degree ≤ α hold for all matrices A
        # (docs/completeness.md#proposition-low-degree)
        source = replace(shape, a=shape.d)
    equations = EquationsAtPoints.of(multigraded_attention(source), degree)
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


def default_degree(shape: LayerSizes) -> int:
    """Return the largest degree N ≤ 4 with so few monomials that equations take seconds; else 0."""
    coordinates = coordinate_count(shape, shape.default_coordinates)
    degree = default_max_degree(coordinates, monomials=125_000)
    if degree == 1:
        # already N = 2 has too many; and for N = 1 there is no equation, as coordinates are
        # independent
        return 0
    return degree


@dataclass(frozen=True, slots=True, kw_only=True)
class OrbitTangents:
    """The tangent spaces at one orbit."""

    dimension: int  # of the orbit
    critical: bool  # whether the differential of the projective parametrization is not injective
    known: Bounds  # the tangent dimension, by tangent vectors and proved equations
    witness: Orbit  # the orbit at which these vectors are tangent; its closure contains this one


def orbit_tangents(shape: LayerSizes, *, equations: bool = True) -> dict[Orbit, OrbitTangents]:
    """Return the tangent spaces at all orbits; upper bounds only with ``equations``.

    After a limit on time they are at some orbits, the dense one among them; if the time did not
    even suffice for this one, the limit is raised.
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
            lower = {
                orbit: tangents_there.known.lower or 0
                for orbit, tangents_there in own_tangents.items()
            }
            upper = tangent_upper_bounds(shape, lower=lower)
    tangents = {}
    for orbit, witness in _witnesses(own_tangents).items():
        because = f"tangent vectors and equations at {orbit}"
        # the upper bound is None where equations were not evaluated
        bounds = Bounds(own_tangents[witness].known.lower, upper.get(orbit), because)
        tangents[orbit] = replace(own_tangents[orbit], known=bounds, witness=witness)
    return tangents


def _witnesses(own_tangents: Mapping[Orbit, OrbitTangents]) -> dict[Orbit, Orbit]:
    """Return for each orbit the one with the most tangent vectors whose closure contains it.

    Of several it is the orbit itself if it is one of them, and else the largest (r, s, m).
    """
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
    """Return what tangent vectors at the orbit itself prove about its tangent space."""
    rank = differential_rank(orbit, shape)
    bound = rank
    if orbit.r == orbit.s == 1:
        # only here there are two preimages, or limits where the two come together
        bound = tangent_lower_bound(orbit, shape)
    return OrbitTangents(
        dimension=orbit_dimension(orbit, shape),
        # the line of the rescaling (A, −V) is in the kernel, and zero on the projective source
        critical=rank < source_tangent_dimension(orbit, shape) - 1,
        known=Bounds.at_least(bound),
        witness=orbit,
    )
