"""Python to Macaulay2: values given by name, as calls of the functions in ``m2scripts/values.m2``.

Nothing is evaluated as text: integers, strings and lists are literals, all else is made by functions whose names nobody
can hide. The classes are listed in docs/values.md.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from sympy import Expr, nan, oo

from m2bridge.algebra import modules as invariants
from m2bridge.convert.macaulay2 import CONSTANTS
from m2bridge.errors import ConversionError
from m2bridge.system import decimal
from m2bridge.workspace import interop  # noqa: F401  (fills the table)
from m2bridge.workspace.given_polynomials import in_one_ring, number
from m2bridge.workspace.given_writing import braces, grouped, inexact, items, string, written
from m2bridge.workspace.values import collections
from m2bridge.workspace.values import collections as sequences
from m2bridge.workspace.values import inexact as numbers
from m2bridge.workspace.values.expressions import Expression, Factorization

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9']*")


def bindings(inputs: Mapping[str, Any]) -> str:
    """Macaulay2 code that gives values to names; variables of their rings can be used by their names afterwards.

    SymPy expressions among them share one ring; see :mod:`m2bridge.workspace.given_polynomials`.

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
    prepared = in_one_ring(inputs.values())
    return "".join(
        f"mbDefine({string(name)}, {written(value)});\n" for name, value in zip(inputs, prepared, strict=True)
    )


def expression(value: Any) -> str:
    """One value as a Macaulay2 expression.

    Raises
    ------
    ConversionError
        If it has no counterpart, or is not exact; the message says how to make it exact.
    """
    return written(*in_one_ring([value]))


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
    return written(number(value))


@written.register
def _(value: numbers.Real) -> str:
    if value.special:
        return f"(mbSpecial({value.precision}, {string(value.special)}))"
    return f"(mbNumber({value.precision}, {decimal(value.mantissa)}, {value.exponent}))"


@written.register
def _(value: numbers.ComplexNumber) -> str:
    specials = {value.real.special, value.imaginary.special}
    if specials & {"inf", "-inf"}:  # both parts are infinite then in Macaulay2 1.26
        raise ConversionError("an infinite complex number has no parts in Macaulay2: give its parts as real numbers")
    if "nan" in specials and len(specials) > 1:  # both parts are NaN then
        raise ConversionError("in Macaulay2 both parts of a complex number are NaN, or none: give them as real numbers")
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
def _(value: Factorization) -> str:
    factors = value.factors[value.is_negative :]
    product = f"(mbFactors {braces(f'({written(base)},{exponent})' for base, exponent in factors)})"
    return f"(mbExpression({string('Minus')}, {{{product}}}))" if value.is_negative else product


@written.register
def _(value: Expression) -> str:
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
