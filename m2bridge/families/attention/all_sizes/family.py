"""Single-layer attention for all sizes, as a family with one case."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from m2bridge.citation import LIGHTNING
from m2bridge.engine import Engine
from m2bridge.errors import MethodUnavailableError
from m2bridge.families.all_sizes import AllSizesCase, all_sizes_family, all_sizes_questions
from m2bridge.families.attention.all_sizes.decide import cross_check_all_sizes, is_stated
from m2bridge.families.attention.all_sizes.facts import base_ideals_script
from m2bridge.families.attention.all_sizes.result import AllSizes, counterexample_text
from m2bridge.families.attention.all_sizes.sizes import phrase
from m2bridge.families.attention.statements import REGISTRY
from m2bridge.families.definition import Row
from m2bridge.results.sheet import name_with_part

NOWHERE = "no size"
"""The phrase for the empty set."""


@dataclass(frozen=True, slots=True)
class EverySize(AllSizesCase):
    """Lightning self-attention for all d, d', a ≥ 1 and all t ≥ 2."""

    family: ClassVar[str] = "attention-all-sizes"
    title: ClassVar[str] = "lightning self-attention for all d, d', a ≥ 1 and all t ≥ 2"


def _observe(engine: Engine | None) -> AllSizes:
    if engine is None:
        raise MethodUnavailableError("the ideals behind the theorems for all sizes need Macaulay2")
    return cross_check_all_sizes(engine=engine)


def _row(key: str, data: dict[str, Any]) -> Row:
    """One verdict, with its sets of sizes in words; ValueError if it does not follow from them."""
    fails, undecided = phrase(data["fails_for"]), phrase(data["undecided_for"])
    follows = "REFUTED" if fails != NOWHERE else "UNDECIDED" if undecided != NOWHERE else "CONFIRMED"
    if follows != data["verdict"]:
        raise ValueError(f"the verdict {data['verdict']} does not follow from the sets of sizes")
    found = data["counterexample"]
    witness = "" if found is None else counterexample_text(found)
    return Row(name_with_part(key, data["part"]), data["text"], follows, "; ".join(_reasons(data)), witness)


def _reasons(data: dict[str, Any]) -> Iterator[str]:
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


FAMILY = all_sizes_family(
    EverySize,
    "lightning self-attention for all sizes",
    all_sizes_questions(
        ((statement.key, statement.part) for statement in REGISTRY if is_stated(statement)),
        observe=_observe,
        row=_row,
        script=lambda case: base_ideals_script(),
    ),
    paper=LIGHTNING,
    orbits="rk A, rk V, dim of the intersection of column space and row space",
    prefix="attention-",
)
