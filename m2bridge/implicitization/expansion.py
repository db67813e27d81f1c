"""Monomials in the coordinates as polynomials in the parameters, on a slice of the parameter space."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from random import Random
from typing import Any

import flint

from m2bridge.clock import watched
from m2bridge.implicitization.evaluation import reduced_echelon
from m2bridge.implicitization.multigraded_map import IntegerPolynomial, MultigradedMap
from m2bridge.implicitization.slices import dense_slice, restricted
from m2bridge.implicitization.weight_spaces import Monomial

PackedPolynomial = dict[int, int]
"""Coefficients of monomials in the parameters; the exponents are digits of one integer, so that they add as it does."""


@dataclass(frozen=True, slots=True)
class Expansions:
    """The images restricted to a slice, and products of them.

    Parameters
    ----------
    images : tuple of packed polynomials
    prime : int
    """

    images: tuple[PackedPolynomial, ...]
    prime: int

    @classmethod
    def of(cls, source: MultigradedMap, max_degree: int, random: Random, prime: int) -> Expansions:
        """For monomials of at most the given degree."""
        images = source.integral_images
        fixed = dense_slice(images, len(source.polynomial_map.source.variables), prime, random)
        largest = max((exponent for image in images for exponents in image for exponent in exponents), default=0)
        # A monomial of degree n has at most n factors, so no digit runs over.
        width = (max_degree * largest).bit_length()
        return cls(tuple(_packed(restricted(image, fixed), width) for image in watched(images)), prime)

    def work(self, monomials: Sequence[Monomial]) -> int:
        """A bound for the number of terms of all expansions together."""
        return sum(prod([len(self.images[j]) for j in monomial]) for monomial in watched(monomials))

    def rows(self, monomials: Sequence[Monomial]) -> set[tuple[tuple[int, int], ...]]:
        """The different rows of the matrix of coefficients, one column per monomial, without their zeros."""
        products: dict[Monomial, PackedPolynomial] = {(): {0: 1}}
        rows: dict[int, list[tuple[int, int]]] = {}
        for column, monomial in enumerate(watched(monomials)):
            for exponents, c in self._expand(monomial, products).items():
                rows.setdefault(exponents, []).append((column, c))
        return set(map(tuple, rows.values()))

    def _expand(self, monomial: Monomial, products: dict[Monomial, PackedPolynomial]) -> PackedPolynomial:
        known = products.get(monomial)
        if known is None:
            known = _product(self._expand(monomial[:-1], products), self.images[monomial[-1]])
            products[monomial] = known
        return known

    def echelon(self, rows: set[tuple[tuple[int, int], ...]], width: int) -> tuple[Any, tuple[int, ...]]:
        """Reduced echelon form modulo the prime of such rows, and its pivot columns."""
        matrix = flint.nmod_mat(len(rows), width, self.prime)
        for i, row in enumerate(watched(rows)):
            for j, c in row:
                matrix[i, j] = c % self.prime
        return reduced_echelon(matrix)


def _packed(polynomial: IntegerPolynomial, width: int) -> PackedPolynomial:
    return {sum(e << width * i for i, e in enumerate(exponents) if e): c for exponents, c in polynomial.items()}


def _product(first: PackedPolynomial, second: PackedPolynomial) -> PackedPolynomial:
    result: PackedPolynomial = {}
    for exponents, c in watched(second.items()):
        for others, value in first.items():
            total = exponents + others
            result[total] = result.get(total, 0) + c * value
    return {exponents: c for exponents, c in result.items() if c}
