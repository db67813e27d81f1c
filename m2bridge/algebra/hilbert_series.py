"""Hilbert series, Hilbert polynomial, dimension and degree from a Hilbert numerator.

Source: Bruns, Herzog, *Cohen–Macaulay Rings*, section 4.1; Macaulay2 documentation, ``poincare``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import comb
from operator import mul
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
            *values, _ = accumulate(values)  # the quotient by 1 − T
            dimension -= 1
        while len(values) > 1 and values[-1] == 0:
            values.pop()
        return cls(tuple(values), dimension if any(values) else -1)

    @classmethod
    def from_values(cls, values: Sequence[int], variables: int) -> HilbertSeries:
        """The series Σ values[n] T^n.

        It is a polynomial of degree below ``len(values)`` over (1 − T)^variables: the product of
        the values with that power is computed up to this degree.
        """
        power = [(-1) ** i * comb(variables, i) for i in range(len(values))]
        numerator = {}
        for degree in range(len(values)):
            numerator[degree] = sum(map(mul, power, values[degree::-1]))
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
        """The e_i in the Hilbert polynomial Σ (−1)^i e_i C(n + D − i − 1, D − i − 1).

        D is the dimension, and e_i is the value at 1 of the i-th derivative of h, over i!.
        Source: Bruns, Herzog, *Cohen–Macaulay Rings*, 4.1.9.
        """
        coefficients = [0] * self.dimension
        for j, h in enumerate(self.numerator):
            for i in range(self.dimension):
                coefficients[i] += h * comb(j, i)
        return tuple(coefficients)

    @property
    def polynomial(self) -> Expr:
        """The Hilbert polynomial in n, as a SymPy expression, by the Hilbert coefficients."""
        total = Poly(0, n, domain=QQ)
        binomial = Poly(1, n, domain=QQ)  # C(n + k, k)
        for k, e in enumerate(reversed(self.hilbert_coefficients)):
            total += (-1) ** (self.dimension - 1 - k) * e * binomial
            binomial *= Poly([QQ(1, k + 1), 1], n, domain=QQ)
        return total.as_expr()

    def value(self, degree: int) -> int:
        """The Hilbert function: dimension of the graded piece of this degree."""
        if degree < 0:
            return 0
        if self.dimension <= 0:
            return sum(self.numerator[degree : degree + 1])  # 0 beyond the last coefficient
        # 1/(1 − T)^D has the coefficients C(n + D − 1, D − 1).
        size = self.dimension - 1
        coefficients = self.numerator[: degree + 1]
        return sum(h * comb(degree - i + size, size) for i, h in enumerate(coefficients))

    @property
    def expression(self) -> Expr:
        """The series as a SymPy expression in T."""
        numerator = sum((h * T**i for i, h in enumerate(self.numerator)), Integer(0))
        return numerator / (1 - T) ** self.dimension
