"""One prediction against the observations of one case."""

from __future__ import annotations

from m2bridge.computations.observation import Observations, OrbitFacts
from m2bridge.crosscheck.evidence import GLOBAL_EVIDENCE, ORBIT_EVIDENCE
from m2bridge.crosscheck.verdict import Outcome, Verdict, Witness
from m2bridge.model.orbit import representative
from m2bridge.theorems import GlobalStatement, OrbitStatement, Statement


def compare(statement: Statement, seen: Observations) -> Verdict:
    """The verdict on a statement that applies to the case, or NOT_APPLICABLE with what can still be said."""
    if reason := statement.hypotheses(seen.model):
        return not_applicable(statement, reason, _still(statement, seen))
    if isinstance(statement, GlobalStatement):
        return _compare_global(statement, seen)
    if statement.observable == "boundary" and not _boundary_decided(seen):
        return undecided(statement, "an orbit has a non-reduced fibre, but no family of boundary points was verified")
    if statement.observable == "singular" and any(fact.singular is None for fact in seen.orbits):
        return undecided(statement, "the generic fibre is not one reduced point, so fibres do not decide smoothness")
    return _compare_orbits(statement, seen)


def not_applicable(statement: Statement, reason: str, still: str = "") -> Verdict:
    """The verdict on a statement whose hypotheses fail."""
    return _verdict(statement, Outcome.NOT_APPLICABLE, f"{reason}{still}")


def undecided(statement: Statement, reason: str) -> Verdict:
    """The verdict on a statement that could not be decided."""
    return _verdict(statement, Outcome.UNDECIDED, reason)


def _verdict(statement: Statement, outcome: Outcome, reason: str) -> Verdict:
    return Verdict(statement.key, statement.part, statement.text, statement.source, outcome, reason)


def _compare_global(statement: GlobalStatement, seen: Observations) -> Verdict:
    evidence = GLOBAL_EVIDENCE[statement.observable]
    predicted, observed = statement.predict(seen.model), evidence.value(seen)
    agree = predicted == observed
    words = statement.observable.replace("_", " ")
    return Verdict(
        statement.key,
        statement.part,
        statement.text,
        statement.source,
        Outcome.CONFIRMED if agree else Outcome.REFUTED,
        f"{words}: computed {_said(observed)}, stated {_said(predicted)}",
        None if agree else Witness(None, (), (), predicted, observed, {"dimension": seen.dimension}),
        evidence.computed,
        evidence.trusted,
    )


def _compare_orbits(statement: OrbitStatement, seen: Observations) -> Verdict:
    evidence = ORBIT_EVIDENCE[statement.observable]
    failing = [f for f in seen.orbits if statement.predict(f.orbit, seen.model) != evidence.value(f)]
    words = statement.observable.replace("_", " ")
    if not failing:
        reason = f"{words}: computed and stated agree on all {len(seen.orbits)} orbits"
        return Verdict(
            statement.key,
            statement.part,
            statement.text,
            statement.source,
            Outcome.CONFIRMED,
            reason,
            None,
            evidence.computed,
            evidence.trusted,
        )
    # The largest orbit where the statement fails says most.
    fact = max(failing, key=lambda f: (f.dimension, f.orbit))
    witness = _witness(statement, fact, seen)
    listed = ", ".join(str(f.orbit) for f in failing)
    reason = (
        f"{words}: computed {_said(witness.observed)}, stated {_said(witness.predicted)} at orbit {fact.orbit}; "
        f"they differ on the orbits {listed}"
    )
    return Verdict(
        statement.key,
        statement.part,
        statement.text,
        statement.source,
        Outcome.REFUTED,
        reason,
        witness,
        evidence.computed,
        evidence.trusted,
    )


def _witness(statement: OrbitStatement, fact: OrbitFacts, seen: Observations) -> Witness:
    A, V = representative(fact.orbit, seen.model)
    numbers = {
        "dimension": seen.dimension,
        "tangent_dimension_at_least": fact.tangent_lower,
        "fibre_length": fact.fibre.length,
        "fibre_points": fact.fibre.points,
        "rank_A": fact.orbit.r,
        "generic_rank_A": seen.model.alpha,
    }
    if fact.tangent_upper is not None:
        numbers["tangent_dimension_at_most"] = fact.tangent_upper
    predicted = statement.predict(fact.orbit, seen.model)
    return Witness(fact.orbit, A, V, predicted, ORBIT_EVIDENCE[statement.observable].value(fact), numbers)


def _boundary_decided(seen: Observations) -> bool:
    """Whether every orbit with a non-reduced fibre has its verified family of boundary points."""
    doubtful = [fact for fact in seen.orbits if fact.boundary]
    return all((f.orbit.r, f.orbit.s, f.orbit.m) == (1, 1, 1) and seen.boundary_family for f in doubtful)


def _still(statement: Statement, seen: Observations) -> str:
    """What can be said of a statement whose hypotheses fail."""
    if isinstance(statement, GlobalStatement):
        predicted, observed = statement.predict(seen.model), GLOBAL_EVIDENCE[statement.observable].value(seen)
        holds = "holds all the same" if predicted == observed else "would be false"
        return f"; the conclusion {holds}: computed {_said(observed)}, stated {_said(predicted)}"
    evidence = ORBIT_EVIDENCE[statement.observable]
    if statement.observable == "singular" and any(fact.singular is None for fact in seen.orbits):
        return "; the parametrization is not birational, so fibres do not decide smoothness: use singular-locus"
    failing = [f.orbit for f in seen.orbits if statement.predict(f.orbit, seen.model) != evidence.value(f)]
    if not failing:
        return "; the conclusion holds all the same on every orbit"
    return f"; the conclusion would be false on the orbits {', '.join(map(str, failing))}"


def _said(value: bool | int | None) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)
