"""Observations of attention without Macaulay2: fibres by the linear algebra of the checker."""

from dataclasses import replace
from functools import lru_cache

from m2bridge import Fibre, Observations, Orbit, SingleLayerAttention
from m2bridge.families.attention.checker.case import Case
from m2bridge.families.attention.checker.observations import fibre, identities
from m2bridge.families.attention.fibres import Fibres
from m2bridge.families.attention.observation import deduce
from m2bridge.families.attention.orbits import orbits


def recheck(model: SingleLayerAttention) -> Observations:
    """What :func:`m2bridge.families.attention.observation.observe` says."""
    return replace(_observations(model.d, model.d_out, model.alpha), model=model)


@lru_cache(maxsize=256)
def _observations(d: int, d_out: int, alpha: int) -> Observations:
    model = SingleLayerAttention(d, d_out, alpha)
    base_locus, boundary, _ = identities()
    return deduce(model, Fibres(fibres_at(model), base_locus, d > 1 and boundary))


def fibres_at(model: SingleLayerAttention) -> dict[Orbit, Fibre]:
    """The fibre over each orbit."""
    case = Case(model.d, model.d_out, model.a, model.t)
    found = {orbit: fibre(orbit.cells, case) for orbit in orbits(model)}  # type: ignore[arg-type]
    return {orbit: Fibre(length, len(points)) for orbit, (length, points) in found.items()}
