"""Sums, products and powers of ideals, and Jacobian matrices: no engine is needed."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations_with_replacement, product
from math import comb, prod

from sympy.polys.rings import PolyElement

from m2bridge.algebra.ring import Ideal, total_degree
from m2bridge.clock import watched
from m2bridge.errors import TooLargeError
from m2bridge.ideals.program import check_one_ring
from m2bridge.values import Matrix, Module

MOST_PRODUCTS = 100_000
"""Generators of a product or power, before those that occur twice are left out."""


def add(first: Ideal, second: Ideal) -> Ideal:
    """The sum: all generators of both."""
    check_one_ring(first, second)
    return Ideal(first.ring, _distinct(first.generators + second.generators))


def multiply(first: Ideal, second: Ideal) -> Ideal:
    """The product: all products of two generators."""
    check_one_ring(first, second)
    _check_size(len(first.generators) * len(second.generators))
    pairs = product(first.generators, second.generators)
    return Ideal(first.ring, _distinct(f * g for f, g in watched(pairs)))


def power(ideal: Ideal, exponent: int) -> Ideal:
    """The power: all products of so many generators; the unit ideal for 0."""
    one = ideal.ring.sympy_ring.one
    count = len(ideal.generators)
    _check_size(comb(count + exponent - 1, exponent) if count else 1)
    chosen = combinations_with_replacement(ideal.generators, exponent)
    return Ideal(ideal.ring, _distinct(prod(factors, start=one) for factors in watched(chosen)))


def jacobian(ideal: Ideal) -> Matrix:
    """The partial derivatives: a row for each generator, a column for each variable."""
    variables = ideal.ring.sympy_ring.gens
    target = Module(ideal.ring, tuple((-total_degree(generator),) for generator in ideal.generators))
    source = Module(ideal.ring, ((-1,),) * len(variables))
    rows = tuple(tuple(g.diff(variable) for variable in variables) for g in watched(ideal.generators))
    return Matrix(target, source, rows, (0,))


def _distinct(generators: Iterable[PolyElement]) -> tuple[PolyElement, ...]:
    return tuple(dict.fromkeys(generators))


def _check_size(count: int) -> None:
    if count > MOST_PRODUCTS:
        raise TooLargeError(f"{count} products of generators; at most {MOST_PRODUCTS} are formed: take fewer")
