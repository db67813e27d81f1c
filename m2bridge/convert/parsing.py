"""Polynomials as people have them: text, SymPy's, FLINT's; and the fields of their coefficients.

Text is read by :mod:`m2bridge.convert.polynomial_parser`, and never evaluated as a program.
Polynomials that m2bridge wrote, whose terms are separated by blanks, have a faster reader,
:func:`generator_reader`.

Polynomials over a field, over its prime field, and over QQ and ZZ can be taken over that field. A
residue modulo p is then the congruent integer nearest to 0. An equation is the difference of its
sides. A term is a pair: the exponents of variables, in the order of their ``names``, which are
among the ring's, and a coefficient. ``None`` in place of a field means that a value names none,
such as text, numbers and expressions. What is not an exact polynomial in the variables over the
field, or has a field that m2bridge lacks, is a ConversionError.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import cache, partial
from numbers import Number
from typing import Any

import flint
from sympy import Equality, Expr, Float, Poly
from sympy.polys.polyerrors import BasePolynomialError
from sympy.polys.rings import PolyElement
from sympy.utilities.iterables import flatten

from m2bridge.algebra.expressions import difference, in_plain_symbols, symbol_name, variables_of
from m2bridge.algebra.extension_field import ExtensionField
from m2bridge.algebra.field import QQ, ZZ, CoefficientField
from m2bridge.algebra.numbers import fraction, nearest_to_zero
from m2bridge.algebra.ring import PolynomialRing
from m2bridge.convert.fields import coefficient_terms, field_of_domain, powers_of_roots
from m2bridge.convert.polynomial_parser import (
    convert_to_extension,
    names_in,
    read_equation,
    read_over_extension,
)
from m2bridge.errors import ConversionError, class_with_article
from m2bridge.system import integer

_NUMBER = re.compile(r"([0-9]+)(?:/([1-9][0-9]*))?")
"""An integer or a fraction."""
_POWER = re.compile(r"([^^]+)(?:\^([0-9]{1,4}))?")
"""A variable with an exponent, perhaps."""


def generator_reader(ring: PolynomialRing) -> Callable[[str], PolyElement]:
    """Return a fast reader of the texts that :func:`m2bridge.convert.printing.polynomial_text`
    writes, with exponents of at most four digits; over QQ and GF(p) it refuses terms that are zero
    or occur twice, so zero has no text, and over an extension field it is :func:`element`.
    """
    if isinstance(ring.field, ExtensionField):
        return partial(element, ring)
    return _GeneratorReader(ring).polynomial


class _GeneratorReader:
    """The reader over QQ or GF(p); it keeps the numbers that it has read, since few different ones
    occur in many terms.
    """

    def __init__(self, ring: PolynomialRing) -> None:
        self._ring = ring
        self._places = {name: place for place, name in enumerate(ring.variables)}
        self._one = ring.sympy_ring.domain.one
        self._number = cache(self._new_number)

    def polynomial(self, text: str) -> PolyElement:
        """The polynomial of a text such as ``-x**2 + 3/7*y``."""
        total = self._ring.sympy_ring.zero
        # "-x**2 + 3/7*y" has the words "-", "x^2", "+", "3/7*y": signs and terms in turn
        text_with_sign = f"- {text[1:]}" if text.startswith("-") else f"+ {text}"
        words = text_with_sign.replace("**", "^").split(" ")
        signs = words[::2]
        terms = words[1::2]
        if len(signs) != len(terms) or not {"+", "-"}.issuperset(signs):
            raise ConversionError(f"not a sum of terms: {text[:120]}")
        for sign, term in zip(signs, terms, strict=True):
            exponents, coefficient = self._exponents_and_coefficient(term)
            total[exponents] = coefficient if sign == "+" else -coefficient
        # A polynomial is a dictionary: of two terms with one monomial it keeps the last.
        if len(total) < len(terms) or not all(total.values()):
            raise ConversionError(f"a term that is zero, or occurs twice: {text[:120]}")
        return total

    def _exponents_and_coefficient(self, term: str) -> tuple[tuple[int, ...], Any]:
        """The exponents of all variables, and the coefficient, of a term such as ``3/7*x^2*y``."""
        places = self._places
        exponents = [0] * len(places)
        coefficient = self._one
        for factor in term.split("*"):
            match = _POWER.fullmatch(factor)
            if match and match[1] in places:
                exponents[places[match[1]]] += int(match[2] or 1)
            else:
                coefficient = coefficient * self._number(factor)
        return tuple(exponents), coefficient

    def _new_number(self, text: str) -> Any:
        """The element of the field that an integer or a fraction, without a sign, stands for."""
        match = _NUMBER.fullmatch(text)
        if match is None:
            raise ConversionError(
                f"not a number, and not a power of a variable of the ring: {text[:120]}"
            )
        numerator, denominator = match.groups()  # no denominator, None, for an integer
        return self._ring.number(Fraction(integer(numerator), integer(denominator or "1")))


_Flint = flint.fmpz_mpoly | flint.fmpq_mpoly | flint.nmod_mpoly | flint.fmpz_mod_mpoly
_Residue = int | flint.fmpz | flint.nmod | flint.fmpz_mod
_Polynomial = str | Expr | Equality | Poly | PolyElement | _Flint | Number | flint.fmpz | flint.fmpq


def check_polynomial(value: object) -> None:
    """Raise ConversionError unless a value is of a class that :func:`element` can read; text and
    expressions pass, whether they are polynomials or not.
    """
    if not isinstance(value, _Polynomial):
        advice = "give polynomials, or lists of them; of an ideal, ideal.generators"
        raise ConversionError(f"{class_with_article(type(value))} is not a polynomial: {advice}")


def element(ring: PolynomialRing, value: Any) -> PolyElement:
    """Convert a polynomial of SymPy or FLINT, a number or text to an element of this ring.

    Residues over another GF(q) are taken as integers, too: callers compare the fields first, by
    :func:`check_field` or :func:`common_field`.
    """
    if isinstance(value, PolyElement) and value.ring == ring.sympy_ring:
        return value
    if isinstance(ring.field, ExtensionField):
        return _element_over_extension(ring, value)
    if isinstance(value, PolyElement | _Flint):
        field = own_field(value) or QQ
        terms = []
        for exponents, coefficient in value.to_dict().items():
            terms.append((exponents, _rational_coefficient(coefficient, field)))
        return from_terms(ring, ring_variables(value), terms)
    # everything else is read with rational coefficients first
    rational_ring = PolynomialRing(QQ, ring.variables)
    if isinstance(value, str):
        polynomial = read_equation(value, rational_ring)
    else:
        value = difference(value)  # of an equation of SymPy; other values stay
        if isinstance(value, Poly):
            value = value.as_expr()
        polynomial = rational_ring.polynomial(value)
    if ring.field == QQ:
        return polynomial
    # a polynomial over QQ in the same variables, whose coefficients are reduced modulo p
    return element(ring, polynomial)


def _element_over_extension(ring: PolynomialRing, value: Any) -> PolyElement:
    """Convert a value to an element of a ring over an extension field; a variable with the name of
    a generator of the field becomes this generator.
    """
    assert isinstance(ring.field, ExtensionField)
    if isinstance(value, str):
        return read_over_extension(value, ring, equation=True)
    value = difference(value)  # of an equation of SymPy; other values stay
    # There are three ways. The first one: by coefficients that are elements of the field.
    if isinstance(value, Poly | PolyElement) and _is_declared_over(value, ring.field):
        elements = value.rep.to_dict() if isinstance(value, Poly) else value
        return from_elements(ring, ring_variables(value), elements.items())
    # The second one: by coefficients in QQ or the prime field; a variable may be a generator.
    if isinstance(value, Poly | PolyElement | _Flint) and not _has_constants(value):
        field = own_field(value) or QQ
        if field not in (QQ, ring.field.base):
            raise ConversionError(f"a polynomial over {field} is not one over {ring.field}")
        rational = element(PolynomialRing(QQ, ring.variables + ring.field.names), value)
        return convert_to_extension(rational, ring)
    # The third one, for all other values: by expressions of SymPy.
    if isinstance(value, Poly | PolyElement):
        value = value.as_expr()
    if not ring.field.minimal_polynomial:  # QQ(a, b), whose elements SymPy reads from expressions
        return ring.polynomial(value)
    with_roots = _element_with_roots(ring, value)
    return _element_in_generator(ring, value) if with_roots is None else with_roots


def _element_in_generator(ring: PolynomialRing, value: Any) -> PolyElement:
    """The element that an expression in the variables and the generator of an algebraic field
    stands for, where nonzero elements of the field may be divisors.
    """
    # over QQ, with the generator as a further variable
    larger = PolynomialRing(QQ, ring.variables + ring.field.names)
    numerator, denominator = value, 1
    if isinstance(value, Expr) and not value.is_polynomial():
        numerator, denominator = value.as_numer_denom()
    divisor = convert_to_extension(larger.polynomial(denominator), ring)
    is_constant = bool(divisor) and divisor.is_ground
    if not is_constant:
        raise ConversionError(f"'{value}' is not a polynomial over {ring.field}")
    return convert_to_extension(larger.polynomial(numerator), ring).quo_ground(divisor.LC)


def _element_with_roots(ring: PolynomialRing, value: Any) -> PolyElement | None:
    """The element that an expression with roots, such as sqrt(2), stands for; ``None`` if it has no
    roots, or the field does not know its generator as a number of SymPy: another way is tried then.
    """
    field = ring.field
    assert isinstance(field, ExtensionField)
    if field.root is None or not powers_of_roots(value):
        return None
    if value.has(Float):
        raise ConversionError(f"'{value}' is not exact: write fractions as sympy.Rational")
    # SymPy finds a root in its field, but not each multiple: of 2*(-1)**(1/3) it does not. So each
    # subexpression ``power.number`` is replaced by an expression in the generator.
    expressions_of_roots = {}
    for power in powers_of_roots(value):
        try:
            root_in_field = field.sympy_domain.from_sympy(power.root)
        except (BasePolynomialError, NotImplementedError, ValueError) as reason:
            raise ConversionError(f"SymPy does not find {power.root} in {field}") from reason
        numerator, denominator = coefficient_terms(root_in_field)
        root = field.domain.to_sympy(field.element(numerator, denominator))
        expressions_of_roots[power.number] = root**power.exponent
    return _element_in_generator(ring, in_plain_symbols(value.xreplace(expressions_of_roots)))


def _coefficient_domain(value: Poly | PolyElement) -> Any:
    """The domain of the coefficients of a ``Poly``, or of an element of a ring of SymPy."""
    return value.domain if isinstance(value, Poly) else value.ring.domain


def _has_constants(value: Any) -> bool:
    """Whether a value is a polynomial of SymPy whose coefficients are polynomials, as in QQ[a][x]:
    QQ[a] is not a field, but a may be a generator of the field of an ideal.
    """
    if not isinstance(value, Poly | PolyElement):
        return False
    return bool(_coefficient_domain(value).is_PolynomialRing)


def has_constants_of(value: Any, field: CoefficientField | None) -> bool:
    """Whether a value is a polynomial of SymPy as in QQ[a][x], with coefficients in no other
    variables than generators of the field; false without a field.
    """
    if field is None or not _has_constants(value):
        return False
    return set(field.names) >= set(map(str, _coefficient_domain(value).symbols))


def _is_declared_over(value: Poly | PolyElement, field: CoefficientField) -> bool:
    """Whether the domain declared with a polynomial of SymPy has this field as its field of
    fractions; false for x + 1 over QQ and the larger field QQ(√2).
    """
    domain = _coefficient_domain(value)
    if domain.is_PolynomialRing:  # such as QQ[a], whose field of fractions m2bridge may not have
        return False
    return field_of_domain(domain) == field


def from_elements(
    ring: PolynomialRing, names: Sequence[str], terms: Iterable[tuple[Sequence[int], Any]]
) -> PolyElement:
    """The element of a ring over an extension field with these terms, whose coefficients are in
    SymPy's domain of the same field.
    """
    field = ring.field
    assert isinstance(field, ExtensionField)
    numbers = []
    for monomial, coefficient in terms:
        numbers.append((monomial, field.element(*coefficient_terms(coefficient))))
    return _element_of_terms(ring, names, numbers)


flat = partial(flatten, cls=(list, tuple))
"""List items, and items of lists and tuples among them."""


def ring_variables(value: Any) -> tuple[str, ...]:
    """The variables of the ring of a polynomial of SymPy or FLINT, in the order of exponents; empty
    for text, numbers and expressions.
    """
    if isinstance(value, PolyElement):
        return tuple(map(symbol_name, value.ring.symbols))
    if isinstance(value, _Flint):
        return tuple(map(str, value.context().names()))
    if isinstance(value, Poly):
        return tuple(map(symbol_name, value.gens))
    return ()


def occurring_names(value: Any) -> Iterable[str]:
    """The names of variables that occur in text or in an expression; none in other values."""
    if isinstance(value, str):
        return names_in(value)
    if isinstance(value, Expr | Equality):
        return map(symbol_name, variables_of(value))
    return ()


def own_field(value: Any) -> CoefficientField | None:
    """The field of the coefficients of a polynomial, QQ for integers."""
    if isinstance(value, PolyElement):
        return field_of_domain(value.ring.domain)
    if isinstance(value, Poly):
        return field_of_domain(value.domain)
    if isinstance(value, flint.nmod_mpoly | flint.fmpz_mod_mpoly):
        return CoefficientField(int(value.context().modulus()))
    if isinstance(value, flint.fmpz_mpoly | flint.fmpq_mpoly):
        return QQ
    return None


def common_field(
    fields: Iterable[CoefficientField | None], field: CoefficientField | None
) -> CoefficientField:
    """The field over which polynomials with these fields are taken together: ``field`` if it was
    asked for, else the only one among theirs, where an extension field and its prime field count as
    one; QQ if none names a field.
    """
    own_fields = list(dict.fromkeys(own for own in fields if own is not None))  # each once
    if field is not None:
        for own in own_fields:
            if own not in (QQ, ZZ, field, field.base):  # base is the prime field
                raise ConversionError(f"a polynomial over {own} is not one over {field}")
        return field
    extensions = [own for own in own_fields if isinstance(own, ExtensionField)]
    if len(extensions) == 1:
        (extension,) = extensions
        own_fields = [own for own in own_fields if own != extension.base]
    if len(own_fields) > 1:
        first, second = own_fields[:2]
        raise ConversionError(
            f"polynomials over different fields, {first} and {second}: give all over one"
        )
    return own_fields[0] if own_fields else QQ


def check_field(value: object, field: CoefficientField) -> None:
    """Raise ConversionError if a value is a polynomial that cannot be taken over a field."""
    common_field([own_field(value)], field)


def _rational_coefficient(coefficient: Any, field: CoefficientField) -> Fraction:
    """A coefficient of a polynomial of SymPy or FLINT over this field, QQ for ZZ, as a fraction."""
    p = field.characteristic
    if p and (isinstance(coefficient, _Residue) or hasattr(coefficient, "to_int")):
        return Fraction(nearest_to_zero(int(coefficient), p))
    if not hasattr(coefficient, "denominator"):
        raise ConversionError(f"the coefficient {coefficient} is not in ZZ, QQ or GF(p)")
    return fraction(coefficient)


def from_terms(
    ring: PolynomialRing, names: Sequence[str], terms: Iterable[tuple[Sequence[int], Any]]
) -> PolyElement:
    """The element of a ring over QQ or GF(p) with these terms, whose coefficients are rational
    numbers.
    """
    return _element_of_terms(ring, names, ((monomial, ring.number(c)) for monomial, c in terms))


def _element_of_terms(
    ring: PolynomialRing, names: Sequence[str], terms: Iterable[tuple[Sequence[int], Any]]
) -> PolyElement:
    """The element of a ring with these terms, whose coefficients are in the ring's domain; refused
    if a variable that occurs is not one of the ring.
    """
    places = {name: place for place, name in enumerate(ring.variables)}
    coefficients = {}
    for monomial, coefficient in terms:
        exponents = [0] * len(places)
        for name, exponent in zip(names, monomial, strict=True):
            if exponent:
                if name not in places:
                    raise ConversionError(f"{name!r:.60} is not a variable of {ring}")
                exponents[places[name]] = int(exponent)
        coefficients[tuple(exponents)] = coefficient
    return ring.sympy_ring.from_dict(coefficients)
