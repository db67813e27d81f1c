"""How values show themselves at a prompt, alone and in lists."""

from __future__ import annotations

from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any

from m2bridge.results.sheet import shortened

MOST = 300
"""Characters of a value."""


class AsText:
    """A value whose ``repr`` is its text, as that of SymPy's expressions: rings, their elements, ideals."""

    __slots__ = ()

    def __repr__(self) -> str:
        return one_line(self)


class Named:
    """A value whose ``repr`` is its text with the name of its class."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {one_line(self)}>"


class AsCode:
    """A value whose ``repr`` is the call that makes it, without what is as usual."""

    __slots__ = ()

    def __repr__(self) -> str:
        given = [(getattr(self, field.name), field.default) for field in fields(self)]  # type: ignore[arg-type]
        while given and given[-1][0] == given[-1][1]:
            given.pop()
        return f"{type(self).__name__}({', '.join(repr(value) for value, _ in given)})"


def one_line(value: object) -> str:
    """The text of a value in one line, its middle left out if it is long."""
    return shortened("; ".join(str(value).splitlines()), MOST)


Place = tuple[int, tuple[int, ...], int]


@dataclass(frozen=True, slots=True)
class BettiTable:
    """How many generators a complex has, by homological degree, degree and weight.

    Parameters
    ----------
    entries : tuple of ((homological degree, degree, weight), number)

    Examples
    --------
    >>> koszul = BettiTable((((0, (0,), 0), 1), ((1, (1,), 1), 2), ((2, (2,), 2), 1)))
    >>> print(koszul)
           0 1 2
    total: 1 2 1
        0: 1 2 1
    >>> koszul[1, 0]
    2
    """

    entries: tuple[tuple[Place, int], ...]

    def __getitem__(self, place: tuple[int, int]) -> int:
        """The number in column i and row j of the table: generators of weight i + j in homological degree i."""
        return self.rows.get((place[0], place[1]), 0)

    @property
    def rows(self) -> dict[tuple[int, int], int]:
        """The table: numbers by column and row."""
        table: dict[tuple[int, int], int] = {}
        for (i, _, weight), count in self.entries:
            table[i, weight - i] = table.get((i, weight - i), 0) + count
        return table

    def __repr__(self) -> str:
        totals: dict[int, int] = {}
        for (i, _, _), count in self.entries:
            totals[i] = totals.get(i, 0) + count
        return f"<BettiTable {' '.join(f'{i}: {n}' for i, n in sorted(totals.items()))}>"

    def __str__(self) -> str:
        table = self.rows
        if not table:
            return "total:"
        columns = range(min(i for i, _ in table), max(i for i, _ in table) + 1)
        heights = range(min(j for _, j in table), max(j for _, j in table) + 1)
        totals = [sum(n for (i, _), n in table.items() if i == column) for column in columns]
        lines = [["", *map(str, columns)], ["total:", *map(str, totals)]]
        lines += [[f"{j}:", *(str(table.get((i, j), ".")) for i in columns)] for j in heights]
        widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))]
        return "\n".join(" ".join(c.rjust(w) for c, w in zip(line, widths, strict=True)) for line in lines)


@dataclass(frozen=True, slots=True, repr=False)
class HilbertPolynomial(Named):
    """A Hilbert polynomial, as a combination of those of projective spaces.

    Parameters
    ----------
    coefficients : tuple of (n, c)
        The sum of c times the Hilbert polynomial of n-dimensional projective space.

    Examples
    --------
    >>> twisted_cubic = HilbertPolynomial(((0, -2), (1, 3)))
    >>> print(twisted_cubic)
    -2*P_0 + 3*P_1
    >>> twisted_cubic(5)
    Fraction(16, 1)
    >>> twisted_cubic.to_sympy("t")
    3*t + 1
    """

    coefficients: tuple[tuple[int, int], ...]

    def __call__(self, degree: int) -> Fraction:
        """Its value at an integer."""
        total = Fraction(0)
        for n, c in self.coefficients:
            product = Fraction(c)
            for k in range(1, n + 1):
                product *= Fraction(degree + k, k)
            total += product
        return total

    def to_sympy(self, variable: str = "t") -> Any:
        """The polynomial in powers of a variable."""
        from sympy import Rational, Symbol, expand, prod

        t = Symbol(variable)
        return expand(sum(c * prod((t + k) * Rational(1, k) for k in range(1, n + 1)) for n, c in self.coefficients))

    def __str__(self) -> str:
        return " + ".join(f"{c}*P_{n}" for n, c in self.coefficients).replace("+ -", "- ") or "0"
