"""Theorem 3.2: the fibres of the parametrization, as sets of points."""

from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.orbits import IntegerMatrix, Orbit, WeightPair, representative
from m2bridge.families.attention.statements.statement import (
    PAPER,
    TOKENS,
    GlobalStatement,
    OrbitStatement,
    Value,
    several_tokens,
)


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
    return frozenset({(A, V), _rank_one_weights(v, k, model)})


def _rank_one_weights(k: tuple[int, ...], v: tuple[int, ...], model: SingleLayerAttention) -> WeightPair:
    """k qᵀ and h vᵀ with q and h the first unit vectors."""
    zeros: IntegerMatrix = tuple((0,) * model.d for _ in range(model.d_out - 1))
    return tuple((entry, *(0,) * (model.d - 1)) for entry in k), (v, *zeros)


def _itself(orbit: Orbit, model: SingleLayerAttention) -> Value:
    return frozenset({representative(orbit, model)})


def _only_zero(model: SingleLayerAttention) -> bool:
    return True


STATEMENTS = (
    OrbitStatement(
        key="3.2",
        part="rank one",
        text=(
            f"{TOKENS}: up to rescaling (A, V) ~ (λA, V/λ), the fibre of A = k qᵀ, V = h vᵀ of rank one is "
            "{(k qᵀ, h vᵀ), (v qᵀ, h kᵀ)}."
        ),
        source=f"{PAPER}, Theorem 3.2",
        observable="fibre",
        predict=_exchanged,
        hypotheses=several_tokens,
        concerns=_rank_one,
    ),
    GlobalStatement(
        key="3.2",
        part="zero",
        text=f"{TOKENS}: if A = 0 or V = 0, the fibre is the set of all (A', V') with A' = 0 or V' = 0.",
        source=f"{PAPER}, Theorem 3.2",
        observable="zero_fibre",
        predict=_only_zero,
        hypotheses=several_tokens,
    ),
    OrbitStatement(
        key="3.2",
        part="otherwise",
        text=f"{TOKENS}: every other fibre is one point, up to rescaling (A, V) ~ (λA, V/λ).",
        source=f"{PAPER}, Theorem 3.2",
        observable="fibre",
        predict=_itself,
        hypotheses=several_tokens,
        concerns=_higher_rank,
    ),
)
