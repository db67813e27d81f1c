"""The dimension as an observation: exact ranks of the differential modulo primes, and upper bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from m2bridge.clock import check, limited
from m2bridge.maps.model import Model
from m2bridge.maps.observed import WithoutOrbits
from m2bridge.maps.rank import RankResult, rank_result
from m2bridge.maps.statement import Value


@dataclass(frozen=True, slots=True)
class ObservedRank(WithoutOrbits):
    """See :class:`m2bridge.maps.observed.Observed`; there are no orbits.

    Parameters
    ----------
    model : Model
    found : RankResult
    seconds : float
    """

    model: Model
    found: RankResult
    seconds: float
    remarks: tuple[str, ...] = ()
    engine_version: str = ""
    unfinished: str = ""
    progress: str = ""

    @property
    def dimension(self) -> int | None:
        """The dimension of the closure, where the bounds meet."""
        return self.found.lower if self.found.status == "proved" else None

    def value(self, observable: str) -> Value | None:
        """The dimension; nothing else is observed."""
        return self.dimension if observable == "dimension" else None

    def unknown(self, observable: str) -> str:
        """The bounds between which the dimension lies."""
        if observable != "dimension":
            return "not decided by this method"
        return f"the dimension is at least {self.found.lower} and at most {self.found.upper.value}"

    def numbers(self) -> dict[str, int]:
        """Both bounds."""
        return {"lower_bound": self.found.lower, "upper_bound": self.found.upper.value}

    def evidence(self) -> dict[str, Any]:
        """What a certificate holds."""
        return self.to_json()

    def facts(self) -> list[tuple[str, str | None]]:
        """The dimension, or the bounds."""
        if self.dimension is not None:
            return [("dimension", f"{self.dimension} affine (proved)")]
        return [("dimension", f"at least {self.found.lower}, at most {self.found.upper.value}")]

    def to_json(self) -> dict[str, Any]:
        """A dictionary for ``json.dumps``."""
        return {"dimension": self.dimension, **self.numbers()}


def observe_rank(model: Model) -> ObservedRank:
    """Observe the dimension of the closure; see :func:`m2bridge.maps.rank.rank_result`."""
    with limited(None) as running:
        found = rank_result(model, check=check)
        return ObservedRank(model, found, running.seconds)
