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
import numpy

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
    """The multiplicity spaces of the coordinate ring of a core, degree by degree.

    Parameters
    ----------
    size : CoreSize
    last : int
        The degree up to which there are enough points for generators.
    sizes : tuple of int
        Dimensions of X, H, Y; at least those of the core, and more where minors are looked for.
    points : Points
    random : Random
    multiplicities : list of dict
        Of the types of C_0, C_1, …, exact.
    boundaries : list of dict
        For each degree the types in the image of Λ²W ⊗ C_{n−2}, with bases of its values at the points, modulo a prime.
    generators : list of dict
        For each degree the types of minimal generators, with their multiplicities.
    """

    size: CoreSize
    last: int
    sizes: tuple[int, int, int]
    points: Points
    random: Random
    multiplicities: list[dict[Shapes, int]] = field(default_factory=lambda: [{((), (), ()): 1}])
    boundaries: list[dict[Shapes, Any]] = field(default_factory=lambda: [{}])
    generators: list[dict[Shapes, int]] = field(default_factory=lambda: [{}])

    @classmethod
    def of(
        cls, size: CoreSize, last: int, sizes: tuple[int, int, int] | None = None, *, seed: int = 0
    ) -> MultiplicitySpaces:
        """The beginning, for what has at most this degree."""
        sizes, random = sizes or (size.columns, size.rows, size.variables), Random(seed)
        count = max(max(pieri(section_multiplicities(size, n - 1), sizes).values()) for n in range(1, last + 1))
        points = Points.random(sizes, size.columns, 2 * count + SPARE_POINTS, random)
        return cls(size, last, sizes, points, random)

    def next_degree(self) -> None:
        """Compute the coordinate ring and the generators in the next degree.

        Raises
        ------
        MethodUnavailableError
            If the covariants that were tried do not span.
        TimeLimitError
            If the limit was reached.
        """
        self.next_part_of_ring()
        self._next_generators()

    def next_part_of_ring(self) -> None:
        """Compute the coordinate ring in the next degree."""
        spaces, exact = pieri(self.multiplicities[-1], self.sizes), dict[Shapes, int]()
        for shapes, bound in watched(section_multiplicities(self.size, len(self.multiplicities)).items()):
            number = len(_independent(self._values(shapes, lambda T: T.values(self.points)), bound))
            if number < bound:
                number = self._multiplicity(shapes, spaces[shapes], bound)
            if number:
                exact[shapes] = number
        self.multiplicities.append(exact)

    def _next_generators(self) -> None:
        """Compute the minimal generators of the degree of the last part of the ring."""
        n = len(self.multiplicities) - 1
        below, now = self.multiplicities[n - 1], self.multiplicities[n]
        squares = times(EXTERIOR_SQUARE, self.multiplicities[n - 2], self.sizes) if n > 1 else Counter[Shapes]()
        self.boundaries.append({})
        self.generators.append({})
        for shapes, number in watched(sorted(pieri(below, self.sizes).items())):
            kernel = number - now.get(shapes, 0)
            if not kernel:
                continue
            basis = _independent(self._values(shapes, lambda T: boundary(T, self.points)), kernel)
            if len(basis) < kernel:
                basis = self._cycles(shapes, number, kernel, squares[shapes], basis)
            if len(basis):
                self.boundaries[n][shapes] = basis
            if len(basis) < kernel:
                self.generators[n][shapes] = kernel - len(basis)

    def _values(self, shapes: Shapes, evaluate: Callable[[Covariant], Any]) -> Iterator[Any]:
        """The values of covariants at random, until the consumer has enough."""
        while (covariant := Covariant.random(shapes, self.random)) is not None:
            yield evaluate(covariant) % LARGE_PRIME

    def _multiplicity(self, shapes: Shapes, space: int, bound: int) -> int:
        """The multiplicity in C_n over QQ, by covariants that span all functionals on W ⊗ C_{n−1}."""
        spanning = self._spanning(shapes, space, lambda T: T.values(self.points, (FIRST,)))
        if not spanning:
            return 0
        source = littlewood_richardson(shapes[0], shapes[1], self.sizes[2])[shapes[2]]
        self._spanning(shapes, source, lambda T: T.values(self.points, symmetric=False))
        rank = _rational_rank([T.values(self.points) for T in spanning])
        if rank > bound:
            raise ContradictionError(f"the multiplicity of {shapes} is {rank}, more than that in the sections, {bound}")
        return rank

    def _cycles(self, shapes: Shapes, space: int, kernel: int, square: int, basis: Any) -> Any:
        """A basis of the boundaries of this type over QQ, by covariants that span all functionals on Λ²W ⊗ C_{n−2}."""
        points = Points.random(self.sizes, self.size.columns, 2 * max(square, space) + SPARE_POINTS, self.random)
        self._spanning(shapes, space, lambda T: T.values(points, (FIRST,)))
        spanning = self._spanning(shapes, square, lambda T: alternating(T, points))
        rank = _rational_rank([boundary(T, points) for T in spanning])
        more = (boundary(T, self.points) % LARGE_PRIME for T in spanning)
        basis = _independent(chain(basis, more), kernel, inf)
        if len(basis) != rank:
            raise MethodUnavailableError(f"the points do not separate the covariants of type {shapes}; try again")
        return basis

    def _spanning(self, shapes: Shapes, dimension: int, evaluate: Callable[[Covariant], Any]) -> list[Covariant]:
        """Covariants whose values are independent, in this number.

        Raises
        ------
        MethodUnavailableError
            If so many were not found.
        """
        found: list[Covariant] = []
        basis: Any = numpy.zeros((0, 0), dtype=numpy.int64)
        stale = 0
        while len(found) < dimension:
            covariant = Covariant.random(shapes, self.random) if stale < MOST_TRIES else None
            if covariant is None:
                raise MethodUnavailableError(f"{len(found)} of {dimension} covariants of type {shapes} were found")
            larger = _echelon([*basis, evaluate(covariant) % LARGE_PRIME])
            stale = 0 if len(larger) > len(basis) else stale + 1
            found += [covariant] if len(larger) > len(basis) else []
            basis = larger
        return found


