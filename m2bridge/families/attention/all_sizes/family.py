"""All sizes together, as one case that is named on the command line and in certificates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from m2bridge.certificates.schema import Certificate, Content
from m2bridge.citation import LIGHTNING
from m2bridge.engine import Engine
from m2bridge.engine.script import Script
from m2bridge.errors import InvalidCaseError, MethodUnavailableError, TimeLimitError
from m2bridge.families.attention.all_sizes.decide import cross_check_all_sizes, is_stated
from m2bridge.families.attention.all_sizes.facts import base_ideals_script
from m2bridge.families.attention.all_sizes.result import AllSizes, content, counterexample_text
from m2bridge.families.attention.all_sizes.sizes import phrase
from m2bridge.families.attention.statements import REGISTRY
from m2bridge.families.definition import Family, Question, Row
from m2bridge.results.sheet import name_with_part

NAME = "attention-all-sizes"
"""Of the family, which has this one case."""


@dataclass(frozen=True, slots=True)
class EverySize:
    """Lightning self-attention for all d, d', a ≥ 1 and all t ≥ 2: not one model, so it has no parametrization."""

    family: ClassVar[str] = NAME
    key: ClassVar[str] = "all-sizes"
    title: ClassVar[str] = "lightning self-attention for all d, d', a ≥ 1 and all t ≥ 2"

    def __str__(self) -> str:
        return self.title

    def to_json(self) -> dict[str, Any]:
        """No number names it."""
        return {}


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
    found = cross_check_all_sizes(engine)
    if found.unfinished:
        raise TimeLimitError(found.unfinished)
    return found


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


def from_key(key: str) -> EverySize:
    """The only case."""
    if key != EverySize.key:
        raise InvalidCaseError("key", f"'{key}' does not name all sizes: write {EverySize.key}")
    return EverySize()


def _questions() -> tuple[Question, ...]:

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
