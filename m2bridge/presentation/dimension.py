"""A dimension for people and programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from m2bridge.presented import computed_by, result_json
from m2bridge.sheet import Facts, Sheet, Table

if TYPE_CHECKING:
    from m2bridge.maps.dimension import Dimension
    from m2bridge.maps.model import Expectation


def json(found: Dimension) -> dict[str, Any]:
    """The value, and what each method found."""
    return result_json(found.subject.case, found.field, found.engine_version, found.seconds) | {
        "dimension": found.dimension,
        "status": found.status,
        "upper_bound": found.upper and {"value": found.upper.value, "reason": found.upper.reason},
        "lower_bound": found.lower and {"value": found.lower.value, "method": found.lower.method},
        "expected": [_expectation(expectation) for expectation in found.expected],
        "defect": found.defect,
        "methods": [finding.to_json() for finding in found.findings],
        "agree": found.agree,
        "unfinished": found.unfinished or None,
    }


def _expectation(expectation: Expectation) -> dict[str, Any]:
    return {
        "value": expectation.value,
        "statement": expectation.statement or None,
        "applies": not expectation.fails,
        "fails": expectation.fails or None,
    }


def sheet(found: Dimension) -> Sheet:
    """The value, and a table of the methods."""
    rows = [(f.method, "–" if f.value is None else f.value, f.status, f.remark) for f in found.findings]
    known = [("dimension", f"{found.dimension} affine ({found.status})"), ("", _verdict(found)), *_around(found)]
    relation = r"\ge" if found.status == "lower bound" else "="
    return Sheet(
        f"Dimension of the {found.subject.title}, over {found.field}",
        [
            Facts([*known, ("computed by", computed_by(found.engine_version, found.seconds))]),
            Table(("method", "dimension", "status", "remark"), rows),
        ],
        [] if found.dimension is None else [rf"\dim \overline{{\mathcal M}} {relation} {found.dimension}"],
    )


def _around(found: Dimension) -> list[tuple[str, str]]:
    """The upper bound, and what was expected where the formula has a name."""
    upper = [("at most", f"{found.upper.value}: {found.upper.reason}")] if found.upper else []
    expected = [
        (
            "" if number else "expected",
            f"{e.value} by {e.statement}" + (f", which does not apply: {e.fails}" if e.fails else ""),
        )
        for number, e in enumerate(e for e in found.expected if e.value is not None)
    ]
    return upper + expected


def _verdict(found: Dimension) -> str | None:
    """Whether the methods agree, where several gave a value; one that did not finish agrees with nothing."""
    values = [finding.value for finding in found.findings if finding.value is not None]
    late = [finding.method for finding in found.findings if finding.status == "unfinished"]
    if len(values) < 2:
        return None
    if not found.agree:
        return "the methods do NOT agree"
    all_methods = "the methods that finished" if late else "all methods"
    said = f"{all_methods} agree" if len(set(values)) == 1 else "no lower bound exceeds what the other methods say"
    return f"{said}; not finished: {', '.join(late)}" if late else said


def macaulay2(found: Dimension) -> str:
    """The value, as a Macaulay2 assignment."""
    return f"dimension = {'null' if found.dimension is None else found.dimension}"
