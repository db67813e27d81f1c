"""Conditions and formulas as ``words.toml`` has them: ``2 <= a < d``, ``d * dp - 1``.

The value that a statement predicts, the hypotheses under which it does, and the orbits that it is
about are texts in a small part of Python's language: integers, True and False, names of numbers,
``+ - * // **``, ``min`` and ``max``, ``comb`` for binomial coefficients, comparisons, ``and``,
``or``, ``not``, and ``… if … else …``. ``//`` stands only where it leaves no remainder. A text is
parsed by ``ast`` and read by the functions here; nothing is executed. Maker and checker read the
same texts. Numbers for names are integers, or polynomials with integer coefficients where the text
only adds and multiplies, or divides by a factor.

``CaseNumbers`` are what the names stand for. ``isl`` writes a condition or a formula in the
language of the integer set library.
"""

import ast
import operator
from collections.abc import Callable, Mapping
from functools import cache
from math import comb
from typing import Any

NumbersByName = Mapping[str, Any]
"""What the names in a text stand for."""

OPERATORS: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Pow: operator.pow,
}
COMPARISONS: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
FUNCTIONS: dict[str, Callable[..., Any]] = {"min": min, "max": max, "comb": comb}
IN_ISL = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Eq: "=",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
"""The signs that isl has, too."""


class CaseNumbers(dict[str, Any]):
    """The numbers of a case by name, each computed where a text first asks for it."""

    def __init__(self, case: Any, functions: Mapping[str, Callable[[Any], Any]]) -> None:
        super().__init__()
        self._case = case
        self._functions = functions

    def __missing__(self, name: str) -> Any:
        number = self[name] = self._functions[name](self._case)
        return number


def value(text: str, numbers: NumbersByName) -> Any:
    """The value of a formula, or whether a condition holds; ValueError outside the language."""
    return _function(text)(numbers)


@cache
def names(text: str) -> frozenset[str]:
    """The names of the numbers in a text."""
    nodes = ast.walk(_tree(text))
    return frozenset(node.id for node in nodes if isinstance(node, ast.Name)) - FUNCTIONS.keys()


def pieces(text: str) -> list[tuple[str, str]]:
    """The pairs (condition, formula) of ``x if c else y``: (c, x) and (not c, y)."""
    tree = _tree(text)
    if not isinstance(tree, ast.IfExp):
        return [("True", text)]
    condition = ast.unparse(tree.test)
    return [(condition, ast.unparse(tree.body)), (f"not ({condition})", ast.unparse(tree.orelse))]


def isl(text: str, replacements: Mapping[str, str] | None = None) -> str:
    """A condition or formula in the language of isl, with texts in place of some names."""
    return _isl(_tree(text), replacements or {})


@cache
def _tree(text: str) -> ast.expr:
    """The expression that a text is."""
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError:
        raise ValueError(f"not a condition: {text}") from None


@cache
def _function(text: str) -> Callable[[NumbersByName], Any]:
    """The function of the numbers that a text is."""
    return _compile(_tree(text))


def _compile(node: ast.expr) -> Callable[[NumbersByName], Any]:
    """The function of the numbers that an expression is, made of the functions of its parts."""
    match node:
        case ast.Constant(value=int() as constant):
            return lambda numbers: constant
        case ast.Name(id=name):
            return operator.itemgetter(name)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            apply, first, second = OPERATORS[type(op)], _compile(left), _compile(right)
            return lambda numbers: apply(first(numbers), second(numbers))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            inner = _compile(operand)
            return lambda numbers: -inner(numbers)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            inner = _compile(operand)
            return lambda numbers: not inner(numbers)
        case ast.BoolOp(op=op, values=[*others, last]):
            # a and b and c is (a and b) and c; closures of two are faster than all() and any()
            rest = others[0] if len(others) == 1 else ast.BoolOp(op, others)
            first, second = _compile(rest), _compile(last)
            if isinstance(op, ast.And):
                return lambda numbers: first(numbers) and second(numbers)
            return lambda numbers: first(numbers) or second(numbers)
        case ast.Compare(left=left, ops=ops, comparators=others):
            return _compile_comparison(ops, [_compile(side) for side in (left, *others)])
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in FUNCTIONS:
            function, parts = FUNCTIONS[name], [_compile(argument) for argument in arguments]
            return lambda numbers: function(*(part(numbers) for part in parts))
        case ast.IfExp(test=test, body=body, orelse=orelse):
            condition, first, second = _compile(test), _compile(body), _compile(orelse)
            return lambda numbers: first(numbers) if condition(numbers) else second(numbers)
    raise ValueError(f"not in the language of conditions: {ast.unparse(node)}")


def _compile_comparison(
    ops: list[ast.cmpop], sides: list[Callable[[NumbersByName], Any]]
) -> Callable[[NumbersByName], bool]:
    """The function that says whether a chain of comparisons such as 2 <= a < d holds."""
    for op in ops:
        if type(op) not in COMPARISONS:
            raise ValueError(f"not in the language of conditions: {type(op).__name__}")
    if len(ops) == 1:
        compare, (first, second) = COMPARISONS[type(ops[0])], sides
        return lambda numbers: compare(first(numbers), second(numbers))
    links = [
        (COMPARISONS[type(op)], left, right)
        for op, left, right in zip(ops, sides, sides[1:], strict=False)
    ]
    return lambda numbers: all(
        compare(left(numbers), right(numbers)) for compare, left, right in links
    )


def _isl(node: ast.expr, replacements: Mapping[str, str]) -> str:
    """An expression in the language of isl."""

    def write(part: ast.expr) -> str:
        return _isl(part, replacements)

    match node:
        case ast.Constant(value=bool() as constant):
            return "0 = 0" if constant else "0 = 1"
        case ast.Constant(value=int() as constant):
            return str(constant)
        case ast.Name(id=name):
            return replacements.get(name, name)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in IN_ISL:
            return f"({write(left)} {IN_ISL[type(op)]} {write(right)})"
        case ast.BinOp(left=left, op=ast.FloorDiv(), right=ast.Constant(value=int() as divisor)):
            return f"(1/{divisor} * {write(left)})"
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return f"not ({write(operand)})"
        case ast.BoolOp(op=op, values=values):
            word = " and " if isinstance(op, ast.And) else " or "
            return word.join(f"({write(part)})" for part in values)
        case ast.Compare(left=left, ops=ops, comparators=others):
            signs = [IN_ISL[type(op)] for op in ops]
            links = [f"{sign} {write(side)}" for sign, side in zip(signs, others, strict=True)]
            return " ".join([write(left), *links])
        case ast.Call(func=ast.Name(id="min" | "max" as name), args=arguments, keywords=[]):
            return f"{name}({', '.join(map(write, arguments))})"
    raise ValueError(f"isl has no {ast.unparse(node)}")
