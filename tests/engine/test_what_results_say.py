"""Each public result says in one way whether its answer is proved, and why, in Python and in JSON.

docs/reference/results.md says what the answer of each class is, and when it is proved.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sympy import symbols

import m2bridge
from m2bridge import (
    DeepAttention,
    PolynomialMap,
    PolynomialNetwork,
    SingleLayerAttention,
    closure,
    closures_of_all_sizes,
    critical_points,
    cross_check,
    cross_check_all_sizes,
    cross_check_deep_attention,
    dimension,
    ed_degree,
    hilbert_function,
    ideal,
    image,
    membership,
    observe,
    orbit_diagram,
    polar_degrees,
    robustness,
    robustness_count,
    singular_locus,
    slice_surface,
    weights,
)
from m2bridge.crosscheck.verdict import verdicts_on
from m2bridge.families.attention.all_sizes.closures import CORES
from m2bridge.results.base import Result
from m2bridge.results.known import Bounds
from m2bridge.results.sheet import MAX_REPR_CHARS

Said = Iterator[tuple[Any, bool | None, str]]
"""Results, each with whether it is proved, and words of the reason."""
Examples = Callable[[], Said]
LAYER = SingleLayerAttention(d=2, d_out=1)
s, t = symbols("s t")
CUBIC = PolynomialMap.from_expressions([s, t], {"x": s**3, "y": s**2 * t, "z": t**3})
UMBRELLA = PolynomialMap.from_expressions([s, t], {"x": s * t, "y": s, "z": t**2})
LIMIT = "the limit of 1 second"


def of_dimensions() -> Said:
    yield dimension(LAYER), True, "the rank attains an upper bound"
    yield dimension(LAYER, method="formula"), False, "the value of a formula only: "
    proved = dimension(LAYER)
    (finding, *_) = proved.findings
    bound = replace(finding, known=Bounds.at_least(4, "a rank"))
    yield replace(proved, findings=(bound,)), False, "a lower bound only: "
    nothing = replace(finding, known=Bounds(because=LIMIT))
    yield replace(proved, findings=(nothing,)), False, LIMIT


def of_closures() -> Said:
    yield closure(UMBRELLA), True, "elimination"
    up_to_degree = closure(CUBIC, max_degree=2)
    yield up_to_degree, False, "complete up to degree 2"
    nothing = replace(closure(UMBRELLA), equations=None, completeness_reason="", unfinished=LIMIT)
    yield nothing, False, f"no generators were found; {LIMIT}"
    yield image(UMBRELLA), True, "elimination"
    yield image(CUBIC, max_degree=2), False, "complete up to degree 2"
    yield replace(image(UMBRELLA), unfinished=LIMIT), False, LIMIT
    yield hilbert_function(LAYER), True, "proved complete"


def of_singular_loci() -> Said:
    locus = singular_locus(LAYER)
    yield locus, True, "fibres"
    yield replace(locus, components=None, unfinished=LIMIT), False, LIMIT
    # the limit of a second method does not make the components of the first one less proved
    yield replace(locus, unfinished=LIMIT), True, "fibres"
    of_ideal = ideal("x^2 - y^2*z").singular_locus()
    yield of_ideal, True, "Jacobian criterion"
    yield replace(of_ideal, components=None, unfinished=LIMIT), False, LIMIT
    diagram = orbit_diagram(LAYER)
    yield diagram, True, "the fibre"
    yield replace(diagram, unfinished=LIMIT), False, LIMIT
    nodes = (*diagram.nodes[:-1], replace(diagram.nodes[-1], singular=None))
    yield replace(diagram, nodes=nodes), False, "undecided: (2, 1, 1)"
    yield slice_surface(UMBRELLA), None, "a picture"


def of_degrees() -> Said:
    by_theorem = polar_degrees(LAYER)
    yield by_theorem, True, "theorem"
    yield replace(by_theorem, unfinished=LIMIT), False, LIMIT
    yield polar_degrees(ideal("x*z - y^2")), False, "prime"
    yield ed_degree(ideal("y - x^2"), generic=False), False, "prime"
    yield critical_points(LAYER, count_only=True), False, "modulo the primes"
    yield robustness_count(LAYER), False, "random primes"


def of_weights() -> Said:
    yield membership(LAYER, {"c_1_1_1_2": 1}), True, "the fibre"
    yield membership(LAYER, {}), True, "the zero function"
    line = {"A": [[1]], "V": [[1]], "w": [1]}
    yield robustness(line | {"X": [[3]]}, threshold=8), True, "Theorem R4, 2"
    yield robustness(line | {"X": [[-3]]}, threshold=8), True, "complete list"
    two_heads = {"A": [[[1]], [[1]]], "V": [[[1]], [[1]]], "w": [1], "X": [[-3]]}
    yield robustness(two_heads, threshold=16), False, "Theorem R4, 1"
    found = weights(K=[[1, 0, 2]], Q=[[0, 1, 1]], V=[[1, 1, 0], [2, 2, 0]])
    yield found, True, "exact ranks"
    yield replace(found, assumed=("norms are RMSNorm",)), True, "assuming that norms are RMSNorm"
    yield replace(found, unfinished=LIMIT), False, LIMIT
    layer = found.layers[1]
    open_symmetries = replace(layer.symmetries, dimension=Bounds(lower=9, upper=10))
    layers = {1: replace(layer, symmetries=open_symmetries)}
    yield replace(found, layers=layers), False, "layer 1"


def of_verdicts() -> Said:
    checked = cross_check(SingleLayerAttention(d=3, d_out=3, a=2), "3.4")
    assert checked.refuted  # a refuted statement is proved to be false
    yield checked, True, "decided: 3.4 (i)"
    statements = [verdict.statement for verdict in checked.verdicts]
    undecided = verdicts_on(statements, checked.model, None, limit=LIMIT)
    yield replace(checked, verdicts=undecided, observations=None), False, "undecided: 3.4 (i)"
    network = cross_check(PolynomialNetwork([3, 2, 1]))
    outside = tuple(v for v in network.verdicts if v.decision == "NOT_APPLICABLE")
    yield replace(network, verdicts=outside), None, "no statement applies"
    deep = cross_check_deep_attention()
    yield deep, True, "decided: 3.5"
    yield replace(deep, unfinished=LIMIT), False, LIMIT
    for_all_sizes = cross_check_all_sizes()
    yield for_all_sizes, True, "decided: 3.2"
    yield replace(for_all_sizes, unfinished=LIMIT), False, LIMIT
    closures = closures_of_all_sizes(CORES[:1])
    yield closures, True, "ranks of covariants"
    yield replace(closures, unfinished=LIMIT), False, LIMIT


EXAMPLES = {
    of_dimensions: {"Dimension": {True, False}},
    of_closures: {"Closure": {True, False}, "Image": {True, False}, "HilbertFunction": {True}},
    of_singular_loci: {
        "SingularLocus": {True, False},
        "IdealSingularLocus": {True, False},
        "OrbitDiagram": {True, False},
        "SliceSurface": {None},
    },
    of_degrees: {
        "PolarDegrees": {True, False},
        "EDDegree": {False},
        "CriticalPoints": {False},
        "RobustnessCount": {False},
    },
    of_weights: {"Membership": {True}, "Weights": {True, False}, "Robustness": {True, False}},
    of_verdicts: {
        "CrossCheck": {True, False, None},
        "DeepAttentionAllSizes": {True, False},
        "AllSizes": {True, False},
        "AllClosures": {True, False},
    },
}
"""The values of ``is_proved`` of each class, as docs/reference/results.md has them."""
VALUES = {name: values for classes in EXAMPLES.values() for name, values in classes.items()}
FAST = (of_dimensions, of_weights)


def check_repr(value: object) -> None:
    """Check that the ``repr`` of a value is one line of its class, and short."""
    shown = repr(value)
    assert "\n" not in shown
    assert type(value).__name__ in shown
    assert len(shown) <= MAX_REPR_CHARS + 3  # the ellipsis with its blanks


@pytest.mark.parametrize(
    "examples",
    [one if one in FAST else pytest.param(one, marks=pytest.mark.slow) for one in EXAMPLES],
)
def test_results_say_whether_they_are_proved(examples: Examples) -> None:
    seen: dict[str, set[bool | None]] = {}
    for result, expected, words in examples():
        assert result.is_proved is expected, result
        assert words in result.because
        data = json.loads(json.dumps(result.to_json()))
        assert (data["is_proved"], data["because"]) == (expected, result.because)
        check_repr(result)
        seen.setdefault(type(result).__name__, set()).add(expected)
    assert seen == EXAMPLES[examples]


def test_no_public_result_is_left_out() -> None:
    public = {name: getattr(m2bridge, name) for name in m2bridge.__all__}
    results = {
        name
        for name, value in public.items()
        if isinstance(value, type) and issubclass(value, Result)
    }
    # an ideal is shown like a result, but it is a value
    assert results - {"Ideal"} == VALUES.keys()
    assert ideal("x*y").is_proved is None
    assert "is_proved" not in ideal("x*y").to_json()


def test_page_names_all_results() -> None:
    page = Path(__file__).parents[2] / "docs/reference/results.md"
    table = page.read_text(encoding="utf-8").partition("## ")[0]
    first_cells = re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
    named = {name for cell in first_cells for name in re.findall(r"`(\w+)`", cell)}
    assert named == VALUES.keys()


def test_parts_of_results_have_short_forms_too() -> None:
    checked = cross_check(LAYER, "3.4")
    found = weights(K=[[1, 0, 2]], Q=[[0, 1, 1]], V=[[1, 1, 0], [2, 2, 0]])
    many = symbols("x_0:300")
    large_map = PolynomialMap.from_expressions(many, {f"c{x}": x for x in many})
    seen = observe(LAYER)
    values = (
        *checked.verdicts,
        *found.heads,
        *found.layers.values(),
        seen,
        *seen.orbits,
        large_map,
        closure(UMBRELLA).model,
        DeepAttention([2, 2, 1], [1, 1]),
        singular_locus(LAYER).orbits[0],
    )
    for value in values:
        check_repr(value)
