"""What a cross-check of deep attention for all sizes says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from m2bridge.decided import Decided
from m2bridge.families.deep_attention.all_sizes.blocks import BlockRank
from m2bridge.families.deep_attention.model import DeepAttention
from m2bridge.presented import Presented

SCOPE = "all widths and ranks, any number of layers, and all t ≥ 1, in characteristic 0"
Decision = Literal["CONFIRMED", "REFUTED", "UNDECIDED"]


@dataclass(frozen=True, slots=True)
class Example:
    """A network for which a formula is not the dimension.

    Parameters
    ----------
    network : DeepAttention
    computed : int
        By ranks that meet an upper bound.
    stated : int
    """

    network: DeepAttention
    computed: int
    stated: int


@dataclass(frozen=True, slots=True)
class Outside:
    """A network to which a statement does not apply, and for which its formula is not the dimension.

    Parameters
    ----------
    hypothesis : str
        The one that fails.
    example : Example
        The first one that all other hypotheses admit.
    """

    hypothesis: str
    example: Example


@dataclass(frozen=True, slots=True)
class EveryVerdict:
    """The verdict on one statement for all networks that it is about.

    Parameters
    ----------
    statement, text, source : str
        See :class:`m2bridge.maps.statement.GlobalStatement`.
    verdict : {"CONFIRMED", "REFUTED", "UNDECIDED"}
        UNDECIDED if it counts otherwise than what is known, and no small network shows a difference.
    counterexample : Example or None
        The smallest network to which it applies, and for which it is false.
    outside : tuple of Outside
    computed, trusted : tuple of str
        What was computed for this verdict, and the lemmas on which it rests.
    """

    statement: str
    text: str
    source: str
    verdict: Decision
    counterexample: Example | None
    outside: tuple[Outside, ...]
    computed: tuple[str, ...]
    trusted: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DeepAttentionAllSizes(Decided, Presented):
    """Verdicts for all sizes, and what they rest on.

    Parameters
    ----------
    verdicts : tuple of EveryVerdict
    identities : tuple of str
        What holds in every layer, as an identity of polynomials.
    blocks : tuple of BlockRank
    seconds : float
    not_stated : tuple of str
        Names of the statements that were asked about and are not stated for all sizes.

    Examples
    --------
    >>> found = cross_check_deep_attention()
    >>> [verdict.statement for verdict in found.verdicts if verdict.verdict != "CONFIRMED"]
    []
    """

    presentation: ClassVar[str] = "m2bridge.families.deep_attention.presentation.all_sizes"

    verdicts: tuple[EveryVerdict, ...]
    identities: tuple[str, ...]
    blocks: tuple[BlockRank, ...]
    seconds: float
    not_stated: tuple[str, ...] = ()

    @property
    def unfinished(self) -> str:
        """Always empty: a limit that is reached before all is computed is an error."""
        return ""
