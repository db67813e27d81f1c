"""Values of workspaces, and the rings that they are of, as ``m2scripts/values.m2`` writes them.

This is the part of :mod:`m2bridge.convert.decode` that knows the classes of values. Most of these
pass as the name of the class and its fields; what is made in another way has a function here.
"""

from collections.abc import Callable
from typing import Any

from sympy import nan, oo

from m2bridge.algebra.field import CoefficientField
from m2bridge.algebra.numbers import LARGE_PRIME
from m2bridge.algebra.ring import PolynomialRing
from m2bridge.convert import values
from m2bridge.convert.decode_numbers import dense_terms, polynomial_reader, rational
from m2bridge.convert.m2_syntax import CONSTANTS, from_macaulay2
from m2bridge.convert.values.collections import SIGN
from m2bridge.convert.values.rings import coefficient_ring, ring_variables
from m2bridge.errors import ValueTypeError
from m2bridge.system import integer

ElementReader = Callable[[Any], Any]
"""Makes an element of one ring of the data that Macaulay2 sends."""


class Record:
    """A reader of one value, whose rings are made once, with a reader of elements for each.

    Parameters
    ----------
    descriptions : list
        Of the rings, each after those that it is made of.
    make_ideal : callable
        Makes an ideal of a polynomial ring and its generators.
    """

    def __init__(self, descriptions: list[list[Any]], make_ideal: Callable[..., Any]) -> None:
        self._make_ideal = make_ideal
        self._rings: list[Any] = []
        self._readers: list[ElementReader] = []
        for description in descriptions:
            ring = self.read(description)
            self._rings.append(ring)
            self._readers.append(self._reader(ring))

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
            place, data = arguments[:2]
            return self._readers[place](data)
        if tag == "Elements":
            place, *listed = arguments
            return tuple(map(self._readers[place], listed))
        parts = map(self.read, arguments)
        if tag == "Ideal":
            return self._ideal(*parts)
        return _MAKERS[tag](*parts)

    def _reader(self, ring: Any) -> ElementReader:
        """Return the reader of elements of this ring; those that it is made of have theirs."""
        match ring:
            case values.IntegerRing():
                return integer
            case CoefficientField(characteristic=0):
                return rational
            case CoefficientField():
                domain = ring.domain
                return lambda data: domain(integer(data))
            case values.RealField():
                return _real
            case values.ComplexField():
                return lambda data: values.ComplexNumber(*map(_real, data))
            case values.FractionField():
                below = self._reader_of(ring.ring)
                return lambda data: values.RingFraction(ring, *map(below, data))
            case values.QuotientRing(ambient=values.IntegerRing()):
                return lambda data: _residue(ring, integer(data))
        width = len(ring_variables(ring))
        over = ring.sympy_ring if isinstance(ring, PolynomialRing | values.Algebra) else None
        if over is not None:
            read = polynomial_reader(over)
            return lambda data: read(dense_terms(data, width))
        number = self._reader_of(coefficient_ring(ring))

        def element(data: Any) -> values.RingElement:
            terms = dense_terms(data, width)
            numbered = [(exponents, number(coefficient)) for exponents, coefficient in terms]
            return values.RingElement(ring, tuple(numbered))

        return element

    def _reader_of(self, ring: Any) -> ElementReader:
        """The reader of elements of a ring that is in the table."""
        return self._readers[self._rings.index(ring)]

    def _ideal(self, ring: Any, generators: tuple[Any, ...]) -> Any:
        if isinstance(ring, PolynomialRing) and ring.variables:
            # The zero ideal has a generator in Macaulay2, which is 0.
            return self._make_ideal(ring, tuple(filter(None, generators)))
        return values.GeneralIdeal(ring, generators)


def _real(data: list[Any]) -> values.Real:
    mantissa, *others = data
    return values.Real(integer(mantissa), *others)


def _residue(ring: values.QuotientRing, number: int) -> values.RingElement:
    """An element of ZZ/n; there are no variables, and zero has no term."""
    return values.RingElement(ring, (((), number),) if number else ())


def _algebra(
    below: Any, names: Any, degrees: Any, order: Any, *others: Any
) -> values.Algebra | PolynomialRing:
    """A ring of polynomials, or with commutation rules, in its plain form if it has one."""
    usual = (("MonomialSize", 32), ("Position", "Up"))
    order = tuple(part for part in order if part not in usual)
    algebra = values.Algebra(below, names, degrees, order, *others)
    if isinstance(below, CoefficientField) and algebra == values.Algebra(below, names):
        return PolynomialRing(below, names)
    return algebra


def _prime_field(p: int) -> CoefficientField | values.QuotientRing:
    """ZZ/p: a field that ideals can have, or a quotient of ZZ where p is too large for these."""
    if p > LARGE_PRIME:
        return values.QuotientRing(values.IntegerRing(), (p,))
    return CoefficientField(p)


def _expression(kind: str, parts: tuple[Any, ...]) -> Any:
    """An expression; products of powers, also behind a minus, and Hilbert series have classes.

    A Hilbert series, which is a Laurent polynomial divided by such a product, is an expression of
    SymPy.
    """
    match kind, parts:
        case "Product", _ if all(map(_is_power, parts)):
            product = values.Factorization(tuple(part.parts for part in parts))
            # A sign inside would be taken for the minus outside when the value goes back.
            if not product.is_negative:
                return product
        case "Minus", [values.Factorization() as inside] if not inside.is_negative:
            return values.Factorization((SIGN, *inside))
        case "Divide", [numerator, values.Factorization() as product]:
            bases = [base for base, _ in product]
            if all(bases) and all(map(_is_of_degrees, [numerator, *bases])):
                return values.Expression(kind, parts).evaluate()
    return values.Expression(kind, parts)


def _is_power(part: Any) -> bool:
    """Whether it is a power with an integer exponent."""
    if not isinstance(part, values.Expression) or part.kind != "Power":
        return False
    _, exponent = part.parts
    return type(exponent) is int


def _is_of_degrees(value: Any) -> bool:
    """Whether it is a Laurent polynomial over the integers, as rings of degrees have them."""
    if not isinstance(value, values.RingElement) or not isinstance(value.ring, values.Algebra):
        return False
    return value.ring.inverses and value.ring.coefficients == values.IntegerRing()


def _constant(name: str) -> Any:
    return CONSTANTS[name] if name in CONSTANTS else _unknown("Constant")


def _infinity(sign: int) -> Any:
    return oo * sign if sign else nan  # as Macaulay2's indeterminate is written


def _text(characters: str) -> str:
    """A string whose bytes are not UTF-8, from these bytes as characters."""
    return str(characters.encode("latin-1"), "utf-8", "surrogateescape")


def _unknown(kind: str) -> Any:
    raise ValueTypeError(kind)


def _plain(plain: Callable[[Any], Any], general: Callable[[Any], Any], items: Any) -> Any:
    """Make a Python collection, or one of ours if Python cannot hold or distinguish the items."""
    whole = general(items)
    try:
        simple = plain(items)
    except TypeError:  # an item, or a key, that does not hash
        return whole
    # 1 and True are one key for Python.
    return simple if len(simple) == len(whole) else whole


_CLASSES: dict[str, Callable[..., Any]] = {name: getattr(values, name) for name in values.__all__}

_MAKERS: dict[str, Callable[..., Any]] = _CLASSES | {
    "ZZ": integer,
    "QQ": rational,
    "Constant": _constant,
    "Infinity": _infinity,
    "Bytes": _text,
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
    "Unknown": _unknown,
}
"""The classes of values by their names, which take their fields; and what makes the others."""
