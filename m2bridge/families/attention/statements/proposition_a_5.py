"""Proposition A.5: functions as products of linear forms."""

from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.statements.statement import PAPER, TOKENS, GlobalStatement, several_tokens


def _products(model: SingleLayerAttention) -> bool:
    return True


STATEMENTS = (
    GlobalStatement(
        key="A.5",
        part="",
        text=(
            f"{TOKENS}: up to a linear isomorphism the function of (A, V) is the matrix of products l_i·v_k of the "
            "linear forms l_i (columns of A) and v_k (rows of V)."
        ),
        source=f"{PAPER}, Proposition A.5",
        observable="products",
        predict=_products,
        hypotheses=several_tokens,
    ),
)
