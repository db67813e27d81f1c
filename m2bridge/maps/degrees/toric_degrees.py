"""Polar degrees of toric varieties by the theorem of Matsui and Takeuchi, from a polytope.

Let A be the exponents of the monomials of a map, and P their convex hull. The closure of the image
in projective space is the toric variety of A, normal or not. Its orbits belong to the faces of P.
With the volume of each face in the lattice of its own points, and the Euler obstruction of the
variety along its orbit, polar degrees are sums over faces. Euler obstructions follow from those of
larger faces and from volumes of what a face cuts off from the semigroup of a larger one; they are 1
along orbits where the variety is smooth.

Coefficients and repeated monomials do not matter, as linear embeddings keep polar degrees. The map
need not be birational.

Source: Matsui, Takeuchi, *A geometric degree formula for A-discriminants and Euler obstructions of
toric varieties*, Adv. Math. 226, 2011, Theorem 4.7 and Corollary 1.4; in the form of Helmer,
Sturmfels, *Nearest points on toric varieties*, Math. Scand. 122, 2018, Theorem 1.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import comb, prod

import flint

from m2bridge.algebra.linear_algebra import IntegerVector
from m2bridge.algebra.polynomial_map import PolynomialMap
from m2bridge.algebra.polytopes import Face, faces, lattice_coordinates, volume_in_space, volumes
from m2bridge.errors import TooLargeError
from m2bridge.limits import check_deadline_in
from m2bridge.maps.degrees.slices import parametrizes_cone
from m2bridge.maps.model import PolarData
from m2bridge.maps.toric import is_monomial, lattice_basis

KNOWN = "by a theorem on toric varieties, from volumes of the faces of the polytope of exponents"
SOURCE = (
    "Matsui, Takeuchi, A geometric degree formula for A-discriminants and Euler obstructions of"
    " toric varieties, Adv. Math. 226, 2011"
)
MAX_PAIRS = 5000
"""The largest number of pairs of a face with a singular orbit and a larger one; a pair takes about
a millisecond.
"""


def toric_exponents(parametrization: PolynomialMap) -> list[IntegerVector]:
    """Return the different exponents of the coordinates of a monomial map; else an empty list."""
    if not is_monomial(parametrization):
        return []
    found = {monomial for image in parametrization.images for monomial in image}
    return sorted(found)


def toric_polar_data(parametrization: PolynomialMap) -> PolarData | None:
    """Return the polar degrees of the closure of the image of a monomial map.

    ``None`` if a coordinate is not a monomial, all are zero, or the polytope has too many faces or
    the variety too many singular orbits.
    """
    points = toric_exponents(parametrization)
    if not points:
        return None
    cone = parametrizes_cone(parametrization)
    if not cone:
        # the further coordinate of projective space is the monomial 1
        points = sorted({*points, (0,) * len(points[0])})
    try:
        degrees = toric_polar_degrees(points)
    # points in slices do not depend on the number of faces
    except TooLargeError:
        return None
    return PolarData(degrees=degrees, known=KNOWN, rests_on=(SOURCE,), closure=not cone)


def toric_polar_degrees(points: Sequence[IntegerVector]) -> tuple[int, ...]:
    """Return δ_n, …, δ_0 of the projective toric variety of different points.

    Raises
    ------
    TooLargeError
        If the polytope has too many faces.

    Examples
    --------
    >>> toric_polar_degrees([(0,), (1,), (2,), (3,)])
    (3, 4)
    >>> toric_polar_degrees([(0,), (2,), (3,)])
    (3, 3)
    """
    # the torus that acts is that of the lattice of the points, whatever lattice they are in
    vectors = lattice_coordinates([(1, *point) for point in points])
    last = len(vectors[0]) - 1
    if len(vectors) == last + 1:
        # a linear space
        return (1, *(0,) * last)
    dimensions = faces(vectors)
    obstructions = euler_obstructions(vectors, dimensions)
    # the Chern-Mather volumes
    chern_mather = [0] * (last + 1)
    for face, own in volumes(vectors, dimensions).items():
        chern_mather[dimensions[face]] += own * obstructions[face]
    signed = [(j, (-1) ** (last - j), volume) for j, volume in enumerate(chern_mather)]
    degrees = []
    for i in range(last, -1, -1):
        terms = (sign * comb(j + 1, i + 1) * volume for j, sign, volume in signed if j >= i)
        degrees.append(sum(terms))
    return tuple(degrees)


def euler_obstructions(
    vectors: Sequence[IntegerVector], dimensions: dict[Face, int]
) -> dict[Face, int]:
    """Return the Euler obstruction of the toric variety along the orbit of each face.

    Raises
    ------
    TooLargeError
        If too many orbits are singular.
    """
    singular = set(dimensions) - smooth_faces(vectors, dimensions)
    larger: dict[Face, list[Face]] = {}
    pairs = 0
    # counted before anything is computed
    for face in check_deadline_in(singular):
        larger[face] = [other for other in dimensions if face < other]
        pairs += len(larger[face])
        if pairs > MAX_PAIRS:
            raise TooLargeError(f"a toric variety with more than {MAX_PAIRS} pairs of orbits")
    obstructions = dict.fromkeys(dimensions, 1)
    # from facets, where the variety may not be normal, down to the vertices
    for face in sorted(singular, key=lambda one: -dimensions[one]):
        total = 0
        for other in check_deadline_in(larger[face]):
            sign = (-1) ** (dimensions[other] - dimensions[face] - 1)
            total += sign * _multiplicity(vectors, face, other) * obstructions[other]
        obstructions[face] = total
    return obstructions


def smooth_faces(vectors: Sequence[IntegerVector], dimensions: dict[Face, int]) -> set[Face]:
    """Return the faces along whose orbits the toric variety is smooth.

    There the quotient semigroup is that of all vectors of c natural numbers, where c is the
    codimension: c facets contain the face, each unit vector is the vector of the heights of a point
    over them, and the lattice of the face is all of the lattice in its span.
    """
    last = max(dimensions.values())
    heights: dict[Face, IntegerVector] = {}
    for facet in check_deadline_in(face for face in dimensions if dimensions[face] == last - 1):
        points = [vectors[i] for i in sorted(facet)]
        (form,) = lattice_basis(list(zip(*points, strict=True)))
        # the form is primitive, and has one sign on all points
        products = (sum(a * b for a, b in zip(form, v, strict=True)) for v in vectors)
        heights[facet] = tuple(map(abs, products))
    smooth = set()
    for face in check_deadline_in(dimensions):
        over = [values for facet, values in heights.items() if face <= facet]
        if len(over) != last - dimensions[face]:
            continue
        # the sum of the entries is 1 for unit vectors alone
        found = {seen for seen in zip(*over, strict=True) if sum(seen) == 1}
        inside = [vectors[i] for i in sorted(face)]
        if len(found) == len(over) and prod(filter(None, _invariants(inside))) == 1:
            smooth.add(face)
    return smooth


def _multiplicity(vectors: Sequence[IntegerVector], face: Face, larger: Face) -> int:
    """The multiplicity of the toric variety of the larger face along the orbit of the smaller face.

    It is the index of the lattice of the face in the lattice of the larger one within its span,
    times the volume that the nonzero elements of the quotient semigroup cut off at 0. Source:
    Gelfand, Kapranov, Zelevinsky, *Discriminants, Resultants, and Multidimensional Determinants*,
    Chapter 5, Theorem 3.16.
    """
    numbers = sorted(larger)
    own = dict(zip(numbers, lattice_coordinates([vectors[i] for i in numbers]), strict=True))
    inside = [own[i] for i in sorted(face)]
    # integer linear forms that are zero on the face are coordinates of the quotient
    forms = lattice_basis(list(zip(*inside, strict=True)))
    # the face may generate a smaller lattice than its span has, where the variety is not normal
    index = prod(filter(None, _invariants(inside)))
    quotient = {
        tuple(sum(a * b for a, b in zip(form, own[i], strict=True)) for form in forms)
        for i in larger - face
    }
    return index * _cut_off(tuple(sorted(quotient)))


@lru_cache(maxsize=1000)
def _cut_off(points: tuple[IntegerVector, ...]) -> int:
    """The volume between 0 and the convex hull of the nonzero elements of a semigroup.

    The semigroup is pointed, as a quotient by a face is: 0 is a vertex of the hull of 0 and the
    generators. Facets of the hull of the nonzero elements that can be seen from 0 are those of the
    hull of the generators. Many faces of a polytope have the same quotients, so that results are
    kept.
    """
    zero = (0,) * len(points[0])
    return volume_in_space([zero, *points]) - volume_in_space(points)


def _invariants(vectors: Sequence[IntegerVector]) -> list[int]:
    """The elementary divisors of the matrix with these rows."""
    smith = flint.fmpz_mat(list(map(list, vectors))).snf()
    return [abs(int(smith[i, i])) for i in range(min(smith.nrows(), smith.ncols()))]
