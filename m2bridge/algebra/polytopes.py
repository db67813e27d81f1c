"""Faces and lattice volumes of convex hulls of integer points, exactly.

A polytope is given by vectors (1, p), one for each point p, which span the whole space: its faces
are faces of the cone that the vectors span. A face is the set of the numbers of the points on it,
and ``dimensions`` has the dimension of each that is not empty. A facet is also a ray of the dual
cone, here a pair (form, zeros): a linear form that is not negative on any of the vectors, and the
numbers of the vectors where it is zero, which are the facet. Too many facets or faces are a
TooLargeError.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import gcd
from typing import Any

import flint

from m2bridge.algebra.linear_algebra import IntegerVector, pivot_columns
from m2bridge.algebra.numbers import without_denominators
from m2bridge.errors import TooLargeError
from m2bridge.limits import check_deadline_in

MAX_FACETS = 1000
"""The largest number of facets of a polytope, or of an intermediate polytope."""
MAX_FACES = 5000
"""The largest number of faces of a polytope, whose volumes take seconds."""

Face = frozenset[int]
_Ray = tuple[IntegerVector, Face]
"""A linear form that is not negative on the cone, and the vectors where it is zero."""


def lattice_coordinates(vectors: Sequence[IntegerVector]) -> list[IntegerVector]:
    """Return the vectors in a basis of the lattice that they generate.

    Examples
    --------
    >>> lattice_coordinates([(1, 0), (1, 2)])
    [(1, 0), (1, 1)]
    """
    generators = [list(vector) for vector in vectors]
    echelon = flint.fmpz_mat(generators).hnf().tolist()  # the Hermite normal form
    basis = [list(map(int, row)) for row in echelon if any(row)]
    pivots = [next(place for place, entry in enumerate(row) if entry) for row in basis]
    coordinates = []
    for vector in vectors:
        remainder = list(vector)
        multiples = []
        # Later rows of the basis are zero at a pivot, as it is an echelon form: what is left of the
        # vector there is a multiple of the row of the pivot.
        for row, pivot in zip(basis, pivots, strict=True):
            multiple = remainder[pivot] // row[pivot]
            multiples.append(multiple)
            remainder = [a - multiple * b for a, b in zip(remainder, row, strict=True)]
        coordinates.append(tuple(multiples))
    return coordinates


def facets(vectors: Sequence[IntegerVector]) -> list[Face]:
    """Return the facets of the cone that the vectors span, by the double description method; all
    vectors are on one side of a hyperplane through 0 that contains none of them.

    Source: Fukuda, Prodon, *Double description method revisited*, 1996, Lemma 8.

    Examples
    --------
    >>> square = [(1, 0, 0), (1, 1, 0), (1, 0, 1), (1, 1, 1)]
    >>> sorted(map(sorted, facets(square)))
    [[0, 1], [0, 2], [1, 3], [2, 3]]
    """
    size = len(vectors[0])
    # The cone of a basis has one facet opposite to each vector: the form that is zero on the facet
    # is a column of the inverse matrix. All other vectors are then added, one by one.
    basis, _ = pivot_columns(list(zip(*vectors, strict=True)))  # numbers of vectors, the columns
    inverse = flint.fmpz_mat([list(vectors[i]) for i in basis]).inv()
    rays: list[_Ray] = []
    for j in range(size):
        column = [inverse[i, j] for i in range(size)]
        rays.append((_primitive_vector(column), frozenset(basis) - {basis[j]}))
    for number in check_deadline_in(sorted(set(range(len(vectors))) - set(basis))):
        rays = _add_vector(rays, number, vectors[number])
        if len(rays) > MAX_FACETS:
            raise TooLargeError(f"a polytope with more than {MAX_FACETS} facets")
    return [zeros for _, zeros in rays]


def _add_vector(rays: Sequence[_Ray], number: int, vector: IntegerVector) -> list[_Ray]:
    """The rays of the dual cone, which are the facets of the cone, after one more vector, with its
    number.

    The dual cone consists of the linear forms that are not negative on the cone. The forms that are
    zero on the new vector are a hyperplane; forms below it, negative on the vector, are cut off.
    New rays are where the hyperplane meets faces of dimension 2 of the dual cone, each spanned by a
    ray above and a ray below the hyperplane.
    """
    # the value of the form of each ray on the new vector
    values = [sum(a * b for a, b in zip(form, vector, strict=True)) for form, _ in rays]
    new_rays: list[_Ray] = []  # of the former rays, those that are not below
    for (form, zeros), value in zip(rays, values, strict=True):
        if value > 0:
            new_rays.append((form, zeros))
        elif value == 0:
            new_rays.append((form, zeros | {number}))
    rays_above = [i for i, value in enumerate(values) if value > 0]
    rays_below = [i for i, value in enumerate(values) if value < 0]
    # The forms of a face of dimension 2 are zero on vectors of rank n − 2, in dimension n: on at
    # least n − 2 vectors.
    least = len(vector) - 2
    for i, j in check_deadline_in(product(rays_above, rays_below)):
        form_above, zeros_above = rays[i]
        form_below, zeros_below = rays[j]
        common_zeros = zeros_above & zeros_below
        if len(common_zeros) < least:
            continue
        # The least face that contains both rays consists of the forms that are zero where both are.
        # It has dimension 2 exactly if it contains no third ray.
        zeros_of_others = (zeros for k, (_, zeros) in enumerate(rays) if k not in (i, j))
        if not any(common_zeros <= zeros for zeros in zeros_of_others):
            # The combination of both forms, with positive coefficients, that is zero on the vector.
            pairs = zip(form_above, form_below, strict=True)
            new_form = [values[i] * second - values[j] * first for first, second in pairs]
            new_rays.append((_primitive_vector(new_form), common_zeros | {number}))
    return new_rays


def _primitive_vector(form: Sequence[Any]) -> IntegerVector:
    """The shortest integer vector in the direction of a rational one that is not zero."""
    entries = tuple(without_denominators(form))
    content = gcd(*entries)
    return tuple(entry // content for entry in entries)


def faces(vectors: Sequence[IntegerVector]) -> dict[Face, int]:
    """Return the dimension of each face of a polytope that is not empty, itself included."""
    all_facets = facets(vectors)
    polytope = frozenset(range(len(vectors)))
    all_faces = {polytope}
    waiting = [polytope]
    # Each face is an intersection of facets.
    while waiting:
        face = waiting.pop()
        for facet in check_deadline_in(all_facets):
            smaller = face & facet
            if smaller and smaller not in all_faces:
                all_faces.add(smaller)
                waiting.append(smaller)
        if len(all_faces) > MAX_FACES:
            raise TooLargeError(f"a polytope with more than {MAX_FACES} faces")
    dimensions = {}
    for face in check_deadline_in(all_faces):
        # its vectors (1, p) span the cone over it
        rows = [list(vectors[i]) for i in sorted(face)]
        dimensions[face] = int(flint.fmpz_mat(rows).rank()) - 1
    return dimensions


def volumes(vectors: Sequence[IntegerVector], dimensions: dict[Face, int]) -> dict[Face, int]:
    """Return the volume of each face in the lattice that its own vectors (1, p) generate.

    The volume is normalized: a simplex whose vectors are a basis of the lattice has volume 1. A
    face is cut into pyramids: their apex is one of its points, and their bases are its facets that
    do not contain the apex. In the lattice that base and apex generate, a pyramid has the volume of
    its base. In the lattice of the face, this is multiplied by the index of the smaller lattice.
    """
    volume_of_face: dict[Face, int] = {}
    polytope_dimension = max(dimensions.values())
    polytope_facets = [face for face, dim in dimensions.items() if dim == polytope_dimension - 1]
    # Faces of small dimension come first, since their volumes are volumes of the bases of pyramids.
    for face in check_deadline_in(sorted(dimensions, key=dimensions.__getitem__)):
        if dimensions[face] == 0:
            volume_of_face[face] = 1
            continue
        apex = min(face)
        # Each facet of a face is its intersection with a facet of the polytope; other such
        # intersections are smaller faces, or empty.
        intersections = {face & facet for facet in polytope_facets if apex not in facet}
        face_covolume = _covolume(vectors, face)
        total = 0
        for base in check_deadline_in(intersections):
            # The empty intersection has no dimension here.
            if dimensions.get(base) == dimensions[face] - 1:
                index = _covolume(vectors, base | {apex}) // face_covolume
                total += index * volume_of_face[base]
        volume_of_face[face] = total
    return volume_of_face


def _covolume(vectors: Sequence[IntegerVector], numbers: Face) -> int:
    """The product of the pivots of an echelon form of the lattice that the vectors with these
    numbers generate.

    The index of a lattice in a larger one with the same span is the quotient of the two products,
    since both echelon forms have their pivots, which are positive, at the same places.
    """
    generators = [list(vectors[i]) for i in sorted(numbers)]
    echelon = flint.fmpz_mat(generators).hnf().tolist()  # the Hermite normal form
    covolume = 1
    for row in echelon:
        nonzero_entries = [int(entry) for entry in row if entry]
        if nonzero_entries:
            covolume *= nonzero_entries[0]  # the pivot of the row
    return covolume


def volume_in_space(points: Sequence[IntegerVector]) -> int:
    """Return the normalized volume of the convex hull of points, at least one, in the lattice of
    integer points.

    In a space of dimension n it is n! times the Euclidean volume, so 0 where the hull has a smaller
    dimension than the space.

    Examples
    --------
    >>> volume_in_space([(0, 0), (2, 0), (0, 2)]), volume_in_space([(0, 0), (1, 0), (0, 1), (1, 1)])
    (4, 2)
    """
    vectors = [(1, *point) for point in points]
    matrix = flint.fmpz_mat(list(map(list, vectors)))
    if matrix.rank() < len(vectors[0]):
        return 0
    if len(vectors) == len(vectors[0]):
        # A simplex, whose many faces are not needed.
        return abs(int(matrix.det()))
    polytope = frozenset(range(len(vectors)))
    # :func:`volumes` are normalized in the lattice that the vectors generate. Its index among all
    # integer vectors is the covolume.
    return volumes(vectors, faces(vectors))[polytope] * _covolume(vectors, polytope)
