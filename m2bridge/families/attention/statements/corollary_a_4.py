"""Corollary A.4: the singular points, on which Theorem 3.4 (iii) rests."""

from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.orbits import Orbit
from m2bridge.families.attention.statements.statement import PAPER, USUAL_AND_OURS, OrbitStatement, nondegenerate


def _singular(orbit: Orbit, model: SingleLayerAttention) -> bool:
    return orbit.r == orbit.s == 1


STATEMENTS = (
    OrbitStatement(
        key="A.4",
        part="",
        text=(
            f"{USUAL_AND_OURS}: the singular points of the image of the projective parametrization are the functions "
            "with rk A = rk V = 1."
        ),
        source=f"{PAPER}, Corollary A.4",
        observable="singular",
        predict=_singular,
        hypotheses=nondegenerate,
    ),
)
