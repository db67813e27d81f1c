"""Python to Macaulay2: values as calls of the functions in ``m2scripts/values.m2``, bound to names.

Nothing is evaluated as text: integers, strings and lists are literals, all else is made by functions whose names nobody
can hide. The classes are listed in docs/values.md. Most of :mod:`m2bridge.workspace.values` are written as a call of
the function with the name of the class, on its fields; others have an encoder of their own. The SymPy expressions among
the values of a call are polynomials of one ring."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from fractions import Fraction
from functools import singledispatch
from itertools import compress, count
from typing import Any

import flint
from sympy import Expr, Float, MatrixBase, Poly, Rational, nan, oo
from sympy.polys.fields import FracElement
from sympy.polys.orderings import grevlex, grlex, lex
from sympy.polys.polyerrors import BasePolynomialError
from sympy.polys.rings import PolyElement, PolyRing

from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.algebra.numbers import fraction
from m2bridge.algebra.polynomial_map import PolynomialMap
from m2bridge.algebra.ring import GeneratingSet, PolynomialRing
from m2bridge.convert import values
from m2bridge.convert.macaulay2 import CONSTANTS, coefficient_writer, escaped, rational
from m2bridge.convert.values.inexact import not_exact
from m2bridge.convert.values.rings import ORDERS, ring_of_domain, ring_of_sympy
from m2bridge.engine.session import quoted
from m2bridge.errors import ConversionError
from m2bridge.system import decimal

_GROUP = 1000


@singledispatch
def encode(value: Any) -> str:
    """The value as a Macaulay2 expression.

    Raises
    ------
    ConversionError
        If it has no counterpart, or is not exact.
    """
    kind = type(value)
    if isinstance(value, float | complex) or kind.__name__.startswith(("arb", "acb", "arf")):
        raise not_exact(f"{value!r:.60} ({kind.__name__})")
    if kind.__module__.partition(".")[0] == "numpy":
        return _numpy(value)
    if hasattr(value, "parent") and hasattr(value, "to_int"):  # SymPy's residues
        return f"(promote({int(value)}, {encode(CoefficientField(int(value.mod)))}))"
    raise ConversionError(
        f"a {kind.__module__}.{kind.__name__} has no counterpart in Macaulay2; give numbers, text, lists, tuples, "
        "dicts, sets, polynomials and matrices of SymPy or python-flint, or values of m2bridge"
    )


def string(text: str) -> str:
    """A string of Macaulay2; its bytes are those of the text in UTF-8.

    Raises
    ------
    ConversionError
        If the text has half a surrogate pair that stands for no byte.
    """
    try:
        return quoted(text.encode("utf-8", "surrogateescape"))
    except UnicodeEncodeError as reason:
        raise ConversionError(f"text with half a surrogate pair is no UTF-8: {text!a:.60}") from reason


def braces(items: Any) -> str:
    """A list."""
    return "{" + ",".join(items) + "}"


def literal(value: Any) -> str:
    """A text, a truth value, ``None``, an element of a ring that is known, or a list of such."""
    if isinstance(value, tuple | list):
        return grouped([literal(item) for item in value])
    return encode(value) if value is None or isinstance(value, str | bool) else scalar(value)


def items(listed: Iterable[Any]) -> str:
    """A list of values."""
    return grouped([encode(value) for value in listed])


def grouped(items: list[str]) -> str:
    """A list of any length; Macaulay2 takes no literal with very many items."""
    if len(items) <= _GROUP:
        return braces(items)
    size = max(_GROUP, -(-len(items) // _GROUP))
    return f"mbTogether {braces(grouped(items[start : start + size]) for start in range(0, len(items), size))}"


def scalar(value: Any) -> str:
    """An element of a ring, or a number that is one."""
    if hasattr(value, "to_int") or isinstance(value, flint.nmod):
        return str(int(value))
    if hasattr(value, "numerator") and not callable(value.numerator) and not isinstance(value, values.RingFraction):
        return rational(value)
    return encode(value)


def _table(value: Any) -> str:
    pairs = grouped([f"({encode(k)},{encode(v)})" for k, v in value.items()])
    kind = type(value).__name__ if isinstance(value, values.HashTable) else "HashTable"
    return f"(mbHashTable({string(kind)}, {pairs}))"


def _call(value: Any) -> str:
    """The function that has the name of the class, with the fields."""
    parts = {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, values.Algebra):
        parts["variables"] = variable_parts(value.variables)
    return f"(mb{type(value).__name__}({', '.join(map(literal, parts.values()))}))"


def _complex(value: values.ComplexNumber) -> str:
    specials = {value.real.special, value.imaginary.special}
    if specials & {"inf", "-inf"}:  # both parts are infinite then in Macaulay2 1.26
        raise ConversionError("an infinite complex number has no parts in Macaulay2: give its parts as real numbers")
    if "nan" in specials and len(specials) > 1:  # both parts are NaN then
        raise ConversionError("in Macaulay2 both parts of a complex number are NaN, or none: give them as real numbers")
    return _call(value)


SYMBOL = re.compile(r"[^\W\d_][^\W_]*")
"""A symbol of Macaulay2."""


def _kept(value: Any) -> str:
    """A ring that is made once; equal ones are written in the same way."""
    code = _call(value)
    return f"(mbGiven({string(code)}, () -> {code}))"


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


_MANY = 200
"""Terms from which on a polynomial is written for speed."""
_SHIFT = 32
"""From numbers to characters, which are none of those that control."""
_CHARACTERS = 0xD800 - _SHIFT
"""The number of characters that follow without a gap."""

Term = tuple[tuple[int, ...], str]
Terms = Iterable[Term]


def polynomial(over: Any, terms: Terms) -> str:
    """An element of a ring; large ones with numbers for coefficients in a form that Macaulay2 reads faster."""
    listed = list(terms)
    plain = isinstance(over, values.Algebra) and isinstance(over.coefficients, values.IntegerRing | CoefficientField)
    if plain and len(listed) >= _MANY:
        factors = [_factors(exponents) for exponents, _ in listed]
        powers = sorted({power for monomial in factors for power in monomial})
        if len(powers) <= _CHARACTERS:
            return _packed(over, powers, factors, [coefficient for _, coefficient in listed])
    return f"mbSparse({encode(over)}, {sparse(sorted(listed))})"


def _factors(exponents: tuple[int, ...]) -> list[tuple[int, int]]:
    """The variables of a monomial with their exponents; most exponents are zero."""
    return list(zip(compress(count(), exponents), filter(None, exponents), strict=True))


def _packed(over: Any, powers: list[tuple[int, int]], factors: list[list[tuple[int, int]]], numbers: list[str]) -> str:
    """A character for each power of a variable, and a line of them for each monomial.

    Monomials are sorted by degree, then as strings from the last variable on. This is the graded reverse lexicographic
    order, in which sums are fastest: Macaulay2 finds one part before the other. No other order is wrong.
    """
    characters = {power: chr(number + _SHIFT) for number, power in enumerate(powers)}
    lines = ["".join([characters[power] for power in reversed(monomial)]) for monomial in factors]
    degrees = [-sum([exponent for _, exponent in monomial]) for monomial in factors]
    terms = sorted(zip(degrees, lines, numbers, strict=True))
    text = "\n".join([line[::-1] for _, line, _ in terms]).replace("\\", "\\\\").replace('"', '\\"')
    table = grouped([f"({variable},{exponent})" for variable, exponent in powers])
    return f'mbPolynomial({encode(over)}, {grouped([number for _, _, number in terms])}, {table}, "{text}")'


def sparse(terms: Terms) -> str:
    """The list of terms ``{coefficient, variable, exponent, ..}`` of a polynomial."""
    powers = (("".join([f",{place},{e}" for place, e in _factors(m)]), coefficient) for m, coefficient in terms)
    return grouped([f"{{{coefficient}{factors}}}" for factors, coefficient in powers])


def terms(value: PolyElement) -> list[Term]:
    """The terms of a polynomial, with their coefficients written."""
    domain = value.ring.domain
    numbers = domain.is_FiniteField or domain.is_ZZ or domain.is_QQ
    number = coefficient_writer(domain) if numbers else encode
    return [(monomial, number(coefficient)) for monomial, coefficient in value.items()]


class Code(str):
    """A value by the code that makes it."""


def _new(kind: str, parts: Iterable[Any]) -> str:
    return f"(mbNew({string(kind)}, {items(parts)}))"


_NAMED = {constant: f"(mbConstant {string(name)})" for name, constant in CONSTANTS.items()}
_NAMED |= {oo: "(infinity)", -oo: "(-infinity)", nan: "indeterminate"}


def _numpy(value: Any) -> str:
    if value.dtype.kind in "fc":
        raise not_exact(f"an array of {value.dtype}")
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
    if "mod" not in name:
        return QQ if name.startswith("fmpq") else values.IntegerRing()
    return CoefficientField(int(value.modulus() if hasattr(value, "modulus") else value.context().modulus()))


def _flint_matrix(value: Any) -> str:
    rows = [[_flint_number(x) for x in row] for row in value.tolist()]
    return encode(_number_matrix(rows, value.ncols(), _ground(value)))


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
    type(None): lambda value: "null",
    bool: lambda value: "true" if value else "false",
    int: lambda value: f"({decimal(value)})",
    Fraction: lambda value: f"(({decimal(value.numerator)})/{decimal(value.denominator)})",
    str: lambda value: string(value),
    list: lambda value: items(value),
    tuple: lambda value: f"(toSequence {items(value)})",
    set | frozenset | values.Set: lambda value: f"(set {items(value)})",
    dict | values.HashTable: _table,
    values.Option: lambda value: f"({encode(value.key)} => {encode(value.value)})",
    values.Array | values.MutableList | values.Partition: lambda value: _new(type(value).__name__, value),
    values.Expression: lambda value: _new(value.kind, value.parts),
    values.Factorization: lambda value: f"(mbFactorization {items(value.factors)})",
    values.Symbol: lambda value: f"(mbSymbol({string(value.name)}, {encode(value.index)}))",
    values.ComplexNumber: _complex,
    values.RingElement: lambda value: polynomial(value.ring, ((m, scalar(c)) for m, c in value.terms)),
    CoefficientField | values.IntegerRing | values.RealField | values.ComplexField: _call,
    values.Algebra | values.QuotientRing | values.GaloisField | values.FractionField: _kept,
    values.Real | values.RealInterval | values.RingFraction | values.Net | values.Reference: _call,
    values.Module | values.Matrix | values.MutableMatrix | values.Vector | values.GroebnerBasis | values.RingMap: _call,
    values.GeneralIdeal | values.MonomialIdeal | values.Complex | values.ComplexMap: _call,
    values.BettiTable | values.HilbertPolynomial: _call,
    GeneratingSet: lambda value: encode(values.GeneralIdeal(value.ring, value.generators)),
    PolynomialRing: lambda value: encode(values.Algebra(value.field, value.variables)),
    PolynomialMap: lambda value: encode(values.RingMap(value.source, value.target(), value.images)),
    PolyRing: lambda value: encode(ring_of_sympy(value)),
    PolyElement: lambda value: polynomial(ring_of_sympy(value.ring), terms(value)),
    Poly: lambda value: encode(PolyRing(value.gens, value.domain, grevlex).from_dict(value.rep.to_dict())),
    FracElement: lambda value: encode(
        values.RingFraction(ring_of_domain(value.field.to_domain()), value.numer, value.denom)
    ),
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


def bindings(inputs: Mapping[str, Any]) -> str:
    """Macaulay2 code that gives values to names; variables of their rings can be used by their names afterwards.

    SymPy expressions among them share one ring: the only ring among them that has all their symbols, else a new one.

    Raises
    ------
    ConversionError
        If a value has no counterpart in Macaulay2.
    """
    prepared = in_one_ring(inputs.values())
    return "".join(
        f"mbDefine({string(name)}, {encode(value)});\n" for name, value in zip(inputs, prepared, strict=True)
    )


def in_one_ring(inputs: Iterable[Any]) -> list[Any]:
    """The values, with the SymPy expressions among them as polynomials."""
    listed = list(inputs)
    leaves: list[Any] = []
    for value in listed:
        _mapped(value, lambda leaf: leaves.extend(leaf.flat() if isinstance(leaf, MatrixBase) else [leaf]))
    expressions = [leaf for leaf in leaves if isinstance(leaf, Expr)]
    if inexact := [expression for expression in expressions if expression.has(Float)]:
        raise not_exact(f"'{inexact[0]}'")
    names = {str(symbol) for expression in expressions for symbol in expression.free_symbols}
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
    if type(value) in (list, tuple, set, frozenset, values.Array, values.MutableList, values.Set):
        return type(value)(tuple(_mapped(item, change) for item in value))
    return change(value)


def _rings(leaves: Iterable[Any]) -> list[PolyRing]:
    """List the different rings among values, as SymPy has them."""
    rings = (getattr(over, "sympy_ring", over) for over in (getattr(leaf, "ring", leaf) for leaf in leaves))
    return list(dict.fromkeys(ring for ring in rings if isinstance(ring, PolyRing)))


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
    try:
        return f"mbPlaced(R, places, {sparse(terms(over.from_expr(value)))})"
    except (BasePolynomialError, ValueError, ZeroDivisionError) as reason:
        raise ConversionError(f"'{value}' is not a polynomial with coefficients in {over.domain}") from reason


def _number_matrix(rows: list[list[int | Fraction]], columns: int, ring: Any = None) -> values.Matrix:
    """A matrix over a ring, or over ZZ or QQ, whichever has the entries."""
    ring = ring or (values.IntegerRing() if all(isinstance(x, int) for row in rows for x in row) else QQ)
    target, source = (values.Module(ring, ((),) * count) for count in (len(rows), columns))
    return values.Matrix(target, source, tuple(map(tuple, rows)))


def _number(value: Expr) -> int | Fraction:
    if not isinstance(value, Rational):
        raise ConversionError(f"'{value}' is not a rational number")
    return int(value) if value.is_Integer else fraction(value)
