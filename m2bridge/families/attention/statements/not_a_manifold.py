"""The remark that the neuromanifold is not a smooth manifold."""

from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.statements.statement import PAPER, USUAL_AND_OURS, GlobalStatement, nondegenerate


def _smooth_manifold(model: SingleLayerAttention) -> bool:
    return False


STATEMENTS = (
    GlobalStatement(
        key="not-a-manifold",
        part="",
        text=f"{USUAL_AND_OURS}: the neuromanifold is not a smooth manifold.",
        source=f"{PAPER}, on Theorem 3.4",
        observable="smooth_manifold",
        predict=_smooth_manifold,
        hypotheses=nondegenerate,
    ),
)
