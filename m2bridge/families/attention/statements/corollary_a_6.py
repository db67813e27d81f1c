"""Corollary A.6: boundary points are critical values."""

from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.orbits import Orbit
from m2bridge.families.attention.statements.statement import about_orbits, nondegenerate


def _both_or_neither(orbit: Orbit, model: SingleLayerAttention) -> bool:
    return True


STATEMENTS = (about_orbits("A.6", "", predict=_both_or_neither, hypotheses=nondegenerate),)
