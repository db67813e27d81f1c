"""Python objects bound to names in Macaulay2, and how those of SymPy, python-flint and NumPy are encoded.

The SymPy expressions among them are polynomials of one ring."""

import re
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any

import flint
from sympy import Expr, Float, MatrixBase, Rational, nan, oo
from sympy.polys.orderings import grevlex, grlex, lex
from sympy.polys.polyerrors import BasePolynomialError
from sympy.polys.rings import PolyRing

from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.algebra.numbers import fraction
from m2bridge.algebra.ring import PolynomialRing
from m2bridge.convert.macaulay2 import CONSTANTS
from m2bridge.errors import ConversionError
from m2bridge.workspace import values
from m2bridge.workspace.encode import (
    braces,
    encode,
    inexact,
    literal,
    polynomial,
    ring_of_sympy,
    scalar,
    sparse,
    string,
    terms,
    variable_parts,
)
from m2bridge.workspace.values.rings import ORDERS

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


_PLAIN = (list, tuple, set, frozenset)


class Code(str):
    """A value by the code that makes it."""


def in_one_ring(inputs: Iterable[Any]) -> list[Any]:
    """The values, with the SymPy expressions among them as polynomials."""
    listed = list(inputs)
    leaves: list[Any] = []
    for value in listed:
        _mapped(value, lambda leaf: leaves.extend(leaf.flat() if isinstance(leaf, MatrixBase) else [leaf]))
    names = {str(symbol) for leaf in leaves if isinstance(leaf, Expr) for symbol in leaf.free_symbols}
    rings = [ring for ring in _rings(leaves) if names <= set(map(str, ring.symbols))]
    typed = len(rings) != 1
    over = PolynomialRing(QQ, tuple(sorted(names))).sympy_ring if typed else rings[0]
    return [_mapped(value, lambda leaf: _prepared(leaf, over, typed)) for value in listed]


def _mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    """The value, with a function applied to all that is no container."""
    if type(value) is dict or isinstance(value, values.HashTable):
        return type(value)((_mapped(k, change), _mapped(v, change)) for k, v in value.items())
    if isinstance(value, values.Option):
        return values.Option(_mapped(value.key, change), _mapped(value.value, change))
    if type(value) in _PLAIN or isinstance(value, values.Array | values.MutableList | values.Set):
        return type(value)(tuple(_mapped(item, change) for item in value))
    return change(value)


def _rings(leaves: Iterable[Any]) -> list[PolyRing]:
    """List the different rings among values, as SymPy has them."""
    rings: list[PolyRing] = []
    for leaf in leaves:
        over = leaf if isinstance(leaf, PolynomialRing | values.Algebra | PolyRing) else getattr(leaf, "ring", None)
        over = over.sympy_ring if isinstance(over, PolynomialRing | values.Algebra) else over
        if isinstance(over, PolyRing) and over not in rings:
            rings.append(over)
    return rings


def _prepared(value: Any, over: PolyRing, typed: bool) -> Any:
    """The value, by code if it is an expression or a matrix of SymPy."""
    if isinstance(value, MatrixBase):
        if not value.free_symbols:
            return _number_matrix([[_number(x) for x in row] for row in value.tolist()], value.cols)
        rows = braces(braces(_element(x, over) for x in row) for row in value.tolist())
        return _placed(over, typed, f"map(R^{value.rows}, R^{value.cols}, {rows})")
    return _placed(over, typed, _element(value, over)) if isinstance(value, Expr) and value.free_symbols else value


def _placed(ring: PolyRing, typed: bool, made: str) -> Code:
    """Polynomials in a ring; if ``typed``, in the ring that has all these variables in sight, where there is one."""
    over = ring_of_sympy(ring)
    names = literal(variable_parts(over.variables)) if typed else "null"
    return Code(f"(mbTyped({names}, () -> {encode(over)}, (R, places) -> {made}))")


def _element(value: Expr, over: PolyRing) -> str:
    _check_exact(value)
    try:
        return f"mbPlaced(R, places, {sparse(terms(over.from_expr(value)))})"
    except (BasePolynomialError, ValueError, ZeroDivisionError) as reason:
        raise ConversionError(f"'{value}' is not a polynomial with coefficients in {over.domain}") from reason


def _check_exact(value: Expr) -> None:
    if value.has(Float):
        raise inexact(f"'{value}'")


def _number_matrix(rows: list[list[int | Fraction]], columns: int) -> values.Matrix:
    integers = all(isinstance(x, int) for row in rows for x in row)
    return _plain_matrix(values.IntegerRing() if integers else QQ, rows, columns)


def _plain_matrix(ring: Any, rows: list[list[int | Fraction]], columns: int) -> values.Matrix:
    target, source = (values.Module(ring, ((),) * count) for count in (len(rows), columns))
    return values.Matrix(target, source, tuple(map(tuple, rows)))


def _number(value: Expr) -> int | Fraction:
    _check_exact(value)
    if not isinstance(value, Rational):
        raise ConversionError(f"'{value}' is not a rational number")
    return int(value) if value.is_Integer else fraction(value)


_NAMED = {constant: f"(mbConstant {string(name)})" for name, constant in CONSTANTS.items()}
_NAMED |= {oo: "(infinity)", -oo: "(-infinity)", nan: "indeterminate"}


