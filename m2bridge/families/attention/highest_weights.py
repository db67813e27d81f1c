"""Generators written out: one highest weight vector for each representation, and all others by
lowering operators.

A highest weight vector of the ideal is a combination of products of determinants. It generates its
representation: the operators that replace one index j by j + 1 lead from it to all weights, and
permutations of the indices from decreasing weights to the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import combinations_with_replacement, permutations, product
from math import gcd, prod
from random import Random
from typing import Any, get_args

import flint
import numpy

from m2bridge.algebra.linear_algebra import filled, integer_kernel, reduced_echelon
from m2bridge.algebra.numbers import LARGE_PRIME
from m2bridge.algebra.polynomial_map import same_span
from m2bridge.algebra.schur import Representation, partitions, tableaux
from m2bridge.algebra.sparse_polynomial import Terms
from m2bridge.convert.notation import sparse_text
from m2bridge.errors import ContradictionError, MethodUnavailableError
from m2bridge.families.attention import representations
from m2bridge.families.attention.completeness import CoreSize
from m2bridge.families.attention.covariants import FIRST, GENERIC, Covariant, Points, Shapes, words
from m2bridge.families.attention.parametrization import Index, parametrization, reduced_name
from m2bridge.families.attention.representations import (
    MultiplicitySpaces,
    Type,
    independent_rows,
    of_size,
)
from m2bridge.families.attention.shape import Coordinates, Shape
from m2bridge.limits import check
from m2bridge.maps.model import Core

Polynomial = dict[tuple[Index, ...], int]
Numbered = dict[tuple[int, ...], int]
"""A polynomial in numbers of coordinates, in the order of the parametrization."""
Weight = tuple[tuple[int, ...], ...]
"""How often each index of X, H, Y occurs."""


def polynomial(covariant: Covariant) -> Polynomial:
    """The product of determinants as a polynomial in the coordinates c_k_i_p_q, with the scale of
    its values.

    The tensor c has the entries c_k_i_p_q for p ≠ q, and 2 c_k_i_p_p; the factors 2 that all terms
    have are left out.
    """
    found: Counter[tuple[Index, ...]] = Counter()
    listed = map(words, covariant.shapes, covariant.places)
    terms = [list(zip(indices.tolist(), signs.tolist(), strict=True)) for indices, signs in listed]
    for (i, first), (k, second), (y, third) in product(*terms):
        factors = [_coordinate(k[s], i[s], y[2 * s], y[2 * s + 1]) for s in range(covariant.degree)]
        doubled = sum(p == q for _, _, p, q in factors) - covariant.symmetric_factors
        found[tuple(sorted(factors))] += first * second * third * 2**doubled
    return {monomial: c for monomial, c in found.items() if c}


def _coordinate(k: int, i: int, p: int, q: int) -> Index:
    return (k, i, p, q) if p <= q else (k, i, q, p)


@dataclass(frozen=True, eq=False)
class HighestWeightVector:
    """A combination of covariants, with integer coefficients."""

    terms: tuple[tuple[int, Covariant], ...]

    @cached_property
    def polynomial(self) -> Polynomial:
        """A multiple with coprime coefficients."""
        total: Counter[tuple[Index, ...]] = Counter()
        for c, T in self.terms:
            for monomial, value in polynomial(T).items():
                total[monomial] += c * value
        divisor = gcd(*total.values())
        return {monomial: c // divisor for monomial, c in total.items() if c}

    @property
    def formula(self) -> str:
        """The combination of products of determinants: ``[12]_X [12]_H``."""
        texts = [f"{'' if abs(c) == 1 else f'{abs(c)} '}{T.brackets}" for c, T in self.terms]
        signs = ["−" if c < 0 else "+" for c, _ in self.terms]
        joined = " ".join(f"{sign} {text}" for sign, text in zip(signs, texts, strict=True))
        return joined.removeprefix("+ ")


def highest_weight_vectors(
    spaces: MultiplicitySpaces, n: int, shapes: Shapes
) -> list[HighestWeightVector]:
    """Highest weight vectors of the ideal that generate, with all of lower degree, what it has of
    one type.

    Raises
    ------
    MethodUnavailableError
        If they were not found.
    """
    random, number, points = Random(0), spaces.generators(n)[shapes], spaces.points(n)
    rank, rows = spaces.ring(n).get(shapes, 0), list(spaces.boundaries[n].get(shapes, ()))
    found: list[HighestWeightVector] = []
    for _ in range(TRIES):
        chosen = [
            T for T in (Covariant.random(shapes, random) for _ in range(rank + 1)) if T is not None
        ]
        relation = _relation([T.values(points) for T in chosen])
        if relation is None:
            continue
        lift = (
            sum(c * _derivative(T, points) for c, T in zip(relation, chosen, strict=True))
            % LARGE_PRIME
        )
        if len(independent_rows([*rows, lift])) > len(rows):
            rows.append(lift)
            found.append(
                HighestWeightVector(
                    tuple((c, T) for c, T in zip(relation, chosen, strict=True) if c)
                )
            )
        if len(found) == number:
            return found
    raise MethodUnavailableError(
        f"{len(found)} of {number} highest weight vectors of type {shapes} were found"
    )


TRIES = 1000


def _relation(values: list[Any]) -> list[int] | None:
    """Integers with which the values add up to zero; ``None`` if there are none."""
    kernel = integer_kernel(numpy.transpose(values).tolist(), len(values))
    return [entry // gcd(*kernel[0]) for entry in kernel[0]] if kernel else None


def _derivative(covariant: Covariant, points: Points) -> Any:
    """The polarization Σ T(c, …, w, …, c): an element of W ⊗ C_{n−1} over the polynomial."""
    places = range(covariant.degree)
    return sum(covariant.values(points, (*(GENERIC,) * s, FIRST)) % LARGE_PRIME for s in places)


@dataclass(frozen=True, eq=False)
class Module:
    """The representation that a highest weight vector generates.

    Parameters
    ----------
    vector : Polynomial
    shapes : Shapes
    sizes : tuple of int
        Dimensions of X, H, Y.
    """

    vector: Polynomial
    shapes: Shapes
    sizes: tuple[int, int, int]
    spaces: dict[Weight, list[Numbered]] = field(default_factory=dict)

    @cached_property
    def coordinates(self) -> tuple[Index, ...]:
        """All, in the order of the parametrization."""
        x, h, y = self.sizes
        pairs = list(combinations_with_replacement(range(y), 2))
        return tuple((k, i, p, q) for k, i, (p, q) in product(range(h), range(x), pairs))

    @cached_property
    def numbers(self) -> dict[Index, int]:
        """The numbers."""
        return {coordinate: number for number, coordinate in enumerate(self.coordinates)}

    @cached_property
    def highest(self) -> Weight:
        """The weight of the vector."""
        return tuple(
            (*shape, *(0,) * (size - len(shape)))
            for shape, size in zip(self.shapes, self.sizes, strict=True)
        )

    def basis(self) -> Iterator[Numbered]:
        """A basis of weight vectors, the highest weight first."""
        dominant = (
            partitions(sum(shape), size)
            for shape, size in zip(self.shapes, self.sizes, strict=True)
        )
        for shapes in product(*dominant):
            padded = [
                (*part, *(0,) * (size - len(part)))
                for part, size in zip(shapes, self.sizes, strict=True)
            ]
            for weight in product(
                *(sorted(set(permutations(part)), reverse=True) for part in padded)
            ):
                check()
                yield from self.space(weight)

    def space(self, weight: Weight) -> list[Numbered]:
        """A basis of the polynomials of a weight."""
        decreasing = tuple(tuple(sorted(part, reverse=True)) for part in weight)
        number = prod(
            tableaux(shape, part) for shape, part in zip(self.shapes, decreasing, strict=True)
        )
        if number and decreasing not in self.spaces:
            first = {
                tuple(sorted(self.numbers[c] for c in monomial)): value
                for monomial, value in self.vector.items()
            }
            self.spaces[decreasing] = (
                [first] if decreasing == self.highest else self._lowered(decreasing, number)
            )
        if not number or decreasing == weight:
            return self.spaces.get(decreasing, [])
        x, h, y = (sorted(range(len(part)), key=lambda j, part=part: -part[j]) for part in weight)  # type: ignore[misc]
        table = [
            self.numbers[_coordinate(h[k], x[i], y[p], y[q])] for k, i, p, q in self.coordinates
        ]
        return [
            {tuple(sorted([table[j] for j in monomial])): c for monomial, c in vector.items()}
            for vector in self.spaces[decreasing]
        ]

    def _lowered(self, weight: Weight, number: int) -> list[Numbered]:
        """The independent polynomials, as many, lowered from the weights above."""
        found: list[Numbered] = []
        for place, part in enumerate(weight):
            for j in range(len(part) - 1):
                if part[j + 1]:
                    above = (*weight[:place], _raised(part, j), *weight[place + 1 :])
                    found = _basis(
                        [*found, *(self.lowered(vector, place, j) for vector in self.space(above))]
                    )
                if len(found) == number:
                    return found
        raise ContradictionError(
            f"the weight {weight} has {len(found)} polynomials and not {number}"
        )

    def lowered(self, vector: Numbered, place: int, j: int) -> Numbered:
        """The derivation that replaces an index j of X, H or Y by j + 1; in Y c_j_j+1 becomes twice
        c_j+1_j+1.
        """
        found: Counter[tuple[int, ...]] = Counter()
        for monomial, c in vector.items():
            for s, factor in enumerate(monomial):
                for new, times in _lowered_coordinate(self.coordinates[factor], place, j):
                    found[
                        tuple(sorted((*monomial[:s], self.numbers[new], *monomial[s + 1 :])))
                    ] += c * times
        return {monomial: c for monomial, c in found.items() if c}


def _raised(part: tuple[int, ...], j: int) -> tuple[int, ...]:
    return (*part[:j], part[j] + 1, part[j + 1] - 1, *part[j + 2 :])


def _lowered_coordinate(factor: Index, place: int, j: int) -> Iterator[tuple[Index, int]]:
    k, i, p, q = factor
    if place == 0 and i == j:
        yield (k, i + 1, p, q), 1
    if place == 1 and k == j:
        yield (k + 1, i, p, q), 1
    if place == 2 and j in (p, q):
        other = q if p == j else p
        yield _coordinate(k, i, j + 1, other), 2 if other == j + 1 else 1


def _basis(vectors: list[Numbered]) -> list[Numbered]:
    """The polynomials that are no combinations of the ones before, modulo a prime."""
    place = {
        monomial: j
        for j, monomial in enumerate({monomial for vector in vectors for monomial in vector})
    }
    rows = (((place[monomial], c) for monomial, c in vector.items()) for vector in vectors)
    matrix = filled(flint.nmod_mat(len(vectors), len(place), LARGE_PRIME), rows)
    return [vectors[j] for j in reduced_echelon(matrix.transpose())[1]]


def vectors(
    size: CoreSize, types: Sequence[Type]
) -> Iterator[tuple[Type, list[HighestWeightVector]]]:
    """Highest weight vectors for types of generators that :func:`.representations.generators`
    found.

    Raises
    ------
    MethodUnavailableError, TimeLimitError
        As there.
    """
    for n, shapes, number in types:
        x, h, y = map(max, map(len, shapes), size.dimensions)
        spaces = representations.multiplicity_spaces(size, (x, h, y))
        yield (n, shapes, number), highest_weight_vectors(spaces, n, shapes)


def written(vector: HighestWeightVector, shapes: Shapes) -> str:
    """A highest weight vector in the names c_k_i_p_q of the coordinates."""
    module = Module(vector.polynomial, shapes, (len(shapes[0]), len(shapes[1]), len(shapes[2])))
    return sparse_text(
        module.space(module.highest)[0].items(), [reduced_name(c) for c in module.coordinates]
    )


def generators(shape: Shape, above: int = 0) -> Iterator[tuple[Representation, list[Numbered]]]:
    """All minimal generators of a closure above a degree, t ≥ 2, by representations: highest weight
    vectors first.

    Raises
    ------
    MethodUnavailableError, TimeLimitError
        As :func:`m2bridge.families.attention.representations.generators`.

    Examples
    --------
    >>> [(str(part), len(found)) for part, found in generators(SingleLayerAttention(2, 1))]
    [('S_22 X ⊗ S_4 H ⊗ S_44 Y', 1)]
    """
    size, sizes = CoreSize.of(shape), (shape.d, shape.d_out, shape.d)
    types = [kind for kind in representations.generators(size) if kind[0] > above]
    for kind, found in vectors(size, types):
        for part in of_size([kind], shape):
            yield (
                part,
                [f for vector in found for f in Module(vector.polynomial, kind[1], sizes).basis()],
            )


def core(shape: Shape, coordinates: Coordinates) -> Core | None:
    """The core of a closure; ``None`` for one token, whose functions are no products.

    In full coordinates the closure is the same up to a linear isomorphism, which is computed.
    """
    reduced = coordinates == "reduced"
    if shape.t == 1 or not (reduced or _spans_agree(shape)):
        return None
    return Core(
        str(size := CoreSize.of(shape)),
        partial(representations.hilbert_series, shape),
        partial(representations.representations, shape),
        lambda last: (
            representations.hilbert_function(shape, last),
            of_size(representations.up_to(size, last), shape),
        ),
        partial(_polynomials, shape) if reduced else None,
    )


def _polynomials(shape: Shape, above: int) -> Iterator[Terms]:
    for _, polynomials in generators(shape, above):
        yield from (tuple(polynomial.items()) for polynomial in polynomials)


def _spans_agree(shape: Shape) -> bool:
    maps = (
        parametrization(shape, coordinates, "attention") for coordinates in get_args(Coordinates)
    )
    return same_span(*maps)
