"""Values of NumPy, python-flint and SymPy as numbers and as :mod:`m2bridge.convert.values`.

What is not exact is refused, and so is a value that does not name its ring.
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
from m2bridge.convert.values.rings import ORDERS
from m2bridge.errors import ConversionError

ExponentTerms = tuple[tuple[tuple[int, ...], Any], ...]
"""Exponents with coefficients, none of which is zero."""

_FLINT_ORDERS = {"Ordering.lex": lex, "Ordering.deglex": grlex, "Ordering.degrevlex": grevlex}


def number(value: Expr) -> int | Fraction:
    """A rational number of SymPy.

    Raises
    ------
    ConversionError
        If it is not rational.
    """
    if not isinstance(value, Rational):
        raise ConversionError(f"'{value}' is not a rational number")
    return int(value) if value.is_Integer else fraction(value)


def number_matrix(
    rows: list[list[int | Fraction]], columns: int, ring: Any = None
) -> values.Matrix:
    """A matrix over a ring, or over ZZ or QQ, whichever has the entries."""
    if ring is None:
        integral = all(isinstance(entry, int) for entry in chain(*rows))
        ring = values.IntegerRing() if integral else QQ
    no_degree = ()
    target = values.Module(ring, (no_degree,) * len(rows))
    source = values.Module(ring, (no_degree,) * columns)
    entries = tuple(map(tuple, rows))
    return values.Matrix(target, source, entries)


def of_numpy(value: Any) -> Any:
    """A matrix, where an array has two directions and holds numbers; else numbers in lists.

    Raises
    ------
    ConversionError
        If its entries are not exact, or not integers, fractions or truth values.
    """
    kind = value.dtype.kind
    if kind in "fc":
        raise not_exact(f"an array of {value.dtype}")
    if kind not in "iubO":
        raise ConversionError(f"an array of {value.dtype} has no counterpart in Macaulay2")
    listed = value.tolist()
    if value.ndim != 2 or kind == "b":
        return listed
    # NumPy keeps any object in such an array, also numbers that are not exact.
    for entry in chain(*listed):
        if not isinstance(entry, int | Fraction):
            raise ConversionError("an array of objects has to hold integers or fractions")
    columns = value.shape[1]
    return number_matrix(listed, columns)


def flint_number(value: Any) -> int | Fraction:
    """An integer, a fraction, or the least residue that is not negative."""
    return fraction(value) if isinstance(value, flint.fmpq) else int(value)


def flint_matrix(value: Any) -> values.Matrix:
    """A matrix over ZZ, QQ or ZZ/p."""
    rows = [list(map(flint_number, row)) for row in value.tolist()]
    return number_matrix(rows, value.ncols(), _ground(value))


def flint_polynomial(value: Any) -> values.RingElement:
    """A polynomial over ZZ, QQ or ZZ/p; those in one variable, which have no name for it, in x."""
    if type(value).__name__.endswith("mpoly"):
        context = value.context()
        names = tuple(map(str, context.names()))
        order = _FLINT_ORDERS[str(context.ordering())]
        listed = value.to_dict().items()
    else:
        names = ("x",)
        order = grevlex
        listed = _univariate(value.coeffs())
    said = ORDERS[order](len(names))
    over = values.Algebra(_ground(value), names, order=said)
    terms = []
    for exponents, coefficient in listed:
        monomial = tuple(map(int, exponents))  # FLINT's integers
        terms.append((monomial, flint_number(coefficient)))
    return values.RingElement(over, tuple(terms))


def galois_polynomial(value: flint.fq_default_poly) -> values.RingElement:
    """A polynomial over GF(q) in the variable x; with FLINT's modulus and name of the generator."""
    context = value.context().base_field()
    ground = CoefficientField(int(context.characteristic()))

    def terms(coefficients: Iterable[Any]) -> ExponentTerms:
        return _univariate(ground.domain(int(coefficient)) for coefficient in coefficients)

    below = PolynomialRing(ground, (str(context.gen()),))
    relation = below.sympy_ring.from_dict(dict(terms(context.modulus().coeffs())))
    quotient = values.QuotientRing(below, (relation,))
    generator = values.RingElement(quotient, terms([0, 1]))
    field = values.GaloisField(quotient, generator)
    coefficients = [values.RingElement(field, terms(c.to_list())) for c in value.coeffs()]
    over = values.Algebra(field, ("x",))
    return values.RingElement(over, _univariate(coefficients))


def _ground(value: Any) -> values.IntegerRing | CoefficientField:
    """The ring of the coefficients or entries of one of FLINT's values."""
    name = type(value).__name__
    if "mod" in name:  # nmod_mat, fmpz_mod_mpoly …
        modulus = value.modulus() if hasattr(value, "modulus") else value.context().modulus()
        return CoefficientField(int(modulus))
    return QQ if name.startswith("fmpq") else values.IntegerRing()


def _univariate(coefficients: Iterable[Any]) -> ExponentTerms:
    """The terms of a polynomial in one variable, by its coefficients, the constant one first."""
    terms = []
    for exponent, coefficient in enumerate(coefficients):
        if coefficient:
            terms.append(((exponent,), coefficient))
    return tuple(terms)
