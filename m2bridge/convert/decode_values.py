"""Values of workspaces, and the rings that they are of, as ``m2scripts/values.m2`` writes them.

Most classes of values pass as the name of the class and its fields; values that are made in another
way have a function here. Numbers and polynomials are read by :mod:`m2bridge.convert.decode`.

The data are a table of rings, each after the rings that it is made of, and a value. Both are nested
lists of JSON, in which ``["Ring", 2]`` is the ring at place 2 of the table, ``["Element", 2,
data]`` an element of it, ``["Elements", 2, data, …]`` a tuple of its elements, and ``["Array", …]``
an object of the class ``Array`` with these fields. A list whose first item is not text is a tuple.
Data of another form raise KeyError, TypeError, ValueError and others, which :func:`decode_value`
makes a ParseError; a class without a counterpart in Python is a ValueTypeError.
"""

import json
from collections.abc import Callable
from typing import Any

from sympy import nan, oo
from sympy.polys.rings import PolyElement

from m2bridge.algebra.field import CoefficientField
from m2bridge.algebra.ring import PolynomialRing
from m2bridge.convert import values
from m2bridge.convert.decode import FAULTS, dense_terms, no_value, polynomial_reader, rational
from m2bridge.convert.m2_syntax import CONSTANTS, from_macaulay2
from m2bridge.convert.values.collections import SIGN
from m2bridge.convert.values.rings import Order, coefficient_ring, integers_modulo, ring_variables
from m2bridge.errors import M2BridgeError, ParseError, ValueTypeError
from m2bridge.system import integer

ElementReader = Callable[[Any], Any]
"""Makes an element of one ring of the data that Macaulay2 sends."""


def decode_value(
    value: Any, make_ideal: Callable[[PolynomialRing, tuple[PolyElement, ...]], Any]
) -> Any:
    """Read one value of a workspace; ``None`` for no value, ValueTypeError for one without a
    counterpart in Python. ``make_ideal`` makes an ideal, since ideals with methods are defined in a
    higher layer.
    """
    if value is None:
        return None
    try:
        tag, ring_table, content = value  # ["Value", table of rings, value that names its places]
        if tag != "Value":
            raise ParseError(f"not a value of a workspace: {json.dumps(value)[:120]}")
        return ValueReader(ring_table, make_ideal).read(content)
    except M2BridgeError:
        raise
    except FAULTS as reason:
        raise no_value(value) from reason


