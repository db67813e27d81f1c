"""Single-layer lightning self-attention as a family."""

from __future__ import annotations

import re
from typing import Any

from m2bridge.errors import InvalidCaseError
from m2bridge.families.attention.coordinates import AttentionCoordinates
from m2bridge.families.attention.model import NAME, SingleLayerAttention
from m2bridge.families.definition import CaseOption, Family, integer


def build(**numbers: Any) -> AttentionCoordinates:
    """The model with these numbers, in its default coordinates."""
    return SingleLayerAttention(**numbers).in_coordinates()


def from_key(key: str) -> AttentionCoordinates:
    """The model with this key, such as ``d3-dout2-a2-t2``."""
    match = re.fullmatch(
        r"d([1-9][0-9]{0,8})-dout([1-9][0-9]{0,8})-a([1-9][0-9]{0,8})-t([1-9][0-9]{0,8})", key, re.ASCII
    )
    if match is None:
        raise InvalidCaseError("key", f"'{key}' does not name an attention model: write d3-dout2-a2-t2")
    return SingleLayerAttention(*map(int, match.groups())).in_coordinates()


FAMILY = Family(
    name=NAME,
    title="single-layer lightning self-attention",
    options=(
        CaseOption("d", integer, "input embedding dimension d"),
        CaseOption("d_out", integer, "output embedding dimension d'"),
        CaseOption("a", integer, "query/key dimension a; d when left out", required=False),
        CaseOption("t", integer, "number of tokens", default="2"),
    ),
    build=build,
    from_key=from_key,
)
