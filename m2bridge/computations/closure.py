"""The ideal of the Zariski closure of the image of a polynomial map."""

from __future__ import annotations

from typing import get_args

from m2bridge.computations.closure_result import Closure, Strategy
from m2bridge.computations.completeness import prove_complete
from m2bridge.computations.elimination import elimination_values, empty_source
from m2bridge.computations.equations import image_dimension
from m2bridge.computations.jacobian_rank import Status, jacobian_findings
from m2bridge.computations.multigraded_closure import Equations, equations, graded_source
from m2bridge.computations.subject import Clock, Subject
from m2bridge.engine import Engine
from m2bridge.errors import EngineMemoryError, EngineTimeoutError, InvalidCaseError, MethodUnavailableError
from m2bridge.geometry.hilbert import HilbertSeries
from m2bridge.geometry.linear_span import LinearReduction, reduce_linearly
from m2bridge.implicitization import MultigradedMap
from m2bridge.model.attention import Coordinates, SingleLayerAttention, Weights
from m2bridge.model.field import QQ, CoefficientField
from m2bridge.model.polynomial_map import PolynomialMap
from m2bridge.model.ring import Ideal
from m2bridge.parse import Answer, parse
from m2bridge.render import Script, render

MOST_DEGREE = 1000
"""Of ``max_degree``; nobody has computed so far."""


def closure(
    case: SingleLayerAttention | PolynomialMap,
    engine: Engine | None = None,
    field: CoefficientField = QQ,
    *,
    coordinates: Coordinates | None = None,
    weights: Weights = "attention",
    strategy: Strategy = "auto",
    max_degree: int | None = None,
    timeout: float | None = None,
) -> Closure:
    """Compute the ideal of the Zariski closure of the image, by multigraded implicitization or by elimination.

    Linear relations among the coordinates are split off first, exactly; the rest is found in linearly independent
    coordinates. In positive characteristic the ideal is that of the image of the map modulo p.

    Parameters
    ----------
    case : SingleLayerAttention or PolynomialMap
    engine : Engine, optional
        Not needed for ``multigraded``.
    field : CoefficientField
    coordinates, weights
        See :meth:`m2bridge.model.attention.SingleLayerAttention.parametrization`; only for attention models.
    strategy : {"auto", "multigraded", "elimination", "ungraded-elimination"}
        ``multigraded`` gives all minimal generators up to a degree, over QQ, without an engine. ``auto`` does the same
        and then proves by Macaulay2 that there are no others, if that is possible within the limits (a minute when
        there are none) and ``max_degree`` is not given; where the map has no positive grading, its parameters satisfy
        relations, or the field is not QQ, it is ``elimination``. ``elimination`` gives the coordinates the degrees of
        their images where that makes the map homogeneous, so that Macaulay2 uses the Hilbert function;
        ``ungraded-elimination`` never does.
    max_degree : int, optional
        For ``multigraded`` and ``auto``: the last degree. When left out, the largest degree ≤ 4 in which there are at
        most 10^5 monomials in linearly independent coordinates.
    timeout : float, optional
        Seconds for the whole computation.

    Returns
    -------
    Closure
        With ``unfinished`` set, and what was found until then, if a limit was reached.

    Raises
    ------
    InvalidCaseError
        If an option is wrong, the map has no reduction modulo p, or its relations have no common zero.
    EngineError
        If Macaulay2 failed in another way than by reaching a limit.
    """
    clock = Clock(timeout)
    subject = Subject.of(case, coordinates, weights)
    _check(strategy, field, max_degree)
    subject.check_field(field)
    source = _graded(subject, strategy, field, max_degree)
    if source is not None:
        return _multigraded(source, subject, engine, strategy, max_degree, clock)
    chosen = resolve(strategy)
    if engine is None:
        raise InvalidCaseError("strategy", f"the strategy '{chosen}' needs an engine")
    reduction = reduce_linearly(subject.parametrization, field)
    unfinished = ""
    try:
        transcript = engine.run(closure_script(subject, field, chosen, reduction), clock.remaining)
        records, version = transcript.records, transcript.version
    except (EngineTimeoutError, EngineMemoryError) as limit:
        records, version, unfinished = limit.records, engine.version, str(limit)
    answer = parse(records)
    if "generators" in answer and any(g.is_ground for g in answer.ideal("generators").generators):
        raise empty_source()
    return read_closure(answer, subject, reduction, field, chosen, version, clock.seconds, unfinished)


def _check(strategy: Strategy, field: CoefficientField, max_degree: int | None) -> None:
    resolve(strategy)
    if strategy == "multigraded" and field != QQ:
        raise InvalidCaseError("field", f"multigraded implicitization is over QQ, not {field}; use elimination")
    if max_degree is not None and (not isinstance(max_degree, int) or isinstance(max_degree, bool)):
        raise InvalidCaseError("max_degree", f"must be an integer, not {max_degree!r}")
    if max_degree is not None and max_degree < 1:
        raise InvalidCaseError("max_degree", f"must be at least 1, not {max(max_degree, -MOST_DEGREE)}")
    if max_degree is not None and max_degree > MOST_DEGREE:
        raise InvalidCaseError("max_degree", f"must be at most {MOST_DEGREE}")
    if max_degree is not None and (strategy not in ("auto", "multigraded") or field != QQ):
        raise InvalidCaseError("max_degree", "only the strategy multigraded, over QQ, goes up to a degree")


