"""Deep attention for all sizes, as a family with one case."""

from dataclasses import dataclass
from typing import Any, ClassVar

from m2bridge.families.all_sizes import AllSizesCase, all_sizes_family, all_sizes_questions
from m2bridge.families.deep_attention.all_sizes.decide import (
    cross_check_deep_attention,
    example_text,
    reasons,
    stated_for_all_sizes,
)
from m2bridge.families.definition import Row, never


@dataclass(frozen=True, slots=True)
class EveryNetwork(AllSizesCase):
    """Deep attention with one head and without skip connections, of all sizes.

    Examples
    --------
    >>> EveryNetwork().key
    'all-sizes'
    """

    family: ClassVar[str] = "deep-attention-all-sizes"
    title: ClassVar[str] = "deep attention for all widths and ranks, any number of layers, and all t ≥ 1"


def _row(key: str, data: dict[str, Any]) -> Row:
    """One verdict; ValueError if it does not follow from what is said about it."""
    example = data["counterexample"]
    if (data["verdict"] == "REFUTED") != (example is not None):
        raise ValueError(f"the verdict {data['verdict']} does not follow from the counterexample")
    witness = "" if example is None else example_text(example)
    return Row(key, data["text"], data["verdict"], "; ".join(reasons(data)), witness)


FAMILY = all_sizes_family(
    EveryNetwork,
    "deep attention for all sizes",
    all_sizes_questions(
        ((statement.key, statement.part) for statement in stated_for_all_sizes()),
        observe=lambda engine: cross_check_deep_attention(),
        row=_row,
        script=lambda case: None,
        needs_engine=never,
    ),
    prefix="deep-attention-",
)
