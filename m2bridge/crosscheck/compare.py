"""One prediction against what was observed of one case; nothing here knows a family."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from m2bridge.crosscheck.grounds import Decision, Grounds
from m2bridge.crosscheck.verdict import Verdict
from m2bridge.maps.model import Stated
from m2bridge.maps.observed import Observed, Witness
from m2bridge.maps.statement import GlobalStatement, OrbitStatement, Statement, Value


def without_observations(statement: Statement, model: Stated, limit: str = "") -> Verdict:
    """NOT_APPLICABLE or UNDECIDED, where nothing can be observed, or a limit was reached before anything was."""
    hypothesis = statement.hypotheses(model)
    return Verdict(statement, Grounds(statement.observable, hypothesis, unfinished=limit, looked=False))


def compare(statement: Statement, seen: Observed) -> Verdict:
    """The verdict on a statement about the case that was observed.

    Where orbits are missing, the verdict is the one that all orbits would give, or UNDECIDED.
    """
    model, hypothesis = seen.model, statement.hypotheses(seen.model)
    if isinstance(statement, GlobalStatement):
        verdict = _whole(statement, model, seen, hypothesis)
    else:
        verdict = _by_orbits(statement, model, seen, hypothesis)
    if verdict.verdict not in (Decision.CONFIRMED, Decision.REFUTED):
        return verdict
    every = "every orbit that was done" if seen.unfinished else "every orbit"
    computed = tuple(text.replace("{orbits}", every) for text in statement.computed)
    return replace(verdict, computed=computed, trusted=statement.trusted)


def _whole(statement: GlobalStatement[Any], model: Stated, seen: Observed, hypothesis: str) -> Verdict:
    predicted, observed = statement.predict(model), seen.value(statement.observable)
    grounds = Grounds(
        statement.observable,
        hypothesis,
        said(predicted),
        said(observed),
        observed is not None and observed == statement.nothing,
        doubt=seen.unknown(statement.observable) if observed is None else "",
        progress=seen.progress,
    )
    refuted = grounds.decision is Decision.REFUTED
    witness = Witness(None, dict.fromkeys(seen.weights, ()), predicted, observed, seen.numbers()) if refuted else None
    return Verdict(statement, grounds, predicted, observed, witness=witness)


def _by_orbits(statement: OrbitStatement[Any, Any], model: Stated, seen: Observed, hypothesis: str) -> Verdict:
    observable = statement.observable
    concerned = [orbit for orbit in seen.all_orbits() if statement.concerns(orbit)]
    found = {orbit: value for orbit, value in seen.at_orbits(observable).items() if statement.concerns(orbit)}
    failing = [
        orbit for orbit, value in found.items() if value is not None and value != statement.predict(orbit, model)
    ]
    doubtful = [orbit for orbit, value in found.items() if value is None]
    undecided = [orbit for orbit in concerned if orbit not in found or found[orbit] is None]
    grounds = Grounds(
        observable,
        hypothesis,
        vacuous=not concerned,
        concerned=len(concerned),
        orbits=len(seen.all_orbits()),
        failing=tuple(map(str, failing)),
        undecided=tuple(map(str, undecided)),
        doubt=seen.doubt(observable, doubtful) if doubtful else "",
        unfinished=seen.unfinished,
        progress=seen.progress,
        looked=bool(found) or not concerned or not seen.unfinished,
    )
    witness = None
    if grounds.decision is Decision.REFUTED:
        orbit, weights, numbers = seen.witness(failing)
        witness = Witness(orbit, weights, statement.predict(orbit, model), found[orbit], numbers)
        grounds = replace(grounds, predicted=said(witness.predicted), observed=said(witness.observed), at=str(orbit))
    return Verdict(statement, grounds, failing=tuple(failing), undecided=tuple(undecided), witness=witness)


def said(value: Value | None) -> str:
    """A value in words; empty for nothing."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else str(value)
