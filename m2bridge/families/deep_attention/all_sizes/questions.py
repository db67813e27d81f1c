"""What can be certified about deep attention for all sizes: every statement that has a form for them, by its key."""

from __future__ import annotations

from functools import partial
from typing import Any

from m2bridge.certificate.schema import Certificate, Content
from m2bridge.engine import Engine
from m2bridge.families.deep_attention.all_sizes.cross_check import cross_check_deep_attention, stated_for_all_sizes
from m2bridge.families.deep_attention.all_sizes.model import EveryNetwork
from m2bridge.families.deep_attention.all_sizes.result import DeepAttentionAllSizes
from m2bridge.families.deep_attention.presentation.all_sizes import (
    evidence_json,
    example_text,
    outside_text,
    verdict_json,
)
from m2bridge.families.question import Question, Row, never


def _observe(model: EveryNetwork, engine: Engine | None) -> DeepAttentionAllSizes:
    return cross_check_deep_attention()


def _content(key: str, model: EveryNetwork, found: DeepAttentionAllSizes) -> Content:
    verdict = next(verdict for verdict in found.verdicts if verdict.statement == key)
    trusted = () if verdict.verdict == "UNDECIDED" else verdict.trusted
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
