"""Statements, which predict, and observations, with which predictions are compared.

A statement never computes, and what is observed shares no method with the prediction.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar

from m2bridge.errors import check_kind
from m2bridge.results.base import Decision
from m2bridge.results.sheet import value_text

if TYPE_CHECKING:
    pass


M = TypeVar("M")
O = TypeVar("O")


class FibrePoints(Protocol):
    """The points of a fibre; equal to others when the points are, and shown by ``str``."""

    def __hash__(self) -> int: ...

    def to_json(self) -> Any:
        """Return a value for ``json.dumps``."""


class PartialValue(ABC):
    """A value that can be known in part: numbers by degree, up to a degree.

    It says itself whether it is the predicted one.
    """

    __slots__ = ()

    @abstractmethod
    def against(self, predicted: Any) -> tuple[Decision, str]:
        """Return the verdict on a predicted value, and the comparison in a sentence."""

    @abstractmethod
    def to_json(self) -> Any:
        """Return a value for ``json.dumps``."""


@dataclass(frozen=True, slots=True)
class Numbers(PartialValue):
    """Numbers in their order.

    Parameters
    ----------
    entries : tuple of int or None
        ``None`` for one that was not observed.

    Examples
    --------
    >>> str(Numbers((4, 6, None)))
    '(4, 6, –)'
    """

    entries: tuple[int | None, ...]

    def against(self, predicted: Numbers) -> tuple[Decision, str]:
        """One number that differs refutes, as does another length; all of them confirm."""
        text = f"computed {self}, stated {predicted}"
        if len(self.entries) != len(predicted.entries):
            return Decision.REFUTED, text
        for seen, stated in zip(self.entries, predicted.entries, strict=True):
            # one number refutes, whatever the others are
            if seen is not None and seen != stated:
                return Decision.REFUTED, text
        if None in self.entries:
            return Decision.UNDECIDED, text
        return Decision.CONFIRMED, text

    def to_json(self) -> list[int | None]:
        """A list for ``json.dumps``."""
        return list(self.entries)

    def __str__(self) -> str:
        return value_text(self.to_json())


@dataclass(frozen=True, slots=True)
class NumbersByMethod(PartialValue):
    """The same numbers, by methods that share nothing: each has found all of them, or some.

    Parameters
    ----------
    found : tuple of (str, Numbers)
        For each method its name, and the numbers that it found.

    Examples
    --------
    >>> seen = NumbersByMethod((("integrals", Numbers((4, 6))), ("slices", Numbers((4, None)))))
    >>> print(seen)
    2 of 2 by integrals, 1 of 2 by slices modulo random primes
    >>> str(seen.against(Numbers((4, 7)))[0])
    'REFUTED'
    """

    found: tuple[tuple[str, Numbers], ...]

    def against(self, predicted: Numbers) -> tuple[Decision, str]:
        """One number of one method that differs refutes; all numbers of one method confirm."""
        decisions = [numbers.against(predicted)[0] for _, numbers in self.found]
        if Decision.REFUTED in decisions:
            # whoever reads that a statement is false has to see by which method
            by_method = [f"{numbers} by {self._words(name)}" for name, numbers in self.found]
            return Decision.REFUTED, f"computed {', '.join(by_method)}, stated {predicted}"
        if Decision.CONFIRMED in decisions:
            return Decision.CONFIRMED, str(self)
        return Decision.UNDECIDED, str(self)

    def to_json(self) -> dict[str, list[int | None]]:
        """A dictionary for ``json.dumps``: the numbers by the name of the method."""
        return {name: numbers.to_json() for name, numbers in self.found}

    def __str__(self) -> str:
        parts = []
        for name, numbers in self.found:
            known = sum(number is not None for number in numbers.entries)
            parts.append(f"{known} of {len(numbers.entries)} by {self._words(name)}")
        return ", ".join(parts)

    @staticmethod
    def _words(name: str) -> str:
        """The method for people, who have to see what is counted modulo primes alone."""
        return "slices modulo random primes" if name == "slices" else name.replace("_", " ")


Value = bool | int | FibrePoints | PartialValue
"""What can be predicted and observed: yes or no, a number, the points of a fibre, several numbers
(:class:`Numbers`), perhaps by several methods (:class:`NumbersByMethod`), or numbers by degree.
"""


def value_json(value: Value | None) -> Any:
    """Return a value for ``json.dumps``."""
    if value is None or isinstance(value, bool | int):
        return value
    return value.to_json()


def every_orbit(orbit: Any) -> bool:
    """Return True: the statement is about all functions except zero."""
    return True


@dataclass(frozen=True, slots=True)
class _Statement(Generic[M]):
    """The fields that both kinds have in common; GlobalStatement explains them."""

    key: str
    part: str
    text: str
    source: str
    observable: str
    predict: Callable[..., Value | None]
    hypotheses: Callable[[M], str]
    computed: tuple[str, ...] = ()
    trusted: tuple[str, ...] = ()
    machine_checked: str = ""
    apart: bool = False
    follows_from: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GlobalStatement(_Statement[M]):
    """A statement about the closure of the image of every model of a family.

    It predicts and never computes.

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
        The prediction for a model; ``None`` where it has no meaning, as its hypotheses exclude, or
        is too large.
    hypotheses : callable
        Why the statement does not apply to a model; empty if it does.
    computed, trusted : tuple of str
        What is computed for a verdict on it, and the lemmas on which the verdict rests and no
        others. ``{orbits}`` in ``computed`` stands for the orbits that were observed.
    machine_checked : str
        What of it a machine has checked for all sizes, and where; empty if nothing.
    apart : bool
        Whether it takes a computation of its own, which can be long. Then it is decided where it is
        asked for by its name, no other statement with it; there are certificates of it only where
        the family has a question with its key.
    follows_from : tuple of str
        Keys of statements that imply it: who asks for one of them asks for it too.
    nothing : bool or int, optional
        The value whose observation means that there is nothing in a case that the statement is
        about.
    """

    predict: Callable[[M], Value | None]
    nothing: Value | None = None


@dataclass(frozen=True, slots=True)
class OrbitStatement(_Statement[M], Generic[M, O]):
    """A statement about every function of a model with finitely many orbits, or about some orbits.

    Fields as in :class:`GlobalStatement`; ``predict`` takes an orbit and the model. ``concerns``
    says whether the statement is about an orbit. Where it is about none of a case, it holds, and
    says nothing.
    """

    predict: Callable[[O, M], Value]
    concerns: Callable[[O], bool] = every_orbit


Statement = GlobalStatement[Any] | OrbitStatement[Any, Any]


@dataclass(frozen=True, slots=True)
class Always:
    """A prediction that is the same for all orbits and models.

    As all that a statement of this package calls it has a name, so that results with statements can
    be pickled.
    """

    value: Value

    def __call__(self, *_: object) -> Value:
        return self.value


def check_statements(statements: object) -> None:
    """Raise InvalidCaseError unless these are statements."""
    wanted = "a sequence of statements"
    check_kind("statements", statements, Sequence, wanted)
    assert isinstance(statements, Sequence)
    for statement in statements:
        check_kind("statements", statement, (GlobalStatement, OrbitStatement), wanted)


def observed_together(statements: Iterable[Statement]) -> tuple[Statement, ...]:
    """The statements that are decided where all are asked for, and certified: not ``apart``."""
    return tuple(statement for statement in statements if not statement.apart)


IntegerMatrix = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Witness:
    """A place where a statement fails: an orbit, a function in it, and numbers that show it.

    Parameters
    ----------
    orbit : orbit or None
        ``None`` for statements about the closure as a whole.
    weights : dict of str to matrix of int
        Parameters of a function in the orbit, by name; empty ones without an orbit.
    predicted, observed : bool, int or points of a fibre
    numbers : dict of str to int
    """

    orbit: Any | None
    weights: Mapping[str, IntegerMatrix]
    predicted: Value | None
    observed: Value | None
    numbers: Mapping[str, int]

    def to_json(self) -> dict[str, Any]:
        """A dictionary for ``json.dumps``."""
        orbit = self.orbit
        if orbit is not None:
            orbit = orbit.to_json()
        # the parameters stand beside the other names, as A and V in the paper
        matrices = {name: list(map(list, matrix)) for name, matrix in self.weights.items()}
        return {
            "orbit": orbit,
            **matrices,
            "predicted": value_json(self.predicted),
            "observed": value_json(self.observed),
            "numbers": dict(self.numbers),
        }


class Observed(ABC):
    """Observations of one case, each by at least one exact method that predicts nothing.

    Here they are without orbits; families with orbits say more. Subclasses are frozen dataclasses
    with these attributes as fields.

    Attributes
    ----------
    model : Model
        The case.
    weights : tuple of str
        The names of the parameters that a witness shows.
    remarks : tuple of str
        The independent methods that agreed.
    engine_version : str
    seconds : float
    """

    __slots__ = ()

    weights: ClassVar[tuple[str, ...]] = ()
    model: Any
    remarks: tuple[str, ...]
    engine_version: str
    seconds: float

    @property
    def unfinished(self) -> str:
        """The limit that was reached, in words; empty if all was observed."""
        return ""

    @property
    def progress(self) -> str:
        """The part that was done until then; empty if all was observed."""
        return ""

    @abstractmethod
    def value(self, observable: str) -> Value | None:
        """Return the value for the closure as a whole; ``None`` if it is undecided."""

    @abstractmethod
    def unknown(self, observable: str) -> str:
        """Return why it is undecided."""

    def all_orbits(self) -> tuple[Any, ...]:
        """All orbits of the case, in increasing order; those that were not observed too."""
        return ()

    def at_orbits(self, observable: str) -> Mapping[Any, Value | None]:
        """The value at each orbit that was looked at; ``None`` if it is undecided."""
        return {}

    def doubt(self, observable: str, orbits: Sequence[Any]) -> str:
        """Return why these orbits are undecided."""
        return ""

    def witness(
        self, orbits: Sequence[Any]
    ) -> tuple[Any, Mapping[str, IntegerMatrix], dict[str, int]]:
        """The most informative failing orbit, weights of a function there, and numbers."""
        # without orbits no statement fails at one
        raise LookupError("there are no orbits")

    @abstractmethod
    def numbers(self) -> dict[str, int]:
        """Return the numbers of the closure as a whole that a witness shows."""

    def evidence(self) -> dict[str, Any]:
        """Return the part of a certificate."""
        return self.to_json()

    @abstractmethod
    def facts(self) -> list[tuple[str, str | None]]:
        """Return names and values for people."""

    def table(self) -> tuple[str, Sequence[str], Sequence[Sequence[object]]] | None:
        """Title, header and rows of a table of the orbits, where there are orbits."""
        return None

    def beside(self, predicted: Mapping[str, Value | None]) -> Observed:
        """The same, with what is predicted of observables beside what was observed, if shown."""
        return self

    def formulas(self) -> Sequence[str]:
        """What papers show of it, in LaTeX."""
        return ()

    def to_macaulay2(self) -> str:
        """Numbers as Macaulay2 reads them, where there are more than those of single orbits."""
        return ""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """Return a dictionary for ``json.dumps``."""
