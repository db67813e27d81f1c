"""Groups of symmetries by name: connected ones with their dimensions, finite ones with orders."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import factorial, prod
from typing import Any, Self

_LARGEST_SHOWN = 10**6
"""Up to this order the number stands beside the formula; 10! has seven digits."""
_MOST_BITS = 3320
"""Larger orders, of a thousand digits and more, are in JSON as formulas only: Python writes no
integers of more than 4300 digits, and other readers none of more than a few hundred."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FiniteGroup:
    """A finite group by name.

    Parameters
    ----------
    name : str
        What its elements do.
    symbol : str
        Such as ``S(4)``; a wreath product is ``S(3) wr S(2)``.
    formula : str
        The order, such as ``4!``.
    order : int

    Examples
    --------
    >>> print(FiniteGroup.permutations("permutations of heads", 4))
    permutations of heads (S(4), order 4! = 24)
    """

    name: str
    symbol: str
    formula: str
    order: int

    @classmethod
    def permutations(cls, name: str, number: int, block: int = 1) -> Self:
        """Return the permutations of so many things that keep blocks of this size.

        With blocks they are a wreath product: those inside of each block, and those of the blocks.

        Examples
        --------
        >>> FiniteGroup.permutations("permutations of heads", 6, block=3).order
        72
        """
        if block in (1, number):
            return cls(
                name=name, symbol=f"S({number})", formula=f"{number}!", order=factorial(number)
            )
        blocks = number // block
        return cls(
            name=name,
            symbol=f"S({block}) wr S({blocks})",
            formula=f"({block}!)^{blocks}·{blocks}!",
            order=factorial(block) ** blocks * factorial(blocks),
        )

    @classmethod
    def exchanges(cls, name: str, number: int) -> Self:
        """Return so many independent exchanges of two things."""
        if number == 1:
            return cls(name=name, symbol="S(2)", formula="2", order=2)
        return cls(name=name, symbol=f"S(2)^{number}", formula=f"2^{number}", order=2**number)

    def __str__(self) -> str:
        order = self.formula
        if self.order <= _LARGEST_SHOWN and str(self.order) != order:
            order = f"{order} = {self.order}"
        return f"{self.name} ({self.symbol}, order {order})"

    def to_json(self) -> dict[str, Any]:
        """Return the values for ``json.dumps``; the order is ``None`` where it is too long."""
        return {
            "name": self.name,
            "dimension": 0,
            "group": self.symbol,
            "order": self.order if self.order.bit_length() <= _MOST_BITS else None,
            "order_formula": self.formula,
        }


def products(groups: Iterable[FiniteGroup]) -> tuple[FiniteGroup, ...]:
    """Return the products of the groups that have the same name."""
    by_name: dict[str, list[FiniteGroup]] = {}
    for group in groups:
        by_name.setdefault(group.name, []).append(group)
    return tuple(_product(alike) for alike in by_name.values())


def _product(groups: list[FiniteGroup]) -> FiniteGroup:
    """The product of groups with the same name."""
    if len(groups) == 1:
        return groups[0]
    times: dict[FiniteGroup, int] = {}
    for group in groups:
        times[group] = times.get(group, 0) + 1
    symbols = []
    formulas = []
    for group, number in times.items():
        power = f"^{number}" if number > 1 else ""
        symbols.append(f"({group.symbol}){power}" if len(times) > 1 or power else group.symbol)
        formulas.append(f"({group.formula}){power}" if power else group.formula)
    return FiniteGroup(
        name=groups[0].name,
        symbol=" × ".join(symbols),
        formula="·".join(formulas),
        order=prod(group.order for group in groups),
    )


def symmetry_names(connected: Iterable[tuple[str, int]], finite: Sequence[FiniteGroup]) -> str:
    """Return the parts of a group with their dimensions, and the orders of finite ones."""
    parts = [f"{name} ({size})" for name, size in connected]
    return ", ".join([*parts, *map(str, finite)])


def symmetries_json(
    connected: Iterable[tuple[str, int]], finite: Sequence[FiniteGroup]
) -> list[dict[str, Any]]:
    """Return the same for ``json.dumps``; finite ones have the dimension 0, and an order."""
    parts: list[dict[str, Any]] = [{"name": name, "dimension": size} for name, size in connected]
    return parts + [group.to_json() for group in finite]
