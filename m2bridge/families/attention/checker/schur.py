"""Dimensions of Schur functors, their weights, and the sum of them that has given weights.

Rests on: Cauchy's formula, the formula of hooks and contents, semistandard tableaux as a basis of
weight vectors, complete reducibility (characteristic 0).
Proved in: textbooks (Fulton, *Young Tableaux*, §§ 6, 8; Fulton and Harris, *Representation
Theory*).
Computed here: numbers, from a partition and the dimension of a space.
On trust: these theorems alone.

Notation. A partition λ of n is a decreasing tuple with the sum n, its parts, here with zeros at its
end as far as asked for; as a shape it has a row of boxes for each part. (1^j) are j ones. S_λ is a
Schur functor, S_n and Λ^n are symmetric and exterior powers, K^n is a space of dimension n. A
semistandard tableau of shape λ has numbers in the boxes of λ that do not decrease in rows and grow
in columns; S_λ K^n has as many dimensions as there are such tableaux with entries 1, …, n. A weight
says how often each basis vector, or entry, occurs. X, H, Y are the spaces of representations.py;
the three weights of a product of Schur functors in them are one tuple, in the order H, X, Y.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import product
from math import comb, factorial, perm, prod
from typing import Any

Partition = tuple[int, ...]
Weight = tuple[Partition, ...]


def partitions(n: int, parts: int, largest: int) -> Iterator[Partition]:
    """Yield the partitions of n into at most ``parts`` parts, none above ``largest``."""
    if parts == 0:
        if n == 0:
            yield ()
        return
    for first in range(min(n, largest), -1, -1):
        for others in partitions(n - first, parts - 1, first):
            yield (first, *others)


def symmetric_dimension(size: int, n: int) -> int:
    """The dimension of S_n K^size; zero for negative n."""
    if n < 0:
        return 0
    return comb(size + n - 1, n)


def hook_dimension(size: int, n: int, legs: int) -> int:
    """The dimension of S_(n − legs, 1^legs) K^size, for n ≥ 1, by Pieri's rule S_(n−i) ⊗ Λ^i =
    S_(n−i, 1^i) + S_(n−i+1, 1^(i−1)); zero where there is no such hook.
    """
    if legs >= n:
        return 0
    total = 0
    for i in range(legs + 1):
        total += (-1) ** (legs - i) * symmetric_dimension(size, n - i) * comb(size, i)
    return total


def schur_dimension(shape: Partition, size: int) -> int:
    """The dimension of S_λ K^size, for a shape of at most ``size`` parts: the product of (size +
    content) / (hook length) over the boxes.

    Row i has the contents −i, 1 − i, …; and if its first box has a hook of length f_i, the row has
    the hook lengths 1, …, f_i but for the differences f_i − f_j with the rows j below it.
    """
    # f_i: the boxes of the row, and one for each row below it; empty rows at the end of the shape
    # count here as well, and change nothing in the quotient
    first_hooks = [length + len(shape) - 1 - i for i, length in enumerate(shape)]
    numerator = 1
    denominator = 1
    for i, length in enumerate(shape):
        # the product of size − i, …, size − i + length − 1: of size + content over row i
        numerator *= perm(size - i + length - 1, length)
        denominator *= factorial(first_hooks[i])
        for lower in first_hooks[i + 1 :]:
            numerator *= first_hooks[i] - lower
    return numerator // denominator


def determinantal_dimension(size: int, rank: int, n: int) -> int:
    """The dimension of the polynomials of degree n on the size × size matrices of at most a rank,
    the sum of S_λ ⊗ S_λ over partitions λ of n with at most ``rank`` parts (De Concini, Eisenbud,
    Procesi, Invent. Math. 56, 1980).
    """
    if rank >= size:
        return symmetric_dimension(size * size, n)  # all matrices
    return sum(schur_dimension(shape, size) ** 2 for shape in partitions(n, rank, n))


@lru_cache(maxsize=100_000)
def count_tableaux(shape: Partition, weight: Partition) -> int:
    """The number of semistandard tableaux of a shape, where ``weight`` says how often each entry
    occurs: the boxes of the largest are a horizontal strip, the others a tableau of shape
    ``inner``.
    """
    if not weight:
        has_boxes = any(shape)
        return 0 if has_boxes else 1
    inner_lengths = []  # for each row of the shape the lengths that it can have in inner
    for length, next_length in zip(shape, (*shape[1:], 0), strict=True):
        inner_lengths.append(range(next_length, length + 1))
    total = 0
    for inner in product(*inner_lengths):
        boxes_of_largest = sum(shape) - sum(inner)
        if boxes_of_largest == weight[-1]:
            total += count_tableaux(inner, weight[:-1])
    return total


def representations(n: int, dimensions: Mapping[Weight, int]) -> list[dict[str, Any]]:
    """The representation of degree n with these dimensions {decreasing weight (H, X, Y): dimension}
    of weight spaces, as a sum of products.

    The highest weight belongs to a product, which occurs as often as this dimension; the dimensions
    of its weight spaces, numbers of tableaux, are subtracted, and so on: in characteristic 0
    weights determine a representation.
    """
    dimensions_left = dict(dimensions)
    products = []
    for highest in sorted(dimensions_left, reverse=True):  # in lexicographic order
        multiplicity = dimensions_left[highest]
        if multiplicity == 0:
            continue
        for weight in dimensions_left:
            of_factors = [
                count_tableaux(shape, counts) for shape, counts in zip(highest, weight, strict=True)
            ]
            dimensions_left[weight] -= multiplicity * prod(of_factors)
        H, X, Y = ([part for part in shape if part] for shape in highest)
        products.append({"degree": n, "X": X, "H": H, "Y": Y, "multiplicity": multiplicity})
    return products


def by_degree(kind: dict[str, Any]) -> list[Any]:
    """The key by which representations are in order."""
    return [kind[name] for name in ("degree", "X", "H", "Y")]
