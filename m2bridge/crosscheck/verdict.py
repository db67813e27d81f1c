"""Verdicts on statements, for one case or for all sizes, with scope and reasons.

A statement makes a prediction (:mod:`m2bridge.statements.statement`), and a case or all sizes are
observed. Comparing both gives a :class:`~m2bridge.crosscheck.scope.VerdictScope`: where the
statement is true, where it is false, and where it is undecided. A verdict is a statement with its
scope, and with what the decision rests on.

Words are used as in ``scope``: case, closure, orbit, observable, witness. A
:class:`GlobalStatement` is about the closure as a whole, an :class:`OrbitStatement` about each
orbit that it *concerns*; an :class:`Observed` has values of observables. An observation that was
not made is ``None``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from m2bridge.crosscheck.scope import (
    CaseScope,
    GlobalComparison,
    OrbitwiseComparison,
    VerdictScope,
    observed_orbits_text,
)
from m2bridge.errors import MethodUnavailableError, TimeLimitError, TooLargeError
from m2bridge.maps.model import Model
from m2bridge.results.base import Decision
from m2bridge.results.sheet import Finding, in_brackets, name_with_part
from m2bridge.statements.statement import (
    GlobalStatement,
    Numbers,
    NumbersByMethod,
    Observed,
    OrbitStatement,
    Statement,
    Value,
    Witness,
    excluding_bound,
)


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

    def __repr__(self) -> str:
        return in_brackets(self, "name", "decision")

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
    def as_printed(self) -> bool | None:
        """Whether the statement is true as its source prints it, without hypotheses of m2bridge.

        It follows from what was observed, as the decision does: where a hypothesis that m2bridge
        adds fails, the decision is NOT_APPLICABLE, and the statement as printed is true or false.

        ``None`` if no source prints it in these words, if the source says nothing about the case,
        or if it is not known.
        """
        return self.extent.as_printed

    @property
    def predicted(self) -> Any:
        """The predicted value for the closure as a whole; ``None`` if there is none."""
        return self.extent.predicted

    @property
    def observed(self) -> Any:
        """The observed value for the closure as a whole; ``None`` if there is none."""
        return self.extent.observed

    @property
    def failing(self) -> Any:
        """Where the statement is false: a tuple of orbits of a case, or a set of sizes."""
        return self.extent.failing

    @property
    def undecided(self) -> Any:
        """Where the statement is undecided: a tuple of orbits of a case, or a set of sizes."""
        return self.extent.undecided

    @property
    def witness(self) -> Any:
        """A counterexample with numbers that prove it.

        For one case it is a :class:`~m2bridge.statements.statement.Witness`. For all sizes it is a
        dictionary: of the size, the orbit, weights and numbers; or of the key of a model, its
        dimension and the stated one.

        ``None`` if the statement does not fail, or if its scope keeps no witness: a comparison for
        the closure as a whole that was read from a certificate, where the two values say it all; or
        the scope of the generators for all sizes, whose reason names the case.
        """
        return self.extent.witness

    def to_finding(self) -> Finding:
        """Return the verdict for display.

        If it is undecided, what was computed is added to the reasons: it is a part of the answer.
        """
        grounds = list(self.extent.reasons())
        if self.decision is Decision.UNDECIDED:
            grounds += self.computed
        remarks = list(self.extent.remarks())
        verified_part = self.statement.machine_checked
        if verified_part and self.decision in (Decision.CONFIRMED, Decision.REFUTED):
            remarks.append(f"formally verified (Rocq): {verified_part}")
        return Finding(
            verdict=str(self.decision),
            name=self.name,
            sentence=self.text,
            grounds=grounds,
            remarks=remarks,
        )

    def to_json(self) -> dict[str, Any]:
        """Return the verdict and its reasons for ``json.dumps``."""
        verified_part = self.statement.machine_checked
        return {
            "statement": self.statement.key,
            "part": self.statement.part,
            **self._words(),
            "as_printed": self.as_printed,
            **self.extent.to_json(),
            "computed": list(self.computed),
            "trusted": list(self.trusted),
            # the field is present only if a part is formally verified
            **({"machine_checked": verified_part} if verified_part else {}),
        }

    def to_data(self) -> dict[str, Any]:
        """Return the verdict as a certificate stores it: numbers instead of sentences."""
        data = self._words() | self.extent.to_data()
        if self.extent.in_parts:
            return {"part": self.statement.part, **data}
        return data

    def _words(self) -> dict[str, str]:
        """Return the entries that JSON and certificates have in common, all of them texts."""
        return {
            "text": self.statement.text,
            "source": self.statement.source,
            "verdict": str(self.decision),
        }


def verdicts_on(
    statements: Iterable[Statement], model: Model, observed: Observed | None, limit: str = ""
) -> tuple[Verdict, ...]:
    """Return the verdicts on statements about a model, in the order of the statements.

    Without an observation a verdict is NOT_APPLICABLE if a hypothesis of its statement fails, else
    UNDECIDED; ``limit`` is then the limit that prevented the observation, empty if nothing can be
    observed of the model.
    """
    if observed is not None:
        return tuple(compare(statement, observed) for statement in statements)
    verdicts = []
    for statement in statements:
        # without an observation a statement about orbits has no values at orbits either
        without_values = GlobalComparison(
            observable=statement.observable,
            hypothesis=statement.hypotheses(model),
            is_printed=statement.is_printed_for(model),
            was_observed=False,
            unfinished=limit,
        )
        verdicts.append(Verdict(statement=statement, extent=without_values))
    return tuple(verdicts)


def compare(statement: Statement, observed: Observed) -> Verdict:
    """Return the verdict on a statement about the observed case.

    Some orbits may not have been observed, because of a limit. Then the verdict is the one that all
    orbits would give, where the observed ones decide it, and else UNDECIDED.
    """
    extent: CaseScope
    if isinstance(statement, GlobalStatement):
        extent = _compared_as_a_whole(statement, observed)
    else:
        extent = _compared_at_orbits(statement, observed)
    # without a decision a verdict relies on no computation and on no lemma
    if extent.decision not in (Decision.CONFIRMED, Decision.REFUTED):
        return Verdict(statement=statement, extent=extent)
    # ``{orbits}`` in the words for what was computed stands for the orbits that were observed
    observed_orbits = observed_orbits_text(observed.unfinished)
    computed_words = tuple(text.replace("{orbits}", observed_orbits) for text in statement.computed)
    return Verdict(
        statement=statement, extent=extent, computed=computed_words, trusted=statement.trusted
    )


def _compared_as_a_whole(
    statement: GlobalStatement[Any], observations: Observed
) -> GlobalComparison:
    """Return the comparison of the predicted with the observed value of the whole closure."""
    # each value is None if it is not known; the text is then the limit, or empty
    predicted, limit_of_prediction = _within_limits(partial(statement.predict, observations.model))
    observed, limit_of_value = _within_limits(partial(observations.value, statement.observable))
    if observed is None:
        # a bound may refute what is predicted, although the value itself is not known
        observed = excluding_bound(observations.bounds(statement.observable), predicted)
    if observed is None:
        # without a limit, ``unknown`` says why the observation has no value of the observable
        undecided_reason = limit_of_value or observations.unknown(statement.observable)
    else:
        undecided_reason = limit_of_prediction  # empty if the prediction is known
    extent = GlobalComparison(
        observable=statement.observable,
        hypothesis=statement.hypotheses(observations.model),
        is_printed=statement.is_printed_for(observations.model),
        predicted=predicted,
        observed=observed,
        # ``nothing`` is the value that says that the case has no object of the statement
        vacuous=observed is not None and observed == statement.nothing,
        undecided_reason=undecided_reason,
        numbers=observations.model.numbers(statement.observable),
        progress=observations.progress,
    )
    if extent.decision is not Decision.REFUTED:
        return extent
    # it has no orbit to show, and no weights: the matrices by the names of parameters are empty
    witness = Witness(
        orbit=None,
        weights=dict.fromkeys(observations.weights, ()),
        predicted=predicted,
        observed=observed,
        numbers=observations.numbers(),
    )
    return replace(extent, witness=witness)


def _within_limits(compute: Callable[[], Value | None]) -> tuple[Value | None, str]:
    """Return the value that ``compute`` returns and an empty text, or ``None`` and the reason."""
    try:
        return compute(), ""
    except (MethodUnavailableError, TooLargeError, TimeLimitError) as limit:
        return None, str(limit)


def _compared_at_orbits(
    statement: OrbitStatement[Any, Any], observations: Observed
) -> OrbitwiseComparison:
    """Return the comparison of prediction and observation at each orbit that is concerned."""
    model = observations.model
    orbits = observations.all_orbits()
    concerned = [orbit for orbit in orbits if statement.concerns(orbit)]
    # orbits that a limit left unobserved are no keys, and None is a value that is not decided
    observed = observations.at_orbits(statement.observable)
    values = {orbit: value for orbit, value in observed.items() if statement.concerns(orbit)}
    failing_values = {
        orbit: value
        for orbit, value in values.items()
        if value is not None and value != statement.predict(orbit, model)
    }
    without_decision = [orbit for orbit, value in values.items() if value is None]
    undecided_reason = ""
    if without_decision:
        undecided_reason = observations.undecided_reason(statement.observable, without_decision)
    # a limit was reached before any of the orbits that the statement concerns
    limit_came_first = bool(observations.unfinished) and bool(concerned) and not values
    extent = OrbitwiseComparison(
        observable=statement.observable,
        hypothesis=statement.hypotheses(model),
        is_printed=statement.is_printed_for(model),
        was_observed=not limit_came_first,
        vacuous=not concerned,
        concerned=len(concerned),
        orbits=len(orbits),
        failing=tuple(failing_values),
        # orbits without a decision, and orbits that are not in ``values``: a limit came first
        undecided=tuple(orbit for orbit in concerned if values.get(orbit) is None),
        undecided_reason=undecided_reason,
        unfinished=observations.unfinished,
        progress=observations.progress,
    )
    if extent.decision is not Decision.REFUTED:
        return extent
    # the observation chooses the most informative orbit
    orbit, weights, numbers = observations.witness(list(failing_values))
    witness = Witness(
        orbit=orbit,
        weights=weights,
        predicted=statement.predict(orbit, model),
        observed=failing_values[orbit],
        numbers=numbers,
    )
    return replace(extent, witness=witness)


_WITNESS_FIELDS = ("orbit", "predicted", "observed", "numbers")


def from_certificate(
    statement: Statement,
    data: Mapping[str, Any],
    model: Model,
    *,
    orbits: int,
    was_observed: bool,
    numbers: str,
) -> Verdict:
    """Return the verdict on a statement that a certificate stores about a model.

    A certificate does not say whether a statement is true as printed: that follows from the values
    that it stores, which a checker recomputes where a hypothesis fails too. A hypothesis is in the
    words of this release, if one fails by it. ``data`` has the fields of
    :meth:`VerdictScope.to_data`, of which ``concerned`` is ``None`` if no orbits were compared; the
    case has this number of ``orbits``, and ``numbers`` are what a true statement means for it.
    ValueError says that the verdict does not follow from the stored values.
    """
    extent: CaseScope
    if data["concerned"] is None:
        # a statement about the whole closure, or one about orbits where nothing was observed
        observed = _stored_value(data["observed"])
        nothing = statement.nothing if isinstance(statement, GlobalStatement) else None
        extent = GlobalComparison(
            observable=statement.observable,
            was_observed=was_observed,
            hypothesis=data["hypothesis"] or "",
            predicted=_stored_value(data["predicted"]),
            observed=observed,
            vacuous=observed is not None and observed == nothing,
            numbers=numbers,
        )
    else:
        witness = None
        if data["witness"] is not None:
            fields = dict(data["witness"])
            own = {name: fields.pop(name) for name in _WITNESS_FIELDS}
            # all other entries are weights: the name of a parameter, such as A, and its matrix
            witness = Witness(**own, weights=fields)
        extent = OrbitwiseComparison(
            observable=statement.observable,
            was_observed=was_observed,
            hypothesis=data["hypothesis"] or "",
            vacuous=data["concerned"] == 0,
            concerned=data["concerned"],
            orbits=orbits,
            failing=tuple(data["failing"]),
            undecided=tuple(data["undecided"]),
            witness=witness,
        )
    extent = replace(extent, is_printed=statement.is_printed_for(model))
    if extent.hypothesis:
        extent = replace(extent, hypothesis=statement.hypotheses(model) or extent.hypothesis)
    # the stored verdict must be the one that follows from the stored values
    if extent.decision != data["verdict"]:
        raise ValueError(
            f"the verdict {data['verdict']} does not follow from what is said about it"
        )
    return Verdict(statement=statement, extent=extent)


def _stored_value(value: Any) -> Any:
    """Return the value that a certificate stores: the inverse of ``value_json``."""
    if isinstance(value, list):
        return Numbers(tuple(value))
    if isinstance(value, dict):
        by_method = []
        for method, listed in sorted(value.items()):
            by_method.append((method, Numbers(tuple(listed))))
        return NumbersByMethod(tuple(by_method))
    return value
