"""What observations share that are made for one statement alone, and know no orbits."""

from dataclasses import dataclass

from m2bridge.families.attention.sizes import LayerSizes
from m2bridge.statements.statement import Observed


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedSeparately(Observed):
    """An observation until a limit, in words; what differs is in the verdict, not in numbers."""

    model: LayerSizes
    limit: str = ""
    remarks: tuple[str, ...] = ()
    engine_version: str = ""
    seconds: float = 0.0

    @property
    def unfinished(self) -> str:
        """The limit that was reached before all was computed, or empty."""
        return self.limit

    def numbers(self) -> dict[str, int]:
        """Return no numbers."""
        return {}
