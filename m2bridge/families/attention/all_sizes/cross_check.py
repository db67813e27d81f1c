"""The cross-check of statements for all sizes at once."""

from __future__ import annotations

from collections.abc import Sequence

from m2bridge.clock import limited
from m2bridge.engine import Engine
from m2bridge.families.attention.all_sizes.base_ideals import base_ideals
from m2bridge.families.attention.all_sizes.decide import decide, is_stated, prediction_of
from m2bridge.families.attention.all_sizes.result import AllSizes
from m2bridge.families.attention.statements import REGISTRY, Statement
from m2bridge.layout import name_with_part


def cross_check_all_sizes(
    engine: Engine, statements: Sequence[Statement] = REGISTRY, timeout: float | None = None
) -> AllSizes:
    """Decide statements for all d, d', a ≥ 1 and t ≥ 2 at once, assuming none of them.

    Those that are not stated for all sizes are named.

    Raises
    ------
    MethodUnavailableError
        If none of them is stated for all sizes.
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
    known = [statement for statement in statements if is_stated(statement)]
    stated = [(statement, prediction_of(statement)) for statement in known or statements]
    others = tuple(name_with_part(s.key, s.part) for s in statements if s not in known)
    with limited(timeout) as running:
        basis = base_ideals(engine)
        strata, verdicts = decide(basis, stated)
        return AllSizes(verdicts, strata, basis, engine.version, running.seconds, others)
