"""The cross-check of statements about deep attention for all sizes at once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from m2bridge.clock import each, limited
from m2bridge.engine import Engine
from m2bridge.errors import ContradictionError, MethodUnavailableError
from m2bridge.families.deep_attention.all_sizes.blocks import block_ranks
from m2bridge.families.deep_attention.all_sizes.decide import NORMAL_FORM, Stated, decide, verdict
from m2bridge.families.deep_attention.all_sizes.layer_identities import layer_identities
from m2bridge.families.deep_attention.all_sizes.predictions import PREDICTIONS
from m2bridge.families.deep_attention.all_sizes.result import DeepAttentionAllSizes, EveryVerdict
from m2bridge.families.deep_attention.statements import STATEMENTS
from m2bridge.layout import name_with_part


def stated_for_all_sizes() -> tuple[Stated, ...]:
    """Those that have a form for all sizes."""
    return tuple(statement for statement in STATEMENTS if statement.key in (*PREDICTIONS, NORMAL_FORM))


def cross_check_deep_attention(
    engine: Engine | None = None, statements: Sequence[Stated] = (), timeout: float | None = None
) -> DeepAttentionAllSizes:
    """Decide statements for all widths and ranks, any number of layers, and all t, assuming none of them.

    Parameters
    ----------
    engine : Engine, optional
        Is not needed.
    statements : sequence of GlobalStatement
        All when left out; those that are not stated for all sizes are named.
    timeout : float, optional
        Seconds.

    Raises
    ------
    MethodUnavailableError
        If none of them is stated for all sizes.
    ContradictionError
        If an identity does not hold, or independent computations disagree.

    Examples
    --------
    >>> found = cross_check_deep_attention()
    >>> {verdict.verdict for verdict in found.verdicts}
    {'CONFIRMED'}
    """
    known, asked = stated_for_all_sizes(), statements or STATEMENTS
    chosen = [statement for statement in asked if statement in known]
    others = tuple(name_with_part(s.key, s.part) for s in asked if s not in known)
    if not chosen:
        keys = ", ".join(statement.key for statement in known)
        raise MethodUnavailableError(f"not stated for all sizes: {', '.join(others)}; these are: {keys}")
    with limited(timeout) as running:
        if wrong := [name for name, holds in layer_identities().items() if not holds]:
            raise ContradictionError(f"the identity of a layer does not hold: {', '.join(wrong)}")
        found = each((statement.key, partial(_verdict, statement)) for statement in chosen)
        return DeepAttentionAllSizes(found, tuple(layer_identities()), block_ranks(), running.seconds, others)


def _verdict(statement: Stated) -> EveryVerdict:
    if statement.key == NORMAL_FORM:
        return verdict(statement, "normal_form", "CONFIRMED")
    return decide(statement, PREDICTIONS[statement.key])
