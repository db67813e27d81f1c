"""Linear relations among the coordinates of a polynomial map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

from sympy.polys.rings import PolyElement

from m2bridge.linear_algebra import pivot_columns, pivot_columns_mod
from m2bridge.model.field import QQ, CoefficientField
from m2bridge.model.polynomial_map import PolynomialMap


@dataclass(frozen=True, slots=True)
class LinearReduction:
    """A polynomial map in linearly independent coordinates.

    Parameters
    ----------
    reduced : PolynomialMap
        The map followed by the projection to ``basis``; its coordinates are linearly independent functions.
    basis : tuple of int
        Positions of the independent coordinates among all coordinates.
    dependencies : tuple of (int, tuple of Fraction)
        For each other coordinate its position, and its coefficients in the basis.
    """

    reduced: PolynomialMap
    basis: tuple[int, ...]
    dependencies: tuple[tuple[int, tuple[Fraction, ...]], ...]

    def linear_forms(self, original: PolynomialMap, field: CoefficientField) -> tuple[PolyElement, ...]:
        """The linear generators of the ideal: each dependent coordinate minus its expression in the basis."""
        ring = original.target(field).sympy_ring
        forms = []
        for position, coefficients in self.dependencies:
            form = ring.gens[position]
            for index, coefficient in zip(self.basis, coefficients, strict=True):
                if coefficient:
                    form -= ring.domain(coefficient.numerator) / ring.domain(coefficient.denominator) * ring.gens[index]
            forms.append(form)
        return tuple(forms)


def reduce_linearly(parametrization: PolynomialMap, field: CoefficientField = QQ) -> LinearReduction:
    """Pick linearly independent coordinates, the earliest possible, and express the others in them, over a field.

    Modulo p, which must divide no denominator of the map, coordinates can be dependent that are not so over QQ.
    """
    rows = _coefficient_rows([parametrization.images])[0]
    p = field.characteristic
    pivots, echelon = pivot_columns_mod(rows, p) if p else pivot_columns(rows)
    chosen = set(pivots)
    dependencies = tuple(
        (position, tuple(row[position] for row in echelon))
        for position in range(len(parametrization.coordinates))
        if position not in chosen
    )
    return LinearReduction(parametrization.restricted_to(pivots), tuple(pivots), dependencies)


def linear_isomorphism(first: PolynomialMap, second: PolynomialMap) -> list[list[Fraction]] | None:
    """The linear map that takes the coordinates of ``first`` to those of ``second``, if it is an isomorphism of spans.

    Both maps need the same parameters. The closures of the two images then correspond under this linear isomorphism of
    the spaces that they span.

    Returns
    -------
    list of rows of Fraction, or None
        Row i expresses coordinate i of ``second`` in the coordinates of ``first`` (dependent coordinates of ``first``
        get coefficient 0). ``None`` if the spans of the coordinates differ.
    """
    combined = _coefficient_rows([first.images, second.images])
    size = len(first.images)
    joint = [left + right for left, right in zip(*combined, strict=True)]
    pivots, echelon = pivot_columns(joint)
    if any(pivot >= size for pivot in pivots):
        return None
    if len(pivot_columns(combined[1])[0]) != len(pivots):
        return None
    matrix = []
    for i in range(len(second.images)):
        row = [Fraction(0)] * size
        for pivot, equation in zip(pivots, echelon, strict=True):
            row[pivot] = equation[size + i]
        matrix.append(row)
    return matrix


def _coefficient_rows(families: Sequence[Sequence[PolyElement]]) -> list[list[list[int]]]:
    """For each family the matrix of integer coefficients: one row per monomial (of any family), one column per image.

    Denominators are cleared for all families together, row by row.
    """
    monomials = sorted({monomial for family in families for image in family for monomial in image})
    tables: list[list[list[int]]] = [[] for _ in families]
    for monomial in monomials:
        entries = [[image.get(monomial, 0) for image in family] for family in families]
        scale = lcm(*(int(entry.denominator) for family in entries for entry in family))
        for table, family in zip(tables, entries, strict=True):
            table.append([int(entry.numerator) * (scale // int(entry.denominator)) for entry in family])
    return tables
