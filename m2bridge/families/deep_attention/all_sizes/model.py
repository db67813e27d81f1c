"""All networks together, as one case that is named on the command line and in certificates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

NAME = "deep-attention-all-sizes"
"""Of the family, which has this one case."""


@dataclass(frozen=True, slots=True)
class EveryNetwork:
    """Deep attention with one head and without skip connections, of all sizes: not one model.

    Examples
    --------
    >>> EveryNetwork().key
    'all-sizes'
    """

    family: ClassVar[str] = NAME
    key: ClassVar[str] = "all-sizes"
    title: ClassVar[str] = "deep attention for all widths and ranks, any number of layers, and all t ≥ 1"

    def __str__(self) -> str:
        return self.title

    def to_json(self) -> dict[str, Any]:
        """No number names it."""
        return {}
