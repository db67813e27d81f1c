"""Corollary A.2: the parametrization is birational."""

from m2bridge.model.attention import SingleLayerAttention
from m2bridge.theorems.statement import PAPER, GlobalStatement, paper_hypotheses


def _birational(model: SingleLayerAttention) -> bool:
    return True


def _special_fibre_points(model: SingleLayerAttention) -> int:
    """For d = 1 there are no special fibres: k and v are always dependent."""
    return 2 if model.d > 1 else 1


STATEMENTS = (
    GlobalStatement(
        key="A.2",
        part="birational",
        text="The projective parametrization (A, V) ↦ φ is birational onto its image.",
        source=f"{PAPER}, Corollary A.2",
        observable="birational",
        predict=_birational,
        hypotheses=paper_hypotheses,
    ),
    GlobalStatement(
        key="A.2",
        part="special fibres",
        text="Its special fibres have cardinality 2.",
        source=f"{PAPER}, Corollary A.2",
        observable="special_fibre_points",
        predict=_special_fibre_points,
        hypotheses=paper_hypotheses,
    ),
)
