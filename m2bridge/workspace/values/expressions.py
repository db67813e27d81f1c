"""Expressions that Macaulay2 holds without computing them, products of powers among them, and their values."""

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import prod
from typing import Any

from sympy import Rational
from sympy.polys.rings import PolyElement

from m2bridge.algebra.field import QQ
from m2bridge.algebra.modules import AsCode, Named
from m2bridge.errors import ConversionError
from m2bridge.workspace.values.elements import RingElement
from m2bridge.workspace.values.rings import Algebra, ComplexField, IntegerRing, RealField

_OPERATIONS: dict[str, Callable[..., Any]] = {
    "Sum": lambda *parts: reduce(operator.add, parts, 0),
    "Product": lambda *parts: reduce(operator.mul, parts, 1),
    "Power": operator.pow,
    "Divide": operator.truediv,
    "Minus": operator.neg,
    "Holder": lambda part: part,
    "Parenthesize": lambda part: part,
}


def _has_numbers(ring: Any) -> bool:
    """Whether its elements are polynomials, or Laurent polynomials, with numbers as coefficients."""
    numbers = IntegerRing | RealField | ComplexField
    if not isinstance(ring, Algebra) or ring.weyl or ring.skew:
        return False
    return isinstance(ring.coefficients, numbers) or ring.coefficients == QQ


def evaluate(expression: Any) -> Any:
    """The value of an expression; polynomials become SymPy expressions, numbers are exact."""
    if isinstance(expression, Expression):
        if expression.kind not in _OPERATIONS:
            raise ConversionError(f"an expression of the class {expression.kind} is not arithmetic")
        return _OPERATIONS[expression.kind](*map(evaluate, expression.parts))
    if isinstance(expression, Factorization):
        return reduce(operator.mul, (evaluate(base) ** exponent for base, exponent in expression), 1)
    if isinstance(expression, PolyElement) or (isinstance(expression, RingElement) and _has_numbers(expression.ring)):
        return expression.as_expr()
    if isinstance(expression, int | Fraction) and not isinstance(expression, bool):
        return Rational(expression)
    return expression


SIGN = (-1, 1)
"""The first factor of a negative integer."""


@dataclass(frozen=True, slots=True, repr=False)
class Factorization(Named):
    """A product of powers, as ``factor`` gives it; that of a negative integer begins with (−1)^1.

    Examples
    --------
    >>> list(Factorization(((-1, 1), (5, 1), (11, 1))))
    [(-1, 1), (5, 1), (11, 1)]
    >>> twelve = Factorization(((2, 2), (3, 1)))
    >>> print(twelve)
    2^2 * 3
    >>> twelve.expand()
    12
    """

    factors: tuple[tuple[Any, int], ...]

    def __iter__(self) -> Iterator[tuple[Any, int]]:
        return iter(self.factors)

    def __len__(self) -> int:
        return len(self.factors)

    @property
    def is_negative(self) -> bool:
        """Whether a sign comes first, which Macaulay2 keeps outside of the product."""
        return self.factors[:1] == (SIGN,) and type(self.factors[0][0]) is int

    def expand(self) -> Any:
        """The product."""
        return prod(base**exponent for base, exponent in self.factors)

    def __str__(self) -> str:
        return " * ".join(_power(base, exponent) for base, exponent in self.factors) or "1"


def _power(base: Any, exponent: int) -> str:
    text = str(base) if isinstance(base, int) and base >= 0 else f"({base})"
    return text if exponent == 1 else f"{text}^{exponent}"


@dataclass(frozen=True, slots=True, repr=False)
class Expression(AsCode):
    """An expression that Macaulay2 holds without computing it: ``Sum``, ``Divide``, ``Minus`` …

    Parameters
    ----------
    kind : str
        The class in Macaulay2.
    parts : tuple

    Examples
    --------
    >>> print(Expression("Divide", (1, 2)))
    Divide(1, 2)
    >>> Expression("Divide", (1, 2)).evaluate()
    1/2
    """

    kind: str
    parts: tuple[Any, ...]

    def evaluate(self) -> Any:
        """Its value as a SymPy expression, or an element of a ring.

        Raises
        ------
        ConversionError
            If this kind of expression is not arithmetic.
        """

        return evaluate(self)

    def __str__(self) -> str:
        return f"{self.kind}({', '.join(map(str, self.parts))})"
