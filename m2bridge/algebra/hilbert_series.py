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
    ring; for the quotient 0 the numerator is (0,), and the dimension −1.
    """

    numerator: tuple[int, ...]  # h_0, h_1, … with h(1) ≠ 0
    dimension: int  # the Krull dimension of the quotient: of the affine cone

    @classmethod
    def from_numerator(cls, coefficients: Mapping[int, int], variables: int) -> HilbertSeries:
        """The series Σ coefficients[i] T^i / (1 − T)^variables, without common factors 1 − T."""
        numerator = [coefficients.get(i, 0) for i in range(max(coefficients, default=0) + 1)]
        dimension = variables
        # 1 − T divides a polynomial whose coefficients have the sum 0, its value at T = 1. The
        # partial sums are the coefficients of the quotient, as 1/(1 − T) is 1 + T + T² + …; the
        # last of them is the whole sum, 0, and is dropped.
        while any(numerator) and sum(numerator) == 0:
            *numerator, _ = accumulate(numerator)
            dimension -= 1
        while len(numerator) > 1 and numerator[-1] == 0:
            numerator.pop()
        return cls(tuple(numerator), dimension if any(numerator) else -1)

    @classmethod
    def from_values(cls, values: Sequence[int], variables: int) -> HilbertSeries:
        """The series whose first coefficients are these values of the Hilbert function, if its
        numerator over (1 − T)^variables has degree below ``len(values)``: it is the product of Σ
        values[n] T^n and (1 − T)^variables, up to this degree.
        """
        power = [(-1) ** i * comb(variables, i) for i in range(len(values))]  # (1 − T)^variables
        numerator = {}
        for degree in range(len(values)):
            descending = values[degree::-1]  # of the degrees degree, degree − 1, …, 0
            # Σ power[i] values[degree − i] over 0 ≤ i ≤ degree
            numerator[degree] = sum(map(mul, power, descending))
        return cls.from_numerator(numerator, variables)

    def to_json(self) -> dict[str, Any]:
        """The numerator, and the dimension as ``denominator_exponent``, for ``json.dumps``."""
        return {"numerator": list(self.numerator), "denominator_exponent": self.dimension}

    @property
    def degree(self) -> int:
        """The degree of the projective or affine scheme: h(1), h the numerator; 0 for (0,)."""
        return sum(self.numerator)

    @property
    def hilbert_coefficients(self) -> tuple[int, ...]:
        """The e_i, 0 ≤ i < D, in the Hilbert polynomial Σ (−1)^i e_i C(n + D − i − 1, D − i − 1).

        D is the dimension, and e_i is the value at 1 of the i-th derivative of h, over i!. There
        are none for D ≤ 0. Source: Bruns, Herzog, *Cohen–Macaulay Rings*, 4.1.9.
        """
        coefficients = [0] * self.dimension
        for j, h in enumerate(self.numerator):
            for i in range(self.dimension):
                coefficients[i] += h * comb(j, i)
        return tuple(coefficients)

    @property
    def polynomial(self) -> Expr:
        """The Hilbert polynomial in n, as a SymPy expression: the sum of (−1)^i e_i C(n + k, k)
        with k = D − i − 1 over 0 ≤ i < D, by :attr:`hilbert_coefficients`.
        """
        total = Poly(0, n, domain=QQ)
        binomial = Poly(1, n, domain=QQ)  # C(n + k, k)
        for k, e in enumerate(reversed(self.hilbert_coefficients)):
            total += (-1) ** (self.dimension - 1 - k) * e * binomial
            binomial *= Poly([QQ(1, k + 1), 1], n, domain=QQ)  # times (n + k + 1)/(k + 1)
        return total.as_expr()

    def value(self, degree: int) -> int:
        """The Hilbert function: the dimension of the piece of a degree; 0 for negative degrees."""
        if degree < 0:
            return 0
        if self.dimension <= 0:  # The series is its numerator h.
            return self.numerator[degree] if degree < len(self.numerator) else 0
        # For D the dimension, 1/(1 − T)^D has the coefficients C(n + D − 1, D − 1).
        k = self.dimension - 1
        coefficients = self.numerator[: degree + 1]
        return sum(h * comb(degree - i + k, k) for i, h in enumerate(coefficients))

    @property
    def expression(self) -> Expr:
        """The series as a SymPy expression in T."""
        numerator = sum((h * T**i for i, h in enumerate(self.numerator)), Integer(0))
        return numerator / (1 - T) ** self.dimension
