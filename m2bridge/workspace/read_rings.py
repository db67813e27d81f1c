"""Rings of a workspace and the data of their elements, as ``m2scripts/values.m2`` writes them."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from sympy.polys.rings import PolyRing

from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.algebra.integers import LARGE_PRIME
from m2bridge.algebra.ring import PolynomialRing
from m2bridge.convert.names import from_macaulay2
from m2bridge.convert.term_wire import dense, terms
from m2bridge.errors import ParseError, ValueTypeError
from m2bridge.system import integer
from m2bridge.workspace.values.inexact import ComplexNumber, Real
from m2bridge.workspace.values.rings import (
    Algebra,
    ComplexField,
    FractionField,
    GaloisField,
    IntegerRing,
    QuotientRing,
    RealField,
    RingElement,
    RingFraction,
    ring_variables,
)

Reader = Callable[[Any], Any]


class Rings:
    """The rings of one record, each made once, with a reader of elements."""

    def __init__(self, descriptions: list[list[Any]]) -> None:
        self.rings: list[Any] = []
        self._readers: list[Reader] = []
        for tag, *arguments in descriptions:
            if tag == "Unknown":
                raise ValueTypeError(arguments[0])
            ring = getattr(self, f"_{_MAKERS[tag]}")(*arguments)
            self.rings.append(ring)
            self._readers.append(self._reader(ring))

    def element(self, place: int, data: Any) -> Any:
        """The element of the ring at this place with these data."""
        return self._readers[place](data)

    def _integers(self) -> IntegerRing:
        return IntegerRing()

    def _rationals(self) -> CoefficientField:
        return QQ

    def _prime_field(self, p: str) -> CoefficientField | QuotientRing:
        return CoefficientField(integer(p)) if integer(p) <= LARGE_PRIME else QuotientRing(IntegerRing(), (integer(p),))

    def _real(self, precision: int) -> RealField:
        return RealField(precision)

    def _complex(self, precision: int) -> ComplexField:
        return ComplexField(precision)

    def _galois(self, quotient: int, primitive: Any) -> GaloisField:
        return GaloisField(self.rings[quotient], self.element(quotient, primitive))

    def _fraction(self, below: int) -> FractionField:
        return FractionField(self.rings[below])

    def _quotient(self, ambient: int, relations: list[Any]) -> QuotientRing:
        return QuotientRing(self.rings[ambient], tuple(self.element(ambient, data) for data in relations))

    def _algebra(
        self,
        coefficients: int,
        variables: list[list[Any]],
        rank: int,
        degrees: list[list[int]],
        order: list[list[Any]],
        inverses: bool,
        joined: bool,
        weyl: list[list[int]],
        skew: list[int],
    ) -> Algebra | PolynomialRing:
        below = self.rings[coefficients]
        names = tuple(from_macaulay2(text(base), index) for base, *index in variables)
        said = [(name, tuple(size) if isinstance(size, list) else size) for name, size in order]
        kept = [part for part in said if part not in (("MonomialSize", 32), ("Position", "Up"))]
        algebra = Algebra(
            below,
            names,
            tuple(map(tuple, degrees)),
            tuple(kept),
            inverses,
            tuple((a, b) for a, b in weyl),
            tuple(skew),
            rank,
            joined,
        )
        plain = joined and algebra == Algebra(below, names) and isinstance(below, CoefficientField)
        return PolynomialRing(below, names) if plain else algebra

    def _reader(self, ring: Any) -> Reader:
        """How the data of elements of this ring are read; the rings that it is made of are there already."""
        if isinstance(ring, IntegerRing):
            return integer
        if isinstance(ring, CoefficientField):
            return _residue(ring) if ring.characteristic else rational
        if isinstance(ring, RealField):
            return real
        if isinstance(ring, ComplexField):
            return complex_number
        if isinstance(ring, FractionField):
            below = self._readers[self.rings.index(ring.ring)]
            return lambda data: RingFraction(ring, below(data[0]), below(data[1]))
        if isinstance(ring, QuotientRing) and isinstance(ring.ambient, IntegerRing):
            return lambda data: RingElement(ring, (((), integer(data)),) if integer(data) else ())
        over = ring.sympy_ring if isinstance(ring, PolynomialRing | Algebra) else None
        return _sympy_reader(over) if over is not None else self._general_reader(ring)

    def _general_reader(self, ring: Any) -> Reader:
        coefficient = self._readers[self.rings.index(_coefficients(ring))]
        width = len(ring_variables(ring))

        def read(data: list[Any]) -> RingElement:
            return RingElement(ring, tuple((dense(powers, width), coefficient(c)) for c, powers in terms(data)))

        return read


_MAKERS = {
    "ZZ": "integers",
    "QQ": "rationals",
    "ZZ/p": "prime_field",
    "RR": "real",
    "CC": "complex",
    "GF": "galois",
    "Fraction": "fraction",
    "Quotient": "quotient",
    "Algebra": "algebra",
}


def text(value: Any) -> str:
    """A string of the wire; those outside ASCII come as bytes, which need not be UTF-8."""
    if isinstance(value, str):
        return value
    tag, characters = value
    if tag != "Bytes":
        raise ParseError(f"not a string: {value!r:.120}")
    return str(characters.encode("latin-1"), "utf-8", "surrogateescape")


def rational(written: str) -> Fraction:
    """``3/7`` or ``3``."""
    return Fraction(*(integer(part) for part in written.split("/")))


def real(data: list[Any]) -> Real:
    """A real number: precision with mantissa and exponent, or with the name of what is none."""
    precision, number, *exponent = data
    if exponent:
        return Real(integer(number), exponent[0], precision)
    return Real(0, 0, precision, _SPECIAL[number])


def complex_number(data: list[Any]) -> ComplexNumber:
    """A complex number."""
    return ComplexNumber(real(data[0]), real(data[1]))


_SPECIAL = {"infinity": "inf", "-infinity": "-inf", "NotANumber": "nan", "0": "", "-0": "-0"}


def _residue(field: CoefficientField) -> Reader:
    domain = field.domain
    return lambda data: domain(integer(data))


def _coefficients(ring: Any) -> Any:
    while isinstance(ring, QuotientRing | GaloisField):
        ring = ring.ambient if isinstance(ring, QuotientRing) else ring.quotient
    return ring.field if isinstance(ring, PolynomialRing) else ring.coefficients


def _sympy_reader(ring: PolyRing) -> Reader:
    domain, width = ring.domain, ring.ngens

    def coefficient(written: str) -> Any:
        numerator, _, denominator = written.partition("/")
        return domain(integer(numerator), integer(denominator)) if denominator else domain(integer(numerator))

    def read(data: list[Any]) -> Any:
        listed = list(terms(data))
        texts = {written for written, _ in listed}
        numbers = dict(zip(texts, map(coefficient, texts), strict=True))
        element = ring.zero
        element.update([(dense(powers, width), numbers[written]) for written, powers in listed])
        if len(element) != len(listed):
            raise ParseError("a monomial occurs twice in one polynomial")
        return element

    return read
