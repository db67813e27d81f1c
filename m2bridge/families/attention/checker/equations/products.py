"""The ideal I of all products of linear forms l_i, of rank at most α, and v_k: weight by weight (docs/mathematics.md).

A weight says how often each k, i and p occurs. Permutations of indices carry its part of I to another one.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import combinations_with_replacement, product
from math import comb, factorial, lcm, prod
from typing import Any, NamedTuple

import flint

from m2bridge.checker import algebra
from m2bridge.errors import TooExpensiveError

MOST_MONOMIALS = 2_000_000
Weight = tuple[tuple[int, ...], ...]
Monomial = tuple[int, ...]  # numbers of coordinates, increasing


class Part(NamedTuple):
    """All monomials of a weight, a basis of I over QQ, and by monomials that are in one of its elements only which."""

    monomials: list[Monomial]
    relations: list[dict[Monomial, int]]
    own: dict[Monomial, int]


class Products:
    """Of ``columns`` forms l_i and ``rows`` forms v_k in some variables."""

    def __init__(self, rows: int, columns: int, variables: int, alpha: int) -> None:
        self.sizes, self.alpha, self.parts = (rows, columns, variables), alpha, dict[Weight, Part]()
        pairs = combinations_with_replacement(range(variables), 2)
        self.names = [(k, i, *pq) for k, i, pq in product(range(rows), range(columns), list(pairs))]
        self.place: dict[tuple[int, ...], int] = {name: j for j, name in enumerate(self.names)}

    @cached_property
    def images(self) -> list[Any]:
        """Of the coordinates; columns of A from α on are combinations of those before."""
        (rows, columns, variables), alpha = self.sizes, min(self.alpha, self.sizes[1])
        left = iter(algebra.ring(variables * (rows + alpha) + alpha * (columns - alpha)).gens())
        V, A, more = (
            {(k, i): next(left) for k in range(m) for i in range(n)}
            for m, n in ((rows, variables), (variables, alpha), (alpha, columns - alpha))
        )
        for p, i in product(range(variables), range(alpha, columns)):
            A[p, i] = sum(A[p, e] * more[e, i - alpha] for e in range(alpha))
        return [A[q, i] * V[k, p] + (A[p, i] * V[k, q] if p < q else 0) for k, i, p, q in self.names]

    def weights(self, n: int) -> list[Weight]:
        """Of degree n, decreasing; all others are permutations of these. TooExpensiveError if they have too much."""
        if comb(len(self.names) + n - 1, n) > MOST_MONOMIALS:
            raise TooExpensiveError("degree", f"too many monomials of degree {n} in {len(self.names)} coordinates")
        rows, columns, variables = self.sizes
        return list(product(partitions(n, rows, n), partitions(n, columns, n), partitions(2 * n, variables, 2 * n)))

    def hilbert_function(self, n: int) -> int:
        """The dimension of the coordinate ring in degree n."""
        parts = ((weight, self.part(weight)) for weight in self.weights(n))
        return sum(orbit(weight) * (len(part.monomials) - len(part.relations)) for weight, part in parts)

    def generator_count(self, n: int) -> int:
        """The number of minimal generators of I of degree n."""
        if not self.generators(self.balanced(n)):
            return 0
        return sum(orbit(weight) * self.generators(weight) for weight in self.weights(n))

    def balanced(self, n: int) -> Weight:
        """The weight of degree n that occurs in every representation (docs/completeness.md)."""
        totals = zip((n, n, 2 * n), self.sizes, strict=True)
        return tuple(tuple(total // size + (j < total % size) for j in range(size)) for total, size in totals)

    def part(self, weight: Weight) -> Part:
        """The part of I of a decreasing weight.

        The rank modulo a prime is at most the dimension of the quotient, and relations that vanish over ZZ are in I.
        """
        if weight in self.parts:
            return self.parts[weight]
        monomials = list(self.monomials(weight))
        one = self.images[0] ** 0
        images = [prod((self.images[j] for j in m), start=one) for m in monomials]
        terms: dict[Any, dict[int, int]] = {}
        for number, image in enumerate(images):
            for exponents, coefficient in image.to_dict().items():
                terms.setdefault(exponents, {})[number] = int(coefficient)
        found = Part(monomials, [], {})
        for own, entries in kernel(list(terms.values()), len(monomials)):
            if sum((images[number] * c for number, c in entries.items()), 0 * one):
                raise TooExpensiveError("answer", f"not decided: a relation of weight {weight} has large coefficients")
            found.own[monomials[own]] = len(found.relations)
            found.relations.append({monomials[number]: c for number, c in entries.items()})
        self.parts[weight] = found
        return found

    def monomials(self, weight: Weight, first: int = 0) -> Iterator[Monomial]:
        """Of this weight, in coordinates that are not before the first; each begins with the least k that is left."""
        least = next((k for k, count in enumerate(weight[0]) if count), None)
        if least is None:
            yield ()
            return
        block = len(self.names) // self.sizes[0]
        for j in range(max(first, least * block), (least + 1) * block):
            if less := self.without(weight, j):
                yield from ((j, *rest) for rest in self.monomials(less, j))

    def without(self, weight: Weight, j: int) -> Weight | None:
        """What is left of a weight without that of a coordinate; ``None`` if it is not in it."""
        (ks, is_, ps), (k, i, p, q) = weight, self.names[j]
        if not (ks[k] and is_[i] and ps[p] and ps[q] > (p == q)):
            return None
        return less(ks, k), less(is_, i), less(less(ps, p), q)

    def generators(self, weight: Weight) -> int:
        """The number of minimal generators of a decreasing weight: the dimension of I modulo multiples of lower ones.

        Functionals on I that vanish on the multiples modulo a prime, lifted, have to vanish over ZZ. None can be
        missing, since the rank over QQ is no less.
        """
        own = self.part(weight).own
        rows, columns = without_units(self.multiples(weight, own), range(len(own)))
        functionals = [functional for _, functional in kernel(rows, len(columns))]
        if any(sum(c * f.get(j, 0) for j, c in row.items()) for f in functionals for row in rows):
            raise TooExpensiveError("answer", f"not decided: a functional of weight {weight} has large entries")
        return len(functionals)

    def multiples(self, weight: Weight, own: Mapping[Monomial, int]) -> Iterator[dict[int, int]]:
        """Coordinates times elements of I, written in the basis of I (whose elements may be scaled)."""
        for j in range(len(self.names)):
            if (rest := self.without(weight, j)) is None or not any(rest[0]):
                continue
            ks, is_, ps = (sorted(range(len(w)), key=w.__getitem__, reverse=True) for w in rest)
            moved = [self.place[ks[k], is_[i], *sorted((ps[p], ps[q]))] for k, i, p, q in self.names]
            decreasing = tuple(tuple(sorted(counts, reverse=True)) for counts in rest)
            for relation in self.part(decreasing).relations:
                row = ((tuple(sorted((j, *(moved[x] for x in m)))), c) for m, c in relation.items())
                yield {own[m]: c for m, c in row if m in own}


def less(counts: tuple[int, ...], index: int) -> tuple[int, ...]:
    return (*counts[:index], counts[index] - 1, *counts[index + 1 :])


def without_units(rows: Iterable[dict[int, int]], columns: Iterable[int]) -> tuple[list[dict[int, int]], list[int]]:
    """The quotient by rows that have one entry, again and again: rows without repetition in the columns that stay."""
    left, columns, before = list(rows), set(columns), -1
    while len(columns) != before:
        before = len(columns)
        for row in left:
            if len(kept := columns.intersection(row)) == 1:
                columns -= kept
    place = {column: j for j, column in enumerate(sorted(columns))}
    found = {tuple(sorted((place[j], c) for j, c in row.items() if j in place)) for row in left} - {()}
    return list(map(dict, sorted(found))), sorted(columns)


def partitions(n: int, parts: int, largest: int) -> Iterator[tuple[int, ...]]:
    """Decreasing, padded with zeros."""
    if parts == 0:
        yield from [()] if n == 0 else []
        return
    for first in range(min(n, largest), -1, -1):
        yield from ((first, *rest) for rest in partitions(n - first, parts - 1, first))


def orbit(weight: Weight) -> int:
    """The number of its permutations."""
    return prod(factorial(len(w)) // prod(factorial(w.count(x)) for x in set(w)) for w in weight)


def kernel(rows: Sequence[dict[int, int]], size: int) -> Iterator[tuple[int, dict[int, int]]]:
    """A basis of the kernel modulo a prime, lifted to integers, each with a place where all others are zero."""
    p = algebra.PRIME
    if not rows:
        yield from ((free, {free: 1}) for free in range(size))
        return
    entries = [[row.get(j, 0) % p for j in range(size)] for row in rows]
    echelon, rank = flint.nmod_mat(len(rows), size, [x for row in entries for x in row], p).rref()
    reduced = [[int(echelon[i, j]) for j in range(size)] for i in range(rank)]
    pivots = [next(j for j, x in enumerate(row) if x) for row in reduced]
    for free in sorted(set(range(size)) - set(pivots)):
        found = {j: fraction(-row[free], p) for row, j in zip(reduced, pivots, strict=True) if row[free]}
        found[free] = (1, 1)
        scale = lcm(*(denominator for _, denominator in found.values()))
        yield free, {j: x * scale // denominator for j, (x, denominator) in found.items()}


def fraction(x: int, p: int) -> tuple[int, int]:
    """The fraction with this residue and small numerator and denominator (Wang's algorithm)."""
    (a, b), (s, t) = (p, x % p), (0, 1)
    while b * b > p // 2:
        quotient = a // b
        (a, b), (s, t) = (b, a - quotient * b), (t, s - quotient * t)
    return (b, t) if t > 0 else (-b, -t)
