"""Statements about attention: their words come from ``words.toml``, predictions and hypotheses are functions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from m2bridge.certificates.wording import wording
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.orbits import Orbit
from m2bridge.maps.statement import GlobalStatement, OrbitStatement, Value, every_orbit

WORDS = wording(Path(__file__).parent.parent / "words.toml")

Hypotheses = Callable[[SingleLayerAttention], str]
"""Why a statement does not apply to a case; empty if it does."""


def about_orbits(
    key: str,
    part: str,
    predict: Callable[[Orbit, SingleLayerAttention], Value],
    hypotheses: Hypotheses,
    concerns: Callable[[Orbit], bool] = every_orbit,
) -> OrbitStatement[SingleLayerAttention, Orbit]:
    """The statement with this number about functions, orbit by orbit."""
    return OrbitStatement(**_words(key, part), predict=predict, hypotheses=hypotheses, concerns=concerns)


def about_the_whole(
    key: str,
    part: str,
    predict: Callable[[SingleLayerAttention], Value],
    hypotheses: Hypotheses,
    nothing: Value | None = None,
) -> GlobalStatement[SingleLayerAttention]:
    """The statement with this number about the neuromanifold as a whole."""
    return GlobalStatement(**_words(key, part), predict=predict, hypotheses=hypotheses, nothing=nothing)


def _words(key: str, part: str) -> dict[str, Any]:
    said = WORDS.words(key, part)
    return {
        "key": key,
        "part": part,
        "text": said.text,
        "source": said.source,
        "observable": said.observable,
        "computed": WORDS.computed[said.observable],
        "trusted": WORDS.trusted[said.observable],
    }


def several_tokens(model: SingleLayerAttention) -> str:
    """t ≥ 2."""
    return "" if model.t >= 2 else WORDS.hypotheses["several-tokens"]


def paper_hypotheses(model: SingleLayerAttention) -> str:
    """The hypotheses of the paper from Corollary 3.3 on: t ≥ 2, and α > 1 or d' > 1."""
    if reason := several_tokens(model):
        return reason
    return WORDS.hypotheses["not-degenerate"] if model.alpha == 1 and model.d_out == 1 else ""


def nondegenerate(model: SingleLayerAttention) -> str:
    """The hypotheses of the paper, and d ≥ 2, which we add: for d = 1 < d' some printed statements fail."""
    if reason := paper_hypotheses(model):
        return reason
    return WORDS.hypotheses["two-dimensions"] if model.d == 1 else ""
