"""Theorems about deep attention for all sizes as a family with one case."""

from __future__ import annotations

from typing import TYPE_CHECKING

from m2bridge.errors import InvalidCaseError
from m2bridge.families.deep_attention.all_sizes.model import NAME, EveryNetwork
from m2bridge.families.definition import Family

if TYPE_CHECKING:
    from m2bridge.families.question import Question


def from_key(key: str) -> EveryNetwork:
    """The only case."""
    if key != EveryNetwork.key:
        raise InvalidCaseError("key", f"'{key}' does not name all sizes: write {EveryNetwork.key}")
    return EveryNetwork()


def _questions() -> tuple[Question, ...]:
    from m2bridge.families.deep_attention.all_sizes.questions import QUESTIONS

    return QUESTIONS


FAMILY = Family(
    name=NAME,
    title="deep attention for all sizes",
    options=(),
    build=EveryNetwork,
    from_key=from_key,
    questions=_questions,
    prefix="deep-attention-",
)
