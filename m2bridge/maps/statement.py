"""What a statement is: hypotheses and a prediction about something that can be observed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

M = TypeVar("M")
O = TypeVar("O")


@dataclass(frozen=True, slots=True)
class Statement(Generic[M]):
    """A statement about the closure of the image of every model of a family; it predicts and never computes.

    Parameters
    ----------
    key, part : str
        Name of the statement on the command line, or its number in the paper, and part of it.
    text : str
        The statement in words.
    source : str
        Where it is stated, and whether as a theorem.
    observable : str
        What it predicts: ``dimension``, ``degree``, ``closed``, … .
    predict : callable
        The prediction for a model.
    hypotheses : callable
        Why the statement does not apply to a model; empty if it does.
    """

    key: str
    part: str
    text: str
    source: str
    observable: str
    predict: Callable[[M], bool | int]
    hypotheses: Callable[[M], str]


@dataclass(frozen=True, slots=True)
class OrbitStatement(Generic[M, O]):
    """A statement about every function of a model whose functions fall into finitely many orbits.

    Fields as in :class:`Statement`; ``predict`` takes an orbit and the model.
    """

    key: str
    part: str
    text: str
    source: str
    observable: str
    predict: Callable[[O, M], bool | int]
    hypotheses: Callable[[M], str]
