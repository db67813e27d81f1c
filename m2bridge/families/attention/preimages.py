"""The points of a fibre, as a value that statements predict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from m2bridge.families.attention.orbits import WeightPair
from m2bridge.layout import matrix_text


@dataclass(frozen=True, slots=True)
class Preimages:
    """Weights (A, V), up to rescaling, that have the same function."""

    points: frozenset[WeightPair]

    def to_json(self) -> list[dict[str, Any]]:
        """In increasing order, for ``json.dumps``."""
        return [{"A": [list(row) for row in A], "V": [list(row) for row in V]} for A, V in sorted(self.points)]

    def __str__(self) -> str:
        return f"{{{', '.join(f'({matrix_text(A)}, {matrix_text(V)})' for A, V in sorted(self.points))}}}"
