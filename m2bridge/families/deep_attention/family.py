"""Deep attention networks: lightning or softmax self-attention with any number of layers."""

from __future__ import annotations

from m2bridge.families.deep_attention.model import NAME, DeepAttention
from m2bridge.families.deep_attention.statements import STATEMENTS
from m2bridge.families.definition import CaseOption, Family, Figure, integer, integers


def _figures() -> tuple[Figure, ...]:
    from m2bridge.families.deep_attention.figure import FIGURE  # needs SymPy, which is slow to import

    return (FIGURE,)


FAMILY = Family(
    name=NAME,
    title="deep self-attention networks",
    options=(
        CaseOption(
            "widths", integers, "widths d_0, …, d_l of the tokens, from the inputs to the outputs, such as 3,3,3"
        ),
        CaseOption("a", integers, "query/key dimensions a_1, …, a_l, or one for all layers"),
        CaseOption("t", integer, "number of tokens", default="2"),
        CaseOption("heads", integer, "number of heads of each layer", default="1"),
        CaseOption("skip", bool, "skip connections: each layer adds its input", required=False, flag=True),
        CaseOption("normalization", str, "none (lightning attention) or softmax", default="none"),
    ),
    build=DeepAttention,
    from_key=DeepAttention.from_key,
    statements=lambda: STATEMENTS,
    figures=_figures,
)

__all__ = ["FAMILY", "DeepAttention"]
