"""Single-layer lightning self-attention as a family."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from m2bridge.citation import LIGHTNING
from m2bridge.errors import InvalidCaseError
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.shape import NAME
from m2bridge.families.definition import Family, Figure, integer_option

if TYPE_CHECKING:
    from m2bridge.engine.script import Script
    from m2bridge.families.definition import Question
    from m2bridge.maps.statement import Statement


def from_key(key: str) -> SingleLayerAttention:
    """The model with this key, such as ``d3-dout2-a2-t2``."""
    match = re.fullmatch(
        r"d([1-9][0-9]{0,8})-dout([1-9][0-9]{0,8})-a([1-9][0-9]{0,8})-t([1-9][0-9]{0,8})", key, re.ASCII
    )
    if match is None:
        raise InvalidCaseError("key", f"'{key}' does not name an attention model: write d3-dout2-a2-t2")
    return SingleLayerAttention(*map(int, match.groups()))


def _statements() -> tuple[Statement, ...]:
    from m2bridge.families.attention.statements import REGISTRY

    return REGISTRY


def _questions() -> tuple[Question, ...]:
    from m2bridge.families.attention.questions import CLOSURE, EQUATIONS, POLAR

    return POLAR, EQUATIONS, CLOSURE


def _program(model: SingleLayerAttention, key: str) -> Script | None:
    from m2bridge.families.attention.questions import fibres_program

    return fibres_program(model)


def _figures() -> tuple[Figure, ...]:
    from m2bridge.families.attention.figures import figures  # needs SymPy, which is slow to import

    return figures(OPTIONS)


OPTIONS = (
    integer_option("d", "input embedding dimension d"),
    integer_option("d_out", "output embedding dimension d'", symbol="d'"),
    integer_option("a", "query/key dimension a; d when left out", required=False),
    integer_option("t", "number of tokens", default="2"),
)

FAMILY = Family(
    name=NAME,
    title="single-layer lightning self-attention",
    paper=LIGHTNING,
    options=OPTIONS,
    build=SingleLayerAttention,
    from_key=from_key,
    statements=_statements,
    questions=_questions,
    program=_program,
    figures=_figures,
    effort=lambda model: model.coordinate_count,
    excluded_from_grids=lambda model: model.a > model.d,
    grid_note="a ≤ d",
    orbits="rk A, rk V, dim of the intersection of column space and row space",
    all_sizes="attention-all-sizes",
    modules=("m2bridge.families.attention.observation", "m2bridge.families.attention.questions"),
    commands={
        "contents": "m2bridge.families.attention.weights:contents",
        "closures_of_all_sizes": "m2bridge.families.attention.all_sizes.closures:closures_of_all_sizes",
        "cross_check_all_sizes": "m2bridge.families.attention.all_sizes.family:cross_check_all_sizes",
        "generators_of_all_sizes": "m2bridge.families.attention.all_sizes.closures:generators_of_all_sizes",
        "generator_check": "m2bridge.families.attention.comparisons:generator_check",
        "hilbert_check": "m2bridge.families.attention.comparisons:hilbert_check",
        "membership": "m2bridge.families.attention.membership:membership",
        "standalone": "m2bridge.families.attention.questions:standalone",
        "weights": "m2bridge.families.attention.weights:weights",
    },
    prefix="",
)
