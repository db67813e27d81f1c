"""Reads values of a workspace, and the rings that they are of, as ``m2scripts/values.m2`` writes them."""

import json
from collections.abc import Callable
from typing import Any

from sympy import nan, oo

from m2bridge.algebra.field import CoefficientField
from m2bridge.algebra.numbers import LARGE_PRIME
from m2bridge.algebra.ring import PolynomialRing
from m2bridge.convert import values
from m2bridge.convert.macaulay2 import CONSTANTS, from_macaulay2
from m2bridge.convert.values.collections import SIGN
from m2bridge.convert.values.rings import coefficient_ring, ring_variables
from m2bridge.engine.wire import FAULTS, dense_terms, polynomial_reader, rational
from m2bridge.errors import M2BridgeError, ParseError, ValueTypeError
from m2bridge.ideals.ideal import Ideal
from m2bridge.system import integer

Reader = Callable[[Any], Any]


class Record:
    """Reads the value of one record, whose rings are made once, with a reader of elements for each."""

    def __init__(self, descriptions: list[list[Any]]) -> None:
        self._rings: list[Any] = []
        self._readers: list[Reader] = []
        for description in descriptions:
            ring = self.read(description)
            self._rings.append(ring)
            self._readers.append(self._reader(ring))

    def _reader(self, ring: Any) -> Reader:
        """Return the reader of elements of this ring; the rings that it is made of are there already."""
        if isinstance(ring, values.IntegerRing):
            return integer
        if isinstance(ring, CoefficientField):
            domain = ring.domain
            return (lambda data: domain(integer(data))) if ring.characteristic else rational
        if isinstance(ring, values.RealField):
            return _real
        if isinstance(ring, values.ComplexField):
            return lambda data: values.ComplexNumber(*map(_real, data))
        if isinstance(ring, values.FractionField):
            below = self._readers[self._rings.index(ring.ring)]
            return lambda data: values.RingFraction(ring, *map(below, data))
        if isinstance(ring, values.QuotientRing) and isinstance(ring.ambient, values.IntegerRing):
            return lambda data: values.RingElement(ring, (((), integer(data)),) if integer(data) else ())
        width = len(ring_variables(ring))
        over = ring.sympy_ring if isinstance(ring, PolynomialRing | values.Algebra) else None
        if over is not None:
            read = polynomial_reader(over)
            return lambda data: read(dense_terms(data, width))
        number = self._readers[self._rings.index(coefficient_ring(ring))]
        return lambda data: values.RingElement(ring, tuple((m, number(c)) for m, c in dense_terms(data, width)))

    def read(self, part: Any) -> Any:
        """The value of a part: an object by its type and parts, a tuple of parts, or a constant."""
        if not isinstance(part, list):
            return part
        if not part or not isinstance(part[0], str):
            return tuple(map(self.read, part))
        tag, *arguments = part
        if tag == "Ring":
            return self._rings[arguments[0]]
        if tag == "Element":
            return self._readers[arguments[0]](arguments[1])
        if tag == "Elements":
            return tuple(map(self._readers[arguments[0]], arguments[1:]))
        return _MAKERS[tag](*map(self.read, arguments))


def _real(data: list[Any]) -> values.Real:
    return values.Real(integer(data[0]), *data[1:])


def _algebra(below: Any, names: Any, degrees: Any, order: Any, *others: Any) -> values.Algebra | PolynomialRing:
    """A ring of polynomials, or with commutation rules, in its plain form if it has one."""
    order = tuple(part for part in order if part not in (("MonomialSize", 32), ("Position", "Up")))
    algebra = values.Algebra(below, names, degrees, order, *others)
    plain = isinstance(below, CoefficientField) and algebra == values.Algebra(below, names)
    return PolynomialRing(below, names) if plain else algebra


def _prime_field(p: int) -> CoefficientField | values.QuotientRing:
    return CoefficientField(p) if p <= LARGE_PRIME else values.QuotientRing(values.IntegerRing(), (p,))


def _ideal(ring: Any, generators: tuple[Any, ...]) -> Ideal | values.GeneralIdeal:
    if isinstance(ring, PolynomialRing) and ring.variables:
        return Ideal(ring, tuple(g for g in generators if g))
    return values.GeneralIdeal(ring, generators)


def _expression(kind: str, parts: tuple[Any, ...]) -> values.Expression | values.Factorization:
    if kind == "Product" and all(isinstance(p, values.Expression) and p.kind == "Power" for p in parts):
        product = values.Factorization(tuple(part.parts for part in parts))
        if all(type(exponent) is int for _, exponent in product) and not product.is_negative:
            return product
    if kind == "Minus" and isinstance(parts[0], values.Factorization) and not parts[0].is_negative:
        return values.Factorization((SIGN, *parts[0]))
    return values.Expression(kind, parts)


def _unknown(kind: str) -> Any:
    raise ValueTypeError(kind)


def _plain(plain: Callable[[Any], Any], general: Callable[[Any], Any], items: Any) -> Any:
    """Make a collection of Python's, or ours where an item does not hash or Python mixes some up."""
    whole = general(items)
    try:
        simple = plain(items)
    except TypeError:  # an item, or a key, that does not hash
        return whole
    return simple if len(simple) == len(whole) else whole


_MAKERS: dict[str, Callable[..., Any]] = {
    **{name: getattr(values, name) for name in values.__all__},
    "ZZ": integer,
    "QQ": rational,
    "Constant": lambda name: CONSTANTS[name] if name in CONSTANTS else _unknown("Constant"),
    "Infinity": lambda sign: oo * sign if sign else nan,
    "Bytes": lambda characters: str(characters.encode("latin-1"), "utf-8", "surrogateescape"),
    "Variable": lambda base, *index: from_macaulay2(base, index),
    "List": lambda *items: list(items),
    "Sequence": lambda *items: items,
    "Set": lambda *items: _plain(frozenset, values.Set, items),
    "HashTable": lambda pairs: _plain(dict, values.HashTable, pairs),
    "Expression": _expression,
    "BettiTable": lambda entries: values.BettiTable(tuple(sorted(entries))),
    "HilbertPolynomial": lambda pairs: values.HilbertPolynomial(tuple(sorted(pairs))),
    "CoefficientField": _prime_field,
    "Algebra": _algebra,
    "Ideal": _ideal,
    "Unknown": _unknown,
}
"""The classes of values by their names, which take their fields; and what makes the others."""


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
