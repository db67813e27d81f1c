"""A number that is known exactly or between bounds: its one form, with its text and its JSON.

A dimension is found from two sides. What exists bounds it below: a rank at a point, independent
tangent vectors. What has to hold bounds it above: equations, the number of parameters. Where both
sides meet the number is proved. Two bounds are held against each other here and nowhere else.

What a statement predicts is not known, and does not stand here; see ``maps.model.Expectation``.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any, Literal

from m2bridge.errors import ContradictionError


@dataclass(frozen=True, slots=True)
class Bounds:
    """A number between two bounds, each of which may be open.

    Parameters
    ----------
    lower, upper : int or None
        Proved bounds; ``None`` where none is known.
    because : str
        Why, in one line.

    Examples
    --------
    >>> dimension = together(Known.at_least(5, "a rank"), Known.at_most(7, "seven parameters"))
    >>> str(dimension), dimension.cell, dimension.exact
    ('at least 5, at most 7', '5 to 7', None)
    """

    lower: int | None = None
    upper: int | None = None
    because: str = ""

    @staticmethod
    def exactly(value: int | None, because: str = "") -> Bounds:
        """Return a number that is proved; ``None`` stands for one of which nothing is known."""
        return Bounds(value, value, because)

    @staticmethod
    def at_least(value: int | None, because: str = "") -> Bounds:
        """Return a number with a lower bound only."""
        return Bounds(value, None, because)

    @staticmethod
    def at_most(value: int | None, because: str = "") -> Bounds:
        """Return a number with an upper bound only."""
        return Bounds(None, value, because)

    @property
    def exact(self) -> int | None:
        """The number, where the bounds meet."""
        return self.lower if self.lower == self.upper else None

    @property
    def value(self) -> int:
        """The number that is said first: the lower bound, or the upper one where it is alone.

        Raises
        ------
        LookupError
            If nothing is known.
        """
        value = self.upper if self.lower is None else self.lower
        if value is None:
            raise LookupError("nothing is known of this number")
        return value

    @property
    def least(self) -> float:
        """The least value that the number can have; −∞ where it is open."""
        return -inf if self.lower is None else self.lower

    @property
    def most(self) -> float:
        """The largest value that the number can have; ∞ where it is open."""
        return inf if self.upper is None else self.upper

    @property
    def is_open(self) -> bool:
        """Whether nothing is known."""
        return self.lower is None and self.upper is None

    @property
    def status(self) -> Literal["proved", "lower bound", "unfinished"]:
        """How far a computation came that has to find the number, which begins from below."""
        if self.exact is not None:
            return "proved"
        return "unfinished" if self.lower is None else "lower bound"

    def sides(self) -> list[str]:
        """Return what is known in words: one text if it is exact, else one for each bound."""
        if self.exact is not None:
            return [str(self.exact)]
        bounds = {"at least": self.lower, "at most": self.upper}
        return [f"{words} {bound}" for words, bound in bounds.items() if bound is not None]

    def __str__(self) -> str:
        return ", ".join(self.sides()) or "not known"

    @property
    def cell(self) -> str:
        """What is known, in a column of a table that is named after the number."""
        if self.is_open:
            return "–"
        if self.exact is not None:
            return str(self.exact)
        if self.upper is None:
            return f"≥ {self.lower}"
        return f"≤ {self.upper}" if self.lower is None else f"{self.lower} to {self.upper}"

    def relation(self, at_least: str = "≥") -> str:
        """Return the number or its lower bound as the right-hand side of a formula."""
        return f"{'=' if self.exact is not None else at_least} {self.lower}"

    def to_json(self, of: str = "") -> dict[str, Any]:
        """Return a dimension for ``json.dumps``; ``of`` begins the names, as in ``tangent_``."""
        return {
            f"{of}dimension": self.exact,
            f"{of}lower_bound": self.lower,
            f"{of}upper_bound": self.upper,
        }


UNKNOWN = Bounds()
"""What is known of a number before anything was computed."""


def agree(*several: Bounds) -> bool:
    """Return whether one number can be all of these: no lower bound exceeds an upper one."""
    least = max((one.least for one in several), default=-inf)
    return all(least <= one.most for one in several)


def intersect_bounds(*several: Bounds) -> Bounds:
    """Return what all of these say of one number: its largest lower and its smallest upper bound.

    The reasons are those of these two bounds, the first of them where several are equal.

    Raises
    ------
    ContradictionError
        If they do not agree.
    """
    below = max(several, key=lambda one: one.least, default=UNKNOWN)
    above = min(several, key=lambda one: one.most, default=UNKNOWN)
    reasons = []
    if below.lower is not None:
        reasons.append(below.because)
    if above.upper is not None:
        reasons.append(above.because)
    # Equal reasons are said once, and empty ones not at all.
    because = "; ".join(filter(None, dict.fromkeys(reasons)))
    if not agree(below, above):
        raise ContradictionError(
            f"the lower bound {below.lower} exceeds the upper bound {above.upper}: {because}"
        )
    return Bounds(below.lower, above.upper, because)
