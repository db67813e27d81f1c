"""Python to Macaulay2: values as calls of the functions in ``m2scripts/values.m2``; numbers, text and collections.

Nothing is evaluated as text: integers, strings and lists are literals, all else is made by functions whose names nobody
can hide. The classes are listed in docs/values.md. Each is encoded by a function that is registered for it here, in
:mod:`~m2bridge.workspace.encode_algebra`, :mod:`~m2bridge.workspace.bindings` or :mod:`~m2bridge.workspace.interop`."""

from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import singledispatch
from typing import Any

from m2bridge.algebra.modules import BettiTable, HilbertPolynomial
from m2bridge.errors import ConversionError
from m2bridge.system import decimal
from m2bridge.workspace.values.collections import (
    Array,
    HashTable,
    MutableList,
    Net,
    Option,
    Partition,
    Reference,
    Set,
    Symbol,
)
from m2bridge.workspace.values.elements import RingFraction
from m2bridge.workspace.values.expressions import Expression, Factorization
from m2bridge.workspace.values.inexact import ComplexNumber, Real, RealInterval

_GROUP = 1000


@singledispatch
def encode(value: Any) -> str:
    """The value as a Macaulay2 expression.

    Raises
    ------
    ConversionError
        If it has no counterpart, or is not exact.
    """
    raise ConversionError(f"a {type(value).__name__} has no counterpart in Macaulay2")


def string(text: str) -> str:
    """A string of Macaulay2; its bytes are those of the text in UTF-8.

    Raises
    ------
    ConversionError
        If the text has half a surrogate pair that stands for no byte.
    """
    try:
        data = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as reason:
        raise ConversionError(f"text with half a surrogate pair is no UTF-8: {text!a:.60}") from reason
    return '"' + "".join(_BYTES[byte] for byte in data) + '"'


_BYTES = [
    f"\\{byte:03o}" if byte < 32 or byte > 126 else f"\\{chr(byte)}" if chr(byte) in '"\\' else chr(byte)
    for byte in range(256)
]


def braces(items: Any) -> str:
    """A list."""
    return "{" + ",".join(items) + "}"


def items(values: Iterable[Any]) -> str:
    """A list of values."""
    return grouped([encode(value) for value in values])


def grouped(items: list[str]) -> str:
    """A list of any length; Macaulay2 takes no literal with very many items."""
    if len(items) <= _GROUP:
        return braces(items)
    groups = (grouped(items[start : start + _GROUP]) for start in range(0, len(items), _GROUP))
    return f"mbTogether {braces(groups)}" if len(items) <= _GROUP**2 else _split(items)


def _split(items: list[str]) -> str:
    half = len(items) // 2
    return f"mbTogether {{{grouped(items[:half])},{grouped(items[half:])}}}"


def inexact(what: str) -> ConversionError:
    """The error for inexact input."""
    return ConversionError(
        f"{what}: not exact. Write fractions as fractions.Fraction or sympy.Rational; a number that is meant to be "
        "inexact as m2bridge.workspace.values.Real.of(number)"
    )


def scalar(value: Any) -> str:
    """An element of a ring, or a number that is one."""
    if hasattr(value, "to_int"):
        return str(int(value))
    if isinstance(value, int):
        return decimal(value)
    if hasattr(value, "numerator") and not callable(value.numerator) and not isinstance(value, RingFraction):
        text = decimal(int(value.numerator))
        return text if value.denominator == 1 else f"{text}/{decimal(int(value.denominator))}"
    return encode(value)


@encode.register(float)
@encode.register(complex)
def _(value: Any) -> str:
    raise inexact(f"{value!r} is a {type(value).__name__}")


@encode.register(dict)
@encode.register(HashTable)
def _(value: Any) -> str:
    pairs = grouped([f"({encode(k)},{encode(v)})" for k, v in value.items()])
    kind = type(value).__name__ if isinstance(value, HashTable) else "HashTable"
    return f"(mbTableFrom({string(kind)}, {pairs}))"


@encode.register
def _(value: Real) -> str:
    if value.special:
        return f"(mbSpecial({value.precision}, {string(value.special)}))"
    return f"(mbNumber({value.precision}, {decimal(value.mantissa)}, {value.exponent}))"


@encode.register
def _(value: ComplexNumber) -> str:
    specials = {value.real.special, value.imaginary.special}
    if specials & {"inf", "-inf"}:  # both parts are infinite then in Macaulay2 1.26
        raise ConversionError("an infinite complex number has no parts in Macaulay2: give its parts as real numbers")
    if "nan" in specials and len(specials) > 1:  # both parts are NaN then
        raise ConversionError("in Macaulay2 both parts of a complex number are NaN, or none: give them as real numbers")
    return f"(mbComplexFrom({value.precision}, {encode(value.real)}, {encode(value.imaginary)}))"


@encode.register
def _(value: Symbol) -> str:
    if value.index is None:
        return f"(mbSymbolGiven {string(value.name)})"
    return f"(new IndexedVariable from {{mbSymbolGiven {string(value.name)}, {encode(value.index)}}})"


@encode.register
def _(value: Factorization) -> str:
    factors = value.factors[value.is_negative :]
    product = f"(mbFactors {braces(f'({encode(base)},{exponent})' for base, exponent in factors)})"
    return f"(mbExpression({string('Minus')}, {{{product}}}))" if value.is_negative else product


@encode.register
def _(value: BettiTable) -> str:
    entries = (f"({i},{braces(map(str, d))},{w}) => {count}" for (i, d, w), count in value.entries)
    return f"(mbBettiTable {braces(entries)})"


_ENCODERS: dict[type, Callable[[Any], str]] = {
    type(None): lambda value: "null",
    bool: lambda value: "true" if value else "false",
    int: lambda value: f"({decimal(value)})",
    Fraction: lambda value: f"(({decimal(value.numerator)})/{decimal(value.denominator)})",
    str: lambda value: string(value),
    list: lambda value: items(value),
    tuple: lambda value: f"(toSequence {items(value)})",
    set: lambda value: f"(set {items(value)})",
    frozenset: lambda value: f"(set {items(value)})",
    Set: lambda value: f"(set {items(value)})",
    RealInterval: lambda value: f"(mbInterval({encode(value.left)}, {encode(value.right)}))",
    Net: lambda value: f"(mbNet({value.height}, {items(value.lines)}))",
    Option: lambda value: f"({encode(value.key)} => {encode(value.value)})",
    Array: lambda value: f"(new Array from {items(value)})",
    MutableList: lambda value: f"(new {type(value).__name__} from {items(value)})",
    Partition: lambda value: f"(new {type(value).__name__} from {items(value)})",
    Expression: lambda value: f"(mbExpression({string(value.kind)}, {items(value.parts)}))",
    Reference: lambda value: f"(mbReferenced {string(value.key)})",
    HilbertPolynomial: lambda value: f"(mbHilbertPolynomial {braces(f'{n} => {c}' for n, c in value.coefficients)})",
}
for _kind, _encoder in _ENCODERS.items():
    encode.register(_kind, _encoder)
