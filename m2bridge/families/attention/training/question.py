"""The questions about training that certificates answer: exposed types, and learning degrees.

Their checkers are ``checker/exposed.py`` and ``checker/learning_degree.py``. A statement that does
not apply has the verdict NOT_APPLICABLE alone; an UNDECIDED verdict rests on no lemma. A number of
critical points is counted modulo primes, which the certificate names.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, TypeVar

from m2bridge.certificates.form import Certificate, Content
from m2bridge.crosscheck.verdict import from_certificate, verdicts_on
from m2bridge.engine.script import Script
from m2bridge.errors import TimeLimitError, TooLargeError
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.statements import REGISTRY
from m2bridge.families.attention.training.observed import ObservedTypes, observe_types
from m2bridge.families.attention.training.types import ExposedTypes
from m2bridge.families.base import AnswerRow, Question
from m2bridge.limits import importing
from m2bridge.results.base import Decision
from m2bridge.statements.statement import Statement

if TYPE_CHECKING:
    from m2bridge.families.attention.observations.learning_degree import ObservedLearningDegree

_Observed = TypeVar("_Observed")

MOST_CERTIFIED_TOKENS = 10**6
"""The largest t for which the checker counts critical points."""


class StatementQuestion(Question[SingleLayerAttention, _Observed]):
    """Whether one statement holds, by an observation of its own; asked only by its key."""

    __slots__ = ()

    @property
    def observation(self) -> str:
        """The name of the observation: the key, as no other question shares this observation."""
        return self.key

    @property
    def statement(self) -> Statement:
        """The statement with this key."""
        return next(statement for statement in REGISTRY if statement.key == self.key)

    def rows(self, certificate: Certificate) -> list[AnswerRow]:
        """One row, for the only verdict of a certificate."""
        (verdict,) = certificate.answer["verdicts"]
        row = AnswerRow(
            name=self.key,
            text=verdict["text"],
            verdict=verdict["verdict"],
            reason=self.reason(verdict, certificate),
            source=verdict["source"],
        )
        return [row]

    @abstractmethod
    def reason(self, data: dict[str, Any], certificate: Certificate) -> str:
        """The reason for a verdict of a certificate: words such as "not decided for the types …".

        ``data`` is the verdict as the certificate has it. ValueError if it does not follow from the
        values in ``data`` and the evidence.
        """

    def names(self) -> tuple[str, ...]:
        """The name of the only row that :meth:`rows` returns: the key."""
        return (self.key,)

    def usual(self, model: SingleLayerAttention) -> bool:
        """Return False: a check of the usual questions does not include this one."""
        return False

    def within_reach(self, model: SingleLayerAttention) -> bool:
        """Return False: the question is asked only by its name."""
        return False


class ExposedQuestion(StatementQuestion[ObservedTypes | None]):
    """Whether the statement on exposed types holds, by ranks of each type."""

    __slots__ = ()

    key = "exposed"

    def observe(self, model: SingleLayerAttention) -> ObservedTypes | None:
        """Observe all types; ``None`` for one token, where the statement does not apply."""
        if model.t == 1:
            return None
        return observe_types(model, self.head_dim(model), partial=False)

    def head_dim(self, model: SingleLayerAttention) -> int | None:
        """Return ``None`` for all models: in this question values V are not factorized."""
        return None

    def content(self, model: SingleLayerAttention, observed: ObservedTypes | None) -> Content:
        """The content of a certificate: verdict, the ranks of each type as evidence, and lemmas."""
        (verdict,) = verdicts_on((self.statement,), model, observed)
        answer = {"verdicts": [verdict.to_data()]}
        if observed is None:
            return Content(answer, {}, trusted=())
        trusted: tuple[str, ...] = ()
        if verdict.decision is not Decision.UNDECIDED:
            trusted = self.statement.trusted
        return Content(answer, observed.evidence(), trusted)

    def reason(self, data: dict[str, Any], certificate: Certificate) -> str:
        """How observed and predicted types compare, or the hypothesis that fails, in words."""
        failed_hypothesis: str | None = data["hypothesis"]  # null or empty if all of them hold
        if failed_hypothesis:
            decision, reason = Decision.NOT_APPLICABLE, failed_hypothesis
        else:
            observed = ExposedTypes.from_json(data["observed"])
            decision, reason = observed.against(ExposedTypes.from_json(data["predicted"]))
        if decision != data["verdict"]:
            raise ValueError(f"the verdict {data['verdict']} does not follow from the types")
        return reason

    def needs_engine(self, model: SingleLayerAttention) -> bool:
        """Return False: ranks are computed by FLINT."""
        return False


class ExposedHeadsQuestion(ExposedQuestion):
    """Whether the statement on exposed types of weights (K, Q, O, V) of a head holds.

    K and Q have a rows, as always, and O has a columns and V a rows.
    """

    __slots__ = ()

    key = "exposed-heads"

    def head_dim(self, model: SingleLayerAttention) -> int:
        """Return a, the number of columns of O and of rows of V."""
        return model.a


class LearningDegreeQuestion(StatementQuestion["ObservedLearningDegree | None"]):
    """How many critical points there are for one output and standard normal tokens."""

    __slots__ = ()

    key = "learning-degree"

    def observe(self, model: SingleLayerAttention) -> ObservedLearningDegree | None:
        """Count the points; ``None`` where the statement does not apply."""
        if self.statement.hypotheses(model):  # the reason why it does not apply; empty if it does
            return None
        if model.t > MOST_CERTIFIED_TOKENS:
            raise TooLargeError(
                f"certificates on the learning degree are for t ≤ {MOST_CERTIFIED_TOKENS}, not"
                f" {model.t}: take a smaller t, or ask 'cross-check learning-degree'"
            )
        # imported here with SymPy, without which a batch is planned
        with importing():
            from m2bridge.families.attention.observations.learning_degree import (
                observe_learning_degree,
            )

        observed = observe_learning_degree(model, {self.statement.observable})
        if observed.limit:
            raise TimeLimitError(observed.limit)
        return observed

    def content(
        self, model: SingleLayerAttention, observed: ObservedLearningDegree | None
    ) -> Content:
        """The content of a certificate: verdict, evidence (number, primes, target), and lemmas."""
        (verdict,) = verdicts_on((self.statement,), model, observed)
        answer = {"verdicts": [verdict.to_data()]}
        if observed is None:
            return Content(answer, {}, trusted=())
        return Content(answer, observed.evidence(), verdict.trusted)

    def reason(self, data: dict[str, Any], certificate: Certificate) -> str:
        """How observed and predicted number compare, in words, with the primes."""
        evidence = certificate.evidence
        model = SingleLayerAttention(**certificate.case)
        was_observed = len(evidence) > 0  # there is none where the statement does not apply
        # the statement is about one number: it has no orbits, and no other numbers to be shown
        verdict = from_certificate(
            self.statement, data, model, orbits=0, was_observed=was_observed, numbers=""
        )
        if not was_observed:
            return verdict.reason
        return f"{verdict.reason}, modulo {' and '.join(map(str, evidence['primes']))}"

    def script(self, model: SingleLayerAttention) -> Script | None:
        """The program that counts critical points modulo the first two primes, where it applies."""
        if self.statement.hypotheses(model):  # the reason why it does not apply; empty if it does
            return None
        with importing():
            from m2bridge.families.attention.observations.learning_degree import counting_program

        return counting_program(model)

    def needs_engine(self, model: SingleLayerAttention) -> bool:
        """Return whether points are counted, by Macaulay2: where the statement applies."""
        return not self.statement.hypotheses(model)


EXPOSED = ExposedQuestion()
EXPOSED_HEADS = ExposedHeadsQuestion()
LEARNING_DEGREE = LearningDegreeQuestion()
