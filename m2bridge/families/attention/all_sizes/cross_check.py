"""The cross-check of statements for all sizes at once."""

from __future__ import annotations

from collections.abc import Sequence

from m2bridge.clock import limited
from m2bridge.engine import Engine
from m2bridge.families.attention.all_sizes.base_ideals import base_ideals
from m2bridge.families.attention.all_sizes.decide import decide, prediction_of
from m2bridge.families.attention.all_sizes.result import AllSizes
from m2bridge.families.attention.statements import REGISTRY, Statement


def cross_check_all_sizes(
    engine: Engine, statements: Sequence[Statement] = REGISTRY, timeout: float | None = None
) -> AllSizes:
    """Decide statements for all d, d', a ≥ 1 and t ≥ 2 at once, assuming none of them.

    Raises
    ------
    MethodUnavailableError
        If a statement has no form for all sizes.
    ContradictionError
        If the ideals are not those that the theorem about fibres needs.
    EngineError
        If Macaulay2 failed or reached a limit.

    Examples
    --------
    >>> with Macaulay2() as engine:
    ...     found = cross_check_all_sizes(engine)
    >>> [(v.name, v.verdict) for v in found.verdicts if v.verdict != "CONFIRMED"]
    [('3.4 (iii)', 'REFUTED'), ('A.4', 'REFUTED')]
    """
    stated = [(statement, prediction_of(statement)) for statement in statements]
    with limited(timeout) as running:
        basis = base_ideals(engine)
        strata, verdicts = decide(basis, stated)
        return AllSizes(verdicts, strata, basis, engine.version, running.seconds)
