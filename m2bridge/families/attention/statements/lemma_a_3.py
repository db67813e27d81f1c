"""Lemma A.3: the critical points of the parametrization."""

from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.orbits import Orbit
from m2bridge.families.attention.statements.statement import about_orbits, nondegenerate


def _critical(orbit: Orbit, model: SingleLayerAttention) -> bool:
    return (orbit.r, orbit.s, orbit.m) == (1, 1, 1)


STATEMENTS = (about_orbits("A.3", "", predict=_critical, hypotheses=nondegenerate),)