def _graded(
    subject: Subject, strategy: Strategy, field: CoefficientField, max_degree: int | None
) -> MultigradedMap | None:
    """The graded map, if the multigraded way is to be taken; for ``auto`` where it can lead to all generators."""
    if strategy == "multigraded" or max_degree is not None:
        return graded_source(subject)
    if strategy != "auto" or field != QQ:
        return None
    try:
        source = graded_source(subject)
    except MethodUnavailableError:  # the documented fallback of auto: relations, or no grading
        return None
    return source if source.grading.is_standard else None


def _multigraded(
    source: MultigradedMap,
    subject: Subject,
    engine: Engine | None,
    strategy: Strategy,
    max_degree: int | None,
    clock: Clock,
) -> Closure:
    proof_wanted = strategy == "auto" and max_degree is None
    if proof_wanted and engine is None:
        raise InvalidCaseError("strategy", "the strategy 'auto' needs an engine, unless max_degree is given")
    known = equations(source, max_degree, clock, share=0.5 if proof_wanted else 1.0)
    if proof_wanted and engine is not None:
        known = prove_complete(known, subject, engine, clock)
    dimension, status = _multigraded_dimension(known, subject)
    return Closure(
        subject,
        QQ,
        "multigraded",
        known.found,
        dimension,
        status,
        None if known.series is None else known.series.degree,
        known.series,
        known.engine_version,
        clock.seconds,
        known.unfinished,
        known.remark,
    )


def _multigraded_dimension(known: Equations, subject: Subject) -> tuple[int | None, Status]:
    if known.series is not None:
        return known.series.dimension, "proved"
    return image_dimension(subject.model or subject.parametrization, known.found, subject.coordinates)


def resolve(strategy: Strategy) -> Strategy:
    """The strategy of elimination that ``auto`` stands for, and all others unchanged."""
    if strategy not in get_args(Strategy):
        raise InvalidCaseError("strategy", f"unknown strategy '{strategy}': use {', '.join(get_args(Strategy))}")
    return "elimination" if strategy == "auto" else strategy


def closure_script(
    subject: Subject, field: CoefficientField, strategy: Strategy = "auto", reduction: LinearReduction | None = None
) -> Script:
    """The Macaulay2 program for the ideal in linearly independent coordinates."""
    independent = (reduction or reduce_linearly(subject.parametrization, field)).reduced
    values = elimination_values(independent, field, graded=resolve(strategy) == "elimination")
    return render("closure", ("wire", "invariants"), values | {"title": subject.title})


def read_closure(
    answer: Answer,
    subject: Subject,
    reduction: LinearReduction,
    field: CoefficientField,
    strategy: Strategy,
    version: str,
    seconds: float,
    unfinished: str = "",
) -> Closure:
    """The closure from what Macaulay2 said, possibly only the first part of it."""
    dimension, status = _dimension(answer, subject, field)
    series = None
    if "hilbert_numerator" in answer:
        series = HilbertSeries.from_numerator(answer.integer_pairs("hilbert_numerator"), len(reduction.basis))
    return Closure(
        subject,
        field,
        strategy,
        _lift(answer.ideal("generators"), subject, reduction, field) if "generators" in answer else None,
        dimension,
        status,
        answer.integer("degree") if "degree" in answer else None,
        series,
        version,
        seconds,
        unfinished,
        "all generators: elimination by Macaulay2" if "generators" in answer else "",
    )


def _dimension(answer: Answer, subject: Subject, field: CoefficientField) -> tuple[int | None, Status]:
    """Macaulay2's dimension, or what the Jacobian rank says when Macaulay2 did not come so far."""
    if "dimension" in answer:
        return answer.integer("dimension"), "proved"
    findings = jacobian_findings(subject.model or subject.parametrization, field, subject.coordinates)
    best = max(findings, key=lambda finding: (finding.status == "proved", finding.value or -1))
    return best.value, best.status


def _lift(found: Ideal, subject: Subject, reduction: LinearReduction, field: CoefficientField) -> Ideal:
    """Carry the ideal from the independent coordinates to all of them, and add the linear relations."""
    target = subject.parametrization.target(field)
    ring = target.sympy_ring
    width = len(target.variables)

    def spread(monomial: tuple[int, ...]) -> tuple[int, ...]:
        exponents = [0] * width
        for index, exponent in zip(reduction.basis, monomial, strict=True):
            exponents[index] = exponent
        return tuple(exponents)

    if len(reduction.basis) < width:
        carried = tuple(ring.from_dict({spread(monomial): c for monomial, c in g.items()}) for g in found.generators)
    else:
        carried = tuple(ring.from_dict(dict(g)) for g in found.generators)
    linear = reduction.linear_forms(subject.parametrization, field)
    return Ideal(target, linear + tuple(sorted(carried, key=lambda g: sum(g.LM))))
