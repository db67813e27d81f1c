"""The questions about training that certificates answer: exposed types, and learning degrees.

Their checkers are ``checker/exposed.py`` and ``checker/learning_degree.py``.
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
    """Whether one statement holds, by an observation of its own.

    The key of the question is that of the statement. The question is asked only where a user names
    its key. ``observe`` gives the observation of a model, ``content`` the certificate that follows
    from it, and ``rows`` what a table shows of a certificate.
    """

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
        """One row, for the only verdict of a certificate.

        Its reason is recomputed from the observed and predicted values in the certificate.
        ValueError if the verdict does not follow from them.
        """
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

        Tables show it next to the verdict. ``data`` is the verdict as the certificate has it.
        ValueError if the verdict does not follow from
        the values in ``data`` and the evidence.
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
        """Observe all types; ``None`` for one token, where the statement does not apply.

        Raises TimeLimitError if a limit was reached.
        """
        if model.t == 1:
            return None
        return observe_types(model, self.head_dim(model), partial=False)

    def head_dim(self, model: SingleLayerAttention) -> int | None:
        """Return ``None`` for all models: in this question values V are not factorized."""
        return None

    def content(self, model: SingleLayerAttention, observed: ObservedTypes | None) -> Content:
        """The content of a certificate: verdict, the ranks of each type as evidence, and lemmas.

        An UNDECIDED verdict rests on no lemma. Without an observation, for one token, there is the
        verdict alone, NOT_APPLICABLE.
        """
        (verdict,) = verdicts_on((self.statement,), model, observed)
        answer = {"verdicts": [verdict.to_data()]}
        if observed is None:
            return Content(answer, {}, trusted=())
        trusted: tuple[str, ...] = ()
        if verdict.decision is not Decision.UNDECIDED:
            trusted = self.statement.trusted
        return Content(answer, observed.evidence(), trusted)

    def reason(self, data: dict[str, Any], certificate: Certificate) -> str:
        """How observed and predicted types compare, or the hypothesis that fails, in words.

        ``data`` is the verdict as a certificate has it: "verdict", "hypothesis", and the types
        "observed" and "predicted". ValueError if the verdict does not follow from these types.
        """
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
    """How many critical points there are for one output and standard normal tokens.

    They are counted modulo two primes, which a certificate names.
    """

    __slots__ = ()

    key = "learning-degree"

    def observe(self, model: SingleLayerAttention) -> ObservedLearningDegree | None:
        """Count the points; ``None`` where the statement does not apply.

        Raises
        ------
        TimeLimitError
            If a limit was reached.
        TooLargeError
            For more tokens than the checker takes.
        """
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
        """The content of a certificate: verdict, evidence and lemmas.

        The evidence is the number of points, the primes and the target. Without an observation,
        where the statement does not apply, there is the verdict alone, NOT_APPLICABLE. An UNDECIDED
        verdict, for points that are not isolated, rests on no lemma.
        """
        (verdict,) = verdicts_on((self.statement,), model, observed)
        answer = {"verdicts": [verdict.to_data()]}
        if observed is None:
            return Content(answer, {}, trusted=())
        return Content(answer, observed.evidence(), verdict.trusted)

    def reason(self, data: dict[str, Any], certificate: Certificate) -> str:
        """How observed and predicted number compare, in words, with the primes.

        ``data`` is the verdict as a certificate has it, with both numbers as "observed" and
        "predicted". ValueError if it does not follow from these numbers.
        """
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
        """The program that counts critical points modulo the first two primes.

        The primes are those that the text of the loss, as a seed, gives. ``None`` where the
        statement does not apply, so that nothing is counted.
        """
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
