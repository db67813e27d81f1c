"""What a cross-check says about one statement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from m2bridge.crosscheck.grounds import Decision, Grounds
from m2bridge.maps.observed import Witness
from m2bridge.maps.statement import Statement, Value, value_json


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on one statement for one case.

    Parameters
    ----------
    about : Statement
    grounds : Grounds
        What was compared, from which verdict and reason follow.
    predicted, observed : bool, int, points of a fibre or None
        Of the closure as a whole.
    failing, undecided : tuple of orbits
        Where observation and prediction differ, and where nothing was decided.
    witness : Witness or None
        For REFUTED.
    computed, trusted : tuple of str
        What was computed for this verdict, and the cited lemmas on which it rests.

    Examples
    --------
    >>> found = cross_check(SingleLayerAttention(d=3, d_out=3, a=2))
    >>> refuted = next(verdict for verdict in found.verdicts if verdict.verdict == "REFUTED")
    >>> refuted.name, refuted.witness.orbit, refuted.witness.weights["A"]
    ('3.4 (iii)', Orbit(r=1, s=3, m=1), ((1, 0, 0), (0, 0, 0), (0, 0, 0)))
    """

    about: Statement
    grounds: Grounds
    predicted: Value | None = None
    observed: Value | None = None
    failing: tuple[Any, ...] = ()
    undecided: tuple[Any, ...] = ()
    witness: Witness | None = None
    computed: tuple[str, ...] = ()
    trusted: tuple[str, ...] = ()

    @property
    def verdict(self) -> Decision:
        """CONFIRMED, REFUTED, UNDECIDED or NOT_APPLICABLE."""
        return self.grounds.decision

    @property
    def reason(self) -> str:
        """What was compared; which limit was reached; which hypothesis fails, and what can still be said."""
        return self.grounds.reason

    @property
    def statement(self) -> str:
        """Number of the statement in the paper, or its name."""
        return self.about.key

    @property
    def part(self) -> str:
        """Part of the statement."""
        return self.about.part

    @property
    def text(self) -> str:
        """The statement in words."""
        return self.about.text

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
            "source": self.about.source,
            "verdict": str(self.verdict),
            "reason": self.reason,
            "witness": None if self.witness is None else self.witness.to_json(),
            "computed": list(self.computed),
            "trusted": list(self.trusted),
        }

    def to_data(self) -> dict[str, Any]:
        """The verdict as a certificate holds it: numbers instead of sentences."""
        return {
            "part": self.part,
            "text": self.text,
            "source": self.about.source,
            "verdict": str(self.verdict),
            "hypothesis": self.grounds.hypothesis or None,
            "predicted": value_json(self.predicted),
            "observed": value_json(self.observed),
            "concerned": self.grounds.concerned,
            "failing": [list(orbit.cells) for orbit in self.failing],
            "undecided": [list(orbit.cells) for orbit in self.undecided],
            "witness": self._witness_data(),
        }

    def _witness_data(self) -> dict[str, Any] | None:
        """Of an orbit; a statement about the closure as a whole has its numbers beside it."""
        if self.witness is None or self.witness.orbit is None:
            return None
        return self.witness.to_json() | {"orbit": list(self.witness.orbit.cells)}
