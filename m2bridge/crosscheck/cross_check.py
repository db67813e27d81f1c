"""The cross-check of one case: predictions compared with observations, and the verdicts.

A *statement* predicts an *observable* of a model, such as its dimension; ``model.observe`` computes
observables. Most statements of a family share one observation. A *separate computation*, which can
be long, is done only for statements that are asked for by their names.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Unpack

from m2bridge.algebra.field import QQ
from m2bridge.crosscheck.verdict import Verdict, verdicts_on
from m2bridge.engine import RunOptions, computation, current
from m2bridge.errors import InvalidCaseError, MemoryLimitError, TimeLimitError, check_kind
from m2bridge.limits import clock
from m2bridge.maps.model import Model
from m2bridge.results.base import Decision, VerdictsResult, result_json
from m2bridge.results.sheet import Block, Facts, Findings, Sheet, Table, computed_by, in_brackets
from m2bridge.statements.statement import (
    GlobalStatement,
    OrbitStatement,
    Statement,
    check_statements,
    sharing_one_observation,
    statements_named,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossCheck(VerdictsResult):
    """The observations and verdicts of one case.

    Parameters
    ----------
    model : Model
        The case.
    verdicts : tuple of Verdict
        One verdict for each statement.
    observations : Observed or None
        ``None`` if nothing can be observed, or a limit was reached before any observation;
        incomplete if a limit was reached later.
    engine_version : str
        The version of Macaulay2; empty if it was not used.
    seconds : float
        The time of the computation.
    unfinished : str
        The limit that was reached; empty if none was.

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

    def __repr__(self) -> str:
        return in_brackets(self, "model", "refuted", "undecided", "is_proved")

    def to_sheet(self) -> Sheet:
        """Return the sheet: a summary, numbers of the case, a table of orbits, all reasons."""
        observations = self.observations
        facts: list[tuple[str, str | None]] = [("verdicts", _summary(self.verdicts))]
        if observations is not None:
            facts += observations.facts()
        facts += [("computed by", computed_by(self.engine_version, self.seconds))]
        if observations is not None:
            facts += [("agreement", remark) for remark in observations.remarks]
        # a fact with the value None is not shown
        facts += [("not finished", self.unfinished or None)]
        blocks: list[Block] = [Facts(facts)]
        formulas: Sequence[str] = ()
        if observations is not None:
            formulas = observations.formulas()
            table = observations.table()
            if table is not None:
                caption, header, rows = table
                blocks.append(Table(header, rows, caption))
        blocks.append(Findings([verdict.to_finding() for verdict in self.verdicts]))
        return Sheet(f"Cross-check of the {self.model.title}, over QQ", blocks, formulas)

    def to_json(self) -> dict[str, Any]:
        """Return a dictionary for ``json.dumps``: the observations and the verdicts."""
        case = result_json(self.model.to_json(), QQ, self.engine_version or None, self.seconds)
        observations, remarks = _EMPTY_OBSERVATION, []
        if self.observations is not None:
            observations = self.observations.to_json()
            remarks = list(self.observations.remarks)
        return {
            **case,
            **observations,
            "verdicts": [verdict.to_json() for verdict in self.verdicts],
            "remarks": remarks,
            "unfinished": self.unfinished or None,
            **self.proof()._asdict(),
        }

    def to_macaulay2(self) -> str:
        """Return Macaulay2 code: the verdicts as a hash table, and tables of observed numbers."""
        texts = [VerdictsResult.to_macaulay2(self)]
        if self.observations is not None:
            texts.append(self.observations.to_macaulay2())
        # without tables the second text is empty
        return "\n".join(filter(None, texts))


@computation
def cross_check(
    model: Model,
    statements: str | Statement | Sequence[str | Statement] | None = None,
    **options: Unpack[RunOptions],
) -> CrossCheck:
    """Decide statements for one case, assuming none of them.

    Parameters
    ----------
    model : Model
        A model of a family with statements.
    statements : str, Statement, or a sequence of them, optional
        The statements to decide, also by their keys or names, as ``"3.4"`` and ``"3.4 (iii)"``; all
        that share one observation when left out.
    engine : Engine, optional
        A Macaulay2 to use; without one, the Macaulay2 of the ``with`` block around it, else one
        that the process shares.
    timeout : float, optional
        Seconds for the whole computation; without one, only limits of enclosing blocks hold.

    Raises
    ------
    InvalidCaseError
        If there are no statements about such models, or none of this name, or none are given.
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
        raise InvalidCaseError(
            "model", f"there are no statements about a {getattr(model, 'title', model)}"
        )
    selection = _choose_statements(model, statements)
    # Separate computations are expensive: none is done for a statement of which a hypothesis fails.
    to_observe = [
        statement
        for statement in selection
        if not statement.separate_computation or statement.hypotheses(model) == ""
    ]
    # The observables of all separate computations that were asked for are passed, also of those
    # that are not done: by them ``observe`` selects the class of the observation.
    separate = {statement.observable for statement in selection if statement.separate_computation}
    # None: nothing was observed; the empty text: no limit was reached
    observations, unfinished, version = None, "", ""
    try:
        observations = model.observe(model.observables(to_observe) | separate)
    except (TimeLimitError, MemoryLimitError) as limit:
        unfinished = str(limit)
    verdicts = verdicts_on(selection, model, observations, limit=unfinished)
    if observations is not None:
        # a table of numbers by degree has a column of predictions
        observations = observations.with_predictions(
            {verdict.statement.observable: verdict.predicted for verdict in verdicts}
        )
        unfinished = observations.unfinished
        version = observations.engine_version
    elif to_observe and model.needs_engine(model.observables(to_observe)):
        version = current().version  # it was used until the limit
    return CrossCheck(
        model=model,
        verdicts=verdicts,
        observations=observations,
        engine_version=version,
        seconds=clock().seconds,
        unfinished=unfinished,
    )


def _choose_statements(
    model: Model, selection: str | Statement | Sequence[str | Statement] | None
) -> tuple[Statement, ...]:
    """Return the statements that were selected, each once, or all that share an observation."""
    about_model = model.statements()
    if selection is None:
        return sharing_one_observation(about_model)
    if isinstance(selection, str | GlobalStatement | OrbitStatement):
        selection = (selection,)
    check_kind("statements", selection, Sequence, "statements or their names")
    result: list[Statement] = []
    for statement_or_name in selection:
        if isinstance(statement_or_name, str):
            result += statements_named(about_model, statement_or_name)
        else:
            result.append(statement_or_name)
    if not result:
        raise InvalidCaseError(
            "statements", "must have one at least; leave it out for the usual ones"
        )
    check_statements(result)
    return tuple(dict.fromkeys(result))


# The JSON fields of an observation where there is none, so that programs that read them find them.
_EMPTY_OBSERVATION: dict[str, Any] = {
    "dimension": None,
    "degree": None,
    "orbits": [],
    "zero_tangent_dimension": None,
}


def _summary(verdicts: Sequence[Verdict]) -> str:
    """Return the names of the statements by decision, the refuted ones first."""
    clauses = []
    for decision in (
        Decision.REFUTED,
        Decision.UNDECIDED,
        Decision.CONFIRMED,
        Decision.NOT_APPLICABLE,
    ):
        names = [verdict.name for verdict in verdicts if verdict.decision == decision]
        if names:
            clauses.append(f"{decision} {', '.join(names)}")
    return "; ".join(clauses)
