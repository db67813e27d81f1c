"""Theorem 3.2: the fibres of the parametrization."""

from m2bridge.model.attention import SingleLayerAttention
from m2bridge.model.orbit import Orbit
from m2bridge.theorems.statement import PAPER, OrbitStatement, several_tokens


def _points(orbit: Orbit, model: SingleLayerAttention) -> int:
    """Two when A = k qᵀ, V = h vᵀ with k and v independent (they may be exchanged), else one."""
    return 2 if (orbit.r, orbit.s, orbit.m) == (1, 1, 0) else 1


STATEMENTS = (
    OrbitStatement(
        key="3.2",
        part="",
        text=(
            "Up to rescaling (A, V) ~ (λA, V/λ), the fibre of A = k qᵀ, V = h vᵀ is {(k qᵀ, h vᵀ), (v qᵀ, h kᵀ)}; "
            "every other fibre with A ≠ 0, V ≠ 0 is one point."
        ),
        source=f"{PAPER}, Theorem 3.2",
        observable="fibre_points",
        predict=_points,
        hypotheses=several_tokens,
    ),
)
