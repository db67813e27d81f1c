"""Schur functors: partitions, their products, dimensions, and representations from weights.

A partition is a weakly decreasing tuple of positive integers; S_λ of a space is not zero exactly if
the space has at least as many dimensions as λ has parts. By Pieri's rule S_λ ⊗ Sym^n is the sum of
the S_μ for which μ is λ with n more boxes, no two in one column: μ_(i+1) ≤ λ_i ≤ μ_i. Products in
general are determinants in symmetric powers, by Jacobi and Trudi.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, permutations, product
from math import prod
from typing import Any

from m2bridge.errors import ContradictionError

PartitionTuple = tuple[int, ...]


def partitions(n: int, rows: int, largest: int | None = None) -> Iterator[PartitionTuple]:
    """Yield the partitions of n with at most ``rows`` parts, none above ``largest``.

    Those with larger first parts come first (decreasing lexicographic order).

    Examples
    --------
    >>> list(partitions(4, 2))
    [(4,), (3, 1), (2, 2)]
    """
    if n == 0:
        yield ()
    elif rows:
        bound = n if largest is None else min(n, largest)
        for first in range(bound, 0, -1):
            for rest in partitions(n - first, rows - 1, first):
                yield (first, *rest)


@lru_cache(maxsize=100_000)
def columns(shape: PartitionTuple) -> PartitionTuple:
    """The conjugate partition: the lengths of the columns of the Young diagram."""
    width = max(shape, default=0)
    # A row has a box in column j, from 0 on, if its length is more than j.
    return tuple(len([part for part in shape if part > j]) for j in range(width))


def dimension(shape: PartitionTuple, size: int) -> int:
    """The dimension of S_λ of a space of dimension ``size``, λ the shape.

    It is the product over the boxes (i, j) of λ of (size + j − i) / hook(i, j), where the hook has
    the boxes to the right, those below, and the box itself. Source: Stanley, *Enumerative
    Combinatorics* 2, Corollary 7.21.4.

    >>> dimension((2, 1), 3), dimension((1, 1, 1), 2)
    (8, 0)
    """
    heights = columns(shape)
    numerator = hooks = 1
    for i, part in enumerate(shape):
        for j in range(part):
            numerator *= size + j - i
            hooks *= (part - j) + (heights[j] - i) - 1
    return numerator // hooks


def strips_added(shape: PartitionTuple, size: int, rows: int) -> Iterator[PartitionTuple]:
    """Yield the partitions μ with at most ``rows`` parts for which S_λ ⊗ Sym^size contains S_μ."""
    # μ_i is at least λ_i, and at most λ_(i−1); μ_1 is at most λ_1 + size. μ can have one part more
    # than λ, for which the lower bound is 0.
    upper = (max(shape, default=0) + size, *shape)
    yield from _partitions_between((*shape, 0), upper, sum(shape) + size, rows)


def strips_removed(shape: PartitionTuple, size: int) -> Iterator[PartitionTuple]:
    """Yield the partitions μ for which S_μ ⊗ Sym^size contains S_λ: λ loses ``size`` boxes."""
    yield from _partitions_between((*shape[1:], 0), shape, sum(shape) - size, len(shape))


def _partitions_between(
    lower: PartitionTuple, upper: PartitionTuple, total: int, rows: int
) -> Iterator[PartitionTuple]:
    """Yield the partitions μ of ``total`` with at most ``rows`` parts and lower_i ≤ μ_i ≤ upper_i,
    where lower_i ≥ upper_(i+1), so that all such μ are weakly decreasing.
    """
    if lower and rows:
        # What is left for the other parts has to lie between the sums of their bounds.
        least = max(lower[0], total - sum(upper[1:]))
        greatest = min(upper[0], total - sum(lower[1:]))
        for first in range(least, greatest + 1):
            for rest in _partitions_between(lower[1:], upper[1:], total - first, rows - 1):
                # The parts decrease weakly: after a part 0 the others are 0 too, and left out.
                yield (first, *rest) if first else ()
    elif total == 0 and not any(lower):  # all further parts are zero
        yield ()


@lru_cache(maxsize=100_000)
def littlewood_richardson(
    first: PartitionTuple, second: PartitionTuple, rows: int
) -> Mapping[PartitionTuple, int]:
    """The multiplicities of the S_ν in S_λ ⊗ S_μ, for the ν with at most ``rows`` parts.

    λ is ``first`` and μ is ``second``. S_μ is the determinant of the matrix of the S_(μ_i − i + j),
    and Pieri's rule multiplies by its entries. Source: Stanley, *Enumerative Combinatorics* 2,
    Theorem 7.16.1.
    """
    total: Counter[PartitionTuple] = Counter()
    if len(first) > rows:  # each ν contains λ, and has at least as many parts
        return {}
    for order, sign in signed_permutations(len(second)):
        sizes = [second[i] - i + j for i, j in enumerate(order)]
        if min(sizes, default=0) < 0:
            continue  # S_n is zero for n < 0
        terms = Counter({first: sign})  # the product of S_λ and of the entries so far
        for size in sizes:
            next_terms: Counter[PartitionTuple] = Counter()
            for shape, coefficient in terms.items():
                # partitions with more parts are left out: further products only add boxes
                for larger in strips_added(shape, size, rows):
                    next_terms[larger] += coefficient
            terms = next_terms
        total.update(terms)
    return {shape: total[shape] for shape in sorted(total) if total[shape]}


@lru_cache(maxsize=32)
def signed_permutations(size: int) -> tuple[tuple[tuple[int, ...], int], ...]:
    """The permutations of 0, …, size − 1, each with its sign, 1 or −1."""
    permutations_with_signs = []
    for order in permutations(range(size)):
        inversions = sum(earlier > later for earlier, later in combinations(order, 2))
        permutations_with_signs.append((order, (-1) ** inversions))
    return tuple(permutations_with_signs)


@lru_cache(maxsize=100_000)
def kostka_number(shape: PartitionTuple, weight: tuple[int, ...]) -> int:
    """The Kostka number: how many semistandard tableaux of the shape have weight[k] entries k.

    The largest entries form a horizontal strip; without it the tableau is a smaller one.

    >>> kostka_number((2, 1), (1, 1, 1))
    2
    """
    if not weight:  # no entries: there is one tableau if the shape is empty, and else none
        return 1 if not shape else 0
    *smaller_weight, boxes_of_strip = weight
    total = 0
    for smaller_shape in strips_removed(shape, boxes_of_strip):
        total += kostka_number(smaller_shape, tuple(smaller_weight))
    return total


Shapes = tuple[PartitionTuple, ...]
"""One partition for each of some spaces."""


def from_weights(counts: Mapping[Shapes, int], sizes: tuple[int, ...]) -> dict[Shapes, int]:
    """The multiplicities of the irreducible summands of a representation of a product of groups GL.

    A highest weight among those whose dimension is not 0 belongs to an irreducible summand, whose
    multiplicity is this dimension. The dimensions of its weights, which tableaux count, are
    subtracted, and so on. ``counts`` has the dimensions of the weight spaces of dominant weights,
    tuples of one partition for each space; those that are left out are 0. ContradictionError if a
    multiplicity is negative: then these are not the weights of a representation.
    """
    multiplicities: dict[Shapes, int] = {}
    # Weights of different degrees, one number for each space, are in different summands.
    for degrees in {tuple(map(sum, shapes)) for shapes in counts}:
        dominant_weights = list(product(*map(partitions, degrees, sizes)))  # higher ones first
        rest = {weight: counts.get(weight, 0) for weight in dominant_weights}
        for shapes in dominant_weights:
            # all higher weights have no dimension left, so this is a highest weight
            multiplicity = rest[shapes]
            if multiplicity == 0:
                continue
            if multiplicity < 0:
                raise ContradictionError(
                    f"the multiplicity of {shapes} would be {multiplicity}:"
                    " these are not the weights of a representation"
                )
            multiplicities[shapes] = multiplicity
            for weight in dominant_weights:
                rest[weight] -= multiplicity * prod(map(kostka_number, shapes, weight))
    return multiplicities


@dataclass(frozen=True, slots=True)
class Representation:
    """A product of Schur functors of some spaces, a number of times, in one degree.

    >>> quadrics = Representation(2, ("X", "H", "Y"), (3, 2, 3), ((1, 1), (1, 1), (4,)))
    >>> print(quadrics, quadrics.dimension)
    S_11 X ⊗ S_11 H ⊗ S_4 Y 45
    """

    degree: int
    spaces: tuple[str, ...]  # their names
    sizes: tuple[int, ...]  # their dimensions
    shapes: Shapes  # the partition of the Schur functor of each space
    multiplicity: int = 1  # how often the product occurs

    @property
    def dimension(self) -> int:
        """The dimension, with the multiplicity."""
        return self.multiplicity * prod(map(dimension, self.shapes, self.sizes))

    @property
    def latex(self) -> str:
        """The formula: ``S_{11}X \\otimes S_{4}Y``."""
        return self._product("S_{{{}}}{}", r" \otimes ", r"\,")

    def __str__(self) -> str:
        return self._product("S_{} {}", " ⊗ ", " ")

    def _product(self, factor: str, times: str, blank: str) -> str:
        """The tensor product of the Schur functors, with its multiplicity before it
        unless it is 1.
        """
        factors = map(factor.format, map(_partition_text, self.shapes), self.spaces)
        formula = times.join(factors)
        if self.multiplicity == 1:
            return formula
        return f"{self.multiplicity}{blank}{formula}"

    def type_json(self) -> dict[str, Any]:
        """Return what does not depend on the sizes, with the partition of each space by its name:
        ``{"degree": 2, "X": [1, 1], "H": [1, 1], "Y": [4], "multiplicity": 1}``.
        """
        shapes = dict(zip(self.spaces, map(list, self.shapes), strict=True))
        return {"degree": self.degree, **shapes, "multiplicity": self.multiplicity}

    def to_json(self) -> dict[str, Any]:
        """Return what :meth:`type_json` does, and the dimension."""
        return self.type_json() | {"dimension": self.dimension}


def generator_counts(representations: Iterable[Representation]) -> Counter[int]:
    """The number of generators in each degree, where these representations generate an ideal."""
    counts: Counter[int] = Counter()
    for representation in representations:
        counts[representation.degree] += representation.dimension
    return counts


def _partition_text(shape: PartitionTuple) -> str:
    """The text of a partition, as ``631``; with commas where a part has two digits, as ``10,3``."""
    separator = "," if max(shape, default=0) > 9 else ""
    return separator.join(map(str, shape))
