"""Faces and lattice volumes of convex hulls of integer points, exactly.

A polytope is given by vectors (1, p), one for each point p: its faces are those of the cone that
they span. A face is the set of the numbers of the points on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import gcd, prod
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
    hermite = flint.fmpz_mat(list(map(list, vectors))).hnf().tolist()
    basis = [list(map(int, row)) for row in hermite if any(row)]
    pivots = [next(j for j, entry in enumerate(row) if entry) for row in basis]
    coordinates = []
    for vector in vectors:
        rest = list(vector)
        own = []
        # the basis is an echelon form, so each coordinate is seen at its pivot
        for row, pivot in zip(basis, pivots, strict=True):
            multiple = rest[pivot] // row[pivot]
            own.append(multiple)
            rest = [a - multiple * b for a, b in zip(rest, row, strict=True)]
        coordinates.append(tuple(own))
    return coordinates


def facets(vectors: Sequence[IntegerVector]) -> list[Face]:
    """Return the facets of the cone that the vectors span, by the double description method.

    Parameters
    ----------
    vectors : sequence of vectors
        They span the whole space, and all are on one side of a hyperplane through 0 that contains
        none of them.

    Raises
    ------
    TooLargeError
        If there are too many facets, of this polytope or of an intermediate one.

    Source: Fukuda, Prodon, *Double description method revisited*, 1996, Lemma 8.

    Examples
    --------
    >>> square = [(1, 0, 0), (1, 1, 0), (1, 0, 1), (1, 1, 1)]
    >>> sorted(map(sorted, facets(square)))
    [[0, 1], [0, 2], [1, 3], [2, 3]]
    """
    size = len(vectors[0])
    # the cone of a basis has one facet opposite to each vector; the others are cut in, one by one
    first, _ = pivot_columns(list(zip(*vectors, strict=True)))
    inverse = flint.fmpz_mat([list(vectors[i]) for i in first]).inv()
    rays: list[_Ray] = []
    for j in range(size):
        column = [inverse[i, j] for i in range(size)]
        rays.append((_primitive(column), frozenset(first) - {first[j]}))
    for number in check_deadline_in(sorted(set(range(len(vectors))) - set(first))):
        rays = _cut(rays, number, vectors[number])
        if len(rays) > MAX_FACETS:
            raise TooLargeError(f"a polytope with more than {MAX_FACETS} facets")
    return [zeros for _, zeros in rays]


def _cut(rays: Sequence[_Ray], number: int, vector: IntegerVector) -> list[_Ray]:
    """The rays of the dual cone after one more vector."""
    values = [sum(a * b for a, b in zip(form, vector, strict=True)) for form, _ in rays]
    kept: list[_Ray] = []
    for (form, zeros), value in zip(rays, values, strict=True):
        if value > 0:
            kept.append((form, zeros))
        elif value == 0:
            kept.append((form, zeros | {number}))
    above = [i for i, value in enumerate(values) if value > 0]
    below = [i for i, value in enumerate(values) if value < 0]
    # a face of dimension 2 is where vectors of this rank are zero
    least = len(vector) - 2
    for i, j in check_deadline_in(product(above, below)):
        common = rays[i][1] & rays[j][1]
        if len(common) < least:
            continue
        # two rays span a face of dimension 2 if no third one has their common zeros
        if any(common <= zeros for k, (_, zeros) in enumerate(rays) if k not in (i, j)):
            continue
        pairs = zip(rays[i][0], rays[j][0], strict=True)
        between = [values[i] * b - values[j] * a for a, b in pairs]
        kept.append((_primitive(between), common | {number}))
    return kept


def _primitive(form: Sequence[Any]) -> IntegerVector:
    """The shortest integer vector in the direction of a rational one."""
    entries = tuple(without_denominators(form))
    content = gcd(*entries)
    return tuple(entry // content for entry in entries)


def faces(vectors: Sequence[IntegerVector]) -> dict[Face, int]:
    """Return all faces that are not empty, each with its dimension, and the polytope itself.

    Raises
    ------
    TooLargeError
        If there are too many.
    """
    # computed once: every face is found from the facets alone
    bounding = facets(vectors)
    whole = frozenset(range(len(vectors)))
    found = {whole}
    waiting = [whole]
    # each face is an intersection of facets
    while waiting:
        face = waiting.pop()
        for facet in check_deadline_in(bounding):
            smaller = face & facet
            if smaller and smaller not in found:
                found.add(smaller)
                waiting.append(smaller)
        if len(found) > MAX_FACES:
            raise TooLargeError(f"a polytope with more than {MAX_FACES} faces")
    dimensions = {}
    for face in check_deadline_in(found):
        matrix = flint.fmpz_mat([list(vectors[i]) for i in sorted(face)])
        dimensions[face] = int(matrix.rank()) - 1
    return dimensions


def volumes(vectors: Sequence[IntegerVector], dimensions: dict[Face, int]) -> dict[Face, int]:
    """Return the volume of each face in the lattice that its own points generate.

    It is normalized: a simplex whose vectors are a basis of the lattice has volume 1. A face
    consists of the pyramids over its facets with one of its points as their apex.
    """
    found: dict[Face, int] = {}
    last = max(dimensions.values())
    bounding = [face for face, dimension in dimensions.items() if dimension == last - 1]
    for face in check_deadline_in(sorted(dimensions, key=dimensions.__getitem__)):
        if dimensions[face] == 0:
            found[face] = 1
            continue
        apex = min(face)
        # each facet of a face is the intersection with a facet of the polytope
        parts = {face & facet for facet in bounding if apex not in facet}
        own = _covolume(vectors, face)
        total = 0
        for part in check_deadline_in(parts):
            if dimensions.get(part) == dimensions[face] - 1:
                # the index of the lattice of the pyramid in the lattice of the face
                total += _covolume(vectors, part | {apex}) // own * found[part]
        found[face] = total
    return found


def _covolume(vectors: Sequence[IntegerVector], numbers: Face) -> int:
    """The index of the lattice of some vectors in any other is a quotient of two such numbers.

    It is the product of the pivots of a basis in echelon form. Lattices with the same span have
    pivots at the same places.
    """
    hermite = flint.fmpz_mat([list(vectors[i]) for i in sorted(numbers)]).hnf().tolist()
    return prod(int(next(filter(None, row))) for row in hermite if any(row))


def volume_in_space(points: Sequence[IntegerVector]) -> int:
    """Return the normalized volume of a convex hull in the lattice of all integer points.

    It is 0 where the hull has a smaller dimension than the space.

    Examples
    --------
    >>> volume_in_space([(0, 0), (2, 0), (0, 2)])
    4
    """
    vectors = [(1, *point) for point in points]
    matrix = flint.fmpz_mat(list(map(list, vectors)))
    if matrix.rank() < len(vectors[0]):
        return 0
    if len(vectors) == len(vectors[0]):
        # a simplex, which has many faces
        return abs(int(matrix.det()))
    whole = frozenset(range(len(vectors)))
    return volumes(vectors, faces(vectors))[whole] * _covolume(vectors, whole)
