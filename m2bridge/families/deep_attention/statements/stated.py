"""A statement from its words."""

from __future__ import annotations

from collections.abc import Callable

from m2bridge.families.deep_attention.model import DeepAttention
from m2bridge.families.deep_attention.statements.hypotheses import WORDS, Hypothesis
from m2bridge.maps.statement import GlobalStatement, Value


def stated(
    key: str,
    part: str,
    predict: Callable[[DeepAttention], Value | None],
    hypotheses: Hypothesis,
    meaning: Hypothesis | None = None,
) -> GlobalStatement[DeepAttention]:
    """The statement with this key and part in ``words.toml``.

    Parameters
    ----------
    meaning : callable, optional
        Where the formula has a meaning, as for ``hypotheses``, which are meant when it is left out. Elsewhere nothing
        is predicted.
    """
    words = WORDS.words(key, part)
    without = hypotheses if meaning is None else meaning
    return GlobalStatement(
        key,
        part,
        words.text,
        words.source,
        words.observable,
        lambda network: None if without(network) else predict(network),
        hypotheses,
        WORDS.computed[words.observable],
        WORDS.trusted[words.observable],
    )
