"""Predictions against observations of one case, and the verdicts with the sentences that say what
they rest on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

from m2bridge.algebra.field import QQ
from m2bridge.engine import RunOptions, computation, current
from m2bridge.errors import InvalidCaseError, MemoryLimitError, TimeLimitError
from m2bridge.limits import clock
from m2bridge.maps.model import Model
from m2bridge.maps.statement import (
    GlobalStatement,
    Numbers,
    Observed,
    OrbitStatement,
    Statement,
    Witness,
    value_json,
)
from m2bridge.results.base import Decision, VerdictsResult, result_json
from m2bridge.results.sheet import (
    Facts,
    Finding,
    Findings,
    Sheet,
    Table,
    computed_by,
    matrix_text,
    name_with_part,
    value_text,
)

NO_ORBIT = "vacuous, since there are no such functions in this case"
NONE_SPECIAL = "vacuous, since there are no special fibres in this case"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on one statement for one case.

    One that was read from a certificate has values and orbits as lists and numbers, and says the
    same.

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
    numbers : str
        What the statement means for the case, where it is true.
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
    numbers: str = ""
    unfinished: str = ""
    progress: str = ""
    looked: bool = True
    computed: tuple[str, ...] = ()
    trusted: tuple[str, ...] = ()

    @classmethod
    def from_data(
        cls, statement: Statement, data: Mapping[str, Any], *, orbits: int, looked: bool
    ) -> Verdict:
        """The inverse of :meth:`to_data`; raises ValueError if the verdict does not follow from the
        rest.
        """
        observed = data["observed"]
        nothing = (
            isinstance(statement, GlobalStatement)
            and observed is not None
            and observed == statement.nothing
        )
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
            raise ValueError(
                f"the verdict {data['verdict']} does not follow from what is said about it"
            )
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
        unknown = self._open() if self.concerned is None else self.undecided
        return Decision.UNDECIDED if unknown else Decision.CONFIRMED

    @property
    def reason(self) -> str:
        """A sentence: the values compared, the limit reached, or the hypothesis that fails and what
        still holds.
        """
        if self.hypothesis:
            return f"{self.hypothesis}{self._still()}"
        words = self.statement.observable.replace("_", " ")
        if not self.looked:
            return self.unfinished or f"{words}: not observed"
        if self.vacuous:
            return f"{words}: {NONE_SPECIAL if self.concerned is None else NO_ORBIT}"
        return f"{words}: {self._whole()}" if self.concerned is None else self._by_orbits(words)

    def _whole(self) -> str:
        if self.observed is None or self.predicted is None:
            return self.doubt or "not decided"
        if self._open() and not self._differs():
            return f"{_computed(self)}; {self.doubt or 'the others were not observed'}"
        return self.numbers if self.numbers and not self._differs() else _computed(self)

    def _by_orbits(self, words: str) -> str:
        if self.failing:
            differ = f"they differ on the orbits {_listed(self.failing)}{self._done()}"
            witness = self.witness
            example = (
                ""
                if witness is None
                else f"{_computed(witness)} at orbit {plain_text(witness.orbit)}; "
            )
            return f"{words}: {example}{differ}"
        if self.doubt:
            return self.doubt
        if self.unfinished:
            return (
                f"{words}: computed and stated agree on every orbit that was done;"
                f" {self.unfinished}"
            )
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
            if self._open() and not self._differs():
                return f"; whether the conclusion holds is not known{self._done()}"
            holds = "would be false" if self._differs() else "holds all the same"
            return f"; the conclusion {holds}: {self._whole()}"
        if self.vacuous:
            return ""
        if self.statement.observable == "singular" and self.undecided:
            return (
                "; the parametrization is not birational, so fibres do not decide smoothness: use"
                " singular-locus"
            )
        if self.failing:
            return (
                "; the conclusion would be false on the orbits"
                f" {_listed(self.failing)}{self._done()}"
            )
        every = "every orbit that was done" if self.unfinished else "every orbit"
        return f"; the conclusion holds all the same on {every}{self._done()}"

    def _open(self) -> bool:
        """Whether something of the closure as a whole was not predicted, or not observed."""
        return self.predicted is None or not is_complete(self.observed)

    def _differs(self) -> bool:
        """Whether something that was observed of the closure as a whole is not as stated."""
        if self.predicted is None or self.observed is None:
            return False
        stated, seen = _entries(self.predicted), _entries(self.observed)
        if len(stated) != len(seen):
            return True
        pairs = zip(stated, seen, strict=True)
        return any(two is not None and plain_text(one) != plain_text(two) for one, two in pairs)

    def _done(self) -> str:
        return f" ({self.progress})" if self.progress else ""

    @property
    def text(self) -> str:
        """The statement in words."""
        return self.statement.text

    @property
    def name(self) -> str:
        """``3.4 (iii)``."""
        return name_with_part(self.statement.key, self.statement.part)

    def to_json(self) -> dict[str, Any]:
        """A dictionary for ``json.dumps``."""
        witness = None if self.witness is None else self.witness.to_json()
        rests_on = {"computed": list(self.computed), "trusted": list(self.trusted)}
        return {
            "statement": self.statement.key,
            **self._words(),
            "reason": self.reason,
            "witness": witness,
            **rests_on,
        }

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
        stated = self.statement
        return {
            "part": stated.part,
            "text": stated.text,
            "source": stated.source,
            "verdict": str(self.decision),
        }

    def _witness_data(self) -> dict[str, Any] | None:
        """The witness in an orbit; a statement about the closure as a whole has its numbers beside
        it.
        """
        if self.witness is None or self.witness.orbit is None:
            return None
        return self.witness.to_json() | {"orbit": list(self.witness.orbit.cells)}


def _witness(
    orbit: Any, predicted: Any, observed: Any, numbers: Mapping[str, int], **weights: Any
) -> Witness:
    return Witness(orbit, weights, predicted, observed, numbers)


def _entries(value: Any) -> list[Any]:
    """The numbers of a value that has several, whether it was observed or read; else the value
    alone.
    """
    listed = value.to_json() if isinstance(value, Numbers) else value
    return listed if isinstance(listed, list) else [listed]


def is_complete(value: Any) -> bool:
    """Whether a value was observed, and each of its numbers."""
    return None not in _entries(value)


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


def verdicts_on(
    statements: Iterable[Statement], model: Model, observed: Observed | None, limit: str = ""
) -> tuple[Verdict, ...]:
    """The verdicts on statements; NOT_APPLICABLE or UNDECIDED where nothing could be observed,
    within a limit.
    """
    if observed is None:
        return tuple(
            Verdict(s, s.hypotheses(model), unfinished=limit, looked=False) for s in statements
        )
    return tuple(compare(statement, observed) for statement in statements)


def compare(statement: Statement, observed: Observed) -> Verdict:
    """The verdict on a statement about the case that was observed.

    Where orbits are missing, the verdict is the one that all orbits would give, or UNDECIDED.
    """
    verdict = (
        _whole(statement, observed)
        if isinstance(statement, GlobalStatement)
        else _by_orbits(statement, observed)
    )
    if verdict.decision not in (Decision.CONFIRMED, Decision.REFUTED):
        return verdict
    every = "every orbit that was done" if observed.unfinished else "every orbit"
    computed = tuple(text.replace("{orbits}", every) for text in statement.computed)
    return replace(verdict, computed=computed, trusted=statement.trusted)


def _whole(statement: GlobalStatement[Any], observations: Observed) -> Verdict:
    predicted, observed = (
        statement.predict(observations.model),
        observations.value(statement.observable),
    )
    verdict = Verdict(
        statement,
        statement.hypotheses(observations.model),
        predicted,
        observed,
        vacuous=observed is not None and observed == statement.nothing,
        doubt="" if is_complete(observed) else observations.unknown(statement.observable),
        numbers=observations.model.numbers(statement.observable),
        progress=observations.progress,
    )
    if verdict.decision is not Decision.REFUTED:
        return verdict
    weights = dict.fromkeys(observations.weights, ())
    return replace(
        verdict, witness=Witness(None, weights, predicted, observed, observations.numbers())
    )


def _by_orbits(statement: OrbitStatement[Any, Any], observations: Observed) -> Verdict:
    model, orbits = observations.model, observations.all_orbits()
    concerned = [orbit for orbit in orbits if statement.concerns(orbit)]
    values = {
        o: value
        for o, value in observations.at_orbits(statement.observable).items()
        if statement.concerns(o)
    }
    failing = [
        o
        for o, value in values.items()
        if value is not None and value != statement.predict(o, model)
    ]
    doubtful = [orbit for orbit, value in values.items() if value is None]
    verdict = Verdict(
        statement,
        statement.hypotheses(model),
        vacuous=not concerned,
        concerned=len(concerned),
        orbits=len(orbits),
        failing=tuple(failing),
        undecided=tuple(orbit for orbit in concerned if values.get(orbit) is None),
        doubt=observations.doubt(statement.observable, doubtful) if doubtful else "",
        unfinished=observations.unfinished,
        progress=observations.progress,
        looked=bool(values) or not concerned or not observations.unfinished,
    )
    if verdict.decision is not Decision.REFUTED:
        return verdict
    orbit, weights, numbers = observations.witness(failing)
    return replace(
        verdict,
        witness=Witness(orbit, weights, statement.predict(orbit, model), values[orbit], numbers),
    )


@dataclass(frozen=True, slots=True)
class CrossCheck(VerdictsResult):
    """Observations and verdicts on one case.

    Parameters
    ----------
    model : Model
    verdicts : tuple of Verdict
    observations : Observed or None
        ``None`` when nothing can be observed, or a limit was reached before anything was; a part
        when it was reached later.
    engine_version : str
    seconds : float
    unfinished : str
        Empty, or the limit that was reached.

    Examples
    --------
    >>> found = cross_check(SingleLayerAttention(d=3, d_out=3, a=2))
    >>> [verdict.name for verdict in found.verdicts if verdict.decision == "REFUTED"]
    ['3.4 (iii)', 'A.4']
    """

    model: Model
    verdicts: tuple[Verdict, ...]
    observations: Any
    engine_version: str
    seconds: float
    unfinished: str = ""

    def to_sheet(self) -> Sheet:
        """The verdicts in a line, numbers of the case, a table of its orbits, and the verdicts with
        their grounds.
        """
        observed = self.observations
        facts = [
            ("verdicts", _summary(self.verdicts)),
            *(observed.facts() if observed else ()),
            ("computed by", computed_by(self.engine_version, self.seconds)),
            *(("agreement", remark) for remark in self._remarks),
            ("not finished", self.unfinished or None),
        ]
        orbits = observed.table() if observed else None
        tables = [Table(header, rows, caption) for caption, header, rows in filter(None, [orbits])]
        findings = Findings([_finding(verdict) for verdict in self.verdicts])
        return Sheet(
            f"Cross-check of the {self.model.title}, over QQ", [Facts(facts), *tables, findings]
        )

    @property
    def _remarks(self) -> Sequence[str]:
        return () if self.observations is None else self.observations.remarks

    def to_json(self) -> dict[str, Any]:
        """A dictionary for ``json.dumps``: the observations and the verdicts."""
        case = result_json(self.model.to_json(), QQ, self.engine_version or None, self.seconds)
        observations = _NOTHING if self.observations is None else self.observations.to_json()
        verdicts = [verdict.to_json() for verdict in self.verdicts]
        remarks, unfinished = list(self._remarks), self.unfinished or None
        return (
            case
            | observations
            | {"verdicts": verdicts, "remarks": remarks, "unfinished": unfinished}
        )


@computation
def cross_check(
    model: Model, *, statements: Sequence[Statement] | None = None, **options: Unpack[RunOptions]
) -> CrossCheck:
    """Decide statements for one case, assuming none of them.

    Parameters
    ----------
    model : Model
        Of a family with statements.
    statements : sequence of Statement, optional
        All statements about the family when left out.
    engine : Engine, optional
        A Macaulay2 to use; without one, that of the ``with`` block around it, else one that the
        process shares.
    timeout : float, optional
        Seconds for the whole computation.

    Raises
    ------
    InvalidCaseError
        If there are no statements about such models.
    ContradictionError
        If independent methods disagree.
    EngineError
        If Macaulay2 failed in another way than by reaching a limit.

    Examples
    --------
    >>> found = cross_check(PolynomialNetwork([3, 2, 1]))
    >>> [(verdict.name, str(verdict.decision)) for verdict in found.verdicts]
    [('expected-dimension', 'REFUTED'), ('expected-dimension (equal widths)', 'NOT_APPLICABLE')]
    """
    if not isinstance(model, Model) or not model.statements():
        raise InvalidCaseError(
            "model", f"there are no statements about a {getattr(model, 'title', model)}"
        )
    chosen = model.statements() if statements is None else tuple(statements)
    observables = model.observables(chosen)
    version = current().version if model.needs_engine(observables) else ""
    observed, unfinished = None, ""
    try:
        observed = model.observe(observables)
    except (TimeLimitError, MemoryLimitError) as limit:
        unfinished = str(limit)
    verdicts = verdicts_on(chosen, model, observed, unfinished)
    unfinished = unfinished if observed is None else observed.unfinished
    return CrossCheck(model, verdicts, observed, version, clock().seconds, unfinished)


_NOTHING: dict[str, Any] = {
    "dimension": None,
    "degree": None,
    "orbits": [],
    "zero_tangent_dimension": None,
}


def _summary(verdicts: Sequence[Verdict]) -> str:
    """The names of the statements, those that are refuted first."""
    order = (Decision.REFUTED, Decision.UNDECIDED, Decision.CONFIRMED, Decision.NOT_APPLICABLE)
    names = {decision: [v.name for v in verdicts if v.decision == decision] for decision in order}
    return "; ".join(f"{decision} {', '.join(found)}" for decision, found in names.items() if found)


def _finding(verdict: Verdict) -> Finding:
    remarks = []
    if (witness := verdict.witness) is not None and witness.orbit is not None:
        remarks = [f"witness: {weights_text(witness)}", numbers_text(witness)]
    return Finding(str(verdict.decision), verdict.name, verdict.text, (verdict.reason,), remarks)
