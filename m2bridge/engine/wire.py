"""Answers of Macaulay2, and their values in the wire format that ``m2scripts/wire.m2`` writes.

===============================  ==================================================
Macaulay2                        Python
===============================  ==================================================
ZZ                               int
QQ                               fractions.Fraction
element of ZZ/p                  element of ``sympy.GF(p)``
String, Boolean, null            str, bool, None
List, Sequence                   list, tuple
element of a polynomial ring     sympy.polys.rings.PolyElement
Ideal                            m2bridge.algebra.ring.GeneratingSet
Matrix over a polynomial ring    m2bridge.engine.wire.PolynomialMatrix
===============================  ==================================================

Values of a workspace have a reader of their own, :mod:`m2bridge.workspace.decode`; in ``m2scripts/values.m2`` their
polynomials are lists of terms, or the text of the engine, which :func:`dense_terms` reads.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeVar

from sympy import ZZ
from sympy.polys.polyerrors import BasePolynomialError
from sympy.polys.rings import PolyElement, PolyRing

from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.algebra.ring import GeneratingSet, PolynomialRing
from m2bridge.convert.macaulay2 import from_macaulay2
from m2bridge.engine.script import Script, fields_of
from m2bridge.engine.session import current
from m2bridge.errors import M2BridgeError, MemoryLimitError, ParseError, TimeLimitError
from m2bridge.limits import clock
from m2bridge.system import integer

Powers = Iterable[tuple[int, int]]
"""Places of variables with their exponents."""

_NAME = r"[A-Za-z]'*(?:_(?:[0-9]+|\([0-9,]+\)))?"
_POWER = re.compile(rf"{_NAME}\^?[0-9]*")
_PARTS = re.compile(rf"({_NAME})(?:\^?([0-9]+))?")
_TERM = re.compile(r"(-?)([0-9]+(?:/[0-9]+)?)?(.*)")


def dense_terms(data: list[Any], width: int) -> list[tuple[tuple[int, ...], Any]]:
    """The exponents of all variables in each term, and its coefficient, as it is on the wire.

    Raises
    ------
    ParseError
        If a text says something else.
    """
    of_text = data and data[0] == "Text"
    sparse: Iterable[tuple[Any, Powers]] = (
        _of_text(*data[1:]) if of_text else ((term[0], zip(term[1::2], term[2::2], strict=True)) for term in data)
    )
    terms = []
    for coefficient, powers in sparse:
        exponents = [0] * width
        for place, exponent in powers:
            exponents[place] = exponent
        terms.append((tuple(exponents), coefficient))
    return terms


def _of_text(names: list[str], size: int, text: str) -> Iterator[tuple[str, Powers]]:
    """``-3/2x_1^2y3+7`` is read from left to right: a letter begins a variable, and occurs nowhere else in it.

    After a name of one letter the engine writes the exponent without a sign.
    """
    places = {name: place for place, name in enumerate(names)}
    pairs: dict[str, tuple[int, int]] = {}
    listed = text.replace("-", "+-").removeprefix("+").split("+")
    if len(listed) != size:
        raise ParseError(f"{len(listed)} terms of {size}: {text!r:.120}")
    for term in listed:
        sign, number, monomial = _TERM.fullmatch(term).groups()  # type: ignore[union-attr]  # every line is one
        powers = _POWER.findall(monomial)
        if sum(map(len, powers)) != len(monomial) or not (number or powers):
            raise ParseError(f"not a term: {term!r:.120}")
        for power in powers:
            if power not in pairs:
                pairs[power] = _power(power, places)
        yield sign + (number or "1"), [pairs[power] for power in powers]


def _power(text: str, places: dict[str, int]) -> tuple[int, int]:
    match = _PARTS.fullmatch(text)
    if not match or match[1] not in places:
        raise ParseError(f"not a power of a variable: {text!r:.120}")
    return places[match[1]], integer(match[2] or "1")


FAULTS = (TypeError, ValueError, LookupError, ArithmeticError, AttributeError, RecursionError, BasePolynomialError)
"""Exceptions that data which do not follow the format can cause."""


@dataclass(frozen=True, slots=True)
class PolynomialMatrix:
    """A matrix over a polynomial ring, row by row."""

    ring: PolyRing
    rows: tuple[tuple[PolyElement, ...], ...]
    columns: int


def decode(value: Any) -> Any:
    """Read one value of the wire format, as JSON has it, as a Python object.

    Raises
    ------
    ParseError
        If it does not follow the format.
    """
    if value is None or isinstance(value, bool | str):
        return value
    try:
        tag, *arguments = value
        return _READERS[tag](*arguments)
    except M2BridgeError:
        raise
    except FAULTS as reason:
        raise ParseError(f"not a value of the wire format: {json.dumps(value)[:120]}") from reason


def _ideal(ring: list[Any], generators: list[Any]) -> GeneratingSet:
    field, names = _ring_description(ring)
    if field is None:
        raise ParseError("ideals over ZZ have no counterpart in m2bridge; work over QQ or GF(p)")
    described = PolynomialRing(field, names)
    return GeneratingSet(described, tuple(g for g in _polynomials(described.sympy_ring, generators) if g))


def _matrix(ring: list[Any], rows: int, columns: int, entries: list[Any]) -> PolynomialMatrix:
    if len(entries) != rows * columns:
        raise ParseError(f"{len(entries)} entries for a matrix of {rows} rows and {columns} columns")
    over = _sympy_ring(ring)
    listed = _polynomials(over, entries)
    return PolynomialMatrix(over, tuple(tuple(listed[i * columns : (i + 1) * columns]) for i in range(rows)), columns)


def _sympy_ring(ring: list[Any]) -> PolyRing:
    field, names = _ring_description(ring)
    over = PolynomialRing(field or QQ, names).sympy_ring
    return over if field else over.clone(domain=ZZ)


def _ring_description(ring: list[Any]) -> tuple[CoefficientField | None, tuple[str, ...]]:
    """Coefficient field (``None`` for ZZ) and names of the variables."""
    tag, field, variables = ring
    if tag != "PolynomialRing":
        raise ParseError(f"not a ring of the wire format: {json.dumps(ring)[:120]}")
    return _FIELDS[field[0]](*field[1:]), tuple(from_macaulay2(base, index) for base, *index in variables)


def _polynomials(ring: PolyRing, listed: list[Any]) -> list[PolyElement]:
    for exponents in (exponents for terms in listed for exponents, _ in terms):
        if len(exponents) != ring.ngens:
            raise ParseError(f"a monomial with {len(exponents)} exponents in a ring of {ring.ngens} variables")
    read = polynomial_reader(ring)
    return [read([(tuple(exponents), text) for exponents, text in terms]) for terms in listed]


def polynomial_reader(ring: PolyRing) -> Callable[[list[tuple[tuple[int, ...], str]]], PolyElement]:
    """Return a reader of polynomials from their terms: exponents of all variables, and the texts of coefficients."""
    numbers: dict[str, Any] = {}

    def read(terms: list[tuple[tuple[int, ...], str]]) -> PolyElement:
        for text in {text for _, text in terms} - numbers.keys():
            numbers[text] = ring.domain(*map(integer, text.split("/")))
            if not numbers[text]:
                raise ParseError("a term with coefficient zero")
        element = ring.zero
        element.update([(exponents, numbers[text]) for exponents, text in terms])
        if len(element) != len(terms):
            raise ParseError("a monomial occurs twice in one polynomial")
        return element

    return read


def rational(text: str) -> Fraction:
    """``3/7`` or ``3``."""
    return Fraction(*map(integer, text.split("/")))


_FIELDS: dict[str, Callable[..., CoefficientField | None]] = {
    "ZZ": lambda: None,
    "QQ": lambda: QQ,
    "ZZ/p": lambda p: CoefficientField(integer(p)),
}

_READERS: dict[str, Callable[..., Any]] = {
    "ZZ": integer,
    "QQ": rational,
    "ZZ/p": lambda p, residue: CoefficientField(integer(p)).domain(integer(residue)),
    "List": lambda items: [decode(item) for item in items],
    "Sequence": lambda items: tuple(decode(item) for item in items),
    "RingElement": lambda ring, terms: _polynomials(_sympy_ring(ring), [terms])[0],
    "Ideal": _ideal,
    "Matrix": _matrix,
}


Kind = TypeVar("Kind")


@dataclass(frozen=True, slots=True)
class Answer:
    """The named values that one run of Macaulay2 emitted; possibly only the first of them.

    Every reader raises :class:`~m2bridge.errors.ParseError` if the field is missing or of another type.
    """

    values: dict[str, Any] = field(default_factory=dict)

    def __contains__(self, name: str) -> bool:
        return name in self.values

    def integer(self, name: str) -> int:
        """An integer."""
        return self._typed(name, int)

    def boolean(self, name: str) -> bool:
        """A boolean."""
        return self._typed(name, bool)

    def integers(self, name: str) -> list[int]:
        """A list of integers."""
        return self._list(name, int)

    def lists(self, name: str) -> list[list[Any]]:
        """A list of lists."""
        return self._list(name, list)

    def integer_lists(self, name: str) -> list[list[int]]:
        """A list of lists of integers."""
        if not all(type(number) is int for numbers in self.lists(name) for number in numbers):
            raise ParseError(f"the field '{name}' is not a list of lists of integers")
        return self.lists(name)

    def integer_pairs(self, name: str) -> dict[int, int]:
        """A list of pairs of integers, as a mapping."""
        pairs = self.integer_lists(name)
        if not all(len(pair) == 2 for pair in pairs):
            raise ParseError(f"the field '{name}' is not a list of pairs of integers")
        return {pair[0]: pair[1] for pair in pairs}

    def ideal(self, name: str) -> GeneratingSet:
        """An ideal."""
        return self._typed(name, GeneratingSet)

    def ideals(self, name: str) -> list[GeneratingSet]:
        """A list of ideals."""
        return self._list(name, GeneratingSet)

    def _typed(self, name: str, kind: type[Kind]) -> Kind:
        if name not in self.values:
            raise ParseError(f"the answer has no field '{name}'")
        value = self.values[name]
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise ParseError(f"the field '{name}' is a {type(value).__name__}, not a {kind.__name__}")
        return value

    def _list(self, name: str, kind: type[Kind]) -> list[Kind]:
        items = self._typed(name, list)
        if not all(isinstance(item, kind) for item in items):
            raise ParseError(f"the field '{name}' has entries that are not of type {kind.__name__}")
        return items


def parse(records: Sequence[str]) -> Answer:
    """Read wire records.

    Raises
    ------
    ParseError
        If a record does not follow the wire format, or a field occurs twice.
    """
    return Answer({name: decode(value) for name, value in fields_of(records).items()})


def answer_to(script: Script) -> Answer:
    """Run a script, within the time limit of the computation, and read what it emitted.

    Raises
    ------
    EngineError, ParseError
        If it did not run to its end, or its records do not follow the wire format.
    """
    return parse(current().run(script, timeout=clock().remaining).records)


def answer_until_limit(script: Script) -> tuple[Answer, str]:
    """Return what a script emitted before it ended or reached a limit, and that limit in words, or empty text."""
    try:
        return answer_to(script), ""
    except (TimeLimitError, MemoryLimitError) as limit:
        return parse(limit.records), str(limit)
