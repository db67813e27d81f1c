"""Values of NumPy, python-flint and SymPy as Python's numbers and classes of :mod:`m2bridge.convert.values`."""

from collections.abc import Iterable
from fractions import Fraction
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

_FLINT_ORDERS = {"Ordering.lex": lex, "Ordering.deglex": grlex, "Ordering.degrevlex": grevlex}


def number(value: Expr) -> int | Fraction:
    """A rational number of SymPy.

    Raises
    ------
    ConversionError
        If it is none.
    """
    if not isinstance(value, Rational):
        raise ConversionError(f"'{value}' is not a rational number")
    return int(value) if value.is_Integer else fraction(value)


def number_matrix(rows: list[list[int | Fraction]], columns: int, ring: Any = None) -> values.Matrix:
    """A matrix over a ring, or over ZZ or QQ, whichever has the entries."""
    if ring is None:
        integral = all(isinstance(x, int) for row in rows for x in row)
        ring = values.IntegerRing() if integral else QQ
    target = values.Module(ring, ((),) * len(rows))
    source = values.Module(ring, ((),) * columns)
    return values.Matrix(target, source, tuple(map(tuple, rows)))


def of_numpy(value: Any) -> Any:
    """A matrix, where an array has two directions and holds numbers; else numbers in lists.

    Raises
    ------
    ConversionError
        If it holds what is not exact, or no integers, fractions or truth values.
    """
    kind = value.dtype.kind
    if kind in "fc":
        raise not_exact(f"an array of {value.dtype}")
    if kind not in "iubO":
        raise ConversionError(f"an array of {value.dtype} has no counterpart in Macaulay2")
    listed = value.tolist()
    if value.ndim != 2 or kind == "b":
        return listed
    if not all(isinstance(x, int | Fraction) for row in listed for x in row):
        raise ConversionError("an array of objects has to hold integers or fractions")
    return number_matrix(listed, value.shape[1])


def flint_number(value: Any) -> int | Fraction:
    """An integer, a fraction, or the least residue that is not negative."""
    return fraction(value) if isinstance(value, flint.fmpq) else int(value)


def flint_matrix(value: Any) -> values.Matrix:
    """A matrix over ZZ, QQ or ZZ/p."""
    rows = [[flint_number(entry) for entry in row] for row in value.tolist()]
    return number_matrix(rows, value.ncols(), _ground(value))


def flint_polynomial(value: Any) -> values.RingElement:
    """A polynomial over ZZ, QQ or ZZ/p; those in one variable, which have no name for it, in x."""
    if type(value).__name__.endswith("mpoly"):
        context = value.context()
        names = tuple(map(str, context.names()))
        order = _FLINT_ORDERS[str(context.ordering())]
        pairs = value.to_dict().items()
    else:
        names = ("x",)
        order = grevlex
        pairs = [((i,), coefficient) for i, coefficient in enumerate(value.coeffs()) if coefficient]
    over = values.Algebra(_ground(value), names, order=ORDERS[order](len(names)))
    terms = [(tuple(map(int, exponents)), flint_number(coefficient)) for exponents, coefficient in pairs]
    return values.RingElement(over, tuple(terms))


def galois_polynomial(value: flint.fq_default_poly) -> values.RingElement:
    """A polynomial over a field GF(q), in the variable x; the field with FLINT's modulus and name of the generator."""
    context = value.context().base_field()
    ground = CoefficientField(int(context.characteristic()))
    below = PolynomialRing(ground, (str(context.gen()),))
    modulus = dict(_univariate(ground, context.modulus().coeffs()))
    quotient = values.QuotientRing(below, (below.sympy_ring.from_dict(modulus),))
    generator = values.RingElement(quotient, (((1,), ground.domain(1)),))
    field = values.GaloisField(quotient, generator)
    terms = []
    for i, coefficient in enumerate(value.coeffs()):
        element = values.RingElement(field, _univariate(ground, coefficient.to_list()))
        if element:
            terms.append(((i,), element))
    return values.RingElement(values.Algebra(field, ("x",)), tuple(terms))


def _ground(value: Any) -> values.IntegerRing | CoefficientField:
    """The ring of the coefficients or entries of one of FLINT's values."""
    name = type(value).__name__
    if "mod" in name:
        modulus = value.modulus() if hasattr(value, "modulus") else value.context().modulus()
        return CoefficientField(int(modulus))
    return QQ if name.startswith("fmpq") else values.IntegerRing()


def _univariate(ground: CoefficientField, residues: Iterable[Any]) -> tuple[tuple[tuple[int, ...], Any], ...]:
    """The terms of a polynomial in one variable, by its coefficients, the constant one first."""
    coefficients = [ground.domain(int(residue)) for residue in residues]
    return tuple(((i,), coefficient) for i, coefficient in enumerate(coefficients) if coefficient)
