"""The content of a certificate of a Zariski closure, as a function of its ideal and invariants."""

from __future__ import annotations

from typing import Any

from m2bridge.algebra.field import QQ
from m2bridge.algebra.hilbert_series import HilbertSeries
from m2bridge.algebra.jacobian import tangent_dimension
from m2bridge.algebra.linear_span import reduce_linearly
from m2bridge.algebra.ring import Ideal, is_homogeneous, total_degree
from m2bridge.certificate.statements import Content
from m2bridge.clock import limited
from m2bridge.convert.notation import polynomial_text
from m2bridge.crosscheck.evidence import ORBITS, REDUCED, SECTION
from m2bridge.engine import Engine
from m2bridge.engine.answer import parse
from m2bridge.errors import ParseError
from m2bridge.families.attention.linear_section import not_counted
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.orbits import flatten, orbits, representative
from m2bridge.maps.closure import closure_script, read_closure
from m2bridge.maps.multigraded_closure import default_max_degree
from m2bridge.maps.subject import Subject
from m2bridge.render import Script

RECHECKED = (
    "every generator is homogeneous and vanishes identically on the parametrization",
    "the generators are minimal and generate the whole ideal up to the largest of their degrees",
    "Hilbert series, dimension and degree of the ideal that they generate, by a Gröbner basis over QQ",
    "dimension: the rank of the differential and the tangent space of the generators at one point agree",
    "tangent dimensions of the generators at one point of every orbit",
)
ALL_GENERATORS = "there are no other generators: elimination on a slice of a chart, and a Gröbner basis, over QQ"
BY_SECTION = "degree, also by the points of a linear section modulo 2^31 − 1 and the rechecked generic fibre"
SLICE = "an ideal that is right on the slice is right on the chart (docs/mathematics.md, Completeness)"


def computed_content(model: SingleLayerAttention, engine: Engine) -> tuple[Content, Script, float]:
    """Compute the closure; its content, the program, and the seconds that it all took.

    Raises
    ------
    EngineError
        If Macaulay2 failed or reached a limit.
    """
    with limited(None) as running:
        subject = Subject.of(model)
        reduction = reduce_linearly(subject.parametrization)
        script = closure_script(subject, QQ, reduction=reduction)
        transcript = engine.run(script, running.remaining)
        answer = parse(transcript.records)
        found = read_closure(answer, subject, reduction, QQ, "elimination", transcript.version, running.seconds)
        if found.ideal is None or found.dimension is None or found.degree is None or found.hilbert_series is None:
            raise ParseError("the answer about a closure is not complete")
        content = closure_content(model, found.ideal, found.dimension, found.degree, found.hilbert_series)
        return content, script, running.seconds


def closure_content(
    model: SingleLayerAttention, ideal: Ideal, dimension: int, degree: int, series: HilbertSeries
) -> Content:
    """What is stored about the closure with this ideal and these invariants."""
    answer = {
        "dimension": dimension,
        "degree": degree,
        "generator_degrees": {str(n): count for n, count in ideal.generator_degrees.items()},
        "homogeneous": all(map(is_homogeneous, ideal.generators)),
        "hilbert_series": {"numerator": list(series.numerator), "denominator_exponent": series.dimension},
    }
    evidence = {
        "coordinates": list(ideal.ring.variables),
        "generators": [polynomial_text(generator) for generator in ideal.generators],
        "tangent_dimensions": _tangent_dimensions(model, ideal),
    }
    if model.t > 1:
        checked, trusted = (*RECHECKED, ALL_GENERATORS), (SLICE, REDUCED, ORBITS)
        if not_counted(model):
            return Content(answer, evidence, checked, trusted)
        return Content(answer, evidence, (*checked, BY_SECTION), (*trusted, SECTION))
    elimination = f"no further generators of degree above {checked_degree(ideal)}: elimination by Macaulay2"
    return Content(answer, evidence, RECHECKED, (elimination,))


def checked_degree(ideal: Ideal) -> int:
    """Up to this degree the whole ideal is computed once more when a certificate is verified."""
    last = max(map(total_degree, ideal.generators), default=0)
    return max(last, default_max_degree(len(ideal.ring.variables)))


def _tangent_dimensions(model: SingleLayerAttention, ideal: Ideal) -> list[dict[str, Any]]:
    """For t = 1 orbits classify no functions."""
    if model.t == 1:
        return []
    attention = model.parametrization()
    points = {orbit: attention.evaluate(flatten(*representative(orbit, model))) for orbit in orbits(model)}
    return [
        {"orbit": [orbit.r, orbit.s, orbit.m], "dimension": tangent_dimension(ideal.generators, point)}
        for orbit, point in points.items()
    ]
