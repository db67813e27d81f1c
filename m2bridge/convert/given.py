"""Python to Macaulay2: values given by name, as calls of the functions in ``m2scripts/values.m2``.

Nothing is evaluated as text: integers, strings and lists are literals, all else is made by functions whose names nobody
can hide. The classes are listed in docs/values.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from sympy import Expr, MatrixBase, Rational, nan, oo
from sympy.polys.polyerrors import BasePolynomialError
from sympy.polys.rings import PolyElement, PolyRing

from m2bridge.algebra.field import QQ
from m2bridge.algebra.ring import PolynomialRing
from m2bridge.convert import given_neighbours  # noqa: F401 (fills the table)
from m2bridge.convert.constants import CONSTANTS
from m2bridge.convert.given_modules import plain_matrix
from m2bridge.convert.given_rings import ring_of_sympy
from m2bridge.convert.given_writing import braces, grouped, inexact, items, string, written
from m2bridge.digits import decimal
from m2bridge.errors import ConversionError
from m2bridge.values import collections, invariants, modules, sequences
from m2bridge.values import inexact as numbers
from m2bridge.values.rings import (
    IntegerRing,
)

_GROUP = 1000
_CONTAINERS = (list, tuple, set, frozenset)
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9']*")


def bindings(inputs: Mapping[str, Any]) -> str:
    """Macaulay2 code that gives values to names; variables of their rings can be used by their names afterwards.

    SymPy expressions among them share one ring, QQ with all their symbols.

    Raises
    ------
    ConversionError
        If a name is not one of Macaulay2's, or a value has no counterpart there.
    """
    for name in inputs:
        if not _NAME.fullmatch(name) or name.startswith("mb"):
            raise ConversionError(
                f"{name!r} cannot name a value in Macaulay2: letters and digits, not beginning with mb"
            )
    shared = _shared_ring(inputs.values())
    prepared = {name: _in_ring(value, shared) for name, value in inputs.items()}
    return "".join(f"mbDefine({string(name)}, {expression(value)});\n" for name, value in prepared.items())


def expression(value: Any) -> str:
    """One value as a Macaulay2 expression.

    Raises
    ------
    ConversionError
        If it has no counterpart, or is not exact; the message says how to make it exact.
    """
    return written(_in_ring(value, _shared_ring([value])))


def _shared_ring(items: Iterable[Any]) -> PolyRing | None:
    """The ring of all SymPy expressions that are not numbers."""
    found = {symbol for item in _leaves(items) if isinstance(item, Expr) for symbol in item.free_symbols}
    if not found:
        return None
    return PolynomialRing(QQ, tuple(sorted(str(s) for s in found))).sympy_ring


def _leaves(items: Iterable[Any]) -> Iterable[Any]:
    for item in items:
        if type(item) in _CONTAINERS:
            yield from _leaves(item)
        elif type(item) is dict:
            yield from _leaves(item.values())
        elif isinstance(item, MatrixBase):
            yield from item.flat()
        else:
            yield item


def _in_ring(value: Any, shared: PolyRing | None) -> Any:
    """The value with its SymPy expressions in the shared ring."""
    if type(value) in _CONTAINERS:
        return type(value)(_in_ring(item, shared) for item in value)
    if type(value) is dict:
        return {_in_ring(k, shared): _in_ring(v, shared) for k, v in value.items()}
    if isinstance(value, Expr) and value.free_symbols:
        return _polynomial(value, shared)
    if isinstance(value, MatrixBase):
        return _sympy_matrix(value, shared)
    return value


def _polynomial(value: Expr, shared: Any) -> PolyElement:
    if not all(atom.is_Rational for atom in value.atoms() if atom.is_number):
        _refuse_number(value)
    try:
        return shared.from_expr(value)
    except (BasePolynomialError, ValueError) as reason:
        raise ConversionError(f"'{value}' is not a polynomial with rational coefficients") from reason


def _refuse_number(value: Any) -> None:
    from sympy import Float

    if value.has(Float):
        raise inexact(f"'{value}'")
    raise ConversionError(f"'{value}' is not a polynomial with rational coefficients")


def _sympy_matrix(value: MatrixBase, shared: PolyRing | None) -> modules.Matrix:
    flat = [_polynomial(x, shared) if shared and x.free_symbols else _number(x) for x in value.flat()]
    over: Any = ring_of_sympy(shared) if shared else IntegerRing() if all(isinstance(x, int) for x in flat) else QQ
    return plain_matrix(over, [flat[i * value.cols : (i + 1) * value.cols] for i in range(value.rows)], value.cols)


def _number(value: Any) -> int | Fraction:
    if not isinstance(value, Rational):
        _refuse_number(value)
    return int(value) if value.is_Integer else Fraction(int(value.p), int(value.q))


@written.register
def _(value: None) -> str:
    return "null"


@written.register
def _(value: bool) -> str:
    return "true" if value else "false"


@written.register
def _(value: int) -> str:
    return f"({decimal(value)})"


@written.register
def _(value: Fraction) -> str:
    return f"(({decimal(value.numerator)})/{decimal(value.denominator)})"


@written.register(float)
@written.register(complex)
def _(value: Any) -> str:
    raise inexact(f"{value!r} is a {type(value).__name__}")


@written.register
def _(value: str) -> str:
    return string(value)


@written.register
def _(value: list) -> str:  # type: ignore[type-arg]
    return items(value)


@written.register
def _(value: tuple) -> str:  # type: ignore[type-arg]
    return f"(toSequence {items(value)})"


@written.register(dict)
@written.register(collections.HashTable)
def _(value: Any) -> str:
    pairs = grouped([f"({written(k)},{written(v)})" for k, v in value.items()])
    kind = type(value).__name__ if isinstance(value, collections.HashTable) else "HashTable"
    return f"(mbTableFrom({string(kind)}, {pairs}))"


@written.register(set)
@written.register(frozenset)
@written.register(collections.Set)
def _(value: Any) -> str:
    return f"(set {items(value)})"


@written.register
def _(value: Expr) -> str:
    if value in (oo, -oo):
        return "(infinity)" if value == oo else "(-infinity)"
    if value is nan:
        return "indeterminate"
    if value in CONSTANTS.values():
        return f"(mbConstant {string(next(name for name, constant in CONSTANTS.items() if constant == value))})"
    return written(_number(value))


@written.register
def _(value: numbers.Real) -> str:
    if value.special:
        return f"(mbSpecial({value.precision}, {string(value.special)}))"
    return f"(mbNumber({value.precision}, {decimal(value.mantissa)}, {value.exponent}))"


@written.register
def _(value: numbers.ComplexNumber) -> str:
    if "inf" in value.real.special + value.imaginary.special:  # both parts are infinite then in Macaulay2 1.26
        raise ConversionError("an infinite complex number has no parts in Macaulay2: give its parts as real numbers")
    return f"(mbComplexFrom({value.precision}, {written(value.real)}, {written(value.imaginary)}))"


@written.register
def _(value: numbers.RealInterval) -> str:
    return f"(mbInterval({written(value.left)}, {written(value.right)}))"


@written.register
def _(value: sequences.Net) -> str:
    return f"(mbNet({value.height}, {items(value.lines)}))"


@written.register
def _(value: sequences.Symbol) -> str:
    if value.index is None:
        return f"(mbSymbolGiven {string(value.name)})"
    return f"(new IndexedVariable from {{mbSymbolGiven {string(value.name)}, {written(value.index)}}})"


@written.register
def _(value: sequences.Option) -> str:
    return f"({written(value.key)} => {written(value.value)})"


@written.register
def _(value: sequences.Array) -> str:
    return f"(new Array from {items(value)})"


@written.register(sequences.MutableList)
@written.register(sequences.Partition)
def _(value: Any) -> str:
    return f"(new {type(value).__name__} from {items(value)})"


@written.register
def _(value: sequences.Factorization) -> str:
    return f"(mbFactors {braces(f'({written(base)},{exponent})' for base, exponent in value)})"


@written.register
def _(value: sequences.Expression) -> str:
    return f"(mbExpression({string(value.kind)}, {items(value.parts)}))"


@written.register
def _(value: sequences.Reference) -> str:
    return f"(mbReferenced {string(value.key)})"


@written.register
def _(value: invariants.BettiTable) -> str:
    entries = (f"({i},{braces(map(str, d))},{w}) => {count}" for (i, d, w), count in value.entries)
    return f"(mbBettiTable {braces(entries)})"


@written.register
def _(value: invariants.HilbertPolynomial) -> str:
    return f"(mbHilbertPolynomial {braces(f'{n} => {c}' for n, c in value.coefficients)})"
