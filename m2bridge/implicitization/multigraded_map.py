"""A polynomial map with its grading and its symmetries: the input of multigraded implicitization."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import lcm
from typing import Any

from m2bridge.algebra.polynomial_map import PolynomialMap
from m2bridge.clock import watched
from m2bridge.errors import MethodUnavailableError
from m2bridge.families.attention.model import Coordinates, SingleLayerAttention
from m2bridge.implicitization.grading import Grading, Vector, finest_grading, grading_with_weights
from m2bridge.implicitization.symmetry import (
    Permutation,
    attention_symmetries,
    coordinate_permutation,
    symmetrized,
)

IntegerPolynomial = dict[tuple[int, ...], int]


@dataclass(frozen=True, slots=True)
class MultigradedMap:
    """A polynomial map from an affine space, a grading of its target and permutations of its coordinates.

    The constructors :func:`multigraded` and :func:`multigraded_attention` prove that the ideal of the image is
    homogeneous for the grading and invariant under the permutations.
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


def multigraded(polynomial_map: PolynomialMap, symmetries: Sequence[Mapping[str, str]] = ()) -> MultigradedMap:
    """A polynomial map with its finest grading.

    Parameters
    ----------
    polynomial_map : PolynomialMap
        Without relations among its parameters, so that its source is irreducible and has enough rational points.
    symmetries : sequence of mappings from parameter name to parameter name
        Permutations of the parameters that permute the images; checked.

    Raises
    ------
    MethodUnavailableError
        If there are relations, no positive grading, or a permutation is not a symmetry.

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
    return _assemble(polynomial_map, finest_grading(polynomial_map), permutations)


def multigraded_attention(model: SingleLayerAttention, coordinates: Coordinates | None = None) -> MultigradedMap:
    """The parametrization of an attention model, with its grading and all permutations of its indices.

    For a ≥ d the parameters are the entries of A and V, for a < d those of Q, K and V. The weight of c_k_i_p_q is
    (e_k, e_i, e_p + e_q); full coordinates get the finest grading in whatever basis comes out.
    """
    polynomial_map = model.parametrization(coordinates, "attention" if model.a >= model.d else "factored")
    if polynomial_map.coordinates[0].startswith("c_"):
        weights = [_attention_weight(name, model) for name in watched(polynomial_map.coordinates)]
        grading = grading_with_weights(polynomial_map, weights)
    else:
        grading = finest_grading(polynomial_map)
    return _assemble(polynomial_map, grading, attention_symmetries(model, polynomial_map))


def _assemble(polynomial_map: PolynomialMap, grading: Grading, permutations: tuple[Permutation, ...]) -> MultigradedMap:
    degrees = symmetrized(grading.degrees, permutations)
    return MultigradedMap(polynomial_map, Grading(grading.weights, degrees), permutations)


def _check_no_relations(polynomial_map: PolynomialMap) -> None:
    if polynomial_map.relations:
        raise MethodUnavailableError(
            "multigraded implicitization needs free parameters, without relations among them; parametrize the source"
            " (for attention of low rank: weights='factored')"
        )


def _attention_weight(name: str, model: SingleLayerAttention) -> Vector:
    k, i, p, q = (int(index) for index in name.split("_")[1:])
    d, d_out = model.d, model.d_out
    weight = [0] * (d_out + 2 * d)
    for place in (k - 1, d_out + i - 1, d_out + d + p - 1, d_out + d + q - 1):
        weight[place] += 1
    return tuple(weight)


def _integral_images(polynomial_map: PolynomialMap, degrees: Vector) -> tuple[IntegerPolynomial, ...]:
    coefficients: list[Any] = [c for image in polynomial_map.images for c in image.values()]
    denominator = lcm(*(int(c.denominator) for c in coefficients))
    return tuple(
        {exponents: int(c * denominator**degree) for exponents, c in image.items()}
        for image, degree in watched(zip(polynomial_map.images, degrees, strict=True))
    )
