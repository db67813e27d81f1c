"""Corollary A.6: boundary points are critical values."""

from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.orbits import Orbit
from m2bridge.families.attention.statements.statement import PAPER, USUAL_AND_OURS, OrbitStatement, nondegenerate


def _both_or_neither(orbit: Orbit, model: SingleLayerAttention) -> bool:
    return True


STATEMENTS = (
    OrbitStatement(
        key="A.6",
        part="",
        text=(
            f"{USUAL_AND_OURS}: a nonzero function is a relative boundary point of the neuromanifold exactly when it "
            "is a critical value of the projective parametrization."
        ),
        source=f"{PAPER}, Corollary A.6",
        observable="boundary_critical",
        predict=_both_or_neither,
        hypotheses=nondegenerate,
    ),
)
