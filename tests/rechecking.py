"""Observations of attention without Macaulay2: fibres by the linear algebra of the checker."""

from dataclasses import replace
from functools import lru_cache

from m2bridge import SingleLayerAttention
from m2bridge.checker.fibre_scheme import fibre_scheme
from m2bridge.checker.identities import base_locus_is_empty, boundary_family_is_verified
from m2bridge.families.attention.fibres import Fibre, Fibres
from m2bridge.families.attention.observation import Observations, deduce
from m2bridge.families.attention.orbits import Orbit, orbits


def recheck(model: SingleLayerAttention) -> Observations:
    """What :func:`m2bridge.families.attention.observation.observe` says."""
    return replace(_observations(model.d, model.d_out, model.alpha), model=model)


@lru_cache(maxsize=256)
def _observations(d: int, d_out: int, alpha: int) -> Observations:
    model = SingleLayerAttention(d, d_out, alpha)
    return deduce(model, Fibres(fibres_at(model), base_locus_is_empty(), d > 1 and boundary_family_is_verified()))


def fibres_at(model: SingleLayerAttention) -> dict[Orbit, Fibre]:
    """The fibre over each orbit."""
    found = {}
    for orbit in orbits(model):
        fibre = fibre_scheme(orbit, model)
        assert fibre is not None
        found[orbit] = fibre
    return found
