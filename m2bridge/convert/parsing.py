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
from sympy import Equality, Expr, Poly
from sympy.polys.rings import PolyElement
from sympy.utilities.iterables import flatten

from m2bridge.algebra.expressions import difference, symbol_name, variables_of
from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.algebra.numbers import fraction
from m2bridge.algebra.ring import PolynomialRing, first_names
from m2bridge.convert.polynomial_text import names_in, read_equation
from m2bridge.errors import ConversionError
from m2bridge.system import integer

_NUMBER = re.compile(r"([0-9]+)(?:/([1-9][0-9]*))?")
_POWER = re.compile(r"([^^]+)(?:\^([0-9]{1,4}))?")


def generator_reader(ring: PolynomialRing) -> Callable[[str], PolyElement]:
    """Return the inverse of :func:`m2bridge.convert.printing.polynomial_text` for one ring.

    It raises ConversionError if a term is not one, occurs twice or is zero; so zero has no text.
    """
    places = {name: place for place, name in enumerate(ring.variables)}

    @cache
    def number(text: str) -> Any:
        match = _NUMBER.fullmatch(text)
        if match is None:
            raise ConversionError(
                f"not a number, and not a power of a variable of the ring: {text[:120]}"
            )
        return ring.number(Fraction(integer(match[1]), integer(match[2] or "1")))

    def term(text: str) -> tuple[tuple[int, ...], Any]:
        exponents = [0] * len(places)
        coefficient = ring.sympy_ring.domain.one
        for factor in text.split("*"):
            match = _POWER.fullmatch(factor)
            if match and match[1] in places:
                exponents[places[match[1]]] += int(match[2] or 1)
            else:
                coefficient = coefficient * number(factor)
        return tuple(exponents), coefficient

    def polynomial(text: str) -> PolyElement:
        total = ring.sympy_ring.zero
        signed = f"- {text[1:]}" if text.startswith("-") else f"+ {text}"
        words = signed.replace("**", "^").split(" ")
        signs = words[::2]
        terms = words[1::2]
        if len(signs) != len(terms) or not {"+", "-"}.issuperset(signs):
            raise ConversionError(f"not a sum of terms: {text[:120]}")
        for sign, written in zip(signs, terms, strict=True):
            exponents, coefficient = term(written)
            total[exponents] = coefficient if sign == "+" else -coefficient
        # A polynomial is a dictionary: of two terms with one monomial it keeps the last.
        if len(total) < len(terms) or not all(total.values()):
            raise ConversionError(f"a term that is zero, or occurs twice: {text[:120]}")
        return total

    return polynomial


_Flint = flint.fmpz_mpoly | flint.fmpq_mpoly | flint.nmod_mpoly | flint.fmpz_mod_mpoly
_Residue = int | flint.fmpz | flint.nmod | flint.fmpz_mod
_Polynomial = str | Expr | Equality | Poly | PolyElement | _Flint | Number | flint.fmpz | flint.fmpq


def check_polynomial(value: object) -> None:
    """Raise ConversionError if something is nothing like a polynomial."""
    if not isinstance(value, _Polynomial):
        advice = "give polynomials, or lists of them; those of an ideal are ideal.generators"
        raise ConversionError(f"a {type(value).__name__} is not a polynomial: {advice}")


def element(ring: PolynomialRing, value: Any) -> PolyElement:
    """Convert a polynomial of SymPy or FLINT, a number or text to an element of this ring.

    An equation is the difference of its sides.

    Raises
    ------
    ConversionError
        If it is not an exact polynomial in the variables over the field.
    """
    if isinstance(value, PolyElement) and value.ring == ring.sympy_ring:
        return value
    if isinstance(value, PolyElement | _Flint):
        field = own_field(value) or QQ
        terms = [(monomial, _number(c, field)) for monomial, c in value.to_dict().items()]
        return from_terms(ring, ring_variables(value), terms)
    rational = PolynomialRing(QQ, ring.variables)
    if isinstance(value, str):
        polynomial = read_equation(value, rational)
    else:
        value = difference(value)
        if isinstance(value, Poly):
            value = value.as_expr()
        polynomial = rational.polynomial(value)
    return polynomial if ring.field == QQ else element(ring, polynomial)


