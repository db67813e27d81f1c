"""Python objects bound to names in Macaulay2; the SymPy expressions among them are polynomials of one ring."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sympy import Expr, Float, MatrixBase, Rational, nan, oo
from sympy.polys.polyerrors import BasePolynomialError
from sympy.polys.rings import PolyElement, PolyRing

from m2bridge.algebra.field import QQ
from m2bridge.algebra.modules import Matrix
from m2bridge.algebra.numbers import fraction
from m2bridge.algebra.ring import PolynomialRing
from m2bridge.convert.macaulay2 import CONSTANTS
from m2bridge.errors import ConversionError
from m2bridge.workspace import interop  # noqa: F401  (registers how values of other libraries are encoded)
from m2bridge.workspace.encode import braces, encode, inexact, string
from m2bridge.workspace.encode_algebra import plain_matrix, ring_of_sympy, sparse_terms, variable_list
from m2bridge.workspace.values.collections import Array, HashTable, MutableList, Option, Set
from m2bridge.workspace.values.rings import Algebra, IntegerRing

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9']*")


def bindings(inputs: Mapping[str, Any]) -> str:
    """Macaulay2 code that gives values to names; variables of their rings can be used by their names afterwards.

    SymPy expressions among them share one ring: the only ring among them that has all their symbols, else a new one.

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
        f"mbDefine({string(name)}, {encode(value)});\n" for name, value in zip(inputs, prepared, strict=True)
    )


def expression(value: Any) -> str:
    """One value as a Macaulay2 expression.

    Raises
    ------
    ConversionError
        If it has no counterpart, or is not exact; the message says how to make it exact.
    """
    return encode(*in_one_ring([value]))


_PLAIN = (list, tuple, set, frozenset)


@dataclass(frozen=True)
class Typed:
    """Polynomials as if typed: an element, or the rows of a matrix."""

    ring: PolyRing
    content: PolyElement | tuple[tuple[PolyElement, ...], ...]
    columns: int = 0


def in_one_ring(values: Iterable[Any]) -> list[Any]:
    """The values, with the SymPy expressions among them as polynomials."""
    listed = list(values)
    leaves = list(_leaves(listed))
    names = {str(symbol) for leaf in leaves if isinstance(leaf, Expr) for symbol in leaf.free_symbols}
    if not names:
        return [_prepared(value, None, False) for value in listed]
    rings = [ring for ring in _rings(leaves) if names <= set(map(str, ring.symbols))]
    if len(rings) == 1:
        return [_prepared(value, rings[0], False) for value in listed]
    own = PolynomialRing(QQ, tuple(sorted(names))).sympy_ring
    return [_prepared(value, own, True) for value in listed]


def _parts(value: Any) -> list[Any] | None:
    """List the items of a container, of a table keys and values in turn; ``None`` for anything else."""
    if type(value) in _PLAIN or isinstance(value, Array | MutableList | Set):
        return list(value)
    if type(value) is dict or isinstance(value, HashTable):
        return [part for pair in value.items() for part in pair]
    return [value.key, value.value] if isinstance(value, Option) else None


def _of_parts(value: Any, parts: list[Any]) -> Any:
    """A container of the same kind."""
    if type(value) is dict or isinstance(value, HashTable):
        return type(value)(zip(parts[::2], parts[1::2], strict=True))
    return Option(*parts) if isinstance(value, Option) else type(value)(tuple(parts))


def _leaves(items: Iterable[Any]) -> Iterable[Any]:
    for item in items:
        if (parts := _parts(item)) is not None:
            yield from _leaves(parts)
        elif isinstance(item, MatrixBase):
            yield from item.flat()
        else:
            yield item


def _rings(leaves: Iterable[Any]) -> list[PolyRing]:
    """List the different rings among values, as SymPy has them."""
    rings: list[PolyRing] = []
    for leaf in leaves:
        over = leaf if isinstance(leaf, PolynomialRing | Algebra | PolyRing) else getattr(leaf, "ring", None)
        over = over.sympy_ring if isinstance(over, PolynomialRing | Algebra) else over
        if isinstance(over, PolyRing) and over not in rings:
            rings.append(over)
    return rings


def _prepared(value: Any, over: PolyRing | None, typed: bool) -> Any:
    """The value with its SymPy expressions in a ring."""
    if (parts := _parts(value)) is not None:
        return _of_parts(value, [_prepared(part, over, typed) for part in parts])
    if isinstance(value, Expr) and value.free_symbols:
        element = _polynomial(value, over)
        return Typed(element.ring, element) if typed else element
    if isinstance(value, MatrixBase):
        return _matrix(value, over, typed)
    return value


def _polynomial(value: Expr, over: Any) -> PolyElement:
    if not all(atom.is_Rational for atom in value.atoms() if atom.is_number):
        _refuse_number(value)
    try:
        return over.from_expr(value)
    except (BasePolynomialError, ValueError, ZeroDivisionError) as reason:
        raise ConversionError(f"'{value}' is not a polynomial with coefficients in {over.domain}") from reason


def _refuse_number(value: Any) -> None:
    if value.has(Float):
        raise inexact(f"'{value}'")
    raise ConversionError(f"'{value}' is not a polynomial with rational coefficients")


def _matrix(value: MatrixBase, over: PolyRing | None, typed: bool) -> Matrix | Typed:
    if value.free_symbols:
        assert over is not None
        flat = [_polynomial(x, over) for x in value.flat()]
    else:
        flat = [number(x) for x in value.flat()]
    rows = [flat[i * value.cols : (i + 1) * value.cols] for i in range(value.rows)]
    if not value.free_symbols:
        return plain_matrix(IntegerRing() if all(isinstance(x, int) for x in flat) else QQ, rows, value.cols)
    if typed and over is not None:
        return Typed(over, tuple(map(tuple, rows)), value.cols)
    return plain_matrix(ring_of_sympy(over), rows, value.cols)


def number(value: Any) -> int | Fraction:
    """A rational number of SymPy.

    Raises
    ------
    ConversionError
        If it is none.
    """
    if not isinstance(value, Rational):
        _refuse_number(value)
    return int(value) if value.is_Integer else fraction(value)


@encode.register
def _(value: Typed) -> str:
    over = ring_of_sympy(value.ring)
    if isinstance(value.content, PolyElement):
        made = _element(value.content)
    else:
        rows = braces(braces(map(_element, row)) for row in value.content)
        made = f"map(R^{len(value.content)}, R^{value.columns}, {rows})"
    return f"(mbTyped({variable_list(over.variables)}, () -> {encode(over)}, (R, places) -> {made}))"


def _element(value: PolyElement) -> str:
    return f"mbPlaced(R, places, {sparse_terms(value)})"


@encode.register
def _(value: Expr) -> str:
    if value in (oo, -oo):
        return "(infinity)" if value == oo else "(-infinity)"
    if value is nan:
        return "indeterminate"
    if value in CONSTANTS.values():
        return f"(mbConstant {string(next(name for name, constant in CONSTANTS.items() if constant == value))})"
    return encode(number(value))
