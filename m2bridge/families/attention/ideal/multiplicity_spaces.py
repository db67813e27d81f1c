"""Multiplicity spaces of the coordinate ring of a core, as spans of values of covariants.

Notation of docs/completeness.md and docs/representations.md: X, H, Y are the spaces of the indices
i, k and of the variables y, W = X ⊗ H ⊗ S²Y is the space of the coordinates, C the coordinate ring
of the core, Γ the ring of sections, which contains it. For each type S_λX ⊗ S_μH ⊗ S_νY the values
of covariants at points with integer coordinates span three spaces: in C_n, in W ⊗ C_{n−1}, and in
it the image of Λ²W ⊗ C_{n−2}, the boundaries. The first has as its dimension the multiplicity c of
the type in C_n, the second a number w known by Pieri's rule, and the third w − c less the number of
minimal generators. Ranks modulo the prime LARGE_PRIME are lower bounds. Where such a bound is not
the largest possible, the covariants are shown to span, and the rank of their values is computed
over QQ.

A type is a triple (λ, μ, ν) of partitions of n, n and 2n. A covariant T of this type is a product
of determinants, a functional on W^{⊗n} which is evaluated at (c, …, c), with the general element c
of W of a point, or with another element w or w' of W in one or two of the arguments.

``sizes`` are dimensions of X, H, Y: as in the core, or larger where minors are looked for.
Multiplicities are exact or not returned: a MethodUnavailableError says that the covariants that
were tried do not span, or the points do not separate them; more independent covariants than there
can be are a ContradictionError.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import product
from math import ceil, comb
from random import Random
from typing import Any

import flint

from m2bridge.algebra.linear_algebra import rank, reduced_echelon
from m2bridge.algebra.numbers import LARGE_PRIME
from m2bridge.algebra.schur import Shapes as AnyShapes, littlewood_richardson, strips_added
from m2bridge.errors import ContradictionError, MethodUnavailableError
from m2bridge.families.attention.ideal.covariants import (
    FIRST,
    SECOND,
    Covariant,
    SourcePoints,
    covariant_values,
)
from m2bridge.families.attention.ideal.sections import (
    CoreSize,
    PartitionTriple,
    Sizes,
    section_multiplicities,
    total_dimension,
)
from m2bridge.limits import check_deadline_in

SCALARS: PartitionTriple = ((), (), ())
"""The type of C_0."""

MAX_RANK_TRIES = 5000
"""After this many covariants that do not raise the rank, the computation is given up."""
EvaluatedCovariant = tuple[Covariant, Any]
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
"""The types of Λ²W, each with multiplicity 1, for W = X ⊗ H ⊗ S²Y.

They follow from S²(S²Y) = S_4 Y + S_22 Y and Λ²(S²Y) = S_31 Y.
"""


def multiply_by_exterior_square(
    exterior_square: Iterable[AnyShapes], ring: Mapping[PartitionTriple, int], sizes: Sizes
) -> Counter[PartitionTriple]:
    """Return the multiplicity of each type in Λ²W ⊗ C_n, from those in C_n."""
    total: Counter[PartitionTriple] = Counter()
    for factor, (shapes, number) in product(exterior_square, ring.items()):
        # for each of X, H and Y the partitions in the product of two, with their multiplicities
        in_X, in_H, in_Y = map(littlewood_richardson, shapes, factor, sizes)
        for of_X, of_H, of_Y in product(in_X, in_H, in_Y):
            multiplicity = in_X[of_X] * in_H[of_H] * in_Y[of_Y]
            total[of_X, of_H, of_Y] += number * multiplicity
    _check_dimension(total, comb(_coordinate_count(sizes), 2), ring, sizes)
    return total


def pieri(ring: Mapping[PartitionTriple, int], sizes: Sizes) -> Counter[PartitionTriple]:
    """Return the multiplicities in W ⊗ C_n by Pieri's rule: a box more for λ and μ, two for ν."""
    total: Counter[PartitionTriple] = Counter()
    boxes_added = (1, 1, 2)  # for X, H, Y
    for shapes, number in ring.items():
        # for each of X, H and Y the partitions with a strip of so many boxes more
        larger_shapes = map(strips_added, shapes, boxes_added, sizes)
        for of_X, of_H, of_Y in product(*larger_shapes):
            total[of_X, of_H, of_Y] += number
    _check_dimension(total, _coordinate_count(sizes), ring, sizes)
    return total


def _coordinate_count(sizes: Sizes) -> int:
    """Return the dimension of W = X ⊗ H ⊗ S²Y, the number of coordinates."""
    x, h, y = sizes
    return x * h * comb(y + 1, 2)


