"""Theorem 3.2: the fibres of the parametrization, as sets of points."""

from m2bridge.families.attention.fibres import Preimages
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.orbits import IntegerMatrix, Orbit, WeightPair, representative
from m2bridge.families.attention.statements.statement import about_orbits, about_the_whole, several_tokens
from m2bridge.maps.statement import Value


def _rank_one(orbit: Orbit) -> bool:
    return orbit.r == orbit.s == 1


def _higher_rank(orbit: Orbit) -> bool:
    return not _rank_one(orbit)


def _exchanged(orbit: Orbit, model: SingleLayerAttention) -> Value:
    """A = k qᵀ, V = h vᵀ, and with k and v exchanged; for k = v this is one point.

    The representative has q and h the first unit vectors; k is then the first column of A, v the first row of V.
    """
    A, V = representative(orbit, model)
    k, v = tuple(row[0] for row in A), V[0]
    return Preimages(frozenset({(A, V), _rank_one_weights(v, k, model)}))


def _rank_one_weights(k: tuple[int, ...], v: tuple[int, ...], model: SingleLayerAttention) -> WeightPair:
    """k qᵀ and h vᵀ with q and h the first unit vectors."""
    zeros: IntegerMatrix = tuple((0,) * model.d for _ in range(model.d_out - 1))
    return tuple((entry, *(0,) * (model.d - 1)) for entry in k), (v, *zeros)


def _itself(orbit: Orbit, model: SingleLayerAttention) -> Value:
    return Preimages(frozenset({representative(orbit, model)}))


def _only_zero(model: SingleLayerAttention) -> bool:
    return True


STATEMENTS = (
    about_orbits("3.2", "rank one", predict=_exchanged, hypotheses=several_tokens, concerns=_rank_one),
    about_the_whole("3.2", "zero", predict=_only_zero, hypotheses=several_tokens),
    about_orbits("3.2", "otherwise", predict=_itself, hypotheses=several_tokens, concerns=_higher_rank),
)
