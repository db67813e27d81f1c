"""What a statement is: hypotheses and a prediction about something that can be observed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from m2bridge.model.attention import SingleLayerAttention
from m2bridge.model.orbit import Orbit

PAPER = "Henry, Marchetti, Kohn, Geometry of Lightning Self-Attention, ICLR 2025, arXiv 2408.17221"
OURS = "m2bridge, docs/mathematics.md (not in the paper)"

Hypotheses = Callable[[SingleLayerAttention], str]
"""Why a statement does not apply to a case; empty if it does."""


@dataclass(frozen=True, slots=True)
class OrbitStatement:
    """A statement about every function of the model.

    Parameters
    ----------
    key, part : str
        Number in the paper and part of it, such as ``3.4`` and ``iii``.
    text : str
        The statement in words.
    source : str
    observable : {"singular", "critical", "boundary", "fibre_points"}
        What it predicts for each orbit.
    predict : callable
        The prediction for an orbit of a model.
    hypotheses : callable
    """

    key: str
    part: str
    text: str
    source: str
    observable: Literal["singular", "critical", "boundary", "fibre_points"]
    predict: Callable[[Orbit, SingleLayerAttention], bool | int]
    hypotheses: Hypotheses


@dataclass(frozen=True, slots=True)
class GlobalStatement:
    """A statement about the neuromanifold as a whole; fields as in :class:`OrbitStatement`."""

    key: str
    part: str
    text: str
    source: str
    observable: Literal["closed", "dimension", "birational", "special_fibre_points", "degree"]
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
    """The hypotheses of the paper, and d ≥ 2."""
    if reason := paper_hypotheses(model):
        return reason
    if model.d == 1:
        return "d = 1 is degenerate: every function has rank at most one and the neuromanifold is the linear space R^d'"
    return ""
