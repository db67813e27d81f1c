"""Values of arithmetic expressions."""

from __future__ import annotations

import operator
from collections.abc import Callable
from fractions import Fraction
from functools import reduce
from typing import Any

from sympy import Rational
from sympy.polys.rings import PolyElement

from m2bridge.errors import ConversionError
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


def evaluate(expression: Any) -> Any:
    """The value of an expression; polynomials become SymPy expressions, numbers are exact."""
    if isinstance(expression, Expression):
        if expression.kind not in _OPERATIONS:
            raise ConversionError(f"an expression of the class {expression.kind} is not arithmetic")
        return _OPERATIONS[expression.kind](*map(evaluate, expression.parts))
    if isinstance(expression, Factorization):
        return reduce(operator.mul, (evaluate(base) ** exponent for base, exponent in expression), 1)
    if isinstance(expression, PolyElement):
        return expression.as_expr()
    if isinstance(expression, int | Fraction) and not isinstance(expression, bool):
        return Rational(expression)
    return expression
