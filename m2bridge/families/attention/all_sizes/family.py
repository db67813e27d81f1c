"""Theorems for all sizes as a family with one case, so that they are certified, verified and shown like all others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from m2bridge.citation import LIGHTNING
from m2bridge.errors import InvalidCaseError
from m2bridge.families.attention.all_sizes.model import NAME, EverySize
from m2bridge.families.definition import Family

if TYPE_CHECKING:
    from m2bridge.families.question import Question


def from_key(key: str) -> EverySize:
    """The only case."""
    if key != EverySize.key:
        raise InvalidCaseError("key", f"'{key}' does not name all sizes: write {EverySize.key}")
    return EverySize()


def _questions() -> tuple[Question, ...]:
    from m2bridge.families.attention.all_sizes.questions import QUESTIONS

    return QUESTIONS


FAMILY = Family(
    name=NAME,
    title="lightning self-attention for all sizes",
    paper=LIGHTNING,
    options=(),
    build=EverySize,
    from_key=from_key,
    questions=_questions,
    orbits="rk A, rk V, dim of the intersection of column space and row space",
    prefix="attention-",
)
