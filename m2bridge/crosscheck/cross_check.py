"""One prediction against what was observed of one case; nothing here knows a family."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from m2bridge.algebra.field import QQ
from m2bridge.crosscheck.verdict import Verdict, numbers_text, weights_text
from m2bridge.engine import Engine, engine_or_own
from m2bridge.errors import InvalidCaseError, MemoryLimitError, TimeLimitError
from m2bridge.limits import clock, limited
from m2bridge.maps.model import Model
from m2bridge.maps.statement import GlobalStatement, Observed, OrbitStatement, Statement, Witness
from m2bridge.results.base import Decision, VerdictsResult, computed_by, result_json
from m2bridge.results.sheet import Block, Facts, Finding, Findings, Sheet, Table


def without_observations(statement: Statement, model: Model, limit: str = "") -> Verdict:
    """NOT_APPLICABLE or UNDECIDED, where nothing can be observed, or a limit was reached before anything was."""
    return Verdict(statement, statement.hypotheses(model), unfinished=limit, looked=False)


def compare(statement: Statement, observed: Observed) -> Verdict:
    """The verdict on a statement about the case that was observed.

    Where orbits are missing, the verdict is the one that all orbits would give, or UNDECIDED.
    """
    model, hypothesis = observed.model, statement.hypotheses(observed.model)
    if isinstance(statement, GlobalStatement):
        verdict = _whole(statement, model, observed, hypothesis)
    else:
        verdict = _by_orbits(statement, model, observed, hypothesis)
    if verdict.decision not in (Decision.CONFIRMED, Decision.REFUTED):
        return verdict
    every = "every orbit that was done" if observed.unfinished else "every orbit"
    computed = tuple(text.replace("{orbits}", every) for text in statement.computed)
    return replace(verdict, computed=computed, trusted=statement.trusted)


def _whole(statement: GlobalStatement[Any], model: Model, observations: Observed, hypothesis: str) -> Verdict:
    observed = observations.value(statement.observable)
    verdict = Verdict(
        statement,
        hypothesis,
        statement.predict(model),
        observed,
        vacuous=observed is not None and observed == statement.nothing,
        doubt=observations.unknown(statement.observable) if observed is None else "",
        progress=observations.progress,
    )
    if verdict.decision is not Decision.REFUTED:
        return verdict
    weights = dict.fromkeys(observations.weights, ())
    return replace(verdict, witness=Witness(None, weights, verdict.predicted, observed, observations.numbers()))


def _by_orbits(statement: OrbitStatement[Any, Any], model: Model, observations: Observed, hypothesis: str) -> Verdict:
    concerned = [orbit for orbit in observations.all_orbits() if statement.concerns(orbit)]
    values = {o: value for o, value in observations.at_orbits(statement.observable).items() if statement.concerns(o)}
    failing = [o for o, value in values.items() if value is not None and value != statement.predict(o, model)]
    doubtful = [orbit for orbit, value in values.items() if value is None]
    verdict = Verdict(
        statement,
        hypothesis,
        vacuous=not concerned,
        concerned=len(concerned),
        orbits=len(observations.all_orbits()),
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
    return replace(verdict, witness=Witness(orbit, weights, statement.predict(orbit, model), values[orbit], numbers))


@dataclass(frozen=True, slots=True)
class CrossCheck(VerdictsResult):
    """Observations and verdicts on one case.

    Parameters
    ----------
    model : Model
    verdicts : tuple of Verdict
    observations : Observed or None
        ``None`` when nothing can be observed, or a limit was reached before anything was; a part when it was reached
        later.
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
        """The verdicts in a line, numbers of the case, a table of its orbits, and the verdicts with their grounds."""
        observed = self.observations
        named = [] if observed is None else observed.facts()
        remarks = () if observed is None else observed.remarks
        facts = [
            ("verdicts", _summary(self.verdicts)),
            *named,
            ("computed by", computed_by(self.engine_version, self.seconds)),
            *(("agreement", remark) for remark in remarks),
            ("not finished", self.unfinished or None),
        ]
        blocks: list[Block] = [Facts(facts)]
        if observed is not None and (orbits := observed.table()):
            caption, header, rows = orbits
            blocks.append(Table(header, rows, caption))
        blocks.append(Findings([_finding(verdict) for verdict in self.verdicts]))
        return Sheet(f"Cross-check of the {self.model.title}, over QQ", blocks)

    def to_json(self) -> dict[str, Any]:
        """A dictionary for ``json.dumps``: the observations and the verdicts."""
        observed = self.observations
        case = result_json(self.model.to_json(), QQ, self.engine_version or None, self.seconds)
        return (
            case
            | (_NOTHING if observed is None else observed.to_json())
            | {
                "verdicts": [verdict.to_json() for verdict in self.verdicts],
                "remarks": [] if observed is None else list(observed.remarks),
                "unfinished": self.unfinished or None,
            }
        )

    def to_macaulay2(self) -> str:
        """The verdicts as a Macaulay2 hash table."""
        entries = ", ".join(f'"{v.name}" => "{v.decision}"' for v in self.verdicts)
        return f"verdicts = hashTable {{{entries}}}"


def cross_check(
    model: Model,
    *,
    statements: Sequence[Statement] | None = None,
    engine: Engine | None = None,
    timeout: float | None = None,
) -> CrossCheck:
    """Decide statements for one case, assuming none of them.

    Parameters
    ----------
    model : Model
        Of a family with statements.
    statements : sequence of Statement, optional
        All statements about the family when left out.
    engine : Engine, optional
        A Macaulay2 of its own is started, and ended, where none is given and one is needed.
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
        raise InvalidCaseError("model", f"there are no statements about a {getattr(model, 'title', model)}")
    chosen = model.statements() if statements is None else tuple(statements)
    with limited(timeout), engine_or_own(engine) as engine:
        return _cross_check(model, engine, chosen)


def _cross_check(model: Model, engine: Engine, statements: Sequence[Statement]) -> CrossCheck:
    running, observables = clock(), model.observables(statements)
    version = engine.version if model.needs_engine(observables) else ""
    try:
        observed = model.observe(observables, engine)
    except (TimeLimitError, MemoryLimitError) as limit:
        verdicts = tuple(without_observations(statement, model, str(limit)) for statement in statements)
        return CrossCheck(model, verdicts, None, version, running.seconds, str(limit))
    if observed is None:
        verdicts = tuple(without_observations(statement, model) for statement in statements)
        return CrossCheck(model, verdicts, None, version, running.seconds)
    verdicts = tuple(compare(statement, observed) for statement in statements)
    return CrossCheck(model, verdicts, observed, version, running.seconds, observed.unfinished)


_NOTHING: dict[str, Any] = {"dimension": None, "degree": None, "orbits": [], "zero_tangent_dimension": None}


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
