"""All that follows from the base ideals: verdicts for all sizes, without an engine."""

from collections.abc import Iterator, Sequence
from functools import partial

import islpy as isl

from m2bridge.engine import Engine
from m2bridge.errors import ContradictionError, MethodUnavailableError
from m2bridge.families.attention.all_sizes.facts import EVIDENCE, Basis, Facts, base_ideals
from m2bridge.families.attention.all_sizes.fibre_theorem import Stratum, fibre_theorem
from m2bridge.families.attention.all_sizes.predictions import PREDICTIONS, Conclusion, Prediction, conclusion
from m2bridge.families.attention.all_sizes.result import AllSizes, Counterexample, NotApplicable, SizesVerdict
from m2bridge.families.attention.all_sizes.sizes import contains, first_point, sizes
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.orbits import orbits, representative
from m2bridge.families.attention.statements import REGISTRY
from m2bridge.families.attention.tangents import closure_dimension, orbit_dimension, tangent_lower_bounds
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
    seen = Facts.of(strata, basis.base_locus_empty, basis.boundary_family)
    if not seen.complete:
        raise ContradictionError("the cases of the theorem about fibres are not all orbits, each once")
    counts = {"ideals": len(basis.ideals), "patterns": sum(stratum.patterns for stratum in strata)}
    verdicts, late = each(
        (" ".join(filter(None, (s.key, s.part))), partial(_verdict, s, p, seen, counts)) for s, p in stated
    )
    return strata, verdicts, late


def _verdict(statement: Statement, prediction: Prediction, seen: Facts, counts: dict[str, int]) -> SizesVerdict:
    found = conclusion(prediction, seen)
    applies = sizes()
    for hypothesis in prediction.hypotheses:
        applies = applies.intersect(sizes(hypothesis.condition))
    false, unknown = found.false.intersect(applies), found.unknown.intersect(applies)
    holds = applies.subtract(false).subtract(unknown)
    evidence = EVIDENCE[prediction.observable]
    return SizesVerdict(
        statement.key,
        statement.part,
        statement.text,
        statement.source,
        Decision.REFUTED if not false.is_empty() else Decision.CONFIRMED if unknown.is_empty() else Decision.UNDECIDED,
        tuple(computed.format(**counts) for computed in evidence.computed),
        evidence.trusted,
        holds,
        false,
        unknown,
        found.vacuous.intersect(holds),
        tuple(_not_applicable(prediction, found)),
        None if false.is_empty() else _counterexample(prediction, found, false),
    )


def _not_applicable(prediction: Prediction, found: Conclusion) -> Iterator[NotApplicable]:
    """For each hypothesis the sizes where it is the first to fail."""
    left = sizes()
    for hypothesis in prediction.hypotheses:
        holds = sizes(hypothesis.condition)
        out, left = left.subtract(holds), left.intersect(holds)
        false, unknown = out.intersect(found.false), out.intersect(found.unknown)
        yield NotApplicable(out, hypothesis.reason, out.subtract(false).subtract(unknown), false, unknown)


def _counterexample(prediction: Prediction, found: Conclusion, false: isl.Set) -> Counterexample:
    d, dp, a = first_point(false)
    model = SingleLayerAttention(d, dp, a)
    if found.wrong is None:
        return Counterexample(model)
    wrong = [orbit for orbit in orbits(model) if contains(found.wrong, (d, dp, a, *orbit.cells))]
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
