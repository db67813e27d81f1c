"""The ideal of the Zariski closure of the image of a polynomial map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

from m2bridge.computations.finding import Status, jacobian_findings
from m2bridge.computations.subject import Clock, Subject, result_json
from m2bridge.convert import macaulay2
from m2bridge.convert.names import all_to_macaulay2
from m2bridge.engine import Engine
from m2bridge.errors import EngineMemoryError, EngineTimeoutError, InvalidCaseError
from m2bridge.geometry.hilbert import HilbertSeries
from m2bridge.geometry.linear_span import LinearReduction, reduce_linearly
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
    shortened,
)
from m2bridge.parse import Answer, parse
from m2bridge.render import Script, render

Strategy = Literal["auto", "elimination", "ungraded-elimination"]


@dataclass(frozen=True, slots=True)
class Closure:
    """The Zariski closure of the image of a polynomial map.

    Parameters
    ----------
    subject : Subject
    field : CoefficientField
    strategy : str
    ideal : Ideal or None
        The vanishing ideal, with minimal generators when it is homogeneous. ``None`` if it was not found.
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
    """

    subject: Subject
    field: CoefficientField
    strategy: Strategy
    ideal: Ideal | None
    dimension: int | None
    dimension_status: Status
    degree: int | None
    hilbert_series: HilbertSeries | None
    engine_version: str
    seconds: float
    unfinished: str = ""

    @property
    def homogeneous(self) -> bool:
        """Whether the variety is a cone: the ideal is homogeneous in the standard grading."""
        return self.ideal is not None and all(is_homogeneous(g) for g in self.ideal.generators)

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
        """``proved`` when these are all generators; ``no`` when the computation did not finish."""
        return "no" if self.ideal is None else "proved"

    def to_json(self) -> dict[str, Any]:
        """A dictionary for ``json.dumps``; polynomials are exact strings in the coordinates' names."""
        series = self.hilbert_series
        return result_json(self.subject.case, self.field, self.engine_version, self.seconds) | {
            "coordinates": list(self.subject.parametrization.coordinates),
            "dimension": self.dimension,
            "dimension_status": self.dimension_status,
            "projective_dimension": self.projective_dimension,
            "codimension": self.codimension,
            "degree": self.degree,
            "generators": None if self.ideal is None else [polynomial_text(g) for g in self.ideal.generators],
            "generator_degrees": None
            if self.ideal is None
            else {str(degree): count for degree, count in self.ideal.generator_degrees.items()},
            "complete": self.complete,
            "homogeneous": self.homogeneous,
            "hilbert_series": None
            if series is None
            else {"numerator": list(series.numerator), "denominator_exponent": series.dimension},
            "hilbert_polynomial": None if series is None else str(series.polynomial),
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
                    ("computed by", f"Macaulay2 {self.engine_version}, {self.strategy}, {duration(self.seconds)}"),
                    ("not finished", self.unfinished or None),
                ]
            ),
        ]
        if self.ideal is not None:
            shown = self.ideal.generators[:SHOWN]
            lines += [f"    {shortened(generator)}" for generator in shown]
            if len(self.ideal.generators) > SHOWN:
                lines.append(f"    … and {len(self.ideal.generators) - SHOWN} more (--json shows all of them)")
        return "\n".join(lines)

    def _generator_summary(self) -> str | None:
        return None if self.ideal is None else degree_summary(self.ideal.generator_degrees)

    def to_latex(self) -> str:
        """The ideal and its invariants, for a paper."""
        if self.ideal is None:
            return rf"\text{{not finished: {self.unfinished}}}"
        return (
            rf"I = {ideal_latex(self.ideal.generators)}, \quad \dim = {self.dimension},"
            rf"\quad \deg = {self.degree}"
        )

    def to_macaulay2(self) -> str:
        """A Macaulay2 program that defines the ideal."""
        generators = () if self.ideal is None else self.ideal.generators
        return ideal_macaulay2(self.field, self.subject.parametrization.coordinates, generators)

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.to_latex()}$"


def closure(
    case: SingleLayerAttention | PolynomialMap,
    engine: Engine,
    field: CoefficientField = QQ,
    *,
    coordinates: Coordinates | None = None,
    weights: Weights = "attention",
    strategy: Strategy = "auto",
    timeout: float | None = None,
) -> Closure:
    """Compute the ideal of the Zariski closure of the image, by elimination in Macaulay2.

    Linear relations among the coordinates are split off first, exactly; the rest is the kernel of the ring map in
    linearly independent coordinates. In positive characteristic the ideal is that of the image of the map modulo p.

    Parameters
    ----------
    case : SingleLayerAttention or PolynomialMap
    engine : Engine
    field : CoefficientField
    coordinates, weights
        See :meth:`m2bridge.model.attention.SingleLayerAttention.parametrization`; only for attention models.
    strategy : {"auto", "elimination", "ungraded-elimination"}
        ``elimination`` gives the coordinates the degrees of their images where that makes the map homogeneous, so that
        Macaulay2 uses the Hilbert function; ``ungraded-elimination`` never does.
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
    chosen = resolve(strategy)
    reduction = reduce_linearly(subject.parametrization)
    unfinished = ""
    try:
        transcript = engine.run(closure_script(subject, field, chosen, reduction), clock.remaining)
        records, version = transcript.records, transcript.version
    except (EngineTimeoutError, EngineMemoryError) as limit:
        records, version, unfinished = limit.records, engine.version, str(limit)
    return read_closure(parse(records), subject, reduction, field, chosen, version, clock.seconds, unfinished)


def resolve(strategy: Strategy) -> Strategy:
    """The strategy that ``auto`` stands for."""
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


def elimination_values(independent: PolynomialMap, field: CoefficientField, graded: bool = True) -> dict[str, str]:
    """What the templates need to compute the ideal of the closure by elimination."""
    names = all_to_macaulay2(independent.source.variables + independent.coordinates)
    parameters, targets = names[: len(independent.source.variables)], names[len(independent.source.variables) :]
    degrees = independent.image_degrees if graded else None
    relations = [macaulay2.polynomial(relation, parameters) for relation in independent.relations]
    return {
        "field": macaulay2.field(field),
        "parameters": ", ".join(parameters),
        "relations": macaulay2.sequence(relations) if relations else "",
        "images": macaulay2.sequence(macaulay2.polynomial(image, parameters) for image in independent.images),
        "coordinates": ", ".join(targets),
        "degrees": "{" + ", ".join(map(str, degrees)) + "}" if degrees else "",
    }


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
