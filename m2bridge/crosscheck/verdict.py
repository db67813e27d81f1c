"""The verdict on a statement, for a case or all sizes: how far it holds, and what that rests on.

A statement predicts (:mod:`m2bridge.statements.statement`), a case or all sizes are observed, and
what follows is an :class:`VerdictScope`: where the statement is true, where it is false, and where
that is not decided. The two extents within one case are here, with the comparison that makes them;
those among all sizes are in the families, which know their sizes.
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
    """How far a statement holds: where it is true, where false, and where that is not decided.

    Attributes
    ----------
    in_parts : bool
        Whether a certificate names the part of a statement: "(iii)" of Theorem 3.4.
    """

    __slots__ = ()

    in_parts: ClassVar[bool] = True

    @property
    def hypothesis(self) -> str:
        """The hypothesis that fails in the case; empty if none does, or of many cases."""
        return ""

    @property
    def predicted(self) -> Any:
        """What the statement says of the closure of a case as a whole."""
        return None

    @property
    def observed(self) -> Any:
        """What was observed of it."""
        return None

    @property
    def failing(self) -> Any:
        """The places where the statement is false: orbits, if it is about orbits of a case."""
        return ()

    @property
    def undecided(self) -> Any:
        """The places where nothing was decided."""
        return ()

    @property
    def witness(self) -> Any:
        """A place where the statement fails, with numbers that show it; ``None`` if it does not."""
        return None

    @property
    @abstractmethod
    def decision(self) -> Decision:
        """The verdict that follows."""

    @abstractmethod
    def reasons(self) -> list[str]:
        """Return in sentences where the statement holds and where it does not, and why."""

    def remarks(self) -> list[str]:
        """Return what is written below the reasons."""
        return []

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """Return the extent for ``json.dumps``, with sentences."""

    @abstractmethod
    def to_data(self) -> dict[str, Any]:
        """Return the extent as a certificate holds it: numbers instead of sentences."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The verdict on one statement, for one case or for all sizes.

    Parameters
    ----------
    statement : Statement
    extent : VerdictScope
        Where the statement holds and where it fails.
    computed, trusted : tuple of str
        What was computed for this verdict, and the lemmas on which it rests, with their proofs or
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
        """``3.4 (iii)``."""
        return name_with_part(self.statement.key, self.statement.part)

    @property
    def text(self) -> str:
        """The statement in words."""
        return self.statement.text

    @property
    def decision(self) -> Decision:
        """The verdict that follows from the extent."""
        return self.extent.decision

    @property
    def reason(self) -> str:
        """The values compared, the limit reached, or the hypothesis that fails, in sentences."""
        return "; ".join(self.extent.reasons())

    @property
    def hypothesis(self) -> str:
        """The hypothesis that fails in the case; empty if there is none."""
        return self.extent.hypothesis

    @property
    def predicted(self) -> Any:
        """What the statement says of the closure of a case as a whole; ``None`` of other places."""
        return self.extent.predicted

    @property
    def observed(self) -> Any:
        """What was observed of it."""
        return self.extent.observed

    @property
    def failing(self) -> Any:
        """The places where the statement is false: orbits, if it is about orbits of a case."""
        return self.extent.failing

    @property
    def undecided(self) -> Any:
        """The places where nothing was decided."""
        return self.extent.undecided

    @property
    def witness(self) -> Any:
        """A place where the statement fails, with numbers that show it; ``None`` if it does not."""
        return self.extent.witness

    def to_finding(self) -> Finding:
        """Return the verdict for people.

        Where it is not decided, what was computed for many cases says what is known all the same.
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
        """What a machine has checked of a statement that is decided, if it has."""
        checked = self.statement.machine_checked
        if not checked or self.decision not in (Decision.CONFIRMED, Decision.REFUTED):
            return []
        return [f"checked by a machine (Rocq): {checked}"]

    def to_json(self) -> dict[str, Any]:
        """Return the verdict and what it rests on, for ``json.dumps``."""
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
        """Return the verdict as a certificate holds it: numbers instead of sentences."""
        data = self._words() | self.extent.to_data()
        if self.extent.in_parts:
            return {"part": self.statement.part, **data}
        return data

    def _words(self) -> dict[str, str]:
        """The part that JSON and certificates have in common."""
        return {
            "text": self.statement.text,
            "source": self.statement.source,
            "verdict": str(self.decision),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseScope(VerdictScope):
    """How far a statement holds in one case.

    One that was read from a certificate has values and orbits as lists and numbers, and says the
    same.

    Parameters
    ----------
    observable : str
        What the statement is about.
    hypothesis : str
        The hypothesis that fails; empty if all are satisfied.
    looked : bool
        Whether anything was observed.
    vacuous : bool
        Whether the case has nothing that the statement is about.
    failing, undecided : tuple of orbits
        Where observation and prediction differ, and where nothing was decided; none if the
        statement is about the closure as a whole.
    witness : Witness or None
        For REFUTED.
    doubt : str
        Why something is undecided.
    unfinished, progress : str
        The limit that was reached, and how much was done until then.
    """

    observable: str
    hypothesis: str = ""
    looked: bool = True
    vacuous: bool = False
    failing: tuple[Any, ...] = ()
    undecided: tuple[Any, ...] = ()
    witness: Witness | None = None
    doubt: str = ""
    unfinished: str = ""
    progress: str = ""

    @property
    def decision(self) -> Decision:
        """The verdict that follows."""
        # what was observed decides nothing where the statement claims nothing
        if self.hypothesis:
            return Decision.NOT_APPLICABLE
        if not self.looked:
            return Decision.UNDECIDED
        # a statement about no place is true
        if self.vacuous:
            return Decision.CONFIRMED
        return self.compared()

    def reasons(self) -> list[str]:
        """One sentence: what was compared, the limit, or the failing hypothesis and what holds."""
        words = self.observable.replace("_", " ")
        if self.hypothesis and self.looked:
            # whether a hypothesis is needed is what a reader of the paper asks next
            return [f"{self.hypothesis}{self.conclusion()}"]
        if self.hypothesis:
            return [self.hypothesis]
        if not self.looked:
            return [self.unfinished or f"{words}: not observed"]
        return [self.comparison(words)]

    @abstractmethod
    def compared(self) -> Decision:
        """Return the verdict of the comparison, where there is something to compare."""

    @abstractmethod
    def comparison(self, words: str) -> str:
        """Return the comparison in a sentence, with what is observed in words."""

    @abstractmethod
    def conclusion(self) -> str:
        """Return whether the conclusion of a statement whose hypotheses fail holds all the same."""

    def remarks(self) -> list[str]:
        """The witness in an orbit, and its numbers."""
        if self.witness is None or self.witness.orbit is None:
            return []
        return [f"witness: {weights_text(self.witness)}", numbers_text(self.witness)]

    def to_json(self) -> dict[str, Any]:
        """The sentence and the witness."""
        witness = None
        if self.witness is not None:
            witness = self.witness.to_json()
        return {"reason": self.reasons()[0], "witness": witness}

    def done(self) -> str:
        """How much was done until a limit, in parentheses; empty if all was."""
        if not self.progress:
            return ""
        return f" ({self.progress})"


@dataclass(frozen=True, slots=True, kw_only=True)
class GlobalComparison(CaseScope):
    """Whether a statement about the closure as a whole holds in one case.

    Parameters
    ----------
    predicted, observed : bool, int, points of a fibre, a partial value or None
    numbers : str
        What the statement means for the case, where it is true.
    """

    predicted: Any = None
    observed: Any = None
    numbers: str = ""

    def compared(self) -> Decision:
        """What is not observed is not decided, and neither is what could not be predicted."""
        if self.predicted is None or self.observed is None:
            return Decision.UNDECIDED
        if isinstance(self.observed, PartialValue):
            # it may be known in part, and refute or leave open
            return self.observed.against(self.predicted)[0]
        if self._differs():
            return Decision.REFUTED
        return Decision.CONFIRMED

    def comparison(self, words: str) -> str:
        """What was computed and what is stated; of a true statement, what it says of the case."""
        if self.vacuous:
            return f"{words}: {NONE_SPECIAL}"
        return f"{words}: {self._values()}"

    def _values(self) -> str:
        """The same, behind the words for what is observed."""
        if self.predicted is None or self.observed is None:
            return self.doubt or "not decided"
        if isinstance(self.observed, PartialValue):
            decision, text = self.observed.against(self.predicted)
            if decision is Decision.CONFIRMED and self.numbers:
                return f"{self.numbers} ({text})"
            if decision is Decision.UNDECIDED and self.doubt:
                return f"{text}; {self.doubt}"
            return text
        if self.numbers and not self._differs():
            return self.numbers
        return f"computed {plain_text(self.observed)}, stated {plain_text(self.predicted)}"

    def conclusion(self) -> str:
        """Whether the predicted value is the one that was observed, if both are there."""
        if self.vacuous:
            return f"; the conclusion is {NONE_SPECIAL}"
        if self.predicted is None:
            return ""
        if self.compared() is Decision.UNDECIDED:
            return f"; whether the conclusion holds is not known{self.done()}"
        holds = "holds all the same"
        if self._differs():
            holds = "would be false"
        return f"; the conclusion {holds}: {self._values()}"

    def _differs(self) -> bool:
        """Whether the two values differ, as far as they are known."""
        if isinstance(self.observed, PartialValue):
            return self.observed.against(self.predicted)[0] is Decision.REFUTED
        # as text, because points that were read from a certificate are lists
        return plain_text(self.predicted) != plain_text(self.observed)

    def to_data(self) -> dict[str, Any]:
        """The two values; a witness of a statement about the whole has nothing more."""
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
    """The orbits of one case at which a statement holds, or fails.

    Parameters
    ----------
    concerned : int
        How many orbits the statement is about.
    orbits : int
        How many orbits there are.
    """

    concerned: int
    orbits: int

    def compared(self) -> Decision:
        """One orbit refutes; all of them confirm."""
        if self.failing:
            return Decision.REFUTED
        if self.undecided:
            return Decision.UNDECIDED
        return Decision.CONFIRMED

    def comparison(self, words: str) -> str:
        """The orbits where observation and prediction differ, or on which they agree."""
        if self.vacuous:
            return f"{words}: {NO_ORBIT}"
        if self.failing:
            return f"{words}: {self._example()}{self._difference()}"
        if self.doubt:
            return self.doubt
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
        """The two values at the witness, if there is one."""
        if self.witness is None:
            return ""
        values = f"{plain_text(self.witness.observed)}, stated {plain_text(self.witness.predicted)}"
        return f"computed {values} at orbit {plain_text(self.witness.orbit)}; "

    def _difference(self) -> str:
        """The orbits at which the statement is false."""
        return f"they differ on the orbits {_listed(self.failing)}{self.done()}"

    def conclusion(self) -> str:
        """Whether the conclusion holds on every orbit that was observed."""
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
        return f"; the conclusion holds all the same on {every}{self.done()}"

    def to_data(self) -> dict[str, Any]:
        """The orbits by their numbers, and the witness."""
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
    """The orbits that were observed, in words."""
    if unfinished:
        return "every orbit that was done"
    return "every orbit"


def _listed(orbits: Iterable[Any]) -> str:
    return ", ".join(map(plain_text, orbits))


def plain_text(value: Any) -> str:
    """A value or an orbit in words, whether it was observed or read; empty for nothing."""
    if value is None:
        return ""
    # what a certificate holds as lists and numbers, observations show by ``str``
    if isinstance(value, bool | int | list | dict):
        return value_text(value)
    return str(value)


def weights_text(witness: Witness) -> str:
    """``A = [1, 0; 0, 0], V = …``."""
    return ", ".join(f"{name} = {matrix_text(matrix)}" for name, matrix in witness.weights.items())


def numbers_text(witness: Witness) -> str:
    """``tangent dimension 6, dimension 5``."""
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in witness.numbers.items())


def verdicts_on(
    statements: Iterable[Statement], model: Model, observed: Observed | None, limit: str = ""
) -> tuple[Verdict, ...]:
    """The verdicts on statements; NOT_APPLICABLE or UNDECIDED where nothing could be observed."""
    if observed is not None:
        return tuple(compare(statement, observed) for statement in statements)
    verdicts = []
    for statement in statements:
        # about orbits or not, there is nothing to be said of any place
        nothing = GlobalComparison(
            observable=statement.observable,
            hypothesis=statement.hypotheses(model),
            looked=False,
            unfinished=limit,
        )
        verdicts.append(Verdict(statement=statement, extent=nothing))
    return tuple(verdicts)


def compare(statement: Statement, observed: Observed) -> Verdict:
    """The verdict on a statement about the case that was observed.

    Where orbits are missing, the verdict is the one that all orbits would give, or UNDECIDED.
    """
    extent: CaseScope
    if isinstance(statement, GlobalStatement):
        extent = _of_whole(statement, observed)
    else:
        extent = _at_orbits(statement, observed)
    # where nothing follows, nothing was computed for a verdict, and nothing is trusted
    if extent.decision not in (Decision.CONFIRMED, Decision.REFUTED):
        return Verdict(statement=statement, extent=extent)
    every = _every_orbit(observed.unfinished)
    computed = tuple(text.replace("{orbits}", every) for text in statement.computed)
    return Verdict(statement=statement, extent=extent, computed=computed, trusted=statement.trusted)


def _of_whole(statement: GlobalStatement[Any], observations: Observed) -> GlobalComparison:
    """The predicted value beside the observed one; their difference is the witness."""
    predicted, doubt = _within_limits(partial(statement.predict, observations.model))
    observed, limit = _within_limits(partial(observations.value, statement.observable))
    if observed is None:
        doubt = limit or observations.unknown(statement.observable)
    extent = GlobalComparison(
        observable=statement.observable,
        hypothesis=statement.hypotheses(observations.model),
        predicted=predicted,
        observed=observed,
        vacuous=observed is not None and observed == statement.nothing,
        doubt=doubt,
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
    """A value; ``None`` with the reason if it could not be computed."""
    try:
        return compute(), ""
    except (MethodUnavailableError, TooLargeError, TimeLimitError) as limit:
        return None, str(limit)


def _at_orbits(statement: OrbitStatement[Any, Any], observations: Observed) -> OrbitwiseComparison:
    """The prediction held against the observation orbit by orbit, where it is about the orbit."""
    model = observations.model
    orbits = observations.all_orbits()
    concerned = [orbit for orbit in orbits if statement.concerns(orbit)]
    values = {}
    failing = []
    doubtful = []
    for orbit, value in observations.at_orbits(statement.observable).items():
        if not statement.concerns(orbit):
            continue
        values[orbit] = value
        if value is None:
            doubtful.append(orbit)
        elif value != statement.predict(orbit, model):
            failing.append(orbit)
    doubt = ""
    if doubtful:
        doubt = observations.doubt(statement.observable, doubtful)
    extent = OrbitwiseComparison(
        observable=statement.observable,
        hypothesis=statement.hypotheses(model),
        looked=bool(values) or not concerned or not observations.unfinished,
        vacuous=not concerned,
        concerned=len(concerned),
        orbits=len(orbits),
        failing=tuple(failing),
        # those that a limit left out and those in doubt
        undecided=tuple(orbit for orbit in concerned if values.get(orbit) is None),
        doubt=doubt,
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
    statement: Statement, data: Mapping[str, Any], *, orbits: int, looked: bool, numbers: str
) -> Verdict:
    """The verdict that a certificate holds: the inverse of :meth:`Verdict.to_data`.

    Parameters
    ----------
    orbits : int
        How many orbits the case has.
    looked : bool
        Whether anything was observed.
    numbers : str
        What the statement means for the case.

    Raises
    ------
    ValueError
        If the verdict does not follow from the rest.
    """
    named: dict[str, Any] = {"observable": statement.observable, "looked": looked}
    named["hypothesis"] = data["hypothesis"] or ""
    extent: CaseScope
    if data["concerned"] is None:
        # also of a statement about orbits, where nothing was observed
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
    # a certificate cannot say another verdict than the one that its numbers give
    if extent.decision != data["verdict"]:
        raise ValueError(
            f"the verdict {data['verdict']} does not follow from what is said about it"
        )
    return Verdict(statement=statement, extent=extent)


def _numbers(value: Any) -> Any:
    """Several numbers, which a certificate holds as lists; another value as it is."""
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
    """A witness that was read; the names that are left are those of parameters."""
    return Witness(
        orbit=orbit, weights=weights, predicted=predicted, observed=observed, numbers=numbers
    )
