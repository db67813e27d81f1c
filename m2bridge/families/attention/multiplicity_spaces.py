"""The ideal of a core by multiplicity spaces: Hilbert function and minimal generators as representations, with proof.

Notation of docs/completeness.md and docs/representations.md. For each type S_λX ⊗ S_μH ⊗ S_νY the values of
covariants at points with integer coordinates span three spaces: in C_n, in W ⊗ C_{n−1}, and in it the image of
Λ²W ⊗ C_{n−2}. Their dimensions are the multiplicity in the coordinate ring, a number known by Pieri's rule, and that
number less the first less the number of minimal generators. Ranks modulo a prime are lower bounds. Where such a bound
is not the largest possible, the covariants are shown to span, and the rank of their values is computed over QQ.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, islice, product
from math import comb, inf, prod
from random import Random
from typing import Any

import flint

from m2bridge.algebra.linear_algebra import rank, reduced_echelon
from m2bridge.algebra.numbers import LARGE_PRIME
from m2bridge.algebra.schur import Shapes as AnyShapes, dimension, littlewood_richardson, partitions, strips_added
from m2bridge.errors import ContradictionError, MethodUnavailableError
from m2bridge.families.attention.completeness import CoreSize, section_count
from m2bridge.families.attention.covariants import FIRST, GENERIC, SECOND, Covariant, Points, Shapes
from m2bridge.limits import watched

SPARE_POINTS = 8
STALE = 60
"""So many covariants without a gain, and it is computed whether they span."""
MOST_TRIES = 5000
"""So many covariants without a gain do not span, and the computation is given up."""

Evaluated = tuple[Covariant, Any]
"""A covariant, and its values at points modulo the prime."""

EXTERIOR_SQUARE: tuple[Shapes, ...] = (
    ((2,), (2,), (3, 1)),
    ((1, 1), (1, 1), (3, 1)),
    *(((2,), (1, 1), shape) for shape in ((4,), (2, 2))),
    *(((1, 1), (2,), shape) for shape in ((4,), (2, 2))),
)
"""Λ²(X ⊗ H ⊗ S²Y): S²(S²Y) = S_4 + S_22, Λ²(S²Y) = S_31."""


def section_multiplicities(size: CoreSize, n: int) -> dict[Shapes, int]:
    """The multiplicities in Γ_n; docs/completeness.md, Proposition 2.

    Raises
    ------
    ContradictionError
        If their dimensions do not add up to the number of sections.
    """
    e, f, m = size.columns, size.rows, size.variables
    found = {
        (first, second, third): number
        for first, second in product(partitions(n, e), partitions(n, f))
        for third, number in littlewood_richardson(first, second, m).items()
    }
    missing: list[Shapes] = [((n,), (n,), (2 * n - j, j)) for j in range(1, n + 1, 2) if m > 1]
    for i, j in product(range(min(e, n)), range(min(f, n))):
        if 1 <= i + j <= m - 2:
            missing.append((_hook(n, i), _hook(n, j), _hook(2 * n, i + j + 1)))
    for shapes in missing:
        found[shapes] = found.get(shapes, 0) - 1
    if min(found.values()) < 0 or total_dimension(found, (e, f, m)) != section_count(e, f, m, e, n):
        raise ContradictionError(f"the representations of the sections of degree {n} of {size} do not add up")
    return {shapes: number for shapes, number in found.items() if number}


def _hook(n: int, legs: int) -> tuple[int, ...]:
    return (n - legs, *(1,) * legs)


def times(factors: Iterable[AnyShapes], ring: Mapping[Shapes, int], sizes: tuple[int, int, int]) -> Counter[Shapes]:
    """The multiplicities in Λ²W ⊗ C, for the types of Λ²W."""
    total: Counter[Shapes] = Counter()
    for factor, (shapes, number) in product(factors, ring.items()):
        terms = [littlewood_richardson(a, b, size).items() for a, b, size in zip(shapes, factor, sizes, strict=True)]
        for (a, first), (b, second), (c, third) in product(*terms):
            total[a, b, c] += number * first * second * third
    _check_dimension(total, comb(_variables(sizes), 2), ring, sizes)
    return total


def pieri(ring: Mapping[Shapes, int], sizes: tuple[int, int, int]) -> Counter[Shapes]:
    """The multiplicities in W ⊗ C: a box for X, one for H, a horizontal strip of two for Y."""
    total: Counter[Shapes] = Counter()
    for shapes, number in ring.items():
        more = (strips_added(shape, k, size) for shape, k, size in zip(shapes, (1, 1, 2), sizes, strict=True))
        for a, b, c in product(*more):
            total[a, b, c] += number
    _check_dimension(total, _variables(sizes), ring, sizes)
    return total


def _variables(sizes: tuple[int, int, int]) -> int:
    """The dimension of W."""
    return sizes[0] * sizes[1] * comb(sizes[2] + 1, 2)


def total_dimension(types: Mapping[Shapes, int], sizes: tuple[int, int, int]) -> int:
    """The dimension of a sum of types."""
    return sum(number * prod(map(dimension, shapes, sizes)) for shapes, number in types.items())


def _check_dimension(
    found: Mapping[Shapes, int], factor: int, ring: Mapping[Shapes, int], sizes: tuple[int, int, int]
) -> None:
    if total_dimension(found, sizes) != factor * total_dimension(ring, sizes):
        raise ContradictionError("the representations of a tensor product do not have its dimension")


@dataclass(eq=False)
class MultiplicitySpaces:
    """The multiplicity spaces of the coordinate ring of a core, computed degree by degree as they are asked for.

    Parameters
    ----------
    size : CoreSize
    sizes : tuple of int
        Dimensions of X, H, Y: those of the core, or larger ones where minors are looked for.
    random : Random
    multiplicities : list of dict
        Of the types of C_0, C_1, …, as far as they were computed. They do not depend on the dimensions.
    boundaries : dict
        For each degree the types in the image of Λ²W ⊗ C_{n−2}, with bases of its values at the points, modulo a prime.
    """

    size: CoreSize
    sizes: tuple[int, int, int]
    random: Random = field(default_factory=lambda: Random(0))
    multiplicities: list[dict[Shapes, int]] = field(default_factory=lambda: [{((), (), ()): 1}])
    boundaries: dict[int, dict[Shapes, Any]] = field(default_factory=dict)
    _points: dict[int, Points] = field(default_factory=dict)
    _generators: dict[int, dict[Shapes, int]] = field(default_factory=dict)

    def points(self, n: int) -> Points:
        """Points that are enough for all types in W ⊗ C_{n−1}."""
        if n not in self._points:
            most = max(pieri(section_multiplicities(self.size, n - 1), self.sizes).values())
            self._points[n] = Points.random(self.sizes, self.size.columns, 2 * most + SPARE_POINTS, self.random)
        return self._points[n]

    def ring(self, n: int) -> dict[Shapes, int]:
        """The multiplicities of the types of C_n, exact.

        Raises
        ------
        MethodUnavailableError
            If the covariants that were tried do not span.
        TimeLimitError
            If the limit was reached.
        """
        while n >= (degree := len(self.multiplicities)):
            spaces, exact = pieri(self.multiplicities[-1], self.sizes), dict[Shapes, int]()
            for shapes, bound in watched(section_multiplicities(self.size, degree).items()):
                if (number := exact.get(self._mirrored(shapes))) is not None:
                    exact[shapes] = number
                    continue
                number = len(_independent(self._values(shapes, lambda T: T.values(self.points(T.degree))), bound))
                if number < bound:
                    number = self._multiplicity(shapes, spaces[shapes], bound)
                exact[shapes] = number
            self.multiplicities.append({shapes: number for shapes, number in exact.items() if number})
        return self.multiplicities[n]

    def generators(self, n: int) -> dict[Shapes, int]:
        """The types of minimal generators of degree n, with their multiplicities; raises as :meth:`ring`.

        In larger spaces than those of the core, only types with more rows than the core has.
        """
        if n not in self._generators:
            now, below = self.ring(n), self.ring(n - 1)
            squares = times(EXTERIOR_SQUARE, self.ring(n - 2), self.sizes) if n > 1 else Counter[Shapes]()
            boundaries, found = dict[Shapes, Any](), dict[Shapes, int]()
            for shapes, number in watched(sorted(pieri(below, self.sizes).items())):
                kernel = number - now.get(shapes, 0)
                if not kernel or (self.sizes != self.size.dimensions and not self.size.lacks_rows(shapes)):
                    continue
                if len(boundaries.get(self._mirrored(shapes), ())) == kernel:
                    continue
                basis = _independent(self._values(shapes, lambda T: boundary(T, self.points(T.degree))), kernel)
                if len(basis) < kernel:
                    basis = self._cycles(shapes, number, kernel, squares[shapes], basis)
                if basis:
                    boundaries[shapes] = [values for _, values in basis]
                if len(basis) < kernel:
                    found[shapes] = kernel - len(basis)
            self.boundaries[n], self._generators[n] = boundaries, found
        return self._generators[n]

    def _mirrored(self, shapes: Shapes) -> Shapes:
        """The type with X and H exchanged, where these have the same role: l_i·v_k does not know which is which."""
        first, second, third = shapes
        same = self.size.columns == self.size.rows and self.sizes == self.size.dimensions
        return (second, first, third) if same else shapes

    def _values(self, shapes: Shapes, evaluate: Callable[[Covariant], Any]) -> Iterator[Evaluated]:
        """Covariants at random with their values, until the consumer has enough."""
        while (covariant := Covariant.random(shapes, self.random)) is not None:
            yield covariant, evaluate(covariant) % LARGE_PRIME

    def _multiplicity(self, shapes: Shapes, space: int, bound: int) -> int:
        """The multiplicity in C_n over QQ, by covariants that span all functionals on W ⊗ C_{n−1}."""
        points = self.points(sum(shapes[0]))
        spanning = self._spanning(shapes, space, lambda T: T.values(points, (FIRST,)))
        if not spanning:
            return 0
        source = littlewood_richardson(shapes[0], shapes[1], self.sizes[2])[shapes[2]]
        self._spanning(shapes, source, lambda T: T.values(points, symmetric=False))
        number = rank([T.values(points).tolist() for T in spanning])
        if number > bound:
            raise ContradictionError(f"the multiplicity of {shapes} is {number}, more than {bound} in the sections")
        return number

    def _cycles(self, shapes: Shapes, space: int, kernel: int, square: int, basis: list[Evaluated]) -> list[Evaluated]:
        """A basis of the boundaries of this type over QQ, by covariants that span all functionals on Λ²W ⊗ C_{n−2}."""
        points = Points.random(self.sizes, self.size.columns, 2 * max(square, space) + SPARE_POINTS, self.random)
        self._spanning(shapes, space, lambda T: T.values(points, (FIRST,)))
        spanning = self._spanning(shapes, square, lambda T: alternating(T, points))
        number = rank([boundary(T, points).tolist() for T in spanning])
        more = ((T, boundary(T, self.points(T.degree)) % LARGE_PRIME) for T in spanning)
        basis = _independent(chain(basis, more), kernel, inf)
        if len(basis) != number:
            raise MethodUnavailableError(f"the points do not separate the covariants of type {shapes}; try again")
        return basis

    def _spanning(self, shapes: Shapes, dimension: int, evaluate: Callable[[Covariant], Any]) -> list[Covariant]:
        """Covariants whose values are independent, in this number.

        Raises
        ------
        MethodUnavailableError
            If so many were not found.
        """
        found = _independent(self._values(shapes, evaluate), dimension, MOST_TRIES)
        if len(found) < dimension:
            raise MethodUnavailableError(f"{len(found)} of {dimension} covariants of type {shapes} were found")
        return [covariant for covariant, _ in found]


def boundary(covariant: Covariant, points: Points) -> Any:
    """The function T(w, c, c, …) − T(c, w, c, …): the image of that of :func:`alternating`."""
    return covariant.values(points, (FIRST, GENERIC)) - covariant.values(points, (GENERIC, FIRST))


def alternating(covariant: Covariant, points: Points) -> Any:
    """The function T(w, w', c, …) − T(w', w, c, …) on Λ²W ⊗ C_{n−2}."""
    return covariant.values(points, (FIRST, SECOND)) - covariant.values(points, (SECOND, FIRST))


def _independent(candidates: Iterable[Evaluated], most: int, stale_most: float = STALE) -> list[Evaluated]:
    """Those with independent values modulo the prime, at most so many; it ends after so many without a gain."""
    iterator = iter(candidates)
    found: list[Evaluated] = []
    stale = 0
    while len(found) < most and stale < stale_most:
        if not (more := list(islice(iterator, most - len(found) + 2))):
            break
        both = [*found, *more]
        chosen = independent_rows([values for _, values in both])
        stale = 0 if len(chosen) > len(found) else stale + len(more)
        found = [both[j] for j in chosen]
    if len(found) > most:
        raise ContradictionError(f"{len(found)} independent covariants, and the space has dimension {most}")
    return found


def independent_rows(rows: list[Any]) -> tuple[int, ...]:
    """The positions of the rows that are no combinations of the ones before modulo the prime."""
    return reduced_echelon(flint.nmod_mat([row.tolist() for row in rows], LARGE_PRIME).transpose())[1]
