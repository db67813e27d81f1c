"""Python objects bound to names in Macaulay2, and how those of SymPy, python-flint and NumPy are encoded.

The SymPy expressions among them are polynomials of one ring."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import Any

import flint
from sympy import Expr, Float, MatrixBase, Rational, nan, oo
from sympy.polys.orderings import grevlex, grlex, lex
from sympy.polys.polyerrors import BasePolynomialError
from sympy.polys.rings import PolyElement, PolyRing

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
    plain_matrix,
    polynomial,
    ring_of_sympy,
    scalar,
    sparse,
    string,
    terms,
    variable_parts,
)
from m2bridge.workspace.values.rings import polynomial_ring

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


@dataclass(frozen=True)
class Code:
    """A value by the code that makes it."""

    text: str


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
    """The value, in a ring if it is an expression or a matrix of SymPy."""
    if isinstance(value, MatrixBase):
        return _matrix(value, over, typed)
    if not isinstance(value, Expr) or not value.free_symbols:
        return value
    element = _polynomial(value, over)
    return _typed(over, _element(element)) if typed else element


def _polynomial(value: Expr, over: PolyRing) -> PolyElement:
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


def _matrix(value: MatrixBase, over: PolyRing, typed: bool) -> values.Matrix | Code:
    if not value.free_symbols:
        return _number_matrix([[number(x) for x in row] for row in value.tolist()], value.cols)
    rows = [[_polynomial(x, over) for x in row] for row in value.tolist()]
    if not typed:
        return plain_matrix(ring_of_sympy(over), rows, value.cols)
    return _typed(over, f"map(R^{value.rows}, R^{value.cols}, {braces(braces(map(_element, row)) for row in rows)})")


def _number_matrix(rows: list[list[int | Fraction]], columns: int) -> values.Matrix:
    integers = all(isinstance(x, int) for row in rows for x in row)
    return plain_matrix(values.IntegerRing() if integers else QQ, rows, columns)


def _typed(ring: PolyRing, made: str) -> Code:
    """Polynomials as if typed: in the ring that has all these variables in sight, else in one that is made."""
    over = ring_of_sympy(ring)
    return Code(f"(mbTyped({literal(variable_parts(over.variables))}, () -> {encode(over)}, (R, places) -> {made}))")


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


def _element(value: PolyElement) -> str:
    return f"mbPlaced(R, places, {sparse(terms(value))})"


@encode.register
def _(value: Code) -> str:
    return value.text


@encode.register
def _(value: Expr) -> str:
    if value in (oo, -oo):
        return "(infinity)" if value == oo else "(-infinity)"
    if value is nan:
        return "indeterminate"
    if value in CONSTANTS.values():
        return f"(mbConstant {string(next(name for name, constant in CONSTANTS.items() if constant == value))})"
    return encode(number(value))


_ORDERS = {"Ordering.lex": lex, "Ordering.deglex": grlex, "Ordering.degrevlex": grevlex}


@encode.register(object)
def _(value: Any) -> str:
    """The value as a Macaulay2 expression.

    Raises
    ------
    ConversionError
        If it belongs to none of these libraries, or is not exact.
    """
    kind = type(value)
    library = kind.__module__.partition(".")[0]
    if library == "numpy":
        return _numpy(value)
    if library == "flint":
        return _flint(value)
    if hasattr(value, "parent") and hasattr(value, "to_int"):  # SymPy's residues
        return f"(promote({int(value)}, {encode(CoefficientField(int(value.mod)))}))"
    raise ConversionError(
        f"a {kind.__module__}.{kind.__name__} has no counterpart in Macaulay2; give numbers, text, lists, tuples, "
        "dicts, sets, polynomials and matrices of SymPy or python-flint, or values of m2bridge"
    )


def _numpy(value: Any) -> str:
    if value.dtype.kind not in "iubO":
        raise (
            inexact(f"an array of {value.dtype}")
            if value.dtype.kind in "fc"
            else ConversionError(f"an array of {value.dtype} has no counterpart in Macaulay2")
        )
    listed = value.tolist()
    if value.ndim != 2 or value.dtype.kind == "b":
        return encode(listed)
    if not all(isinstance(x, int | Fraction) for row in listed for x in row):
        raise ConversionError("an array of objects has to hold integers or fractions")
    return encode(_number_matrix(listed, value.shape[1]))


def _flint(value: Any) -> str:
    name = type(value).__name__
    if isinstance(value, flint.fmpz | flint.fmpq):
        return encode(_flint_number(value))
    if name.startswith("fq_default"):
        return _galois(value)
    if isinstance(value, flint.nmod):
        return f"(promote({int(value)}, {encode(_ground(value))}))"
    if isinstance(value, flint.fmpz_mod):
        raise ConversionError("a flint.fmpz_mod does not say its modulus: give a flint.nmod")
    if name in ("fmpz_mat", "fmpq_mat", "nmod_mat", "fmpz_mod_mat"):
        rows = [[_flint_number(x) for x in row] for row in value.tolist()]
        return encode(plain_matrix(_ground(value), rows, value.ncols()))
    if name in ("fmpz_poly", "fmpq_poly", "nmod_poly", "fmpz_mod_poly"):
        return _flint_polynomial(value, ("x",), grevlex, (((i,), c) for i, c in enumerate(value.coeffs()) if c))
    if name in ("fmpz_mpoly", "fmpq_mpoly", "nmod_mpoly", "fmpz_mod_mpoly"):
        context = value.context()
        order = _ORDERS[str(context.ordering())]
        return _flint_polynomial(value, tuple(map(str, context.names())), order, value.to_dict().items())
    if name.startswith(("arb", "acb", "arf")):
        raise inexact(f"a {name}")
    raise ConversionError(f"a flint.{name} has no counterpart in Macaulay2")


def _flint_number(value: Any) -> int | Fraction:
    return fraction(value) if isinstance(value, flint.fmpq) else int(value)


def _ground(value: Any) -> Any:
    name = type(value).__name__
    if name.startswith("fmpz") and not name.startswith("fmpz_mod"):
        return values.IntegerRing()
    if name.startswith("fmpq"):
        return QQ
    modulus = value.modulus() if hasattr(value, "modulus") else value.context().modulus()
    return CoefficientField(int(modulus))


def _flint_polynomial(value: Any, names: tuple[str, ...], order: Any, terms: Iterable[tuple[Any, Any]]) -> str:
    over = polynomial_ring(_ground(value), names, order)
    return polynomial(over, ((tuple(map(int, exponents)), scalar(_flint_number(c))) for exponents, c in terms))


def _galois(value: Any) -> str:
    """A polynomial over a field GF(q), in the variable x.

    Raises
    ------
    ConversionError
        If it is an element of the field, which does not say of which field.
    """
    if not isinstance(value, flint.fq_default_poly):
        raise ConversionError("a flint.fq_default does not say which field it is of: give a polynomial over the field")
    field = _field(value.context().base_field())
    ground = CoefficientField(field.characteristic)
    elements = ((i, values.RingElement(field, _terms_of_residue(ground, c))) for i, c in enumerate(value.coeffs()) if c)
    return polynomial(values.Algebra(field, ("x",)), (((i,), encode(element)) for i, element in elements))


def _field(context: Any) -> values.GaloisField:
    """The field with flint's modulus and name of the generator."""
    ground = CoefficientField(int(context.characteristic()))
    below = PolynomialRing(ground, (str(context.gen()),))
    domain = below.sympy_ring.domain
    coefficients = context.modulus().coeffs()
    relation = below.sympy_ring.from_dict({(i,): domain(int(c)) for i, c in enumerate(coefficients) if int(c)})
    quotient = values.QuotientRing(below, (relation,))
    return values.GaloisField(quotient, values.RingElement(quotient, _terms_of_residue(ground, _primitive(context))))


def _primitive(context: Any) -> Any:
    """The generator, if its powers are all elements but zero; else the first other element of which this is true."""
    order, p, a = int(context.order()) - 1, int(context.characteristic()), context.gen()
    primes = [int(prime) for prime, _ in flint.fmpz(order).factor()]
    others = (sum((n // p**i % p * a**i for i in range(context.degree())), context.zero()) for n in range(1, order + 1))
    return next(x for x in chain([a], others) if all(x ** (order // prime) != 1 for prime in primes))


def _terms_of_residue(ground: CoefficientField, value: Any) -> tuple[tuple[tuple[int, ...], Any], ...]:
    """The terms by powers of the generator."""
    residues = enumerate(map(int, value.to_list()))
    return tuple(((i,), ground.domain(c)) for i, c in reversed(list(residues)) if c)
