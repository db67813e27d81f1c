"""The singular locus by the method of fibres: no ideal of the closure is needed."""

from __future__ import annotations

from m2bridge.algebra.field import QQ
from m2bridge.engine import Engine
from m2bridge.errors import EngineMemoryError, EngineTimeoutError
from m2bridge.families.attention.components import orbit_components, undecided_orbits
from m2bridge.families.attention.formulas import is_birational
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.observation import observe
from m2bridge.families.attention.observed import OrbitFacts
from m2bridge.maps.agreement import LocusFindings
from m2bridge.maps.singular_locus_result import OrbitStatus


def fibres_apply(model: SingleLayerAttention) -> bool:
    """Whether the lemma of the method can be used: t ≥ 2, and not α = d' = 1 < d (where the map is two-to-one)."""
    return model.t >= 2 and is_birational(model)


def by_fibres(model: SingleLayerAttention, engine: Engine) -> LocusFindings:
    """The findings of the method; see :func:`m2bridge.families.attention.observation.observe`.

    Hypothesis: :func:`fibres_apply`.
    """
    try:
        seen = observe(model, engine, degree=False)
    except (EngineTimeoutError, EngineMemoryError) as limit:
        return LocusFindings("fibres", None, (), None, str(limit))
    statuses = tuple(_status(fact, seen.dimension) for fact in seen.orbits)
    if unfinished := seen.unfinished or undecided_orbits(statuses, model):
        return LocusFindings("fibres", seen.dimension, statuses, None, unfinished)
    # The reduced coordinates are linearly independent, so the closure is a linear space only if it is all of it.
    linear = seen.dimension == model.coordinate_count("reduced")
    return LocusFindings("fibres", seen.dimension, statuses, orbit_components(statuses, linear, model, QQ))


def _status(fact: OrbitFacts, dimension: int) -> OrbitStatus:
    tangent = dimension if fact.singular is False else fact.tangent_dimension
    return OrbitStatus(fact.orbit, fact.dimension, tangent, fact.singular, fact.tangent_lower)
