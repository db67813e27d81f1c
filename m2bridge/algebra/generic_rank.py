"""The rank of the differential of a polynomial map at random points, over QQ, GF(p) and extensions of GF(p).

Points with entries in GF(2) or GF(3) are too few to be random: nonzero polynomials can vanish at all of them. So small
prime fields are extended to a field GF(p^k) with at least a thousand elements.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import count
from random import Random
from typing import Any

import flint

from m2bridge.algebra.field import CoefficientField
from m2bridge.algebra.jacobian import differential_rank, jacobian_at, random_point
from m2bridge.algebra.linear_algebra import rank_mod
from m2bridge.algebra.polynomial_map import PolynomialMap

MANY = 1000
"""A field whose points are called random has at least this many elements."""
ATTEMPTS = 3
MOST_ENTRIES = 1 << 22
SPARE_ROWS = 32
"""Over an extension, this many entries over GF(p), or this many rows more than enough, are computed."""

_SEED = 20240817


def generic_rank(free: PolynomialMap, field: CoefficientField, enough: int) -> tuple[int, str]:
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
            found = _rank(free, field, seed) if degree == 1 else _extension_rank(free, p, degree, seed, enough)
            best = (found, name) if found >= best[0] else best
            if found >= enough:
                return best
    return best


def extension_degree(p: int) -> int:
    """The least k such that GF(p^k) has many elements."""
    return next(k for k in count(1) if p**k >= MANY)


def _rank(free: PolynomialMap, field: CoefficientField, seed: int) -> int:
    p = field.characteristic
    return differential_rank(free, random_point(free, p or MANY, seed), field)


def _extension_rank(free: PolynomialMap, p: int, degree: int, seed: int, enough: int) -> int:
    """The rank at a random point of GF(p^k); the rank of some rows is a lower bound, too.

    GF(p^k) is a space of dimension k over GF(p), on which each element acts by a k×k matrix. The matrix of these
    blocks has k times the rank.
    """
    chance = Random(seed)
    field = flint.fq_default_ctx(p, degree)
    point = [field([chance.randrange(p) for _ in range(degree)]) for _ in free.source.variables]
    most = max(enough + SPARE_ROWS, MOST_ENTRIES // max(1, degree * degree * len(point)))
    images = chance.sample(free.images, min(most, len(free.images)))
    block = _blocks(field, degree)
    rows = []
    for gradient in jacobian_at(images, point):
        blocks = [block(tuple(map(int, (field.one() * entry).to_list()))) for entry in gradient]
        rows += [[c for matrix in blocks for c in matrix[i]] for i in range(degree)]
    return rank_mod(rows, p) // degree


def _blocks(field: Any, degree: int) -> Callable[[tuple[int, ...]], list[list[int]]]:
    """The matrix of multiplication by an element with given coefficients: row i is the product with z^i."""
    powers = [field.gen() ** i for i in range(degree)]

    @cache
    def block(coefficients: tuple[int, ...]) -> list[list[int]]:
        element = field(list(coefficients))
        return [[int(c) for c in (element * power).to_list()] for power in powers]

    return block
