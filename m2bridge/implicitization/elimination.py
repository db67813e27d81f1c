"""Which monomials are linearly independent on the image, by linear algebra modulo a prime."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from m2bridge.algebra.linear_algebra import LARGE_PRIME
from m2bridge.implicitization.evaluation import SPARE_POINTS, RandomPoints
from m2bridge.implicitization.expansion import Expansions
from m2bridge.implicitization.multigraded_map import MultigradedMap
from m2bridge.implicitization.weight_spaces import Monomial

MOST_ROWS = 2
"""So many times as many coefficients as monomials, and random points are the smaller matrix."""


@dataclass(frozen=True, slots=True)
class ModularElimination:
    """Coefficients of the expanded monomials where these are short, values at random points elsewhere."""

    expansions: Expansions
    points: RandomPoints

    @classmethod
    def of(
        cls, source: MultigradedMap, max_degree: int, random: Random, prime: int = LARGE_PRIME
    ) -> ModularElimination:
        """For monomials of at most the given degree."""
        return cls(Expansions.of(source, max_degree, random, prime), RandomPoints.of(source, random, prime))

    def modulo(self, prime: int, random: Random) -> ModularElimination:
        """The same on the same slice modulo another prime."""
        images = self.points.images
        points = RandomPoints(images, self.points.parameters, random, prime, [[] for _ in images])
        return ModularElimination(replace(self.expansions, prime=prime), points)

    def echelon(self, monomials: Sequence[Monomial]) -> tuple[Any, tuple[int, ...]]:
        """Reduced echelon form of a matrix with one column per monomial, and its pivot columns.

        The rank is at most that over QQ of the monomials as functions on the image, and equal to it unless slice,
        points or prime are unlucky. The echelon form depends on these accidents only.
        """
        size = len(monomials) + SPARE_POINTS
        if self.expansions.work(monomials) <= size * size:
            rows = self.expansions.rows(monomials)
            if len(rows) <= MOST_ROWS * size:
                return self.expansions.echelon(rows, len(monomials))
        return self.points.echelon(monomials)
