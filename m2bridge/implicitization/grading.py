"""The finest grading by a lattice that makes a polynomial map homogeneous, by exact integer linear algebra."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd, lcm

import flint
from sympy import Symbol
from sympy.solvers.simplex import InfeasibleLPError, lpmin

from m2bridge.algebra.linear_algebra import elimination_price, rank
from m2bridge.algebra.polynomial_map import PolynomialMap
from m2bridge.clock import check, watched
from m2bridge.errors import ContradictionError, MethodUnavailableError

Vector = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Grading:
    """A multigrading of the coordinate ring of the target for which the ideal of the image is homogeneous.

    Parameters
    ----------
    weights : tuple of vectors of int
        The weight of each coordinate, all of the same length.
    degrees : tuple of positive int
        The degree of each coordinate; a rational combination of the weights. All 1 where that is possible.
    """

    weights: tuple[Vector, ...]
    degrees: Vector

    @property
    def is_standard(self) -> bool:
        """Whether degree means total degree in the coordinates."""
        return all(degree == 1 for degree in self.degrees)


def finest_grading(polynomial_map: PolynomialMap) -> Grading:
    """The finest grading by a free abelian group coming from weights of the parameters.

    Weights u of the parameters make an image homogeneous iff u vanishes on all differences of exponents of its
    monomials. The lattice of all such u gives the weights of the coordinates. A coordinate with image zero gets
    a weight of its own. (Gradings by finite groups, which can be finer still, are not used.)

    Raises
    ------
    MethodUnavailableError
        If there are no coordinates, or no such grading gives every coordinate a positive degree.
    """
    if not polynomial_map.coordinates:
        raise MethodUnavailableError("a map without coordinates has no ideal to compute")
    rows = _weight_rows(polynomial_map)
    degrees = _positive_degrees(rows, polynomial_map)
    return Grading(tuple(zip(*rows, strict=True)), degrees)


def grading_with_weights(polynomial_map: PolynomialMap, weights: Sequence[Vector]) -> Grading:
    """The finest grading, written in weights chosen for legibility.

    Raises
    ------
    ContradictionError
        If these weights do not span the same gradings as the finest ones.
    """
    rows = _weight_rows(polynomial_map)
    chosen = list(zip(*weights, strict=True))
    if not rank(rows) == rank(chosen) == rank(rows + chosen):
        raise ContradictionError("the weights given are not the finest grading of the map")
    return Grading(tuple(weights), _positive_degrees(rows, polynomial_map))


def _weight_rows(polynomial_map: PolynomialMap) -> list[Vector]:
    """A reduced basis of the gradings, each as the list of the weights of all coordinates."""
    supports = [list(image) for image in watched(polynomial_map.images)]
    differences = {_difference(monomial, support[0]) for support in watched(supports) for monomial in support[1:]}
    size = len(polynomial_map.source.variables)
    gradings = _integer_kernel(sorted(differences), size)
    leading = [support[0] if support else (0,) * size for support in supports]
    rows = [tuple(_pairing(grading, exponents) for exponents in leading) for grading in watched(gradings)]
    zeros = [j for j, support in enumerate(supports) if not support]
    rows += [tuple(int(i == j) for i in range(len(supports))) for j in zeros]
    return _reduced_basis(rows)


def _difference(first: Vector, second: Vector) -> Vector:
    return tuple(a - b for a, b in zip(first, second, strict=True))


def _pairing(weights: Vector, exponents: Vector) -> int:
    return sum(u * e for u, e in zip(weights, exponents, strict=True))


def _integer_kernel(rows: Sequence[Vector], width: int) -> list[Vector]:
    """Integer vectors that form a QQ-basis of the common kernel of the rows."""
    if not rows:
        return [tuple(int(i == j) for j in range(width)) for i in range(width)]
    check(4 * elimination_price(len(rows), width))
    matrix, nullity = flint.fmpz_mat([list(row) for row in rows]).nullspace()
    return [tuple(int(matrix[i, j]) for i in range(width)) for j in range(nullity)]


def _reduced_basis(rows: list[Vector]) -> list[Vector]:
    """Short independent integer vectors with the same QQ-span."""
    if not rows:
        return []
    check(4 * elimination_price(len(rows), len(rows[0])))
    matrix = flint.fmpz_mat([list(row) for row in rows])
    echelon, _, height = matrix.rref()
    primitive = []
    for i in range(height):
        row = [int(echelon[i, j]) for j in range(len(rows[0]))]
        content = gcd(*row)
        primitive.append([entry // content for entry in row])
    if not primitive:
        return []
    short = flint.fmpz_mat(primitive).lll()
    return [tuple(int(entry) for entry in row) for row in short.tolist()]


def _positive_degrees(rows: list[Vector], polynomial_map: PolynomialMap) -> Vector:
    """Positive integers in the span of the rows: all 1 if possible, else degrees of the images, else smallest sum."""
    ones = (1,) * len(polynomial_map.coordinates)
    if rank(rows) == rank([*rows, ones]):
        return ones
    degrees = polynomial_map.image_degrees
    if degrees is not None:
        return tuple(degree // gcd(*degrees) for degree in degrees)
    return _smallest_positive(rows)


def _smallest_positive(rows: list[Vector]) -> Vector:
    failure = MethodUnavailableError(
        "no weights of the parameters make all images homogeneous of positive degree, so the ideal cannot be computed"
        " degree by degree; homogenize the map with a new parameter, or use elimination"
    )
    if not rows:
        raise failure
    u = [Symbol(f"u{i}") for i in range(len(rows))]
    forms = [sum(x * row[j] for x, row in zip(u, rows, strict=True)) for j in range(len(rows[0]))]
    if any(form == 0 for form in forms):
        raise failure
    try:
        _, solution = lpmin(sum(forms), [form >= 1 for form in forms])
    except InfeasibleLPError:
        raise failure from None
    values = [form.subs(solution) for form in forms]
    scale = lcm(*(int(value.q) for value in values))
    return tuple(int(value * scale) for value in values)
