"""Multiplicity spaces of the coordinate ring of a core, as spans of values of covariants.

Notation of docs/completeness.md and docs/representations.md: X, H, Y are the spaces of the indices
i, k and of the variables y, W = X ⊗ H ⊗ S²Y is that of the coordinates, C the coordinate ring of
the core, Γ the ring of sections, which contains it. For each type S_λX ⊗ S_μH ⊗ S_νY the values of
covariants at points with integer coordinates span three spaces: in C_n, in W ⊗ C_{n−1}, and in it
the image of Λ²W ⊗ C_{n−2}, the boundaries. Their dimensions are the multiplicity in the coordinate
ring, a number known by Pieri's rule, and that number less the first less the number of minimal
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
    """Return the multiplicity of each type in Γ_n, the sections of degree n over the closure.

    Types with multiplicity 0 are left out. Source: docs/completeness.md, The sections of the
    structure sheaf.

    Raises
    ------
    ContradictionError
        If their dimensions do not add up to the number of sections.
    """
    e, f, m = size.dimensions
    # The coordinate ring of the source has S_λX ⊗ S_λY ⊗ S_μH ⊗ S_μY (Cauchy's formula).
    found: Counter[PartitionTriple] = Counter()
    for first, second in product(partitions(n, e), partitions(n, f)):
        for third, number in littlewood_richardson(first, second, m).items():
            found[first, second, third] = number
    # Not sections are the forms with different values at two preimages with k and v exchanged, and
    # the forms that are odd in k − v where both preimages come together.
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
    """Return the partition (n − legs, 1, …, 1) of n with ``legs`` ones."""
    return (n - legs, *(1,) * legs)


def times(
    factors: Iterable[AnyShapes], ring: Mapping[PartitionTriple, int], sizes: Sizes
) -> Counter[PartitionTriple]:
    """Return the multiplicity of each type in Λ²W ⊗ C_n.

    Parameters
    ----------
    factors : iterable of PartitionTriple
        The types of Λ²W.
    ring : mapping from PartitionTriple to int
        The multiplicities in C_n.
    sizes : tuple of int
        Dimensions of X, H, Y.
    """
    total: Counter[PartitionTriple] = Counter()
    for factor, (shapes, number) in product(factors, ring.items()):
        # the partitions in the products for X, for H and for Y, with multiplicities
        products = map(littlewood_richardson, shapes, factor, sizes)
        for (a, first), (b, second), (c, third) in product(*(found.items() for found in products)):
            total[a, b, c] += number * first * second * third
    _check_dimension(total, comb(_coordinates(sizes), 2), ring, sizes)
    return total


def pieri(ring: Mapping[PartitionTriple, int], sizes: Sizes) -> Counter[PartitionTriple]:
    """Return the multiplicity of each type in W ⊗ C_n, from those in C_n, by Pieri's rule.

    It adds a box to λ, one to μ, and a horizontal strip of two to ν. ``sizes`` are the dimensions
    of X, H, Y.
    """
    total: Counter[PartitionTriple] = Counter()
    for shapes, number in ring.items():
        for a, b, c in product(*map(strips_added, shapes, (1, 1, 2), sizes)):
            total[a, b, c] += number
    _check_dimension(total, _coordinates(sizes), ring, sizes)
    return total


def _coordinates(sizes: Sizes) -> int:
    """Return the dimension of W = X ⊗ H ⊗ S²Y, the number of coordinates."""
    x, h, y = sizes
    return x * h * comb(y + 1, 2)


def total_dimension(types: Mapping[PartitionTriple, int], sizes: Sizes) -> int:
    """Return the dimension of a sum of types, each as often as its multiplicity says."""
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
    """Check that the types ``found`` in a tensor product with C_n add up to its dimension.

    Parameters
    ----------
    found : mapping from PartitionTriple to int
        Multiplicities in the tensor product.
    factor : int
        The dimension of the other factor, W or Λ²W.
    ring : mapping from PartitionTriple to int
        Multiplicities in C_n.
    sizes : tuple of int
        Dimensions of X, H, Y.

    Raises
    ------
    ContradictionError
        If they do not add up.
    """
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
        The source of covariants and points.
    multiplicities : list of dict
        Multiplicities of the types of C_0, C_1, …, as far as computed. They do not depend on the
        dimensions.
    boundaries : dict
        For each degree n whose generators were computed, the types in the image of Λ²W ⊗ C_{n−2},
        with bases of its values at the points, modulo a prime.
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
        """Return points that are enough for all types in W ⊗ C_{n−1}, drawn once."""
        if n not in self._points:
            # C_{n−1} is contained in the sections, whose multiplicities have a formula
            types = pieri(section_multiplicities(self.size, n - 1), self.sizes)
            self._points[n] = self._enough_points(max(types.values()))
        return self._points[n]

    def few_points(self, n: int, rank: int) -> SourcePoints:
        """Return the first of the points of degree n, enough for ``rank`` independent values."""
        # Rounded up, so that types with about the same rank share the points and their tables.
        count = _enough(4 * ceil(rank / 4))
        if (n, count) not in self._few_points:
            self._few_points[n, count] = self.points(n).first(count)
        return self._few_points[n, count]

    def _enough_points(self, rank: int) -> SourcePoints:
        """Return new random points, enough for ``rank`` covariants to have independent values."""
        return SourcePoints.random(self.sizes, self.size.columns, _enough(rank), self.random)

    def ring(self, n: int) -> dict[PartitionTriple, int]:
        """Return the exact multiplicity of each type in C_n, without those of multiplicity 0.

        Raises
        ------
        MethodUnavailableError
            If the covariants that were tried do not span.
        TimeLimitError
            If the limit was reached.
        """
        for degree in range(len(self.multiplicities), n + 1):
            in_tensor_product = pieri(self.multiplicities[-1], self.sizes)
            sections = section_multiplicities(self.size, degree)
            exact: dict[PartitionTriple, int] = {}
            for shapes, in_sections in check_deadline_in(sections.items()):
                mirrored = self._mirrored(shapes)
                if mirrored in exact:
                    exact[shapes] = exact[mirrored]
                    continue
                evaluate = partial(self._at_few_points, values, in_sections)
                number = len(self._independent(shapes, evaluate, in_sections))
                # The rank modulo the prime is a lower bound, the multiplicity in the sections an
                # upper one: where they are equal, the multiplicity is proved.
                if number < in_sections:
                    number = self._multiplicity(shapes, in_tensor_product[shapes], in_sections)
                exact[shapes] = number
            present = {shapes: number for shapes, number in exact.items() if number}
            self.multiplicities.append(present)
        return self.multiplicities[n]

    def generators(self, n: int) -> dict[PartitionTriple, int]:
        """Return the types of minimal generators of degree n ≥ 1, with their multiplicities.

        It raises as :meth:`ring`. If the spaces are larger than those of the core, only types with
        more rows than the core has are looked at.
        """
        if n in self._generators:
            return self._generators[n]
        now = self.ring(n)
        below = self.ring(n - 1)
        # the multiplicities in Λ²W ⊗ C_{n−2}
        squares: Counter[PartitionTriple] = Counter()
        if n > 1:
            squares = times(EXTERIOR_SQUARE, self.ring(n - 2), self.sizes)
        are_larger_spaces = self.sizes != self.size.dimensions
        boundaries: dict[PartitionTriple, Any] = {}
        found: dict[PartitionTriple, int] = {}
        for shapes, number in check_deadline_in(sorted(pieri(below, self.sizes).items())):
            # The multiplicity in the kernel of W ⊗ C_{n−1} → C_n, which is the ideal there; the
            # boundaries in it are what lower degrees generate.
            kernel = number - now.get(shapes, 0)
            if not kernel:
                continue
            if are_larger_spaces and not self.size.lacks_rows(shapes):
                continue
            # The mirrored type has only boundaries, so this one has no generators either.
            if len(boundaries.get(self._mirrored(shapes), ())) == kernel:
                continue
            evaluate = partial(self._at_few_points, boundary, kernel)
            basis = self._independent(shapes, evaluate, kernel)
            if len(basis) < kernel:
                # the rank modulo the prime is a lower bound only
                basis = self._all_boundaries(
                    shapes, space=number, kernel=kernel, square=squares[shapes], basis=basis
                )
            if basis:
                boundaries[shapes] = [row for _, row in basis]
            if len(basis) < kernel:
                # what lower degrees do not generate
                found[shapes] = kernel - len(basis)
        self.boundaries[n] = boundaries
        self._generators[n] = found
        return found

    def _mirrored(self, shapes: PartitionTriple) -> PartitionTriple:
        """Return the type with X and H exchanged, which has the same multiplicities.

        This holds for as many forms l_i as v_k, as l_i·v_k = v_k·l_i. Else, and in larger spaces
        than those of the core, the type itself is returned.
        """
        if self.size.columns != self.size.rows or self.sizes != self.size.dimensions:
            return shapes
        of_X, of_H, of_Y = shapes
        return of_H, of_X, of_Y

    def _at_few_points(
        self,
        function: Callable[[Sequence[Covariant], SourcePoints], Any],
        rank: int,
        covariants: Sequence[Covariant],
    ) -> Any:
        """Return ``function`` of covariants of one type, at enough points for a rank.

        ``function`` is :func:`values` or :func:`boundary`; ``rank`` is the largest number of
        covariants whose values can be independent.
        """
        return function(covariants, self.few_points(covariants[0].degree, rank))

    def _multiplicity(self, shapes: PartitionTriple, space: int, in_sections: int) -> int:
        """Return the multiplicity of a type in C_n, as a rank over QQ.

        It is the rank in C_n of covariants that span all functionals of this type on W ⊗ C_{n−1}
        (docs/representations.md, Multiplicities from ranks, item 3).

        Parameters
        ----------
        shapes : PartitionTriple
        space : int
            The multiplicity in W ⊗ C_{n−1}.
        in_sections : int
            The multiplicity in Γ_n, an upper bound.

        Raises
        ------
        ContradictionError
            If the rank is larger than the bound.
        MethodUnavailableError
            If too few covariants were found.
        """
        points = self.points(sum(shapes[0]))
        spanning = self._spanning(shapes, space, partial(values, points=points, factors=(FIRST,)))
        if not spanning:
            return 0
        # As many covariants as functions of this type on the source have independent values. So
        # the points separate these functions, and the rank of values is that of the functions.
        on_source = littlewood_richardson(shapes[0], shapes[1], self.sizes[2])[shapes[2]]
        self._spanning(shapes, on_source, partial(values, points=points, symmetric=False))
        number = rank(values(spanning, points).tolist())
        if number > in_sections:
            raise ContradictionError(
                f"the multiplicity of {shapes} is {number}, more than {in_sections} in the sections"
            )
        return number

    def _all_boundaries(
        self, shapes: PartitionTriple, space: int, kernel: int, square: int, basis: list[Evaluated]
    ) -> list[Evaluated]:
        """Return a basis of all boundaries of a type, proved over QQ.

        Covariants that span all functionals on Λ²W ⊗ C_{n−2} are found; the boundaries are their
        images (docs/representations.md, Multiplicities from ranks, item 4).

        Parameters
        ----------
        shapes : PartitionTriple
        space, kernel, square : int
            The multiplicities of the type in W ⊗ C_{n−1}, in the kernel of the map from there to
            C_n, which contains the boundaries, and in Λ²W ⊗ C_{n−2}.
        basis : list of Evaluated
            Independent boundaries, with which the basis begins.

        Raises
        ------
        MethodUnavailableError
            If too few covariants were found, or unlucky points do not separate them.
        """
        points = self._enough_points(max(square, space))
        # As many covariants as the space of functionals on W ⊗ C_{n−1} has dimensions have
        # independent values. So the points separate these functionals, boundaries among them.
        self._spanning(shapes, space, partial(values, points=points, factors=(FIRST,)))
        spanning = self._spanning(shapes, square, partial(alternating, points=points))
        exact_rank = rank(boundary(spanning, points).tolist())
        if spanning:
            images = self._at_few_points(boundary, kernel, spanning) % LARGE_PRIME
            basis = _independent_of_previous([*basis, *zip(spanning, images, strict=True)], kernel)
        # the basis was chosen by values modulo the prime, at few points
        if len(basis) != exact_rank:
            raise MethodUnavailableError(
                f"the points do not separate the covariants of type {shapes}; try again"
            )
        return basis

    def _spanning(
        self, shapes: PartitionTriple, dimension: int, evaluate: CovariantEvaluation
    ) -> list[Covariant]:
        """Return ``dimension`` covariants of a type whose values are independent.

        ``evaluate`` maps covariants to their values, a row for each. ``dimension`` is that of the
        space of functionals that have these values, so the covariants span this space.

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
        largest_rank: int,
        max_useless: int = MAX_USELESS_TRIES,
    ) -> list[Evaluated]:
        """Return random covariants of a type with independent values modulo the prime.

        Parameters
        ----------
        shapes : PartitionTriple
        evaluate : CovariantEvaluation
            Maps covariants to their values, a row for each.
        largest_rank : int
            The largest number of independent ones, at which the search ends.
        max_useless : int
            The search also ends after this many covariants without a gain.

        Raises
        ------
        ContradictionError
            If more are independent than can be.
        """
        found: list[Evaluated] = []
        useless = 0
        while len(found) < largest_rank and useless < max_useless:
            # Two more than are missing: a rank above the largest possible one is an error, which
            # is seen here.
            drawn = self._draw(shapes, largest_rank - len(found) + 2)
            if not drawn:
                break
            more = zip(drawn, evaluate(drawn) % LARGE_PRIME, strict=True)
            independent = _independent_of_previous([*found, *more], largest_rank)
            useless += len(drawn)
            if len(independent) > len(found):
                useless = 0
            found = independent
        return found

    def _draw(self, shapes: PartitionTriple, count: int) -> list[Covariant]:
        """Return ``count`` random covariants of a type; fewer where all that are seen are zero."""
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
    """Return the values of T(w, c, c, …) − T(c, w, c, …) at points, a row for each covariant T.

    These functions in W ⊗ C_{n−1} are the images of those of :func:`alternating`: boundaries.
    """
    return _alternating(covariants, points, (FIRST,))


