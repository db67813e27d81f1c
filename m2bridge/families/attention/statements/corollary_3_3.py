"""Corollary 3.3: the dimension."""

from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.statements.statement import PAPER, USUAL, GlobalStatement, paper_hypotheses


def _dimension(model: SingleLayerAttention) -> int:
    alpha, d = model.alpha, model.d
    return alpha * (2 * d - alpha) + d * model.d_out - 1


STATEMENTS = (
    GlobalStatement(
        key="3.3",
        part="",
        text=f"{USUAL}: the neuromanifold has dimension α(2d − α) + d·d' − 1.",
        source=f"{PAPER}, Corollary 3.3",
        observable="dimension",
        predict=_dimension,
        hypotheses=paper_hypotheses,
    ),
)
