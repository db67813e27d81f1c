"""Corollary A.2: the parametrization is birational."""

from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.statements.statement import PAPER, USUAL, GlobalStatement, paper_hypotheses


def _birational(model: SingleLayerAttention) -> bool:
    return True


def _special_fibre_points(model: SingleLayerAttention) -> int:
    return 2


STATEMENTS = (
    GlobalStatement(
        key="A.2",
        part="birational",
        text=f"{USUAL}: the projective parametrization (A, V) ↦ φ is birational onto its image.",
        source=f"{PAPER}, Corollary A.2",
        observable="birational",
        predict=_birational,
        hypotheses=paper_hypotheses,
    ),
    GlobalStatement(
        key="A.2",
        part="special fibres",
        text=f"{USUAL}: the special fibres of the projective parametrization have cardinality 2.",
        source=f"{PAPER}, Corollary A.2",
        observable="special_fibre_points",
        predict=_special_fibre_points,
        hypotheses=paper_hypotheses,
    ),
)
