"""All networks together, as one case that is named on the command line and in certificates."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from m2bridge.certificates.schema import Certificate, Content
from m2bridge.engine import Engine
from m2bridge.errors import InvalidCaseError, TimeLimitError
from m2bridge.families.deep_attention.all_sizes.decide import cross_check_deep_attention, stated_for_all_sizes
from m2bridge.families.deep_attention.all_sizes.result import (
    DeepAttentionAllSizes,
    evidence_json,
    example_text,
    outside_text,
    verdict_json,
)
from m2bridge.families.definition import Family, Question, Row, never
from m2bridge.results.base import Decision

NAME = "deep-attention-all-sizes"
"""Of the family, which has this one case."""


@dataclass(frozen=True, slots=True)
class EveryNetwork:
    """Deep attention with one head and without skip connections, of all sizes: not one model.

    Examples
    --------
    >>> EveryNetwork().key
    'all-sizes'
    """

    family: ClassVar[str] = NAME
    key: ClassVar[str] = "all-sizes"
    title: ClassVar[str] = "deep attention for all widths and ranks, any number of layers, and all t ≥ 1"

    def __str__(self) -> str:
        return self.title

    def to_json(self) -> dict[str, Any]:
        """No number names it."""
        return {}


def _observe(model: EveryNetwork, engine: Engine | None) -> DeepAttentionAllSizes:
    found = cross_check_deep_attention()
    if found.unfinished:
        raise TimeLimitError(found.unfinished)
    return found


def _content(key: str, model: EveryNetwork, found: DeepAttentionAllSizes) -> Content:
    verdict = next(verdict for verdict in found.verdicts if verdict.statement == key)
    trusted = () if verdict.decision is Decision.UNDECIDED else verdict.trusted
    return Content({"verdicts": [verdict_json(verdict)]}, evidence_json(found), trusted)


def rows(key: str, certificate: Certificate) -> list[Row]:
    """One row; ValueError if the verdict does not follow from what is said about it."""
    return [_row(key, data) for data in certificate.answer["verdicts"]]


def _row(key: str, data: dict[str, Any]) -> Row:
    example = data["counterexample"]
    if (data["verdict"] == "REFUTED") != (example is not None):
        raise ValueError(f"the verdict {data['verdict']} does not follow from the counterexample")
    reason = "true for all networks to which it applies" if data["verdict"] == "CONFIRMED" else ""
    said = "; ".join(filter(None, [reason, *map(outside_text, data["outside"])]))
    return Row(key, data["text"], data["verdict"], said, "" if example is None else example_text(example))


def _question(key: str) -> Question:
    return Question(
        key,
        observation="all-sizes",
        observe=_observe,
        content=partial(_content, key),
        script=lambda model: None,
        rows=partial(rows, key),
        names=lambda: (key,),
        needs_engine=never,
    )


QUESTIONS = tuple(_question(statement.key) for statement in stated_for_all_sizes())


def from_key(key: str) -> EveryNetwork:
    """The only case."""
    if key != EveryNetwork.key:
        raise InvalidCaseError("key", f"'{key}' does not name all sizes: write {EveryNetwork.key}")
    return EveryNetwork()


def _questions() -> tuple[Question, ...]:

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
