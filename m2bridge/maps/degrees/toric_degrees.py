"""Polar degrees of toric varieties by the theorem of Matsui and Takeuchi, from a polytope.

Let A be the exponents of the monomials of a map, and P their convex hull. The closure of the image
in projective space is the toric variety of A, normal or not. Its orbits belong to the faces of P.
With the volume of each face, normalized in the lattice that its own points generate (a simplex on a
basis has volume 1), and the Euler obstruction of the variety along its orbit, polar degrees are
sums over faces. Euler obstructions follow from those of larger faces and from volumes of what a
face cuts off from the semigroup of a larger one; they are 1 along orbits where the variety is
smooth.

A face is the set of the numbers of the points on it; P itself is a face, and ``dimensions`` has the
dimension of each. A point p is given by the vector (1, p), in a basis of the lattice that these
``vectors`` generate: linear forms on them are affine ones on points. Too many faces, or singular
orbits, are a TooLargeError.

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
"""The largest number of pairs of a face with a singular orbit and a larger face; a pair takes about
a millisecond.
"""


def toric_polar_data(parametrization: PolynomialMap) -> PolarData | None:
    """Return the polar degrees of the closure of the image of a monomial map with free parameters.

    ``None`` for another map, if all images are zero, or where the case is too large.
    """
    if not is_monomial(parametrization):
        return None
    exponents = {monomial for image in parametrization.images for monomial in image}
    if not exponents:
        return None
    cone = parametrizes_cone(parametrization)
    if not cone:
        # the projective closure has one coordinate more, the monomial 1
        exponents.add((0,) * len(parametrization.source.variables))
    try:
        degrees = toric_polar_degrees(sorted(exponents))
    except TooLargeError:  # other methods do not depend on the number of faces
        return None
    return PolarData(degrees=degrees, known=KNOWN, rests_on=(SOURCE,), closure=not cone)


def toric_polar_degrees(points: Sequence[IntegerVector]) -> tuple[int, ...]:
    """Return the polar degrees δ_n, …, δ_0 of the projective toric variety of different points: the
    closure of the points with the homogeneous coordinates t^a, where a runs through ``points``.

    Examples
    --------
    >>> toric_polar_degrees([(0,), (1,), (2,), (3,)])
    (3, 4)
    >>> toric_polar_degrees([(0,), (2,), (3,)])
    (3, 3)
    """
    # The vectors (1, a), in a basis of the lattice that they generate, which has n + 1 elements.
    # The torus of this lattice acts on the variety; a larger lattice would give the same orbits.
    vectors = lattice_coordinates([(1, *point) for point in points])
    n = len(vectors[0]) - 1
    if len(vectors) == n + 1:
        # independent points: the variety is a linear space
        return (1, *(0,) * n)
    dimensions = faces(vectors)
    obstructions = euler_obstructions(vectors, dimensions)
    # The Chern–Mather volume V_j is the sum of Vol(F) · Eu(F) over the faces F of dimension j.
    chern_mather = [0] * (n + 1)
    for face, volume in volumes(vectors, dimensions).items():
        chern_mather[dimensions[face]] += volume * obstructions[face]
    # δ_i = Σ_{j ≥ i} (−1)^(n−j) C(j+1, i+1) V_j (Matsui, Takeuchi, Theorem 4.7)
    degrees = []
    for i in range(n, -1, -1):
        terms = ((-1) ** (n - j) * comb(j + 1, i + 1) * chern_mather[j] for j in range(i, n + 1))
        degrees.append(sum(terms))
    return tuple(degrees)


def euler_obstructions(
    vectors: Sequence[IntegerVector], dimensions: dict[Face, int]
) -> dict[Face, int]:
    """Return the Euler obstruction of the toric variety along the orbit of each face.

    It is 1 along smooth orbits, and Eu(F) = Σ (−1)^(dim G − dim F − 1) m(F, G) Eu(G) along the
    orbit of any other face F; the sum is over the larger faces G, and m(F, G) is the multiplicity
    of the toric variety of G along the orbit of F.
    """
    singular = set(dimensions) - smooth_faces(vectors, dimensions)
    larger_than: dict[Face, list[Face]] = {}
    pairs = 0
    for face in check_deadline_in(singular):
        larger_than[face] = [other for other in dimensions if face < other]  # as sets
        pairs += len(larger_than[face])
        if pairs > MAX_PAIRS:
            raise TooLargeError(f"a toric variety with more than {MAX_PAIRS} pairs of orbits")
    obstructions = dict.fromkeys(dimensions, 1)  # right for smooth orbits
    # larger faces first, whose obstructions are used: from facets, along which the variety can be
    # singular if it is not normal, down to the vertices
    for face in sorted(singular, key=lambda face: -dimensions[face]):
        total = 0
        for larger in check_deadline_in(larger_than[face]):
            sign = (-1) ** (dimensions[larger] - dimensions[face] - 1)
            total += sign * _multiplicity(vectors, face, larger) * obstructions[larger]
        obstructions[face] = total
    return obstructions


def smooth_faces(vectors: Sequence[IntegerVector], dimensions: dict[Face, int]) -> set[Face]:
    """Return the faces along whose orbits the toric variety is smooth.

    Let c be the codimension of a face. The variety is smooth along the orbit of the face iff the
    semigroup of the vectors modulo the face is ℕ^c, and the points on the face generate the lattice
    in their span. The semigroup is ℕ^c iff c facets contain the face, and each unit vector of ℤ^c
    is the vector of the lattice heights of some point over these facets.
    """
    n = max(dimensions.values())
    heights = {}  # of each point over each facet: 0 on the facet, and positive elsewhere
    for facet in check_deadline_in(face for face in dimensions if dimensions[face] == n - 1):
        # The one primitive integer linear form, up to sign, that is zero on the facet. It has one
        # sign on all points, so that its absolute value is the height.
        (form,) = _forms_zero_on([vectors[i] for i in sorted(facet)])
        heights[facet] = tuple(abs(_value_at(form, vector)) for vector in vectors)
    smooth = set()
    for face in check_deadline_in(dimensions):
        # the heights of all points, over each facet that contains the face
        heights_over_facets = [heights[facet] for facet in heights if face <= facet]
        codimension = n - dimensions[face]
        if len(heights_over_facets) != codimension:
            continue
        # heights are not negative, so that a vector of them with the sum 1 is a unit vector
        height_vectors = zip(*heights_over_facets, strict=True)
        unit_vectors = {vector for vector in height_vectors if sum(vector) == 1}
        on_face = [vectors[i] for i in sorted(face)]
        if len(unit_vectors) == codimension and _index_in_span(on_face) == 1:
            smooth.add(face)
    return smooth


def _multiplicity(vectors: Sequence[IntegerVector], face: Face, larger: Face) -> int:
    """Return the multiplicity m(F, G) of the toric variety of the larger face, G, along the orbit
    of F.

    It is an index of lattices times a volume. The lattice that the points of F generate has this
    index in the part of the lattice of G that lies in the span of F; the volume is what the nonzero
    elements of the semigroup of G modulo F cut off at 0 (:func:`_cut_off_volume`). Source: Gelfand,
    Kapranov, Zelevinsky, *Discriminants, Resultants, and Multidimensional Determinants*, Chapter 5,
    Theorem 3.16.
    """
    # the vectors of the points on G, in a basis of the lattice that they generate
    numbers = sorted(larger)
    in_lattice = lattice_coordinates([vectors[i] for i in numbers])
    vector_of = dict(zip(numbers, in_lattice, strict=True))
    on_face = [vector_of[i] for i in sorted(face)]
    # the values of these forms are coordinates of the quotient by the face
    forms = _forms_zero_on(on_face)
    quotient = set()
    for i in larger - face:
        quotient.add(tuple(_value_at(form, vector_of[i]) for form in forms))
    # the index is not 1 where the variety is not normal
    return _index_in_span(on_face) * _cut_off_volume(tuple(sorted(quotient)))


def _forms_zero_on(vectors: Sequence[IntegerVector]) -> list[IntegerVector]:
    """Return a basis of the integer linear forms, by their coefficients, that are zero on
    vectors.
    """
    # a form u is zero on all of them if Σ u_j a_j = 0, where a_j has the entries j of the vectors
    columns = list(zip(*vectors, strict=True))
    return lattice_basis(columns)


def _value_at(form: IntegerVector, vector: IntegerVector) -> int:
    """Return the value of a linear form, given by its coefficients, at a vector."""
    return sum(a * b for a, b in zip(form, vector, strict=True))


@lru_cache(maxsize=1000)
def _cut_off_volume(points: tuple[IntegerVector, ...]) -> int:
    """Return the volume between 0 and the convex hull of the nonzero elements of the semigroup that
    the points generate; a simplex on a basis of the integer points has volume 1.

    The points are not 0 and generate ℤⁿ as a group, in which volumes are normalized. The semigroup
    is pointed, as a quotient by a face is: 0 is a vertex of the hull of 0 and the generators. What
    lies between 0 and the other elements is the hull of 0 and the generators without the hull of
    the generators, since only facets of the latter can be seen from 0. Many faces of a polytope
    have the same quotients, so that results are cached.
    """
    zero = (0,) * len(points[0])
    return volume_in_space([zero, *points]) - volume_in_space(points)


def _index_in_span(vectors: Sequence[IntegerVector]) -> int:
    """Return the index of the lattice that the vectors generate in the lattice of all integer
    vectors in their span over QQ: the product of the nonzero elementary divisors of the matrix.
    """
    smith = flint.fmpz_mat(list(map(list, vectors))).snf()
    divisors = [abs(int(smith[i, i])) for i in range(min(smith.nrows(), smith.ncols()))]
    return prod(filter(None, divisors))
