"""Multiplicity spaces of the coordinate ring of a core, as spans of values of covariants.

Notation of docs/completeness.md and docs/representations.md. For each type S_λX ⊗ S_μH ⊗ S_νY the
values of covariants at points with integer coordinates span three spaces: in C_n, in W ⊗ C_{n−1},
and in it the image of Λ²W ⊗ C_{n−2}. Their dimensions are the multiplicity in the coordinate ring,
a number known by Pieri's rule, and that number less the first less the number of minimal
generators. Ranks modulo a prime are lower bounds. Where such a bound is not the largest possible,
the covariants are shown to span, and the rank of their values is computed over QQ.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import product
from math import ceil, comb, prod
from random import Random
from typing import Any

import flint

from m2bridge.algebra import schur
from m2bridge.algebra.linear_algebra import rank, reduced_echelon
from m2bridge.algebra.numbers import LARGE_PRIME
from m2bridge.algebra.schur import (
    Shapes as AnyShapes,
    littlewood_richardson,
    partitions,
    strips_added,
)
from m2bridge.errors import ContradictionError, MethodUnavailableError
from m2bridge.families.attention.ideal.covariants import (
    FIRST,
    SECOND,
    Covariant,
    PartitionTriple,
    SourcePoints,
    values,
)
from m2bridge.families.attention.ideal.sections import CoreSize, section_count
from m2bridge.limits import check_deadline_in

Sizes = tuple[int, int, int]
"""Dimensions of X, H, Y."""
SCALARS: PartitionTriple = ((), (), ())
"""The type of C_0."""

SPARE_POINTS = 8
"""Points beyond twice the largest possible rank, should some of them be special."""
MAX_USELESS_TRIES = 60
"""After this many covariants without a gain, it is computed whether they span."""
MAX_RANK_TRIES = 5000
"""After this many covariants without a gain, the computation is given up."""
Evaluated = tuple[Covariant, Any]
"""A covariant, and its values at points modulo the prime."""
CovariantEvaluation = Callable[[Sequence[Covariant]], Any]
"""Maps covariants of one type to their values, a row for each covariant."""

EXTERIOR_SQUARE: tuple[PartitionTriple, ...] = (
    ((2,), (2,), (3, 1)),
    ((1, 1), (1, 1), (3, 1)),
    ((2,), (1, 1), (4,)),
    ((2,), (1, 1), (2, 2)),
    ((1, 1), (2,), (4,)),
    ((1, 1), (2,), (2, 2)),
)
"""Λ²(X ⊗ H ⊗ S²Y): S²(S²Y) = S_4 + S_22, Λ²(S²Y) = S_31."""


def section_multiplicities(size: CoreSize, n: int) -> dict[PartitionTriple, int]:
    """Return the multiplicities in Γ_n; docs/completeness.md, Proposition 2.

    Raises
    ------
    ContradictionError
        If their dimensions do not add up to the number of sections.
    """
    e, f, m = size.dimensions
    # Without products of l_i and v_k, the source has S_λX ⊗ S_μH ⊗ (S_λY ⊗ S_μY).
    found: Counter[PartitionTriple] = Counter()
    for first, second in product(partitions(n, e), partitions(n, f)):
        for third, number in littlewood_richardson(first, second, m).items():
            found[first, second, third] = number
    # No sections are the forms with different values where k and v are exchanged, and those that
    # are odd in the difference where the two come together.
    if m > 1:
        for j in range(1, n + 1, 2):
            found[(n,), (n,), (2 * n - j, j)] -= 1
    for i, j in product(range(min(e, n)), range(min(f, n))):
        if 1 <= i + j <= m - 2:
            found[_hook(n, i), _hook(n, j), _hook(2 * n, i + j + 1)] -= 1
    sections = section_count(columns=e, rows=f, variables=m, rank=e, n=n)
    if min(found.values()) < 0 or total_dimension(found, size.dimensions) != sections:
        raise ContradictionError(
            f"the representations of the sections of degree {n} of {size} do not add up"
        )
    return {shapes: number for shapes, number in found.items() if number}


def _hook(n: int, legs: int) -> tuple[int, ...]:
    return (n - legs, *(1,) * legs)


def times(
    factors: Iterable[AnyShapes], ring: Mapping[PartitionTriple, int], sizes: Sizes
) -> Counter[PartitionTriple]:
    """Return the multiplicities in Λ²W ⊗ C, for the types of Λ²W."""
    total: Counter[PartitionTriple] = Counter()
    for factor, (shapes, number) in product(factors, ring.items()):
        terms = map(littlewood_richardson, shapes, factor, sizes)
        for (a, first), (b, second), (c, third) in product(*(found.items() for found in terms)):
            total[a, b, c] += number * first * second * third
    _check_dimension(total, comb(_variables(sizes), 2), ring, sizes)
    return total


def pieri(ring: Mapping[PartitionTriple, int], sizes: Sizes) -> Counter[PartitionTriple]:
    """Return the multiplicities in W ⊗ C: a box for X, one for H, a strip of two for Y."""
    total: Counter[PartitionTriple] = Counter()
    for shapes, number in ring.items():
        for a, b, c in product(*map(strips_added, shapes, (1, 1, 2), sizes)):
            total[a, b, c] += number
    _check_dimension(total, _variables(sizes), ring, sizes)
    return total


def _variables(sizes: Sizes) -> int:
    """Return the dimension of W."""
    return sizes[0] * sizes[1] * comb(sizes[2] + 1, 2)


def total_dimension(types: Mapping[PartitionTriple, int], sizes: Sizes) -> int:
    """Return the dimension of a sum of types."""
    total = 0
    for shapes, number in types.items():
        total += number * prod(map(schur.dimension, shapes, sizes))
    return total


def _check_dimension(
    found: Mapping[PartitionTriple, int],
    factor: int,
    ring: Mapping[PartitionTriple, int],
    sizes: Sizes,
) -> None:
    """Check that the representations of W ⊗ C_n have the dimension dim W·dim C_n together."""
    if total_dimension(found, sizes) != factor * total_dimension(ring, sizes):
        raise ContradictionError(
            "the representations of a tensor product do not have its dimension"
        )


def _enough(rank: int) -> int:
    """Return a number of points that is enough for ``rank`` independent values."""
    # As many points are enough if none is special; twice as many leave a margin.
    return 2 * rank + SPARE_POINTS


@dataclass(eq=False)
class MultiplicitySpaces:
    """The multiplicity spaces of the coordinate ring of a core, degree by degree as asked for.

    Parameters
    ----------
    size : CoreSize
    sizes : tuple of int
        Dimensions of X, H, Y: those of the core, or larger ones where minors are looked for.
    random : Random
    multiplicities : list of dict
        Multiplicities of the types of C_0, C_1, …, as far as computed. They do not depend on the
        dimensions.
    boundaries : dict
        For each degree the types in the image of Λ²W ⊗ C_{n−2}, with bases of its values at the
        points, modulo a prime.
    """

    size: CoreSize
    sizes: Sizes
    random: Random = field(default_factory=lambda: Random(0))
    multiplicities: list[dict[PartitionTriple, int]] = field(default_factory=lambda: [{SCALARS: 1}])
    boundaries: dict[int, dict[PartitionTriple, Any]] = field(default_factory=dict)
    _points: dict[int, SourcePoints] = field(default_factory=dict)
    _few_points: dict[tuple[int, int], SourcePoints] = field(default_factory=dict)
    _generators: dict[int, dict[PartitionTriple, int]] = field(default_factory=dict)

    def points(self, n: int) -> SourcePoints:
        """Return points that are enough for all types in W ⊗ C_{n−1}."""
        if n not in self._points:
            most = max(pieri(section_multiplicities(self.size, n - 1), self.sizes).values())
            self._points[n] = self._enough_points(most)
        return self._points[n]

    def few_points(self, n: int, rank: int) -> SourcePoints:
        """Return as many of the points as this number of independent values needs."""
        # Types with about the same rank share them.
        count = _enough(4 * ceil(rank / 4))
        if (n, count) not in self._few_points:
            self._few_points[n, count] = self.points(n).first(count)
        return self._few_points[n, count]

    def _enough_points(self, rank: int) -> SourcePoints:
        """Return enough points for this number of covariants to have independent values."""
        return SourcePoints.random(self.sizes, self.size.columns, _enough(rank), self.random)

    def ring(self, n: int) -> dict[PartitionTriple, int]:
        """Return the multiplicities of the types of C_n, exact.

        Raises
        ------
        MethodUnavailableError
            If the covariants that were tried do not span.
        TimeLimitError
            If the limit was reached.
        """
        for degree in range(len(self.multiplicities), n + 1):
            spaces = pieri(self.multiplicities[-1], self.sizes)
            exact: dict[PartitionTriple, int] = {}
            for shapes, bound in check_deadline_in(
                section_multiplicities(self.size, degree).items()
            ):
                mirrored = self._mirrored(shapes)
                if mirrored in exact:
                    exact[shapes] = exact[mirrored]
                    continue
                evaluate = partial(self._at_few_points, values, bound)
                number = len(self._independent(shapes, evaluate, bound))
                # A rank modulo the prime is a lower bound, and proved where it is the upper one.
                if number < bound:
                    number = self._multiplicity(shapes, spaces[shapes], bound)
                exact[shapes] = number
            present = {shapes: number for shapes, number in exact.items() if number}
            self.multiplicities.append(present)
        return self.multiplicities[n]

    def generators(self, n: int) -> dict[PartitionTriple, int]:
        """Return the types of minimal generators of degree n, with multiplicities; raises as ring.

        In larger spaces than those of the core, only types with more rows than the core has.
        """
        if n in self._generators:
            return self._generators[n]
        now = self.ring(n)
        below = self.ring(n - 1)
        squares: Counter[PartitionTriple] = Counter()
        if n > 1:
            squares = times(EXTERIOR_SQUARE, self.ring(n - 2), self.sizes)
        boundaries: dict[PartitionTriple, Any] = {}
        found: dict[PartitionTriple, int] = {}
        for shapes, number in check_deadline_in(sorted(pieri(below, self.sizes).items())):
            # The ideal in W ⊗ C_{n−1}; what lower degrees generate in it are the boundaries.
            kernel = number - now.get(shapes, 0)
            if not kernel:
                continue
            if self.sizes != self.size.dimensions and not self.size.lacks_rows(shapes):
                continue
            # The mirrored type has only boundaries, so this one has no generators either.
            if len(boundaries.get(self._mirrored(shapes), ())) == kernel:
                continue
            evaluate = partial(self._at_few_points, boundary, kernel)
            basis = self._independent(shapes, evaluate, kernel)
            if len(basis) < kernel:
                basis = self._all_boundaries(
                    shapes, space=number, kernel=kernel, square=squares[shapes], basis=basis
                )
            if basis:
                boundaries[shapes] = [row for _, row in basis]
            if len(basis) < kernel:
                found[shapes] = kernel - len(basis)
        self.boundaries[n] = boundaries
        self._generators[n] = found
        return found

    def _mirrored(self, shapes: PartitionTriple) -> PartitionTriple:
        """Return the type with X and H exchanged, where these have the same role.

        l_i·v_k does not know which is which.
        """
        if self.size.columns != self.size.rows or self.sizes != self.size.dimensions:
            return shapes
        first, second, third = shapes
        return second, first, third

    def _at_few_points(
        self,
        function: Callable[[Sequence[Covariant], SourcePoints], Any],
        rank: int,
        covariants: Sequence[Covariant],
    ) -> Any:
        """Return the values of covariants at enough points for this number of independent ones."""
        return function(covariants, self.few_points(covariants[0].degree, rank))

    def _multiplicity(self, shapes: PartitionTriple, space: int, bound: int) -> int:
        """Return the multiplicity in C_n over QQ, by covariants that span all that can be.

        They span the functionals on W ⊗ C_{n−1}.
        """
        points = self.points(sum(shapes[0]))
        spanning = self._spanning(shapes, space, partial(values, points=points, factors=(FIRST,)))
        if not spanning:
            return 0
        # The points separate all functions on the source, so that the rank of values is that of
        # the functions.
        source = littlewood_richardson(shapes[0], shapes[1], self.sizes[2])[shapes[2]]
        self._spanning(shapes, source, partial(values, points=points, symmetric=False))
        number = rank(values(spanning, points).tolist())
        if number > bound:
            raise ContradictionError(
                f"the multiplicity of {shapes} is {number}, more than {bound} in the sections"
            )
        return number

    def _all_boundaries(
        self, shapes: PartitionTriple, space: int, kernel: int, square: int, basis: list[Evaluated]
    ) -> list[Evaluated]:
        """Return a basis of the boundaries of this type over QQ, which some covariants begin.

        Covariants span all functionals on Λ²W ⊗ C_{n−2}, of which the boundaries are images. The
        multiplicity of the type is ``square`` there, ``space`` in W ⊗ C_{n−1} and ``kernel`` in the
        kernel of the map from there to C_n, where the boundaries are.

        Raises
        ------
        MethodUnavailableError
            If unlucky points do not separate the covariants.
        """
        points = self._enough_points(max(square, space))
        # The points separate all functionals on W ⊗ C_{n−1}.
        self._spanning(shapes, space, partial(values, points=points, factors=(FIRST,)))
        spanning = self._spanning(shapes, square, partial(alternating, points=points))
        number = rank(boundary(spanning, points).tolist())
        if spanning:
            images = self._at_few_points(boundary, kernel, spanning) % LARGE_PRIME
            basis = _chosen([*basis, *zip(spanning, images, strict=True)], kernel)
        if len(basis) != number:
            raise MethodUnavailableError(
                f"the points do not separate the covariants of type {shapes}; try again"
            )
        return basis

    def _spanning(
        self, shapes: PartitionTriple, dimension: int, evaluate: CovariantEvaluation
    ) -> list[Covariant]:
        """Return ``dimension`` covariants whose values are independent.

        Raises
        ------
        MethodUnavailableError
            If fewer were found.
        """
        found = self._independent(shapes, evaluate, dimension, MAX_RANK_TRIES)
        if len(found) < dimension:
            raise MethodUnavailableError(
                f"{len(found)} of {dimension} covariants of type {shapes} were found"
            )
        return [covariant for covariant, _ in found]

    def _independent(
        self,
        shapes: PartitionTriple,
        evaluate: CovariantEvaluation,
        most: int,
        stale_most: int = MAX_USELESS_TRIES,
    ) -> list[Evaluated]:
        """Return covariants at random with independent values modulo the prime.

        There are at most ``most``. The search ends after ``stale_most`` covariants without a gain.
        """
        found: list[Evaluated] = []
        stale = 0
        while len(found) < most and stale < stale_most:
            # Two more than are missing: a rank above the largest possible one is an error, which
            # is seen here.
            drawn = self._draw(shapes, most - len(found) + 2)
            if not drawn:
                break
            more = zip(drawn, evaluate(drawn) % LARGE_PRIME, strict=True)
            chosen = _chosen([*found, *more], most)
            stale += len(drawn)
            if len(chosen) > len(found):
                stale = 0
            found = chosen
        return found

    def _draw(self, shapes: PartitionTriple, count: int) -> list[Covariant]:
        """Return this number of random covariants; none where none has been found."""
        drawn = []
        for _ in range(count):
            covariant = Covariant.random(shapes, self.random)
            if covariant is None:
                break
            drawn.append(covariant)
            # The points of a degree are drawn after its first covariant. In another order all that
            # is drawn later would be different, and with it the signs of highest weight vectors.
            self.points(covariant.degree)
        return drawn


def boundary(covariants: Sequence[Covariant], points: SourcePoints) -> Any:
    """Return T(w, c, c, …) − T(c, w, c, …): the images of those of :func:`alternating`."""
    return _alternating(covariants, points, (FIRST,))


def alternating(covariants: Sequence[Covariant], points: SourcePoints) -> Any:
    """Return the functions T(w, w', c, …) − T(w', w, c, …) on Λ²W ⊗ C_{n−2}."""
    return _alternating(covariants, points, (FIRST, SECOND))


def _alternating(
    covariants: Sequence[Covariant], points: SourcePoints, factors: tuple[int, ...]
) -> Any:
    """Return for each covariant T its values less those with its first two arguments exchanged."""
    exchanged = [T.exchanged() for T in covariants]
    both = values([*covariants, *exchanged], points, factors)
    return both[: len(covariants)] - both[len(covariants) :]


def _chosen(candidates: list[Evaluated], most: int) -> list[Evaluated]:
    """Return the candidates with values independent of the previous ones modulo the prime."""
    numbers = independent_rows([row for _, row in candidates])
    if len(numbers) > most:
        raise ContradictionError(
            f"{len(numbers)} independent covariants, and the space has dimension {most}"
        )
    return [candidates[j] for j in numbers]


def independent_rows(rows: list[Any]) -> tuple[int, ...]:
    """Return the positions of rows that are independent of the previous rows modulo the prime."""
    matrix = flint.nmod_mat([row.tolist() for row in rows], LARGE_PRIME)
    return reduced_echelon(matrix.transpose())[1]


@lru_cache(maxsize=64)
def multiplicity_spaces(size: CoreSize, sizes: Sizes) -> MultiplicitySpaces:
    """Return the multiplicity spaces of a core, with X, H, Y of these dimensions.

    What was computed of them is kept.
    """
    if sizes == size.dimensions:
        return MultiplicitySpaces(size, sizes)
    # The multiplicities in the coordinate ring do not depend on the dimensions, and are shared.
    core = multiplicity_spaces(size, size.dimensions)
    return MultiplicitySpaces(size, sizes, core.random, core.multiplicities)
