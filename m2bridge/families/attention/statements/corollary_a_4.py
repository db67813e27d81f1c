"""Corollary A.4: the singular points, on which Theorem 3.4 (iii) rests."""

from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.orbits import Orbit
from m2bridge.families.attention.statements.statement import about_orbits, nondegenerate


def _singular(orbit: Orbit, model: SingleLayerAttention) -> bool:
    return orbit.r == orbit.s == 1


STATEMENTS = (about_orbits("A.4", "", predict=_singular, hypotheses=nondegenerate),)
