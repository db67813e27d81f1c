"""All sizes together, as one case that is named on the command line and in certificates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

NAME = "attention-all-sizes"
"""Of the family, which has this one case."""


@dataclass(frozen=True, slots=True)
class EverySize:
    """Lightning self-attention for all d, d', a ≥ 1 and all t ≥ 2: not one model, so it has no parametrization."""

    family: ClassVar[str] = NAME
    key: ClassVar[str] = "all-sizes"
    title: ClassVar[str] = "lightning self-attention for all d, d', a ≥ 1 and all t ≥ 2"

    def __str__(self) -> str:
        return self.title

    def to_json(self) -> dict[str, Any]:
        """No number names it."""
        return {}
