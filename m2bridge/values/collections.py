"""Hash tables, sets and tallies, whose keys may be anything; read-only."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Any


def key(value: Any) -> Hashable:
    """What stands for a value in a table: equal for equal values of the same type; 1 and True are different."""
    if isinstance(value, list | tuple):
        return type(value).__name__, tuple(map(key, value))
    if isinstance(value, set | frozenset):
        return "set", frozenset(map(key, value))
    if isinstance(value, dict):
        return "dict", frozenset((key(k), key(v)) for k, v in value.items())
    return type(value), value


class HashTable(Mapping[Any, Any]):
    """A hash table with keys that a Python ``dict`` cannot have or keep apart: lists, or both 1 and True.

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

    __slots__ = ("_table",)

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
        return type(other) is type(self) and self._stand_in() == other._stand_in()

    def __hash__(self) -> int:
        return hash(self._stand_in())

    def _stand_in(self) -> Hashable:
        return frozenset((k, key(v)) for k, (_, v) in self._table.items())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({list(self.pairs)!r})"


class MutableHashTable(HashTable):
    """What a mutable hash table held when it was read.

    Examples
    --------
    >>> MutableHashTable([("a", 1)])
    MutableHashTable([('a', 1)])
    """

    __slots__ = ()


class VirtualTally(HashTable):
    """A tally with any numbers as multiplicities; what is not in it has multiplicity 0.

    Examples
    --------
    >>> VirtualTally([("a", -1)])["b"]
    0
    """

    __slots__ = ()

    def __getitem__(self, k: Any) -> Any:
        return self._table[key(k)][1] if key(k) in self._table else 0


class Tally(VirtualTally):
    """How often each thing occurs.

    Examples
    --------
    >>> Tally([("a", 2)])["a"]
    2
    """

    __slots__ = ()


class Set(AbstractSet[Any]):
    """A set of things that a Python ``frozenset`` cannot have or keep apart.

    Examples
    --------
    >>> [1] in Set([[1], [2]])
    True
    """

    __slots__ = ("_table",)

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
