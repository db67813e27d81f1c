"""Values as calls of the functions in ``m2scripts/values.m2``: what goes into a workspace.

Nothing is evaluated as text: integers, strings and lists are literals, all else is made by
functions whose names nobody can hide. The classes are listed in docs/values.md. Most of
:mod:`m2bridge.convert.values` are written as a call of the function with the name of the class, on
its fields; others have an encoder of their own. What has no counterpart, or is not exact, is a
ConversionError. Programs are written by :mod:`m2bridge.convert.m2_syntax`, which also spells
numbers and names here.

The code of a value is a Macaulay2 expression that makes it. A term is a pair of exponents and the
code of a coefficient; the factors of a monomial are the variables that occur in it, by their places
from 0 on, with their exponents. Equal rings, and equal elements, have the same code.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from fractions import Fraction
from functools import singledispatch
from itertools import chain, compress, count
from typing import Any

import flint
from sympy import Expr, Poly, nan, oo
from sympy.polys.domains.fractionfield import FractionField as FractionDomain
from sympy.polys.fields import FracElement
from sympy.polys.orderings import grevlex
from sympy.polys.rings import PolyElement, PolyRing

from m2bridge.algebra.extension_field import ExtensionDomain, ExtensionField, extension_field_of
from m2bridge.algebra.field import CoefficientField, IntegerCoefficients
from m2bridge.algebra.polynomial_map import PolynomialMap
from m2bridge.algebra.ring import GeneratingSet, PolynomialRing, PolyRing as OwnPolyRing
from m2bridge.convert import other_libraries, values
from m2bridge.convert.m2_syntax import CONSTANTS, coefficient_writer, escape_name, groups, rational
from m2bridge.convert.values.inexact import not_exact
from m2bridge.convert.values.rings import integers_modulo, ring_of_domain, ring_of_sympy
from m2bridge.errors import ConversionError
from m2bridge.results.sheet import quoted
from m2bridge.system import decimal

_ITEMS_PER_PIECE = 1000
"""Items of a list that is written in one piece; Macaulay2 takes no literal with very many items."""


@singledispatch
def encode(value: Any) -> str:
    """The value as a Macaulay2 expression; ``_ENCODERS`` has the functions for known classes, and
    what comes here are values of NumPy, residues of SymPy, and all that is refused.
    """
    kind = type(value)
    is_ball_of_flint = kind.__name__.startswith(("arb", "acb", "arf"))
    if isinstance(value, float | complex) or is_ball_of_flint:
        raise not_exact(f"{value!r:.60} ({kind.__name__})")
    # Types of NumPy are known by name: it may not be imported.
    if kind.__module__.partition(".")[0] == "numpy":
        return encode(other_libraries.of_numpy(value))
    # SymPy's residues have a class of their own for each modulus.
    if hasattr(value, "parent") and hasattr(value, "to_int"):
        return _residue(value, int(value.mod))
    raise ConversionError(
        f"a {kind.__module__}.{kind.__name__} has no counterpart in Macaulay2; give numbers, text,"
        " lists, tuples, dicts, sets, polynomials and matrices of SymPy or python-flint, or values"
        " of m2bridge"
    )


class Code(str):
    """Macaulay2 code in place of the value that it makes; :func:`encode` returns it as it is."""


# Text, numbers and lists.


def string(text: str) -> str:
    """The code of a string of Macaulay2, whose bytes are the text in UTF-8; half a surrogate pair
    that stands for no byte is refused.
    """
    try:
        return quoted(text.encode("utf-8", "surrogateescape"))
    except UnicodeEncodeError as reason:
        raise ConversionError(
            f"text with half a surrogate pair is no UTF-8: {text!a:.60}"
        ) from reason


def braces(items: Iterable[str]) -> str:
    """Return the code of a list, as a literal, from the code of each item."""
    return "{" + ",".join(items) + "}"


def list_code(items: list[str]) -> str:
    """Return the code of a list of any length from the code of each item; a long one is
    ``mbTogether {{…},{…}}``, a function that joins its pieces.
    """
    if len(items) <= _ITEMS_PER_PIECE:
        return braces(items)
    pieces = [list_code(group) for group in groups(items, _ITEMS_PER_PIECE)]
    return f"mbTogether {braces(pieces)}"


def items(listed: Iterable[Any]) -> str:
    """Return the code of a list of values."""
    return list_code([encode(value) for value in listed])


def field_code(value: Any) -> str:
    """The code of a field of a dataclass: a text, a truth value, ``None``, an element of the ring
    that another field names, or a list of such things.
    """
    if isinstance(value, tuple | list):
        return list_code([field_code(item) for item in value])
    if value is None or isinstance(value, str | bool):
        return encode(value)
    return element_code(value)


def element_code(value: Any) -> str:
    """The code of an element of a ring that another argument of the same call names: a number, also
    a residue, is written without its ring.
    """
    if hasattr(value, "to_int") or isinstance(value, flint.nmod):  # a residue of SymPy or FLINT
        return str(int(value))
    # Numbers of Python, SymPy and FLINT have a ``numerator``. So has a RingFraction, but it is no
    # number; polynomials of FLINT have a method of this name.
    has_numerator = hasattr(value, "numerator") and not callable(value.numerator)
    if has_numerator and not isinstance(value, values.RingFraction):
        return rational(value)
    return encode(value)


def _residue(value: Any, modulus: int) -> str:
    """The code of an element of ZZ/modulus; ``value`` is a residue of SymPy or FLINT."""
    return f"(promote({int(value)}, {encode(integers_modulo(modulus))}))"


# Calls.


def _constructor_call(value: Any) -> str:
    """The call of Macaulay2's function for a dataclass, as ``mbAlgebra(…)``, on its fields."""
    arguments = []
    for field in fields(value):
        argument = getattr(value, field.name)
        # A variable goes as its symbol and its indices: x_1_a is Macaulay2's x_(1,a).
        if isinstance(value, values.Algebra) and field.name == "variables":
            argument = variable_parts(argument)
        arguments.append(field_code(argument))
    return f"(mb{type(value).__name__}({', '.join(arguments)}))"


