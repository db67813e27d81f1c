"""A slice of a chart, on which the ideal of an image is found by a small elimination."""

from __future__ import annotations

from dataclasses import dataclass

from m2bridge.algebra.polynomial_map import PolynomialMap


@dataclass(frozen=True, slots=True)
class ChartSlice:
    """An affine subspace of the coordinate space, inside the chart where one coordinate is not zero.

    A unipotent group that acts on the image, with the rescaling of all coordinates, moves every point of the chart to
    exactly one point of the slice.

    Parameters
    ----------
    inverted : str
        The coordinate that is not zero on the chart, and 1 on the slice.
    fixed : dict of str to int
        The coordinates that are constant on the slice.
    parametrization : PolynomialMap
        Of the image on the slice, by the other coordinates.
    """

    inverted: str
    fixed: dict[str, int]
    parametrization: PolynomialMap
