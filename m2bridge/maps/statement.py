"""Statements about models, which predict, and observations, which predictions are compared with."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from m2bridge.maps.orbits import NamedOrbit

M = TypeVar("M")
O = TypeVar("O")


class Points(Protocol):
    """The points of a fibre; equal to others when the points are, and shown by ``str``."""

    def __hash__(self) -> int: ...

    def to_json(self) -> Any:
        """Return a value for ``json.dumps``."""
        ...


Value = bool | int | Points
"""What can be predicted and observed: yes or no, a number, or the points of a fibre."""


def value_json(value: Value | None) -> Any:
    """Return a value for ``json.dumps``."""
    return value if value is None or isinstance(value, bool | int) else value.to_json()


def every_orbit(orbit: Any) -> bool:
    """Return True: the statement is about all functions except zero."""
    return True


@dataclass(frozen=True, slots=True)
class GlobalStatement(Generic[M]):
    """A statement about the closure of the image of every model of a family; it predicts and never computes.

    Parameters
    ----------
    key, part : str
        Name of the statement on the command line, or its number in the paper, and part of it.
    text : str
        The statement in words, with its hypotheses.
    source : str
        Where it is stated, and whether as a theorem.
    observable : str
        What it predicts: ``dimension``, ``degree``, ``closed``, … .
    predict : callable
        The prediction for a model; ``None`` where it has no meaning, as its hypotheses exclude.
    hypotheses : callable
        Why the statement does not apply to a model; empty if it does.
    computed, trusted : tuple of str
        What is computed for a verdict on it, and the lemmas on which the verdict rests and no others. ``{orbits}`` in
        ``computed`` stands for the orbits that were observed.
    nothing : bool or int, optional
        The value whose observation means that there is nothing in a case that the statement is about.
    """

    key: str
    part: str
    text: str
    source: str
    observable: str
    predict: Callable[[M], Value | None]
    hypotheses: Callable[[M], str]
    computed: tuple[str, ...] = ()
    trusted: tuple[str, ...] = ()
    nothing: Value | None = None


@dataclass(frozen=True, slots=True)
class OrbitStatement(Generic[M, O]):
    """A statement about every function of a model whose functions fall into finitely many orbits, or about some orbits.

    Fields as in :class:`GlobalStatement`; ``predict`` takes an orbit and the model. ``concerns`` says whether the
    statement is about an orbit. Where it is about none of a case, it holds, and says nothing.
    """

    key: str
    part: str
    text: str
    source: str
    observable: str
    predict: Callable[[O, M], Value]
    hypotheses: Callable[[M], str]
    computed: tuple[str, ...] = ()
    trusted: tuple[str, ...] = ()
    concerns: Callable[[O], bool] = every_orbit


Statement = GlobalStatement[Any] | OrbitStatement[Any, Any]


IntegerMatrix = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Witness:
    """A place where a statement fails: an orbit, parameters of a function in it, and the numbers that show it.

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
    """Observations of one case, each by at least one exact method that predicts nothing."""

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
        """The part that was done until then; empty if all was observed."""
        ...

    def value(self, observable: str) -> Value | None:
        """The value for the closure as a whole; ``None`` if it is undecided."""
        ...

    def unknown(self, observable: str) -> str:
        """Why it is undecided."""
        ...

    def all_orbits(self) -> tuple[Any, ...]:
        """All orbits of the case, in increasing order; those that were not observed too."""
        ...

    def at_orbits(self, observable: str) -> Mapping[Any, Value | None]:
        """The value at each orbit that was looked at; ``None`` if it is undecided."""
        ...

    def doubt(self, observable: str, orbits: Sequence[Any]) -> str:
        """Why these orbits are undecided."""
        ...

    def witness(self, orbits: Sequence[Any]) -> tuple[Any, Mapping[str, IntegerMatrix], dict[str, int]]:
        """The most informative failing orbit, weights that realise it, and the numbers that show the failure."""
        ...

    def numbers(self) -> dict[str, int]:
        """Numbers of the closure as a whole that a witness shows."""
        ...

    def evidence(self) -> dict[str, Any]:
        """The part of a certificate."""
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
