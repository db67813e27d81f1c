"""Corollary 3.3: the dimension."""

from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.statements.statement import about_the_whole, paper_hypotheses


def _dimension(model: SingleLayerAttention) -> int:
    alpha, d = model.alpha, model.d
    return alpha * (2 * d - alpha) + d * model.d_out - 1


STATEMENTS = (about_the_whole("3.3", "", predict=_dimension, hypotheses=paper_hypotheses),)
