"""A Zariski closure for people and programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sympy import Expr, latex

from m2bridge.convert.notation import degree_summary, expression_text, ideal_macaulay2
from m2bridge.layout import duration
from m2bridge.presented import result_json
from m2bridge.sheet import Block, Facts, Formula, Polynomials, Sheet

if TYPE_CHECKING:
    from m2bridge.maps.closure_result import Closure


def json(closure: Closure) -> dict[str, Any]:
    """All that was found; polynomials are exact strings in the coordinates' names."""
    series, degrees, values = closure.hilbert_series, closure.generator_degrees, closure.hilbert_function
    predicted = closure.predicted_hilbert_function
    engine = closure.engine_version or None
    return result_json(closure.subject.case, closure.field, engine, closure.seconds) | {
        "coordinates": list(closure.subject.coordinate_names),
        "dimension": closure.dimension,
        "dimension_status": closure.dimension_status,
        "projective_dimension": closure.projective_dimension,
        "codimension": closure.codimension,
        "degree": closure.degree,
        "degree_by_fibres": closure.fibre_degree,
        "generators": None if closure.equations is None else list(closure.generator_texts()),
        "generator_degrees": None if degrees is None else {str(d): count for d, count in degrees.items()},
        "complete": str(closure.completeness),
        "completeness": closure.completeness.reason or None,
        "homogeneous": closure.homogeneous,
        "hilbert_series": None
        if series is None
        else {"numerator": list(series.numerator), "denominator_exponent": series.dimension},
        "hilbert_polynomial": None if series is None else str(series.polynomial),
        "hilbert_series_of": None if series is None else _hilbert_ring(closure),
        "hilbert_function": None if values is None else list(values),
        "predicted_hilbert_function": None if predicted is None else list(predicted),
        "strategy": closure.strategy,
        "unfinished": closure.unfinished or None,
    }


def sheet(closure: Closure) -> Sheet:
    """Invariants, and the generators."""
    degrees = closure.generator_degrees
    title = f"Zariski closure of the {closure.subject.title}, over {closure.field}"
    blocks: list[Block] = [Facts(_facts(closure))]
    if degrees is not None:
        blocks.append(Polynomials(sum(degrees.values()), closure.generator_texts))
    return Sheet(title, blocks, _formulas(closure))


def _facts(closure: Closure) -> list[tuple[str, object]]:
    series, degrees, values = closure.hilbert_series, closure.generator_degrees, closure.hilbert_function
    return [
        ("ambient space", closure.subject.ambient),
        ("dimension", _dimension(closure)),
        ("codimension", closure.codimension),
        ("degree", _degree(closure)),
        (
            "minimal generators" if closure.homogeneous else "generators",
            None if degrees is None else degree_summary(degrees),
        ),
        ("Hilbert series", None if series is None else _hilbert(closure, series.expression)),
        ("Hilbert polynomial", None if series is None else _hilbert(closure, series.polynomial)),
        ("Hilbert function", None if values is None else f"{', '.join(map(str, values))}, …"),
        ("predicted", _predicted(closure)),
        ("complete", closure.completeness.reason or None),
        ("computed by", f"{_computed_by(closure)}, {closure.strategy}, {duration(closure.seconds)}"),
        ("not finished", closure.unfinished or None),
    ]


def _formulas(closure: Closure) -> list[str]:
    """The dimension, the degree, and what the generators generate."""
    relation = "=" if closure.dimension_status == "proved" else r"\ge"
    found = [] if closure.dimension is None else [rf"\dim {relation} {closure.dimension}"]
    found += [] if closure.degree is None else [rf"\deg = {closure.degree}"]
    number = sum((closure.generator_degrees or {}).values())
    if closure.equations is not None:
        known = closure.completeness
        ideal = "I" if known.proved else rf"\langle I_{{\le {known.degree}}} \rangle"
        names = rf"f_1, \ldots, f_{{{number}}}" if number > 1 else "f_1" if number else "0"
        found.append(rf"{ideal} = \langle {names} \rangle")
    return found


def macaulay2(closure: Closure) -> str:
    """A Macaulay2 program that defines the ideal that the generators found generate."""
    generators = () if closure.ideal is None else closure.ideal.generators
    reason = closure.completeness.reason
    comment = f"-- {reason}\n" if reason else ""
    return comment + ideal_macaulay2(closure.field, closure.subject.coordinate_names, generators)


def _dimension(closure: Closure) -> str | None:
    if closure.dimension is None:
        return None
    affine = f"{'at least ' if closure.dimension_status == 'lower bound' else ''}{closure.dimension} affine"
    projective = closure.projective_dimension
    return affine if projective is None else f"{affine}, {projective} projective"


def _degree(closure: Closure) -> str | None:
    if closure.degree is None and closure.fibre_degree is not None:
        return f"{closure.fibre_degree}, by source and generic fibre, not by equations"
    return None if closure.degree is None else str(closure.degree)


def _predicted(closure: Closure) -> str | None:
    """The prediction of the family for the Hilbert function beside the computed one."""
    predicted, computed = closure.predicted_hilbert_function, closure.computed_hilbert_function
    if predicted is None:
        return None
    shown = f"H(0), …, H({len(computed) - 1}) as computed"
    if predicted != computed:
        shown = f"{', '.join(map(str, predicted))}, … and not what was computed"
    return f"{shown} (by a formula for all sizes, proved in large degrees only)"


def _hilbert_ring(closure: Closure) -> str:
    return "coordinate ring" if closure.homogeneous else "ring of leading forms"


def _hilbert(closure: Closure, expression: Expr) -> Formula:
    """The series or polynomial, and for an affine variety, which has none of its own, the ring it belongs to."""
    of = "" if closure.homogeneous else f", of the {_hilbert_ring(closure)}"
    return Formula(expression_text(expression) + of, latex(expression) + (of and rf"\text{{{of}}}"))


def _computed_by(closure: Closure) -> str:
    linear_algebra = "exact linear algebra (FLINT)" if closure.strategy == "multigraded" else ""
    macaulay2 = f"Macaulay2 {closure.engine_version}" if closure.engine_version else ""
    return " and ".join(filter(None, (linear_algebra, macaulay2)))
