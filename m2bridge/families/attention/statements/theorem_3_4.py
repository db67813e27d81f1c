"""Theorem 3.4: closedness, boundary and singular points, as printed."""

from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.orbits import Orbit
from m2bridge.families.attention.statements.statement import (
    about_orbits,
    about_the_whole,
    nondegenerate,
    paper_hypotheses,
)


def _closed(model: SingleLayerAttention) -> bool:
    return True


def _boundary(orbit: Orbit, model: SingleLayerAttention) -> bool:
    """A = v qᵀ and V = h vᵀ with the same v."""
    return (orbit.r, orbit.s, orbit.m) == (1, 1, 1)


def singular(orbit: Orbit, model: SingleLayerAttention) -> bool:
    """Part (iii), as printed."""
    return orbit.r * orbit.s <= 1


STATEMENTS = (
    about_the_whole("3.4", "i", predict=_closed, hypotheses=paper_hypotheses),
    about_orbits("3.4", "ii", predict=_boundary, hypotheses=nondegenerate),
    about_orbits("3.4", "iii", predict=singular, hypotheses=nondegenerate),
)
