"""Schur functors: partitions, their products, dimensions, and representations from weights.

A partition is a weakly decreasing tuple of positive integers; S_λ of a space is not zero exactly if
the space has at least as many dimensions as λ has parts.
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
    """Partitions of n with a bounded number of parts, none above ``largest``.

    Examples
    --------
    >>> list(partitions(4, 2))
    [(4,), (3, 1), (2, 2)]
    """
    if n == 0:
        yield ()
    elif rows:
        for first in range(min(n, n if largest is None else largest), 0, -1):
            for rest in partitions(n - first, rows - 1, first):
                yield (first, *rest)


@lru_cache(maxsize=100_000)
def columns(shape: PartitionTuple) -> PartitionTuple:
    """The conjugate partition: the lengths of the columns."""
    width = max(shape, default=0)
    return tuple(len([part for part in shape if part > j]) for j in range(width))


def dimension(shape: PartitionTuple, size: int) -> int:
    """The dimension of S_λ of a space of this dimension, by contents and hooks.

    Source: Stanley, *Enumerative Combinatorics* 2, Corollary 7.21.4.

    Examples
    --------
    >>> dimension((2, 1), 3), dimension((1, 1, 1), 2)
    (8, 0)
    """
    heights = columns(shape)
    contents = hooks = 1
    for i, part in enumerate(shape):
        for j in range(part):
            contents *= size + j - i
            hooks *= (part - j) + (heights[j] - i) - 1
    return contents // hooks


def strips_added(shape: PartitionTuple, size: int, rows: int) -> Iterator[PartitionTuple]:
    """Pieri's rule: the partitions in S_λ ⊗ S_size with a bounded number of parts."""
    upper = (max(shape, default=0) + size, *shape)
    yield from _between((*shape, 0), upper, sum(shape) + size, rows)


def strips_removed(shape: PartitionTuple, size: int) -> Iterator[PartitionTuple]:
    """The partitions whose product with S_size contains S_λ."""
    yield from _between((*shape[1:], 0), shape, sum(shape) - size, len(shape))


def _between(
    lower: PartitionTuple, upper: PartitionTuple, total: int, rows: int
) -> Iterator[PartitionTuple]:
    """Partitions with this sum and at most ``rows`` parts between two sequences of one length."""
    if lower and rows:
        least = max(lower[0], total - sum(upper[1:]))
        for first in range(least, min(upper[0], total - sum(lower[1:])) + 1):
            for rest in _between(lower[1:], upper[1:], total - first, rows - 1):
                yield (first, *rest) if first else ()
    elif total == 0 and not any(lower):
        yield ()


@lru_cache(maxsize=100_000)
def littlewood_richardson(
    first: PartitionTuple, second: PartitionTuple, rows: int
) -> Mapping[PartitionTuple, int]:
    """The multiplicities in S_λ ⊗ S_μ of partitions with a bounded number of parts.

    By Jacobi and Trudi S_μ is the determinant of the S_(μ_i − i + j), and Pieri's rule multiplies
    by these. Source: Stanley, *Enumerative Combinatorics* 2, Theorem 7.16.1.

    Examples
    --------
    >>> dict(littlewood_richardson((1, 1), (1, 1), 3))
    {(2, 1, 1): 1, (2, 2): 1}
    """
    total: Counter[PartitionTuple] = Counter()
    for order, sign in signed_permutations(len(second)):
        sizes = [second[i] - i + j for i, j in enumerate(order)]
        if min(sizes, default=0) < 0:
            continue  # a factor is zero
        terms = Counter({first: sign})
        for size in sizes:
            terms = _times(terms, size, rows)
        total.update(terms)
    return {shape: total[shape] for shape in sorted(total) if total[shape]}


def _times(terms: Mapping[PartitionTuple, int], size: int, rows: int) -> Counter[PartitionTuple]:
    """The product with S_n, n the size, by Pieri's rule, with a bounded number of rows."""
    found: Counter[PartitionTuple] = Counter()
    for shape, coefficient in terms.items():
        for larger in strips_added(shape, size, rows):
            found[larger] += coefficient
    return found


