"""One prediction against the observations of one case."""

from __future__ import annotations

from m2bridge.crosscheck.evidence import GLOBAL_EVIDENCE, ORBIT_EVIDENCE, evidence_of
from m2bridge.crosscheck.verdict import Outcome, Verdict, Witness
from m2bridge.families.attention.linear_section import not_counted
from m2bridge.families.attention.observation import Observations, OrbitFacts
from m2bridge.families.attention.orbits import Orbit, orbits, representative
from m2bridge.families.attention.statements import GlobalStatement, OrbitStatement, Statement
from m2bridge.families.attention.statements.statement import Value
from m2bridge.layout import matrix_text

FAMILY = Orbit(1, 1, 1)
"""The orbit to which the explicit family of boundary points tends."""

NO_ORBIT = "vacuous, since there are no such functions in this case"
NONE_SPECIAL = "vacuous, since there are no special fibres in this case"


def compare(statement: Statement, seen: Observations) -> Verdict:
    """The verdict on a statement that applies to the case, or NOT_APPLICABLE with what can still be said.

    Where orbits are missing, the verdict is the one that all orbits would give, or UNDECIDED.
    """
    if reason := statement.hypotheses(seen.model):
        return not_applicable(statement, reason, _still(statement, seen))
    if isinstance(statement, GlobalStatement):
        return _compare_global(statement, seen)
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
    predicted, observed = statement.predict(seen.model), GLOBAL_EVIDENCE[statement.observable].value(seen)
    words = _words(statement)
    if observed is None:
        return undecided(statement, f"{words}: {_unknown(statement, seen)}")
    if _empty(statement, observed):
        return _decided(statement, f"{words}: {NONE_SPECIAL}", None, seen)
    agree = predicted == observed
    witness = None if agree else Witness(None, (), (), predicted, observed, {"dimension": seen.dimension})
    return _decided(statement, f"{words}: computed {_said(observed)}, stated {_said(predicted)}", witness, seen)


def _unknown(statement: GlobalStatement, seen: Observations) -> str:
    """Why something was not observed."""
    if statement.observable == "degree" and seen.generic is not None:
        return f"{not_counted(seen.model)}, and the whole ideal is not used"
    return f"not known without all orbits; {seen.unfinished}" if seen.missing else "not decided by this method"


def _empty(statement: GlobalStatement, observed: bool | int) -> bool:
    """Whether there is nothing that the statement is about."""
    return statement.observable == "special_fibre_points" and observed == 0


def _compare_orbits(statement: OrbitStatement, seen: Observations) -> Verdict:
    concerned = [orbit for orbit in orbits(seen.model) if statement.concerns(orbit)]
    if not concerned:
        return _decided(statement, f"{_words(statement)}: {NO_ORBIT}", None, seen)
    failing = _failing(statement, seen)
    if failing:
        return _refuted(statement, failing, seen)
    if doubt := _doubt(statement, seen):
        return undecided(statement, doubt)
    if not seen.orbits:
        return undecided(statement, seen.unfinished)
    agreement = f"{_words(statement)}: computed and stated agree on"
    if any(orbit in concerned for orbit in seen.missing):
        return undecided(statement, f"{agreement} {_every_orbit(seen)}; {seen.unfinished}")
    where = f"all {len(concerned)} orbits" if len(concerned) > 1 else f"the orbit {concerned[0]}"
    about = "" if len(concerned) == len(orbits(seen.model)) else " that it is about"
    return _decided(statement, f"{agreement} {where}{about}", None, seen)


def _refuted(statement: OrbitStatement, failing: list[OrbitFacts], seen: Observations) -> Verdict:
    # The largest orbit where the statement fails says most.
    fact = max(failing, key=lambda f: (f.dimension, f.orbit))
    witness = _witness(statement, fact, seen)
    listed = ", ".join(str(f.orbit) for f in failing)
    reason = (
        f"{_words(statement)}: computed {_said(witness.observed)}, stated {_said(witness.predicted)} at orbit "
        f"{fact.orbit}; they differ on the orbits {listed}{_progress(seen)}"
    )
    return _decided(statement, reason, witness, seen)


