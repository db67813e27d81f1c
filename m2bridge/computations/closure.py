"""The ideal of the Zariski closure of the image of a polynomial map."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from itertools import islice
from typing import Any, Literal, get_args

from m2bridge.computations.elimination import elimination_values
from m2bridge.computations.equations import image_dimension
from m2bridge.computations.finding import Status, jacobian_findings
from m2bridge.computations.multigraded_closure import Equations, equations, graded_source, prove_complete
from m2bridge.computations.subject import Clock, Subject, result_json
from m2bridge.engine import Engine
from m2bridge.errors import EngineMemoryError, EngineTimeoutError, InvalidCaseError, MethodUnavailableError
from m2bridge.geometry.hilbert import HilbertSeries
from m2bridge.geometry.linear_span import LinearReduction, reduce_linearly
from m2bridge.implicitization import Implicitization, MultigradedMap
from m2bridge.model.attention import Coordinates, SingleLayerAttention, Weights
from m2bridge.model.field import QQ, CoefficientField
from m2bridge.model.polynomial_map import PolynomialMap
from m2bridge.model.ring import Ideal, is_homogeneous
from m2bridge.notation import (
    SHOWN,
    degree_summary,
    duration,
    expression_text,
    facts,
    ideal_latex,
    ideal_macaulay2,
    polynomial_text,
    shortened_text,
    sparse_text,
)
from m2bridge.parse import Answer, parse
from m2bridge.render import Script, render

Strategy = Literal["auto", "multigraded", "elimination", "ungraded-elimination"]


@dataclass(frozen=True, slots=True)
class Closure:
    """The Zariski closure of the image of a polynomial map.

    Parameters
    ----------
    subject : Subject
    field : CoefficientField
    strategy : str
    equations : Ideal, Implicitization or None
        The vanishing ideal, with minimal generators when it is homogeneous; or all its minimal generators up to some
        degree, symmetries not spelled out. ``None`` if nothing was found.
    dimension : int or None
        Affine dimension (Krull dimension of the coordinate ring); where the ideal was not found, what the Jacobian rank
        says.
    dimension_status : str
        ``proved`` or ``lower bound``.
    degree : int or None
        Degree of the projective variety, or of the projective closure of an affine one.
    hilbert_series : HilbertSeries or None
        Of the coordinate ring when the ideal is homogeneous, else of the ring of its leading forms.
    engine_version : str
    seconds : float
    unfinished : str
        Empty, or the limit that was reached; then the fields that were not found are ``None``.
    completeness : str
        How it is known that these are all generators, or up to which degree they are.
    """

    subject: Subject
    field: CoefficientField
    strategy: Strategy
    equations: Ideal | Implicitization | None
    dimension: int | None
    dimension_status: Status
    degree: int | None
    hilbert_series: HilbertSeries | None
    engine_version: str
    seconds: float
    unfinished: str = ""
    completeness: str = ""
    _ideals: list[Ideal] = dataclass_field(default_factory=list, init=False, repr=False, compare=False)

    @property
    def ideal(self) -> Ideal | None:
        """The ideal that the generators found generate; all of the vanishing ideal when ``complete`` is ``proved``.

        SymPy polynomials are made when it is asked for the first time: with tens of thousands of generators they take
        more time and memory than the computation.
        """
        if isinstance(self.equations, Implicitization):
            if not self._ideals:
                self._ideals.append(self.equations.ideal())
            return self._ideals[0]
        return self.equations

    @property
    def homogeneous(self) -> bool:
        """Whether the variety is a cone: the ideal is homogeneous in the standard grading."""
        if isinstance(self.equations, Implicitization):
            return self.equations.source.grading.is_standard
        return self.equations is not None and all(is_homogeneous(g) for g in self.equations.generators)

    @property
    def generator_degrees(self) -> dict[int, int] | None:
        """How many generators were found of each total degree."""
        if not isinstance(self.equations, Implicitization):
            return None if self.equations is None else self.equations.generator_degrees
        if self.homogeneous:
            return dict(sorted(self.equations.generator_counts.items()))
        return self.equations.ideal().generator_degrees

    @property
    def hilbert_function(self) -> tuple[int, ...] | None:
        """H(0), …, H(N), where they were computed without the whole ideal (in the degrees of the grading)."""
        return self.equations.hilbert_function if isinstance(self.equations, Implicitization) else None

    def generator_texts(self) -> Iterator[str]:
        """The generators as exact strings, one after the other."""
        if isinstance(self.equations, Implicitization):
            names = self.subject.parametrization.coordinates
            return (sparse_text(terms, names) for terms in self.equations.sparse_generators())
        return (polynomial_text(g) for g in (self.equations.generators if self.equations else ()))

    @property
    def projective_dimension(self) -> int | None:
        """Dimension of the projective variety, for a cone."""
        return self.dimension - 1 if self.dimension is not None and self.homogeneous else None

    @property
    def codimension(self) -> int | None:
        """Codimension in the space of all coordinates."""
        return None if self.dimension is None else len(self.subject.parametrization.coordinates) - self.dimension

    @property
    def complete(self) -> str:
        """``proved`` when these are all generators, ``up to degree N``, or ``no`` when none were found."""
        if isinstance(self.equations, Implicitization) and self.hilbert_series is None:
            return f"up to degree {self.equations.max_degree}"
        return "no" if self.equations is None else "proved"

    def to_json(self) -> dict[str, Any]:
        """A dictionary for ``json.dumps``; polynomials are exact strings in the coordinates' names."""
        series = self.hilbert_series
        degrees = self.generator_degrees
        return result_json(self.subject.case, self.field, self.engine_version or None, self.seconds) | {
            "coordinates": list(self.subject.parametrization.coordinates),
            "dimension": self.dimension,
            "dimension_status": self.dimension_status,
            "projective_dimension": self.projective_dimension,
            "codimension": self.codimension,
            "degree": self.degree,
            "generators": None if self.equations is None else list(self.generator_texts()),
            "generator_degrees": None if degrees is None else {str(d): count for d, count in degrees.items()},
            "complete": self.complete,
            "completeness": self.completeness or None,
            "homogeneous": self.homogeneous,
            "hilbert_series": None
            if series is None
            else {"numerator": list(series.numerator), "denominator_exponent": series.dimension},
            "hilbert_polynomial": None if series is None else str(series.polynomial),
            "hilbert_function": None if self.hilbert_function is None else list(self.hilbert_function),
            "strategy": self.strategy,
            "unfinished": self.unfinished or None,
        }

    def to_text(self) -> str:
        """For a person at a terminal."""
        bound = "at least " if self.dimension_status == "lower bound" else ""
        dimension = None if self.dimension is None else f"{bound}{self.dimension} affine"
        if self.projective_dimension is not None:
            dimension = f"{dimension}, {self.projective_dimension} projective"
        series = self.hilbert_series
        lines = [
            f"Zariski closure of the {self.subject.title}, over {self.field}",
            facts(
                [
                    ("ambient space", self.subject.ambient),
                    ("dimension", dimension),
                    ("codimension", self.codimension),
                    ("degree", self.degree),
                    ("minimal generators" if self.homogeneous else "generators", self._generator_summary()),
                    ("Hilbert series", None if series is None else expression_text(series.expression)),
                    ("Hilbert polynomial", None if series is None else expression_text(series.polynomial)),
                    ("Hilbert function", self._hilbert_function_text()),
                    ("complete", self.completeness or None),
                    ("computed by", f"{self._computed_by()}, {self.strategy}, {duration(self.seconds)}"),
                    ("not finished", self.unfinished or None),
                ]
            ),
        ]
        texts = self.generator_texts()
        lines += [f"    {shortened_text(text)}" for text in islice(texts, SHOWN)]
        hidden = sum((self.generator_degrees or {}).values()) - SHOWN
        if hidden > 0:
            lines.append(f"    … and {hidden} more (--json shows all of them)")
        return "\n".join(lines)

    def _generator_summary(self) -> str | None:
        return None if self.generator_degrees is None else degree_summary(self.generator_degrees)

    def _hilbert_function_text(self) -> str | None:
        return None if self.hilbert_function is None else f"{', '.join(map(str, self.hilbert_function))}, …"

    def _computed_by(self) -> str:
        linear_algebra = "exact linear algebra (FLINT)" if isinstance(self.equations, Implicitization) else ""
        macaulay2 = f"Macaulay2 {self.engine_version}" if self.engine_version else ""
        return " and ".join(filter(None, (linear_algebra, macaulay2)))

    def to_latex(self) -> str:
        """The ideal and its invariants, for a paper."""
        if self.ideal is None:
            return rf"\text{{not finished: {self.unfinished}}}"
        bound = self.complete.removeprefix("up to degree ")
        ideal = "I" if bound == "proved" else rf"\langle I_{{\le {bound}}} \rangle"
        relation = "=" if self.dimension_status == "proved" else r"\ge"
        parts = [
            rf"{ideal} = {ideal_latex(self.ideal.generators)}, \quad \dim {relation} {self.dimension}",
            rf",\quad \deg = {self.degree}" if self.degree is not None else "",
        ]
        return "".join(parts)

    def to_macaulay2(self) -> str:
        """A Macaulay2 program that defines the ideal that the generators found generate."""
        generators = () if self.ideal is None else self.ideal.generators
        comment = f"-- {self.completeness}\n" if self.completeness else ""
        return comment + ideal_macaulay2(self.field, self.subject.parametrization.coordinates, generators)

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.to_latex()}$"


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
        most 10^5 monomials.
    timeout : float, optional
        Seconds for the whole computation.

    Returns
    -------
    Closure
        With ``unfinished`` set, and what was found until then, if a limit was reached.

    Raises
    ------
    EngineError
        If Macaulay2 failed in another way than by reaching a limit.
    """
    clock = Clock(timeout)
    subject = Subject.of(case, coordinates, weights)
    _check(strategy, field, max_degree)
    source = _graded(subject, strategy, field, max_degree)
    if source is not None:
        return _multigraded(source, subject, engine, strategy, max_degree, clock)
    chosen = resolve(strategy)
    if engine is None:
        raise InvalidCaseError("strategy", f"the strategy '{chosen}' needs an engine")
    reduction = reduce_linearly(subject.parametrization)
    unfinished = ""
    try:
        transcript = engine.run(closure_script(subject, field, chosen, reduction), clock.remaining)
        records, version = transcript.records, transcript.version
    except (EngineTimeoutError, EngineMemoryError) as limit:
        records, version, unfinished = limit.records, engine.version, str(limit)
    return read_closure(parse(records), subject, reduction, field, chosen, version, clock.seconds, unfinished)


def _check(strategy: Strategy, field: CoefficientField, max_degree: int | None) -> None:
    resolve(strategy)
    if strategy == "multigraded" and field != QQ:
        raise InvalidCaseError("field", f"multigraded implicitization is over QQ, not {field}; use elimination")
    if max_degree is not None and max_degree < 1:
        raise InvalidCaseError("max_degree", f"must be at least 1, not {max_degree}")
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
    independent = (reduction or reduce_linearly(subject.parametrization)).reduced
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
