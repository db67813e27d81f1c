"""The remark that the neuromanifold is not a smooth manifold."""

from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.statements.statement import about_the_whole, nondegenerate


def _smooth_manifold(model: SingleLayerAttention) -> bool:
    return False


STATEMENTS = (about_the_whole("not-a-manifold", "", predict=_smooth_manifold, hypotheses=nondegenerate),)
