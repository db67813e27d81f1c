"""The differential of a polynomial map at points: Jacobian matrices and their ranks.

A rank at a point is at most the generic rank, so it is a lower bound for the dimension of the
closure of the image: the generic rank is this dimension in characteristic 0, and at most this
dimension in characteristic p, where it can be less (s ↦ s^p). The rank modulo any prime is a lower
bound for the rank over QQ. That is all that points prove, and no closure is computed. Source:
Hartshorne, *Algebraic Geometry*, section I.5; Eisenbud, *Commutative Algebra*, Theorem 16.19.

A parametrization is a :class:`~m2bridge.algebra.polynomial_map.PolynomialMap`: its ``source`` is
the ring of the parameters, and its ``images`` are polynomials in them, one for each coordinate of
the space that contains the image. Its Jacobian matrix has a row for each image, and a column for
each parameter. The characteristic divides no denominator of the map. ``enough`` is an upper bound
for the generic rank: when it is reached, no other point is tried.

:func:`generic_rank_is_at_most` proves upper bounds in characteristic 0, by ranks at one point
modulo several primes. Let k = bound + 1, and consider the minors of size k of the Jacobian matrix,
without denominators. In the j-th parameter their degree is at most D_j, the sum of the k largest
degrees of rows. The sum of the absolute values of their coefficients is at most H, the product of
the k largest norms of rows, where the norm of a row is the sum of these sums over all its entries;
for these sums are submultiplicative.

At x_j = B^(w_j) with w_1 = 1 and w_(j+1) = w_j (D_j + 1), different monomials are different powers
of B (Kronecker's substitution). So for B ≥ 2H + 2 the value of a minor that is not the zero
polynomial is not zero, and less than B^W, where W = ∏ (D_j + 1). A product of primes that is at
least B^W does not divide it: modulo one of these primes the rank at the point is at least k. Where
it is at most the bound modulo all of them, all minors of size k are zero.

A scaling of the parameters for which every image is homogeneous does not change the rank. Such
scalings take a general point, over an algebraically closed field, to one where some parameters are
1 (:func:`_varying_parameters`): only the others need powers of B.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count, islice
from math import prod
from operator import sub
from random import Random
from typing import NamedTuple

import flint
from sympy.polys.rings import PolyElement

from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.algebra.linear_algebra import LONG_PRIME, PRIME_BITS, pivot_columns, rank, rank_mod
from m2bridge.algebra.numbers import integer_coefficients, primes_from
from m2bridge.algebra.polynomial_map import PolynomialMap
from m2bridge.algebra.sparse_polynomial import gradients
from m2bridge.errors import MethodUnavailableError


def jacobian_at(
    polynomials: Sequence[PolyElement], point: Sequence[int], prime: int = 0
) -> list[list[int]]:
    """The Jacobian matrix at an integer point, or over an extension of GF(p), each row without its
    polynomial's denominators, which do not change the rank. Modulo a prime, 0 for none, it is much
    faster where exponents are large.
    """
    terms = map(integer_coefficients, polynomials)
    rows = []
    # A gradient has the index of a variable → the value of that partial derivative, if not zero.
    for gradient in gradients(terms, point, prime):
        row = [gradient.get(i, 0) for i in range(len(point))]
        if prime:
            row = [entry % prime for entry in row]
        rows.append(row)
    return rows


def tangent_dimension(
    generators: Sequence[PolyElement], point: Sequence[int], *, field: CoefficientField = QQ
) -> int:
    """The dimension of the kernel over ``field`` of the Jacobian matrix of polynomials at a point:
    with all generators of a radical ideal, and a point of its variety, the dimension of the
    (affine) Zariski tangent space; with some of them an upper bound, since each further equation
    makes the kernel smaller or leaves it.
    """
    return len(point) - _jacobian_rank(generators, point, field)


def _jacobian_rank(
    polynomials: Sequence[PolyElement], point: Sequence[int], field: CoefficientField
) -> int:
    """The rank over ``field``, QQ or GF(p), of the Jacobian matrix of polynomials at a point."""
    p = field.characteristic
    # At special points most of many rows are zero, and the others are few.
    rows = [row for row in jacobian_at(polynomials, point, p) if any(row)]
    if not rows:
        return 0
    return rank_mod(rows, p) if p else rank(rows)


def random_point(parametrization: PolynomialMap, bound: int, seed: int) -> tuple[int, ...]:
    """A point of the source, which has no relations, with entries uniform in {1, …, bound}."""
    chance = Random(seed)
    return tuple(chance.randint(1, bound) for _ in parametrization.source.variables)


def differential_rank(
    parametrization: PolynomialMap, point: Sequence[int], *, field: CoefficientField = QQ
) -> int:
    """The rank of the differential at a point. With relations it is a MethodUnavailableError: a
    source without them is an affine space, which is smooth; at singular points of a source the
    differential on the Zariski tangent space can have larger rank than the dimension of the image.
    """
    if parametrization.relations:
        raise MethodUnavailableError(
            "the rank of the differential bounds the dimension where parameters are free"
        )
    return _jacobian_rank(parametrization.images, point, field)


MIN_FIELD_ELEMENTS = 1000
"""A field whose points are called random has at least this many elements."""
SEED = 20240817


class RankAtPoints(NamedTuple):
    """The largest rank of a differential at some points."""

    rank: int
    field: str  # the field of a point with this rank, as GF(2^10)


def generic_rank(free: PolynomialMap, enough: int, *, field: CoefficientField) -> RankAtPoints:
    """The largest rank of the differential at some random points: the generic rank unless all the
    points are unlucky. Where the field has few elements, points over an extension are tried too,
    and named if they have at least the same rank.
    """
    p = field.characteristic
    # the largest rank at three points counts, so that one unlucky point is harmless
    seeds = range(SEED, SEED + 3)
    best = RankAtPoints(rank=-1, field="")  # −1 is less than every rank
    for seed in seeds:
        # Over GF(p) the numbers 1, …, p are all elements of the field.
        point = random_point(free, p or MIN_FIELD_ELEMENTS, seed)
        rank_there = differential_rank(free, point, field=field)
        if rank_there > best.rank:
            best = RankAtPoints(rank_there, str(field))
        if best.rank >= enough:
            return best
    if p == 0 or p >= MIN_FIELD_ELEMENTS:
        return best
    # In a small field all points can be special, as those with s^p = s.
    for seed in seeds:
        rank_there = _extension_rank(free, p, seed=seed, enough=enough)
        # Where the ranks are equal, the point over the larger field says more: it is more general.
        if rank_there >= best.rank:
            best = RankAtPoints(rank_there, f"GF({p}^{extension_degree(p)})")
        if best.rank >= enough:
            break
    return best


IntegerTerms = Mapping[tuple[int, ...], int]
"""A polynomial with integer coefficients, which are given by exponents."""

MAX_BOUND_WORK = 1 << 20
"""The largest number of partial derivatives of monomials, and of steps of elimination, in the proof
of an upper bound for the rank; this takes about a second.
"""


def generic_rank_is_at_most(free: PolynomialMap, bound: int) -> bool:
    """Whether the rank of the differential over QQ is proved to be at most ``bound`` everywhere;
    not if a larger rank was found, or if the proof would take too long.
    """
    size_of_minors = bound + 1  # k
    images = [integer_coefficients(image) for image in free.images]
    parameter_count = len(free.source.variables)
    if sum(map(len, images)) * parameter_count > MAX_BOUND_WORK:
        return False
    general_point = _general_point(images, size_of_minors)
    # a product of this number of primes, which are larger than 2^PRIME_BITS, is at least B^W
    prime_count = general_point.value_bits // PRIME_BITS + 1
    # the derivatives of monomials, and the steps of elimination up to this number of pivots
    work_of_one_rank = len(images) * parameter_count * size_of_minors
    for image in images:
        for exponents in image:
            work_of_one_rank += sum(map(bool, exponents))
    if prime_count * work_of_one_rank > MAX_BOUND_WORK:
        return False
    for prime in islice(primes_from(LONG_PRIME), prime_count):
        point = general_point.modulo(prime, parameter_count)
        if rank_mod(jacobian_at(free.images, point, prime), prime) > bound:
            return False
    return True


class _GeneralPoint(NamedTuple):
    """A point at which a minor of a Jacobian matrix is zero only if it is the zero polynomial: some
    parameters are B, B^(D_1 + 1), B^((D_1 + 1)(D_2 + 1)), …, and all others are 1.
    """

    varying: list[int]  # the positions of the parameters that are powers of B
    degrees: list[int]  # D_j for each of them
    base_bits: int  # B is 2^base_bits

    @property
    def value_bits(self) -> int:
        """The exponent e with 2^e = B^W, which exceeds all values of minors at the point."""
        return self.base_bits * prod(degree + 1 for degree in self.degrees)

    def modulo(self, prime: int, parameter_count: int) -> list[int]:
        """The residues of the coordinates of the point modulo ``prime``, one for each parameter."""
        point = [1] * parameter_count
        weight = 1  # w_j
        for j, degree in zip(self.varying, self.degrees, strict=True):
            point[j] = pow(2, self.base_bits * weight, prime)
            weight *= degree + 1
        return point


def _general_point(images: Sequence[IntegerTerms], size_of_minors: int) -> _GeneralPoint:
    """The point for minors of this size: a product of entries from different rows has, in each
    parameter, at most the sum of the degrees of these rows as its degree, and at most the product
    of their norms as its norm.
    """
    varying = _varying_parameters(images)
    degrees = []
    for j in varying:
        # the degree of a row in a parameter is at most the degree of the image
        degrees_of_rows = [max((e[j] for e in image), default=0) for image in images]
        degrees.append(_sum_of_largest(degrees_of_rows, size_of_minors))
    # the derivatives of c x^e have the coefficients c e_j
    norms = [sum(abs(c) * sum(e) for e, c in image.items()) for image in images]
    norm_bits = [norm.bit_length() for norm in norms]
    # a product of norms is less than 2 to the sum of their bits: B is at least 4H
    base_bits = _sum_of_largest(norm_bits, size_of_minors) + 2
    return _GeneralPoint(varying=varying, degrees=degrees, base_bits=base_bits)


def _varying_parameters(images: Sequence[IntegerTerms]) -> list[int]:
    """The positions of parameters such that scalings can make all others 1 at a general point.

    Scalings x_j ↦ c^(u_j) x_j for which every image is homogeneous belong to the vectors u that are
    orthogonal to all differences of two exponents of one image. At the places that are no pivots of
    the matrix of these differences, the entries of u can be chosen freely, and determine u: so
    these scalings can give any values other than 0 to the parameters there.
    """
    differences = set[tuple[int, ...]]()
    for image in images:
        if image:  # else it is zero, and has no exponents
            first, *others = image
            differences.update(tuple(map(sub, exponents, first)) for exponents in others)
    if not differences:  # all images are monomials
        return []
    pivots, _ = pivot_columns(sorted(differences))
    return pivots


def _sum_of_largest(values: Sequence[int], count: int) -> int:
    """The sum of the ``count`` largest values."""
    return sum(sorted(values, reverse=True)[:count])


def extension_degree(p: int) -> int:
    """The least k such that GF(p^k) has at least :data:`MIN_FIELD_ELEMENTS` elements."""
    return next(k for k in count(1) if p**k >= MIN_FIELD_ELEMENTS)


def _extension_rank(free: PolynomialMap, p: int, seed: int, enough: int) -> int:
    """The rank of the Jacobian matrix, or of some of its rows, at a random point over GF(p^k), k =
    ``extension_degree(p)``; of a large matrix at least ``enough`` + 32 rows are taken at random, if
    there are so many.

    It is computed over GF(p): multiplication by an element a of GF(p^k) is a k × k matrix, whose
    row i has the coordinates of a z^i in the basis z^0, …, z^(k−1), and the matrix in which this
    block replaces each entry a has k times the rank.
    """
    k = extension_degree(p)
    chance = Random(seed)
    field = flint.fq_default_ctx(p, k)
    point = []
    for _ in free.source.variables:
        coordinates = [chance.randrange(p) for _ in range(k)]
        point.append(field(coordinates))  # the element with these coordinates
    # Over GF(p) a row becomes k rows, with k entries for each of its len(point) entries, and
    # a matrix with at most 2^22 entries is affordable.
    affordable_rows = (1 << 22) // max(1, k * k * len(point))
    wanted_rows = max(enough + 32, affordable_rows)
    images = chance.sample(free.images, min(wanted_rows, len(free.images)))
    powers = [field.gen() ** i for i in range(k)]
    rows = []
    for gradient in jacobian_at(images, point):
        for power in powers:
            row: list[int] = []  # the coordinates of the power times each entry
            for entry in gradient:
                # the integer 0 has no list of coordinates
                row += map(int, (power * entry).to_list()) if entry else [0] * k
            rows.append(row)
    return rank_mod(rows, p) // k