@lru_cache(maxsize=32)
def signed_permutations(size: int) -> tuple[tuple[tuple[int, ...], int], ...]:
    """The permutations of 0, …, size − 1 with their signs."""
    signed = []
    for order in permutations(range(size)):
        inversions = [pair for pair in combinations(order, 2) if pair[0] > pair[1]]
        signed.append((order, (-1) ** len(inversions)))
    return tuple(signed)


@lru_cache(maxsize=100_000)
def tableaux(shape: PartitionTuple, weight: tuple[int, ...]) -> int:
    """Kostka's number: semistandard tableaux with entries as often as the weight says.

    The largest entries form a horizontal strip; without it there is a smaller tableau.

    Examples
    --------
    >>> tableaux((2, 1), (1, 1, 1))
    2
    """
    if not weight:
        return int(not shape)
    return sum(tableaux(smaller, weight[:-1]) for smaller in strips_removed(shape, weight[-1]))


Shapes = tuple[PartitionTuple, ...]


def from_weights(counts: Mapping[Shapes, int], sizes: tuple[int, ...]) -> dict[Shapes, int]:
    """The multiplicities of products of Schur functors in a representation of products of GL.

    The highest of the weights is that of one of them; its weights, which tableaux count, are taken
    away, and so on.

    Parameters
    ----------
    counts : mapping from tuples of partitions to int
        The dimensions of the dominant weights; those that are left out have dimension 0.
    sizes : tuple of int
        The sizes of the groups.

    Raises
    ------
    ContradictionError
        If a multiplicity is negative: then these are not the weights of a representation.

    Examples
    --------
    >>> from_weights({((2,),): 1, ((1, 1),): 2}, (2,))
    {((2,),): 1, ((1, 1),): 1}
    """
    found: dict[Shapes, int] = {}
    for degrees in {tuple(map(sum, shapes)) for shapes in counts}:
        dominant = product(*map(partitions, degrees, sizes))
        # Higher weights come first, so the first one that is left is a highest weight.
        left = {shapes: counts.get(shapes, 0) for shapes in dominant}
        for shapes in left:
            number = left[shapes]
            if number == 0:
                continue
            if number < 0:
                raise ContradictionError(
                    f"the multiplicity of {shapes} would be {number}:"
                    " these are not the weights of a representation"
                )
            found[shapes] = number
            for lower in left:
                left[lower] -= number * prod(map(tableaux, shapes, lower))
    return found


@dataclass(frozen=True, slots=True)
class Representation:
    """A product of Schur functors of some spaces, a number of times, in one degree.

    Parameters
    ----------
    degree : int
    spaces : tuple of str
        Names.
    sizes : tuple of int
        Dimensions of the spaces.
    shapes : tuple of partitions
    multiplicity : int

    Examples
    --------
    >>> quadrics = Representation(2, ("X", "H", "Y"), (3, 2, 3), ((1, 1), (1, 1), (4,)))
    >>> print(quadrics, quadrics.dimension)
    S_11 X ⊗ S_11 H ⊗ S_4 Y 45
    """

    degree: int
    spaces: tuple[str, ...]
    sizes: tuple[int, ...]
    shapes: Shapes
    multiplicity: int = 1

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
        """The tensor product of the Schur functors, with its multiplicity before it."""
        formula = times.join(map(factor.format, map(_digits, self.shapes), self.spaces))
        if self.multiplicity == 1:
            return formula
        return f"{self.multiplicity}{blank}{formula}"

    def type_json(self) -> dict[str, Any]:
        """Return degree, partitions by the names of spaces, multiplicity: true for all sizes."""
        shapes = dict(zip(self.spaces, map(list, self.shapes), strict=True))
        return {"degree": self.degree, **shapes, "multiplicity": self.multiplicity}

    def to_json(self) -> dict[str, Any]:
        """Return the type and the dimension."""
        return self.type_json() | {"dimension": self.dimension}


def generator_counts(parts: Iterable[Representation]) -> Counter[int]:
    """The number of generators in each degree, which these representations form."""
    counts: Counter[int] = Counter()
    for part in parts:
        counts[part.degree] += part.dimension
    return counts


def _digits(shape: PartitionTuple) -> str:
    """``631``; with commas where a part has two digits."""
    separator = "," if max(shape, default=0) > 9 else ""
    return separator.join(map(str, shape))
