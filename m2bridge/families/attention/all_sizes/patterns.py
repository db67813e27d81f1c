"""Which patterns of entries the representatives have, with indices as symbols.

The equation (k, i, p, q) of a fibre (docs/all-sizes.md) involves the entries of A in the rows 1, p, q and the columns
1, i, those of V in the rows 1, k and the columns 1, p, q, and nothing else. So the equations that belong to some rows
and columns depend only on the zeros and ones that stand there: the pattern. Whether a pattern occurs for any size,
orbit and indices at all is a question of Presburger arithmetic.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations

import islpy as isl

from m2bridge.families.attention.all_sizes.sizes import IS_ORBIT, ORBIT
from m2bridge.families.attention.orbits import IntegerMatrix


@dataclass(frozen=True, slots=True)
class Pattern:
    """Entries of the representative in some places.

    Parameters
    ----------
    A : matrix of 0 and 1
        A row for each place p (the first is p = 1), a column for each column i (the first is i = 1).
    V : matrix of 0 and 1
        A row for each row k (the first is k = 1), a column for each place.
    """

    A: IntegerMatrix
    V: IntegerMatrix

    def renamed(self, order: tuple[int, ...]) -> Pattern:
        """The pattern with its places in another order."""
        return Pattern(tuple(self.A[p] for p in order), tuple(tuple(row[p] for p in order) for row in self.V))

    def orders(self) -> list[tuple[int, ...]]:
        """All orders of the places that keep the first one."""
        return [(0, *rest) for rest in permutations(range(1, len(self.A)))]


@dataclass(frozen=True, slots=True)
class Selection:
    """Places, columns and rows, as linear forms in the symbols d, dp, a, r, s, m and the free indices.

    Parameters
    ----------
    condition : str
        On orbits and free indices.
    places, columns, rows : tuple of str
        The first of each is ``1``.
    free : tuple of str
        Names of the free indices.
    """

    condition: str
    places: tuple[str, ...]
    columns: tuple[str, ...] = ("1",)
    rows: tuple[str, ...] = ("1",)
    free: tuple[str, ...] = ()

    def patterns(self) -> set[Pattern]:
        """All patterns that occur for some size, orbit and values of the free indices."""
        entries = [entry_of_a(p, i) for p in self.places for i in self.columns]
        entries += [entry_of_v(k, p) for k in self.rows for p in self.places]
        found: list[tuple[tuple[int, ...], isl.Set]] = [((), self._set(self._inside))]
        for entry in entries:
            found = [((*bits, bit), part) for bits, domain in found for bit, part in self._split(domain, entry)]
        return {self._pattern(bits) for bits, _ in found}

    def last_places(self) -> isl.Set:
        """The pairs of an orbit and an index x that is the last place of the selection."""
        reached = f"{self._inside} and x = {self.places[-1]}"
        if self.free:
            reached = f"exists ({', '.join(self.free)} : {reached})"
        return isl.Set(f"{{ [{ORBIT}, x] : {reached} }}")

    @property
    def _inside(self) -> str:
        """All indices are indices of entries, and the condition holds."""
        inside = [f"1 <= {p} and {p} <= d" for p in self.places]
        inside += [f"{i} <= d" for i in self.columns] + [f"{k} <= dp" for k in self.rows]
        return " and ".join([IS_ORBIT, *inside, f"({self.condition})"])

    def _set(self, condition: str) -> isl.Set:
        return isl.Set(f"{{ [{', '.join((ORBIT, *self.free))}] : {condition} }}")

    def _split(self, domain: isl.Set, entry: str) -> list[tuple[int, isl.Set]]:
        """Where the entry is one, and where it is zero, as far as there are such cases."""
        one = self._set(entry)
        parts = [(1, domain.intersect(one)), (0, domain.subtract(one))]
        return [(bit, part) for bit, part in parts if not part.is_empty()]

    def _pattern(self, bits: tuple[int, ...]) -> Pattern:
        width, size = len(self.columns), len(self.places)
        split = width * size
        A = tuple(bits[n : n + width] for n in range(0, split, width))
        V = tuple(bits[n : n + size] for n in range(split, len(bits), size))
        return Pattern(A, V)


def entry_of_a(p: str, i: str) -> str:
    """When A_pi of the representative is 1: A = Σ_{p ≤ r} e_p e_pᵀ."""
    return f"{p} = {i} and {p} <= r"


def entry_of_v(k: str, q: str) -> str:
    """When V_kq of the representative is 1.

    Row k is e_k for k ≤ m, and e_{r+k−m} for m < k ≤ s; for m = 0 row 1 is e_1 + e_{r+1}.
    """
    return (
        f"({k} <= m and {q} = {k}) or (m < {k} and {k} <= s and {q} = r + {k} - m) or (m = 0 and {k} = 1 and {q} = 1)"
    )
