"""Reads values of a workspace, and the rings that they are of, as ``m2scripts/values.m2`` writes them."""

import json
from collections.abc import Callable
from typing import Any

from sympy import nan, oo

from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.algebra.numbers import LARGE_PRIME
from m2bridge.algebra.ring import PolynomialRing
from m2bridge.convert.macaulay2 import CONSTANTS, from_macaulay2
from m2bridge.engine.wire import FAULTS, dense_terms, polynomial_reader, rational
from m2bridge.errors import M2BridgeError, ParseError, ValueTypeError
from m2bridge.ideals.ideal import Ideal
from m2bridge.system import integer
from m2bridge.workspace import values
from m2bridge.workspace.values.collections import SIGN
from m2bridge.workspace.values.rings import coefficient_ring, ring_variables

Reader = Callable[[Any], Any]


class Record:
    """Reads the value of one record, whose rings are made once, with a reader of elements for each."""

    def __init__(self, descriptions: list[list[Any]]) -> None:
        self.rings: list[Any] = []
        self._readers: list[Reader] = []
        for tag, *arguments in descriptions:
            ring = _RINGS[tag](self, *arguments)
            self.rings.append(ring)
            self._readers.append(self._reader(ring))

    def ring(self, place: int) -> Any:
        """The ring at this place."""
        return self.rings[place]

    def element(self, place: int, data: Any) -> Any:
        """The element of the ring at this place with these data."""
        return self._readers[place](data)

    def elements(self, place: int, listed: list[Any]) -> tuple[Any, ...]:
        """Elements of the ring at this place."""
        return tuple(map(self._readers[place], listed))

    def algebra(self, *parts: Any) -> values.Algebra | PolynomialRing:
        """A ring of polynomials, or with commutation rules, in its plain form if it has one."""
        coefficients, variables, rank, degrees, order, inverses, joined, weyl, skew = parts
        below = self.rings[coefficients]
        names = tuple(from_macaulay2(text(base), index) for base, *index in variables)
        orders = [(name, tuple(size) if isinstance(size, list) else size) for name, size in order]
        order = tuple(part for part in orders if part not in (("MonomialSize", 32), ("Position", "Up")))
        degrees, weyl = tuple(map(tuple, degrees)), tuple((a, b) for a, b in weyl)
        algebra = values.Algebra(below, names, degrees, order, inverses, weyl, tuple(skew), rank, joined)
        plain = joined and algebra == values.Algebra(below, names) and isinstance(below, CoefficientField)
        return PolynomialRing(below, names) if plain else algebra

    def _reader(self, ring: Any) -> Reader:
        """Return the reader of elements of this ring; the rings that it is made of are there already."""
        if isinstance(ring, values.IntegerRing):
            return integer
        if isinstance(ring, CoefficientField):
            domain = ring.domain
            return (lambda data: domain(integer(data))) if ring.characteristic else rational
        if isinstance(ring, values.RealField):
            return real
        if isinstance(ring, values.ComplexField):
            return complex_number
        if isinstance(ring, values.FractionField):
            below = self._readers[self.rings.index(ring.ring)]
            return lambda data: values.RingFraction(ring, below(data[0]), below(data[1]))
        if isinstance(ring, values.QuotientRing) and isinstance(ring.ambient, values.IntegerRing):
            return lambda data: values.RingElement(ring, (((), integer(data)),) if integer(data) else ())
        width = len(ring_variables(ring))
        over = ring.sympy_ring if isinstance(ring, PolynomialRing | values.Algebra) else None
        if over is not None:
            read = polynomial_reader(over)
            return lambda data: read(dense_terms(data, width))
        number = self._readers[self.rings.index(coefficient_ring(ring))]
        return lambda data: values.RingElement(ring, tuple((m, number(c)) for m, c in dense_terms(data, width)))

    def read(self, value: Any) -> Any:
        if value is None or isinstance(value, bool | str):
            return value
        tag, *arguments = value
        if tag in _SIMPLE:
            return _SIMPLE[tag](*arguments)
        if tag in _ITEMS:
            return _ITEMS[tag]([self.read(item) for item in arguments[0]])
        if tag in _PAIRS:
            return _PAIRS[tag]([(self.read(k), self.read(v)) for k, v in arguments[0]])
        return _METHODS[tag](self, *arguments)

    def expression(self, kind: str, items: list[Any]) -> Any:
        parts = tuple(map(self.read, items))
        if kind == "Product" and all(isinstance(p, values.Expression) and p.kind == "Power" for p in parts):
            product = values.Factorization(tuple(part.parts for part in parts))
            if all(type(exponent) is int for _, exponent in product) and not product.is_negative:
                return product
        if kind == "Minus" and isinstance(parts[0], values.Factorization) and not parts[0].is_negative:
            return values.Factorization((SIGN, *parts[0]))
        return values.Expression(kind, parts)

    def ideal(self, place: int, generators: list[Any]) -> Ideal | values.GeneralIdeal:
        ring, elements = self.ring(place), self.elements(place, generators)
        if isinstance(ring, PolynomialRing) and ring.variables:
            return Ideal(ring, tuple(g for g in elements if g))
        return values.GeneralIdeal(ring, elements)

    def module(self, data: list[Any]) -> values.Module:
        place, degrees, generators, relations = data
        parts = [None if part is None else self.matrix(part) for part in (generators, relations)]
        return values.Module(self.ring(place), tuple(map(tuple, degrees)), *parts)

    def matrix(self, data: list[Any]) -> values.Matrix:
        target, source, degree, rows = data
        entries = tuple(self.elements(target[0], row) for row in rows)
        return values.Matrix(self.module(target), self.module(source), entries, tuple(degree))

    def complex(self, place: int, low: int, modules: list[Any], maps: list[Any]) -> values.Complex:
        return values.Complex(self.ring(place), low, tuple(map(self.module, modules)), tuple(map(self.matrix, maps)))


