"""Single-layer attention for all sizes: the verdicts that follow from the base ideals, and the family with one case."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import islpy as isl

from m2bridge.citation import LIGHTNING
from m2bridge.engine import Engine
from m2bridge.errors import ContradictionError, MethodUnavailableError
from m2bridge.families.all_sizes import AllSizesCase, all_sizes_family, all_sizes_questions
from m2bridge.families.attention.all_sizes.facts import COMPUTED, Basis, Facts, base_ideals, base_ideals_script
from m2bridge.families.attention.all_sizes.fibre_theorem import Stratum, fibre_theorem
from m2bridge.families.attention.all_sizes.predictions import PREDICTIONS, Conclusion, Prediction
from m2bridge.families.attention.all_sizes.result import (
    AllSizes,
    Counterexample,
    NotApplicable,
    SizesVerdict,
    counterexample_text,
)
from m2bridge.families.attention.all_sizes.sizes import WORDS, contains, first_point, phrase, sizes
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.orbits import orbits, representative
from m2bridge.families.attention.statements import REGISTRY
from m2bridge.families.attention.tangents import closure_dimension, orbit_dimension, tangent_lower_bounds
from m2bridge.families.definition import Row
from m2bridge.limits import each, limited
from m2bridge.maps.statement import Statement
from m2bridge.results.base import Decision
from m2bridge.results.sheet import name_with_part


def is_stated(statement: Statement) -> bool:
    """Whether it has a form for all sizes."""
    return (statement.key, statement.part) in PREDICTIONS


def prediction_of(statement: Statement) -> Prediction:
    """Its form for all sizes.

    Raises
    ------
    MethodUnavailableError
        If it has none.
    """
    found = PREDICTIONS.get((statement.key, statement.part))
    if found is None:
        name = name_with_part(statement.key, statement.part)
        raise MethodUnavailableError(f"{name} is not stated for all sizes, but can be cross-checked for one case")
    return found


def decide(
    basis: Basis, stated: Sequence[tuple[Statement, Prediction]]
) -> tuple[tuple[Stratum, ...], tuple[SizesVerdict, ...], str]:
    """The fibres and verdicts that follow from the base ideals, and the limit that ended them early, if one did.

    Raises
    ------
    ContradictionError
        If the ideals are not those that the theorem about fibres needs, or its cases are not all orbits.
    """
    strata = fibre_theorem(basis.ideals)
    facts = Facts.of(strata, basis.base_locus_empty, basis.boundary_family)
    if not facts.complete:
        raise ContradictionError("the cases of the theorem about fibres are not all orbits, each once")
    counts = {"ideals": len(basis.ideals), "patterns": sum(stratum.patterns for stratum in strata)}
    verdicts, late = each(
        (" ".join(filter(None, (s.key, s.part))), partial(_verdict, s, p, facts, counts)) for s, p in stated
    )
    return strata, verdicts, late


def _verdict(statement: Statement, prediction: Prediction, facts: Facts, counts: dict[str, int]) -> SizesVerdict:
    conclusion = prediction.conclusion(facts)
    applies = sizes()
    for hypothesis in prediction.hypotheses:
        applies = applies.intersect(sizes(hypothesis.condition))
    false, unknown = conclusion.false.intersect(applies), conclusion.unknown.intersect(applies)
    holds = applies.subtract(false).subtract(unknown)
    return SizesVerdict(
        statement.key,
        statement.part,
        statement.text,
        statement.source,
        Decision.REFUTED if not false.is_empty() else Decision.CONFIRMED if unknown.is_empty() else Decision.UNDECIDED,
        tuple(words.format(**counts) for words in COMPUTED[prediction.observable]),
        WORDS.trusted[prediction.observable],
        holds,
        false,
        unknown,
        conclusion.vacuous.intersect(holds),
        tuple(_not_applicable(prediction, conclusion)),
        None if false.is_empty() else _counterexample(prediction, conclusion, false),
    )


def _not_applicable(prediction: Prediction, conclusion: Conclusion) -> Iterator[NotApplicable]:
    """For each hypothesis the sizes where it is the first to fail."""
    left = sizes()
    for hypothesis in prediction.hypotheses:
        holds = sizes(hypothesis.condition)
        out, left = left.subtract(holds), left.intersect(holds)
        false, unknown = out.intersect(conclusion.false), out.intersect(conclusion.unknown)
        yield NotApplicable(out, hypothesis.reason, out.subtract(false).subtract(unknown), false, unknown)


def _counterexample(prediction: Prediction, conclusion: Conclusion, false: isl.Set) -> Counterexample:
    d, dp, a = first_point(false)
    model = SingleLayerAttention(d, dp, a)
    if conclusion.wrong is None:
        return Counterexample(model)
    wrong = [orbit for orbit in orbits(model) if contains(conclusion.wrong, (d, dp, a, *orbit.cells))]
    orbit = max(wrong, key=lambda orbit: (orbit_dimension(orbit, model), orbit))
    numbers = {}
    if prediction.observable == "singular":
        bound, _ = tangent_lower_bounds(model)[orbit]
        numbers = {"dimension": closure_dimension(model), "tangent_dimension_at_least": bound}
    return Counterexample(model, orbit, *representative(orbit, model), numbers)


def cross_check_all_sizes(
    statements: Sequence[Statement] = REGISTRY, *, engine: Engine, timeout: float | None = None
) -> AllSizes:
    """Decide statements for all d, d', a ≥ 1 and t ≥ 2 at once, assuming none of them.

    Those that are not stated for all sizes are named. At the limit on time the verdicts so far are returned.

    Raises
    ------
    MethodUnavailableError
        If none of them is stated for all sizes.
    ContradictionError
        If the ideals are not those that the theorem about fibres needs.
    EngineError
        If Macaulay2 failed or reached a limit.

    Examples
    --------
    >>> with Macaulay2() as engine:
    ...     found = cross_check_all_sizes(engine=engine)
    >>> [(v.name, str(v.decision)) for v in found.verdicts if v.decision != "CONFIRMED"]
    [('3.4 (iii)', 'REFUTED'), ('A.4', 'REFUTED')]
    """
    known = [statement for statement in statements if is_stated(statement)]
    stated = [(statement, prediction_of(statement)) for statement in known or statements]
    others = tuple(name_with_part(s.key, s.part) for s in statements if s not in known)
    with limited(timeout) as running:
        basis = base_ideals(engine=engine)
        strata, verdicts, late = decide(basis, stated)
        return AllSizes(
            strata,
            basis,
            engine.version,
            verdicts=verdicts,
            seconds=running.seconds,
            not_stated=others,
            unfinished=late,
        )


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
    yield from _parts(data, "fails_for", "undecided_for", "holds_for", "vacuous_for")
    for out in data["not_applicable"]:
        where = phrase(out["sizes"])
        conclusion = ", ".join(_parts(out, "holds_for", "fails_for", "undecided_for")).removesuffix(f" for {where}")
        yield f"does not apply for {where} ({out['hypothesis']}), where the rest of it is {conclusion}"


NAMES = {"fails_for": "false", "undecided_for": "not decided", "holds_for": "true", "vacuous_for": "vacuous"}


def _parts(data: dict[str, Any], *names: str) -> Iterator[str]:
    for name in names:
        if (words := phrase(data[name])) != NOWHERE:
            yield f"{NAMES[name]} for {words}"


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
