"""A polynomial map with its grading and its symmetries: the input of multigraded implicitization."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import lcm
from typing import Any

from m2bridge.algebra.polynomial_map import PolynomialMap
from m2bridge.clock import watched
from m2bridge.errors import MethodUnavailableError
from m2bridge.implicitization.grading import Grading, Vector, finest_grading, grading_with_weights
from m2bridge.implicitization.symmetry import (
    Permutation,
    coordinate_permutation,
    symmetrized,
)

IntegerPolynomial = dict[tuple[int, ...], int]


@dataclass(frozen=True, slots=True)
class MultigradedMap:
    """A polynomial map from an affine space, a grading of its target and permutations of its coordinates.

    The constructor :func:`multigraded` proves that the ideal of the image is homogeneous for the grading and invariant
    under the permutations.
    """

    polynomial_map: PolynomialMap
    grading: Grading
    symmetries: tuple[Permutation, ...] = ()

    @property
    def integral_images(self) -> tuple[IntegerPolynomial, ...]:
        """Images with integer coefficients that satisfy the same equations.

        If D clears all denominators, coordinate j is multiplied by D to the power of its degree. Equations that are
        homogeneous for the degrees do not change.
        """
        return _integral_images(self.polynomial_map, self.grading.degrees)


def multigraded(
    polynomial_map: PolynomialMap,
    symmetries: Sequence[Mapping[str, str]] = (),
    multidegrees: Sequence[Vector] | None = None,
) -> MultigradedMap:
    """A polynomial map with its finest grading.

    Parameters
    ----------
    polynomial_map : PolynomialMap
        Without relations among its parameters, so that its source is irreducible and has enough rational points.
    symmetries : sequence of mappings from parameter name to parameter name
        Permutations of the parameters that permute the images; checked.
    multidegrees : sequence of vectors of int, optional
        Of the coordinates, legible ones in which to write the finest grading; checked.

    Raises
    ------
    MethodUnavailableError
        If there are relations, no positive grading, or a permutation is not a symmetry.
    ContradictionError
        If the multidegrees given do not span the finest grading.

    Examples
    --------
    >>> from sympy import symbols
    >>> s, t = symbols("s t")
    >>> cubic = PolynomialMap.from_expressions([s, t], {"x": s**3, "y": s**2*t, "z": s*t**2, "w": t**3})
    >>> multigraded(cubic, [{"s": "t", "t": "s"}]).symmetries
    ((3, 2, 1, 0),)
    """
    _check_no_relations(polynomial_map)
    permutations = tuple(coordinate_permutation(polynomial_map, renaming) for renaming in symmetries)
    if multidegrees is None:
        return _assemble(polynomial_map, finest_grading(polynomial_map), permutations)
    return _assemble(polynomial_map, grading_with_weights(polynomial_map, multidegrees), permutations)


def _assemble(polynomial_map: PolynomialMap, grading: Grading, permutations: tuple[Permutation, ...]) -> MultigradedMap:
    degrees = symmetrized(grading.degrees, permutations)
    return MultigradedMap(polynomial_map, Grading(grading.weights, degrees), permutations)


def _check_no_relations(polynomial_map: PolynomialMap) -> None:
    if polynomial_map.relations:
        raise MethodUnavailableError(
            "multigraded implicitization needs free parameters, without relations among them; parametrize the source"
        )


def _integral_images(polynomial_map: PolynomialMap, degrees: Vector) -> tuple[IntegerPolynomial, ...]:
    coefficients: list[Any] = [c for image in polynomial_map.images for c in image.values()]
    denominator = lcm(*(int(c.denominator) for c in coefficients))
    return tuple(
        {exponents: int(c * denominator**degree) for exponents, c in image.items()}
        for image, degree in watched(zip(polynomial_map.images, degrees, strict=True))
    )
