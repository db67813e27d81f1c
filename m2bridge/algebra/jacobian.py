"""Jacobian matrices at points, and what their ranks prove.

Source of the criterion: Hartshorne, *Algebraic Geometry*, section I.5; Eisenbud, *Commutative Algebra*, Theorem 16.19.
"""

import random
from collections.abc import Sequence
from itertools import chain, count
from random import Random
from typing import Any

import flint
from sympy.polys.rings import PolyElement

from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.algebra.linear_algebra import Row, rank, rank_mod
from m2bridge.algebra.numbers import without_denominators
from m2bridge.algebra.polynomial_map import PolynomialMap
from m2bridge.algebra.sparse_polynomial import gradients
from m2bridge.errors import MethodUnavailableError


def jacobian_at(polynomials: Sequence[PolyElement], point: Row, prime: int = 0) -> list[list[int]]:
    """Jacobian matrix at an integer point, each row multiplied by the denominators of its polynomial's coefficients.

    Parameters
    ----------
    polynomials : sequence of PolyElement over QQ or GF(p)
    point : sequence of int
        One value for each variable of the polynomials' ring; elements of an extension of GF(p) serve as well.
    prime : int, optional
        Give the entries modulo this number, which is much faster where exponents are large.

    Returns
    -------
    list of rows of int, one for each polynomial; the rank is that of the Jacobian matrix.
    """

    terms = (dict(zip(f, without_denominators(map(_whole, f.values())), strict=True)) for f in polynomials)
    rows = [[gradient.get(i, 0) for i in range(len(point))] for gradient in gradients(terms, point, prime)]
    return [[entry % prime for entry in row] for row in rows] if prime else rows


def _whole(coefficient: Any) -> Any:
    """A rational number, or the integer of a residue."""
    return coefficient if hasattr(coefficient, "denominator") else int(coefficient)


def tangent_dimension(generators: Sequence[PolyElement], point: Row, *, field: CoefficientField = QQ) -> int:
    """The dimension of the tangent space at a point of the variety that these polynomials define.

    With all generators of a radical ideal this is the (affine) Zariski tangent dimension; with some of them, an upper
    bound for it.
    """
    return len(point) - _jacobian_rank(generators, point, field)


def _jacobian_rank(polynomials: Sequence[PolyElement], point: Row, field: CoefficientField) -> int:
    rows = jacobian_at(polynomials, point, field.characteristic)
    return rank_mod(rows, field.characteristic) if field.characteristic else rank(rows)


def random_point(parametrization: PolynomialMap, bound: int, seed: int) -> tuple[int, ...]:
    """A point with entries uniform in [1, bound], the same for the same seed; the source must have no relations."""
    chance = random.Random(seed)
    return tuple(chance.randint(1, bound) for _ in parametrization.source.variables)


def differential_rank(parametrization: PolynomialMap, point: Row, *, field: CoefficientField = QQ) -> int:
    """The rank of the differential of the parametrization at a point: a lower bound for the dimension of the image.

    The rank at a point is at most the generic rank. This is the dimension of the closure of the image in
    characteristic 0, and at most that in characteristic p, where it can be less (s ↦ s^p). The rank modulo any prime
    is a lower bound for the rank over QQ.

    Hypothesis: no relations. The source is then an affine space, which is smooth; at singular points of a source the
    differential on the Zariski tangent space can have larger rank than the dimension of the image.

    Raises
    ------
    MethodUnavailableError
        If the parameters satisfy relations.
    """
    if parametrization.relations:
        raise MethodUnavailableError("the rank of the differential bounds the dimension where parameters are free")
    return _jacobian_rank(parametrization.images, point, field)


MANY = 1000
"""A field whose points are called random has at least this many elements."""
ATTEMPTS = 3
MOST_ENTRIES = 1 << 22
SPARE_ROWS = 32
"""Over an extension, this many entries over GF(p), or this many rows more than enough, are computed."""

_SEED = 20240817


def generic_rank(free: PolynomialMap, enough: int, *, field: CoefficientField) -> tuple[int, str]:
    """The largest rank found at some random points, and the field of the point where it was found.

    A lower bound for the dimension of the closure of the image; equal to the generic rank unless all the points are
    unlucky.

    Parameters
    ----------
    free : PolynomialMap
        Without relations.
    enough : int
        An upper bound for the rank: when it is reached, no other point is tried.
    """
    p = field.characteristic
    degrees = [1] if p == 0 or p >= MANY else [1, extension_degree(p)]
    best = -1, ""
    for degree in degrees:
        name = str(field) if degree == 1 else f"GF({p}^{degree})"
        for seed in range(_SEED, _SEED + ATTEMPTS):
            if degree == 1:
                value = differential_rank(free, random_point(free, p or MANY, seed), field=field)
            else:
                value = _extension_rank(free, p, degree, seed, enough)
            best = (value, name) if value >= best[0] else best
            if value >= enough:
                return best
    return best


def extension_degree(p: int) -> int:
    """The least k such that GF(p^k) has many elements."""
    return next(k for k in count(1) if p**k >= MANY)


def _extension_rank(free: PolynomialMap, p: int, degree: int, seed: int, enough: int) -> int:
    """The rank at a random point of GF(p^k); the rank of some rows is a lower bound, too.

    GF(p^k) is a space of dimension k over GF(p), on which each element acts by a k×k matrix, whose row i is its product
    with z^i. The matrix of these blocks has k times the rank.
    """
    chance = Random(seed)
    field = flint.fq_default_ctx(p, degree)
    point = [field([chance.randrange(p) for _ in range(degree)]) for _ in free.source.variables]
    most = max(enough + SPARE_ROWS, MOST_ENTRIES // max(1, degree * degree * len(point)))
    images = chance.sample(free.images, min(most, len(free.images)))
    powers, zero = [field.gen() ** i for i in range(degree)], [0] * degree
    rows = []
    for gradient in jacobian_at(images, point):
        for power in powers:
            blocks = (map(int, (power * entry).to_list()) if entry else zero for entry in gradient)
            rows.append(list(chain.from_iterable(blocks)))
    return rank_mod(rows, p) // degree
