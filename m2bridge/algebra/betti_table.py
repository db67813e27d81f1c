"""Graded Betti numbers.

Source: Eisenbud, *The Geometry of Syzygies*, chapter 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from m2bridge.layout import aligned


@dataclass(frozen=True, slots=True)
class BettiTable:
    """The graded Betti numbers of a minimal free resolution.

    Parameters
    ----------
    numbers : tuple of (int, int, int)
        Homological degree i, degree j, and the number of generators of degree j of the i-th module, positive; sorted.

    Examples
    --------
    >>> table = BettiTable(((0, 0, 1), (1, 2, 3), (2, 3, 2)))
    >>> print(table)
           0  1  2
    total  1  3  2
        0  1  .  .
        1  .  3  2
    >>> table.projective_dimension, table.regularity
    (2, 1)
    """

    numbers: tuple[tuple[int, int, int], ...]

    def number(self, i: int, j: int) -> int:
        """How many generators of degree j the i-th module has."""
        return self._known.get((i, j), 0)

    @property
    def totals(self) -> tuple[int, ...]:
        """The ranks of the modules."""
        return tuple(
            sum(count for i, _, count in self.numbers if i == step) for step in range(self.projective_dimension + 1)
        )

    @property
    def projective_dimension(self) -> int:
        """The length of the resolution; −1 for the zero module."""
        return max((i for i, _, _ in self.numbers), default=-1)

    @property
    def regularity(self) -> int:
        """The largest j − i, the Castelnuovo–Mumford regularity of the module; −1 for the zero module."""
        return max((j - i for i, j, _ in self.numbers), default=-1)

    @property
    def _known(self) -> Mapping[tuple[int, int], int]:
        return {(i, j): count for i, j, count in self.numbers}

    def __str__(self) -> str:
        """As Macaulay2 shows it: the number in row r and column i is that of degree i + r."""
        steps = range(self.projective_dimension + 1)
        slopes = [j - i for i, j, _ in self.numbers] or [0]
        counts = [
            [str(row), *(str(self.number(i, i + row) or ".") for i in steps)]
            for row in range(min(slopes), max(slopes) + 1)
        ]
        return aligned([["", *map(str, steps)], ["total", *map(str, self.totals)], *counts])
