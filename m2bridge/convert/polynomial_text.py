"""Polynomials, equations and rational functions in text, as people write them.

Text is read by a strict parser, :mod:`m2bridge.convert.polynomial_parser`, whose docstring has the
grammar, and never evaluated as a program. What cannot be read, or is too large when it is expanded,
is a ConversionError with the column and the text. Coefficients are in QQ, or in an extension field;
the variables of ``ring`` are the names that may occur.

A divisor g that is no number is read as a further variable, which stands for 1/g and whose name
nobody can write. Afterwards the values of these variables are put in their place: ``values`` has
one for each of the first further variables, and those after them do not occur.
"""

from collections.abc import Sequence
from typing import Any

from sympy.polys.rings import PolyElement

from m2bridge.algebra.extension_field import ExtensionField
from m2bridge.algebra.field import QQ
from m2bridge.algebra.ring import PolynomialRing, normal_form
from m2bridge.algebra.sparse_polynomial import Exponents
from m2bridge.convert.polynomial_parser import PolynomialParser
from m2bridge.errors import ConversionError


def read_polynomial(text: str, ring: PolynomialRing) -> PolyElement:
    """Read a polynomial over QQ, such as ``3/7*x^2*y - (x + 1)**3``."""
    return PolynomialParser(text, ring).whole()


def read_equation(text: str, ring: PolynomialRing) -> PolyElement:
    """Read a polynomial over QQ, or an equation, ``2x^2 = y - 0.5``, as the difference of its
    sides.
    """
    return PolynomialParser(text, ring).whole(equation=True)


def read_rational_function(text: str, ring: PolynomialRing) -> tuple[PolyElement, PolyElement]:
    """Read a rational function over QQ, such as ``(1 - t^2)/(1 + t^2)``, as coprime numerator and
    denominator.
    """
    count = text.count("/")
    if not count:
        return read_polynomial(text, ring), ring.sympy_ring.one
    # 1/g is read as a variable, whose name nobody can write, and replaced afterwards. There are at
    # most as many divisors g as strokes in the text.
    inverses = tuple(f"1/({number})" for number in range(count))
    parser = PolynomialParser(text, PolynomialRing(ring.field, ring.variables + inverses), inverses)
    polynomial = parser.whole()
    values: list[tuple[PolyElement, PolyElement]] = []  # 1/g as (numerator, denominator)
    for divisor in parser.divisors:
        # A divisor may contain inverses of divisors that come before.
        numerator, denominator = _substitute_fractions(divisor, ring, values)
        if not numerator:
            raise ConversionError(f"a divisor must not be zero (in {text[:80]!r})")
        values.append((denominator, numerator))
    return _substitute_fractions(polynomial, ring, values)


def read_over_extension(text: str, ring: PolynomialRing, *, equation: bool = False) -> PolyElement:
    """Read a polynomial over an extension field, or an equation if ``equation`` is true; the
    field's generators are constants in the text, and constants that are not zero can be divisors.

    >>> from m2bridge.algebra.extension_field import gaussian_field
    >>> read_over_extension("2x/(1 + i) - i^2", PolynomialRing(gaussian_field("i"), ("x",)))
    -(i - 1)*x + 1
    """
    field = ring.field
    # The text is read over QQ, with the generators of the field as variables.
    names = ring.variables + field.names
    # 1/g is read as a variable, whose name nobody can write, and replaced afterwards.
    inverses = tuple(f"1/({number})" for number in range(text.count("/")))
    parser = PolynomialParser(text, PolynomialRing(QQ, names + inverses), inverses)
    polynomial = parser.whole(equation=equation)
    values: list[Any] = []  # of the inverses 1/g, in the field
    for divisor in parser.divisors:
        # A divisor may contain inverses of divisors that come before.
        value = convert_to_extension(divisor, ring, values)
        if not value or not value.is_ground:
            elements = f"numbers and polynomials in {', '.join(field.names)}"
            raise ConversionError(
                f"only {elements} that are not zero can be divisors (in {text[:80]!r})"
            )
        values.append(field.domain.one / value.LC)
    return convert_to_extension(polynomial, ring, values)