def _check_dimension(
    types: Mapping[PartitionTriple, int],
    factor_dimension: int,
    ring: Mapping[PartitionTriple, int],
    sizes: Sizes,
) -> None:
    """Check that types add up to a tensor product of C_n with a factor of this dimension."""
    if total_dimension(types, sizes) != factor_dimension * total_dimension(ring, sizes):
        raise ContradictionError(
            "the representations of a tensor product do not have its dimension"
        )


def _sufficient_point_count(rank: int) -> int:
    """Return how many general points give ``rank`` independent functions independent values."""
    # one for each function is enough if no point is special; twice as many and 8 leave a margin
    return 2 * rank + 8


@dataclass(eq=False)
class MultiplicitySpaces:
    """The multiplicity spaces of the coordinate ring of a core, degree by degree as asked for."""

    size: CoreSize
    sizes: Sizes
    random: Random = field(default_factory=lambda: Random(0))
    # of the types of C_0, C_1, …, as far as computed, for any dimensions
    multiplicities: list[dict[PartitionTriple, int]] = field(default_factory=lambda: [{SCALARS: 1}])
    # for each degree whose generators were computed, bases of the boundaries of its types, by
    # values modulo the prime; without types whose mirrored type has no generators
    boundaries: dict[int, dict[PartitionTriple, Any]] = field(default_factory=dict)
    _points: dict[int, SourcePoints] = field(default_factory=dict)
    _few_points: dict[tuple[int, int], SourcePoints] = field(default_factory=dict)
    _generators: dict[int, dict[PartitionTriple, int]] = field(default_factory=dict)

    def points(self, n: int) -> SourcePoints:
        """Return points, drawn once, enough for the multiplicity of every type in W ⊗ C_{n−1}."""
        if n not in self._points:
            # C_{n−1} is contained in the sections, whose multiplicities have a formula
            types = pieri(section_multiplicities(self.size, n - 1), self.sizes)
            self._points[n] = self._draw_points(max(types.values()))
        return self._points[n]

    def few_points(self, n: int, rank: int) -> SourcePoints:
        """Return the first of the points of degree n, enough for ``rank`` independent values."""
        # Rounded up, so that types with about the same rank share the points and their tables.
        count = _sufficient_point_count(4 * ceil(rank / 4))
        if (n, count) not in self._few_points:
            self._few_points[n, count] = self.points(n).first_points(count)
        return self._few_points[n, count]

    def _draw_points(self, rank: int) -> SourcePoints:
        """Return new random points, enough for ``rank`` covariants to have independent values."""
        return SourcePoints.random(
            self.sizes, self.size.columns, _sufficient_point_count(rank), self.random
        )

    def ring(self, n: int) -> dict[PartitionTriple, int]:
        """Return the exact multiplicity, not 0, of each type in C_n."""
        for degree in range(len(self.multiplicities), n + 1):
            in_tensor_product = pieri(self.multiplicities[-1], self.sizes)
            sections = section_multiplicities(self.size, degree)
            exact: dict[PartitionTriple, int] = {}
            for shapes, in_sections in check_deadline_in(sections.items()):
                mirrored = self._mirrored_type(shapes)
                # the type itself, which is not yet in ``exact``, if there is no symmetry
                if mirrored in exact:
                    exact[shapes] = exact[mirrored]
                    continue
                # at enough points for as many independent values as the type may have
                evaluate = partial(self._evaluate_at_few_points, covariant_values, in_sections)
                exact[shapes] = len(self._independent_covariants(shapes, evaluate, in_sections))
                # The rank modulo the prime is a lower bound: where it is equal to the upper one,
                # the multiplicity is proved.
                if exact[shapes] < in_sections:
                    space = in_tensor_product[shapes]
                    exact[shapes] = self._exact_multiplicity(shapes, space, in_sections)
            present = {shapes: number for shapes, number in exact.items() if number}
            self.multiplicities.append(present)
        return self.multiplicities[n]

    def generators(self, n: int) -> dict[PartitionTriple, int]:
        """Return the types of minimal generators of degree n ≥ 1, with their multiplicities.

        If the spaces are larger than in the core, only types with more rows than the core has are
        looked at.
        """
        if n in self._generators:
            return self._generators[n]
        are_larger_spaces = self.sizes != self.size.dimensions
        boundaries: dict[PartitionTriple, Any] = {}
        generators: dict[PartitionTriple, int] = {}
        in_ring = self.ring(n)
        in_tensor_product = pieri(self.ring(n - 1), self.sizes)
        in_squares: Counter[PartitionTriple] = Counter()
        if n > 1:
            in_squares = multiply_by_exterior_square(EXTERIOR_SQUARE, self.ring(n - 2), self.sizes)
        for shapes, space in check_deadline_in(sorted(in_tensor_product.items())):
            # in the kernel of the surjective map W ⊗ C_{n−1} → C_n: boundaries and generators
            kernel = space - in_ring.get(shapes, 0)
            # types of the core are counted with the spaces of the core
            if not kernel or (are_larger_spaces and not self.size.lacks_rows(shapes)):
                continue
            # If the kernel of the mirrored type consists of boundaries, so does this one: there are
            # no generators. The mirrored type is this type, not yet seen, without the symmetry.
            if len(boundaries.get(self._mirrored_type(shapes), ())) == kernel:
                continue
            # covariants whose boundaries are a basis of all, with their values
            evaluate = partial(self._evaluate_at_few_points, boundary_values, kernel)
            basis = self._independent_covariants(shapes, evaluate, kernel)
            if len(basis) < kernel:
                # the rank modulo the prime is a lower bound only
                square = in_squares[shapes]
                basis = self._exact_boundaries(shapes, space, square, kernel, basis)
            if basis:
                boundaries[shapes] = [row for _, row in basis]
            if len(basis) < kernel:
                # what lower degrees do not generate
                generators[shapes] = kernel - len(basis)
        self.boundaries[n] = boundaries
        self._generators[n] = generators
        return generators

    def _mirrored_type(self, shapes: PartitionTriple) -> PartitionTriple:
        """Return the type with X and H exchanged, which has the same multiplicities.

        This holds for as many forms l_i as v_k, as l_i·v_k = v_k·l_i. Else, and in larger spaces
        than the core has, the type itself is returned.
        """
        if self.size.columns != self.size.rows or self.sizes != self.size.dimensions:
            return shapes
        of_X, of_H, of_Y = shapes
        return of_H, of_X, of_Y

    def _evaluate_at_few_points(
        self,
        function: Callable[[Sequence[Covariant], SourcePoints], Any],
        rank: int,
        covariants: Sequence[Covariant],
    ) -> Any:
        """Return the values, or boundary values, of covariants at enough points for a rank."""
        return function(covariants, self.few_points(covariants[0].degree, rank))

    def _exact_multiplicity(self, shapes: PartitionTriple, space: int, in_sections: int) -> int:
        """Return the multiplicity of a type in C_n, as a rank over QQ.

        It is the rank in C_n of covariants that span all functionals of this type on W ⊗ C_{n−1}
        (docs/representations.md, Multiplicities from ranks, item 3).
        """
        points = self.points(sum(shapes[0]))
        spanning = self._spanning_covariants(
            shapes, space, partial(covariant_values, points=points, elements=(FIRST,))
        )
        if not spanning:
            # the type does not occur in W ⊗ C_{n−1}
            return 0
        # If as many covariants as there are functions of this type on the source have independent
        # values, the points separate these functions, and values have the rank of functions.
        # The covariants are not used: it is enough that no error is raised.
        on_source = littlewood_richardson(shapes[0], shapes[1], self.sizes[2])[shapes[2]]
        self._spanning_covariants(
            shapes, on_source, partial(covariant_values, points=points, symmetric=False)
        )
        number = rank(covariant_values(spanning, points).tolist())
        if number > in_sections:
            raise ContradictionError(
                f"the multiplicity of {shapes} is {number}, more than {in_sections} in the sections"
            )
        return number

    def _exact_boundaries(
        self,
        shapes: PartitionTriple,
        space: int,
        square: int,
        kernel: int,
        basis: list[EvaluatedCovariant],
    ) -> list[EvaluatedCovariant]:
        """Return a basis of all boundaries of a type, which begins with ``basis``; proved over QQ.

        The boundaries are the images of covariants that span all functionals on Λ²W ⊗ C_{n−2},
        where the type has the multiplicity ``square``; in W ⊗ C_{n−1} it has ``space``
        (docs/representations.md, Multiplicities from ranks, item 4).
        """
        points = self._draw_points(max(square, space))
        # These covariants are not used. If as many as the functionals on W ⊗ C_{n−1} have
        # independent values, the points separate these functionals, boundaries among them.
        self._spanning_covariants(
            shapes, space, partial(covariant_values, points=points, elements=(FIRST,))
        )
        spanning = self._spanning_covariants(
            shapes, square, partial(alternating_values, points=points)
        )
        exact_rank = rank(boundary_values(spanning, points).tolist())
        if spanning:  # none are needed where the type does not occur in Λ²W ⊗ C_{n−2}
            images = self._evaluate_at_few_points(boundary_values, kernel, spanning) % LARGE_PRIME
            basis = _drop_dependent([*basis, *zip(spanning, images, strict=True)], kernel)
        # the basis is chosen by values modulo the prime, at few points, and may be too small
        if len(basis) != exact_rank:
            raise MethodUnavailableError(
                f"the points do not separate the covariants of type {shapes}; try again"
            )
        return basis

    def _spanning_covariants(
        self, shapes: PartitionTriple, dimension: int, evaluate: CovariantEvaluation
    ) -> list[Covariant]:
        """Return covariants that span a space of functionals of this dimension."""
        evaluated = self._independent_covariants(
            shapes, evaluate, largest_rank=dimension, max_useless=MAX_RANK_TRIES
        )
        if len(evaluated) < dimension:
            raise MethodUnavailableError(
                f"{len(evaluated)} of {dimension} covariants of type {shapes} were found"
            )
        return [covariant for covariant, _ in evaluated]

    def _independent_covariants(
        self,
        shapes: PartitionTriple,
        evaluate: CovariantEvaluation,
        largest_rank: int,
        max_useless: int = 60,
    ) -> list[EvaluatedCovariant]:
        """Return random covariants of a type with independent values modulo the prime.

        The search ends at the largest rank, where only zero covariants are drawn, and after
        ``max_useless`` that do not raise the rank; then it is computed whether they span.
        """
        evaluated: list[EvaluatedCovariant] = []
        useless = 0
        while len(evaluated) < largest_rank and useless < max_useless:
            # Two more than are missing: a rank above the largest possible one is an error, which
            # is seen here.
            candidates = self._draw_covariants(shapes, largest_rank - len(evaluated) + 2)
            if not candidates:
                break
            more = zip(candidates, evaluate(candidates) % LARGE_PRIME, strict=True)
            independent = _drop_dependent([*evaluated, *more], largest_rank)
            useless += len(candidates)
            if len(independent) > len(evaluated):
                useless = 0
            evaluated = independent
        return evaluated

    def _draw_covariants(self, shapes: PartitionTriple, count: int) -> list[Covariant]:
        """Return random covariants of a type; fewer than ``count`` if only zero ones are drawn."""
        covariants = []
        for _ in range(count):
            covariant = Covariant.random(shapes, self.random)
            if covariant is None:
                break
            covariants.append(covariant)
            # The points of a degree are drawn after its first covariant. In another order all that
            # is drawn later would be different, and with it the signs of highest weight vectors.
            self.points(covariant.degree)
        return covariants


