"""Hilbert series, Hilbert polynomial, dimension and degree from a Hilbert numerator.

Source: Bruns, Herzog, *Cohen–Macaulay Rings*, section 4.1; Macaulay2 documentation, ``poincare``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import comb
from typing import Any

from sympy import QQ, Expr, Integer, Poly, Symbol

T = Symbol("T")
n = Symbol("n")


@dataclass(frozen=True, slots=True)
class HilbertSeries:
    """The Hilbert series h(T) / (1 − T)^dimension of a standard graded quotient of a polynomial
    ring.

    Parameters
    ----------
    numerator : tuple of int
        Coefficients h_0, h_1, … with h(1) ≠ 0.
    dimension : int
        Krull dimension of the quotient: the dimension of the affine cone.
    """

    numerator: tuple[int, ...]
    dimension: int

    @classmethod
    def from_numerator(cls, coefficients: Mapping[int, int], variables: int) -> HilbertSeries:
        """Cancel all factors 1 − T from Σ coefficients[i] T^i / (1 − T)^variables."""
        values = [coefficients.get(i, 0) for i in range(max(coefficients, default=0) + 1)]
        dimension = variables
        while any(values) and sum(values) == 0:
            values = [*accumulate(values)][:-1]  # the quotient by 1 − T
            dimension -= 1
        while len(values) > 1 and values[-1] == 0:
            values.pop()
        return cls(tuple(values), dimension if any(values) else -1)

    @classmethod
    def from_values(cls, values: Sequence[int], variables: int) -> HilbertSeries:
        """The series Σ values[n] T^n, which is a polynomial of degree below ``len(values)`` over (1
        − T)^variables.
        """
        signs = [(-1) ** i * comb(variables, i) for i in range(len(values))]
        numerator = {
            n: sum(signs[i] * values[n - i] for i in range(n + 1)) for n in range(len(values))
        }
        return cls.from_numerator(numerator, variables)

    def to_json(self) -> dict[str, Any]:
        """Numerator and dimension, for ``json.dumps``."""
        return {"numerator": list(self.numerator), "denominator_exponent": self.dimension}

    @property
    def degree(self) -> int:
        """The degree of the (projective or affine) scheme: h(1)."""
        return sum(self.numerator)

    @property
    def hilbert_coefficients(self) -> tuple[int, ...]:
        """The e_i with which the Hilbert polynomial is Σ (−1)^i e_i C(n + D − i − 1, D − i − 1), D
        the dimension.

        Source: Bruns, Herzog, *Cohen–Macaulay Rings*, 4.1.9.
        """
        return tuple(
            sum(h * comb(j, i) for j, h in enumerate(self.numerator)) for i in range(self.dimension)
        )

    @property
    def polynomial(self) -> Expr:
        """The Hilbert polynomial in n, as a SymPy expression, by the Hilbert coefficients."""
        total, binomial = Poly(0, n, domain=QQ), Poly(1, n, domain=QQ)
        for k, e in enumerate(reversed(self.hilbert_coefficients)):
            total += (-1) ** (self.dimension - 1 - k) * e * binomial
            # C(n + k + 1, k + 1) from C(n + k, k)
            binomial *= Poly([QQ(1, k + 1), 1], n, domain=QQ)
        return total.as_expr()

    def value(self, degree: int) -> int:
        """The Hilbert function: dimension of the graded piece of this degree."""
        if self.dimension <= 0:
            return self.numerator[degree] if 0 <= degree < len(self.numerator) else 0
        size, coefficients = self.dimension - 1, self.numerator[: max(degree + 1, 0)]
        return sum(h * comb(degree - i + size, size) for i, h in enumerate(coefficients))

    @property
    def expression(self) -> Expr:
        """The series as a SymPy expression in T."""
        return (
            sum((h * T**i for i, h in enumerate(self.numerator)), Integer(0))
            / (1 - T) ** self.dimension
        )
