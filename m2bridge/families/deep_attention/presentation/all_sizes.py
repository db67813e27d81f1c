"""A cross-check of deep attention for all sizes, for people and programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from m2bridge.families.deep_attention.all_sizes.blocks import BlockRank
from m2bridge.families.deep_attention.all_sizes.result import (
    SCOPE,
    DeepAttentionAllSizes,
    EveryVerdict,
    Example,
    Outside,
)
from m2bridge.layout import duration
from m2bridge.sheet import Facts, Finding, Findings, Sheet


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
        "verdict": verdict.verdict,
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
        ]
    )
    verdicts = Findings([_finding(verdict) for verdict in found.verdicts])
    return Sheet(f"Cross-check of deep attention for {SCOPE}", [computed, verdicts])


def _finding(verdict: EveryVerdict) -> Finding:
    return Finding(verdict.verdict, verdict.statement, verdict.text, list(_grounds(verdict)))


def _grounds(verdict: EveryVerdict) -> Iterator[str]:
    if verdict.verdict == "CONFIRMED":
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
    entries = ", ".join(f'"{verdict.statement}" => "{verdict.verdict}"' for verdict in found.verdicts)
    return f"verdicts = hashTable {{{entries}}}"
