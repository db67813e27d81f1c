"""Polynomials as people have them: text, SymPy's, FLINT's; and the fields of their coefficients.

Text is read by :mod:`m2bridge.convert.polynomial_text`, and never evaluated as a program.
Polynomials that m2bridge wrote, whose terms are separated by blanks, have a faster reader,
:func:`generator_reader`.
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
from m2bridge.algebra.numbers import fraction
from m2bridge.algebra.ring import PolynomialRing
from m2bridge.convert.fields import coefficient_terms, field_of_domain, powers_of_roots
from m2bridge.convert.polynomial_text import (
    convert_to_extension,
    names_in,
    read_equation,
    read_over_extension,
)
from m2bridge.errors import ConversionError
from m2bridge.system import integer

_NUMBER = re.compile(r"([0-9]+)(?:/([1-9][0-9]*))?")
"""An integer or a fraction."""
_POWER = re.compile(r"([^^]+)(?:\^([0-9]{1,4}))?")
"""A variable with an exponent, perhaps."""


def generator_reader(ring: PolynomialRing) -> Callable[[str], PolyElement]:
    """Return a fast reader of elements of a ring from the texts that m2bridge writes.

    It is the inverse of :func:`m2bridge.convert.printing.polynomial_text` where exponents have at
    most four digits. Over QQ and GF(p) it raises ConversionError if a term cannot be read, occurs
    twice or is zero; so zero has no text. Over an extension field it is :func:`element`.
    """
    if isinstance(ring.field, ExtensionField):
        return partial(element, ring)
    return _GeneratorReader(ring).polynomial


class _GeneratorReader:
    """The reader of elements of a ring over QQ or GF(p) from texts that m2bridge writes.

    It keeps the place of each variable in the ring, and the numbers that it has read, since few
    different ones occur in many terms.
    """

    def __init__(self, ring: PolynomialRing) -> None:
        self._ring = ring
        self._places = {name: place for place, name in enumerate(ring.variables)}
        self._one = ring.sympy_ring.domain.one
        self._number = cache(self._new_number)

    def polynomial(self, text: str) -> PolyElement:
        """The polynomial of a text such as ``-x**2 + 3/7*y``.

        Raises
        ------
        ConversionError
            If a term cannot be read in the ring, is zero, or has the same monomial as another term.
        """
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
    """Raise ConversionError unless a value is of a class that :func:`element` can read.

    Text and expressions pass, whether they are polynomials or not.
    """
    if not isinstance(value, _Polynomial):
        advice = "give polynomials, or lists of them; those of an ideal are ideal.generators"
        raise ConversionError(f"a {type(value).__name__} is not a polynomial: {advice}")


def element(ring: PolynomialRing, value: Any) -> PolyElement:
    """Convert a polynomial of SymPy or FLINT, a number or text to an element of this ring.

    An equation becomes the difference of its sides. Polynomials over ZZ and QQ can be converted to
    a ring over GF(p), modulo p. An element of this ring is returned as it is. Of a polynomial over
    another GF(q) the residues are taken as the integers nearest to 0: callers compare the fields
    first, by :func:`check_field` or :func:`common_field`.

    Raises
    ------
    ConversionError
        If it is not an exact polynomial in the variables over the field.
    """
    if isinstance(value, PolyElement) and value.ring == ring.sympy_ring:
        return value
    if isinstance(ring.field, ExtensionField):
        return _element_over_extension(ring, value)
    if isinstance(value, PolyElement | _Flint):
        return _element_of_same_terms(ring, value)
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


def _element_of_same_terms(ring: PolynomialRing, value: Any) -> PolyElement:
    """The element of a ring over QQ or GF(p) with the terms of a polynomial of SymPy or FLINT.

    A residue modulo p becomes the congruent integer nearest to 0, as an element of the ring's
    field.
    """
    field = own_field(value) or QQ
    terms = []
    for exponents, coefficient in value.to_dict().items():
        terms.append((exponents, _rational_coefficient(coefficient, field)))
    return from_terms(ring, ring_variables(value), terms)


def _element_over_extension(ring: PolynomialRing, value: Any) -> PolyElement:
    """Convert a polynomial, a number or text to an element of a ring over an extension field.

    Polynomials over the field, over its prime field and over QQ are converted. A variable with the
    name of a generator of the field becomes this generator. An equation becomes the difference of
    its sides. ConversionError is raised for what is no polynomial over the field.
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
    """The element that an expression in the variables and the symbol of the generator stands for.

    The ring is over an algebraic field, whose nonzero elements may be divisors.

    Raises
    ------
    ConversionError
        If it is no polynomial in the variables with coefficients in the field.
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
    """The element of ``ring`` that an expression with roots, such as sqrt(2), stands for.

    The result is ``None`` if there are no roots in the expression, or the field of the ring does
    not know its generator as a number of SymPy; another way is tried then.

    Raises
    ------
    ConversionError
        If it is not exact, or a root is not in the field.
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
    """Whether a value is a polynomial of SymPy whose coefficients are polynomials, as in QQ[a][x].

    Such a ring QQ[a] of coefficients is no field, but a may be a generator of the field of an
    ideal.
    """
    if not isinstance(value, Poly | PolyElement):
        return False
    return bool(_coefficient_domain(value).is_PolynomialRing)


