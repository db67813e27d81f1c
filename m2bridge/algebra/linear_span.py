"""Linear relations among the coordinates of a polynomial map."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice

from sympy.polys.rings import PolyElement

from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.algebra.linear_algebra import connected, pivot_columns
from m2bridge.algebra.numbers import without_denominators
from m2bridge.algebra.polynomial_map import PolynomialMap
from m2bridge.limits import watched


@dataclass(frozen=True, slots=True)
class LinearReduction:
    """A polynomial map in linearly independent coordinates.

    Parameters
    ----------
    reduced : PolynomialMap
        The map followed by the projection to ``basis``; its coordinates are linearly independent functions.
    basis : tuple of int
        Positions of the independent coordinates among all coordinates.
    dependencies : tuple of (int, mapping from int to Fraction)
        For each other coordinate its position, and the coefficients of its expression in the basis, by position.
    """

    reduced: PolynomialMap
    basis: tuple[int, ...]
    dependencies: tuple[tuple[int, Mapping[int, Fraction]], ...]

    def linear_forms(self, original: PolynomialMap, *, field: CoefficientField) -> tuple[PolyElement, ...]:
        """The linear generators of the ideal: each dependent coordinate minus its expression in the basis."""
        ring = original.target(field=field).sympy_ring
        forms = []
        for position, coefficients in self.dependencies:
            form = ring.gens[position]
            for index, coefficient in coefficients.items():
                form -= ring.domain(coefficient.numerator) / ring.domain(coefficient.denominator) * ring.gens[index]
            forms.append(form)
        return tuple(forms)


def reduce_linearly(parametrization: PolynomialMap, *, field: CoefficientField = QQ) -> LinearReduction:
    """Pick linearly independent coordinates, the earliest possible, and express the others in them, over a field.

    Modulo p, which must divide no denominator of the map, coordinates can be dependent that are not so over QQ.
    """
    basis: list[int] = []
    dependencies: dict[int, dict[int, Fraction]] = {}
    for block in watched(connected(parametrization.images)):
        rows = _coefficient_rows([[parametrization.images[j] for j in block]])[0]
        pivots, echelon = pivot_columns(rows, field.characteristic)
        basis += [block[pivot] for pivot in pivots]
        for place in sorted(set(range(len(block))).difference(pivots)):
            column = zip(pivots, (row[place] for row in echelon), strict=True)
            dependencies[block[place]] = {block[pivot]: entry for pivot, entry in column if entry}
    basis.sort()
    return LinearReduction(parametrization.restricted_to(basis), tuple(basis), tuple(sorted(dependencies.items())))


def in_sparse_coordinates(parametrization: PolynomialMap) -> PolynomialMap:
    """Rewrite a map in other linear coordinates of the space that its image spans, with fewer terms.

    Its coordinates are those of an echelon form: each has a monomial that no other one has. The closures of the images
    correspond under a linear isomorphism; elimination is faster here.

    Parameters
    ----------
    parametrization : PolynomialMap
        With linearly independent coordinates.
    """
    images: dict[int, PolyElement] = {}
    for block in watched(connected(parametrization.images)):
        chosen = [parametrization.images[j] for j in block]
        monomials = sorted({monomial for image in chosen for monomial in image}, reverse=True)
        rows = [without_denominators([image.get(monomial, 0) for monomial in monomials]) for image in chosen]
        for j, row in zip(block, pivot_columns(rows)[1], strict=True):
            terms = {monomial: c for monomial, c in zip(monomials, without_denominators(row), strict=True) if c}
            images[j] = chosen[0].ring.from_dict({m: chosen[0].ring.domain(c) for m, c in terms.items()})
    return replace(parametrization, images=tuple(images[j] for j in range(len(images))))


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
    for monomial in watched(monomials):
        entries = iter(without_denominators(image.get(monomial, 0) for family in families for image in family))
        for table, family in zip(tables, families, strict=True):
            table.append(list(islice(entries, len(family))))
    return tables
