"""The singular locus, with the singularities of the source taken into account (ours)."""

from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.orbits import Orbit
from m2bridge.families.attention.statements.statement import OURS, OrbitStatement, nondegenerate


def _singular(orbit: Orbit, model: SingleLayerAttention) -> bool:
    if model.a >= model.d:
        return orbit.r == orbit.s == 1
    if model.a == 1:
        return orbit.s == 1
    return orbit.r <= model.a - 1


STATEMENTS = (
    OrbitStatement(
        key="singular-locus",
        part="",
        text=(
            "For t ≥ 2, d ≥ 2, and α = min(a, d) > 1 or d' > 1: the singular points are zero and the functions with "
            "rk A = rk V = 1 if a ≥ d; with rk V = 1 if a = 1 < d; with rk A ≤ a − 1 if 2 ≤ a < d."
        ),
        source=OURS,
        observable="singular",
        predict=_singular,
        hypotheses=nondegenerate,
    ),
)