_RINGS: dict[str, Callable[..., Any]] = {
    "ZZ": lambda record: values.IntegerRing(),
    "QQ": lambda record: QQ,
    "ZZ/p": lambda record, p: _prime_field(integer(p)),
    "RR": lambda record, precision: values.RealField(precision),
    "CC": lambda record, precision: values.ComplexField(precision),
    "Unknown": lambda record, kind: _unknown(kind),
    "GF": lambda record, place, data: values.GaloisField(record.ring(place), record.element(place, data)),
    "Fraction": lambda record, place: values.FractionField(record.ring(place)),
    "Quotient": lambda record, place, data: values.QuotientRing(record.ring(place), record.elements(place, data)),
    "Algebra": Record.algebra,
}


def _prime_field(p: int) -> CoefficientField | values.QuotientRing:
    return CoefficientField(p) if p <= LARGE_PRIME else values.QuotientRing(values.IntegerRing(), (p,))


def text(value: Any) -> str:
    """A string of the wire; those outside ASCII come as bytes, which need not be UTF-8."""
    if isinstance(value, str):
        return value
    tag, characters = value
    if tag != "Bytes":
        raise ParseError(f"not a string: {value!r:.120}")
    return str(characters.encode("latin-1"), "utf-8", "surrogateescape")


def real(data: list[Any]) -> values.Real:
    """A real number: precision with mantissa and exponent, or with the name of what is none."""
    precision, number, *exponent = data
    if exponent:
        return values.Real(integer(number), exponent[0], precision)
    return values.Real(0, 0, precision, _SPECIAL[number])


def complex_number(data: list[Any]) -> values.ComplexNumber:
    """A complex number."""
    return values.ComplexNumber(real(data[0]), real(data[1]))


_SPECIAL = {"infinity": "inf", "-infinity": "-inf", "NotANumber": "nan", "0": "", "-0": "-0"}


