"""The Zariski closure of attention as a question: how it is computed, what a certificate of it holds."""

from __future__ import annotations

from functools import partial
from typing import Any

from m2bridge.algebra.field import QQ
from m2bridge.algebra.jacobian import tangent_dimension
from m2bridge.algebra.linear_span import reduce_linearly
from m2bridge.algebra.ring import Ideal, is_homogeneous, total_degree
from m2bridge.certificate.schema import Certificate, Content
from m2bridge.clock import limited
from m2bridge.convert.notation import degree_summary, polynomial_text
from m2bridge.engine import Engine
from m2bridge.engine.answer import parse
from m2bridge.errors import MethodUnavailableError, ParseError
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.orbits import flatten, orbits, representative
from m2bridge.families.attention.statements.statement import WORDS
from m2bridge.families.question import Question, Row
from m2bridge.maps.closure import closure_script, read_closure
from m2bridge.maps.closure_result import Closure
from m2bridge.maps.multigraded_closure import default_max_degree
from m2bridge.maps.subject import Subject
from m2bridge.render import Script

KEY = "closure"
TEXT = "Dimension, degree and generators of the ideal of the Zariski closure."
USUAL_COORDINATES = 12
"""Largest number of coordinates for which ``all`` includes the Zariski closure."""
REACHABLE_COORDINATES = 24
"""Largest number for which elimination ends within minutes."""


def observe_closure(model: SingleLayerAttention, engine: Engine | None) -> Closure:
    """Compute the closure by elimination, and all of its invariants.

    Raises
    ------
    EngineError
        If Macaulay2 failed or reached a limit.
    """
    if engine is None:
        raise MethodUnavailableError("elimination needs Macaulay2")
    with limited(None) as running:
        subject = Subject.of(model)
        reduction = reduce_linearly(subject.parametrization)
        transcript = engine.run(closure_script(subject, QQ, reduction=reduction), running.remaining)
        answer = parse(transcript.records)
        return read_closure(answer, subject, reduction, QQ, "elimination", transcript.version, running.seconds)


def closure_content(model: SingleLayerAttention, found: Closure) -> Content:
    """What is stored about a closure."""
    ideal, series = found.ideal, found.hilbert_series
    if ideal is None or found.dimension is None or found.degree is None or series is None:
        raise ParseError("the answer about a closure is not complete")
    answer = {
        "dimension": found.dimension,
        "degree": found.degree,
        "generator_degrees": {str(n): count for n, count in ideal.generator_degrees.items()},
        "homogeneous": all(map(is_homogeneous, ideal.generators)),
        "hilbert_series": {"numerator": list(series.numerator), "denominator_exponent": series.dimension},
    }
    evidence = {
        "coordinates": list(ideal.ring.variables),
        "generators": [polynomial_text(generator) for generator in ideal.generators],
        "tangent_dimensions": _tangent_dimensions(model, ideal),
    }
    return Content(answer, evidence, _trusted(model, ideal))


def _trusted(model: SingleLayerAttention, ideal: Ideal) -> tuple[str, ...]:
    words = WORDS.closure
    if model.t == 1:
        return (words["one-token"].format(degree=_checked_degree(ideal)),)
    return tuple(WORDS.lemmas[name] for name in words["trusted"])


def _checked_degree(ideal: Ideal) -> int:
    """Up to this degree a checker computes the whole ideal once more."""
    last = max(map(total_degree, ideal.generators), default=0)
    return max(last, default_max_degree(len(ideal.ring.variables)))


def _tangent_dimensions(model: SingleLayerAttention, ideal: Ideal) -> list[dict[str, Any]]:
    """For t = 1 orbits classify no functions."""
    if model.t == 1:
        return []
    attention = model.parametrization()
    points = {orbit: attention.evaluate(flatten(*representative(orbit, model))) for orbit in orbits(model)}
    return [
        {"orbit": list(orbit.cells), "dimension": tangent_dimension(ideal.generators, point)}
        for orbit, point in points.items()
    ]


def _script(model: SingleLayerAttention) -> Script:
    return closure_script(Subject.of(model), QQ)


def _rows(certificate: Certificate) -> list[Row]:
    answer = certificate.answer
    degrees = degree_summary({int(n): count for n, count in answer["generator_degrees"].items()})
    reason = f"dimension {answer['dimension']}, degree {answer['degree']}, generators: {degrees}"
    return [Row(KEY, TEXT, "COMPUTED", reason)]


def _at_most(coordinates: int, model: SingleLayerAttention) -> bool:
    return model.coordinate_count(model.default_coordinates) <= coordinates


CLOSURE = Question(
    KEY,
    observation=KEY,
    observe=observe_closure,
    content=closure_content,
    script=_script,
    rows=_rows,
    names=lambda: (KEY,),
    usual=partial(_at_most, USUAL_COORDINATES),
    within_reach=partial(_at_most, REACHABLE_COORDINATES),
    trusts_program=lambda model: model.t == 1,
)
