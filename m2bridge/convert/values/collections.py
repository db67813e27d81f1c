"""Symbols, options, collections of other kinds than Python's, and expressions that are held without
computing them.
"""

import operator
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Set as AbstractSet
from dataclasses import dataclass, fields, is_dataclass
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
    """``key => value``.

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
        return "\n".join(line.rstrip() for line in self.lines)


@dataclass(frozen=True, slots=True)
class Reference:
    """A value that only Macaulay2 can hold, kept there; it can be passed back to the workspace that
    it came from.

    Parameters
    ----------
    kind : str
        Its class in Macaulay2.
    text : str
        How Macaulay2 writes it, at most 1000 characters.
    key : str
        Where the workspace keeps it.

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


def key(value: Any) -> Hashable:
    """Return a stand-in of a value for tables: equal for equal values of the same type; 1 and True
    are different.
    """
    if isinstance(value, list | tuple):
        return type(value).__name__, tuple(map(key, value))
    if isinstance(value, set | frozenset):
        return "set", frozenset(map(key, value))
    if type(value) is dict or isinstance(value, HashTable):
        return type(value).__name__, frozenset((key(k), key(v)) for k, v in value.items())
    if is_dataclass(value):
        return type(value), tuple(key(getattr(value, field.name)) for field in fields(value))
    return type(value), value


class HashTable(Mapping[Any, Any]):
    """A hash table with keys that a Python ``dict`` cannot have or keep apart: lists, or both 1 and
    True.

    Parameters
    ----------
    pairs : iterable of pairs

    Examples
    --------
    >>> table = HashTable([([1, 2], "a"), (1, "b"), (True, "c")])
    >>> table[[1, 2]], table[1], table[True]
    ('a', 'b', 'c')
    >>> table
    HashTable([([1, 2], 'a'), (1, 'b'), (True, 'c')])
    """

    def __init__(self, pairs: Iterable[tuple[Any, Any]] = ()) -> None:
        self._table = {key(k): (k, v) for k, v in pairs}

    @property
    def pairs(self) -> tuple[tuple[Any, Any], ...]:
        """Keys with values."""
        return tuple(self._table.values())

    def __getitem__(self, k: Any) -> Any:
        try:
            return self._table[key(k)][1]
        except KeyError:
            raise KeyError(k) from None

    def __iter__(self) -> Iterator[Any]:
        return (k for k, _ in self._table.values())

    def __len__(self) -> int:
        return len(self._table)

    def __eq__(self, other: object) -> bool:
        return key(self) == key(other)

    def __hash__(self) -> int:
        return hash(key(self))

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
    """A tally with any numbers as multiplicities; what is not in it has multiplicity 0.

    Examples
    --------
    >>> VirtualTally([("a", -1)])["b"]
    0
    """

    def __getitem__(self, k: Any) -> Any:
        return self._table[key(k)][1] if key(k) in self._table else 0


class Tally(VirtualTally):
    """A count of how often each thing occurs.

    Examples
    --------
    >>> Tally([("a", 2)])["a"]
    2
    """


class Set(AbstractSet[Any]):
    """A set of things that a Python ``frozenset`` cannot have or keep apart.

    Examples
    --------
    >>> [1] in Set([[1], [2]])
    True
    """

    def __init__(self, items: Iterable[Any] = ()) -> None:
        self._table = {key(item): item for item in items}

    def __contains__(self, item: object) -> bool:
        return key(item) in self._table

    def __iter__(self) -> Iterator[Any]:
        return iter(self._table.values())

    def __len__(self) -> int:
        return len(self._table)

    def __hash__(self) -> int:
        return hash(frozenset(self._table))

    def __repr__(self) -> str:
        return f"Set({list(self)!r})"


_OPERATIONS: dict[str, Callable[..., Any]] = {
    "Sum": lambda *parts: sum(parts),
    "Product": lambda *parts: prod(parts),
    "Power": operator.pow,
    "Divide": operator.truediv,
    "Minus": operator.neg,
    "Holder": lambda part: part,
    "Parenthesize": lambda part: part,
}


def evaluate(expression: Any) -> Any:
    """The value of an expression; polynomials become SymPy expressions, numbers are exact."""
    if isinstance(expression, Expression):
        if expression.kind not in _OPERATIONS:
            raise ConversionError(f"an expression of the class {expression.kind} is not arithmetic")
        return _OPERATIONS[expression.kind](*map(evaluate, expression.parts))
    if isinstance(expression, Factorization):
        return prod(evaluate(base) ** exponent for base, exponent in expression)
    if isinstance(expression, int | Fraction) and not isinstance(expression, bool):
        return Rational(expression)
    try:
        return (
            expression.as_expr()
            if isinstance(expression, PolyElement | RingElement)
            else expression
        )
    except ConversionError:  # SymPy has no such polynomials
        return expression


SIGN = (-1, 1)
"""The first factor of a negative integer."""


@dataclass(frozen=True, slots=True, repr=False)
class Factorization(Named):
    """A product of powers, as ``factor`` gives it; that of a negative integer begins with (−1)^1.

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
        """Whether a sign comes first, which Macaulay2 keeps outside of the product."""
        return self.factors[:1] == (SIGN,) and type(self.factors[0][0]) is int

    def expand(self) -> Any:
        """The product."""
        return prod(base**exponent for base, exponent in self.factors)

    def __str__(self) -> str:
        return " * ".join(_power(base, exponent) for base, exponent in self.factors) or "1"


def _power(base: Any, exponent: int) -> str:
    text = str(base) if isinstance(base, int) and base >= 0 else f"({base})"
    return text if exponent == 1 else f"{text}^{exponent}"


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
        """The value as a SymPy expression, or an element of a ring.

        Raises
        ------
        ConversionError
            If this kind of expression is not arithmetic.
        """

        return evaluate(self)

    def __str__(self) -> str:
        return f"{self.kind}({', '.join(map(str, self.parts))})"
