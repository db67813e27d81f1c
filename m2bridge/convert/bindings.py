"""The inputs of a call, bound to names; expressions of SymPy are polynomials of one ring.

An expression does not name its ring. All expressions of a call are of one ring: the only ring among
the other inputs that has all their variables; else the ring in the workspace whose variables these
are at that moment, or a new one over QQ.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from sympy import Expr, Float, MatrixBase, fraction, together
from sympy.polys.polyerrors import BasePolynomialError
from sympy.polys.rings import PolyRing

from m2bridge.algebra.expressions import in_plain_symbols, symbol_name, variables_of
from m2bridge.algebra.field import QQ
from m2bridge.algebra.ring import PolynomialRing
from m2bridge.convert import values
from m2bridge.convert.encode import (
    Code,
    braces,
    encode,
    grouped,
    literal,
    sparse,
    string,
    terms,
    variable_parts,
)
from m2bridge.convert.other_libraries import number, number_matrix
from m2bridge.convert.values.inexact import not_exact
from m2bridge.convert.values.rings import ring_of_sympy
from m2bridge.errors import ConversionError

_SEQUENCES = (list, tuple, set, frozenset, values.Array, values.MutableList, values.Set)
"""Containers in which expressions are looked for; tables and options are containers too."""

_QUOTIENT_ADVICE = (
    "; give the numerator and the denominator, and divide in Macaulay2: "
    "f, g = sympy.fraction(sympy.together(…)), then m2.value('f/g', f=f, g=g)"
)


def bindings(inputs: Mapping[str, Any]) -> str:
    """Macaulay2 code that gives values to names; variables of their rings can be used by their
    names afterwards.

    Raises
    ------
    ConversionError
        If a value has no counterpart in Macaulay2.
    """
    if not inputs:
        return ""
    names = grouped([string(name) for name in inputs])
    made = grouped([encode(value) for value in in_one_ring(inputs.values())])
    return f"mbDefine({names}, {made});\n"


def in_one_ring(inputs: Iterable[Any]) -> list[Any]:
    """The values, with the SymPy expressions among them as polynomials."""
    listed = list(inputs)
    leaves = _leaves(listed)
    names: set[str] = set()
    for leaf in leaves:
        if isinstance(leaf, Expr):
            if leaf.has(Float):
                raise not_exact(f"'{leaf}'")
            names.update(map(symbol_name, variables_of(leaf)))
    candidates = [ring for ring in _rings(leaves) if names <= set(map(str, ring.symbols))]
    if len(candidates) == 1:
        over = candidates[0]
        typed = False
    else:  # no ring, or more than one, could be meant: names are read as if they were typed
        over = PolynomialRing(QQ, tuple(sorted(names))).sympy_ring
        typed = True

    def prepared(leaf: Any) -> Any:
        return _prepared(leaf, over, typed)

    return [_mapped(value, prepared) for value in listed]


def _leaves(listed: list[Any]) -> list[Any]:
    """Everything that is not a container; a matrix of SymPy by its entries."""
    found: list[Any] = []

    def note(leaf: Any) -> Any:
        """Write down a leaf, or the entries of a matrix, and leave it as it is."""
        if isinstance(leaf, MatrixBase):
            found.extend(leaf.flat())
        else:
            found.append(leaf)
        return leaf

    for value in listed:
        _mapped(value, note)
    return found


def _mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    """The value, with a function applied to everything in it that is not a container."""
    if type(value) is dict or isinstance(value, values.HashTable):
        pairs = [(_mapped(key, change), _mapped(found, change)) for key, found in value.items()]
        return type(value)(pairs)
    if isinstance(value, values.Option):
        return values.Option(_mapped(value.key, change), _mapped(value.value, change))
    if type(value) in _SEQUENCES:
        return type(value)(tuple(_mapped(item, change) for item in value))
    return change(value)


def _rings(leaves: Iterable[Any]) -> list[PolyRing]:
    """List the different rings among values, as SymPy has them."""
    found: dict[PolyRing, None] = {}
    for leaf in leaves:
        ring = getattr(leaf, "ring", leaf)
        ring = getattr(ring, "sympy_ring", ring)
        if isinstance(ring, PolyRing):
            found[ring] = None
    return list(found)


def _prepared(value: Any, over: PolyRing, typed: bool) -> Any:
    """The value, by code if it is an expression or a matrix of SymPy with variables."""
    if isinstance(value, MatrixBase):
        if not value.free_symbols:
            rows = [[number(entry) for entry in row] for row in value.tolist()]
            return number_matrix(rows, value.cols)
        written = [_row(row, over) for row in value.tolist()]
        made = f"map(R^{value.rows}, R^{value.cols}, {braces(written)})"
        return _placed(over, typed, made)
    if isinstance(value, Expr) and value.free_symbols:
        return _placed(over, typed, _quotient(value, over))
    return value


def _row(entries: list[Expr], over: PolyRing) -> str:
    return braces([_element(entry, over) for entry in entries])


def _placed(ring: PolyRing, typed: bool, made: str) -> Code:
    """Polynomials in a ring; if ``typed``, in the workspace's ring with these variables, if any."""
    over = ring_of_sympy(ring)
    names = literal(variable_parts(over.variables)) if typed else "null"
    return Code(f"(mbTyped({names}, () -> {encode(over)}, (R, places) -> {made}))")


def _quotient(value: Expr, over: PolyRing) -> str:
    """A polynomial, or a rational function such as a Hilbert series as a quotient of two."""
    if value.is_polynomial() or not value.is_rational_function():
        return _element(value, over)
    above, below = fraction(together(value))
    if not below.free_symbols:
        return _element(value, over)
    return f"({_element(above, over)} / {_element(below, over)})"


def _element(value: Expr, over: PolyRing) -> str:
    try:
        polynomial = over.from_expr(in_plain_symbols(value))
    except (BasePolynomialError, ValueError, ZeroDivisionError) as reason:
        advice = _QUOTIENT_ADVICE if value.is_rational_function(*value.free_symbols) else ""
        raise ConversionError(
            f"'{value}' is not a polynomial with coefficients in {over.domain}{advice}"
        ) from reason
    return f"mbPlaced(R, places, {sparse(terms(polynomial))})"
