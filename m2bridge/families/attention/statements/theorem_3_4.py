"""Theorem 3.4: closedness, boundary and singular points, as printed."""

from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.orbits import Orbit
from m2bridge.families.attention.statements.statement import (
    PAPER,
    USUAL,
    USUAL_AND_OURS,
    GlobalStatement,
    OrbitStatement,
    nondegenerate,
    paper_hypotheses,
)


def _closed(model: SingleLayerAttention) -> bool:
    return True


def _boundary(orbit: Orbit, model: SingleLayerAttention) -> bool:
    """A = v qᵀ and V = h vᵀ with the same v."""
    return (orbit.r, orbit.s, orbit.m) == (1, 1, 1)


def _singular(orbit: Orbit, model: SingleLayerAttention) -> bool:
    return orbit.r * orbit.s <= 1


STATEMENTS = (
    GlobalStatement(
        key="3.4",
        part="i",
        text=f"{USUAL}: the neuromanifold is closed in the Euclidean topology.",
        source=f"{PAPER}, Theorem 3.4 (i)",
        observable="closed",
        predict=_closed,
        hypotheses=paper_hypotheses,
    ),
    OrbitStatement(
        key="3.4",
        part="ii",
        text=(
            f"{USUAL_AND_OURS}: the relative boundary points of the neuromanifold (limits of points of its Zariski "
            "closure outside it) are the functions of A = v qᵀ, V = h vᵀ."
        ),
        source=f"{PAPER}, Theorem 3.4 (ii)",
        observable="boundary",
        predict=_boundary,
        hypotheses=nondegenerate,
    ),
    OrbitStatement(
        key="3.4",
        part="iii",
        text=f"{USUAL_AND_OURS}: the singular points of the neuromanifold are the functions with rk A · rk V ≤ 1.",
        source=f"{PAPER}, Theorem 3.4 (iii)",
        observable="singular",
        predict=_singular,
        hypotheses=nondegenerate,
    ),
)
