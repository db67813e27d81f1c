"""Values of NumPy, python-flint and SymPy as numbers and as :mod:`m2bridge.convert.values`.

What is not exact is refused by a ConversionError, and so is a value that does not name its ring.
FLINT's polynomials in one variable do not name it; here it is x. Their coefficients are listed from
the constant one on.
"""

from collections.abc import Iterable
from fractions import Fraction
from itertools import chain
from typing import Any

import flint
from sympy import Expr, Rational
from sympy.polys.orderings import grevlex, grlex, lex

from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.algebra.numbers import fraction
from m2bridge.algebra.ring import PolynomialRing
from m2bridge.convert import values
from m2bridge.convert.values.inexact import not_exact
from m2bridge.convert.values.rings import ORDERS, integers_modulo
from m2bridge.errors import ConversionError

ExponentTerms = tuple[tuple[tuple[int, ...], Any], ...]
"""Exponents with coefficients, none of which is zero."""

_FLINT_ORDERS = {"Ordering.lex": lex, "Ordering.deglex": grlex, "Ordering.degrevlex": grevlex}


def number(value: Expr) -> int | Fraction:
    """A rational number of SymPy as an ``int`` or a ``Fraction``."""
    if not isinstance(value, Rational):
        raise ConversionError(f"'{value}' is not a rational number")
    return int(value) if value.is_Integer else fraction(value)


def number_matrix(
    rows: list[list[int | Fraction]], columns: int, ring: Any = None
) -> values.Matrix:
    """A matrix of numbers over ``ring``; if none is given, over ZZ, or QQ if one is a fraction.
    ``columns`` cannot be seen if there are no rows.
    """
    if ring is None:
        integral = all(isinstance(entry, int) for entry in chain(*rows))
        ring = values.IntegerRing() if integral else QQ
    no_degree = ()  # the degree of a basis element, as ZZ and QQ have no grading
    target = values.Module(ring, (no_degree,) * len(rows))
    source = values.Module(ring, (no_degree,) * columns)
    entries = tuple(map(tuple, rows))
    return values.Matrix(target, source, entries)


def of_numpy(value: Any) -> Any:
    """The exact entries of an array of NumPy: a matrix if it has two dimensions, else nested lists,
    as truth values are always, since they are no entries of a matrix.
    """
    kind = value.dtype.kind
    if kind in "fc":  # floating-point, complex
        raise not_exact(f"an array of {value.dtype}")
    if kind not in "iubO":  # integers, unsigned ones, truth values, objects
        raise ConversionError(f"an array of {value.dtype} has no counterpart in Macaulay2")
    nested_lists = value.tolist()
    if value.ndim != 2 or kind == "b":
        return nested_lists
    # NumPy keeps any object in such an array, also numbers that are not exact.
    for entry in chain(*nested_lists):
        if not isinstance(entry, int | Fraction):
            raise ConversionError("an array of objects has to hold integers or fractions")
    columns = value.shape[1]
    return number_matrix(nested_lists, columns)


def flint_number(value: Any) -> int | Fraction:
    """A number of FLINT as an ``int`` or a ``Fraction``; a residue as an integer from 0 on."""
    return fraction(value) if isinstance(value, flint.fmpq) else int(value)


def flint_matrix(value: Any) -> values.Matrix:
    """A matrix of FLINT over ZZ, QQ or ZZ/n."""
    rows = [list(map(flint_number, row)) for row in value.tolist()]
    return number_matrix(rows, value.ncols(), _coefficient_ring(value))


def flint_polynomial(value: Any) -> values.RingElement:
    """A polynomial of FLINT over ZZ, QQ or ZZ/n, in one variable or several."""
    is_multivariate = type(value).__name__.endswith("mpoly")
    if is_multivariate:
        context = value.context()
        names = tuple(map(str, context.names()))
        sympy_order = _FLINT_ORDERS[str(context.ordering())]
        flint_terms = value.to_dict().items()
    else:
        names = ("x",)
        sympy_order = grevlex
        flint_terms = _univariate(value.coeffs())
    order = ORDERS[sympy_order](len(names))
    ring = values.Algebra(_coefficient_ring(value), names, order=order)
    terms = []
    for exponents, coefficient in flint_terms:
        monomial = tuple(map(int, exponents))  # FLINT's integers
        terms.append((monomial, flint_number(coefficient)))
    return values.RingElement(ring, tuple(terms))


def galois_polynomial(value: flint.fq_default_poly) -> values.RingElement:
    """A polynomial of FLINT over GF(q), over the field of :func:`_galois_field`, whose elements are
    polynomials in the generator a over GF(p).
    """
    field = _galois_field(value.context().base_field())
    prime_field = field.quotient.ambient.field
    coefficients = []
    for coefficient in value.coeffs():
        terms = _univariate_over(prime_field, coefficient.to_list())
        coefficients.append(values.RingElement(field, terms))
    return values.RingElement(values.Algebra(field, ("x",)), _univariate(coefficients))


def _galois_field(context: flint.fq_default_ctx) -> values.GaloisField:
    """The field GF(q) of FLINT as GF(p)[a]/(m), with FLINT's modulus m, of degree 1 where q = p,
    and FLINT's name a of the generator.
    """
    prime_field = CoefficientField(int(context.characteristic()))
    ring_of_generator = PolynomialRing(prime_field, (str(context.gen()),))
    modulus_terms = _univariate_over(prime_field, context.modulus().coeffs())
    modulus = ring_of_generator.sympy_ring.from_dict(dict(modulus_terms))
    quotient = values.QuotientRing(ring_of_generator, (modulus,))
    generator = values.RingElement(quotient, _univariate_over(prime_field, [0, 1]))  # a = 0 + 1*a
    return values.GaloisField(quotient, generator)


def _univariate_over(field: CoefficientField, coefficients: Iterable[Any]) -> ExponentTerms:
    """The terms of a polynomial in one variable over a prime field, from integers or residues of
    FLINT.
    """
    return _univariate(field.domain(int(coefficient)) for coefficient in coefficients)


def _coefficient_ring(value: Any) -> values.IntegerRing | CoefficientField | values.QuotientRing:
    """The ring of the coefficients or entries of one of FLINT's values, known by its class."""
    name = type(value).__name__
    if "mod" in name:  # nmod_mat, fmpz_mod_mpoly …
        modulus = value.modulus() if hasattr(value, "modulus") else value.context().modulus()
        return integers_modulo(int(modulus))
    return QQ if name.startswith("fmpq") else values.IntegerRing()


def _univariate(coefficients: Iterable[Any]) -> ExponentTerms:
    """The nonzero terms of a polynomial in one variable, from all its coefficients."""
    terms = []
    for exponent, coefficient in enumerate(coefficients):
        if coefficient:
            terms.append(((exponent,), coefficient))
    return tuple(terms)
