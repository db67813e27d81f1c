"""Lemma A.3: the critical points of the parametrization."""

from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.orbits import Orbit
from m2bridge.families.attention.statements.statement import PAPER, USUAL_AND_OURS, OrbitStatement, nondegenerate


def _critical(orbit: Orbit, model: SingleLayerAttention) -> bool:
    return (orbit.r, orbit.s, orbit.m) == (1, 1, 1)


STATEMENTS = (
    OrbitStatement(
        key="A.3",
        part="",
        text=(
            f"{USUAL_AND_OURS}: a point (A, V) with A ≠ 0, V ≠ 0 is critical for the projective parametrization "
            "exactly when A = v qᵀ and V = h vᵀ for the same v (critical: the differential is not injective on the "
            "Zariski tangent space)."
        ),
        source=f"{PAPER}, Lemma A.3",
        observable="critical",
        predict=_critical,
        hypotheses=nondegenerate,
    ),
)
