"""Sources of time that no machine makes faster or slower."""

from __future__ import annotations


class Looks:
    """A clock on which a second passes at each look."""

    def __init__(self) -> None:
        self.number = 0

    def __call__(self) -> float:
        """The time."""
        self.number += 1
        return float(self.number)
