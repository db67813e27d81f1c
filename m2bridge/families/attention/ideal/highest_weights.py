"""Generators written out: highest weight vectors, and all others by lowering operators.

A highest weight vector of the ideal is a combination of products of determinants. It generates its
representation: the operators that replace one index j by j + 1 lead from it to all weights, and
permutations of the indices from decreasing weights to the others. Which representations there are,
and how often, is computed in :mod:`.representations` and not here; see docs/representations.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations_with_replacement, permutations, product
from math import gcd, prod
from random import Random
from typing import Any

import flint
import numpy

from m2bridge.algebra.linear_algebra import integer_kernel, reduced_echelon
from m2bridge.algebra.numbers import LARGE_PRIME
from m2bridge.algebra.schur import Representation, partitions, tableaux
from m2bridge.algebra.sparse_polynomial import Terms
from m2bridge.convert.printing import sparse_text
from m2bridge.errors import ContradictionError, MethodUnavailableError
from m2bridge.families.attention.ideal import representations
from m2bridge.families.attention.ideal.covariants import (
    FIRST,
    GENERIC,
    Covariant,
    PartitionTriple,
    SourcePoints,
    values,
    words,
)
from m2bridge.families.attention.ideal.multiplicity_spaces import (
    MultiplicitySpaces,
    independent_rows,
    multiplicity_spaces,
    pieri,
)
from m2bridge.families.attention.ideal.representations import Type, of_size
from m2bridge.families.attention.ideal.sections import CoreSize
from m2bridge.families.attention.orbits.parametrization import Index, reduced_name
from m2bridge.families.attention.sizes import LayerSizes
from m2bridge.limits import check, check_deadline_in

IndexedPolynomial = dict[tuple[Index, ...], int]
"""The coefficient of each monomial, a sorted tuple of indices (k, i, p, q) of coordinates."""
Numbered = dict[tuple[int, ...], int]
"""The same with a number for each coordinate, its place in the order of the parametrization."""
Weight = tuple[tuple[int, ...], ...]
"""How often each index of X, of H and of Y occurs in a monomial, as three tuples."""

MAX_RELATION_TRIES = 1000
"""The number of random relations that are tried; almost always the first ones are enough."""


def polynomial(covariant: Covariant) -> IndexedPolynomial:
    """Return a covariant as a polynomial in the coordinates c_k_i_p_q.

    It is the value on c^{⊗n} for the tensor c with the entries c_k_i_p_q for p ≠ q, and 2 c_k_i_p_p
    for p = q. The factors 2 that all terms have are left out, as in the values at points.
    """
    # the terms of the determinants for X, for H and for Y: lists of indices with signs
    expansions = []
    for shape, places in zip(covariant.shapes, covariant.places, strict=True):
        indices, signs = words(shape, places)
        expansions.append(list(zip(indices.T.tolist(), signs.tolist(), strict=True)))
    # A factor with p and q in columns of length 1 has p = q = 0, and the factor 2, in every term.
    common_exponent = covariant.symmetric_factors
    total: Counter[tuple[Index, ...]] = Counter()
    for (i, x_sign), (k, h_sign), (y, y_sign) in product(*expansions):
        factors = []
        exponent = -common_exponent
        for s in range(covariant.degree):
            p, q = y[2 * s], y[2 * s + 1]
            factors.append(_coordinate(k[s], i[s], p, q))
            if p == q:
                exponent += 1
        total[tuple(sorted(factors))] += x_sign * h_sign * y_sign * 2**exponent
    return {monomial: c for monomial, c in total.items() if c}


def _coordinate(k: int, i: int, p: int, q: int) -> Index:
    """Return the index of the coordinate c_k_i_p_q, where p and q can be in any order."""
    if p <= q:
        return k, i, p, q
    return k, i, q, p


@dataclass(frozen=True, eq=False)
class HighestWeightVector:
    """A combination of covariants, with integer coefficients.

    Parameters
    ----------
    terms : tuple of (int, Covariant)
    """

    terms: tuple[tuple[int, Covariant], ...]

    @cached_property
    def polynomial(self) -> IndexedPolynomial:
        """The polynomial, divided by the greatest common divisor of its coefficients."""
        total: Counter[tuple[Index, ...]] = Counter()
        for c, T in self.terms:
            for monomial, value in polynomial(T).items():
                total[monomial] += c * value
        divisor = gcd(*total.values())
        return {monomial: c // divisor for monomial, c in total.items() if c}

    @property
    def formula(self) -> str:
        """The combination in the notation of :attr:`Covariant.brackets`: ``[12]_X [12]_H − …``."""
        pieces = []
        for c, T in self.terms:
            pieces.append("−" if c < 0 else "+")
            if abs(c) != 1:
                pieces.append(str(abs(c)))
            pieces.append(T.brackets)
        return " ".join(pieces).removeprefix("+ ")


def highest_weight_vectors(
    spaces: MultiplicitySpaces, n: int, shapes: PartitionTriple
) -> list[HighestWeightVector]:
    """Return highest weight vectors for the minimal generators of one type.

    There are as many as the type has generators of degree n; they are found at random, always the
    same ones. In the ideal they are independent of each other and of what lower degrees generate.

    Parameters
    ----------
    spaces : MultiplicitySpaces
    n : int
        The degree.
    shapes : PartitionTriple
        The type.

    Raises
    ------
    MethodUnavailableError
        If fewer vectors were found.
    """
    random = Random(0)
    number = spaces.generators(n)[shapes]
    points = spaces.points(n)
    # the multiplicities of the type in C_n, and in the kernel of W ⊗ C_{n−1} → C_n
    in_ring = spaces.ring(n).get(shapes, 0)
    in_kernel = pieri(spaces.ring(n - 1), spaces.sizes)[shapes] - in_ring
    few_points = spaces.few_points(n, in_kernel)
    # values of what lower degrees generate, and then of the vectors that were found
    rows = list(spaces.boundaries[n].get(shapes, ()))
    found: list[HighestWeightVector] = []
    for _ in range(MAX_RELATION_TRIES):
        chosen = []
        # One more than the multiplicity in the coordinate ring: they are dependent there, and a
        # relation is a polynomial of the ideal.
        for _ in range(in_ring + 1):
            covariant = Covariant.random(shapes, random)
            if covariant is not None:
                chosen.append(covariant)
        relation = _relation(values(chosen, points))
        if relation is None:
            continue
        # In W ⊗ C_{n−1} it is a boundary exactly if lower degrees generate it.
        lift = lifted(relation, chosen, few_points)
        if len(independent_rows([*rows, lift])) > len(rows):
            rows.append(lift)
            terms = [(c, T) for c, T in zip(relation, chosen, strict=True) if c]
            found.append(HighestWeightVector(tuple(terms)))
        if len(found) == number:
            return found
    raise MethodUnavailableError(
        f"{len(found)} of {number} highest weight vectors of type {shapes} were found"
    )


def _relation(rows: Any) -> list[int] | None:
    """Return coprime integers, not all zero, with which the rows add up to zero.

    ``None`` if the rows are independent.
    """
    kernel = integer_kernel(rows.T.tolist(), len(rows))
    if not kernel:
        return None
    divisor = gcd(*kernel[0])
    return [entry // divisor for entry in kernel[0]]


def lifted(relation: Sequence[int], covariants: Sequence[Covariant], points: SourcePoints) -> Any:
    """Return the polarization Σ F(c, …, w, …, c) of a relation F of covariants, modulo the prime.

    F is the combination of the covariants with the coefficients ``relation``, a form of degree n,
    and the sum is over the n arguments, of which one after the other is an element w of W, and all
    others are the general element c. The polarization is in W ⊗ C_{n−1}, where it is n times a
    preimage of F (docs/representations.md). It is returned as its values at the points, one for
    each.
    """
    # Both factors of the products are below 2^31: none leaves the machine integers.
    coefficients = numpy.array([c % LARGE_PRIME for c in relation])
    total = 0
    # the argument s is w, the first element at each point
    for s in range(covariants[0].degree):
        rows = values(covariants, points, (*(GENERIC,) * s, FIRST)) % LARGE_PRIME
        products = coefficients[:, None] * rows % LARGE_PRIME
        total = (total + products.sum(axis=0)) % LARGE_PRIME
    return total


@dataclass(frozen=True, eq=False)
class GeneratedRepresentation:
    """The representation that a highest weight vector generates.

    A weight is *dominant* if its three tuples are decreasing.

    Parameters
    ----------
    vector : IndexedPolynomial
        The highest weight vector.
    shapes : PartitionTriple
        Its type; with zeros added these partitions are its weight.
    sizes : tuple of int
        Dimensions of X, H, Y.
    """

    vector: IndexedPolynomial
    shapes: PartitionTriple
    sizes: tuple[int, int, int]
    _bases: dict[Weight, list[Numbered]] = field(default_factory=dict)
    """Bases of the weight spaces of dominant weights, as far as they were computed."""

    @cached_property
    def coordinates(self) -> tuple[Index, ...]:
        """The indices of all coordinates, in the order of the parametrization."""
        x, h, y = self.sizes
        pairs = list(combinations_with_replacement(range(y), 2))
        return tuple((k, i, *pair) for k, i, pair in product(range(h), range(x), pairs))

    @cached_property
    def numbers(self) -> dict[Index, int]:
        """The number of each coordinate, its place in this order."""
        return {coordinate: number for number, coordinate in enumerate(self.coordinates)}

    @cached_property
    def highest(self) -> Weight:
        """The weight of the vector."""
        return self._padded(self.shapes)

    def _padded(self, shapes: Sequence[tuple[int, ...]]) -> Weight:
        """Return three partitions as a weight: with zeros up to the dimensions of X, H and Y."""
        padded = []
        for shape, size in zip(shapes, self.sizes, strict=True):
            padded.append((*shape, *(0,) * (size - len(shape))))
        return tuple(padded)

    def basis(self) -> Iterator[Numbered]:
        """Yield a basis of weight vectors, the highest weight first.

        Every weight is a permutation of a dominant one, which has three partitions of the same
        numbers as the type. Weights that are not in the representation have no polynomials.
        """
        dominant = [partitions(sum(part), len(part)) for part in self.highest]
        for shapes in product(*dominant):
            # all permutations of the three tuples, each tuple once
            orbits = [set(permutations(part)) for part in self._padded(shapes)]
            for weight in product(*(sorted(orbit, reverse=True) for orbit in orbits)):
                check()
                yield from self.space(weight)

    def space(self, weight: Weight) -> list[Numbered]:
        """Return a basis of the polynomials of a weight; empty if the weight does not occur.

        It is a basis for the dominant weight, with its indices permuted.
        """
        dominant = tuple(tuple(sorted(part, reverse=True)) for part in weight)
        if dominant not in self._bases:
            self._bases[dominant] = self._dominant_space(dominant)
        basis = self._bases[dominant]
        if dominant == weight or not basis:
            return basis
        x, h, y = map(_sorting, weight)
        # The image of each coordinate is computed once, as it occurs in many monomials.
        renumbered = []
        for k, i, p, q in self.coordinates:
            renumbered.append(self.numbers[_coordinate(h[k], x[i], y[p], y[q])])
        permuted = []
        for vector in basis:
            image = {}
            for monomial, c in vector.items():
                image[tuple(sorted([renumbered[j] for j in monomial]))] = c
            permuted.append(image)
        return permuted

    def _dominant_space(self, weight: Weight) -> list[Numbered]:
        """Return a basis for a dominant weight, lowered from the weights above it.

        Raises
        ------
        ContradictionError
            If the operators give fewer polynomials than the dimension of the weight space.
        """
        # The dimension of a weight space is a product of Kostka's numbers.
        dimension = prod(map(tableaux, self.shapes, weight))
        found: list[Numbered] = []
        if not dimension:
            return found
        if weight == self.highest:
            vector = {}
            for monomial, c in self.vector.items():
                vector[tuple(sorted([self.numbers[factor] for factor in monomial]))] = c
            return [vector]
        for space, part in enumerate(weight):
            for j in range(len(part) - 1):
                if not part[j + 1]:
                    # the weight has no index j + 1 that could come from an index j
                    continue
                raised = (*part[:j], part[j] + 1, part[j + 1] - 1, *part[j + 2 :])
                above = self.space((*weight[:space], raised, *weight[space + 1 :]))
                lowered = [self.lowered(vector, space, j) for vector in above]
                found = _basis([*found, *lowered])
                # Enough of the operators: the others give combinations of these.
                if len(found) == dimension:
                    return found
        raise ContradictionError(
            f"the weight {weight} has {len(found)} polynomials and not {dimension}"
        )

    def lowered(self, vector: Numbered, space: int, j: int) -> Numbered:
        """Return the image of a polynomial under the derivation that replaces an index j by j + 1.

        It is an index of X, H or Y for ``space`` 0, 1 or 2.
        """
        total: Counter[tuple[int, ...]] = Counter()
        for monomial, c in vector.items():
            # Leibniz' rule: one factor of the monomial after the other is replaced
            for s, factor in enumerate(monomial):
                for new, multiple in _lowered_coordinate(self.coordinates[factor], space, j):
                    image = (*monomial[:s], self.numbers[new], *monomial[s + 1 :])
                    total[tuple(sorted(image))] += c * multiple
        return {monomial: c for monomial, c in total.items() if c}


def _sorting(part: Sequence[int]) -> list[int]:
    """Return the permutation that sorts ``part``: the positions of its entries, the largest first.

    So index j of the decreasing weight is index ``_sorting(part)[j]`` of this one.
    """
    return sorted(range(len(part)), key=lambda j: -part[j])


def _lowered_coordinate(factor: Index, space: int, j: int) -> Iterator[tuple[Index, int]]:
    """Yield the image of the coordinate c_{k,i,p,q} where an index j is replaced by j + 1.

    It is a coordinate with its coefficient; nothing is yielded if the index j does not occur, as
    the image is zero.

    Parameters
    ----------
    factor : Index
        (k, i, p, q).
    space : int
        0 for the index i, of X; 1 for k, of H; 2 for p and q, of Y.
    j : int
    """
    k, i, p, q = factor
    if space == 0 and i == j:
        yield (k, i + 1, p, q), 1
    if space == 1 and k == j:
        yield (k + 1, i, p, q), 1
    if space == 2 and j in (p, q):
        other = q if p == j else p
        # The tensor with these entries has 2 c_k_i_p_p on the diagonal. So c_k_i_j_(j+1) has the
        # image 2 c_k_i_(j+1)_(j+1), and 2 c_k_i_j_j has 2 c_k_i_j_(j+1).
        multiple = 2 if other == j + 1 else 1
        yield _coordinate(k, i, j + 1, other), multiple


def _basis(vectors: list[Numbered]) -> list[Numbered]:
    """Return each polynomial that is independent of all previous ones, modulo a prime."""
    # They are also independent over QQ; Kostka's number says if one was lost modulo the prime.
    rows: dict[tuple[int, ...], int] = {}
    for vector in vectors:
        for monomial in vector:
            rows.setdefault(monomial, len(rows))
    matrix = flint.nmod_mat(len(rows), len(vectors), LARGE_PRIME)
    for column, vector in enumerate(check_deadline_in(vectors)):
        for monomial, c in vector.items():
            matrix[rows[monomial], column] = c
    pivots = reduced_echelon(matrix)[1]
    return [vectors[j] for j in pivots]


def vectors(
    size: CoreSize, types: Sequence[Type]
) -> Iterator[tuple[Type, list[HighestWeightVector]]]:
    """Yield each type with its highest weight vectors.

    Parameters
    ----------
    size : CoreSize
    types : sequence of (degree, type, multiplicity)
        Types that :func:`.representations.generators` found for the core.

    Raises
    ------
    MethodUnavailableError, TimeLimitError
        As :func:`.representations.generators`.
    """
    for n, shapes, number in types:
        # Minors beyond the core have more rows than its spaces have dimensions: the spaces are
        # taken as large as the partitions have rows.
        x, h, y = map(max, map(len, shapes), size.dimensions)
        spaces = multiplicity_spaces(size, (x, h, y))
        yield (n, shapes, number), highest_weight_vectors(spaces, n, shapes)


def written(vector: HighestWeightVector, shapes: PartitionTriple) -> str:
    """Return a highest weight vector of this type as text, in the names c_k_i_p_q."""
    # An index of X, H or Y is below the number of rows of its partition.
    x, h, y = map(len, shapes)
    module = GeneratedRepresentation(vector.polynomial, shapes, (x, h, y))
    names = [reduced_name(coordinate) for coordinate in module.coordinates]
    return sparse_text(module.space(module.highest)[0].items(), names)


def generators(
    shape: LayerSizes, above: int = 0
) -> Iterator[tuple[Representation, list[Numbered]]]:
    """Yield the representations of minimal generators of a closure, each with its polynomials.

    The polynomials are a basis, the highest weight vector first. Hypothesis: t ≥ 2.

    Parameters
    ----------
    shape : LayerSizes
    above : int
        Generators of this degree and lower ones are left out.

    Raises
    ------
    MethodUnavailableError, TimeLimitError
        As :func:`m2bridge.families.attention.ideal.representations.generators`.

    Examples
    --------
    >>> [(str(part), len(found)) for part, found in generators(SingleLayerAttention(2, 1))]
    [('S_22 X ⊗ S_4 H ⊗ S_44 Y', 1)]
    """
    core_size = CoreSize.of(shape)
    sizes = (shape.d, shape.d_out, shape.d)
    types = [kind for kind in representations.generators(core_size) if kind[0] > above]
    for kind, found in vectors(core_size, types):
        _, shapes, _ = kind
        # one representation, or none if it is zero for the spaces of the model
        for part in of_size([kind], shape):
            polynomials: list[Numbered] = []
            for vector in found:
                module = GeneratedRepresentation(vector.polynomial, shapes, sizes)
                polynomials += module.basis()
            yield part, polynomials


def sparse_generators(shape: LayerSizes, above: int) -> Iterator[Terms]:
    """Yield the polynomials of :func:`generators` as terms, without their representations."""
    for _, polynomials in generators(shape, above):
        for polynomial_of_generator in polynomials:
            yield tuple(polynomial_of_generator.items())