def _decided(statement: Statement, reason: str, witness: Witness | None, seen: Observations) -> Verdict:
    """CONFIRMED, or REFUTED by a witness, with the evidence."""
    evidence = evidence_of(statement)
    return Verdict(
        statement.key,
        statement.part,
        statement.text,
        statement.source,
        Outcome.CONFIRMED if witness is None else Outcome.REFUTED,
        reason,
        witness,
        tuple(computed.format(orbits=_every_orbit(seen)) for computed in evidence.computed),
        evidence.trusted,
    )


def _facts(statement: OrbitStatement, seen: Observations) -> list[OrbitFacts]:
    """The observed orbits that the statement is about."""
    return [fact for fact in seen.orbits if statement.concerns(fact.orbit)]


def _failing(statement: OrbitStatement, seen: Observations) -> list[OrbitFacts]:
    """The observed orbits where the statement is false."""
    return [
        fact
        for fact in _facts(statement, seen)
        if _observed(statement, fact, seen) not in (None, statement.predict(fact.orbit, seen.model))
    ]


def _observed(statement: OrbitStatement, fact: OrbitFacts, seen: Observations) -> Value | None:
    """What was observed at an orbit; ``None`` if that is undecided."""
    if statement.observable in ("boundary", "boundary_critical") and not _boundary_decided(fact, seen):
        return None
    return ORBIT_EVIDENCE[statement.observable].value(fact)


def _boundary_decided(fact: OrbitFacts, seen: Observations) -> bool:
    """Boundary points need a family that tends to them; for others the lemma needs at most two points in the fibre."""
    return (seen.boundary_family and fact.orbit == FAMILY) if fact.boundary else fact.fibre.points <= 2


def _doubt(statement: OrbitStatement, seen: Observations) -> str:
    """Why an observed orbit is undecided; empty if none is."""
    doubtful = [fact.orbit for fact in _facts(statement, seen) if _observed(statement, fact, seen) is None]
    if not doubtful:
        return ""
    if statement.observable != "singular":
        return "an orbit has a fibre that is not reduced but no verified family of boundary points, or a larger fibre"
    if seen.generic_fibre.length > 1:
        return "the generic fibre is not one reduced point, so fibres do not decide smoothness"
    listed = ", ".join(map(str, doubtful))
    return f"the source seems to be singular, but no more tangent vectors than the dimension are known on {listed}"


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


def _still(statement: Statement, seen: Observations) -> str:
    """What can be said of a statement whose hypotheses fail."""
    if isinstance(statement, GlobalStatement):
        predicted, observed = statement.predict(seen.model), GLOBAL_EVIDENCE[statement.observable].value(seen)
        if observed is None:
            return f"; whether the conclusion holds is not known{_progress(seen)}"
        if _empty(statement, observed):
            return f"; the conclusion is {NONE_SPECIAL}"
        holds = "holds all the same" if predicted == observed else "would be false"
        return f"; the conclusion {holds}: computed {_said(observed)}, stated {_said(predicted)}"
    facts = _facts(statement, seen)
    if not facts:
        return ""
    if statement.observable == "singular" and any(fact.singular is None for fact in facts):
        return "; the parametrization is not birational, so fibres do not decide smoothness: use singular-locus"
    evidence = ORBIT_EVIDENCE[statement.observable]
    failing = [f.orbit for f in facts if statement.predict(f.orbit, seen.model) != evidence.value(f)]
    if not failing:
        return f"; the conclusion holds all the same on {_every_orbit(seen)}{_progress(seen)}"
    return f"; the conclusion would be false on the orbits {', '.join(map(str, failing))}{_progress(seen)}"


def _every_orbit(seen: Observations) -> str:
    return "every orbit that was done" if seen.missing else "every orbit"


def _progress(seen: Observations) -> str:
    return "" if seen.limit is None else f" ({seen.limit.progress})"


def _words(statement: Statement) -> str:
    return statement.observable.replace("_", " ")


def _said(value: Value | None) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, frozenset):
        return f"{{{', '.join(f'({matrix_text(A)}, {matrix_text(V)})' for A, V in sorted(value))}}}"
    return str(value)
