"""The differential of a polynomial map at points: Jacobian matrices and their ranks.

A rank at a point is a lower bound for the dimension of the image, and the rank at a general point
is the dimension in characteristic 0: that is all that points prove, and no closure is computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from random import Random

import flint
from sympy.polys.rings import PolyElement

from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.algebra.linear_algebra import rank, rank_mod
from m2bridge.algebra.numbers import integer_coefficients
from m2bridge.algebra.polynomial_map import PolynomialMap
from m2bridge.algebra.sparse_polynomial import gradients
from m2bridge.errors import MethodUnavailableError


def jacobian_at(
    polynomials: Sequence[PolyElement], point: Sequence[int], prime: int = 0
) -> list[list[int]]:
    """The Jacobian matrix at an integer point, each row without its polynomial's denominators.

    Parameters
    ----------
    polynomials : sequence of PolyElement over QQ or GF(p)
    point : sequence of int
        One value for each variable of the polynomials' ring; elements of an extension of GF(p)
        serve as well.
    prime : int, optional
        Give the entries modulo this number, which is much faster where exponents are large.

    Returns
    -------
    list of rows of int, one for each polynomial; the rank is that of the Jacobian matrix.

    Source of the criterion: Hartshorne, *Algebraic Geometry*, section I.5; Eisenbud, *Commutative
    Algebra*, Theorem 16.19.
    """
    terms = map(integer_coefficients, polynomials)
    rows = []
    for gradient in gradients(terms, point, prime):
        row = [gradient.get(i, 0) for i in range(len(point))]
        if prime:
            row = [entry % prime for entry in row]
        rows.append(row)
    return rows


def tangent_dimension(
    generators: Sequence[PolyElement], point: Sequence[int], *, field: CoefficientField = QQ
) -> int:
    """The dimension of the tangent space at a point of the variety that these polynomials define.

    With all generators of a radical ideal this is the (affine) Zariski tangent dimension; with some
    of them, an upper bound for it.
    """
    # It is the kernel of the Jacobian matrix: further equations can only make it smaller.
    return len(point) - _jacobian_rank(generators, point, field)


def _jacobian_rank(
    polynomials: Sequence[PolyElement], point: Sequence[int], field: CoefficientField
) -> int:
    """The rank of the Jacobian matrix at a point, over QQ or GF(p)."""
    p = field.characteristic
    rows = jacobian_at(polynomials, point, p)
    return rank_mod(rows, p) if p else rank(rows)


def random_point(parametrization: PolynomialMap, bound: int, seed: int) -> tuple[int, ...]:
    """A point with entries uniform in [1, bound], the same for the same seed.

    The source must have no relations.
    """
    chance = Random(seed)
    return tuple(chance.randint(1, bound) for _ in parametrization.source.variables)


def differential_rank(
    parametrization: PolynomialMap, point: Sequence[int], *, field: CoefficientField = QQ
) -> int:
    """The rank of the differential at a point: a lower bound for the dimension of the image.

    The rank at a point is at most the generic rank. This is the dimension of the closure of the
    image in characteristic 0, and at most that in characteristic p, where it can be less (s ↦ s^p).
    The rank modulo any prime is a lower bound for the rank over QQ.

    Hypothesis: no relations. The source is then an affine space, which is smooth; at singular
    points of a source the differential on the Zariski tangent space can have larger rank than the
    dimension of the image.

    Raises
    ------
    MethodUnavailableError
        If the parameters satisfy relations.
    """
    if parametrization.relations:
        raise MethodUnavailableError(
            "the rank of the differential bounds the dimension where parameters are free"
        )
    return _jacobian_rank(parametrization.images, point, field)


MIN_FIELD_ELEMENTS = 1000
"""A field whose points are called random has at least this many elements."""
POINTS_PER_FIELD = 3
"""Points over each field; the largest of their ranks counts, so that one unlucky point is harmless.
"""
MAX_EXTENSION_ENTRIES = 1 << 22
"""The largest number of entries over GF(p) of a matrix over an extension."""
MAX_SPARE_ROWS = 32
"""The number of rows of such a matrix beyond the number that an upper bound requires."""

SEED = 20240817


def generic_rank(free: PolynomialMap, enough: int, *, field: CoefficientField) -> tuple[int, str]:
    """The largest rank found at some random points, and the field of the point where it was found.

    A lower bound for the dimension of the closure of the image; equal to the generic rank unless
    all the points are unlucky.

    Parameters
    ----------
    free : PolynomialMap
        Without relations.
    enough : int
        An upper bound for the rank: when it is reached, no other point is tried.
    """
    p = field.characteristic
    seeds = range(SEED, SEED + POINTS_PER_FIELD)
    best, place = -1, ""
    for seed in seeds:
        value = differential_rank(
            free, random_point(free, p or MIN_FIELD_ELEMENTS, seed), field=field
        )
        if value >= best:
            best, place = value, str(field)
        if value >= enough:
            return best, place
    if p == 0 or p >= MIN_FIELD_ELEMENTS:
        return best, place
    # In a small field all points can be special, as those with s^p = s.
    for seed in seeds:
        value = _extension_rank(free, p, seed=seed, enough=enough)
        if value >= best:
            best, place = value, f"GF({p}^{extension_degree(p)})"
        if value >= enough:
            break
    return best, place


def extension_degree(p: int) -> int:
    """The least k such that GF(p^k) has many elements."""
    return next(k for k in count(1) if p**k >= MIN_FIELD_ELEMENTS)


def _extension_rank(free: PolynomialMap, p: int, seed: int, enough: int) -> int:
    """The rank of the Jacobian matrix, or of some of its rows, at a random point of GF(p^k).

    Both are lower bounds for the generic rank, which is at most ``enough``: so not many more rows
    than that are needed. GF(p^k) is a space of dimension k over GF(p) with the basis z^0, …,
    z^(k−1), on which each element acts by a k×k matrix, whose row i is its product with z^i. The
    matrix of these blocks has k times the rank.
    """
    degree = extension_degree(p)
    chance = Random(seed)
    field = flint.fq_default_ctx(p, degree)
    point = [field([chance.randrange(p) for _ in range(degree)]) for _ in free.source.variables]
    most = max(
        enough + MAX_SPARE_ROWS, MAX_EXTENSION_ENTRIES // max(1, degree * degree * len(point))
    )
    images = chance.sample(free.images, min(most, len(free.images)))  # rows of the matrix
    powers = [field.gen() ** i for i in range(degree)]
    rows = []
    for gradient in jacobian_at(images, point):
        for power in powers:
            row: list[int] = []
            for entry in gradient:
                if entry:
                    row += map(int, (power * entry).to_list())
                else:
                    row += [0] * degree
            rows.append(row)
    return rank_mod(rows, p) // degree
