"""Generators written out: highest weight vectors, and all others by lowering operators.

A highest weight vector of the ideal is a combination of products of determinants. It generates its
representation: the operators that replace one index j by j + 1 lead from it to all weights, and
permutations of the indices from decreasing weights to the others. Which representations there are,
and how often, is computed in :mod:`.representations` and not here; see docs/representations.md.

Notation. A core is a small case with the same types of generators as all sizes that have it; X, H
and Y are the spaces of indices i, k and p, q of its coordinates c_kipq, W is the space that the
coordinates span, and C_n the coordinate ring of the closure in degree n. A type is a triple of
partitions, one for each of GL(X), GL(H), GL(Y). A covariant is a product of determinants of this
weight, a function on weights (A, V). The minimal generators of degree n are the kernel of
W ⊗ C_{n−1} → C_n modulo the boundaries, the image of Λ²W ⊗ C_{n−2}. A weight of which the operators
give fewer polynomials than its dimension is a ContradictionError.
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
from m2bridge.algebra.schur import Representation, kostka_number, partitions
from m2bridge.algebra.sparse_polynomial import Terms
from m2bridge.convert.printing import sparse_text
from m2bridge.errors import ContradictionError, MethodUnavailableError
from m2bridge.families.attention.ideal import representations
from m2bridge.families.attention.ideal.covariants import (
    FIRST,
    GENERIC,
    Covariant,
    SourcePoints,
    covariant_values,
    determinant_terms,
)
from m2bridge.families.attention.ideal.multiplicity_spaces import (
    MultiplicitySpaces,
    independent_rows,
    multiplicity_spaces,
    pieri,
)
from m2bridge.families.attention.ideal.representations import (
    RepresentationType,
    representations_of_size,
)
from m2bridge.families.attention.ideal.sections import CoreSize, PartitionTriple
from m2bridge.families.attention.orbits.coordinates import Index, reduced_name
from m2bridge.families.attention.sizes import LayerSizes
from m2bridge.limits import check, check_deadline_in

IndexedPolynomial = dict[tuple[Index, ...], int]
"""The coefficient of each monomial, a sorted tuple of indices (k, i, p, q) of coordinates."""
NumberedPolynomial = dict[tuple[int, ...], int]
"""The coefficient of each monomial, a sorted tuple of numbers of coordinates.

The number of a coordinate is its place in the order of the parametrization, from 0 on.
"""
Weight = tuple[tuple[int, ...], ...]
"""How often each index of X, of H and of Y occurs in a monomial, as three tuples.

