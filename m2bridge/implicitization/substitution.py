"""Exact substitution of the images for the coordinates: what proves that a polynomial vanishes on the image."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import flint

from m2bridge.algebra.linear_algebra import elimination_price
from m2bridge.clock import check, watched
from m2bridge.implicitization.multigraded_map import MultigradedMap
from m2bridge.implicitization.weight_spaces import Monomial

Terms = tuple[tuple[Monomial, int], ...]
"""A polynomial with integer coefficients: its monomials and their coefficients."""


@dataclass(slots=True)
class Substitution:
    """Expands monomials in the coordinates as polynomials in the parameters over ZZ.

    Parameters
    ----------
    images : tuple of flint.fmpz_mpoly
    expansions : dict
        Products computed so far; forgotten by :meth:`forget`.
    """

    images: tuple[Any, ...]
    one: Any
    expansions: dict[Monomial, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, source: MultigradedMap) -> Substitution:
        """The substitution of a map's images, with denominators cleared."""
        size = len(source.polynomial_map.source.variables)
        context = flint.fmpz_mpoly_ctx.get(("x", size), flint.Ordering.degrevlex)  # FLINT takes ASCII names only
        images = tuple(context.from_dict(image) for image in watched(source.integral_images))
        return cls(images, context.from_dict({(0,) * size: 1}))

    def expand(self, monomial: Monomial) -> Any:
        """The product of the images of the coordinates in a monomial."""
        if not monomial:
            return self.one
        known = self.expansions.get(monomial)
        if known is None:
            known = self.expand(monomial[:-1]) * self.images[monomial[-1]]
            self.expansions[monomial] = known
        return known

    def vanishes(self, terms: Iterable[tuple[Monomial, int]]) -> bool:
        """Whether a polynomial is identically zero after substitution, over ZZ."""
        total = self.one * 0
        for monomial, coefficient in watched(terms):
            total += self.expand(monomial) * coefficient
        return bool(total == 0)

    def echelon(self, monomials: Sequence[Monomial]) -> tuple[Any, int, tuple[int, ...]]:
        """Reduced echelon form over QQ of the coefficients of the expansions, one column per monomial.

        Returns
        -------
        numerators : flint.fmpz_mat
        denominator : int
        pivots : tuple of int
        """
        expansions = [self.expand(monomial).to_dict() for monomial in watched(monomials)]
        rows = {exponents: i for i, exponents in enumerate(sorted(set().union(*expansions)))}
        check(4 * elimination_price(len(rows), len(monomials)))
        matrix = flint.fmpz_mat(len(rows), len(monomials))
        for column, expansion in enumerate(expansions):
            for exponents, coefficient in expansion.items():
                matrix[rows[exponents], column] = coefficient
        numerators, denominator, height = matrix.rref()
        pivots = []
        column = 0
        for row in range(height):
            while not numerators[row, column]:
                column += 1
            pivots.append(column)
        return numerators, int(denominator), tuple(pivots)

    def forget(self) -> None:
        """Drop all stored products."""
        self.expansions.clear()
