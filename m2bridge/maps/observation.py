"""What a family observes about a case, as cross-checks and certificates see it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

from m2bridge.limits import check, limited
from m2bridge.maps.model import IsObserved, Model
from m2bridge.maps.orbit_methods import NamedOrbit
from m2bridge.maps.rank import RankResult, rank_result
from m2bridge.maps.statement import Statement, Value, value_json

if TYPE_CHECKING:
    from m2bridge.engine import Engine


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


@runtime_checkable
class ObservedInParts(Protocol):
    """Computes each observable by itself, so that only what statements are about is computed."""

    def part_needs_engine(self, observables: Collection[str]) -> bool:
        """Whether Macaulay2 takes part in observing these."""
        ...

    def observe_part(
        self, observables: Collection[str], engine: Engine | None, *, certified: bool = False
    ) -> Observed | None:
        """As :meth:`~m2bridge.maps.model.IsObserved.observe`, but of these observables only."""
        ...


def wanted(model: IsObserved, statements: Iterable[Statement]) -> frozenset[str]:
    """What statements are about; where Macaulay2 is needed, only those that apply."""
    return frozenset(
        statement.observable
        for statement in statements
        if not needs_engine(model, {statement.observable}) or not statement.hypotheses(model)
    )


def needs_engine(model: IsObserved, observables: Collection[str]) -> bool:
    """Whether Macaulay2 takes part where statements are about these observables."""
    if isinstance(model, ObservedInParts):
        return model.part_needs_engine(observables)
    return model.needs_engine


def observe(
    model: IsObserved, observables: Collection[str], engine: Engine | None, *, certified: bool = False
) -> Observed | None:
    """Observe at least these."""
    if isinstance(model, ObservedInParts):
        return model.observe_part(observables, engine, certified=certified)
    return model.observe(engine, certified=certified)


@dataclass(frozen=True, slots=True)
class ObservedRank(WithoutOrbits):
    """See :class:`m2bridge.maps.observation.Observed`; there are no orbits.

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
