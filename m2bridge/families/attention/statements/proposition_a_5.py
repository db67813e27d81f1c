"""Proposition A.5: functions as products of linear forms."""

from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.statements.statement import about_the_whole, several_tokens


def _products(model: SingleLayerAttention) -> bool:
    return True


STATEMENTS = (about_the_whole("A.5", "", predict=_products, hypotheses=several_tokens),)
