"""Numbers, polynomials and matrices of python-flint, NumPy and SymPy's finite fields, as Macaulay2 makes them."""

from fractions import Fraction
from itertools import chain
from typing import Any

import flint

from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.algebra.numbers import fraction
from m2bridge.algebra.ring import PolynomialRing
from m2bridge.errors import ConversionError
from m2bridge.workspace.encode import encode, inexact, scalar
from m2bridge.workspace.encode_algebra import plain_matrix, polynomial
from m2bridge.workspace.values.elements import RingElement
from m2bridge.workspace.values.rings import (
    Algebra,
    GaloisField,
    IntegerRing,
    QuotientRing,
    glex_order,
    grevlex_order,
    lex_order,
)

_ORDERS = {"Ordering.lex": lex_order, "Ordering.deglex": glex_order, "Ordering.degrevlex": grevlex_order}


@encode.register(object)
def _(value: Any) -> str:
    """The value as a Macaulay2 expression.

    Raises
    ------
    ConversionError
        If it belongs to none of these libraries, or is not exact.
    """
    kind = type(value)
    library = kind.__module__.partition(".")[0]
    if library == "numpy":
        return _numpy(value)
    if library == "flint":
        return _flint(value)
    if hasattr(value, "parent") and hasattr(value, "to_int"):  # SymPy's residues
        return f"(promote({int(value)}, {encode(CoefficientField(int(value.mod)))}))"
    raise ConversionError(
        f"a {kind.__module__}.{kind.__name__} has no counterpart in Macaulay2; give numbers, text, lists, tuples, "
        "dicts, sets, polynomials and matrices of SymPy or python-flint, or values of m2bridge"
    )


def _numpy(value: Any) -> str:
    if value.dtype.kind not in "iubO":
        raise (
            inexact(f"an array of {value.dtype}")
            if value.dtype.kind in "fc"
            else ConversionError(f"an array of {value.dtype} has no counterpart in Macaulay2")
        )
    listed = value.tolist()
    if value.ndim != 2 or value.dtype.kind == "b":
        return encode(listed)
    entries = [x for row in listed for x in row]
    if not all(isinstance(x, int | Fraction) for x in entries):
        raise ConversionError("an array of objects has to hold integers or fractions")
    over = IntegerRing() if all(isinstance(x, int) for x in entries) else QQ
    return encode(plain_matrix(over, listed, value.shape[1]))


def _flint(value: Any) -> str:
    name = type(value).__name__
    if name in _NUMBERS:
        return encode(_number(value))
    if name.startswith("fq_default"):
        return galois(value)
    if isinstance(value, flint.nmod):
        return f"(promote({int(value)}, {encode(_ground(value))}))"
    if isinstance(value, flint.fmpz_mod):
        raise ConversionError("a flint.fmpz_mod does not say its modulus: give a flint.nmod")
    if name in ("fmpz_mat", "fmpq_mat", "nmod_mat", "fmpz_mod_mat"):
        rows = [[_number(x) for x in row] for row in value.tolist()]
        return encode(plain_matrix(_ground(value), rows, value.ncols()))
    if name in ("fmpz_poly", "fmpq_poly", "nmod_poly", "fmpz_mod_poly"):
        terms = [((i,), c) for i, c in enumerate(value.coeffs()) if c]
        return _polynomial(_ring(_ground(value), ("x",), "Ordering.degrevlex"), terms)
    if name in ("fmpz_mpoly", "fmpq_mpoly", "nmod_mpoly", "fmpz_mod_mpoly"):
        context = value.context()
        names = tuple(str(n) for n in context.names())
        return _polynomial(_ring(_ground(value), names, str(context.ordering())), value.to_dict().items())
    if name.startswith(("arb", "acb", "arf")):
        raise inexact(f"a {name}")
    raise ConversionError(f"a flint.{name} has no counterpart in Macaulay2")


_NUMBERS = ("fmpz", "fmpq")


def _number(value: Any) -> int | Fraction:
    return fraction(value) if isinstance(value, flint.fmpq) else int(value)


def _ground(value: Any) -> Any:
    name = type(value).__name__
    if name.startswith("fmpz") and not name.startswith("fmpz_mod"):
        return IntegerRing()
    if name.startswith("fmpq"):
        return QQ
    modulus = value.modulus() if hasattr(value, "modulus") else value.context().modulus()
    return CoefficientField(int(modulus))


def _ring(ground: Any, names: tuple[str, ...], order: str) -> Any:
    if order == "Ordering.degrevlex":
        return PolynomialRing(ground, names) if isinstance(ground, CoefficientField) else Algebra(ground, names)
    return Algebra(ground, names, order=_ORDERS[order](len(names)))


def _polynomial(over: Any, terms: Any) -> str:
    listed = [(tuple(map(int, exponents)), scalar(_number(c))) for exponents, c in terms]
    return polynomial(over, listed, len(over.variables))


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
    terms = [((i,), encode(_galois_element(field, c))) for i, c in enumerate(value.coeffs()) if c]
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


def _galois_element(field: GaloisField, value: Any) -> RingElement:
    return RingElement(field, _terms(CoefficientField(field.characteristic), value))


def _terms(ground: CoefficientField, value: Any) -> tuple[tuple[tuple[int, ...], Any], ...]:
    """By powers of the generator."""
    residues = enumerate(map(int, value.to_list()))
    return tuple(((i,), ground.domain(c)) for i, c in reversed(list(residues)) if c)
