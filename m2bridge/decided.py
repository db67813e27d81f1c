"""What results with verdicts have in common: whether something was refuted, or left undecided."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class Decided:
    """A result with ``verdicts``, each of which says ``CONFIRMED``, ``REFUTED``, ``UNDECIDED`` or another word."""

    __slots__ = ()

    verdicts: Sequence[Any]

    @property
    def refuted(self) -> bool:
        """Whether some statement was refuted."""
        return any(verdict.verdict == "REFUTED" for verdict in self.verdicts)

    @property
    def undecided(self) -> bool:
        """Whether some statement was left undecided."""
        return any(verdict.verdict == "UNDECIDED" for verdict in self.verdicts)
