"""The equations of a closure up to a degree as a question, and what they say of all degrees: exact linear algebra."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import Any

from m2bridge.algebra.hilbert_series import HilbertSeries
from m2bridge.certificate.schema import Certificate, Content
from m2bridge.clock import clock
from m2bridge.convert.notation import degree_summary
from m2bridge.engine import Engine
from m2bridge.errors import MethodUnavailableError, NotApplicableError, TooLargeError
from m2bridge.families.attention.core import core
from m2bridge.families.attention.formulas import dimension_formula
from m2bridge.families.attention.hilbert_function import sections_series
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.statements.statement import WORDS, several_tokens
from m2bridge.families.attention.structure import multigraded_attention
from m2bridge.families.question import Question, Row, never
from m2bridge.implicitization.implicitize import implicitize
from m2bridge.implicitization.result import Implicitization
from m2bridge.maps.core_completeness import bound_monomials, core_ideal, hilbert_series, up_to_the_bound

KEY = "equations"
TEXT = "Hilbert function and minimal generators of the ideal of the Zariski closure up to a degree, Hilbert polynomial."
LARGEST_DEGREE = 5
MOST_MONOMIALS = 1_500_000
MOST_CORE_MONOMIALS = 2_000_000
"""Of the degree of the bound of a core: with more it takes minutes to prove or verify what holds in all degrees."""
MOST_COORDINATES = 400
"""Larger cases are refused: the number of coordinates grows as d³ d'."""


@dataclass(frozen=True, slots=True)
class Found:
    """What is known of the ideal.

    Parameters
    ----------
    equations : Implicitization
        Up to a degree.
    series : HilbertSeries or None
        Of the whole ideal, where it is proved.
    all_generators : bool
        Whether there are none of higher degree.
    """

    equations: Implicitization
    series: HilbertSeries | None
    all_generators: bool


def degree_for(model: SingleLayerAttention) -> int:
    """Up to which degree: the largest N ≤ 5 with at most 1.5 million monomials of degree N; at least 1."""
    count = model.coordinate_count("reduced")
    return next((n for n in range(LARGEST_DEGREE, 1, -1) if comb(count + n - 1, n) <= MOST_MONOMIALS), 1)


def is_within_reach(model: SingleLayerAttention) -> bool:
    """For several tokens and at most 400 coordinates."""
    return model.t >= 2 and model.coordinate_count("reduced") <= MOST_COORDINATES


def observe_equations(model: SingleLayerAttention, engine: Engine | None) -> Found:
    """Compute the ideal up to :func:`degree_for`, and prove what can be proved of all degrees in a few minutes.

    What is proved depends on the case alone, not on the time that there is.

    Raises
    ------
    NotApplicableError
        For one token.
    TooLargeError
        For too many coordinates.
    EngineTimeoutError
        If a limit was reached.
    """
    if reason := several_tokens(model):
        raise NotApplicableError(f"the question {reason}")
    if not is_within_reach(model):
        raise TooLargeError(
            f"equations up to a degree: at most {MOST_COORDINATES} coordinates; 'm2bridge closure' has no such limit"
        )
    equations = implicitize(multigraded_attention(model, "reduced"), degree_for(model))
    if equations.stopped_early:
        raise clock().late(f"degree {equations.max_degree + 1}")
    if not equations.exact:
        raise MethodUnavailableError("a rank over QQ was not found")
    series, complete = _beyond(model, equations)
    return Found(equations, series, complete)


def _beyond(model: SingleLayerAttention, equations: Implicitization) -> tuple[HilbertSeries | None, bool]:
    """The Hilbert series, and whether the generators are all, by the core (docs/completeness.md)."""
    smaller, last = core(model, "reduced"), equations.max_degree
    if smaller is None or bound_monomials(smaller) > MOST_CORE_MONOMIALS:
        return None, False
    ideal = core_ideal(up_to_the_bound(smaller), smaller)
    if ideal is None or ideal.sections_from > last + 1:
        return None, False
    series = hilbert_series(equations.hilbert_function, ideal.sections_from, smaller)
    return series, last >= max(ideal.largest_degree, smaller.least_degree)


def equations_content(model: SingleLayerAttention, found: Found) -> Content:
    """What is stored."""
    sections = sections_series(model, dimension_formula(model))
    series = found.series
    answer = {
        "dimension": sections.dimension,
        "degree": sections.degree,
        "max_degree": found.equations.max_degree,
        "hilbert_function": list(found.equations.hilbert_function),
        "generators_up_to_degree": {str(n): count for n, count in found.equations.generator_counts.items()},
        "hilbert_coefficients": list(sections.hilbert_coefficients),
        "hilbert_series": _series_data(series) if series else None,
        "all_generators": found.all_generators,
    }
    names = WORDS.closure["for-all-degrees" if series else "up-to-a-degree"]
    return Content(answer, {}, tuple(WORDS.lemmas[name] for name in names))


def _series_data(series: HilbertSeries) -> dict[str, Any]:
    return {"numerator": list(series.numerator), "denominator_exponent": series.dimension}


def _rows(certificate: Certificate) -> list[Row]:
    answer = certificate.answer
    degrees = degree_summary({int(n): count for n, count in answer["generators_up_to_degree"].items()})
    scope = "these are all" if answer["all_generators"] else "nothing is claimed about higher degrees"
    values = ", ".join(map(str, answer["hilbert_function"]))
    series = "; Hilbert series proved" if answer["hilbert_series"] else ""
    reason = f"generators of degree ≤ {answer['max_degree']}: {degrees}; {scope}; Hilbert function {values}, …{series}"
    return [Row(KEY, TEXT, "COMPUTED", reason)]


EQUATIONS = Question(
    KEY,
    observation=KEY,
    observe=observe_equations,
    content=equations_content,
    script=lambda model: None,
    rows=_rows,
    names=lambda: (KEY,),
    usual=never,
    within_reach=is_within_reach,
    needs_engine=never,
)
