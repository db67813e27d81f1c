"""Polynomial maps with the finest grading of their target, and with symmetries.

If every image is homogeneous for some weights of the parameters, the ideal of the image is
homogeneous for the degrees of the images; and a permutation of the parameters that permutes the
images gives one of the coordinates that maps the ideal to itself. Both are checked here, exactly.

A grading by ZZ is a row of integers, the degree of each coordinate; several rows are a
multigrading, in which the multidegree of a coordinate is a column. Images are polynomials in the
parameters, which map exponents to coefficients. MethodUnavailableError says that a map has no
positive grading, or that a permutation is not a symmetry.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from math import gcd, lcm
from operator import mul, sub
from typing import Any

from sympy import Symbol
from sympy.solvers.simplex import InfeasibleLPError, lpmin

from m2bridge.algebra.linear_algebra import (
    IntegerVector,
    connected_groups,
    integer_kernel,
    rank,
    short_basis,
)
from m2bridge.algebra.numbers import without_denominators
from m2bridge.algebra.polynomial_map import PolynomialMap
from m2bridge.algebra.sparse_polynomial import IntegerPolynomial
from m2bridge.errors import ContradictionError, MethodUnavailableError
from m2bridge.limits import check_deadline_in

Permutation = tuple[int, ...]
"""A permutation π of the coordinates by its values π(0), π(1), …"""


@dataclass(frozen=True, slots=True)
class Grading:
    """A multigrading of the target for which the ideal of the image is homogeneous.

    ``degrees`` are one rational linear form of the multidegrees of the coordinates, positive, and
    all 1 where possible.
    """

    multidegrees: tuple[IntegerVector, ...]
    degrees: IntegerVector

    @property
    def is_standard(self) -> bool:
        """Whether degree means total degree in the coordinates."""
        return all(degree == 1 for degree in self.degrees)


@dataclass(frozen=True)  # without slots, for the cached property
class MultigradedMap:
    """A polynomial map from an affine space, without relations, with a grading and symmetries of
    its target, for which the constructor :func:`multigraded` has checked the ideal of the image.
    """

    polynomial_map: PolynomialMap
    grading: Grading
    symmetries: tuple[Permutation, ...] = ()

    @cached_property
    def integral_images(self) -> tuple[IntegerPolynomial, ...]:
        """Images with integer coefficients that satisfy the same equations.

        Let D be the least common denominator. The image of coordinate j is multiplied by D^n, where
        n is the degree of the coordinate; so equations that are homogeneous for these degrees hold
        as before, and all coefficients are integers, since n ≥ 1.
        """
        images = self.polynomial_map.images
        coefficients = chain.from_iterable(image.values() for image in images)
        denominator = lcm(*(int(c.denominator) for c in coefficients))
        integral = []
        for image, degree in check_deadline_in(zip(images, self.grading.degrees, strict=True)):
            factor = denominator**degree
            integral.append({exponents: int(c * factor) for exponents, c in image.items()})
        return tuple(integral)


def multigraded(
    polynomial_map: PolynomialMap,
    symmetries: Sequence[Mapping[str, str]] = (),
    multidegrees: Sequence[IntegerVector] | None = None,
) -> MultigradedMap:
    """Return a polynomial map with its finest grading, and the symmetries of its target.

    The map has free parameters, so that its source is irreducible and has enough rational points.
    ``symmetries`` are permutations of the parameters that permute the images; a parameter that is
    not mentioned is fixed. ``multidegrees`` define the finest grading, or there is a
    ContradictionError; they can be given since they are shorter.

    Examples
    --------
    >>> from m2bridge import PolynomialMap
    >>> from sympy import symbols
    >>> s, t = symbols("s t")
    >>> powers = {"x": s**3, "y": s**2*t, "z": s*t**2, "w": t**3}
    >>> cubic = PolynomialMap.from_expressions([s, t], powers)
    >>> multigraded(cubic, [{"s": "t", "t": "s"}]).symmetries
    ((3, 2, 1, 0),)
    """
    if polynomial_map.relations:
        raise MethodUnavailableError(
            "multigraded implicitization needs free parameters, without relations among them;"
            " parametrize the source"
        )
    by_image = coordinates_by_image(polynomial_map)
    permutations = [
        coordinate_permutation(polynomial_map, by_image, renaming) for renaming in symmetries
    ]
    grading = finest_grading(polynomial_map, multidegrees)
    # Symmetries have to carry coordinates to coordinates of the same degree.
    grading = replace(grading, degrees=average_degrees(grading.degrees, permutations))
    return MultigradedMap(
        polynomial_map=polynomial_map, grading=grading, symmetries=tuple(permutations)
    )


def finest_grading(
    polynomial_map: PolynomialMap, multidegrees: Sequence[IntegerVector] | None = None
) -> Grading:
    """Return the finest grading by a free abelian group coming from weights of the parameters.

    Weights u of the parameters make an image homogeneous iff u vanishes on all differences of
    exponents of its monomials. The lattice of all u that make every image homogeneous gives the
    multidegrees of the coordinates, in a reduced basis of the lattice unless they are given. A
    coordinate with image zero gets a multidegree of its own. (Gradings by finite groups, which can
    be finer still, are not used.)
    """
    if not polynomial_map.coordinates:
        raise MethodUnavailableError("a map without coordinates has no ideal to compute")
    rows = _rows_of_gradings(polynomial_map)
    if multidegrees is None:
        multidegrees = list(zip(*rows, strict=True))  # the columns
    chosen_rows = list(zip(*multidegrees, strict=True))
    # two spaces are equal iff they have the dimension of their sum
    if not rank(rows) == rank(chosen_rows) == rank(rows + chosen_rows):
        raise ContradictionError("the multidegrees given are not the finest grading of the map")
    return Grading(tuple(multidegrees), _positive_degrees(rows, polynomial_map))


def _rows_of_gradings(polynomial_map: PolynomialMap) -> list[IntegerVector]:
    """Return a reduced basis of the lattice of gradings by ZZ for which all images are
    homogeneous.
    """
    parameters = len(polynomial_map.source.variables)
    coordinates = len(polynomial_map.images)
    differences: set[IntegerVector] = set()
    # the exponents of one monomial of each image; an image that is zero has no monomial
    leading = [(0,) * parameters] * coordinates
    rows: list[IntegerVector] = []
    for j, image in enumerate(check_deadline_in(polynomial_map.images)):
        if image:
            leading[j], *other_monomials = image  # the exponents of its monomials
            for monomial in other_monomials:
                differences.add(tuple(map(sub, monomial, leading[j])))
        else:  # an image that is zero may have any degree: a unit vector
            rows.append((0,) * j + (1,) + (0,) * (coordinates - j - 1))
    # the weights that vanish on all differences make every image homogeneous; the degree of an
    # image is Σ w_i e_i for the exponents e of any of its monomials
    all_weights = check_deadline_in(integer_kernel(sorted(differences), parameters))
    rows += [tuple(sum(map(mul, w, exponents)) for exponents in leading) for w in all_weights]
    return short_basis(rows)


def _positive_degrees(rows: list[IntegerVector], polynomial_map: PolynomialMap) -> IntegerVector:
    """Return positive degrees of the coordinates in the span of the rows.

    The first of these that exist: all 1; the degrees of the images, divided by their greatest
    common divisor, if every image is homogeneous of positive degree; degrees of the smallest sum.
    """
    ones = (1,) * len(polynomial_map.coordinates)
    if rank(rows) == rank([*rows, ones]):
        return ones
    degrees = polynomial_map.image_degrees  # None unless all are homogeneous, none constant
    if degrees is not None:
        return tuple(degree // gcd(*degrees) for degree in degrees)
    return _smallest_positive_degrees(rows)


def _smallest_positive_degrees(rows: list[IntegerVector]) -> IntegerVector:
    """Return positive integers, proportional to the combination of the rows that has entries ≥ 1
    and the smallest sum; it is rational, found by linear programming.
    """
    unknowns = [Symbol(f"u{i}") for i in range(len(rows))]
    # for each coordinate its degree in the combination Σ u_i · row i
    forms = [sum(map(mul, unknowns, column)) for column in zip(*rows, strict=True)]
    try:
        # A form that is zero cannot be ≥ 1; SymPy would not treat 0 ≥ 1 as an inequality.
        if not forms or 0 in forms:
            raise InfeasibleLPError
        _, solution = lpmin(sum(forms), [form >= 1 for form in forms])
    except InfeasibleLPError:
        raise MethodUnavailableError(
            "no weights of the parameters make all images homogeneous of positive degree, so the"
            " ideal cannot be computed degree by degree; homogenize the map with a new parameter,"
            " or use elimination"
        ) from None
    values = [form.subs(solution) for form in forms]
    return tuple(without_denominators(values))


ImageTerms = frozenset[tuple[IntegerVector, Any]]
"""The terms of an image: exponents of the parameters, and the coefficient."""


def coordinates_by_image(polynomial_map: PolynomialMap) -> dict[ImageTerms, list[int]]:
    """Return for each image, as the set of its terms, the numbers of the coordinates that have it,
    ascending; they are several where images are equal.
    """
    by_image: dict[ImageTerms, list[int]] = {}
    for j, image in enumerate(check_deadline_in(polynomial_map.images)):
        by_image.setdefault(frozenset(image.items()), []).append(j)
    return by_image


def coordinate_permutation(
    polynomial_map: PolynomialMap,
    by_image: Mapping[ImageTerms, Sequence[int]],
    renaming: Mapping[str, str],
) -> Permutation:
    """Return the permutation π of the coordinates with f_π(j) = τ(f_j) for all j, where f_j are the
    images and τ, ``renaming``, is a permutation of the parameters.

    If π exists, it maps the ideal of the image to itself, since the images are compared exactly.
    Coordinates with the same image keep their order, so that the permutation of a product of two τ
    is the product of their permutations.
    """
    variables = polynomial_map.source.variables
    position = {name: i for i, name in enumerate(variables)}
    # for each parameter the number of the one to which it is carried; −1 if its new name is unknown
    targets = [position.get(renaming.get(name, name), -1) for name in variables]
    # a renaming that is not a permutation would identify parameters
    if sorted(targets) != list(range(len(variables))):
        raise MethodUnavailableError("a symmetry has to permute the parameters of the map")
    preimages = [targets.index(i) for i in range(len(variables))]
    result = [0] * len(polynomial_map.images)
    # coordinates with equal images can be permuted in any way, so they are moved as a block
    for image, block in check_deadline_in(by_image.items()):
        # τ(f): its exponent at parameter i is the exponent of f at the preimage of i
        image_under_renaming = frozenset(
            [(tuple(map(exponents.__getitem__, preimages)), c) for exponents, c in image]
        )
        moved_block = by_image.get(image_under_renaming, [])
        if len(moved_block) != len(block):
            raise MethodUnavailableError(
                "this permutation of the parameters does not permute the images"
            )
        for j, target in zip(block, moved_block, strict=True):
            result[j] = target
    return tuple(result)


def average_degrees(degrees: Sequence[int], permutations: Sequence[Permutation]) -> tuple[int, ...]:
    """Return the average of the degrees of the coordinates over the group that the permutations of
    the coordinates generate, scaled to coprime integers.

    The permutations are symmetries of the ideal, so the permuted degrees are gradings of it too,
    and so is their average. It is positive, as the degrees are, and constant on each orbit of
    coordinates: the average of the degrees over the orbit.
    """
    # For each coordinate the tuple of it and its images; coordinates whose tuples are connected by
    # common entries are an orbit of the group.
    with_images = list(zip(range(len(degrees)), *permutations, strict=True))
    orbits = connected_groups(with_images)
    # a multiple of the sizes of all orbits, so that the averages times it are integers
    scale = lcm(*(len(orbit) for orbit in orbits))
    result = [0] * len(degrees)
    for orbit in orbits:
        for j in orbit:
            result[j] = scale // len(orbit) * sum(degrees[i] for i in orbit)
    return tuple(degree // gcd(*result) for degree in result)