def alternating(covariants: Sequence[Covariant], points: SourcePoints) -> Any:
    """Return the values of T(w, w', c, …) − T(w', w, c, …) at points, a row for each covariant T.

    They are functions in Λ²W ⊗ C_{n−2}; w and w' are the two elements of W at a point.
    """
    return _alternating(covariants, points, (FIRST, SECOND))


def _alternating(
    covariants: Sequence[Covariant], points: SourcePoints, factors: tuple[int, ...]
) -> Any:
    """Return the values of each covariant, less those with its first two arguments exchanged.

    ``factors`` are the first arguments, as in :func:`values`.
    """
    exchanged = [T.exchanged() for T in covariants]
    both = values([*covariants, *exchanged], points, factors)
    return both[: len(covariants)] - both[len(covariants) :]


def _independent_of_previous(candidates: list[Evaluated], dimension: int) -> list[Evaluated]:
    """Return each candidate whose values are independent of those of all previous candidates.

    This is meant modulo the prime.

    Raises
    ------
    ContradictionError
        If there are more than the dimension of the space of values.
    """
    numbers = independent_rows([row for _, row in candidates])
    if len(numbers) > dimension:
        raise ContradictionError(
            f"{len(numbers)} independent covariants, and the space has dimension {dimension}"
        )
    return [candidates[j] for j in numbers]


def independent_rows(rows: list[Any]) -> tuple[int, ...]:
    """Return the positions of all rows that are independent of the rows before them.

    This is meant modulo :data:`LARGE_PRIME`.
    """
    matrix = flint.nmod_mat([row.tolist() for row in rows], LARGE_PRIME)
    # the rows are columns of the transpose, where pivots are independent of the columns before them
    _, pivots = reduced_echelon(matrix.transpose())
    return pivots


@lru_cache(maxsize=64)
def multiplicity_spaces(size: CoreSize, sizes: Sizes) -> MultiplicitySpaces:
    """Return the multiplicity spaces of a core, with X, H, Y of these dimensions.

    It is the same object at each call, so that it is computed once.
    """
    if sizes == size.dimensions:
        return MultiplicitySpaces(size, sizes)
    # The multiplicities in the coordinate ring do not depend on the dimensions, and are shared.
    core = multiplicity_spaces(size, size.dimensions)
    return MultiplicitySpaces(size, sizes, core.random, core.multiplicities)
