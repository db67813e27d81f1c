"""Elements of python-flint's finite fields and polynomials over them, as Macaulay2 makes them."""

from __future__ import annotations

from itertools import count
from typing import Any

import flint

from m2bridge.algebra.field import CoefficientField
from m2bridge.algebra.ring import PolynomialRing
from m2bridge.convert.given_polynomials import polynomial
from m2bridge.convert.given_rings import ring
from m2bridge.convert.given_writing import written
from m2bridge.errors import ConversionError
from m2bridge.values.rings import Algebra, GaloisField, QuotientRing, RingElement


def galois(value: Any) -> str:
    """An element of a field GF(q), or a polynomial in x over it."""
    name = type(value).__name__
    if name == "fq_default":
        context = value.ctx()
        if context.degree() == 1:
            return f"(promote({_residues(value)[0]}, {ring(CoefficientField(int(context.characteristic())))}))"
        return written(_element(_field(context), value))
    if name == "fq_default_poly":
        field = _field(value.ctx().base_field())
        terms = [((i,), written(_element(field, c))) for i, c in enumerate(value.coeffs()) if c]
        return polynomial(Algebra(field, ("x",)), terms, 1)
    raise ConversionError(f"a flint.{name} has no counterpart in Macaulay2")


def _field(context: Any) -> GaloisField:
    """The field with flint's modulus and name of the generator."""
    ground = CoefficientField(int(context.characteristic()))
    below = PolynomialRing(ground, (str(context.gen()),))
    domain = below.sympy_ring.domain
    coefficients = context.modulus().coeffs()
    relation = below.sympy_ring.from_dict({(i,): domain(int(c)) for i, c in enumerate(coefficients) if int(c)})
    quotient = QuotientRing(below, (relation,))
    return GaloisField(quotient, RingElement(quotient, _terms(ground, _primitive(context))))


def _primitive(context: Any) -> Any:
    """The generator, if its powers are all elements but zero; else the first other element of which this is true."""
    order = int(context.order()) - 1
    primes = [int(p) for p, _ in flint.fmpz(order).factor()]
    for number in count():
        candidate = context.gen() + number if number < context.characteristic() else context.random_element()
        if candidate and all(candidate ** (order // p) != 1 for p in primes):
            return candidate
    raise AssertionError


def _element(field: GaloisField, value: Any) -> RingElement:
    return RingElement(field, _terms(CoefficientField(field.characteristic), value))


def _terms(ground: CoefficientField, value: Any) -> tuple[tuple[tuple[int, ...], Any], ...]:
    residues = enumerate(_residues(value))
    return tuple(((i,), ground.domain(c)) for i, c in reversed(list(residues)) if c)


def _residues(value: Any) -> list[int]:
    """The coefficients of the powers of the generator."""
    return [int(c) for c in value.to_list()]
