"""What can be certified for all sizes at once: every statement, by its key."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from m2bridge.certificate.schema import Certificate, Content
from m2bridge.engine import Engine
from m2bridge.errors import MethodUnavailableError
from m2bridge.families.attention.all_sizes.base_ideals import base_ideals_script
from m2bridge.families.attention.all_sizes.certificate import content, counterexample_text
from m2bridge.families.attention.all_sizes.cross_check import cross_check_all_sizes
from m2bridge.families.attention.all_sizes.decide import is_stated
from m2bridge.families.attention.all_sizes.model import EverySize
from m2bridge.families.attention.all_sizes.result import AllSizes
from m2bridge.families.attention.all_sizes.wording import phrase
from m2bridge.families.attention.statements import REGISTRY
from m2bridge.families.question import Question, Row
from m2bridge.layout import name_with_part
from m2bridge.render import Script

STATED = tuple(filter(is_stated, REGISTRY))
"""What can be certified."""

NOWHERE = "no size"
"""The phrase for the empty set."""


def observe_all_sizes(model: EverySize, engine: Engine | None) -> AllSizes:
    """All statements for all sizes.

    Raises
    ------
    EngineError
        If Macaulay2 failed or reached a limit.
    """
    if engine is None:
        raise MethodUnavailableError("the ideals behind the theorems for all sizes need Macaulay2")
    return cross_check_all_sizes(engine)


def _content(key: str, model: EverySize, found: AllSizes) -> Content:
    return content(key, found)


def _script(model: EverySize) -> Script:
    return base_ideals_script()


def _names(key: str) -> tuple[str, ...]:
    return tuple(name_with_part(key, statement.part) for statement in STATED if statement.key == key)


def rows(key: str, certificate: Certificate) -> list[Row]:
    """One row for each verdict, with its sets of sizes in words; ValueError if it does not follow from them."""
    return [_row(key, data) for data in certificate.answer["verdicts"]]


def _row(key: str, data: dict[str, Any]) -> Row:
    fails, undecided = phrase(data["fails_for"]), phrase(data["undecided_for"])
    follows = "REFUTED" if fails != NOWHERE else "UNDECIDED" if undecided != NOWHERE else "CONFIRMED"
    if follows != data["verdict"]:
        raise ValueError(f"the verdict {data['verdict']} does not follow from the sets of sizes")
    found = data["counterexample"]
    witness = "" if found is None else counterexample_text(found)
    return Row(name_with_part(key, data["part"]), data["text"], follows, "; ".join(_said(data)), witness)


def _said(data: dict[str, Any]) -> Iterator[str]:
    names = {"fails_for": "false", "undecided_for": "not decided", "holds_for": "true", "vacuous_for": "vacuous"}
    yield from _parts(data, names)
    for out in data["not_applicable"]:
        where, names = phrase(out["sizes"]), {"holds_for": "true", "fails_for": "false", "undecided_for": "not decided"}
        conclusion = ", ".join(_parts(out, names)).removesuffix(f" for {where}")
        yield f"does not apply for {where} ({out['hypothesis']}), where the rest of it is {conclusion}"


def _parts(data: dict[str, Any], names: dict[str, str]) -> Iterator[str]:
    for field, name in names.items():
        if (some := phrase(data[field])) != NOWHERE:
            yield f"{name} for {some}"


QUESTIONS = tuple(
    Question(
        key,
        observation="all-sizes",
        observe=observe_all_sizes,
        content=partial(_content, key),
        script=_script,
        rows=partial(rows, key),
        names=partial(_names, key),
    )
    for key in dict.fromkeys(statement.key for statement in STATED)
)