def boundary_values(covariants: Sequence[Covariant], points: SourcePoints) -> Any:
    """Return the values of T(w, c, c, …) − T(c, w, c, …) at points, a row for each covariant T."""
    return _values_less_exchanged(covariants, points, (FIRST,))


def alternating_values(covariants: Sequence[Covariant], points: SourcePoints) -> Any:
    """Return the values of T(w, w', c, …) − T(w', w, c, …), a row for each covariant T."""
    return _values_less_exchanged(covariants, points, (FIRST, SECOND))


def _values_less_exchanged(
    covariants: Sequence[Covariant], points: SourcePoints, elements: tuple[int, ...]
) -> Any:
    """Return the values of each covariant, less those with its first two arguments exchanged."""
    exchanged = [T.exchange_first_factors() for T in covariants]
    values = covariant_values([*covariants, *exchanged], points, elements)
    return values[: len(covariants)] - values[len(covariants) :]


def _drop_dependent(
    candidates: list[EvaluatedCovariant], dimension: int
) -> list[EvaluatedCovariant]:
    """Return each candidate whose values are independent of all previous ones, modulo the prime."""
    positions = independent_rows([row for _, row in candidates])
    if len(positions) > dimension:
        raise ContradictionError(
            f"{len(positions)} independent covariants, and the space has dimension {dimension}"
        )
    return [candidates[position] for position in positions]


def independent_rows(rows: list[Any]) -> tuple[int, ...]:
    """Return the positions of the rows that are independent of rows before, modulo the prime."""
    matrix = flint.nmod_mat([row.tolist() for row in rows], LARGE_PRIME)
    # the rows are columns of the transpose, where pivots are independent of the columns before them
    return reduced_echelon(matrix.transpose()).pivots


@lru_cache(maxsize=64)
def multiplicity_spaces(size: CoreSize, sizes: Sizes) -> MultiplicitySpaces:
    """Return the multiplicity spaces of a core, with X, H, Y of these dimensions; computed once."""
    if sizes == size.dimensions:
        return MultiplicitySpaces(size, sizes)
    # The multiplicities in the coordinate ring do not depend on the dimensions: both objects share
    # the list of them, and the source of random numbers.
    core = multiplicity_spaces(size, size.dimensions)
    return MultiplicitySpaces(size, sizes, core.random, core.multiplicities)
