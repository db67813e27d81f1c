"""Random points of the image of a map modulo a prime, and values of monomials there.

A monomial lists the numbers of its coordinates in ascending order, with repetition: (0, 0, 3) is
x_0² x_3. Values at points are lists with one residue for each point; ``values[j]`` belongs to
coordinate, or function, number j.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from random import Random

import flint

from m2bridge.algebra.linear_algebra import ModularEchelon, reduced_echelon
from m2bridge.algebra.sparse_polynomial import IntegerPolynomial, Monomial, monomial_of
from m2bridge.limits import check_deadline_in

SPARE_POINTS = 5
"""A rank is taken to be that at all points if this many more points do not increase it; else the
dimensions would not add up.
"""


@dataclass(slots=True)
class RandomPoints:
    """Random points of the image over GF(prime); more are drawn when they are needed."""

    images: tuple[IntegerPolynomial, ...]  # of each coordinate, in the parameters
    parameters: int
    random: Random
    prime: int
    count: int = field(init=False, default=0)
    values: list[list[int]] = field(init=False)  # at the ``count`` points drawn so far

    def __post_init__(self) -> None:
        self.values = [[] for _ in self.images]

    def _draw(self, new_count: int) -> None:
        """Draw points: the images of random parameters."""
        self.count += new_count
        draw = partial(self.random.randrange, self.prime)
        # for each parameter its values at the new points
        parameter_values = [[draw() for _ in range(new_count)] for _ in range(self.parameters)]
        functions = FunctionValues(values=parameter_values, prime=self.prime, count=new_count)
        for values, image in check_deadline_in(zip(self.values, self.images, strict=True)):
            values += functions.polynomial_values(image)

    def monomial_values(
        self, monomials: Sequence[Monomial], start: int, stop: int
    ) -> list[list[int]]:
        """Return for each monomial its values at the points with numbers start, …, stop − 1."""
        if stop > self.count:
            # products of values at fewer points are mostly overhead
            self._draw(max(stop - self.count, 32))
        coordinates = [values[start:stop] for values in self.values]
        factors = FunctionValues(values=coordinates, prime=self.prime, count=stop - start)
        return [factors.monomial_values(monomial) for monomial in check_deadline_in(monomials)]

    def echelon(self, monomials: Sequence[Monomial]) -> ModularEchelon:
        """Return the reduced echelon form of the matrix of values with one row per point and one
        column per monomial.

        The rank is at most that over QQ of the monomials as functions on the image, and equal to it
        unless the points or the prime are unlucky. The rank is often less than half the number of
        monomials, so about half as many points as monomials are tried first. If the rank is nearly
        the number of these points, a few more points than monomials are used.
        """
        all_points = len(monomials) + SPARE_POINTS
        half = min(all_points // 2 + SPARE_POINTS, all_points)
        values = self.monomial_values(monomials, 0, half)
        echelon = self._echelon_of_values(values, half)
        # With SPARE_POINTS more points than the rank, further points are not expected to increase
        # it. If `half` is `all_points`, the condition holds: the rank is at most len(monomials).
        if len(echelon.pivots) <= half - SPARE_POINTS:
            return echelon
        other_values = self.monomial_values(monomials, half, all_points)
        for at_first_points, at_others in zip(values, other_values, strict=True):
            at_first_points += at_others
        return self._echelon_of_values(values, all_points)

    def _echelon_of_values(self, values: list[list[int]], points: int) -> ModularEchelon:
        """Return the echelon form of the matrix whose columns are the values."""
        entries = list(chain.from_iterable(values))
        columns_as_rows = flint.nmod_mat(len(values), points, entries, self.prime)
        return reduced_echelon(columns_as_rows.transpose())


class FunctionValues:
    """The values of functions at ``count`` points modulo a prime, and the values of their
    products.
    """

    def __init__(self, values: list[list[int]], prime: int, count: int) -> None:
        self.values = values
        self.prime = prime
        # by monomials in the functions, as far as they were needed; at () the empty product, 1
        self.products: dict[Monomial, list[int]] = {(): [1] * count}

    def monomial_values(self, monomial: Monomial) -> list[int]:
        """Return the values of the product of the functions that a monomial lists.

        The product is split before the power of its last function: (0, 0, 1, 1) into (0, 0) and (1,
        1). These two, and smaller powers, are stored, since other monomials need them too.
        """
        product = self.products.get(monomial)
        if product is None:
            last = monomial[-1]
            power_start = monomial.index(last)
            if power_start == 0:  # a power of one function
                product = self._product(self.monomial_values(monomial[:-1]), self.values[last])
            else:
                product = self._product(
                    self.monomial_values(monomial[:power_start]),
                    self.monomial_values(monomial[power_start:]),
                )
            self.products[monomial] = product
        return product

    def polynomial_values(self, polynomial: IntegerPolynomial) -> list[int]:
        """Return the values of a polynomial in the functions."""
        prime = self.prime
        total = [0] * len(self.products[()])  # a zero for each point
        for exponents, coefficient in check_deadline_in(polynomial.items()):
            c = coefficient % prime
            values = self.monomial_values(monomial_of(exponents))
            total = [(t + c * v) % prime for t, v in zip(total, values, strict=True)]
        return total

    def _product(self, first: list[int], second: list[int]) -> list[int]:
        """Return the values of the product of two functions, given by theirs."""
        prime = self.prime
        return [a * b % prime for a, b in zip(first, second, strict=True)]
