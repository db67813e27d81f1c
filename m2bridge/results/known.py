"""A number with proved lower and upper bounds, its text and its JSON.

A dimension is bounded from two sides: below by a rank at a point or by independent tangent vectors,
above by equations or by the number of parameters. If the bounds meet, the number is proved. Bounds
are combined only here.

The number that a statement predicts has no bounds; see ``maps.model.Expectation``.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any, Literal

from m2bridge.errors import ContradictionError


@dataclass(frozen=True, slots=True)
class Bounds:
    """A number between two proved bounds, ``None`` where unknown, and the reason in one line;
    ContradictionError if the lower bound exceeds the upper bound.

    >>> above, below = Bounds.at_most(7, "seven parameters"), Bounds.at_least(5, "a rank")
    >>> dimension = intersect_bounds(below, above)
    >>> str(dimension), dimension.cell, dimension.exact
    ('at least 5, at most 7', '5 to 7', None)
    """

    lower: int | None = None
    upper: int | None = None
    because: str = ""

    def __post_init__(self) -> None:
        if self.least > self.most:
            raise ContradictionError(
                f"the lower bound {self.lower} exceeds the upper bound {self.upper}: {self.because}"
            )

    @staticmethod
    def exactly(value: int | None, because: str = "") -> Bounds:
        """Return the bounds of a number that is proved; ``None`` means that nothing is known."""
        return Bounds(value, value, because)

    @staticmethod
    def at_least(value: int | None, because: str = "") -> Bounds:
        """Return a lower bound alone; ``None`` means that nothing is known."""
        return Bounds(value, upper=None, because=because)

    @staticmethod
    def at_most(value: int | None, because: str = "") -> Bounds:
        """Return an upper bound alone; ``None`` means that nothing is known."""
        return Bounds(lower=None, upper=value, because=because)

    @property
    def exact(self) -> int | None:
        """The number if both bounds are known and equal, else ``None``."""
        return self.lower if self.lower == self.upper else None

    @property
    def value(self) -> int:
        """The lower bound if there is one, else the upper bound; LookupError if nothing
        is known.
        """
        value = self.upper if self.lower is None else self.lower
        if value is None:
            raise LookupError("nothing is known about this number")
        return value

    @property
    def least(self) -> float:
        """The lower bound, for comparisons; −∞ if it is unknown."""
        return -inf if self.lower is None else self.lower

    @property
    def most(self) -> float:
        """The upper bound, for comparisons; ∞ if it is unknown."""
        return inf if self.upper is None else self.upper

    @property
    def is_open(self) -> bool:
        """Whether nothing is known."""
        return self.lower is None and self.upper is None

    @property
    def status(self) -> Literal["proved", "lower bound", "unfinished"]:
        """Whether the number is proved, has a lower bound, or neither (``unfinished``)."""
        if self.exact is not None:
            return "proved"
        return "unfinished" if self.lower is None else "lower bound"

    def sides(self) -> list[str]:
        """Return the number if it is exact, else each known bound in words: ``["at least 5"]``."""
        if self.exact is not None:
            return [str(self.exact)]
        bounds = {"at least": self.lower, "at most": self.upper}
        return [f"{words} {bound}" for words, bound in bounds.items() if bound is not None]

    def __str__(self) -> str:
        return ", ".join(self.sides()) or "not known"

    @property
    def cell(self) -> str:
        """The number or its bounds, for a cell in a table: ``5``, ``≥ 5``, ``≤ 7``, ``5 to 7`` or a
        dash.
        """
        if self.is_open:
            return "–"
        if self.exact is not None:
            return str(self.exact)
        if self.upper is None:
            return f"≥ {self.lower}"
        return f"≤ {self.upper}" if self.lower is None else f"{self.lower} to {self.upper}"

    def relation(self, at_least: str = "≥") -> str:
        """Return the right-hand side of a formula, if a lower bound is known: ``= 5`` if the number
        is exact, else ``≥ 5`` with ``at_least`` as its sign.
        """
        return f"{'=' if self.exact is not None else at_least} {self.lower}"

    def to_json(self, of: str = "") -> dict[str, Any]:
        """Return the fields of a dimension for JSON, with a prefix such as ``tangent_`` before
        their names.
        """
        return {
            f"{of}dimension": self.exact,
            f"{of}lower_bound": self.lower,
            f"{of}upper_bound": self.upper,
        }


UNKNOWN = Bounds()
"""A number about which nothing is known."""


def bounds_agree(*several: Bounds) -> bool:
    """Return whether these bounds can hold for one number: no lower one exceeds an upper one."""
    largest_lower = max((bounds.least for bounds in several), default=-inf)
    return all(largest_lower <= bounds.most for bounds in several)


def intersect_bounds(*several: Bounds) -> Bounds:
    """Return the largest lower and the least upper bound, with their reasons; among equal bounds
    the first counts. ContradictionError if a lower bound exceeds an upper bound.
    """
    # ``max`` and ``min`` take the first among equal ones.
    best_below = max(several, key=lambda bounds: bounds.least, default=UNKNOWN)
    best_above = min(several, key=lambda bounds: bounds.most, default=UNKNOWN)
    lower, upper = best_below.lower, best_above.upper
    reasons = []
    if lower is not None:
        reasons.append(best_below.because)
    if upper is not None:
        reasons.append(best_above.because)
    # Equal reasons are given once, and empty ones are omitted.
    because = "; ".join(filter(None, dict.fromkeys(reasons)))
    return Bounds(lower, upper, because)
