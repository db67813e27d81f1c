"""Verdicts on statements, for one case or for all sizes, with scope and reasons.

A statement makes a prediction (:mod:`m2bridge.statements.statement`), and a case or all sizes are
observed. Comparing both gives a :class:`VerdictScope`: where the statement is true, where it is
false, and where it is undecided. The two scopes within one case, :class:`GlobalComparison` and
:class:`OrbitwiseComparison`, are in this module; those for all sizes are in the families.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

from m2bridge.errors import MethodUnavailableError, TimeLimitError, TooLargeError
from m2bridge.maps.model import Model
from m2bridge.results.base import Decision
from m2bridge.results.sheet import Finding, matrix_text, name_with_part, value_text
from m2bridge.statements.statement import (
    GlobalStatement,
    Numbers,
    NumbersByMethod,
    Observed,
    OrbitStatement,
    PartialValue,
    Statement,
    Value,
    Witness,
    value_json,
)

NO_ORBIT = "vacuous, since there are no such functions in this case"
NONE_SPECIAL = "vacuous, since there are no special fibres in this case"


class VerdictScope(ABC):
    """The scope of a verdict: where a statement is true, where false, and where undecided.

    Attributes
    ----------
    in_parts : bool
        Whether certificates name the part of a statement, such as "(iii)" of Theorem 3.4.
    """

    __slots__ = ()

    in_parts: ClassVar[bool] = True

    @property
    def hypothesis(self) -> str:
        """The hypothesis that fails in the case; empty if none does, or for many cases."""
        return ""

    @property
    def predicted(self) -> Any:
        """The predicted value for the closure as a whole."""
        return None

    @property
    def observed(self) -> Any:
        """The observed value for the closure as a whole."""
        return None

    @property
    def failing(self) -> Any:
        """The places where the statement is false: orbits of a case, or sizes."""
        return ()

    @property
    def undecided(self) -> Any:
        """The places where the statement is undecided."""
        return ()

    @property
    def witness(self) -> Any:
        """A counterexample with numbers that prove it; ``None`` if the statement does not fail."""
        return None

    @property
    @abstractmethod
    def decision(self) -> Decision:
        """The decision that follows from the scope."""

    @abstractmethod
    def reasons(self) -> list[str]:
        """Return sentences that say where the statement holds, where it fails, and why."""

    def remarks(self) -> list[str]:
        """Return further lines, which are printed below the reasons."""
        return []

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """Return the scope for ``json.dumps``, with sentences."""

    @abstractmethod
    def to_data(self) -> dict[str, Any]:
        """Return the scope as a certificate stores it: numbers instead of sentences."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The verdict on one statement, for one case or for all sizes.

    Parameters
    ----------
        statement : Statement
            The statement that is decided.
        extent : VerdictScope
        Where the statement holds and where it fails.
    computed, trusted : tuple of str
        What was computed for this verdict, and the lemmas on which it relies, with proofs or
        sources.

    Examples
    --------
    >>> found = cross_check(SingleLayerAttention(d=3, d_out=3, a=2))
    >>> refuted = next(verdict for verdict in found.verdicts if verdict.decision == "REFUTED")
    >>> refuted.name, refuted.witness.orbit, refuted.witness.weights["A"]
    ('3.4 (iii)', Orbit(r=1, s=3, m=1), ((1, 0, 0), (0, 0, 0), (0, 0, 0)))
    """

    statement: Statement
    extent: VerdictScope
    computed: tuple[str, ...] = ()
    trusted: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Key and part of the statement, such as ``3.4 (iii)``."""
        return name_with_part(self.statement.key, self.statement.part)

    @property
    def text(self) -> str:
        """The text of the statement."""
        return self.statement.text

    @property
    def decision(self) -> Decision:
        """The decision that follows from the scope."""
        return self.extent.decision

    @property
    def reason(self) -> str:
        """The compared values, the limit reached, or the hypothesis that fails, in sentences."""
        return "; ".join(self.extent.reasons())

    @property
    def hypothesis(self) -> str:
        """The hypothesis that fails in the case; empty if there is none."""
        return self.extent.hypothesis

    @property
    def predicted(self) -> Any:
        """The predicted value for the closure as a whole; ``None`` for a statement about orbits."""
        return self.extent.predicted

    @property
    def observed(self) -> Any:
        """The observed value for the closure as a whole."""
        return self.extent.observed

    @property
    def failing(self) -> Any:
        """The places where the statement is false: orbits of a case, or sizes."""
        return self.extent.failing

    @property
    def undecided(self) -> Any:
        """The places where the statement is undecided."""
        return self.extent.undecided

    @property
    def witness(self) -> Any:
        """A counterexample with numbers that prove it; ``None`` if the statement does not fail."""
        return self.extent.witness

    def to_finding(self) -> Finding:
        """Return the verdict for display.

        If it is undecided, the computations for other cases are added, since they give partial
        information.
        """
        grounds = list(self.extent.reasons())
        if self.decision is Decision.UNDECIDED:
            grounds += self.computed
        return Finding(
            verdict=str(self.decision),
            name=self.name,
            sentence=self.text,
            grounds=grounds,
            remarks=[*self.extent.remarks(), *self._checked()],
        )

    def _checked(self) -> list[str]:
        """Return the remark that a decided statement is formally verified, if it is."""
        checked = self.statement.machine_checked
        if not checked or self.decision not in (Decision.CONFIRMED, Decision.REFUTED):
            return []
        return [f"formally verified (Rocq): {checked}"]

    def to_json(self) -> dict[str, Any]:
        """Return the verdict and its reasons for ``json.dumps``."""
        checked = self.statement.machine_checked
        return {
            "statement": self.statement.key,
            "part": self.statement.part,
            **self._words(),
            **self.extent.to_json(),
            "computed": list(self.computed),
            "trusted": list(self.trusted),
            **({"machine_checked": checked} if checked else {}),
        }

    def to_data(self) -> dict[str, Any]:
        """Return the verdict as a certificate stores it: numbers instead of sentences."""
        data = self._words() | self.extent.to_data()
        if self.extent.in_parts:
            return {"part": self.statement.part, **data}
        return data

    def _words(self) -> dict[str, str]:
        """Return the entries that JSON and certificates have in common."""
        return {
            "text": self.statement.text,
            "source": self.statement.source,
            "verdict": str(self.decision),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseScope(VerdictScope):
    """The scope of a verdict in one case.

    If it was read from a certificate, values and orbits are lists and numbers; the sentences are
    the same.

    Parameters
    ----------
    observable : str
        The name of the value that the statement predicts.
    hypothesis : str
        The hypothesis that fails; empty if all hold.
    was_observed : bool
        Whether any value was observed.
    vacuous : bool
        Whether the case has no object that the statement is about.
    failing, undecided : tuple of orbits
        The orbits where observation and prediction differ, and where there is no decision; empty if
        the statement is about the closure as a whole.
    witness : Witness or None
        The counterexample of a refuted statement.
    undecided_reason : str
        Why a value is undecided.
    unfinished, progress : str
        The limit that was reached, and how much was done before.
    """

    observable: str
    hypothesis: str = ""
    was_observed: bool = True
    vacuous: bool = False
    failing: tuple[Any, ...] = ()
    undecided: tuple[Any, ...] = ()
    witness: Witness | None = None
    undecided_reason: str = ""
    unfinished: str = ""
    progress: str = ""

    @property
    def decision(self) -> Decision:
        """The decision that follows from the comparison."""
        # an observation decides nothing if a hypothesis of the statement fails
        if self.hypothesis:
            return Decision.NOT_APPLICABLE
        if not self.was_observed:
            return Decision.UNDECIDED
        # a statement about no object is vacuously true
        if self.vacuous:
            return Decision.CONFIRMED
        return self.compared()

    def reasons(self) -> list[str]:
        """Return one sentence: the comparison, the limit, or the failing hypothesis."""
        words = self.observable.replace("_", " ")
        if self.hypothesis and self.was_observed:
            # a reader of the paper wants to know whether the hypothesis is needed
            return [f"{self.hypothesis}{self.conclusion()}"]
        if self.hypothesis:
            return [self.hypothesis]
        if not self.was_observed:
            return [self.unfinished or f"{words}: not observed"]
        return [self.comparison(words)]

    @abstractmethod
    def compared(self) -> Decision:
        """Return the decision by comparing the values."""

    @abstractmethod
    def comparison(self, words: str) -> str:
        """Return the comparison in a sentence; ``words`` names the observed value."""

    @abstractmethod
    def conclusion(self) -> str:
        """Return whether the conclusion holds although a hypothesis of the statement fails."""

    def remarks(self) -> list[str]:
        """Return the witness in an orbit, and its numbers."""
        if self.witness is None or self.witness.orbit is None:
            return []
        return [f"witness: {weights_text(self.witness)}", numbers_text(self.witness)]

    def to_json(self) -> dict[str, Any]:
        """Return the sentence and the witness."""
        witness = None
        if self.witness is not None:
            witness = self.witness.to_json()
        return {"reason": self.reasons()[0], "witness": witness}

    def done(self) -> str:
        """Return how much was done before a limit, in parentheses; empty without a limit."""
        if not self.progress:
            return ""
        return f" ({self.progress})"


@dataclass(frozen=True, slots=True, kw_only=True)
class GlobalComparison(CaseScope):
    """The comparison of one predicted value, for the closure as a whole, with the observed value.

    Parameters
    ----------
        predicted, observed : bool, int, points of a fibre, a partial value or None
            The two values; ``None`` for one that is not known.
    numbers : str
        What the statement means for the case, if it is true.
    """

    predicted: Any = None
    observed: Any = None
    numbers: str = ""

    def compared(self) -> Decision:
        """Undecided if one of the two values is not known, refuted if they differ."""
        if self.predicted is None or self.observed is None:
            return Decision.UNDECIDED
        if isinstance(self.observed, PartialValue):
            # a partial value can refute a prediction or leave it open
            return self.observed.against(self.predicted)[0]
        if self._differs():
            return Decision.REFUTED
        return Decision.CONFIRMED

    def comparison(self, words: str) -> str:
        """Return computed and stated value; for a true statement, what it means for the case."""
        if self.vacuous:
            return f"{words}: {NONE_SPECIAL}"
        return f"{words}: {self._values()}"

    def _values(self) -> str:
        """Return the two values, without the name of the observable."""
        if self.predicted is None or self.observed is None:
            return self.undecided_reason or "not decided"
        if isinstance(self.observed, PartialValue):
            decision, text = self.observed.against(self.predicted)
            if decision is Decision.CONFIRMED and self.numbers:
                return f"{self.numbers} ({text})"
            if decision is Decision.UNDECIDED and self.undecided_reason:
                return f"{text}; {self.undecided_reason}"
            return text
        if self.numbers and not self._differs():
            return self.numbers
        return f"computed {plain_text(self.observed)}, stated {plain_text(self.predicted)}"

    def conclusion(self) -> str:
        """Return whether predicted and observed value agree, if both are known."""
        if self.vacuous:
            return f"; the conclusion is {NONE_SPECIAL}"
        if self.predicted is None:
            return ""
        if self.compared() is Decision.UNDECIDED:
            return f"; whether the conclusion holds is not known{self.done()}"
        holds = "holds nevertheless"
        if self._differs():
            holds = "would be false"
        return f"; the conclusion {holds}: {self._values()}"

    def _differs(self) -> bool:
        """Return whether the two values are known to differ."""
        if isinstance(self.observed, PartialValue):
            return self.observed.against(self.predicted)[0] is Decision.REFUTED
        # compared as text, since points that were read from a certificate are lists
        return plain_text(self.predicted) != plain_text(self.observed)

    def to_data(self) -> dict[str, Any]:
        """Return the two values; a witness of a global statement would add nothing."""
        return {
            "hypothesis": self.hypothesis or None,
            "predicted": value_json(self.predicted),
            "observed": value_json(self.observed),
            "concerned": None,
            "failing": [],
            "undecided": [],
            "witness": None,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class OrbitwiseComparison(CaseScope):
    """The comparison of predictions with observations, orbit by orbit, in one case.

    Parameters
    ----------
    concerned : int
        The number of orbits that the statement is about.
    orbits : int
        The number of all orbits of the case.
    """

    concerned: int
    orbits: int

    def compared(self) -> Decision:
        """Refuted by one orbit; confirmed by all orbits."""
        if self.failing:
            return Decision.REFUTED
        if self.undecided:
            return Decision.UNDECIDED
        return Decision.CONFIRMED

    def comparison(self, words: str) -> str:
        """Return the orbits where observation and prediction differ, or say that they agree."""
        if self.vacuous:
            return f"{words}: {NO_ORBIT}"
        if self.failing:
            return f"{words}: {self._example()}{self._difference()}"
        if self.undecided_reason:
            return self.undecided_reason
        if self.unfinished:
            agree = "computed and stated agree on every orbit that was done"
            return f"{words}: {agree}; {self.unfinished}"
        if self.undecided:
            return f"{words}: not decided on the orbits {_listed(self.undecided)}"
        where = f"all {self.concerned} orbits"
        if self.concerned == 1:
            where = "the one orbit"
        if self.concerned != self.orbits:
            where += " that it is about"
        return f"{words}: computed and stated agree on {where}"

    def _example(self) -> str:
        """Return the two values at the witness, if there is one."""
        if self.witness is None:
            return ""
        values = f"{plain_text(self.witness.observed)}, stated {plain_text(self.witness.predicted)}"
        return f"computed {values} at orbit {plain_text(self.witness.orbit)}; "

    def _difference(self) -> str:
        """Return the orbits at which the statement is false, in a clause."""
        return f"they differ on the orbits {_listed(self.failing)}{self.done()}"

    def conclusion(self) -> str:
        """Return whether the conclusion holds on every orbit that was observed."""
        if self.vacuous:
            return ""
        if self.observable == "singular" and self.undecided:
            return (
                "; the parametrization is not birational, so fibres do not decide smoothness: use"
                " singular-locus"
            )
        if self.failing:
            where = f"{_listed(self.failing)}{self.done()}"
            return f"; the conclusion would be false on the orbits {where}"
        every = _every_orbit(self.unfinished)
        return f"; the conclusion holds nevertheless on {every}{self.done()}"

    def to_data(self) -> dict[str, Any]:
        """Return the orbits by their numbers, and the witness."""
        witness = None
        if self.witness is not None and self.witness.orbit is not None:
            witness = self.witness.to_json() | {"orbit": list(self.witness.orbit.cells)}
        return {
            "hypothesis": self.hypothesis or None,
            "predicted": None,
            "observed": None,
            "concerned": self.concerned,
            "failing": [list(orbit.cells) for orbit in self.failing],
            "undecided": [list(orbit.cells) for orbit in self.undecided],
            "witness": witness,
        }


def _every_orbit(unfinished: str) -> str:
    """Return the set of observed orbits in words."""
    if unfinished:
        return "every orbit that was done"
    return "every orbit"


def _listed(orbits: Iterable[Any]) -> str:
    return ", ".join(map(plain_text, orbits))


def plain_text(value: Any) -> str:
    """Return a value or an orbit as text, whether it was observed or read; empty for ``None``."""
    if value is None:
        return ""
    # values in certificates are lists and numbers, observed ones are shown by ``str``
    if isinstance(value, bool | int | list | dict):
        return value_text(value)
    return str(value)


def weights_text(witness: Witness) -> str:
    """Return the weights of a witness, such as ``A = [1, 0; 0, 0], V = …``."""
    return ", ".join(f"{name} = {matrix_text(matrix)}" for name, matrix in witness.weights.items())


def numbers_text(witness: Witness) -> str:
    """Return the numbers of a witness, such as ``tangent dimension 6, dimension 5``."""
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in witness.numbers.items())


def verdicts_on(
    statements: Iterable[Statement], model: Model, observed: Observed | None, limit: str = ""
) -> tuple[Verdict, ...]:
    """Return the verdicts; NOT_APPLICABLE or UNDECIDED where nothing could be observed."""
    if observed is not None:
        return tuple(compare(statement, observed) for statement in statements)
    verdicts = []
    for statement in statements:
        # without an observation a statement about orbits has no values at orbits either
        nothing = GlobalComparison(
            observable=statement.observable,
            hypothesis=statement.hypotheses(model),
            was_observed=False,
            unfinished=limit,
        )
        verdicts.append(Verdict(statement=statement, extent=nothing))
    return tuple(verdicts)


def compare(statement: Statement, observed: Observed) -> Verdict:
    """Return the verdict on a statement about the observed case.

    If some orbits were not observed, the verdict is the one that all orbits would give, or
    UNDECIDED.
    """
    extent: CaseScope
    if isinstance(statement, GlobalStatement):
        extent = _of_whole(statement, observed)
    else:
        extent = _at_orbits(statement, observed)
    # without a decision a verdict relies on no computation and on no lemma
    if extent.decision not in (Decision.CONFIRMED, Decision.REFUTED):
        return Verdict(statement=statement, extent=extent)
    every = _every_orbit(observed.unfinished)
    computed = tuple(text.replace("{orbits}", every) for text in statement.computed)
    return Verdict(statement=statement, extent=extent, computed=computed, trusted=statement.trusted)


def _of_whole(statement: GlobalStatement[Any], observations: Observed) -> GlobalComparison:
    """Compare the predicted value with the observed one; the witness is their difference."""
    predicted, reason = _within_limits(partial(statement.predict, observations.model))
    observed, limit = _within_limits(partial(observations.value, statement.observable))
    if observed is None:
        reason = limit or observations.unknown(statement.observable)
    extent = GlobalComparison(
        observable=statement.observable,
        hypothesis=statement.hypotheses(observations.model),
        predicted=predicted,
        observed=observed,
        vacuous=observed is not None and observed == statement.nothing,
        undecided_reason=reason,
        numbers=observations.model.numbers(statement.observable),
        progress=observations.progress,
    )
    if extent.decision is not Decision.REFUTED:
        return extent
    witness = Witness(
        orbit=None,
        weights=dict.fromkeys(observations.weights, ()),
        predicted=predicted,
        observed=observed,
        numbers=observations.numbers(),
    )
    return replace(extent, witness=witness)


def _within_limits(compute: Callable[[], Value | None]) -> tuple[Value | None, str]:
    """Return a value, or ``None`` with the reason why it could not be computed."""
    try:
        return compute(), ""
    except (MethodUnavailableError, TooLargeError, TimeLimitError) as limit:
        return None, str(limit)


def _at_orbits(statement: OrbitStatement[Any, Any], observations: Observed) -> OrbitwiseComparison:
    """Compare prediction and observation at each orbit that the statement is about."""
    model = observations.model
    orbits = observations.all_orbits()
    concerned = [orbit for orbit in orbits if statement.concerns(orbit)]
    values = {}
    failing = []
    undecided = []
    for orbit, value in observations.at_orbits(statement.observable).items():
        if not statement.concerns(orbit):
            continue
        values[orbit] = value
        if value is None:
            undecided.append(orbit)
        elif value != statement.predict(orbit, model):
            failing.append(orbit)
    reason = ""
    if undecided:
        reason = observations.undecided_reason(statement.observable, undecided)
    extent = OrbitwiseComparison(
        observable=statement.observable,
        hypothesis=statement.hypotheses(model),
        was_observed=bool(values) or not concerned or not observations.unfinished,
        vacuous=not concerned,
        concerned=len(concerned),
        orbits=len(orbits),
        failing=tuple(failing),
        # orbits that were not observed because of a limit, and orbits without a decision
        undecided=tuple(orbit for orbit in concerned if values.get(orbit) is None),
        undecided_reason=reason,
        unfinished=observations.unfinished,
        progress=observations.progress,
    )
    if extent.decision is not Decision.REFUTED:
        return extent
    orbit, weights, numbers = observations.witness(failing)
    witness = Witness(
        orbit=orbit,
        weights=weights,
        predicted=statement.predict(orbit, model),
        observed=values[orbit],
        numbers=numbers,
    )
    return replace(extent, witness=witness)


def from_certificate(
    statement: Statement, data: Mapping[str, Any], *, orbits: int, was_observed: bool, numbers: str
) -> Verdict:
    """Return the verdict that a certificate stores: the inverse of :meth:`Verdict.to_data`.

    Parameters
    ----------
    orbits : int
        The number of orbits of the case.
    was_observed : bool
        Whether any value was observed.
    numbers : str
        What the statement means for the case, if it is true.

    Raises
    ------
    ValueError
        If the verdict does not follow from the stored values.
    """
    named: dict[str, Any] = {"observable": statement.observable, "was_observed": was_observed}
    named["hypothesis"] = data["hypothesis"] or ""
    extent: CaseScope
    if data["concerned"] is None:
        # this also applies to a statement about orbits without any observation
        observed = _numbers(data["observed"])
        nothing = None
        if isinstance(statement, GlobalStatement):
            nothing = statement.nothing
        extent = GlobalComparison(
            predicted=_numbers(data["predicted"]),
            observed=observed,
            vacuous=observed is not None and observed == nothing,
            numbers=numbers,
            **named,
        )
    else:
        witness = None
        if data["witness"] is not None:
            witness = _witness(**data["witness"])
        extent = OrbitwiseComparison(
            vacuous=data["concerned"] == 0,
            concerned=data["concerned"],
            orbits=orbits,
            failing=tuple(data["failing"]),
            undecided=tuple(data["undecided"]),
            witness=witness,
            **named,
        )
    # the stored verdict must be the one that follows from the stored values
    if extent.decision != data["verdict"]:
        raise ValueError(
            f"the verdict {data['verdict']} does not follow from what is said about it"
        )
    return Verdict(statement=statement, extent=extent)


def _numbers(value: Any) -> Any:
    """Return several numbers, which a certificate stores as lists; other values unchanged."""
    if isinstance(value, list):
        return Numbers(tuple(value))
    if isinstance(value, dict):
        found = []
        for name, listed in sorted(value.items()):
            found.append((name, Numbers(tuple(listed))))
        return NumbersByMethod(tuple(found))
    return value


def _witness(
    orbit: Any, predicted: Any, observed: Any, numbers: Mapping[str, int], **weights: Any
) -> Witness:
    """Return a witness that was read; ``weights`` are the entries named by parameters."""
    return Witness(
        orbit=orbit, weights=weights, predicted=predicted, observed=observed, numbers=numbers
    )
