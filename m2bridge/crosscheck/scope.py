"""The scope of a verdict: where a statement is true, where it is false, where it is undecided.

The two scopes within one case compare predicted with observed values: of the closure as a whole
(:class:`GlobalComparison`), or orbit by orbit (:class:`OrbitwiseComparison`). Their values may have
been read from a certificate; they are lists and numbers then, and the sentences are the same.
Scopes for all sizes are in the families.

A *case* is a model of a family. Its *closure* is the closure of the set of its functions, which
some cases have divided into finitely many *orbits*. An *observable*, such as the dimension, is what
a statement predicts, and what is computed. A *witness* is the orbit at which a statement fails,
with weights of a function there and numbers that prove it. A *partial value* is one of which a part
may be unknown, such as a list of numbers (:class:`~m2bridge.statements.statement.PartialValue`).
``None`` is a value that is not known or does not exist; an empty text is a hypothesis that does not
fail, a reason that is not known, or a limit that was not reached. A clause is added to a sentence:
it begins with a semicolon, and is empty where nothing can be said.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

from m2bridge.results.base import Decision
from m2bridge.results.sheet import matrix_text, value_text
from m2bridge.statements.statement import PartialValue, Witness, value_json

NO_ORBIT = "vacuous: no such functions in this case"
NONE_SPECIAL = "vacuous: no special fibres in this case"
ADDED_HYPOTHESIS = "m2bridge adds this hypothesis"


class VerdictScope(ABC):
    """The scope of a verdict; base class.

    ``in_parts`` says whether certificates name the part of a statement, such as "(iii)" of Theorem
    3.4.
    """

    __slots__ = ()

    in_parts: ClassVar[bool] = True

    @property
    def hypothesis(self) -> str:
        """The hypothesis that fails in the case; empty if none does, or for all sizes at once."""
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
        """Where the statement is false: a tuple of orbits of a case, or a set of sizes."""
        return ()

    @property
    def undecided(self) -> Any:
        """Where the statement is undecided: a tuple of orbits of a case, or a set of sizes."""
        return ()

    @property
    def witness(self) -> Any:
        """A counterexample with numbers that prove it."""
        return None

    @property
    def as_printed(self) -> bool | None:
        """Whether the statement is true as its source prints it, without hypotheses of m2bridge.

        ``None`` if no source prints it in these words, if the source says nothing about the case,
        or if it is not known.
        """
        return None

    @property
    @abstractmethod
    def decision(self) -> Decision:
        """The decision that follows from the scope."""

    @abstractmethod
    def reasons(self) -> list[str]:
        """Return sentences that say where the statement holds, where it fails, and why.

        They have no full stop, as ``dimension: computed 5, stated 6``: a sheet shows a line for
        each below the statement, and ``Verdict.reason`` joins them by semicolons.
        """

    def remarks(self) -> list[str]:
        """Return further lines, which are printed below the reasons."""
        return []

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """Return fields for the JSON of a verdict, sentences among them, such as ``reason``."""

    @abstractmethod
    def to_data(self) -> dict[str, Any]:
        """Return the fields that a certificate stores of the scope: numbers, and no sentences."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseScope(VerdictScope):
    """The scope of a verdict in one case."""

    observable: str
    hypothesis: str = ""  # which fails
    # a source prints it, and the printed hypotheses hold: one that fails is added by m2bridge
    is_printed: bool = False
    # for a statement about orbits, whether a limit came after one of these at least
    was_observed: bool = True
    vacuous: bool = False  # the case has no object that the statement is about
    failing: tuple[Any, ...] = ()  # this and ``undecided`` are orbits
    undecided: tuple[Any, ...] = ()
    witness: Witness | None = None
    undecided_reason: str = ""
    unfinished: str = ""  # the limit that was reached, and in ``progress`` what was done before
    progress: str = ""

    @property
    def progress_clause(self) -> str:
        """How much was observed before a limit, such as `` (observed: dimension)``."""
        return f" ({self.progress})" if self.progress else ""

    @property
    def decision(self) -> Decision:
        """The decision that follows from the comparison."""
        # an observation decides nothing if a hypothesis of the statement fails
        if self.hypothesis:
            return Decision.NOT_APPLICABLE
        return self._decision_on_conclusion()

    @property
    def as_printed(self) -> bool | None:
        """Whether the conclusion is true in the case, where the printed hypotheses hold."""
        if not self.is_printed:
            return None
        decision = self._decision_on_conclusion()
        if decision is Decision.UNDECIDED:
            return None
        return decision is Decision.CONFIRMED

    def _decision_on_conclusion(self) -> Decision:
        """Return the decision on the conclusion, whether the hypotheses hold or not."""
        if not self.was_observed:
            return Decision.UNDECIDED
        # a statement about no object is vacuously true
        if self.vacuous:
            return Decision.CONFIRMED
        return self.decision_by_values()

    def reasons(self) -> list[str]:
        """Return one sentence: the comparison, the limit, or the failing hypothesis."""
        words = self.observable.replace("_", " ")
        # an empty hypothesis says that none fails
        if self.hypothesis:
            # a reader of the paper wants to know whether the hypothesis is needed
            sentence = self.hypothesis
            if self.was_observed:
                sentence += self.conclusion_clause()
            if self.is_printed:
                truth = "whether the statement is true as printed is not known"
                if self.as_printed is not None:
                    truth = f"as printed the statement is {str(self.as_printed).lower()}"
                sentence += f"; {ADDED_HYPOTHESIS}: {truth}"
            return [sentence]
        if not self.was_observed:
            return [self.unfinished or f"{words}: not observed"]
        return [self.comparison_sentence(words)]

    @abstractmethod
    def decision_by_values(self) -> Decision:
        """Return the decision that follows from the values alone, of something that exists."""

    @abstractmethod
    def comparison_sentence(self, words: str) -> str:
        """Return the comparison in a sentence, which begins with the observable in words."""

    @abstractmethod
    def conclusion_clause(self) -> str:
        """Return whether the conclusion holds although a hypothesis of the statement fails."""

    def remarks(self) -> list[str]:
        """Return two lines, the weights of the witness and its numbers; none without an orbit."""
        if self.witness is None or self.witness.orbit is None:
            return []
        return [f"witness: {weights_text(self.witness)}", numbers_text(self.witness)]

    def to_json(self) -> dict[str, Any]:
        """Return the sentence and the witness."""
        witness = None
        if self.witness is not None:
            witness = self.witness.to_json()
        return {"reason": self.reasons()[0], "witness": witness}


