"""Python rings as Macaulay2 makes them, with the functions of ``m2scripts/values.m2``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import singledispatch
from typing import Any

from sympy.polys.orderings import grevlex, grlex, lex
from sympy.polys.rings import PolyElement, PolyRing

from m2bridge.algebra import modules
from m2bridge.algebra import modules as complexes
from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.algebra.polynomial_map import PolynomialMap
from m2bridge.algebra.ring import GeneratingSet, PolynomialRing
from m2bridge.convert.macaulay2 import escaped
from m2bridge.errors import ConversionError
from m2bridge.workspace.given_writing import braces, element, grouped, inexact, items, string, written
from m2bridge.workspace.values.rings import (
    Algebra,
    ComplexField,
    FractionField,
    GaloisField,
    IntegerRing,
    QuotientRing,
    RealField,
    glex_order,
    grevlex_order,
    lex_order,
)

SYMBOL = re.compile(r"[^\W\d_][^\W_]*")
"""What Macaulay2 takes for a symbol."""


def ring(value: Any) -> str:
    """Macaulay2 code for a ring: made at its first use in a dictionary of symbols, found again afterwards."""
    return _made(value)


@singledispatch
def _made(value: Any) -> str:
    raise ConversionError(f"a {type(value).__name__} is not a ring that Macaulay2 can make")


@_made.register
def _(value: IntegerRing) -> str:
    return "ZZ"


@_made.register
def _(value: CoefficientField) -> str:
    return f"(mbPrimeField {value.characteristic})" if value.characteristic else "QQ"


@_made.register
def _(value: RealField) -> str:
    return f"(mbRealField {value.precision})"


@_made.register
def _(value: ComplexField) -> str:
    return f"(mbComplexField {value.precision})"


@_made.register
def _(value: PolynomialRing) -> str:
    return _made(Algebra(value.field, value.variables))


@_made.register
def _(value: Algebra) -> str:
    order = braces(f"({string(name)},{_size(size)})" for name, size in value.order)
    parts = [
        _made(value.coefficients),
        written_variables(value.variables),
        str(value.rank),
        braces(braces(map(str, degree)) for degree in value.degrees),
        order,
        _boolean(value.inverses),
        _boolean(value.joined),
        braces(f"({a},{b})" for a, b in value.weyl),
        braces(map(str, value.skew)),
    ]
    return _kept("mbAlgebra", parts)


@_made.register
def _(value: QuotientRing) -> str:
    if isinstance(value.ambient, IntegerRing):
        return f"(mbPrimeField {value.relations[0]})"
    return _kept("mbQuotient", [_made(value.ambient), braces(_relation(value.ambient, r) for r in value.relations)])


def _relation(over: Any, value: Any) -> str:
    """An element whose terms are sorted, so that equal rings are written in the same way, and made once."""
    if isinstance(value, PolyElement):
        value = value.ring.from_dict(dict(value.terms()))
    return element(over, value)


@_made.register
def _(value: GaloisField) -> str:
    return _kept("mbGalois", [_made(value.quotient), element(value.quotient, value.primitive)])


@_made.register
def _(value: FractionField) -> str:
    return _kept("mbFraction", [_made(value.ring)])


@_made.register
def _(value: PolyRing) -> str:
    return _made(ring_of_sympy(value))


def _kept(function: str, parts: list[str]) -> str:
    code = f"{function}({','.join(parts)})"
    return f"(mbGiven({string(code)}, () -> {code}))"


def _size(size: int | str | tuple[int, ...]) -> str:
    if isinstance(size, tuple):
        return braces(map(str, size))
    return string(size) if isinstance(size, str) else str(size)


def _boolean(value: bool) -> str:
    return "true" if value else "false"


def variable_parts(names: Sequence[str]) -> list[list[str | int]]:
    """Symbol and indices of each variable: ``x_1_a`` is Macaulay2's ``x_(1,a)``.

    A name that is no symbol of Macaulay2's, or is used with indices too, is written in letters and digits, by the
    scheme of :mod:`m2bridge.convert.macaulay2`.
    """
    parts = [_parts(name) for name in names]
    indexed = {p[0] for p in parts if len(p) > 1}
    return [
        [escaped(name, plain=True)] if len(p) == 1 and p[0] in indexed else p
        for name, p in zip(names, parts, strict=True)
    ]


def _parts(name: str) -> list[str | int]:
    base, *indices = name.split("_")
    if SYMBOL.fullmatch(base) and all(re.fullmatch(r"0|-?[1-9]\d*", i) or SYMBOL.fullmatch(i) for i in indices):
        return [base, *(i if SYMBOL.fullmatch(i) else int(i) for i in indices)]
    return [escaped(name)]


def written_variables(names: Sequence[str]) -> str:
    """The list of their symbols and indices."""
    return braces(map(_variable, variable_parts(names)))


def _variable(parts: list[str | int]) -> str:
    return braces(string(p) if isinstance(p, str) else str(p) for p in parts)


def ring_of_sympy(value: PolyRing) -> Any:
    """The ring of a SymPy polynomial.

    Raises
    ------
    ConversionError
        If its coefficients or its order have no counterpart.
    """
    names = tuple(str(symbol) for symbol in value.symbols)
    orders = {lex: lex_order, grlex: glex_order, grevlex: grevlex_order}
    if value.order not in orders:
        raise ConversionError(f"the monomial order {value.order} has no counterpart; use lex, grlex or grevlex")
    n, below = len(names), ring_of_domain(value.domain)
    if value.order == grevlex:
        return PolynomialRing(below, names) if isinstance(below, CoefficientField) else Algebra(below, names)
    return Algebra(below, names, order=orders[value.order](n))


def ring_of_domain(domain: Any) -> Any:
    """The ring of a SymPy domain."""
    if domain.is_ZZ:
        return IntegerRing()
    if domain.is_QQ:
        return QQ
    if domain.is_FiniteField:
        return CoefficientField(int(domain.characteristic()))
    if domain.is_PolynomialRing:
        return ring_of_sympy(domain.ring)
    if domain.is_FractionField:
        return FractionField(ring_of_sympy(domain.field.ring))
    if not domain.is_Exact:
        raise inexact(f"coefficients in {domain}")
    raise ConversionError(f"coefficients in {domain} have no counterpart; use ZZ, QQ or GF(p)")


for _kind in (
    *(PolynomialRing, CoefficientField, IntegerRing, RealField, ComplexField, Algebra, QuotientRing, GaloisField),
    *(FractionField, PolyRing),
):
    written.register(_kind, ring)


def plain_matrix(over: Any, rows: list[list[Any]], columns: int) -> modules.Matrix:
    """A matrix between free modules, homogeneous columns of the degrees that Macaulay2 finds."""
    rank = 0 if isinstance(over, IntegerRing | CoefficientField) else 1
    zero = (0,) * rank
    target, source = (modules.Module(over, (zero,) * n) for n in (len(rows), columns))
    return modules.Matrix(target, source, tuple(map(tuple, rows)), zero)


def _elements(over: Any, items: Iterable[Any]) -> str:
    return grouped([element(over, item) for item in items])


@written.register(GeneratingSet)
@written.register(modules.GeneralIdeal)
def _(value: Any) -> str:
    return f"(mbIdeal({ring(value.ring)}, {_elements(value.ring, value.generators)}))"


@written.register
def _(value: modules.MonomialIdeal) -> str:
    return f"(mbMonomialIdeal({ring(value.ring)}, {_elements(value.ring, value.generators)}))"


@written.register
def _(value: modules.Module) -> str:
    free = f"mbFree({ring(value.ring)}, {braces(braces(map(str, d)) for d in value.degrees)})"
    if value.is_free:
        return f"({free})"
    parts = ("null" if part is None else written(part) for part in (value.generators, value.relations))
    return f"(mbSubquotient({', '.join(parts)}))"


@written.register
def _(value: modules.Matrix) -> str:
    rows = braces(_elements(value.ring, row) for row in value.entries)
    degree = braces(map(str, value.degree))
    return f"(mbMap({written(value.target)}, {written(value.source)}, {degree}, {rows}))"


@written.register
def _(value: modules.MutableMatrix) -> str:
    return f"(mutableMatrix {written(value.matrix)})"


@written.register
def _(value: modules.Vector) -> str:
    return f"(mbVector({written(value.module)}, {_elements(value.module.ring, value.entries)}))"


@written.register
def _(value: modules.GroebnerBasis) -> str:
    return f"(forceGB {written(value.matrix)})"


@written.register
def _(value: modules.RingMap) -> str:
    return f"(mbRingMap({ring(value.target)}, {ring(value.source)}, {_elements(value.target, value.images)}))"


@written.register
def _(value: PolynomialMap) -> str:
    """The homomorphism from the coordinates of the target to the parameters."""
    return written(modules.RingMap(value.source, value.target(), value.images))


@written.register
def _(value: complexes.Complex) -> str:
    parts = (ring(value.ring), str(value.low), items(value.modules), items(value.differentials))
    return f"(mbChain({', '.join(parts)}))"


@written.register
def _(value: complexes.ComplexMap) -> str:
    maps = braces(f"{place} => {written(matrix)}" for place, matrix in enumerate(value.maps, value.source.low))
    return f"(mbMapOfComplexes({written(value.target)}, {written(value.source)}, {value.degree}, {maps}))"