@encode.register(object)
def _(value: Any) -> str:
    """The value as a Macaulay2 expression.

    Raises
    ------
    ConversionError
        If it belongs to none of these libraries, or is not exact.
    """
    kind = type(value)
    if kind.__module__.partition(".")[0] == "numpy":
        return _numpy(value)
    if hasattr(value, "parent") and hasattr(value, "to_int"):  # SymPy's residues
        return f"(promote({int(value)}, {encode(CoefficientField(int(value.mod)))}))"
    if kind.__name__.startswith(("arb", "acb", "arf")):
        raise inexact(f"a {kind.__name__}")
    raise ConversionError(
        f"a {kind.__module__}.{kind.__name__} has no counterpart in Macaulay2; give numbers, text, lists, tuples, "
        "dicts, sets, polynomials and matrices of SymPy or python-flint, or values of m2bridge"
    )


def _numpy(value: Any) -> str:
    if value.dtype.kind in "fc":
        raise inexact(f"an array of {value.dtype}")
    if value.dtype.kind not in "iubO":
        raise ConversionError(f"an array of {value.dtype} has no counterpart in Macaulay2")
    listed = value.tolist()
    if value.ndim != 2 or value.dtype.kind == "b":
        return encode(listed)
    if not all(isinstance(x, int | Fraction) for row in listed for x in row):
        raise ConversionError("an array of objects has to hold integers or fractions")
    return encode(_number_matrix(listed, value.shape[1]))


def _flint_number(value: Any) -> int | Fraction:
    return fraction(value) if isinstance(value, flint.fmpq) else int(value)


def _ground(value: Any) -> values.IntegerRing | CoefficientField:
    """The ring of the coefficients or entries of one of FLINT's values."""
    name = type(value).__name__
    if name.startswith("fmpq"):
        return QQ
    if name.startswith("fmpz") and not name.startswith("fmpz_mod"):
        return values.IntegerRing()
    return CoefficientField(int(value.modulus() if hasattr(value, "modulus") else value.context().modulus()))


def _flint_matrix(value: Any) -> str:
    rows = [[_flint_number(x) for x in row] for row in value.tolist()]
    return encode(_plain_matrix(_ground(value), rows, value.ncols()))


_ORDERS = {"Ordering.lex": lex, "Ordering.deglex": grlex, "Ordering.degrevlex": grevlex}


def _flint_polynomial(value: Any) -> str:
    """A polynomial; those in one variable, which have no name for it, in x."""
    if type(value).__name__.endswith("mpoly"):
        context = value.context()
        names, order = tuple(map(str, context.names())), _ORDERS[str(context.ordering())]
        pairs = value.to_dict().items()
    else:
        names, order = ("x",), grevlex
        pairs = (((i,), c) for i, c in enumerate(value.coeffs()) if c)
    over = values.Algebra(_ground(value), names, order=ORDERS[order](len(names)))
    return polynomial(over, ((tuple(map(int, exponents)), scalar(_flint_number(c))) for exponents, c in pairs))


def _galois(value: flint.fq_default_poly) -> str:
    """A polynomial over a field GF(q), in the variable x; the field with FLINT's modulus and name of the generator."""
    context = value.context().base_field()
    ground = CoefficientField(int(context.characteristic()))
    below = PolynomialRing(ground, (str(context.gen()),))
    relation = below.sympy_ring.from_dict(dict(_terms(ground, context.modulus().coeffs())))
    quotient = values.QuotientRing(below, (relation,))
    field = values.GaloisField(quotient, values.RingElement(quotient, (((1,), ground.domain(1)),)))
    coefficients = (values.RingElement(field, _terms(ground, c.to_list())) for c in value.coeffs())
    pairs = (((i,), encode(coefficient)) for i, coefficient in enumerate(coefficients) if coefficient)
    return polynomial(values.Algebra(field, ("x",)), pairs)


def _terms(ground: CoefficientField, residues: Iterable[Any]) -> tuple[tuple[tuple[int, ...], Any], ...]:
    """The terms of a polynomial in one variable, by its coefficients, the constant one first."""
    return tuple(((i,), c) for i, c in enumerate(ground.domain(int(residue)) for residue in residues) if c)


def _refuse_element(value: Any) -> str:
    name = type(value).__name__
    raise ConversionError(f"a flint.{name} does not say of which ring it is: give a flint.nmod, or a polynomial")


_ENCODERS: dict[Any, Callable[[Any], str]] = {
    Code: str,
    Expr: lambda value: _NAMED[value] if value in _NAMED else encode(_number(value)),
    flint.fmpz | flint.fmpq: lambda value: encode(_flint_number(value)),
    flint.nmod: lambda value: f"(promote({int(value)}, {encode(_ground(value))}))",
    flint.fmpz_mod | flint.fq_default: _refuse_element,
    flint.fmpz_mat | flint.fmpq_mat | flint.nmod_mat | flint.fmpz_mod_mat: _flint_matrix,
    flint.fmpz_poly | flint.fmpq_poly | flint.nmod_poly | flint.fmpz_mod_poly: _flint_polynomial,
    flint.fmpz_mpoly | flint.fmpq_mpoly | flint.nmod_mpoly | flint.fmpz_mod_mpoly: _flint_polynomial,
    flint.fq_default_poly: _galois,
}
for _kinds, _encoder in _ENCODERS.items():
    encode.register(_kinds, _encoder)