def convert_to_extension(
    polynomial: PolyElement, ring: PolynomialRing, values: Sequence[Any] = ()
) -> PolyElement:
    """Convert a polynomial over QQ in the variables of ``ring``, the generators of its field, and
    perhaps further ones with these values: over QQ(a), with 1/a for w, x*a + x*w becomes (a +
    1/a)*x.
    """
    field = ring.field
    assert isinstance(field, ExtensionField)
    polynomials = _polynomials_in_generators(polynomial, field, variables=len(ring.variables))
    coefficients: dict[Exponents, Any] = {}  # by the exponents of the ring's variables
    for (exponents, further_exponents), in_generators in polynomials.items():
        summand = field.element(in_generators)
        # ``values`` can be shorter, because further variables without a value do not occur.
        for value, exponent in zip(values, further_exponents, strict=False):
            summand = summand * field.power(value, exponent)
        coefficients[exponents] = coefficients.get(exponents, field.domain.zero) + summand
    return ring.sympy_ring.from_dict({exponents: c for exponents, c in coefficients.items() if c})


def _polynomials_in_generators(
    polynomial: PolyElement, field: ExtensionField, variables: int
) -> dict[tuple[Exponents, Exponents], dict[Exponents, Any]]:
    """The terms that differ only in the generators, collected: polynomials in the generators,
    reduced modulo the characteristic, by the exponents of the first ``variables`` variables and of
    the further ones.
    """
    end_of_generators = variables + len(field.names)
    polynomials: dict[tuple[Exponents, Exponents], dict[Exponents, Any]] = {}
    for monomial, coefficient in polynomial.items():
        number = coefficient
        if field.characteristic:
            number = _residue(coefficient, field.characteristic)
        key = monomial[:variables], monomial[end_of_generators:]
        in_generators = polynomials.setdefault(key, {})
        in_generators[monomial[variables:end_of_generators]] = number
    return polynomials


def _residue(number: Any, p: int) -> int:
    """A rational number modulo p, from 0 to p − 1; ConversionError if p divides its denominator."""
    if int(number.denominator) % p == 0:
        raise ConversionError(
            f"a coefficient with a denominator divisible by {p} has no meaning in characteristic"
            f" {p}"
        )
    return int(number.numerator) * pow(int(number.denominator), -1, p) % p


def _substitute_fractions(
    polynomial: PolyElement, ring: PolynomialRing, values: list[tuple[PolyElement, PolyElement]]
) -> tuple[PolyElement, PolyElement]:
    """Numerator and denominator, coprime, of a polynomial in the ring's variables and further ones,
    whose values are fractions: with 1/t for w, t^2*w + w becomes (t^2 + 1, t).
    """
    count = len(ring.variables)
    # The terms that differ only in the ring's variables, by the exponents of the further ones.
    terms_by_further_exponents: dict[Exponents, dict[Exponents, object]] = {}
    for monomial, coefficient in polynomial.items():
        terms = terms_by_further_exponents.setdefault(monomial[count:], {})
        terms[monomial[:count]] = coefficient
    total_numerator, total_denominator = ring.sympy_ring.zero, ring.sympy_ring.one
    for exponents, terms in terms_by_further_exponents.items():
        numerator, denominator = ring.sympy_ring.from_dict(terms), ring.sympy_ring.one
        # ``values`` can be shorter, because further variables without a value do not occur.
        for (value_numerator, value_denominator), exponent in zip(values, exponents, strict=False):
            numerator = numerator * value_numerator**exponent
            denominator = denominator * value_denominator**exponent
        total_numerator = total_numerator * denominator + numerator * total_denominator
        total_denominator = total_denominator * denominator
        # without their greatest common divisor
        total_numerator, total_denominator = total_numerator.cancel(total_denominator)
    return total_numerator, total_denominator


def names_in(text: str) -> tuple[str, ...]:
    """The names that occur in the text of a polynomial, each once, in the order in which they
    occur.
    """
    # the text is only divided into tokens, which needs no variables
    tokens = PolynomialParser(text, PolynomialRing(QQ, ())).tokens
    return tuple(dict.fromkeys(normal_form(token.text) for token in tokens if token.kind == "name"))