def _extension(field: ExtensionField) -> values.FractionField | values.Algebra:
    """The extension field as Macaulay2 has it: QQ(a, b) as a field of fractions, one with a minimal
    polynomial as an Algebra without variables, over a quotient ring that ``toField`` makes a field.
    """
    ring = PolynomialRing(field.base, field.names)
    if not field.minimal_polynomial:
        return values.FractionField(ring)
    relation = {exponents: ring.number(c) for exponents, c in field.relation.items()}
    quotient = values.QuotientRing(ring, (ring.sympy_ring.from_dict(relation),))
    # joined=False, as the degrees of the quotient are no degrees of the field that toField makes
    return values.Algebra(quotient, (), joined=False)


def _extension_element(
    field: ExtensionField, element: Any
) -> values.RingElement | values.RingFraction:
    """An element of the domain of a field, in the ring that :func:`_extension` is."""
    numerator, denominator = field.parts(element)
    extension = _extension(field)
    if isinstance(extension, values.FractionField):
        ring = extension.ring.sympy_ring
        return values.RingFraction(extension, numerator.set_ring(ring), denominator.set_ring(ring))
    polynomial = values.RingElement(extension.coefficients, tuple(numerator.terms()))
    return values.RingElement(extension, (((), polynomial),))


def ring_of_polynomials(ring: PolyRing) -> values.Algebra:
    """The ring of polynomials of SymPy, or of m2bridge over an extension field."""
    if _is_over_extension(ring):
        return values.Algebra(extension_field_of(ring.domain), tuple(map(str, ring.symbols)))
    return ring_of_sympy(ring)


def _is_over_extension(ring: PolyRing) -> bool:
    """Whether this is a ring that m2bridge has made over an extension field: SymPy's own rings over
    QQ(a), in which the order of monomials in a counts, stay as they are.
    """
    is_own = isinstance(ring, OwnPolyRing)
    return is_own and isinstance(ring.domain, ExtensionDomain | FractionDomain)


def _ring_code(value: Any) -> str:
    """The code of a ring, which Macaulay2 makes once and finds by this code afterwards."""
    code = _constructor_call(value)
    return f"(mbGiven({string(code)}, () -> {code}))"