flat = partial(flatten, cls=(list, tuple))
"""List items, and those of lists and tuples among them."""


def ring_variables(value: Any) -> tuple[str, ...]:
    """The variables of the ring of a polynomial; none if it belongs to no ring."""
    if isinstance(value, PolyElement):
        return tuple(map(symbol_name, value.ring.symbols))
    if isinstance(value, _Flint):
        return tuple(map(str, value.context().names()))
    if isinstance(value, Poly):
        return tuple(map(symbol_name, value.gens))
    return ()


def occurring_names(value: Any) -> Iterable[str]:
    """The names that occur in text or in an expression."""
    if isinstance(value, str):
        return names_in(value)
    if isinstance(value, Expr | Equality):
        return map(symbol_name, variables_of(value))
    return ()


def own_field(value: Any) -> CoefficientField | None:
    """The field of the coefficients of a polynomial, QQ for integers; ``None`` if it says none.

    Raises
    ------
    ConversionError
        If the coefficients are in a ring other than ZZ, QQ and GF(p).
    """
    if isinstance(value, PolyElement):
        return _field_of_domain(value.ring.domain)
    if isinstance(value, Poly):
        return _field_of_domain(value.domain)
    if isinstance(value, flint.nmod_mpoly | flint.fmpz_mod_mpoly):
        return CoefficientField(int(value.context().modulus()))
    if isinstance(value, flint.fmpz_mpoly | flint.fmpq_mpoly):
        return QQ
    return None


def _field_of_domain(domain: Any) -> CoefficientField:
    if not (domain.is_ZZ or domain.is_QQ or domain.is_FiniteField):
        advice = ""
        if domain.is_PolynomialRing or domain.is_FractionField:
            advice = (
                f": give a Poly in all variables, {first_names(list(map(str, domain.symbols)))} too"
            )
        raise ConversionError(f"coefficients in {domain} are not in ZZ, QQ or GF(p){advice}")
    return CoefficientField(int(domain.characteristic()))


def common_field(
    given: Iterable[CoefficientField | None], field: CoefficientField | None
) -> CoefficientField:
    """The field of polynomials over these; numbers of QQ are reduced where a field is asked for.

    Parameters
    ----------
    given : fields of the polynomials, ``None`` where a polynomial says none
    field : the field that was asked for, if one was

    Raises
    ------
    ConversionError
        If two polynomials are over different fields, or one is over a prime field and another
        field was asked for.
    """
    fields = list(dict.fromkeys(filter(None, given)))
    if field is None:
        if len(fields) > 1:
            raise ConversionError(
                f"polynomials over different fields, {fields[0]} and {fields[1]}: give all over one"
            )
        return fields[0] if fields else QQ
    for own in fields:
        if own not in (QQ, field):
            raise ConversionError(f"a polynomial over {own} is not one over {field}")
    return field


def _number(coefficient: Any, field: CoefficientField) -> Fraction:
    """A coefficient of SymPy or FLINT as a number; a residue as the one nearest to 0."""
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
    """The polynomial with these terms, exponents and number, in variables of these names."""
    places = {name: place for place, name in enumerate(ring.variables)}
    coefficients = {}
    for monomial, coefficient in terms:
        exponents = [0] * len(places)
        for name, exponent in zip(names, monomial, strict=True):
            if exponent:
                if name not in places:
                    raise ConversionError(f"{name!r:.60} is not a variable of {ring}")
                exponents[places[name]] = int(exponent)
        coefficients[tuple(exponents)] = ring.number(coefficient)
    return ring.sympy_ring.from_dict(coefficients)
