"""The degree of the Zariski closure (ours)."""

from m2bridge.families.attention.formulas import degree_formula
from m2bridge.families.attention.statements.statement import OURS, TOKENS, GlobalStatement, several_tokens

STATEMENTS = (
    GlobalStatement(
        key="degree",
        part="",
        text=(
            f"{TOKENS}: the Zariski closure has degree C(δ_A + δ_V, δ_V)·deg P(D_α), with δ_A = α(2d − α) − 1 and "
            "δ_V = d·d' − 1; half of that when α = d' = 1 < d."
        ),
        source=OURS,
        observable="degree",
        predict=degree_formula,
        hypotheses=several_tokens,
    ),
)