def boundary(covariant: Covariant, points: Points) -> Any:
    """The function T(w, c, c, …) − T(c, w, c, …): the image of that of :func:`alternating`."""
    return covariant.values(points, (FIRST, GENERIC)) - covariant.values(points, (GENERIC, FIRST))


def alternating(covariant: Covariant, points: Points) -> Any:
    """The function T(w, w', c, …) − T(w', w, c, …) on Λ²W ⊗ C_{n−2}."""
    return covariant.values(points, (FIRST, SECOND)) - covariant.values(points, (SECOND, FIRST))


def _independent(vectors: Iterable[Any], most: int, stale_most: float = STALE) -> Any:
    """A basis of the span of vectors modulo the prime, of at most this size; it ends after so many without a gain."""
    iterator = iter(vectors)
    basis: Any = numpy.zeros((0, 0), dtype=numpy.int64)
    stale = 0
    while len(basis) < most and stale < stale_most:
        size = most - len(basis) + 2
        if not (more := list(islice(iterator, size))):
            break
        larger = _echelon([*basis, *more])
        stale = 0 if len(larger) > len(basis) else stale + len(more)
        basis = larger
    if len(basis) > most:
        raise ContradictionError(f"{len(basis)} independent covariants, and the space has dimension {most}")
    return basis


def _echelon(rows: list[Any]) -> Any:
    echelon, rank = flint.nmod_mat([row.tolist() for row in rows], LARGE_PRIME).rref()
    return numpy.array([[int(x) for x in row] for row in echelon.tolist()[:rank]], dtype=numpy.int64).reshape(
        rank, len(rows[0])
    )


def _rational_rank(rows: list[Any]) -> int:
    return int(flint.fmpz_mat([row.tolist() for row in rows]).rank()) if rows else 0
