"""Symbols, options, collections that Python lacks, and expressions that are held uncomputed.

They are what was read: a mutable list has the items that it had then. Tables and sets take any
values as keys, distinguished by :func:`stand_in`.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Set as AbstractSet
from dataclasses import dataclass, fields, is_dataclass, replace
from fractions import Fraction
from math import prod
from typing import Any

from sympy import Rational
from sympy.polys.rings import PolyElement

from m2bridge.algebra.modules import AsCode, Named
from m2bridge.convert.values.elements import RingElement
from m2bridge.errors import ConversionError
from m2bridge.results.sheet import shortened


@dataclass(frozen=True, slots=True, repr=False)
class Symbol(AsCode):
    """A symbol that stands for itself, or an indexed variable without a value.

    ``name`` is the text before the index, and ``index`` an integer or a tuple of indices; ``None``
    for a symbol without an index.

    Examples
    --------
    >>> print(Symbol("x"), Symbol("x", 1), Symbol("p", (1, 2)))
    x x_1 p_(1, 2)
    """

    name: str
    index: Any = None

    def __str__(self) -> str:
        return self.name if self.index is None else f"{self.name}_{self.index}"


@dataclass(frozen=True, slots=True, repr=False)
class Option(AsCode):
    """An option ``key => value`` of Macaulay2.

    Examples
    --------
    >>> print(Option("Limit", 3))
    Limit => 3
    """

    key: Any
    value: Any

    def __str__(self) -> str:
        return f"{self.key} => {self.value}"


@dataclass(frozen=True, slots=True, repr=False)
class _Items(AsCode):
    """A container that holds items in order."""

    items: tuple[Any, ...]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, index: int) -> Any:
        return self.items[index]

    def __str__(self) -> str:
        """The name of the class and the items: ``Partition(3, 1)``."""
        return f"{type(self).__name__}({', '.join(map(str, self.items))})"


class Array(_Items):
    """``[a, b]``, which is neither a list nor a sequence.

    Examples
    --------
    >>> print(Array((1, 2)))
    [1, 2]
    """

    def __str__(self) -> str:
        return f"[{', '.join(map(str, self.items))}]"


class MutableList(_Items):
    """The items of a mutable list when it was read.

    Examples
    --------
    >>> print(MutableList((1, 2)))
    MutableList(1, 2)
    """


class Partition(_Items):
    """A partition of an integer.

    Examples
    --------
    >>> sum(Partition((3, 1)))
    4
    """


@dataclass(frozen=True, slots=True, repr=False)
class Net(AsCode):
    """A picture made of lines of text, as Macaulay2 shows its values.

    Parameters
    ----------
    lines : tuple of str
    height : int
        How many of the lines are above the base line, on which nets are put side by side.

    Examples
    --------
    >>> print(Net((" 2", "x "), 1))
     2
    x
    """

    lines: tuple[str, ...]
    height: int = 1

    def __str__(self) -> str:
        """The lines, without the blanks at their ends."""
        return "\n".join(line.rstrip() for line in self.lines)


@dataclass(frozen=True, slots=True)
class Reference:
    """A value that only Macaulay2 can hold, kept there; it can be passed back to its workspace.

    Parameters
    ----------
    kind : str
        The class of the value in Macaulay2.
    text : str
        The value as Macaulay2 writes it, at most 1000 characters.
    key : str
        The key under which the workspace keeps the value.

    Examples
    --------
    >>> print(Reference("FunctionClosure", "-*Function*-", "1-1"))
    <FunctionClosure -*Function*->
    """

    kind: str
    text: str
    key: str

    def __repr__(self) -> str:
        return f"<{self.kind} {shortened(self.text)}>"

    __str__ = __repr__


def stand_in(value: Any) -> Hashable:
    """Return a key for a value that can be hashed even if the value cannot, for example a list; two
    keys are equal if and only if the values are equal and of one type, where ``set`` and
    ``frozenset`` count as one, and dataclasses are equal in all their fields.
    """
    # So the keys of 1 and True differ, and, as in Macaulay2, the keys of real numbers that are
    # equal but have different precisions.
    if isinstance(value, list | tuple):
        return type(value), tuple(map(stand_in, value))
    if isinstance(value, set | frozenset):
        return set, frozenset(map(stand_in, value))
    # ``type(value) is dict``, as a polynomial of SymPy is an instance of dict, but can be hashed
    if type(value) is dict or isinstance(value, HashTable):
        pairs = [(stand_in(key), stand_in(entry)) for key, entry in value.items()]
        return type(value), frozenset(pairs)
    if is_dataclass(value):  # its fields may hold lists, or 1 and True
        parts = [stand_in(getattr(value, field.name)) for field in fields(value)]
        return type(value), tuple(parts)
    return type(value), value


class HashTable(Mapping[Any, Any]):
    """A hash table with keys that a ``dict`` cannot hold or distinguish: lists, or both 1 and True.

    ``_table`` has each pair under the :func:`stand_in` of its key.

    Parameters
    ----------
    pairs : iterable of pairs of a key and its value
        Of several pairs with equal keys the last one counts.

    Examples
    --------
    >>> table = HashTable([([1, 2], "a"), (1, "b"), (True, "c")])
    >>> table[[1, 2]], table[1], table[True]
    ('a', 'b', 'c')
    >>> table
    HashTable([([1, 2], 'a'), (1, 'b'), (True, 'c')])
    """

    def __init__(self, pairs: Iterable[tuple[Any, Any]] = ()) -> None:
        self._table = {stand_in(key): (key, value) for key, value in pairs}

    @property
    def pairs(self) -> tuple[tuple[Any, Any], ...]:
        """The pairs of key and value, in the order in which they were given."""
        return tuple(self._table.values())

    def __getitem__(self, key: Any) -> Any:
        """The value of a key; :meth:`_missing` says what it is for keys that are not here."""
        hashable_key = stand_in(key)
        if hashable_key not in self._table:
            return self._missing(key)
        _, value = self._table[hashable_key]
        return value

    def _missing(self, key: Any) -> Any:
        """Raise KeyError for a key that is not in the table; subclasses may return a value."""
        raise KeyError(key)

    def __contains__(self, key: object) -> bool:
        """Whether a pair has this key; a tally also has a value, 0, for keys without a pair."""
        return stand_in(key) in self._table

    def __iter__(self) -> Iterator[Any]:
        return (key for key, _ in self.pairs)

    def __len__(self) -> int:
        return len(self._table)

    def __eq__(self, other: object) -> bool:
        """Whether ``other`` has the same class and equal pairs, in any order; 1 and True differ."""
        return stand_in(self) == stand_in(other)

    def __hash__(self) -> int:
        return hash(stand_in(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({list(self.pairs)!r})"


class MutableHashTable(HashTable):
    """The pairs of a mutable hash table when it was read.

    Examples
    --------
    >>> MutableHashTable([("a", 1)])
    MutableHashTable([('a', 1)])
    """


class VirtualTally(HashTable):
    """A tally with any numbers as multiplicities; a key that is not in it has multiplicity 0.

    Examples
    --------
    >>> VirtualTally([("a", -1)])["b"]
    0
    """

    def _missing(self, key: Any) -> int:
        """The multiplicity 0 of what is not in the tally."""
        return 0


class Tally(VirtualTally):
    """A count of how often each thing occurs.

    Examples
    --------
    >>> Tally([("a", 2)])["a"]
    2
    """


class Set(AbstractSet[Any]):
    """A set of elements that ``frozenset`` cannot hold or distinguish: lists, or both 1 and True.

    ``_table`` has the elements by their keys of :func:`stand_in`.

    Examples
    --------
    >>> [1] in Set([[1], [2]])
    True
    """

    def __init__(self, items: Iterable[Any] = ()) -> None:
        self._table = {stand_in(item): item for item in items}

    def __contains__(self, item: object) -> bool:
        return stand_in(item) in self._table

    def __eq__(self, other: object) -> bool:
        """Whether ``other``, perhaps a set of Python, has the same elements; 1 and True differ."""
        if not isinstance(other, AbstractSet):
            return NotImplemented
        return self._table.keys() == set(map(stand_in, other))

    def __iter__(self) -> Iterator[Any]:
        return iter(self._table.values())

    def __len__(self) -> int:
        return len(self._table)

    def __hash__(self) -> int:
        """Equal sets have equal hashes, among them a ``frozenset`` with equal elements."""
        try:
            return hash(frozenset(map(_frozen, self)))
        except TypeError:  # an element contains a list or a dict; so no frozenset is equal to this
            return hash(frozenset(self._table))

    def __repr__(self) -> str:
        return f"Set({list(self)!r})"


def _frozen(value: Any) -> Any:
    """Return a value with each ``set`` in sets, tuples and fields of dataclasses in it replaced by
    an equal ``frozenset``, so that values with one :func:`stand_in` have equal hashes, or none.
    """
    if isinstance(value, set | frozenset):
        return frozenset(map(_frozen, value))
    if isinstance(value, tuple):
        return tuple(map(_frozen, value))
    if not is_dataclass(value) or isinstance(value, type):
        return value
    try:
        hash(value)
    except TypeError:  # a field may hold a set
        changes = {}
        for field in fields(value):
            if field.init:
                changes[field.name] = _frozen(getattr(value, field.name))
        return replace(value, **changes)
    return value  # what has a hash has no ``set`` in it that counts for equality


def evaluate(value: Any) -> Any:
    """Return the value of an expression of Macaulay2 that is held uncomputed, with its numbers and
    polynomials as numbers and expressions of SymPy, so that divisions are exact; all else stays.
    """
    match value:
        case Factorization():
            return prod(evaluate(base) ** exponent for base, exponent in value)
        case Expression():
            return _compute(value.kind, [evaluate(part) for part in value.parts])
        case bool():  # which is an int to Python, but not a number to Macaulay2
            return value
        case int() | Fraction():
            return Rational(value)
        case PolyElement() | RingElement():
            return value.as_expr()
    return value


def _compute(kind: str, parts: list[Any]) -> Any:
    """Return the value of an expression of the class ``kind`` of Macaulay2, such as ``Divide``, by
    the values of its parts.
    """
    match kind, parts:
        case "Sum", _:
            return sum(parts)
        case "Product", _:
            return prod(parts)
        case "Power", [base, exponent]:
            return base**exponent
        case "Divide", [numerator, denominator]:
            return numerator / denominator
        case "Minus", [part]:
            return -part
        case "Holder" | "Parenthesize", [part]:
            return part
    raise ConversionError(f"an expression of the class {kind} is not arithmetic")


SIGN = (-1, 1)
"""The first factor of a negative integer."""


@dataclass(frozen=True, slots=True, repr=False)
class Factorization(Named):
    """A product of powers, as ``factor`` gives it; for a negative integer the first base is −1.

    ``factors`` are pairs of a base and its exponent.

    Examples
    --------
    >>> list(Factorization(((-1, 1), (5, 1), (11, 1))))
    [(-1, 1), (5, 1), (11, 1)]
    >>> twelve = Factorization(((2, 2), (3, 1)))
    >>> print(twelve)
    2^2 * 3
    >>> twelve.expand()
    12
    """

    factors: tuple[tuple[Any, int], ...]

    def __iter__(self) -> Iterator[tuple[Any, int]]:
        return iter(self.factors)

    def __len__(self) -> int:
        return len(self.factors)

    @property
    def is_negative(self) -> bool:
        """Whether the first factor is −1, once: a sign, which for Macaulay2 is not a factor."""
        if self.factors[:1] != (SIGN,):
            return False
        # −1 as an element of another ring is equal to the integer, and is a factor as any other.
        base, _ = self.factors[0]
        return type(base) is int

    def expand(self) -> Any:
        """The product of numbers or of SymPy's polynomials; ConversionError for other elements."""
        return prod(base**exponent for base, exponent in self.factors)

    def __str__(self) -> str:
        powers = []
        for base, exponent in self.factors:
            is_plain = isinstance(base, int) and base >= 0
            text = str(base) if is_plain else f"({base})"
            powers.append(text if exponent == 1 else f"{text}^{exponent}")
        return " * ".join(powers) or "1"


@dataclass(frozen=True, slots=True, repr=False)
class Expression(AsCode):
    """An expression that Macaulay2 holds without computing it: ``Sum``, ``Divide``, ``Minus`` …

    Parameters
    ----------
    kind : str
        The class in Macaulay2.
    parts : tuple

    Examples
    --------
    >>> print(Expression("Divide", (1, 2)))
    Divide(1, 2)
    >>> Expression("Divide", (1, 2)).evaluate()
    1/2
    """

    kind: str
    parts: tuple[Any, ...]

    def evaluate(self) -> Any:
        """The value as a number or an expression of SymPy.

        Raises
        ------
        ConversionError
            If this kind of expression is not arithmetic, or an element in it has no expression in
            SymPy.
        """
        return evaluate(self)

    def __str__(self) -> str:
        return f"{self.kind}({', '.join(map(str, self.parts))})"
