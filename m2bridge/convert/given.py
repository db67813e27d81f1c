"""Python to Macaulay2: values given by name, as calls of the functions in ``m2scripts/values.m2``.

Nothing is evaluated as text: integers, strings and lists are literals, all else is made by functions whose names nobody
can hide. The classes are listed in docs/values.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import singledispatch
from itertools import compress
from typing import Any

from sympy import Expr, MatrixBase, Poly, Rational, nan, oo
from sympy.polys.fields import FracElement
from sympy.polys.polyerrors import BasePolynomialError
from sympy.polys.rings import PolyElement, PolyRing

from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.algebra.polynomial_map import PolynomialMap
from m2bridge.algebra.ring import Ideal, PolynomialRing
from m2bridge.convert.given_rings import braces, inexact, ring, ring_of_domain, ring_of_sympy, string
from m2bridge.digits import decimal
from m2bridge.errors import ConversionError
from m2bridge.values import collections, invariants, modules, sequences
from m2bridge.values import inexact as numbers
from m2bridge.values.rings import (
    Algebra,
    ComplexField,
    FractionField,
    GaloisField,
    IntegerRing,
    QuotientRing,
    RealField,
    RingElement,
    RingFraction,
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
    return _written(_in_ring(value, _shared_ring([value])))


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


def plain_matrix(over: Any, rows: list[list[Any]], columns: int) -> modules.Matrix:
    """A matrix between free modules, homogeneous columns of the degrees that Macaulay2 finds."""
    rank = 0 if isinstance(over, IntegerRing | CoefficientField) else 1
    zero = (0,) * rank
    target, source = (modules.Module(over, (zero,) * n) for n in (len(rows), columns))
    return modules.Matrix(target, source, tuple(map(tuple, rows)), zero)


def element(over: Any, value: Any) -> str:
    """An element of a ring, given as decode gives it, or as a number."""
    if isinstance(value, RingElement | PolyElement | RingFraction):
        return _written(value)
    return _scalar(value)


def _scalar(value: Any) -> str:
    """A number of a coefficient ring."""
    if hasattr(value, "to_int"):
        return str(int(value))
    if isinstance(value, int):
        return decimal(value)
    if hasattr(value, "numerator") and not callable(value.numerator):
        text = decimal(int(value.numerator))
        return text if value.denominator == 1 else f"{text}/{decimal(int(value.denominator))}"
    return _written(value)


def _grouped(items: list[str]) -> str:
    if len(items) <= _GROUP:
        return braces(items)
    groups = (_grouped(items[start : start + _GROUP]) for start in range(0, len(items), _GROUP))
    return f"mbTogether {braces(groups)}" if len(items) <= _GROUP**2 else _split(items)


def _split(items: list[str]) -> str:
    half = len(items) // 2
    return f"mbTogether {{{_grouped(items[:half])},{_grouped(items[half:])}}}"


def _sparse(terms: Iterable[tuple[tuple[int, ...], str]], width: int) -> str:
    places = tuple(f",{i}," for i in range(width))
    listed = []
    for exponents, coefficient in terms:
        powers = zip(compress(places, exponents), filter(None, exponents), strict=True)
        listed.append("{" + coefficient + "".join([f"{place}{exponent}" for place, exponent in powers]) + "}")
    return _grouped(listed)


def _items(items: Iterable[Any]) -> str:
    return _grouped([_written(item) for item in items])


@singledispatch
def _written(value: Any) -> str:
    from m2bridge.convert.given_neighbours import written

    return written(value)


@_written.register
def _(value: None) -> str:
    return "null"


@_written.register
def _(value: bool) -> str:
    return "true" if value else "false"


@_written.register
def _(value: int) -> str:
    return f"({decimal(value)})"


@_written.register
def _(value: Fraction) -> str:
    return f"(({decimal(value.numerator)})/{decimal(value.denominator)})"


@_written.register(float)
@_written.register(complex)
def _(value: Any) -> str:
    raise inexact(f"{value!r} is a {type(value).__name__}")


@_written.register
def _(value: str) -> str:
    return string(value)


@_written.register
def _(value: list) -> str:  # type: ignore[type-arg]
    return _items(value)


@_written.register
def _(value: tuple) -> str:  # type: ignore[type-arg]
    return f"(toSequence {_items(value)})"


@_written.register(dict)
@_written.register(collections.HashTable)
def _(value: Any) -> str:
    pairs = _grouped([f"({_written(k)},{_written(v)})" for k, v in value.items()])
    kind = type(value).__name__ if isinstance(value, collections.HashTable) else "HashTable"
    return f"(mbTableFrom({string(kind)}, {pairs}))"


@_written.register(set)
@_written.register(frozenset)
@_written.register(collections.Set)
def _(value: Any) -> str:
    return f"(set {_items(value)})"


@_written.register
def _(value: Expr) -> str:
    if value in (oo, -oo):
        return "(infinity)" if value == oo else "(-infinity)"
    if value is nan:
        return "indeterminate"
    return _written(_number(value))


@_written.register
def _(value: PolyElement) -> str:
    over = ring_of_sympy(value.ring)
    number = _sympy_coefficient(value.ring.domain)
    terms = ((monomial, number(coefficient)) for monomial, coefficient in value.items())
    return f"mbElement({ring(over)}, {_sparse(terms, value.ring.ngens)})"


def _sympy_coefficient(domain: Any) -> Any:
    if domain.is_FiniteField:
        return lambda c: str(domain.to_int(c))
    if domain.is_ZZ or domain.is_QQ:
        return _scalar
    return _written


@_written.register
def _(value: FracElement) -> str:
    below = value.field.ring
    over = FractionField(ring_of_sympy(below))
    return f"mbQuotientOf({ring(over)}, {_written(value.numer)}, {_written(value.denom)})"


@_written.register
def _(value: Poly) -> str:
    below = ring_of_domain(value.domain)
    names = tuple(map(str, value.gens))
    over = PolynomialRing(below, names) if isinstance(below, CoefficientField) else Algebra(below, names)
    number = _sympy_coefficient(value.domain)
    terms = ((monomial, number(value.domain.convert(c))) for monomial, c in value.rep.to_dict().items())
    return f"mbElement({ring(over)}, {_sparse(terms, len(names))})"


@_written.register
def _(value: RingElement) -> str:
    if isinstance(value.ring, QuotientRing) and isinstance(value.ring.ambient, IntegerRing):
        return f"(promote({value.terms[0][1] if value.terms else 0}, {ring(value.ring)}))"
    terms = [(exponents, _scalar(coefficient)) for exponents, coefficient in value.terms]
    width = len(terms[0][0]) if terms else 0
    return f"mbElement({ring(value.ring)}, {_sparse(terms, width)})"


@_written.register
def _(value: RingFraction) -> str:
    return f"mbQuotientOf({ring(value.ring)}, {_scalar(value.numerator)}, {_scalar(value.denominator)})"


for _kind in (
    *(PolynomialRing, CoefficientField, IntegerRing, RealField, ComplexField, Algebra, QuotientRing, GaloisField),
    *(FractionField, PolyRing),
):
    _written.register(_kind, ring)


@_written.register
def _(value: numbers.Real) -> str:
    if value.special:
        return f"(mbSpecial({value.precision}, {string(value.special)}))"
    return f"(mbNumber({value.precision}, {decimal(value.mantissa)}, {value.exponent}))"


@_written.register
def _(value: numbers.ComplexNumber) -> str:
    return f"(mbComplexFrom({value.precision}, {_written(value.real)}, {_written(value.imaginary)}))"


@_written.register
def _(value: sequences.Symbol) -> str:
    if value.index is None:
        return f"(mbSymbolGiven {string(value.name)})"
    return f"(new IndexedVariable from {{mbSymbolGiven {string(value.name)}, {_written(value.index)}}})"


@_written.register
def _(value: sequences.Option) -> str:
    return f"({_written(value.key)} => {_written(value.value)})"


@_written.register
def _(value: sequences.Array) -> str:
    return f"(new Array from {_items(value)})"


@_written.register(sequences.MutableList)
@_written.register(sequences.Partition)
def _(value: Any) -> str:
    return f"(new {type(value).__name__} from {_items(value)})"


@_written.register
def _(value: sequences.Factorization) -> str:
    return f"(mbFactors {braces(f'({_written(base)},{exponent})' for base, exponent in value)})"


@_written.register
def _(value: sequences.Expression) -> str:
    return f"(mbExpression({string(value.kind)}, {_items(value.parts)}))"


@_written.register
def _(value: sequences.Reference) -> str:
    return f"(mbReferenced {string(value.key)})"


@_written.register
def _(value: invariants.BettiTable) -> str:
    entries = (f"({i},{braces(map(str, d))},{w}) => {count}" for (i, d, w), count in value.entries)
    return f"(mbBettiTable {braces(entries)})"


@_written.register
def _(value: invariants.HilbertPolynomial) -> str:
    return f"(mbHilbertPolynomial {braces(f'{n} => {c}' for n, c in value.coefficients)})"


def _elements(over: Any, items: Iterable[Any]) -> str:
    return _grouped([element(over, item) for item in items])


@_written.register(Ideal)
@_written.register(modules.GeneralIdeal)
def _(value: Any) -> str:
    return f"(mbIdeal({ring(value.ring)}, {_elements(value.ring, value.generators)}))"


@_written.register
def _(value: modules.MonomialIdeal) -> str:
    return f"(mbMonomialIdeal({ring(value.ring)}, {_elements(value.ring, value.generators)}))"


@_written.register
def _(value: modules.Module) -> str:
    free = f"mbFree({ring(value.ring)}, {braces(braces(map(str, d)) for d in value.degrees)})"
    if value.is_free:
        return f"({free})"
    parts = ("null" if part is None else _written(part) for part in (value.generators, value.relations))
    return f"(mbSubquotient({', '.join(parts)}))"


@_written.register
def _(value: modules.Matrix) -> str:
    rows = braces(_elements(value.ring, row) for row in value.entries)
    degree = braces(map(str, value.degree))
    return f"(mbMap({_written(value.target)}, {_written(value.source)}, {degree}, {rows}))"


@_written.register
def _(value: modules.MutableMatrix) -> str:
    return f"(mutableMatrix {_written(value.matrix)})"


@_written.register
def _(value: modules.Vector) -> str:
    return f"(mbVector({_written(value.module)}, {_elements(value.module.ring, value.entries)}))"


@_written.register
def _(value: modules.GroebnerBasis) -> str:
    return f"(forceGB {_written(value.matrix)})"


@_written.register
def _(value: modules.RingMap) -> str:
    return f"(mbRingMap({ring(value.target)}, {ring(value.source)}, {_elements(value.target, value.images)}))"


@_written.register
def _(value: PolynomialMap) -> str:
    """The homomorphism from the coordinates of the target to the parameters."""
    return _written(modules.RingMap(value.source, value.target(), value.images))


@_written.register
def _(value: modules.Complex) -> str:
    parts = (ring(value.ring), str(value.low), _items(value.modules), _items(value.differentials))
    return f"(mbChain({', '.join(parts)}))"