For X and H of dimension 2 and Y of dimension 3 it is ((1, 0), (1, 0), (1, 1, 0)) for c_1_1_1_2.
"""

MAX_RELATION_TRIES = 1000
"""The number of random relations that are tried; almost always the first ones are enough."""


def covariant_polynomial(covariant: Covariant) -> IndexedPolynomial:
    """Return a covariant as a polynomial in the coordinates c_k_i_p_q.

    It is the value on c^{⊗n} for the tensor c with the entries c_k_i_p_q for p ≠ q, and 2 c_k_i_p_p
    for p = q. The factors 2 that all terms have are left out, as :func:`.covariant_values` does.
    """
    # for X, H and Y the terms of the determinants: the indices in the factors, and a sign
    expansions = []
    for shape, places in zip(covariant.shapes, covariant.places, strict=True):
        terms, signs = determinant_terms(shape, places)
        expansions.append(list(zip(terms.T.tolist(), signs.tolist(), strict=True)))
    # A factor with p and q in columns of length 1 has p = q = 0, and the factor 2, in every term.
    common_exponent = covariant.symmetric_factor_count
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
    """A highest weight vector of the ideal: covariants with integer coefficients."""

    terms: tuple[tuple[int, Covariant], ...]

    @classmethod
    def of(
        cls, coefficients: Sequence[int], covariants: Sequence[Covariant]
    ) -> HighestWeightVector:
        """Return the sum of the covariants with these coefficients, without those that are 0."""
        pairs = zip(coefficients, covariants, strict=True)
        return cls(tuple((c, T) for c, T in pairs if c))

    @cached_property
    def polynomial(self) -> IndexedPolynomial:
        """The polynomial, divided by the greatest common divisor of its coefficients."""
        total: Counter[tuple[Index, ...]] = Counter()
        for coefficient, T in self.terms:
            for monomial, value in covariant_polynomial(T).items():
                total[monomial] += coefficient * value
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
    """Return highest weight vectors for the minimal generators of one type and degree.

    There are as many as the type has generators of degree n, independent of each other and of what
    lower degrees generate. Until all are found:

    1. Random covariants are drawn, one more than the multiplicity of the type in C_n. A combination
       of them is zero at all points.
    2. It is kept if its polarization, in W ⊗ C_{n−1}, is independent of the boundaries, which are
       what lower degrees generate, and of the polarizations of those kept before.
    3. It is proved to be zero on the core, so in the ideal, once as many covariants as the
       multiplicity in C_n have independent values: then the points separate the functions of this
       type in C_n.

    Random numbers have a fixed seed, so that each call returns the same vectors.
    """
    random = Random(0)
    # this also computes spaces.boundaries[n]
    generator_count = spaces.generators(n)[shapes]
    points = spaces.points(n)
    # the multiplicities of the type in C_n, and in the kernel of W ⊗ C_{n−1} → C_n
    in_ring = spaces.ring(n).get(shapes, 0)
    in_kernel = pieri(spaces.ring(n - 1), spaces.sizes)[shapes] - in_ring
    few_points = spaces.few_points(n, in_kernel)
    # Values at these points of a basis of what lower degrees generate (none if they generate
    # nothing of this type), and then of the vectors that were found.
    rows = list(spaces.boundaries[n].get(shapes, ()))
    vectors: list[HighestWeightVector] = []
    are_functions_separated = False
    for _ in range(MAX_RELATION_TRIES):
        # One more than the multiplicity in the coordinate ring: they are dependent there, and a
        # relation is a polynomial of the ideal.
        candidates = [Covariant.random(shapes, random) for _ in range(in_ring + 1)]
        covariants = [covariant for covariant in candidates if covariant is not None]
        values = covariant_values(covariants, points)
        if covariants and len(independent_rows(list(values))) == in_ring:
            are_functions_separated = True
        # coefficients of a sum of the rows that is exactly zero
        kernel = integer_kernel(values.T.tolist(), len(values))
        if not kernel:
            # fewer covariants were drawn, as random ones were zero, and they are independent
            continue
        divisor = gcd(*kernel[0])
        relation = [entry // divisor for entry in kernel[0]]
        # In W ⊗ C_{n−1} it is a boundary exactly if lower degrees generate it.
        polarization = polarization_values(relation, covariants, few_points)
        is_new = len(independent_rows([*rows, polarization])) > len(rows)
        if is_new and len(vectors) < generator_count:
            rows.append(polarization)
            vectors.append(HighestWeightVector.of(relation, covariants))
        if len(vectors) == generator_count and are_functions_separated:
            return vectors
    if len(vectors) == generator_count:
        raise MethodUnavailableError(
            f"the highest weight vectors of type {shapes} are not proved: the points do not"
            " separate the functions of this type"
        )
    raise MethodUnavailableError(
        f"{len(vectors)} of {generator_count} highest weight vectors of type {shapes} were found"
    )


def polarization_values(
    relation: Sequence[int], covariants: Sequence[Covariant], points: SourcePoints
) -> Any:
    """Return the values of the polarization Σ F(c, …, w, …, c) at the points, modulo the prime.

    F is the combination of the covariants with the coefficients ``relation``, as a multilinear
    function of n elements of W. It is not symmetric: in each of n terms another argument is w, the
    first of the two elements of W at a point. The polarization is in W ⊗ C_{n−1}, where it is n
    times a preimage of F (docs/representations.md).
    """
    # Both factors of a product are below 2^31, so that products are machine integers.
    coefficients = numpy.array([c % LARGE_PRIME for c in relation])
    total = 0
    for s in range(covariants[0].degree):
        # The argument s is w, the first element at each point, after s times c; all further
        # arguments, which are not listed, are c.
        arguments = (*(GENERIC,) * s, FIRST)
        rows = covariant_values(covariants, points, arguments) % LARGE_PRIME
        products = coefficients[:, None] * rows % LARGE_PRIME
        total = (total + products.sum(axis=0)) % LARGE_PRIME
    return total


@dataclass(frozen=True, eq=False)
class GeneratedRepresentation:
    """The representation that a highest weight vector generates.

    A weight is *dominant* if its three tuples are decreasing.
    """

    vector: IndexedPolynomial
    shapes: PartitionTriple  # its type; with zeros added these partitions are its weight
    sizes: tuple[int, int, int]  # dimensions of X, H, Y
    _bases: dict[Weight, list[NumberedPolynomial]] = field(default_factory=dict)
    """Bases of the weight spaces of dominant weights, as far as they were computed."""

    @cached_property
    def coordinates(self) -> tuple[Index, ...]:
        """The indices of all coordinates, in the order of the parametrization."""
        x, h, y = self.sizes
        pairs = list(combinations_with_replacement(range(y), 2))
        return tuple((k, i, *pair) for k, i, pair in product(range(h), range(x), pairs))

    @cached_property
    def number_of(self) -> dict[Index, int]:
        """The number of each coordinate by its index."""
        return {coordinate: number for number, coordinate in enumerate(self.coordinates)}

    @cached_property
    def highest_weight(self) -> Weight:
        """The weight of the highest weight vector, from which all others are lowered."""
        return self._padded_weight(self.shapes)

    def _padded_weight(self, shapes: Sequence[tuple[int, ...]]) -> Weight:
        """Return three partitions as a weight: with zeros up to the dimensions of X, H and Y."""
        padded = []
        for shape, size in zip(shapes, self.sizes, strict=True):
            padded.append((*shape, *(0,) * (size - len(shape))))
        return tuple(padded)

    def basis(self) -> Iterator[NumberedPolynomial]:
        """Yield a basis of the representation of weight vectors, the highest weight first.

        Every weight is a permutation of a dominant one, which consists of partitions of n, n and
        2n.
        """
        # for X, H and Y the partitions of n, n or 2n with at most as many rows as dimensions
        dominant_parts = [partitions(sum(part), len(part)) for part in self.highest_weight]
        for shapes in product(*dominant_parts):
            # for X, H and Y all permutations of the tuple, each once, and the decreasing one first
            rearrangements = [
                sorted(set(permutations(part)), reverse=True)
                for part in self._padded_weight(shapes)
            ]
            for weight in product(*rearrangements):
                check()
                yield from self.weight_basis(weight)

    def weight_basis(self, weight: Weight) -> list[NumberedPolynomial]:
        """Return a basis of the polynomials of a weight; empty if the weight does not occur.

        It is computed once for the dominant weight; for others indices are permuted.
        """
        dominant = tuple(tuple(sorted(part, reverse=True)) for part in weight)
        if dominant not in self._bases:
            self._bases[dominant] = self._dominant_weight_basis(dominant)
        basis = self._bases[dominant]
        if dominant == weight or not basis:
            return basis
        # what each index of X, H and Y becomes, so that the dominant weight becomes ``weight``
        new_i, new_k, new_p = map(_sorting_permutation, weight)
        new_numbers = []
        for k, i, p, q in self.coordinates:
            image = _coordinate(new_k[k], new_i[i], new_p[p], new_p[q])
            new_numbers.append(self.number_of[image])
        permuted_basis = []
        for polynomial in basis:
            permuted = {}
            for monomial, c in polynomial.items():
                permuted[tuple(sorted([new_numbers[j] for j in monomial]))] = c
            permuted_basis.append(permuted)
        return permuted_basis

    def _dominant_weight_basis(self, weight: Weight) -> list[NumberedPolynomial]:
        """Return a basis of the polynomials of a dominant weight; empty if it does not occur.

        They are spanned by the images of the polynomials of the weights above under the operators
        that replace an index j by j + 1. The recursion ends at the highest weight.
        """
        # The dimension of a weight space is a product of Kostka's numbers.
        dimension = prod(map(kostka_number, self.shapes, weight))
        if dimension == 0:
            return []
        if weight == self.highest_weight:
            numbered = {}
            for monomial, c in self.vector.items():
                numbered[tuple(sorted([self.number_of[index] for index in monomial]))] = c
            return [numbered]
        basis: list[NumberedPolynomial] = []
        for space, j, weight_above in _weights_above(weight):
            polynomials_above = self.weight_basis(weight_above)
            images = [
                self.lower_polynomial(polynomial, space, j) for polynomial in polynomials_above
            ]
            basis = _independent_polynomials([*basis, *images])
            # All further operators give combinations of these polynomials.
            if len(basis) == dimension:
                return basis
        raise ContradictionError(
            f"the weight {weight} has {len(basis)} polynomials and not {dimension}"
        )

    def lower_polynomial(
        self, polynomial: NumberedPolynomial, space: int, j: int
    ) -> NumberedPolynomial:
        """Return the image under the operator of an index j of X, H or Y (``space`` 0, 1 or 2)."""
        total: Counter[tuple[int, ...]] = Counter()
        for monomial, c in polynomial.items():
            # Leibniz' rule: one factor of the monomial after the other is replaced
            for s, factor in enumerate(monomial):
                for new, multiple in _lowered_coordinate(self.coordinates[factor], space, j):
                    image = (*monomial[:s], self.number_of[new], *monomial[s + 1 :])
                    total[tuple(sorted(image))] += c * multiple
        return {monomial: c for monomial, c in total.items() if c}


def _sorting_permutation(part: Sequence[int]) -> list[int]:
    """Return the positions of entries, the largest entry first: [1, 2, 0] for (0, 3, 1)."""
    return sorted(range(len(part)), key=lambda position: -part[position])


def _weights_above(weight: Weight) -> Iterator[tuple[int, int, Weight]]:
    """Yield (space, j, weight above) for each operator that leads to ``weight``.

    The weight above has one index j more and one index j + 1 less.
    """
    for space, part in enumerate(weight):
        for j in range(len(part) - 1):
            if part[j + 1]:
                raised = (*part[:j], part[j] + 1, part[j + 1] - 1, *part[j + 2 :])
                yield space, j, (*weight[:space], raised, *weight[space + 1 :])


def _lowered_coordinate(factor: Index, space: int, j: int) -> Iterator[tuple[Index, int]]:
    """Yield the image of a coordinate, if not zero, under the operator of j; with a coefficient."""
    k, i, p, q = factor
    if space == 0 and i == j:
        yield (k, i + 1, p, q), 1
    if space == 1 and k == j:
        yield (k + 1, i, p, q), 1
    if space == 2 and j in (p, q):
        other = q if p == j else p
        # The operator replaces the indices of a symmetric tensor. Its entry at (p, q) is c_k_i_p_q
        # for p ≠ q, and 2 c_k_i_p_p for p = q. So c_k_i_j_(j+1) has the image 2 c_k_i_(j+1)_(j+1);
        # and 2 c_k_i_j_j has the image 2 c_k_i_j_(j+1), as either index can be replaced.
        multiple = 2 if other == j + 1 else 1
        yield _coordinate(k, i, j + 1, other), multiple


def _independent_polynomials(polynomials: list[NumberedPolynomial]) -> list[NumberedPolynomial]:
    """Return each polynomial that is independent of all previous ones, modulo a prime.

    They are also independent over QQ, where there may be more; the caller knows their number.
    """
    # a row for each monomial, a column for each polynomial
    rows: dict[tuple[int, ...], int] = {}
    for polynomial in polynomials:
        for monomial in polynomial:
            rows.setdefault(monomial, len(rows))
    matrix = flint.nmod_mat(len(rows), len(polynomials), LARGE_PRIME)
    for column, polynomial in enumerate(check_deadline_in(polynomials)):
        for monomial, c in polynomial.items():
            matrix[rows[monomial], column] = c
    pivots = reduced_echelon(matrix).pivots
    return [polynomials[j] for j in pivots]


def vectors_by_type(
    size: CoreSize, types: Sequence[RepresentationType]
) -> Iterator[tuple[RepresentationType, list[HighestWeightVector]]]:
    """Yield each of these types of minimal generators of a core with its highest weight vectors."""
    for generator_type in types:
        # Minors beyond the core have more rows than its spaces have dimensions: the spaces are
        # taken as large as the partitions have rows.
        row_counts = map(len, generator_type.shapes)
        x, h, y = map(max, row_counts, size.dimensions)
        spaces = multiplicity_spaces(size, (x, h, y))
        vectors = highest_weight_vectors(spaces, generator_type.degree, generator_type.shapes)
        yield generator_type, vectors


def vector_text(vector: HighestWeightVector, shapes: PartitionTriple) -> str:
    """Return the polynomial of a highest weight vector as text, with the names c_k_i_p_q."""
    # An index of X, H or Y is below the number of rows of its partition.
    x, h, y = map(len, shapes)
    module = GeneratedRepresentation(vector=vector.polynomial, shapes=shapes, sizes=(x, h, y))
    names = [reduced_name(coordinate) for coordinate in module.coordinates]
    # only the multiples of the vector have the highest weight
    (polynomial,) = module.weight_basis(module.highest_weight)
    return sparse_text(polynomial.items(), names)


def generators(
    shape: LayerSizes, above: int = 0
) -> Iterator[tuple[Representation, list[NumberedPolynomial]]]:
    """Yield the representations of minimal generators of a closure, each with its polynomials; t ≥
    2.

    The polynomials are a basis, the highest weight vector first. Generators of degree ≤ ``above``
    are left out.
    """
    core_size = CoreSize.of(shape)
    sizes = (shape.d, shape.d_out, shape.d)
    all_types = representations.generators(core_size)
    higher_types = [kind for kind in all_types if kind.degree > above]
    for generator_type, vectors_of_type in vectors_by_type(core_size, higher_types):
        # a list of one representation, or of none if it is zero for the spaces of the model
        for representation in representations_of_size([generator_type], shape):
            polynomials: list[NumberedPolynomial] = []
            for vector in vectors_of_type:
                module = GeneratedRepresentation(
                    vector=vector.polynomial, shapes=generator_type.shapes, sizes=sizes
                )
                polynomials += module.basis()
            yield representation, polynomials


def generators_as_terms(shape: LayerSizes, above: int) -> Iterator[tuple[Terms, ...]]:
    """Yield the polynomials of :func:`generators`, for each representation a tuple: each by its
    monomials, numbers of coordinates with repetition, and coefficients.
    """
    for _, polynomials in generators(shape, above):
        yield tuple(tuple(polynomial.items()) for polynomial in polynomials)
