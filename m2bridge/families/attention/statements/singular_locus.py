"""The singular locus, with the singularities of the source taken into account (ours)."""

from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.orbits import Orbit
from m2bridge.families.attention.statements.statement import about_orbits, nondegenerate


def _singular(orbit: Orbit, model: SingleLayerAttention) -> bool:
    if model.a >= model.d:
        return orbit.r == orbit.s == 1
    if model.a == 1:
        return orbit.s == 1
    return orbit.r <= model.a - 1


STATEMENTS = (about_orbits("singular-locus", "", predict=_singular, hypotheses=nondegenerate),)
