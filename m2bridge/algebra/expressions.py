"""Expressions of SymPy in plain symbols, which name the variables of rings.

Entries of indexed objects and of matrices are variables as in text: ``A[1, 2]`` of
``IndexedBase("A")`` and of ``MatrixSymbol("A", 2, 3)`` is ``A_1_2``. What is none, such as a matrix
as a whole, is a ConversionError.
"""

from typing import Any

from sympy import (
    Equality,
    Expr,
    Float,
    Indexed,
    IndexedBase,
    Integer,
    MatrixSymbol,
    Symbol,
    cancel,
    fraction,
    preorder_traversal,
)
from sympy.matrices.expressions.matexpr import MatrixElement, MatrixExpr

from m2bridge.errors import ConversionError

SymbolEntry = Indexed | MatrixElement
"""An entry of an indexed object or of a matrix of symbols."""


def symbol_name(symbol: Any) -> str:
    """The name of the variable that a symbol, or an entry with numbers as indices, stands for.

    A generator of SymPy's ``Poly`` that is neither, such as exp(x), has its text as its name, which
    other functions refuse.
    """
    if isinstance(symbol, Symbol) and not symbol.is_commutative:
        raise ConversionError(
            f"'{symbol}' does not commute, and polynomials are in variables that do: write"
            " sympy.Symbol without commutative=False"
        )
    if isinstance(symbol, Symbol):
        return str(symbol.name)
    if not isinstance(symbol, SymbolEntry):
        return str(symbol)
    if isinstance(symbol, Indexed):
        owner, indices = symbol.base, symbol.indices
    else:
        owner, indices = symbol.parent, (symbol.i, symbol.j)
    if not isinstance(owner, IndexedBase | MatrixSymbol):
        raise ConversionError(
            f"'{symbol}' is an entry of no matrix of symbols: compute with M.as_explicit()"
        )
    for index in indices:
        if not isinstance(index, Integer) or index < 0:
            raise ConversionError(
                f"'{symbol}' is not a variable, because {index} is not an integer from 0 on: write"
                " indices as numbers, and sums by .doit()"
            )
    # the label of an IndexedBase is its name, and a MatrixSymbol prints as its name
    label = owner.label if isinstance(owner, IndexedBase) else owner
    base_name = str(label).removesuffix("_")  # A_[1] is A_1, as A[1] is
    return "_".join([base_name, *map(str, indices)])


def variables_of(expression: Expr) -> set[Any]:
    """The symbols of an expression, and its entries of indexed objects and matrices.

    Symbols that occur only as indices, or as the name of an indexed object, are not among them.
    """
    symbols = expression.free_symbols
    # Entries of indexed objects, and matrices, would be among the free symbols: there are none.
    if all(isinstance(symbol, Symbol) for symbol in symbols):
        return symbols  # type: ignore[no-any-return]
    variables = set()
    subexpressions = preorder_traversal(expression)
    for subexpression in subexpressions:
        if isinstance(subexpression, Symbol | SymbolEntry):
            variables.add(subexpression)
            subexpressions.skip()  # the name and the indices inside the entry are not visited
        elif isinstance(subexpression, IndexedBase | MatrixExpr):
            raise ConversionError(
                f"'{expression}' contains {subexpression} as a whole, and is not a polynomial in"
                " its entries: write them out, for a matrix by M.as_explicit()"
            )
    return variables


def in_plain_symbols(expression: Expr) -> Expr:
    """The expression in symbols without assumptions, which name the variables of rings."""
    plain = {symbol: Symbol(symbol_name(symbol)) for symbol in variables_of(expression)}
    if len(set(plain.values())) < len(plain):
        raise ConversionError(f"'{expression}' has different symbols with one name")
    return expression.xreplace(plain)


def difference(value: Any) -> Any:
    """The left side minus the right side of an equation of SymPy; anything else as it is."""
    return value.lhs - value.rhs if isinstance(value, Equality) else value


def numerator_and_denominator(value: Any) -> tuple[Any, Any]:
    """Numerator and denominator of an exact rational function of SymPy, coprime; else the value and
    1.
    """
    is_exact_expression = isinstance(value, Expr) and not value.has(Float)
    if not is_exact_expression or value.is_polynomial() or not value.is_rational_function():
        return value, 1
    numerator, denominator = fraction(cancel(value))
    return numerator, denominator
