"""Differentials, at points, of the equations of an image, from few of the multidegrees.

A monomial with two factors that are zero at a point has the derivative zero there. So an equation
has a differential that is not zero only if its multidegree has a monomial with at most one such
factor; where few coordinates of the point are not zero, as at representatives of orbits, few
multidegrees have. Their graded pieces are computed, and the pieces of smaller degree on which they
rest. Multidegrees are packed integers, as in ``graded_pieces``.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Self

from m2bridge.algebra.sparse_polynomial import Terms, gradient_of_terms
from m2bridge.implicitization.generators import Context, compute_piece
from m2bridge.implicitization.graded_pieces import (
    DegreePieces,
    MultidegreeOrbits,
    degree_zero,
    next_degree,
)
from m2bridge.implicitization.multigraded_map import MultigradedMap
from m2bridge.limits import check_deadline_in

Gradient = dict[int, int]
"""Partial derivatives at a point, by the number of the coordinate; those left out are zero."""


@dataclass(slots=True)
class _CarriedGenerators:
    """The minimal generators of one orbit of multidegrees, and how symmetries carry them."""

    polynomials: tuple[Terms, ...]  # variable i is the coordinate places[dominant][i]
    orbits: MultidegreeOrbits
    # for multidegrees of the orbit, as far as they were needed, the coordinates to which a symmetry
    # carries the variables
    places: dict[int, tuple[int, ...]]
    # the gradients that are not zero at values of the variables, as far as they were computed
    gradients_at_values: dict[tuple[int, ...], list[Gradient]] = field(default_factory=dict)

    @classmethod
    def of(cls, generators: Sequence[Terms], dominant: int, orbits: MultidegreeOrbits) -> Self:
        """Return the generators of a dominant multidegree, which are given in coordinates; those
        that occur, in ascending order, become the variables 0, 1, ….
        """
        monomials = [monomial for monomial, _ in chain.from_iterable(generators)]
        coordinates = sorted(set(chain.from_iterable(monomials)))
        number_of = {j: i for i, j in enumerate(coordinates)}
        polynomials = []
        for generator in generators:
            terms = [(tuple([number_of[j] for j in monomial]), c) for monomial, c in generator]
            polynomials.append(tuple(terms))
        return cls(tuple(polynomials), orbits, {dominant: tuple(coordinates)})

    def gradients(self, multidegree: int, point: Sequence[int]) -> Iterator[Gradient]:
        """Yield the nonzero gradients at a point of the generators of a multidegree of the orbit.

        A symmetry π carries a generator g to g', in which π(j) replaces each variable j. So the
        derivative of g' with respect to π(j) at a point p is the derivative of g with respect to j,
        at the point whose coordinate i is p_π(i). Points with few nonzero coordinates give few
        different values.
        """
        places = self._places(multidegree)
        values = tuple([point[j] for j in places])
        if values not in self.gradients_at_values:
            gradients = [gradient_of_terms(polynomial, values) for polynomial in self.polynomials]
            self.gradients_at_values[values] = [gradient for gradient in gradients if gradient]
        for gradient in self.gradients_at_values[values]:
            yield {places[i]: derivative for i, derivative in gradient.items()}

    def _places(self, multidegree: int) -> tuple[int, ...]:
        """Return the coordinates to which the variables are carried, step by step from the dominant
        multidegree.
        """
        if multidegree not in self.places:
            previous, symmetry_number = self.orbits.steps[multidegree]
            symmetry = self.orbits.grading.permutations[symmetry_number]
            self.places[multidegree] = tuple([symmetry[j] for j in self._places(previous)])
        return self.places[multidegree]


@dataclass(frozen=True, slots=True)
class EquationsAtPoints:
    """The equations of an image up to some degree, as far as points need them for differentials."""

    context: Context
    degrees: dict[int, DegreePieces]  # the pieces computed so far
    # the generators met so far, of all degrees, by their dominant multidegrees
    generators: dict[int, _CarriedGenerators] = field(default_factory=dict)

    @classmethod
    def of(cls, source: MultigradedMap, max_degree: int, *, seed: int = 0) -> Self:
        """Return the equations of a map of degree ≤ max_degree, of which none is computed yet.

        ``seed`` chooses random points: it can change the running time, not what the gradients span.

        Examples
        --------
        >>> from sympy import symbols
        >>> from m2bridge.algebra.polynomial_map import PolynomialMap
        >>> from m2bridge.implicitization.multigraded_map import multigraded
        >>> s, t = symbols("s t")
        >>> conic = PolynomialMap.from_expressions([s, t], {"x": s**2, "y": s*t, "z": t**2})
        >>> list(EquationsAtPoints.of(multigraded(conic), 2).gradients((1, 0, 0), 2))
        [{2: 1}]
        """
        context = Context.of(source, max_degree, seed)
        return cls(context, {0: degree_zero(context.grading)})

    def gradients(self, point: Sequence[int], degree: int) -> Iterator[Gradient]:
        """Yield nonzero gradients at a point that span the differentials of the minimal generators
        of a degree from 1 to ``max_degree``.

        At the limit on time, while gradients are taken, what was computed is kept.
        """
        compute = partial(compute_piece, context=self.context)
        while degree not in self.degrees:
            number = len(self.degrees)
            self.degrees[number] = next_degree(self.context.grading, self.degrees, compute)
        orbits, pieces = self.degrees[degree].orbits, self.degrees[degree].pieces
        for multidegree in check_deadline_in(self._multidegrees(point, degree)):
            dominant = orbits.dominant(multidegree)
            # the pieces are computed here, when they are asked for
            generators = pieces[dominant].generators
            if not generators:
                continue
            if dominant not in self.generators:
                carried = _CarriedGenerators.of(generators, dominant, orbits)
                self.generators[dominant] = carried
            yield from self.generators[dominant].gradients(multidegree, point)

    def _multidegrees(self, point: Sequence[int], degree: int) -> list[int]:
        """Return, in increasing order, the multidegrees of the monomials in which at most one
        factor is zero at a point.
        """
        grading = self.context.grading
        coordinates = list(zip(grading.packed, grading.degrees, strict=True))
        nonzero = [pair for pair, value in zip(coordinates, point, strict=True) if value]
        # by degree the multidegrees of the monomials without a factor that is zero
        without_zeros: list[set[int]] = [{0}]
        for n in range(1, degree + 1):
            without_zeros.append(_multidegrees_of_products(without_zeros, nonzero, n))
        # times any one coordinate, which may be zero at the point
        return sorted(_multidegrees_of_products(without_zeros, coordinates, degree))


def _multidegrees_of_products(
    monomials: Sequence[set[int]], coordinates: Sequence[tuple[int, int]], degree: int
) -> set[int]:
    """Return the multidegrees of all products of this degree of a monomial, by degrees from 0 on,
    and a coordinate, given by its multidegree and its degree.
    """
    products: set[int] = set()
    for multidegree_of_x, degree_of_x in coordinates:
        if degree_of_x <= degree:
            lower = monomials[degree - degree_of_x]
            products.update([multidegree + multidegree_of_x for multidegree in lower])
    return products
