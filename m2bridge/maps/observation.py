"""What a family observes about a case, as cross-checks and certificates see it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from m2bridge.maps.orbit_methods import NamedOrbit
from m2bridge.maps.statement import Value, value_json

IntegerMatrix = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Witness:
    """Where a statement fails: an orbit, parameters of a function in it, and the numbers that show it.

    Parameters
    ----------
    orbit : orbit or None
        ``None`` for statements about the closure as a whole.
    weights : dict of str to matrix of int
        Parameters of a function in the orbit, by name; empty ones without an orbit.
    predicted, observed : bool, int or points of a fibre
    numbers : dict of str to int
    """

    orbit: NamedOrbit | None
    weights: Mapping[str, IntegerMatrix]
    predicted: Value | None
    observed: Value | None
    numbers: Mapping[str, int]

    def to_json(self) -> dict[str, Any]:
        """A dictionary for ``json.dumps``."""
        return {
            "orbit": None if self.orbit is None else self.orbit.to_json(),
            **{name: [list(row) for row in matrix] for name, matrix in self.weights.items()},
            "predicted": value_json(self.predicted),
            "observed": value_json(self.observed),
            "numbers": dict(self.numbers),
        }


class Observed(Protocol):
    """What was observed about one case, each part by at least one exact method that predicts nothing."""

    @property
    def model(self) -> Any:
        """The case."""
        ...

    @property
    def weights(self) -> tuple[str, ...]:
        """The names of the parameters that a witness shows; none where there are no orbits."""
        ...

    @property
    def remarks(self) -> tuple[str, ...]:
        """Which independent methods agreed."""
        ...

    @property
    def engine_version(self) -> str: ...

    @property
    def seconds(self) -> float: ...

    @property
    def unfinished(self) -> str:
        """The limit that was reached, in words; empty if all was observed."""
        ...

    @property
    def progress(self) -> str:
        """How much was done until then; empty if all was observed."""
        ...

    def value(self, observable: str) -> Value | None:
        """What was observed of the closure as a whole; ``None`` if that is undecided."""
        ...

    def unknown(self, observable: str) -> str:
        """Why it is undecided."""
        ...

    def all_orbits(self) -> tuple[Any, ...]:
        """All orbits of the case, in increasing order; those that were not observed too."""
        ...

    def at_orbits(self, observable: str) -> Mapping[Any, Value | None]:
        """What was observed at each orbit, as far as it was looked at; ``None`` if that is undecided."""
        ...

    def doubt(self, observable: str, orbits: Sequence[Any]) -> str:
        """Why these orbits are undecided."""
        ...

    def witness(self, orbits: Sequence[Any]) -> tuple[Any, Mapping[str, IntegerMatrix], dict[str, int]]:
        """Of orbits where a statement fails the one that says most, weights of a function in it, and numbers."""
        ...

    def numbers(self) -> dict[str, int]:
        """Numbers of the closure as a whole that a witness shows."""
        ...

    def evidence(self) -> dict[str, Any]:
        """What a certificate holds of it."""
        ...

    def facts(self) -> list[tuple[str, str | None]]:
        """Names and values for people."""
        ...

    def table(self) -> tuple[str, Sequence[str], Sequence[Sequence[object]]] | None:
        """Title, header and rows of a table of the orbits, where there are orbits."""
        ...

    def to_json(self) -> dict[str, Any]:
        """A dictionary for ``json.dumps``."""
        ...


class WithoutOrbits:
    """The part of :class:`Observed` about orbits, where there are none."""

    __slots__ = ()

    weights: ClassVar[tuple[str, ...]] = ()

    def all_orbits(self) -> tuple[Any, ...]:
        """None."""
        return ()

    def at_orbits(self, observable: str) -> Mapping[Any, Value | None]:
        """Nothing."""
        return {}

    def doubt(self, observable: str, orbits: Sequence[Any]) -> str:
        """Nothing."""
        return ""

    def witness(self, orbits: Sequence[Any]) -> tuple[Any, Mapping[str, Any], dict[str, int]]:
        """There are no orbits where a statement could fail."""
        raise LookupError("there are no orbits")

    def table(self) -> None:
        """There is none."""
        return
