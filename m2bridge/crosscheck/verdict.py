"""What a verdict rests on, as numbers; and the sentence that says it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from m2bridge.maps.statement import Statement, Value, Witness, value_json
from m2bridge.results.base import Decision

NO_ORBIT = "vacuous, since there are no such functions in this case"
NONE_SPECIAL = "vacuous, since there are no special fibres in this case"


@dataclass(frozen=True, slots=True)
class Grounds:
    """Why a statement is decided as it is; values and orbits as text.

    Parameters
    ----------
    observable : str
    hypothesis : str
        The hypothesis that fails; empty if all are satisfied.
    predicted, observed : str
        Of the closure as a whole, or at the orbit of the witness; empty if not known.
    vacuous : bool
        The case has nothing that the statement is about.
    concerned : int or None
        How many orbits the statement is about; ``None`` if it is about the closure as a whole.
    orbits : int
        How many orbits there are.
    failing, undecided : tuple of str
        Orbits where observation and prediction differ, and where nothing was decided.
    at : str
        The orbit of the witness.
    doubt : str
        Why something is undecided.
    unfinished, progress : str
        The limit that was reached, and how much was done until then.
    looked : bool
        Whether anything was observed.
    """

    observable: str
    hypothesis: str = ""
    predicted: str = ""
    observed: str = ""
    vacuous: bool = False
    concerned: int | None = None
    orbits: int = 0
    failing: tuple[str, ...] = ()
    undecided: tuple[str, ...] = ()
    at: str = ""
    doubt: str = ""
    unfinished: str = ""
    progress: str = ""
    looked: bool = True

    @property
    def decision(self) -> Decision:
        """The verdict that follows."""
        if self.hypothesis:
            return Decision.NOT_APPLICABLE
        if not self.looked:
            return Decision.UNDECIDED
        if self.vacuous:
            return Decision.CONFIRMED
        if self.concerned is None:
            return _compared(self.predicted, self.observed)
        if self.failing:
            return Decision.REFUTED
        return Decision.UNDECIDED if self.undecided else Decision.CONFIRMED

    @property
    def reason(self) -> str:
        """What was compared; which limit was reached; which hypothesis fails, and what can still be said."""
        if self.hypothesis:
            return f"{self.hypothesis}{self._still()}"
        if not self.looked:
            return self.unfinished or f"{self.observable.replace('_', ' ')}: not observed"
        words = self.observable.replace("_", " ")
        if self.vacuous:
            return f"{words}: {self._nothing()}"
        return f"{words}: {self._whole()}" if self.concerned is None else self._by_orbits(words)

    def _whole(self) -> str:
        return f"computed {self.observed}, stated {self.predicted}" if self.observed else self.doubt or "not decided"

    def _by_orbits(self, words: str) -> str:
        if self.failing:
            differ = f"they differ on the orbits {', '.join(self.failing)}{self._done()}"
            return f"{words}: computed {self.observed}, stated {self.predicted} at orbit {self.at}; {differ}"
        if self.doubt:
            return self.doubt
        if self.unfinished:
            return f"{words}: computed and stated agree on every orbit that was done; {self.unfinished}"
        if self.undecided:
            return f"{words}: not decided on the orbits {', '.join(self.undecided)}"
        about = "" if self.concerned == self.orbits else " that it is about"
        number = f"all {self.concerned} orbits" if self.concerned != 1 else "the one orbit"
        return f"{words}: computed and stated agree on {number}{about}"

    def _still(self) -> str:
        """What can be said of a statement whose hypotheses fail."""
        if not self.looked:
            return ""
        if self.concerned is None:
            if self.vacuous:
                return f"; the conclusion is {NONE_SPECIAL}"
            if not self.predicted:
                return ""
            if not self.observed:
                return f"; whether the conclusion holds is not known{self._done()}"
            holds = "holds all the same" if self.predicted == self.observed else "would be false"
            return f"; the conclusion {holds}: {self._whole()}"
        if self.vacuous:
            return ""
        if self.observable == "singular" and self.undecided:
            return "; the parametrization is not birational, so fibres do not decide smoothness: use singular-locus"
        if self.failing:
            return f"; the conclusion would be false on the orbits {', '.join(self.failing)}{self._done()}"
        every = "every orbit that was done" if self.unfinished else "every orbit"
        return f"; the conclusion holds all the same on {every}{self._done()}"

    def _nothing(self) -> str:
        return NONE_SPECIAL if self.concerned is None else NO_ORBIT

    def _done(self) -> str:
        return f" ({self.progress})" if self.progress else ""


def _compared(predicted: str, observed: str) -> Decision:
    if not observed:
        return Decision.UNDECIDED
    return Decision.CONFIRMED if predicted == observed else Decision.REFUTED


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on one statement for one case.

    Parameters
    ----------
    statement : Statement
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
    >>> refuted = next(verdict for verdict in found.verdicts if verdict.decision == "REFUTED")
    >>> refuted.name, refuted.witness.orbit, refuted.witness.weights["A"]
    ('3.4 (iii)', Orbit(r=1, s=3, m=1), ((1, 0, 0), (0, 0, 0), (0, 0, 0)))
    """

    statement: Statement
    grounds: Grounds
    predicted: Value | None = None
    observed: Value | None = None
    failing: tuple[Any, ...] = ()
    undecided: tuple[Any, ...] = ()
    witness: Witness | None = None
    computed: tuple[str, ...] = ()
    trusted: tuple[str, ...] = ()

    @property
    def decision(self) -> Decision:
        """CONFIRMED, REFUTED, UNDECIDED or NOT_APPLICABLE."""
        return self.grounds.decision

    @property
    def reason(self) -> str:
        """What was compared; which limit was reached; which hypothesis fails, and what can still be said."""
        return self.grounds.reason

    @property
    def key(self) -> str:
        """Number of the statement in the paper, or its name."""
        return self.statement.key

    @property
    def part(self) -> str:
        """Part of the statement."""
        return self.statement.part

    @property
    def text(self) -> str:
        """The statement in words."""
        return self.statement.text

    @property
    def name(self) -> str:
        """``3.4 (iii)``."""
        return f"{self.key} ({self.part})" if self.part else self.key

    def to_json(self) -> dict[str, Any]:
        """A dictionary for ``json.dumps``."""
        return {
            "statement": self.key,
            "part": self.part,
            "text": self.text,
            "source": self.statement.source,
            "verdict": str(self.decision),
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
            "source": self.statement.source,
            "verdict": str(self.decision),
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