def decode(value: Any) -> Any:
    """The Python object of a value on the wire, with the rings of its record; ``None`` for no value.

    Raises
    ------
    ParseError
        If it does not follow the format.
    """
    if value is None:
        return None
    try:
        tag, descriptions, content = value
        if tag != "Value":
            raise ParseError(f"not a value of a workspace: {json.dumps(value)[:120]}")
        return Record(descriptions).read(content)
    except M2BridgeError:
        raise
    except FAULTS as reason:
        raise ParseError(f"not a value of the wire format: {json.dumps(value)[:120]}") from reason


def _unknown(kind: Any) -> Any:
    raise ValueTypeError(text(kind))


_SIMPLE: dict[str, Callable[..., Any]] = {
    "ZZ": integer,
    "QQ": rational,
    "RR": real,
    "CC": complex_number,
    "RRi": lambda left, right: values.RealInterval(real(left), real(right)),
    "Constant": lambda name: CONSTANTS[name] if name in CONSTANTS else _unknown("Constant"),
    "Infinity": lambda sign: oo * sign if sign else nan,
    "Bytes": lambda characters: text(["Bytes", characters]),
    "Reference": lambda kind, shown, key: values.Reference(text(kind), text(shown), key),
    "Unknown": _unknown,
}

_ITEMS: dict[str, Callable[[list[Any]], Any]] = {
    "List": list,
    "Sequence": tuple,
    "Array": lambda items: values.Array(tuple(items)),
    "MutableList": lambda items: values.MutableList(tuple(items)),
    "Partition": lambda items: values.Partition(tuple(items)),
    "Option": lambda items: values.Option(*items),
    "Set": lambda items: _plain(frozenset, values.Set, items),
}

_PAIRS: dict[str, Callable[[list[tuple[Any, Any]]], Any]] = {
    "HashTable": lambda pairs: _plain(dict, values.HashTable, pairs),
    "MutableHashTable": values.MutableHashTable,
    "Tally": values.Tally,
    "VirtualTally": values.VirtualTally,
    "BettiTally": lambda pairs: values.BettiTable(
        tuple(sorted(((i, tuple(d), w), count) for (i, d, w), count in pairs))
    ),
    "HilbertPolynomial": lambda pairs: values.HilbertPolynomial(tuple(sorted(pairs))),
}

_METHODS: dict[str, Callable[..., Any]] = {
    "Expression": Record.expression,
    "Symbol": lambda record, name, *index: values.Symbol(text(name), *map(record.read, index)),
    "Ring": Record.ring,
    "Element": lambda record, place, data: record.element(place, data),
    "Ideal": Record.ideal,
    "MonomialIdeal": lambda record, place, data: values.MonomialIdeal(record.ring(place), record.elements(place, data)),
    "Module": Record.module,
    "Matrix": Record.matrix,
    "MutableMatrix": lambda record, data: values.MutableMatrix(record.matrix(data)),
    "Vector": lambda record, module, data: values.Vector(record.module(module), record.elements(module[0], data)),
    "GroebnerBasis": lambda record, data: values.GroebnerBasis(record.matrix(data)),
    "RingMap": lambda record, target, source, images: values.RingMap(
        record.ring(target), record.ring(source), record.elements(target, images)
    ),
    "Complex": Record.complex,
    "ComplexMap": lambda record, source, target, degree, maps: values.ComplexMap(
        record.complex(*source), record.complex(*target), degree, tuple(map(record.matrix, maps))
    ),
    "Net": lambda record, height, lines: values.Net(tuple(map(text, lines)), height),
}


def _plain(plain: Callable[[list[Any]], Any], general: Callable[[list[Any]], Any], items: list[Any]) -> Any:
    """Make a collection of Python's, or ours where an item does not hash or Python mixes some up."""
    whole = general(items)
    try:
        simple = plain(items)
    except TypeError:  # an item, or a key, that does not hash
        return whole
    return simple if len(simple) == len(whole) else whole
