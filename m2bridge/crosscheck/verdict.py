"""The verdict on a statement, and the sentence that says what it rests on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from m2bridge.maps.statement import GlobalStatement, Statement, Witness, value_json
from m2bridge.results.base import Decision
from m2bridge.results.sheet import matrix_text, name_with_part, value_text

NO_ORBIT = "vacuous, since there are no such functions in this case"
NONE_SPECIAL = "vacuous, since there are no special fibres in this case"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on one statement for one case.

    One that was read from a certificate has values and orbits as lists and numbers, and says the same.

    Parameters
    ----------
    statement : Statement
    hypothesis : str
        The hypothesis that fails; empty if all are satisfied.
    predicted, observed : bool, int, points of a fibre or None
        Of the closure as a whole.
    vacuous : bool
        Whether the case has nothing that the statement is about.
    concerned : int or None
        How many orbits the statement is about; ``None`` if it is about the closure as a whole.
    orbits : int
        How many orbits there are.
    failing, undecided : tuple of orbits
        Where observation and prediction differ, and where nothing was decided.
    witness : Witness or None
        For REFUTED.
    doubt : str
        Why something is undecided.
    unfinished, progress : str
        The limit that was reached, and how much was done until then.
    looked : bool
        Whether anything was observed.
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
    hypothesis: str = ""
    predicted: Any = None
    observed: Any = None
    vacuous: bool = False
    concerned: int | None = None
    orbits: int = 0
    failing: tuple[Any, ...] = ()
    undecided: tuple[Any, ...] = ()
    witness: Witness | None = None
    doubt: str = ""
    unfinished: str = ""
    progress: str = ""
    looked: bool = True
    computed: tuple[str, ...] = ()
    trusted: tuple[str, ...] = ()

    @classmethod
    def from_data(cls, statement: Statement, data: Mapping[str, Any], *, orbits: int, looked: bool) -> Verdict:
        """The inverse of :meth:`to_data`; raises ValueError if the verdict does not follow from the rest."""
        observed = data["observed"]
        nothing = isinstance(statement, GlobalStatement) and observed is not None and observed == statement.nothing
        verdict = cls(
            statement,
            data["hypothesis"] or "",
            data["predicted"],
            observed,
            vacuous=data["concerned"] == 0 or nothing,
            concerned=data["concerned"],
            orbits=orbits,
            failing=tuple(data["failing"]),
            undecided=tuple(data["undecided"]),
            witness=None if data["witness"] is None else _witness(**data["witness"]),
            looked=looked,
        )
        if verdict.decision != data["verdict"]:
            raise ValueError(f"the verdict {data['verdict']} does not follow from what is said about it")
        return verdict

    @property
    def decision(self) -> Decision:
        """The verdict that follows."""
        if self.hypothesis:
            return Decision.NOT_APPLICABLE
        if not self.looked:
            return Decision.UNDECIDED
        if self.vacuous:
            return Decision.CONFIRMED
        if self._differs() if self.concerned is None else self.failing:
            return Decision.REFUTED
        unknown = self.observed is None if self.concerned is None else self.undecided
        return Decision.UNDECIDED if unknown else Decision.CONFIRMED

    @property
    def reason(self) -> str:
        """A sentence: the values compared, the limit reached, or the hypothesis that fails and what still holds."""
        if self.hypothesis:
            return f"{self.hypothesis}{self._still()}"
        words = self.statement.observable.replace("_", " ")
        if not self.looked:
            return self.unfinished or f"{words}: not observed"
        if self.vacuous:
            return f"{words}: {NONE_SPECIAL if self.concerned is None else NO_ORBIT}"
        return f"{words}: {self._whole()}" if self.concerned is None else self._by_orbits(words)

    def _whole(self) -> str:
        return self.doubt or "not decided" if self.observed is None else _computed(self)

    def _by_orbits(self, words: str) -> str:
        if self.failing:
            differ = f"they differ on the orbits {_listed(self.failing)}{self._done()}"
            witness = self.witness
            example = "" if witness is None else f"{_computed(witness)} at orbit {plain_text(witness.orbit)}; "
            return f"{words}: {example}{differ}"
        if self.doubt:
            return self.doubt
        if self.unfinished:
            return f"{words}: computed and stated agree on every orbit that was done; {self.unfinished}"
        if self.undecided:
            return f"{words}: not decided on the orbits {_listed(self.undecided)}"
        about = "" if self.concerned == self.orbits else " that it is about"
        number = f"all {self.concerned} orbits" if self.concerned != 1 else "the one orbit"
        return f"{words}: computed and stated agree on {number}{about}"

    def _still(self) -> str:
        """The conclusion of a statement whose hypotheses fail, as far as it was observed."""
        if not self.looked:
            return ""
        if self.concerned is None:
            if self.vacuous:
                return f"; the conclusion is {NONE_SPECIAL}"
            if self.predicted is None:
                return ""
            if self.observed is None:
                return f"; whether the conclusion holds is not known{self._done()}"
            holds = "would be false" if self._differs() else "holds all the same"
            return f"; the conclusion {holds}: {self._whole()}"
        if self.vacuous:
            return ""
        if self.statement.observable == "singular" and self.undecided:
            return "; the parametrization is not birational, so fibres do not decide smoothness: use singular-locus"
        if self.failing:
            return f"; the conclusion would be false on the orbits {_listed(self.failing)}{self._done()}"
        every = "every orbit that was done" if self.unfinished else "every orbit"
        return f"; the conclusion holds all the same on {every}{self._done()}"

    def _differs(self) -> bool:
        return self.observed is not None and plain_text(self.predicted) != plain_text(self.observed)

    def _done(self) -> str:
        return f" ({self.progress})" if self.progress else ""

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
        return name_with_part(self.key, self.part)

    def to_json(self) -> dict[str, Any]:
        """A dictionary for ``json.dumps``."""
        witness = None if self.witness is None else self.witness.to_json()
        rests_on = {"computed": list(self.computed), "trusted": list(self.trusted)}
        return {"statement": self.key, **self._words(), "reason": self.reason, "witness": witness, **rests_on}

    def to_data(self) -> dict[str, Any]:
        """The verdict as a certificate holds it: numbers instead of sentences."""
        return self._words() | {
            "hypothesis": self.hypothesis or None,
            "predicted": value_json(self.predicted),
            "observed": value_json(self.observed),
            "concerned": self.concerned,
            "failing": [list(orbit.cells) for orbit in self.failing],
            "undecided": [list(orbit.cells) for orbit in self.undecided],
            "witness": self._witness_data(),
        }

    def _words(self) -> dict[str, str]:
        words = {"part": self.part, "text": self.text, "source": self.statement.source}
        return words | {"verdict": str(self.decision)}

    def _witness_data(self) -> dict[str, Any] | None:
        """The witness in an orbit; a statement about the closure as a whole has its numbers beside it."""
        if self.witness is None or self.witness.orbit is None:
            return None
        return self.witness.to_json() | {"orbit": list(self.witness.orbit.cells)}


def _witness(orbit: Any, predicted: Any, observed: Any, numbers: Mapping[str, int], **weights: Any) -> Witness:
    return Witness(orbit, weights, predicted, observed, numbers)


def _computed(values: Verdict | Witness) -> str:
    return f"computed {plain_text(values.observed)}, stated {plain_text(values.predicted)}"


def _listed(orbits: Iterable[Any]) -> str:
    return ", ".join(map(plain_text, orbits))


def plain_text(value: Any) -> str:
    """A value or an orbit in words, whether it was observed or read; empty for nothing."""
    if value is None:
        return ""
    return value_text(value) if isinstance(value, bool | int | list | dict) else str(value)


def weights_text(witness: Witness) -> str:
    """``A = [1, 0; 0, 0], V = …``."""
    return ", ".join(f"{name} = {matrix_text(matrix)}" for name, matrix in witness.weights.items())


def numbers_text(witness: Witness) -> str:
    """``tangent dimension 6, dimension 5``."""
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in witness.numbers.items())