def has_constants_of(value: Any, field: CoefficientField | None) -> bool:
    """Whether a value is a polynomial of SymPy whose coefficients are polynomials, as in QQ[a][x],
    and these in no other variables than generators of the field; false if ``field`` is ``None``.
    """
    if field is None or not _has_constants(value):
        return False
    return set(field.names) >= set(map(str, _coefficient_domain(value).symbols))


def _is_declared_over(value: Poly | PolyElement, field: CoefficientField) -> bool:
    """Whether the domain of a polynomial of SymPy is this field, or a ring whose field of fractions
    it is.

    The domain is declared with the polynomial, and may be smaller than the field: the result is
    false for x + 1 over QQ and the field QQ(√2), which contains its coefficients.

    Raises
    ------
    ConversionError
        If m2bridge does not have the field of fractions of the domain, as for real numbers.
    """
    domain = _coefficient_domain(value)
    if domain.is_PolynomialRing:  # such as QQ[a], whose field of fractions m2bridge may not have
        return False
    return field_of_domain(domain) == field


def from_elements(
    ring: PolynomialRing, names: Sequence[str], terms: Iterable[tuple[Sequence[int], Any]]
) -> PolyElement:
    """The element of a ring over an extension field with these terms of SymPy.

    A term is a pair: exponents of the variables ``names``, which are among the ring's, and a
    coefficient in SymPy's domain of the same field.
    """
    field = ring.field
    assert isinstance(field, ExtensionField)
    numbers = []
    for monomial, coefficient in terms:
        numbers.append((monomial, field.element(*coefficient_terms(coefficient))))
    return _element_of_terms(ring, names, numbers)


flat = partial(flatten, cls=(list, tuple))
"""List items, and those of lists and tuples among them."""


def ring_variables(value: Any) -> tuple[str, ...]:
    """The variables of the ring of a polynomial of SymPy or FLINT, in the order of exponents.

    Empty for text, numbers and expressions, which have no ring.
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
    """The field of the coefficients of a polynomial, QQ for integers.

    ``None`` for values that name no field: text, numbers and expressions.

    Raises
    ------
    ConversionError
        If m2bridge does not have the field of the coefficients.
    """
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
    given: Iterable[CoefficientField | None], field: CoefficientField | None
) -> CoefficientField:
    """The field over which polynomials of several fields are taken together.

    If a field was asked for, the result is this field: polynomials over it, over its prime field
    and over QQ and ZZ (these are reduced modulo p) can be taken over it. Else the result is the
    only field that the polynomials have, where an extension field and its prime field count as
    one; QQ if none of them names a field.

    Parameters
    ----------
    given : iterable of CoefficientField or None
        The fields of the polynomials, as :func:`own_field` returns them: ``None`` for a polynomial
        that names none.
    field : CoefficientField or None
        The field that was asked for, if one was.

    Raises
    ------
    ConversionError
        If the polynomials have more than one field, or one that does not go with the field that was
        asked for.
    """
    own_fields = list(dict.fromkeys(own for own in given if own is not None))  # each once
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
    """Raise ConversionError if a value is a polynomial that cannot be taken over a field.

    Polynomials over that field, over its prime field and over QQ and ZZ can (:func:`common_field`).
    Values that say no field, such as text, numbers and expressions, pass.
    """
    common_field([own_field(value)], field)


def _rational_coefficient(coefficient: Any, field: CoefficientField) -> Fraction:
    """A coefficient of a polynomial of SymPy or FLINT over QQ, ZZ or GF(p), as a fraction.

    ``field`` is that of the polynomial, QQ for ZZ. A residue becomes the congruent integer nearest
    to 0.

    Raises
    ------
    ConversionError
        If it is neither a residue nor rational.
    """
    p = field.characteristic
    if p and (isinstance(coefficient, _Residue) or hasattr(coefficient, "to_int")):
        residue = int(coefficient) % p
        return Fraction(residue if 2 * residue <= p else residue - p)
    if not hasattr(coefficient, "denominator"):
        raise ConversionError(f"the coefficient {coefficient} is not in ZZ, QQ or GF(p)")
    return fraction(coefficient)


def from_terms(
    ring: PolynomialRing, names: Sequence[str], terms: Iterable[tuple[Sequence[int], Any]]
) -> PolyElement:
    """The element of a ring over QQ or GF(p) with these terms.

    A term is a pair: exponents of the variables ``names``, which are among the ring's, and a
    rational number.
    """
    return _element_of_terms(ring, names, ((monomial, ring.number(c)) for monomial, c in terms))


def _element_of_terms(
    ring: PolynomialRing, names: Sequence[str], terms: Iterable[tuple[Sequence[int], Any]]
) -> PolyElement:
    """The element of a ring with these terms.

    A term is a pair: exponents of the variables ``names``, in their order, and an element of the
    ring's domain.

    Raises
    ------
    ConversionError
        If a variable that occurs is not one of the ring.
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