@dataclass(frozen=True, slots=True, kw_only=True)
class GlobalComparison(CaseScope):
    """The comparison of one predicted value, for the closure as a whole, with the observed value.

    The ``numbers`` are what the statement means for the case, if it is true.
    """

    predicted: Any = None
    observed: Any = None
    numbers: str = ""

    def decision_by_values(self) -> Decision:
        """Return REFUTED if the two values differ, CONFIRMED if they are known and agree."""
        if self.predicted is None or self.observed is None:
            return Decision.UNDECIDED
        if isinstance(self.observed, PartialValue):
            # CONFIRMED, REFUTED, or UNDECIDED if no known part differs and a part is unknown
            decision, _ = self.observed.against(self.predicted)
            return decision
        if self._differs():
            return Decision.REFUTED
        return Decision.CONFIRMED

    def comparison_sentence(self, words: str) -> str:
        """Return computed and stated value in words; for a true statement, what it means here."""
        if self.vacuous:
            return NONE_SPECIAL
        return f"{words}: {self._values()}"

    def _values(self) -> str:
        """Return the two values in words, ``numbers`` where they agree, or why one is not known."""
        if self.predicted is None or self.observed is None:
            return self.undecided_reason or "not decided"
        if isinstance(self.observed, PartialValue):
            # ``text`` is a clause with the computed and the stated numbers
            decision, text = self.observed.against(self.predicted)
            if decision is Decision.CONFIRMED and self.numbers:
                return f"{self.numbers} ({text})"
            if decision is Decision.UNDECIDED and self.undecided_reason:
                return f"{text}; {self.undecided_reason}"
            return text
        if self.numbers and not self._differs():
            return self.numbers
        return difference_text(self.observable, self.observed, self.predicted)

    def conclusion_clause(self) -> str:
        """Return a clause that says whether predicted and observed value agree."""
        if self.vacuous:
            return f"; the conclusion is {NONE_SPECIAL}"
        if self.predicted is None:
            return ""
        if self.decision_by_values() is Decision.UNDECIDED:
            return f"; whether the conclusion holds is not known{self.progress_clause}"
        clause = "would be false" if self._differs() else "holds nevertheless"
        return f"; the conclusion {clause}: {self._values()}"

    def _differs(self) -> bool:
        """Return whether the two values, neither of which is ``None``, are known to differ."""
        if isinstance(self.observed, PartialValue):
            # a partial value decides itself: REFUTED as soon as a known part differs
            decision, _ = self.observed.against(self.predicted)
            return decision is Decision.REFUTED
        # compared as text, since points that were read from a certificate are lists
        return plain_text(self.predicted) != plain_text(self.observed)

    def to_data(self) -> dict[str, Any]:
        """Return the two values as a certificate has them; a witness would add nothing."""
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

    The statement is about ``concerned`` of the ``orbits`` of the case.
    """

    concerned: int
    orbits: int

    def decision_by_values(self) -> Decision:
        """Return REFUTED if the statement fails at an orbit, CONFIRMED if it holds at all."""
        if self.failing:
            return Decision.REFUTED
        if self.undecided:
            return Decision.UNDECIDED
        return Decision.CONFIRMED

    def comparison_sentence(self, words: str) -> str:
        """Return, of these, the first that is so: no orbit is concerned; some differ; why others
        are undecided; a limit, until which all agree; which are undecided; all agree.
        """
        if self.vacuous:
            return NO_ORBIT
        if self.failing:
            orbits = f"{_listed(self.failing)}{self.progress_clause}"
            differ = f"computed and stated differ on the orbits {orbits}"
            if self.witness is None:
                return f"{words}: {differ}"
            observed, predicted = self.witness.observed, self.witness.predicted
            values = difference_text(self.observable, observed, predicted)
            place = f"at orbit {plain_text(self.witness.orbit)}"
            if self.observable not in WORDS_OF_ANSWERS:
                place = f"{words} {place}"
            return f"{place}: {values}; {differ}"
        # where values are undecided, the reason for that is the sentence
        if self.undecided_reason:
            return self.undecided_reason
        if self.unfinished:
            agree = "computed and stated agree on every orbit that was done"
            return f"{words}: {agree}; {self.unfinished}"
        if self.undecided:
            return f"{words}: not decided on the orbits {_listed(self.undecided)}"
        concerned = "the one orbit" if self.concerned == 1 else f"all {self.concerned} orbits"
        if self.concerned != self.orbits:
            concerned += " that it is about"
        return f"{words}: computed and stated agree on {concerned}"

    def conclusion_clause(self) -> str:
        """Return a clause that says whether the conclusion holds on all observed orbits."""
        if self.vacuous:
            return ""
        if self.observable == "singular" and self.undecided:
            # Where a hypothesis of the statements on this observable fails, orbits are undecided
            # only if the parametrization is not birational (α = d' = 1 < d in the paper): then a
            # function with several preimages may be smooth or singular.
            return (
                "; the parametrization is not birational, so fibres do not decide smoothness: use"
                " singular-locus"
            )
        if self.failing:
            places = f"on the orbits {_listed(self.failing)}{self.progress_clause}"
            return f"; the conclusion would be false {places}"
        if self.undecided and not self.unfinished:
            return f"; whether the conclusion holds on {_listed(self.undecided)} is not decided"
        observed_orbits = observed_orbits_text(self.unfinished)
        return f"; the conclusion holds nevertheless on {observed_orbits}{self.progress_clause}"

    def to_data(self) -> dict[str, Any]:
        """Return the comparison as a certificate has it: orbits by their ranks, the witness."""
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


WORDS_OF_ANSWERS = {"singular": {True: "singular", False: "smooth"}}
"""Words in place of yes and no, for observables that have them."""


def difference_text(observable: str, observed: Any, predicted: Any) -> str:
    """Return a computed and a stated value as a clause: ``computed 5, stated 6``; or, of a yes and
    a no, ``singular, though the statement says smooth``.
    """
    if not isinstance(observed, bool):
        return f"computed {plain_text(observed)}, stated {plain_text(predicted)}"
    words = WORDS_OF_ANSWERS.get(observable, {True: "yes", False: "no"})
    if observed == predicted:
        return f"{words[observed]}, as stated"
    return f"{words[observed]}, though the statement says {words[predicted]}"


def observed_orbits_text(unfinished: str) -> str:
    """Return in words every orbit, or the orbits that were done before a limit."""
    return "every orbit that was done" if unfinished else "every orbit"


def _listed(orbits: Iterable[Any]) -> str:
    """Return orbits as text, with commas between them."""
    return ", ".join(map(plain_text, orbits))


def plain_text(value: Any) -> str:
    """Return a value or an orbit, computed or from a certificate, as text; empty for None."""
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