def _list_of_class(kind: str, parts: Iterable[Any]) -> str:
    """The code of an object of a class of Macaulay2 that is a list of parts."""
    return f"(mbNew({string(kind)}, {items(parts)}))"


def _hash_table_code(value: Mapping[Any, Any]) -> str:
    """The code of a hash table, in Macaulay2's class of the same name; ``HashTable`` for a dict."""
    pairs = list_code([f"({encode(key)},{encode(entry)})" for key, entry in value.items()])
    kind = type(value).__name__ if isinstance(value, values.HashTable) else "HashTable"
    return f"(mbHashTable({string(kind)}, {pairs}))"


def _complex(value: values.ComplexNumber) -> str:
    """The code of a complex number; refused if it is infinite, or only one part is NaN, since
    Macaulay2 keeps no such parts.
    """
    specials = {value.real.special, value.imaginary.special}
    if specials & {"inf", "-inf"}:  # both parts are infinite then in Macaulay2 1.26
        raise ConversionError(
            "an infinite complex number has no parts in Macaulay2: give its parts as real numbers"
        )
    if "nan" in specials and len(specials) > 1:  # both parts are NaN then
        raise ConversionError(
            "in Macaulay2 both parts of a complex number are NaN, or none: give them as real"
            " numbers"
        )
    return _constructor_call(value)


_CODE_OF_CONSTANT = {oo: "(infinity)", -oo: "(-infinity)", nan: "indeterminate"}
for _name, _constant in CONSTANTS.items():
    _CODE_OF_CONSTANT[_constant] = f"(mbConstant {string(_name)})"


def _expression(value: Expr) -> str:
    """The code of a constant or a rational number of SymPy; for expressions with variables
    :mod:`m2bridge.convert.bindings` finds a ring.
    """
    if value in _CODE_OF_CONSTANT:
        return _CODE_OF_CONSTANT[value]
    return encode(other_libraries.number(value))


# Names of variables.

SYMBOL = re.compile(r"[^\W\d_](?:[^\W_]|')*")
"""A symbol of Macaulay2, which may have primes."""
_INDEX = re.compile(r"0|-?[1-9][0-9]*")


def variable_parts(names: Sequence[str]) -> list[list[str | int]]:
    """Symbol and indices of each variable: ``["x", 1, "a"]`` for ``x_1_a``, as in ``x_(1,a)``. A
    name that is not a symbol of Macaulay2, or is used with indices too, is escaped by
    :mod:`m2bridge.convert.m2_syntax`.
    """
    parts_of_names = [_symbol_and_indices(name) for name in names]
    with_indices = {parts[0] for parts in parts_of_names if len(parts) > 1}
    for place, (symbol, *indices) in enumerate(parts_of_names):
        # Macaulay2 cannot have both x and x_1. So x gets an escaped name with the prefix for names
        # that take no indices (plain).
        if not indices and symbol in with_indices:
            parts_of_names[place] = [escape_name(names[place], plain=True)]
    return parts_of_names


def _symbol_and_indices(name: str) -> list[str | int]:
    """Symbol and indices of one variable; the escaped name alone if its base is not a symbol of
    Macaulay2, or an index is neither a symbol nor an integer.
    """
    base, *indices = name.split("_")
    if not SYMBOL.fullmatch(base):
        return [escape_name(name)]
    parts: list[str | int] = [base]
    for index in indices:
        if SYMBOL.fullmatch(index):
            parts.append(index)
        elif _INDEX.fullmatch(index):
            parts.append(int(index))
        else:  # not an index that Macaulay2 can have
            return [escape_name(name)]
    return parts


# Polynomials.

_CHARACTER_SHIFT = 32
"""From numbers to characters, of which the first is the blank, so that none ends a line."""
Term = tuple[tuple[int, ...], str]
"""Exponents, and the coefficient as it is written."""

Factors = list[tuple[int, int]]
"""The variables of a monomial, by their places, with their exponents."""