class ValueReader:
    """A reader of one value of a workspace, given the table of its rings and a function that makes
    an ideal of a ring and generators; each ring is made once, with a function that reads its
    elements.
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
        """The value of a part of the data: an object, a tuple, or the part itself if it
        is not a list.
        """
        if not isinstance(part, list):
            return part
        if not part or not isinstance(part[0], str):
            return tuple(map(self.read, part))
        tag, *arguments = part
        if tag == "Ring":
            return self._rings[arguments[0]]
        if tag == "Element":
            place, data = arguments
            return self._readers[place](data)
        if tag == "Elements":
            place, *elements = arguments
            return tuple(map(self._readers[place], elements))
        fields = map(self.read, arguments)
        if tag == "Ideal":
            ring, generators = fields
            if isinstance(ring, PolynomialRing) and ring.variables:
                # The zero ideal has a generator in Macaulay2, which is 0.
                return self._make_ideal(ring, tuple(filter(None, generators)))
            return values.GeneralIdeal(ring, generators)
        return _MAKERS[tag](*fields)

    def _reader(self, ring: Any) -> ElementReader:
        """Return a new reader of elements of this ring; the readers of the rings that it is made of
        are there already.
        """
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
                read_element = self._reader_of(ring.ring)
                # data are numerator and denominator
                return lambda data: values.RingFraction(ring, *map(read_element, data))
            case values.QuotientRing(ambient=values.IntegerRing()):
                return lambda data: _residue(ring, integer(data))
            case PolynomialRing() | values.Algebra() if ring.sympy_ring is not None:
                # a ring that SymPy has, too
                variables = len(ring_variables(ring))
                read_polynomial = polynomial_reader(ring.sympy_ring)
                return lambda data: read_polynomial(dense_terms(data, variables))
        # a ring that SymPy does not have, such as an algebra with unusual degrees
        variables = len(ring_variables(ring))
        read_coefficient = self._reader_of(coefficient_ring(ring))

        def element(data: Any) -> values.RingElement:
            terms = []
            for exponents, coefficient in dense_terms(data, variables):
                terms.append((exponents, read_coefficient(coefficient)))
            return values.RingElement(ring, tuple(terms))

        return element

    def _reader_of(self, ring: Any) -> ElementReader:
        """The reader of elements of a ring that is in the table."""
        return self._readers[self._rings.index(ring)]


def _real(data: list[Any]) -> values.Real:
    """A real number, from the fields of :class:`Real`, the mantissa as text of any length."""
    mantissa, *other_fields = data
    return values.Real(integer(mantissa), *other_fields)


def _residue(ring: values.QuotientRing, number: int) -> values.RingElement:
    """An element of ZZ/n; there are no variables, and zero has no term."""
    return values.RingElement(ring, (((), number),) if number else ())


def _algebra(
    coefficients: Any,
    names: tuple[str, ...],
    degrees: tuple[tuple[int, ...], ...],
    order: Order,
    *other_fields: Any,
) -> values.Algebra | PolynomialRing:
    """The ring with these fields of :class:`Algebra`; a PolynomialRing if it is commutative, over a
    field, with default degrees and order.
    """
    # Parts of the order that all rings have in Macaulay2 are left out, so that equal rings
    # are equal here.
    parts_of_all_rings = (("MonomialSize", 32), ("Position", "Up"))
    order = tuple(part for part in order if part not in parts_of_all_rings)
    algebra = values.Algebra(coefficients, names, degrees, order, *other_fields)
    is_over_field = isinstance(coefficients, CoefficientField)
    if is_over_field and algebra == values.Algebra(coefficients, names):
        return PolynomialRing(coefficients, names)
    return algebra


def _expression(kind: str, parts: tuple[Any, ...]) -> Any:
    """The value of an expression: a product of powers, also behind a minus, is a Factorization, and
    a Hilbert series, a Laurent polynomial over a product of powers, an expression of SymPy; else it
    is an Expression of this ``kind``, a class of Macaulay2.
    """
    match kind, parts:
        case "Product", _ if all(map(_is_power, parts)):
            product = values.Factorization(tuple(part.parts for part in parts))
            # When the value goes back to Macaulay2, a first factor -1 is written as a minus outside
            # of the product. So a product that has this factor inside is no Factorization.
            if not product.is_negative:
                return product
        case "Minus", [values.Factorization() as inside] if not inside.is_negative:
            return values.Factorization((SIGN, *inside))
        case "Divide", [numerator, values.Factorization() as product]:
            bases = [base for base, _ in product]
            # A base that is zero would be a divisor.
            if all(bases) and all(map(_is_laurent_polynomial, [numerator, *bases])):
                return values.Expression(kind, parts).evaluate()
    return values.Expression(kind, parts)


def _is_power(part: Any) -> bool:
    """Whether a part of an expression is a power with an integer exponent."""
    if not isinstance(part, values.Expression) or part.kind != "Power":
        return False
    _, exponent = part.parts
    return type(exponent) is int


def _is_laurent_polynomial(value: Any) -> bool:
    """Whether a value is a Laurent polynomial over ZZ, as numerators of Hilbert series are."""
    if not isinstance(value, values.RingElement) or not isinstance(value.ring, values.Algebra):
        return False
    return value.ring.inverses and value.ring.coefficients == values.IntegerRing()


def _refuse_class(kind: str) -> Any:
    """Raise ValueTypeError: values of this class of Macaulay2 have no counterpart in Python."""
    raise ValueTypeError(kind)


def _collection(
    python_class: Callable[[Any], Any], our_class: Callable[[Any], Any], items: Any
) -> Any:
    """Make a Python collection, ``frozenset`` or ``dict``, of items or pairs, or one of ours, which
    takes any, if Python cannot hold or distinguish them.
    """
    our_collection = our_class(items)
    try:
        python_collection = python_class(items)
    except TypeError:  # an item, or a key, that does not hash
        return our_collection
    # 1 and True are one key for Python: then its collection has fewer items.
    if len(python_collection) < len(our_collection):
        return our_collection
    return python_collection


_CLASSES: dict[str, Callable[..., Any]] = {name: getattr(values, name) for name in values.__all__}

_MAKERS: dict[str, Callable[..., Any]] = _CLASSES | {
    "ZZ": integer,
    "QQ": rational,
    "Constant": lambda name: CONSTANTS[name] if name in CONSTANTS else _refuse_class("Constant"),
    "Infinity": lambda sign: oo * sign if sign else nan,  # 0 for Macaulay2's indeterminate
    # The characters have the numbers of the bytes. Bytes that are not UTF-8 become half surrogate
    # pairs, as in the names of Python's files.
    "Bytes": lambda text: str(text.encode("latin-1"), "utf-8", "surrogateescape"),
    "Variable": lambda base, *index: from_macaulay2(base, index),
    "List": lambda *items: list(items),
    "Sequence": lambda *items: items,
    "Set": lambda *items: _collection(frozenset, values.Set, items),
    "HashTable": lambda pairs: _collection(dict, values.HashTable, pairs),
    "Expression": _expression,
    "BettiTable": lambda entries: values.BettiTable(tuple(sorted(entries))),
    "HilbertPolynomial": lambda pairs: values.HilbertPolynomial(tuple(sorted(pairs))),
    # QQ for 0; ZZ/p is a quotient of ZZ where p is too large for ideals
    "CoefficientField": lambda p: integers_modulo(p) if p else CoefficientField(),
    "Algebra": _algebra,
    "Unknown": _refuse_class,
}
"""By tag, what makes a value from its fields: most often the class with this name."""
