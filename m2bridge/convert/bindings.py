"""The inputs of a call, bound to names; expressions of SymPy are polynomials of one ring.

An expression does not name its ring. All expressions of a call are of one ring: the only ring among
the other inputs that has all their variables; else the ring in the workspace whose variables these
are at that moment, or a new one over QQ. In the second case the names are said to be typed, since
they mean what they would mean if a person typed them.

Inputs may be containers, as lists and tables; their leaves are the values in them that are no
containers. What has no counterpart in Macaulay2, is not exact, or is not a polynomial or rational
function over the ring, is a ConversionError.

``ring`` is the ring as SymPy has it. In code, R is the ring in Macaulay2, and ``places`` are the
places of the variables of ``ring`` among its own: ``mbTyped`` of m2scripts/values.m2 chooses R and
calls a function of both, and ``mbPlaced`` makes an element of R of terms, each a coefficient, and
the place of each variable in ``ring`` with its exponent.
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
    field_code,
    list_code,
    ring_of_polynomials,
    sparse_terms,
    string,
    terms,
    variable_parts,
)
from m2bridge.convert.other_libraries import number, number_matrix
from m2bridge.convert.values.inexact import not_exact
from m2bridge.errors import ConversionError

_SEQUENCES = (list, set, frozenset, values.Array, values.MutableList, values.Set)
"""Containers in which expressions are looked for; tables and options are containers too."""

_QUOTIENT_ADVICE = (
    "; give the numerator and the denominator, and divide in Macaulay2: "
    "f, g = sympy.fraction(sympy.together(…)), then m2.value('f/g', f=f, g=g)"
)


def bindings(inputs: Mapping[str, Any]) -> str:
    """Macaulay2 code that gives the values of ``inputs`` to their names, after which the variables
    of their rings can be used by name; empty without inputs.
    """
    if not inputs:
        return ""
    name_list = list_code([string(name) for name in inputs])
    value_list = list_code([encode(value) for value in in_one_ring(inputs.values())])
    return f"mbDefine({name_list}, {value_list});\n"


def in_one_ring(inputs: Iterable[Any]) -> list[Any]:
    """The values, with the SymPy expressions in them as polynomials of one ring."""
    input_list = list(inputs)
    leaves = _leaves(input_list)
    names: set[str] = set()  # of the variables in expressions
    for leaf in leaves:
        if isinstance(leaf, Expr):
            if leaf.has(Float):
                raise not_exact(f"'{leaf}'")
            names.update(map(symbol_name, variables_of(leaf)))
    # the rings of other inputs that have all variables of the expressions
    candidates = [ring for ring in _rings(leaves) if names <= set(map(str, ring.symbols))]
    if len(candidates) == 1:
        ring = candidates[0]
        is_typed = False
    else:  # this new ring is used if the workspace has none with these variables
        ring = PolynomialRing(QQ, tuple(sorted(names))).sympy_ring
        is_typed = True

    def in_ring(leaf: Any) -> Any:
        """The value to encode for a leaf: an expression or matrix of SymPy with variables becomes
        the code that makes it, a matrix without variables one over ZZ or QQ, and other values stay.
        """
        if isinstance(leaf, MatrixBase):
            if not leaf.free_symbols:
                rows = [[number(entry) for entry in row] for row in leaf.tolist()]
                return number_matrix(rows, leaf.cols)
            entry_codes = [[_element_code(entry, ring) for entry in row] for row in leaf.tolist()]
            row_codes = map(braces, entry_codes)
            code = f"map(R^{leaf.rows}, R^{leaf.cols}, {braces(row_codes)})"
            return _code_in_ring(ring, is_typed, code)
        if isinstance(leaf, Expr) and leaf.free_symbols:
            return _code_in_ring(ring, is_typed, _quotient_code(leaf, ring))
        return leaf

    return [_map_leaves(value, in_ring) for value in input_list]


def _leaves(listed: list[Any]) -> list[Any]:
    """Everything in the values that is not a container; of a matrix of SymPy its entries."""
    leaves: list[Any] = []

    def collect(leaf: Any) -> Any:
        """Add a leaf, or its entries, to ``leaves``; return it, for ``_map_leaves``, unchanged."""
        if isinstance(leaf, MatrixBase):
            leaves.extend(leaf.flat())
        else:
            leaves.append(leaf)
        return leaf

    for value in listed:
        _map_leaves(value, collect)
    return leaves


def _map_leaves(value: Any, change: Callable[[Any], Any]) -> Any:
    """The value, with ``change`` applied to its leaves, also to keys of tables; containers are
    copied, in their own class.
    """
    if type(value) is dict or isinstance(value, values.HashTable):
        pairs = [
            (_map_leaves(key, change), _map_leaves(entry, change)) for key, entry in value.items()
        ]
        return type(value)(pairs)
    if isinstance(value, values.Option):
        return values.Option(_map_leaves(value.key, change), _map_leaves(value.value, change))
    if isinstance(value, tuple):  # also the components of an ideal
        return tuple(_map_leaves(item, change) for item in value)
    if type(value) in _SEQUENCES:
        return type(value)(tuple(_map_leaves(item, change) for item in value))
    return change(value)


def _rings(leaves: Iterable[Any]) -> list[PolyRing]:
    """The different rings of SymPy or m2bridge that values are, or are elements of, in their order,
    as SymPy's rings.
    """
    distinct_rings: dict[PolyRing, None] = {}
    for leaf in leaves:
        ring = getattr(leaf, "ring", leaf)  # of an element its ring, else the value itself
        ring = getattr(ring, "sympy_ring", ring)
        if isinstance(ring, PolyRing):
            distinct_rings[ring] = None
    return list(distinct_rings)


def _code_in_ring(ring: PolyRing, is_typed: bool, code: str) -> Code:
    """The Macaulay2 expression ``(mbTyped(names, () -> ring, (R, places) -> code))``: for the
    variables x and y_1 ``names`` are ``{{"x"},{"y",1}}`` if they are typed, and R is the
    workspace's ring with these variables, where it has one; else they are ``null``, and R is
    ``ring``.
    """
    algebra = ring_of_polynomials(ring)
    # each variable as a list of its symbol and its indices
    names = field_code(variable_parts(algebra.variables)) if is_typed else "null"
    return Code(f"(mbTyped({names}, () -> {encode(algebra)}, (R, places) -> {code}))")


def _quotient_code(value: Expr, ring: PolyRing) -> str:
    """The code of a polynomial, or of a rational function as a quotient of two polynomials."""
    # what is not a rational function either is refused by _element_code
    if value.is_polynomial() or not value.is_rational_function():
        return _element_code(value, ring)
    numerator, denominator = fraction(together(value))
    if not denominator.free_symbols:
        return _element_code(value, ring)
    return f"({_element_code(numerator, ring)} / {_element_code(denominator, ring)})"


def _element_code(value: Expr, ring: PolyRing) -> str:
    """The code of an expression as a polynomial of R: of x**2 - 3*y in the variables x, y it is
    ``mbPlaced(R, places, {{1,0,2},{-3,1,1}})``.
    """
    try:
        polynomial = ring.from_expr(in_plain_symbols(value))
    except (BasePolynomialError, ValueError, ZeroDivisionError) as reason:
        advice = _QUOTIENT_ADVICE if value.is_rational_function(*value.free_symbols) else ""
        raise ConversionError(
            f"'{value}' is not a polynomial with coefficients in {ring.domain}{advice}"
        ) from reason
    return f"mbPlaced(R, places, {sparse_terms(terms(polynomial))})"