def polynomial(ring: Any, terms: Iterable[Term]) -> str:
    """The code of an element of a ring from its terms, in a form that is read fast if they are
    many.
    """
    term_list = list(terms)
    number_rings = values.IntegerRing | CoefficientField
    # The fast form has coefficients that are numbers, and a character for each power.
    has_numbers = isinstance(ring, values.Algebra) and isinstance(ring.coefficients, number_rings)
    if has_numbers and len(term_list) >= 200:  # from where on speed counts
        monomials = [_factors(exponents) for exponents, _ in term_list]
        powers = sorted(set(chain(*monomials)))  # all that occur in any monomial
        if len(powers) <= 0xD800 - _CHARACTER_SHIFT:  # so many characters follow without a gap
            coefficients = [coefficient for _, coefficient in term_list]
            return _packed_polynomial(ring, powers, monomials, coefficients)
    in_one_order = sorted(term_list)  # so that equal elements have the same code
    return f"mbSparse({encode(ring)}, {sparse_terms(in_one_order)})"


def _factors(exponents: tuple[int, ...]) -> Factors:
    """The places of the variables that occur in a monomial, with their exponents."""
    # Most exponents are zero. ``compress`` picks the places of others without a loop in Python.
    places = compress(count(), exponents)
    return list(zip(places, filter(None, exponents), strict=True))


def _packed_polynomial(
    ring: Any, powers: Factors, monomials: list[Factors], coefficients: list[str]
) -> str:
    """The code of a polynomial by a text: a line for each monomial, a character for each of its
    powers; ``powers`` are all that occur, sorted by variable and exponent, and each gets the next
    character.
    """
    character_of = {power: chr(place + _CHARACTER_SHIFT) for place, power in enumerate(powers)}
    # With the powers x^2, y, y^3 as the first three characters, a space, ! and ", the lines of
    # x^2*y^3 and y are a space with ", and !.
    #
    # A term is sorted as a tuple: minus the degree, the line read backwards, the coefficient. So in
    # one degree the monomial comes first whose last variable is an earlier one, or has the smaller
    # exponent: this is the graded reverse lexicographic order, in which Macaulay2 adds terms
    # fastest; any order would be right.
    sorted_terms = []
    for monomial, coefficient in zip(monomials, coefficients, strict=True):
        degree = sum([exponent for _, exponent in monomial])
        reversed_line = "".join([character_of[power] for power in reversed(monomial)])
        sorted_terms.append((-degree, reversed_line, coefficient))
    sorted_terms.sort()
    lines = "\n".join([reversed_line[::-1] for _, reversed_line, _ in sorted_terms])
    escaped_lines = lines.replace("\\", "\\\\").replace('"', '\\"')  # for a string of Macaulay2
    coefficient_list = list_code([coefficient for _, _, coefficient in sorted_terms])
    power_list = list_code([f"({variable},{exponent})" for variable, exponent in powers])
    return f'mbPolynomial({encode(ring)}, {coefficient_list}, {power_list}, "{escaped_lines}")'


def sparse_terms(terms: Iterable[Term]) -> str:
    """The code of the list of terms ``{coefficient, variable, exponent, ..}``: in x, y the
    polynomial 3*x**2 - y has ``{{3,0,2},{-1,1,1}}``.
    """
    term_codes = []
    for exponents, coefficient in terms:
        powers = "".join([f",{place},{exponent}" for place, exponent in _factors(exponents)])
        term_codes.append(f"{{{coefficient}{powers}}}")
    return list_code(term_codes)


def terms(value: PolyElement) -> list[Term]:
    """The terms of a polynomial of SymPy: exponents, and the code of the coefficient."""
    domain = value.ring.domain
    if _is_over_extension(value.ring):
        field = extension_field_of(domain)
        return [(e, encode(_extension_element(field, c))) for e, c in value.items()]
    has_numbers = domain.is_FiniteField or domain.is_ZZ or domain.is_QQ
    write = coefficient_writer(domain) if has_numbers else encode
    return [(monomial, write(coefficient)) for monomial, coefficient in value.items()]


def _element(value: values.RingElement) -> str:
    """The code of an element of a ring that SymPy does not have."""
    term_codes = [(exponents, element_code(coefficient)) for exponents, coefficient in value.terms]
    return polynomial(value.ring, term_codes)


