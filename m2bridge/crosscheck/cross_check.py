"""The cross-check of one case: what was observed, and a verdict on each statement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from m2bridge.clock import clock, limited
from m2bridge.crosscheck.compare import compare, without_observations
from m2bridge.crosscheck.verdict import Verdict
from m2bridge.decided import Decided
from m2bridge.engine import Engine, given_or_own
from m2bridge.errors import EngineMemoryError, EngineTimeoutError, InvalidCaseError
from m2bridge.maps.model import Stated
from m2bridge.maps.observing import needs_engine, observe, wanted
from m2bridge.maps.statement import Statement
from m2bridge.presented import Presented


@dataclass(frozen=True, slots=True)
class CrossCheck(Decided, Presented):
    """What was observed and decided for one case.

    Parameters
    ----------
    model : Stated
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
    >>> [verdict.name for verdict in found.verdicts if verdict.verdict == "REFUTED"]
    ['3.4 (iii)', 'A.4']
    """

    presentation: ClassVar[str] = "m2bridge.presentation.cross_check"

    model: Stated
    verdicts: tuple[Verdict, ...]
    observations: Any
    engine_version: str
    seconds: float
    unfinished: str = ""


def cross_check(
    model: Stated,
    engine: Engine | None = None,
    statements: Sequence[Statement] | None = None,
    timeout: float | None = None,
) -> CrossCheck:
    """Decide statements for one case, assuming none of them.

    Parameters
    ----------
    model : Stated
        Of a family with statements.
    engine : Engine, optional
        A Macaulay2 of its own is started, and ended, where none is given and one is needed.
    statements : sequence of Statement, optional
        All statements about the family when left out.
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
    >>> [(verdict.name, str(verdict.verdict)) for verdict in found.verdicts]
    [('expected-dimension', 'REFUTED'), ('expected-dimension (equal widths)', 'NOT_APPLICABLE')]
    """
    if not isinstance(model, Stated):
        raise InvalidCaseError("model", f"there are no statements about a {getattr(model, 'title', model)}")
    asked = model.statements() if statements is None else tuple(statements)
    with limited(timeout):
        if not needs_engine(model, wanted(model, asked)):
            return _cross_check(model, None, asked)
        with given_or_own(engine) as used:
            return _cross_check(model, used, asked)


def _cross_check(model: Stated, engine: Engine | None, statements: Sequence[Statement]) -> CrossCheck:
    running, version = clock(), engine.version if engine else ""
    try:
        seen = observe(model, wanted(model, statements), engine)
    except (EngineTimeoutError, EngineMemoryError) as limit:
        verdicts = tuple(without_observations(statement, model, str(limit)) for statement in statements)
        return CrossCheck(model, verdicts, None, version, running.seconds, str(limit))
    if seen is None:
        verdicts = tuple(without_observations(statement, model) for statement in statements)
        return CrossCheck(model, verdicts, None, version, running.seconds)
    verdicts = tuple(compare(statement, seen) for statement in statements)
    return CrossCheck(model, verdicts, seen, version, running.seconds, seen.unfinished)
