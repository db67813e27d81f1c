"""Schur functors: partitions, their products, dimensions, and representations from the
multiplicities of weights.

A partition is a weakly decreasing tuple of positive integers; S_λ of a space is not zero exactly if
the space has at least as many dimensions as λ has parts.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations, product
from math import prod
from typing import Any

from m2bridge.errors import ContradictionError

Partition = tuple[int, ...]


def partitions(n: int, rows: int, largest: int | None = None) -> Iterator[Partition]:
    """Partitions of n with at most so many parts, none above ``largest``.

    Examples
    --------
    >>> list(partitions(4, 2))
    [(4,), (3, 1), (2, 2)]
    """
    if n == 0:
        yield ()
    elif rows:
        for first in range(min(n, n if largest is None else largest), 0, -1):
            yield from ((first, *rest) for rest in partitions(n - first, rows - 1, first))


@lru_cache(maxsize=100_000)
def columns(shape: Partition) -> Partition:
    """The conjugate partition: the lengths of the columns."""
    return tuple(sum(part > j for part in shape) for j in range(shape[0])) if shape else ()


def dimension(shape: Partition, size: int) -> int:
    """The dimension of S_λ of a space of this dimension, by contents and hooks.

    Source: Stanley, *Enumerative Combinatorics* 2, Corollary 7.21.4.

    Examples
    --------
    >>> dimension((2, 1), 3), dimension((1, 1, 1), 2)
    (8, 0)
    """
    legs = columns(shape)
    cells = [(i, j) for i, part in enumerate(shape) for j in range(part)]
    return prod(size + j - i for i, j in cells) // prod(
        shape[i] - j + legs[j] - i - 1 for i, j in cells
    )


def strips_added(shape: Partition, size: int, rows: int) -> Iterator[Partition]:
    """Pieri's rule: the partitions in S_λ ⊗ S_size, with at most so many parts."""
    upper = (shape[0] + size if shape else size, *shape)
    yield from _between((*shape, 0), upper, sum(shape) + size, rows)


def strips_removed(shape: Partition, size: int) -> Iterator[Partition]:
    """The partitions whose product with S_size contains S_λ."""
    yield from _between((*shape[1:], 0), shape, sum(shape) - size, len(shape))


def _between(lower: Partition, upper: Partition, total: int, rows: int) -> Iterator[Partition]:
    """Sequences between two of the same length with this sum: without zeros at the end, at most
    ``rows`` entries.
    """
    if not lower or not rows:
        if total == 0 and not any(lower):
            yield ()
        return
    for first in range(
        max(lower[0], total - sum(upper[1:])), min(upper[0], total - sum(lower[1:])) + 1
    ):
        for rest in _between(lower[1:], upper[1:], total - first, rows - 1):
            yield (first, *rest) if first else ()


@lru_cache(maxsize=100_000)
def littlewood_richardson(
    first: Partition, second: Partition, rows: int
) -> Mapping[Partition, int]:
    """The multiplicities in S_λ ⊗ S_μ of partitions with at most so many parts, by the determinant
    of Jacobi and Trudi.

    Examples
    --------
    >>> dict(littlewood_richardson((1, 1), (1, 1), 3))
    {(2, 1, 1): 1, (2, 2): 1}
    """
    total: Counter[Partition] = Counter()
    for order, sign in signed_permutations(len(second)):
        sizes = [second[i] - i + j for i, j in enumerate(order)]
        if min(sizes, default=0) >= 0:
            terms = Counter({first: sign})
            for size in sizes:
                terms = _times(terms, size, rows)
            total.update(terms)
    return {shape: total[shape] for shape in sorted(total) if total[shape]}


def _times(terms: Mapping[Partition, int], size: int, rows: int) -> Counter[Partition]:
    found: Counter[Partition] = Counter()
    for shape, coefficient in terms.items():
        for larger in strips_added(shape, size, rows):
            found[larger] += coefficient
    return found


@lru_cache(maxsize=32)
def signed_permutations(size: int) -> tuple[tuple[tuple[int, ...], int], ...]:
    """The permutations of 0, …, size − 1 with their signs."""
    return tuple(
        (order, (-1) ** sum(order[i] > order[j] for j in range(size) for i in range(j)))
        for order in permutations(range(size))
    )


@lru_cache(maxsize=100_000)
def tableaux(shape: Partition, weight: tuple[int, ...]) -> int:
    """Kostka's number: semistandard tableaux in which each entry occurs as often as the weight
    says.

    Examples
    --------
    >>> tableaux((2, 1), (1, 1, 1))
    2
    """
    if not weight:
        return int(not shape)
    return sum(tableaux(smaller, weight[:-1]) for smaller in strips_removed(shape, weight[-1]))


Shapes = tuple[Partition, ...]


def from_weights(counts: Mapping[Shapes, int], sizes: tuple[int, ...]) -> dict[Shapes, int]:
    """The multiplicities of the products of Schur functors in a representation of a product of
    general linear groups.

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
        dominant = product(
            *(list(partitions(n, size)) for n, size in zip(degrees, sizes, strict=True))
        )
        # those that are higher stand before
        left = {shapes: counts.get(shapes, 0) for shapes in dominant}
        for shapes in filter(left.__getitem__, left):
            number = found[shapes] = left[shapes]
            if number < 0:
                raise ContradictionError(
                    f"the multiplicity of {shapes} would be {number}: these are no weights"
                )
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
        factors = map(factor.format, map(_digits, self.shapes), self.spaces)
        return (f"{self.multiplicity}{blank}" if self.multiplicity > 1 else "") + times.join(
            factors
        )

    def type_json(self) -> dict[str, Any]:
        """Return degree, partitions as lists by the name of the space, and multiplicity, which hold
        for all sizes.
        """
        shapes = {space: list(shape) for space, shape in zip(self.spaces, self.shapes, strict=True)}
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


def _digits(shape: Partition) -> str:
    """``631``; with commas where a part has two digits."""
    return ("," if max(shape, default=0) > 9 else "").join(map(str, shape))