def _sympy_polynomial(value: Poly) -> str:
    """The code of a ``Poly``, as an element of the ring in its generators."""
    ring = PolyRing(value.gens, value.domain, grevlex)
    return encode(ring.from_dict(value.rep.to_dict()))


def _sympy_fraction(value: FracElement) -> str:
    """The code of an element of one of SymPy's fields of fractions."""
    ring = ring_of_domain(value.field.to_domain())
    return encode(values.RingFraction(ring, value.numer, value.denom))


def _refuse_element(value: Any) -> str:
    """Raise ConversionError for an element of FLINT whose ring has no name in it."""
    name = type(value).__name__
    raise ConversionError(
        f"a flint.{name} does not say of which ring it is: give a flint.nmod, or a polynomial"
    )


_FlintMatrix = flint.fmpz_mat | flint.fmpq_mat | flint.nmod_mat | flint.fmpz_mod_mat
_FlintPolynomial = (
    flint.fmpz_poly
    | flint.fmpq_poly
    | flint.nmod_poly
    | flint.fmpz_mod_poly
    | flint.fmpz_mpoly
    | flint.fmpq_mpoly
    | flint.nmod_mpoly
    | flint.fmpz_mod_mpoly
)

_ENCODERS: dict[Any, Callable[[Any], str]] = {
    # Python
    type(None): lambda value: "null",
    bool: lambda value: "true" if value else "false",
    int: lambda value: f"({decimal(value)})",
    # in QQ also where it is an integer
    Fraction: lambda value: f"(({decimal(value.numerator)})/{decimal(value.denominator)})",
    str: string,
    Code: str,
    list: items,
    tuple: lambda value: f"(toSequence {items(value)})",
    set | frozenset | values.Set: lambda value: f"(set {items(value)})",
    dict | values.HashTable: _hash_table_code,
    # Collections and expressions of Macaulay2
    values.Option: lambda value: f"({encode(value.key)} => {encode(value.value)})",
    values.Array | values.MutableList | values.Partition: lambda value: _list_of_class(
        type(value).__name__, value
    ),
    values.Expression: lambda value: _list_of_class(value.kind, value.parts),
    values.Factorization: lambda value: f"(mbFactorization {items(value.factors)})",
    values.Symbol: lambda value: f"(mbSymbol({string(value.name)}, {encode(value.index)}))",
    # Rings, and elements that are not written by their fields
    values.Algebra | values.QuotientRing | values.GaloisField | values.FractionField: _ring_code,
    values.RingElement: _element,
    values.ComplexNumber: _complex,
    # Values of other packages of m2bridge
    GeneratingSet: lambda value: encode(values.GeneralIdeal(value.ring, value.generators)),
    PolynomialRing: lambda value: encode(values.Algebra(value.field, value.variables)),
    PolynomialMap: lambda value: encode(values.RingMap(value.source, value.target(), value.images)),
    CoefficientField: _constructor_call,
    IntegerCoefficients: lambda _: encode(values.IntegerRing()),
    ExtensionField: lambda value: encode(_extension(value)),
    # SymPy
    PolyRing: lambda value: encode(ring_of_sympy(value)),
    PolyElement: lambda value: polynomial(ring_of_polynomials(value.ring), terms(value)),
    Poly: _sympy_polynomial,
    FracElement: _sympy_fraction,
    Expr: _expression,
    # python-flint
    flint.fmpz | flint.fmpq: lambda value: encode(other_libraries.flint_number(value)),
    flint.nmod: lambda value: _residue(value, value.modulus()),
    flint.fmpz_mod | flint.fq_default: _refuse_element,
    _FlintMatrix: lambda value: encode(other_libraries.flint_matrix(value)),
    _FlintPolynomial: lambda value: encode(other_libraries.flint_polynomial(value)),
    flint.fq_default_poly: lambda value: encode(other_libraries.galois_polynomial(value)),
}
for _kinds, _encoder in _ENCODERS.items():
    encode.register(_kinds, _encoder)
# All other classes of values are written by their fields.
for _class in [getattr(values, name) for name in values.__all__]:
    if encode.dispatch(_class) is encode.dispatch(object):
        encode.register(_class, _constructor_call)
