"""The singular locus by the method of fibres: no ideal of the closure is needed."""

from __future__ import annotations

from m2bridge.computations.locus import OrbitStatus
from m2bridge.computations.observation import Observations
from m2bridge.errors import MethodUnavailableError
from m2bridge.model.attention import SingleLayerAttention


def fibres_apply(model: SingleLayerAttention) -> bool:
    """Whether the lemma of the method can be used: t ≥ 2, and not α = d' = 1 < d (where the map is two-to-one)."""
    return model.t >= 2 and (model.alpha > 1 or model.d_out > 1 or model.d == 1)


def fibre_statuses(seen: Observations) -> tuple[OrbitStatus, ...]:
    """The status of every orbit.

    Raises
    ------
    MethodUnavailableError
        If the parametrization is not birational, and the bounds for tangent dimensions leave an orbit undecided.
    """
    statuses = []
    for fact in seen.orbits:
        if fact.singular is None:
            raise MethodUnavailableError(
                "the parametrization is two-to-one here (α = d' = 1), so fibres do not decide smoothness; "
                "use --method orbits"
            )
        tangent = fact.tangent_dimension if fact.singular else seen.dimension
        statuses.append(OrbitStatus(fact.orbit, fact.dimension, tangent, fact.singular, fact.tangent_lower))
    return tuple(statuses)
