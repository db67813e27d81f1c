"""What a statement is: hypotheses and a prediction about something that can be observed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

M = TypeVar("M")
O = TypeVar("O")


class Points(Protocol):
    """The points of a fibre; equal to others when the points are, and shown by ``str``."""

    def __hash__(self) -> int: ...

    def to_json(self) -> Any:
        """For ``json.dumps``."""
        ...


Value = bool | int | Points
"""What can be predicted and observed: yes or no, a number, or the points of a fibre."""


def value_json(value: Value | None) -> Any:
    """For ``json.dumps``."""
    return value if value is None or isinstance(value, bool | int) else value.to_json()


def every_orbit(orbit: Any) -> bool:
    """For statements about all functions except zero."""
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
