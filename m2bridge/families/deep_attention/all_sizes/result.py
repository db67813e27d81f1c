"""The result of a cross-check of deep attention for all sizes."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from m2bridge.families.all_sizes import AllSizesResult, AllSizesVerdict
from m2bridge.families.deep_attention.all_sizes.layer_identities import BlockRank
from m2bridge.families.deep_attention.model import DeepAttention
from m2bridge.results.base import Decision
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
class EveryVerdict(AllSizesVerdict):
    """The verdict on one statement for all networks that it is about.

    UNDECIDED if it counts otherwise than what is known, and no small network shows a difference.

    Parameters
    ----------
    counterexample : Example or None
        The smallest network to which it applies, and for which it is false.
    outside : tuple of Outside
    """

    counterexample: Example | None = None
    outside: tuple[Outside, ...] = ()

    def certificate_json(self) -> dict[str, Any]:
        """Return the verdict, its counterexample, and where the statement does not apply."""
        return {
            "text": self.text,
            "source": self.source,
            "verdict": str(self.decision),
            "counterexample": None if self.counterexample is None else _example_json(self.counterexample),
            "outside": [_outside_json(out) for out in self.outside],
        }


@dataclass(frozen=True, slots=True)
class DeepAttentionAllSizes(AllSizesResult[EveryVerdict]):
    """Verdicts for all sizes, and what they rest on.

    Parameters
    ----------
    identities : tuple of str
        What holds in every layer, as an identity of polynomials.
    blocks : tuple of BlockRank

    Examples
    --------
    >>> found = cross_check_deep_attention()
    >>> [verdict.statement for verdict in found.verdicts if verdict.decision != "CONFIRMED"]
    []
    """

    identities: tuple[str, ...]
    blocks: tuple[BlockRank, ...]

    def evidence(self) -> dict[str, Any]:
        """Return the identities and ranks, for ``json.dumps``."""
        return {"identities": list(self.identities), "blocks": [_block_json(block) for block in self.blocks]}

    def to_json(self) -> dict[str, Any]:
        """Return every verdict, and what was computed."""
        return {
            "scope": SCOPE,
            "field": "QQ",
            "seconds": round(self.seconds, 3),
            "verdicts": [
                {
                    "statement": verdict.statement,
                    **verdict.certificate_json(),
                    "computed": list(verdict.computed),
                    "trusted": list(verdict.trusted),
                }
                for verdict in self.verdicts
            ],
            "not_stated": list(self.not_stated),
            **({"unfinished": self.unfinished} if self.unfinished else {}),
            **self.evidence(),
        }

    def to_macaulay2(self) -> str:
        """Return for each statement the verdict, as a Macaulay2 hash table."""
        entries = ", ".join(f'"{verdict.statement}" => "{verdict.decision}"' for verdict in self.verdicts)
        return f"verdicts = hashTable {{{entries}}}"

    def to_sheet(self) -> Sheet:
        """Return what was computed, and the verdicts."""
        computed = Facts(
            [
                ("identities", f"of one layer: {', '.join(self.identities)}"),
                ("ranks", f"all {len(self.blocks)} blocks of at most 3 layers (softmax: 2) have their least kernel"),
                ("not stated for all sizes", ", ".join(self.not_stated) or None),
                ("computed by", f"integer sets (isl) and exact linear algebra (FLINT), {duration(self.seconds)}"),
                ("not finished", self.unfinished or None),
            ]
        )
        verdicts = Findings([_finding(verdict) for verdict in self.verdicts])
        return Sheet(f"Cross-check of deep attention for {SCOPE}", [computed, verdicts])


def _block_json(block: BlockRank) -> dict[str, Any]:
    return {"network": block.network.key, "columns": block.columns, "rank": block.rank}


def _example_json(example: Example) -> dict[str, Any]:
    return {"network": example.network.key, "computed": example.computed, "stated": example.stated}


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
    """Return an example in words, from the data."""
    return f"{example['network']}: computed {example['computed']}, stated {example['stated']}"


def outside_text(out: dict[str, Any]) -> str:
    """Return in words where a statement does not apply, from the data."""
    return f"does not apply: {out['hypothesis']}; there it would be false, first for {example_text(out)}"
