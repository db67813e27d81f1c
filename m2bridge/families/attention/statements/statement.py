"""What a statement is: hypotheses and a prediction about something that can be observed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.orbits import Orbit, WeightPair

PAPER = "Henry, Marchetti, Kohn, Geometry of Lightning Self-Attention, ICLR 2025, arXiv 2408.17221"
OURS = "m2bridge, docs/mathematics.md (not in the paper)"

TOKENS = "For t ≥ 2"
USUAL = "For t ≥ 2, and α = min(a, d) > 1 or d' > 1"
USUAL_AND_OURS = "For t ≥ 2, and α = min(a, d) > 1 or d' > 1, and d ≥ 2 (added by m2bridge)"

Hypotheses = Callable[[SingleLayerAttention], str]
"""Why a statement does not apply to a case; empty if it does."""

Value = bool | int | frozenset[WeightPair]
"""What can be predicted and observed: yes or no, a number, or the points of a fibre."""


def every_orbit(orbit: Orbit) -> bool:
    """For statements about all functions except zero."""
    return True


@dataclass(frozen=True, slots=True)
class OrbitStatement:
    """A statement about every function of the model, or about those of some orbits.

    Parameters
    ----------
    key, part : str
        Number in the paper and part of it, such as ``3.4`` and ``iii``.
    text : str
        The statement in words, with its hypotheses.
    source : str
    observable : {"singular", "critical", "boundary", "boundary_critical", "fibre_points", "fibre"}
        What it predicts for each orbit.
    predict : callable
        The prediction for an orbit of a model.
    hypotheses : callable
    concerns : callable
        Whether the statement is about an orbit. Where it is about none of a case, it holds, and says nothing.
    """

    key: str
    part: str
    text: str
    source: str
    observable: Literal["singular", "critical", "boundary", "boundary_critical", "fibre_points", "fibre"]
    predict: Callable[[Orbit, SingleLayerAttention], Value]
    hypotheses: Hypotheses
    concerns: Callable[[Orbit], bool] = every_orbit


@dataclass(frozen=True, slots=True)
class GlobalStatement:
    """A statement about the neuromanifold as a whole; fields as in :class:`OrbitStatement`."""

    key: str
    part: str
    text: str
    source: str
    observable: Literal[
        "closed",
        "dimension",
        "birational",
        "special_fibre_points",
        "degree",
        "zero_fibre",
        "products",
        "smooth_manifold",
    ]
    predict: Callable[[SingleLayerAttention], bool | int]
    hypotheses: Hypotheses


Statement = OrbitStatement | GlobalStatement


def several_tokens(model: SingleLayerAttention) -> str:
    """t ≥ 2."""
    return "" if model.t >= 2 else "assumes t ≥ 2; for one token the functions form another variety"


def paper_hypotheses(model: SingleLayerAttention) -> str:
    """The hypotheses of the paper from Corollary 3.3 on: t ≥ 2, and α > 1 or d' > 1."""
    if reason := several_tokens(model):
        return reason
    if model.alpha == 1 and model.d_out == 1:
        return "assumes a > 1 or d' > 1 (with α = min(a, d)); here α = d' = 1"
    return ""


def nondegenerate(model: SingleLayerAttention) -> str:
    """The hypotheses of the paper, and d ≥ 2, which we add: for d = 1 < d' some printed statements fail."""
    if reason := paper_hypotheses(model):
        return reason
    if model.d == 1:
        return (
            "m2bridge adds the hypothesis d ≥ 2, which the paper does not state; for d = 1 every function has rank at "
            "most one and the neuromanifold is the linear space R^d'"
        )
    return ""
