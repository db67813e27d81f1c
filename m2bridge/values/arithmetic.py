"""Values of arithmetic expressions."""

from __future__ import annotations

import operator
from collections.abc import Callable
from fractions import Fraction
from functools import reduce
from typing import Any

from sympy import Rational
from sympy.polys.rings import PolyElement

from m2bridge.algebra.field import QQ
from m2bridge.errors import ConversionError
from m2bridge.values.rings import Algebra, ComplexField, IntegerRing, RealField, RingElement
from m2bridge.values.sequences import Expression, Factorization

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
