"""A linear slice of the parameter space on which fewer terms of a map are left, and the same image is reached.

For a product of matrices Kᵀ Q of low rank, for instance, the factors are unique only up to an invertible matrix, so a
square block of Q may be taken constant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from random import Random

import flint

from m2bridge.algebra.linear_algebra import elimination_price
from m2bridge.clock import check, watched
from m2bridge.implicitization.multigraded_map import IntegerPolynomial


def dense_slice(images: Sequence[IntegerPolynomial], parameters: int, prime: int, random: Random) -> dict[int, int]:
    """Parameters that may be fixed, each to 0 or 1, without making the closure of the image smaller.

    The Jacobian matrix of the restricted map has at one point modulo the prime the rank that the whole one has at
    another. If that is the dimension of the closure of the whole image, the closure of the restricted image, which is
    irreducible and contained in it, is no smaller. Otherwise there was an accident, and functions that are different
    on the image may agree on the slice; ranks on the slice are lower bounds for ranks on the image in any case.
    """
    point = [random.randrange(prime) for _ in range(parameters)]
    fixed: dict[int, int] = {}
    rank = _differential_rank(images, point, fixed, prime)
    for parameter in range(parameters):
        if rank == parameters - len(fixed):
            break
        for value in (0, 1):
            attempt = {**fixed, parameter: value}
            if _differential_rank(images, point, attempt, prime) == rank:
                fixed = attempt
                break
    return fixed


def restricted(image: IntegerPolynomial, fixed: Mapping[int, int]) -> IntegerPolynomial:
    """A polynomial with some variables replaced by 0 or 1."""
    result: IntegerPolynomial = {}
    for exponents, c in image.items():
        if all(fixed[i] or not exponents[i] for i in fixed):
            rest = tuple(0 if i in fixed else exponent for i, exponent in enumerate(exponents))
            result[rest] = result.get(rest, 0) + c
    return {exponents: c for exponents, c in result.items() if c}


def _differential_rank(
    images: Sequence[IntegerPolynomial], point: Sequence[int], fixed: Mapping[int, int], prime: int
) -> int:
    """Rank of the Jacobian matrix in the parameters that are not fixed, at the point with the others replaced."""
    place = [fixed.get(i, value) for i, value in enumerate(point)]
    matrix = flint.nmod_mat(len(images), len(point), prime)
    for row, image in enumerate(watched(images)):
        for column, value in _gradient(image, place, prime).items():
            if column not in fixed:
                matrix[row, column] = value % prime
    check(elimination_price(len(images), len(point)))
    return int(matrix.rank())


def _gradient(image: IntegerPolynomial, point: Sequence[int], prime: int) -> dict[int, int]:
    gradient: dict[int, int] = {}
    for exponents, c in image.items():
        factors = [(i, exponent) for i, exponent in enumerate(exponents) if exponent]
        for i, exponent in factors:
            value = c * exponent * prod(pow(point[j], e - (i == j), prime) for j, e in factors)
            gradient[i] = gradient.get(i, 0) + value
    return gradient
