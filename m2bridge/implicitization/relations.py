"""Linear relations among monomials on the image, as polynomials with small coprime integer coefficients.

Both kinds of echelon form answer the same questions: which monomials form a basis (``pivots``), and how each other
monomial depends on them. What the modular one answers is a guess until it is proved by substitution.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd, isqrt
from typing import Any, Protocol

from m2bridge.implicitization.elimination import ModularElimination
from m2bridge.implicitization.substitution import Substitution, Terms
from m2bridge.implicitization.weight_spaces import Monomial


class Echelon(Protocol):
    """A basis among monomials, and the expression of the others in it."""

    @property
    def pivots(self) -> tuple[int, ...]:
        """The monomials that form the basis."""

    def support(self, column: int) -> int:
        """How many basis monomials occur in the expression of another one."""

    def relation(self, column: int) -> Terms:
        """The relation between a monomial outside the basis and the basis, with integer coefficients."""


@dataclass(frozen=True, slots=True)
class ModularEchelon:
    """Echelon form modulo a prime; its entries are lifted to QQ by rational reconstruction."""

    monomials: tuple[Monomial, ...]
    matrix: Any
    pivots: tuple[int, ...]
    prime: int

    @classmethod
    def of(cls, monomials: Sequence[Monomial], elimination: ModularElimination) -> ModularEchelon:
        """Eliminate."""
        matrix, pivots = elimination.echelon(monomials)
        return cls(tuple(monomials), matrix, pivots, elimination.prime)

    def support(self, column: int) -> int:
        return sum(1 for row in range(len(self.pivots)) if int(self.matrix[row, column]))

    def relation(self, column: int) -> Terms:
        residues = [-int(self.matrix[row, column]) % self.prime for row in range(len(self.pivots))]
        return _terms(self, column, *integral(residues, self.prime))


@dataclass(frozen=True, slots=True)
class ExactEchelon:
    """Echelon form over QQ of the coefficients of the expanded monomials."""

    monomials: tuple[Monomial, ...]
    numerators: Any
    denominator: int
    pivots: tuple[int, ...]

    @classmethod
    def of(cls, monomials: Sequence[Monomial], substitution: Substitution) -> ExactEchelon:
        """Expand the monomials in the parameters and eliminate."""
        return cls(tuple(monomials), *substitution.echelon(monomials))

    def support(self, column: int) -> int:
        return sum(1 for row in range(len(self.pivots)) if self.numerators[row, column])

    def relation(self, column: int) -> Terms:
        numerators = [-int(self.numerators[row, column]) for row in range(len(self.pivots))]
        return _terms(self, column, self.denominator, numerators)


def integral(residues: Sequence[int], prime: int) -> tuple[int, list[int]]:
    """A small common denominator, not divisible by the prime, and integers congruent to it times each residue."""
    denominator = 1
    for residue in residues:
        if residue > 1:
            denominator *= rational_denominator(residue * denominator % prime, prime)
    return denominator, [_symmetric(residue * denominator, prime) if residue else 0 for residue in residues]


def rational_denominator(residue: int, prime: int) -> int:
    """The denominator b ≤ √(p/2) of the fraction a/b, |a| ≤ √(p/2), congruent to the residue; 1 if there is none."""
    bound = isqrt(prime // 2)
    if residue <= bound or prime - residue <= bound:
        return 1
    (r, s), (next_r, next_s) = (prime, 0), (residue, 1)
    while next_r > bound:
        quotient = r // next_r
        (r, s), (next_r, next_s) = (next_r, next_s), (r - quotient * next_r, s - quotient * next_s)
    return abs(next_s) if abs(next_s) <= bound else 1


def _symmetric(value: int, prime: int) -> int:
    residue = value % prime
    return residue - prime if 2 * residue > prime else residue


def _terms(echelon: ModularEchelon | ExactEchelon, column: int, leading: int, others: Sequence[int]) -> Terms:
    """leading · monomial + Σ others · basis monomials, divided by the content, leading coefficient positive."""
    content = gcd(leading, *others) * (1 if leading > 0 else -1)
    terms = [(echelon.monomials[column], leading // content)]
    terms += [(echelon.monomials[j], c // content) for j, c in zip(echelon.pivots, others, strict=True) if c]
    return tuple(terms)
