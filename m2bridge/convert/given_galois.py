"""Elements of python-flint's finite fields and polynomials over them, as Macaulay2 makes them."""

from __future__ import annotations

from itertools import chain
from typing import Any

import flint

from m2bridge.algebra.field import CoefficientField
from m2bridge.algebra.ring import PolynomialRing
from m2bridge.convert.given_polynomials import polynomial
from m2bridge.convert.given_writing import written
from m2bridge.errors import ConversionError
from m2bridge.values.rings import Algebra, GaloisField, QuotientRing, RingElement


def galois(value: Any) -> str:
    """A polynomial over a field GF(q), in the variable x.

    Raises
    ------
    ConversionError
        If it is an element of the field, which does not say of which field.
    """
    if not isinstance(value, flint.fq_default_poly):
        raise ConversionError("a flint.fq_default does not say which field it is of: give a polynomial over the field")
    field = _field(value.context().base_field())
    terms = [((i,), written(_element(field, c))) for i, c in enumerate(value.coeffs()) if c]
    return polynomial(Algebra(field, ("x",)), terms, 1)


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
    order, p, a = int(context.order()) - 1, int(context.characteristic()), context.gen()
    primes = [int(prime) for prime, _ in flint.fmpz(order).factor()]
    others = (sum((n // p**i % p * a**i for i in range(context.degree())), context.zero()) for n in range(1, order + 1))
    return next(x for x in chain([a], others) if all(x ** (order // prime) != 1 for prime in primes))


def _element(field: GaloisField, value: Any) -> RingElement:
    return RingElement(field, _terms(CoefficientField(field.characteristic), value))


def _terms(ground: CoefficientField, value: Any) -> tuple[tuple[tuple[int, ...], Any], ...]:
    """By powers of the generator."""
    residues = enumerate(map(int, value.to_list()))
    return tuple(((i,), ground.domain(c)) for i, c in reversed(list(residues)) if c)
