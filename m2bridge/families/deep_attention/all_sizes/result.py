"""What a cross-check of deep attention for all sizes says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from m2bridge.families.deep_attention.all_sizes.layer_identities import BlockRank
from m2bridge.families.deep_attention.model import DeepAttention
from m2bridge.results.base import Decided, Decision, Presented
from m2bridge.results.sheet import Facts, Finding, Findings, Sheet, duration

SCOPE = "all widths and ranks, any number of layers, and all t ≥ 1, in characteristic 0"


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
    decision : Decision
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
    decision: Decision
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
    unfinished : str
        Empty, or the limit that was reached, and which statements were decided before.

    Examples
    --------
    >>> found = cross_check_deep_attention()
    >>> [verdict.statement for verdict in found.verdicts if verdict.decision != "CONFIRMED"]
    []
    """

    presentation: ClassVar[str] = "m2bridge.families.deep_attention.all_sizes.result"

    verdicts: tuple[EveryVerdict, ...]
    identities: tuple[str, ...]
    blocks: tuple[BlockRank, ...]
    seconds: float
    not_stated: tuple[str, ...] = ()
    unfinished: str = ""


def json(found: DeepAttentionAllSizes) -> dict[str, Any]:
    """Every verdict, and what was computed."""
    return {
        "scope": SCOPE,
        "field": "QQ",
        "seconds": round(found.seconds, 3),
        "verdicts": [
            {
                "statement": verdict.statement,
                **verdict_json(verdict),
                "computed": list(verdict.computed),
                "trusted": list(verdict.trusted),
            }
            for verdict in found.verdicts
        ],
        "not_stated": list(found.not_stated),
        **({"unfinished": found.unfinished} if found.unfinished else {}),
        **evidence_json(found),
    }


def evidence_json(found: DeepAttentionAllSizes) -> dict[str, Any]:
    """What was computed, for a certificate."""
    return {"identities": list(found.identities), "blocks": [_block_json(block) for block in found.blocks]}


def _block_json(block: BlockRank) -> dict[str, Any]:
    return {"network": block.network.key, "columns": block.columns, "rank": block.rank}


def verdict_json(verdict: EveryVerdict) -> dict[str, Any]:
    """One verdict, for a certificate."""
    return {
        "text": verdict.text,
        "source": verdict.source,
        "verdict": str(verdict.decision),
        "counterexample": None if verdict.counterexample is None else _example_json(verdict.counterexample),
        "outside": [{"hypothesis": out.hypothesis, **_example_json(out.example)} for out in verdict.outside],
    }


def _example_json(example: Example) -> dict[str, Any]:
    return {"network": example.network.key, "computed": example.computed, "stated": example.stated}


def sheet(found: DeepAttentionAllSizes) -> Sheet:
    """What was computed, and the verdicts."""
    computed = Facts(
        [
            ("identities", f"of one layer: {', '.join(found.identities)}"),
            ("ranks", f"all {len(found.blocks)} blocks of at most 3 layers (softmax: 2) have their least kernel"),
            ("not stated for all sizes", ", ".join(found.not_stated) or None),
            ("computed by", f"integer sets (isl) and exact linear algebra (FLINT), {duration(found.seconds)}"),
            ("not finished", found.unfinished or None),
        ]
    )
    verdicts = Findings([_finding(verdict) for verdict in found.verdicts])
    return Sheet(f"Cross-check of deep attention for {SCOPE}", [computed, verdicts])


def _finding(verdict: EveryVerdict) -> Finding:
    return Finding(str(verdict.decision), verdict.statement, verdict.text, list(_grounds(verdict)))


def _grounds(verdict: EveryVerdict) -> Iterator[str]:
    if verdict.decision is Decision.CONFIRMED:
        yield "true for all networks to which it applies"
    if verdict.counterexample is not None:
        yield f"the first counterexample: {example_text(_example_json(verdict.counterexample))}"
    for out in verdict.outside:
        yield outside_text(_outside_json(out))


def _outside_json(out: Outside) -> dict[str, Any]:
    return {"hypothesis": out.hypothesis, **_example_json(out.example)}


def example_text(example: dict[str, Any]) -> str:
    """In words, from the data."""
    return f"{example['network']}: computed {example['computed']}, stated {example['stated']}"


def outside_text(out: dict[str, Any]) -> str:
    """In words, from the data."""
    return f"does not apply: {out['hypothesis']}; there it would be false, first for {example_text(out)}"


def macaulay2(found: DeepAttentionAllSizes) -> str:
    """For each statement the verdict, as a Macaulay2 hash table."""
    entries = ", ".join(f'"{verdict.statement}" => "{verdict.decision}"' for verdict in found.verdicts)
    return f"verdicts = hashTable {{{entries}}}"
