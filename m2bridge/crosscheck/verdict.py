"""What a cross-check says about one statement."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from m2bridge.families.attention.orbits import IntegerMatrix, Orbit
from m2bridge.families.attention.statements.statement import Value


class Outcome(StrEnum):
    """The four possible verdicts.

    Examples
    --------
    >>> Outcome("CONFIRMED") is Outcome.CONFIRMED, [str(outcome) for outcome in Outcome]
    (True, ['CONFIRMED', 'REFUTED', 'UNDECIDED', 'NOT_APPLICABLE'])
    """

    CONFIRMED = "CONFIRMED"
    REFUTED = "REFUTED"
    UNDECIDED = "UNDECIDED"
    NOT_APPLICABLE = "NOT_APPLICABLE"


@dataclass(frozen=True, slots=True)
class Witness:
    """Where a statement fails: an orbit, weights of a function in it, and the numbers that show it.

    Parameters
    ----------
    orbit : Orbit or None
        ``None`` for statements about the neuromanifold as a whole.
    A, V : matrices of int
        Weights of a function in the orbit; empty without an orbit.
    predicted, observed : bool, int or points of a fibre
    numbers : dict of str to int
    """

    orbit: Orbit | None
    A: IntegerMatrix
    V: IntegerMatrix
    predicted: Value
    observed: Value | None
    numbers: dict[str, int]

    def to_json(self) -> dict[str, Any]:
        """A dictionary for ``json.dumps``."""
        orbit = None if self.orbit is None else {"r": self.orbit.r, "s": self.orbit.s, "m": self.orbit.m}
        return {
            "orbit": orbit,
            "A": [list(row) for row in self.A],
            "V": [list(row) for row in self.V],
            "predicted": _value_json(self.predicted),
            "observed": _value_json(self.observed),
            "numbers": self.numbers,
        }


def _value_json(value: Value | None) -> Any:
    if not isinstance(value, frozenset):
        return value
    return [{"A": [list(row) for row in A], "V": [list(row) for row in V]} for A, V in sorted(value)]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on one statement for one case.

    Parameters
    ----------
    statement, part : str
        Number in the paper and part of it.
    text : str
        The statement.
    source : str
    verdict : Outcome
    reason : str
        What was compared; which limit was reached; which hypothesis fails, and what can still be said.
    witness : Witness or None
        For REFUTED.
    computed, trusted : tuple of str
        What was computed for this verdict, and the cited lemmas on which it rests.

    Examples
    --------
    >>> found = cross_check(SingleLayerAttention(d=3, d_out=3, a=2))
    >>> refuted = next(verdict for verdict in found.verdicts if verdict.verdict == "REFUTED")
    >>> refuted.name, refuted.witness.orbit, refuted.witness.A
    ('3.4 (iii)', Orbit(r=1, s=3, m=1), ((1, 0, 0), (0, 0, 0), (0, 0, 0)))
    """

    statement: str
    part: str
    text: str
    source: str
    verdict: Outcome
    reason: str
    witness: Witness | None = None
    computed: tuple[str, ...] = ()
    trusted: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """``3.4 (iii)``."""
        return f"{self.statement} ({self.part})" if self.part else self.statement

    def to_json(self) -> dict[str, Any]:
        """A dictionary for ``json.dumps``."""
        return {
            "statement": self.statement,
            "part": self.part,
            "text": self.text,
            "source": self.source,
            "verdict": str(self.verdict),
            "reason": self.reason,
            "witness": None if self.witness is None else self.witness.to_json(),
            "computed": list(self.computed),
            "trusted": list(self.trusted),
        }
