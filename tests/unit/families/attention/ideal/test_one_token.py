"""Closures for one token, the products of a quadratic form and linear forms; without Macaulay2."""

from math import comb
from pathlib import Path

import pytest
from sympy import symbols

from m2bridge import PolynomialMap, SingleLayerAttention, closure
from m2bridge.algebra.determinantal import (
    dimension_of_symmetric_rank,
    symmetric_determinantal_degree,
)
from m2bridge.algebra.hilbert_series import HilbertSeries
from m2bridge.algebra.schur import dimension, partitions
from m2bridge.engine import using
from m2bridge.errors import EngineNotFoundError
from m2bridge.maps import completeness
from m2bridge.maps.closure import Closure
from m2bridge.maps.equations import graded_source, low_degree_equations
from m2bridge.maps.polynomial_map_model import as_model
from tests.limits import RecordedEngine
from tests.tiers import slow

NO_ENGINE = RecordedEngine(Path())


def one_token(d: int, d_out: int, a: int) -> SingleLayerAttention:
    return SingleLayerAttention(d, d_out, a, t=1)


def generators_by_outputs(found: Closure) -> dict[tuple[int, ...], int]:
    """How many minimal generators there are of each weight of the outputs."""
    outputs = [int(name.split("_")[1]) for name in found.model.coordinate_names()]
    counts: dict[tuple[int, ...], int] = {}
    assert found.ideal is not None
    for generator in found.ideal.generators:
        exponents = next(iter(generator))
        weight = [0] * max(outputs)
        for output, exponent in zip(outputs, exponents, strict=True):
            weight[output - 1] += exponent
        counts[tuple(weight)] = counts.get(tuple(weight), 0) + 1
    return counts


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_degrees_of_symmetric_determinantal_varieties_are_those_of_their_hilbert_functions(
    size: int,
) -> None:
    """Functions of degree n on the forms of rank at most r are the S_2λ with at most r rows."""
    for rank in range(1, size + 1):
        variety = dimension_of_symmetric_rank(size, rank)
        values = []
        for n in range(variety + comb(size + 1, 2)):
            doubled = [tuple(2 * part for part in shape) for shape in partitions(n, rank)]
            values.append(sum(dimension(shape, size) for shape in doubled))
        series = HilbertSeries.from_values(values, variety)
        assert series.degree == symmetric_determinantal_degree(size, rank)


@pytest.mark.slow
@pytest.mark.parametrize("case", [(3, 2, 3), (3, 3, 2), (3, 3, 1), (4, 2, 2)])
def test_that_there_are_others_is_seen_without_macaulay2(case: tuple[int, int, int]) -> None:
    found = closure(one_token(*case), engine=NO_ENGINE)
    assert str(found.completeness).startswith("up to degree")
    assert "there are others: the closure of" in found.completeness.reason
    assert found.unfinished.endswith("raise timeout=")
    assert found.degree is None


@pytest.mark.slow
def test_the_reason_is_what_more_degrees_show() -> None:
    found = closure(one_token(3, 3, 1), engine=NO_ENGINE)
    assert found.completeness.reason.endswith("two outputs has 510 generators of degree 5")
    two = closure(one_token(3, 2, 1), max_degree=5)
    assert two.generator_degrees == {4: 308, 5: 510}


def test_generators_of_one_output_are_generators_of_all() -> None:
    two = generators_by_outputs(closure(one_token(3, 2, 1), max_degree=4))
    assert two[4, 0] == two[0, 4] == 35
    assert closure(one_token(3, 1, 1), max_degree=4).generator_degrees == {4: 35}


@pytest.mark.parametrize(("case", "degree"), [((2, 2, 1), 4), slow((3, 2, 2), 4)])
def test_what_is_eliminated_has_the_same_equations(case: tuple[int, int, int], degree: int) -> None:
    """Matrices of rank α have all quadratic forms, where 2α ≥ d."""
    model = one_token(*case)
    assert model.eliminated().alpha == model.d > model.alpha
    assert SingleLayerAttention(*case).eliminated().alpha == model.alpha
    given, eliminated = (closure(m, max_degree=degree) for m in (model, model.eliminated()))
    assert list(given.generator_texts()) == list(eliminated.generator_texts())


def test_with_a_limit_macaulay2_is_asked() -> None:
    with pytest.raises(EngineNotFoundError), using(NO_ENGINE):
        closure(one_token(3, 2, 2), timeout=600)


@pytest.mark.parametrize("case", [(2, 2, 2), (2, 3, 1), (2, 1, 1)])
def test_where_generators_are_all_there_is_no_reason_for_others(case: tuple[int, int, int]) -> None:
    """Macaulay2 is asked, which proves it; or there is nothing to ask."""
    if case[1] > 1:
        with pytest.raises(EngineNotFoundError):
            closure(one_token(*case), engine=NO_ENGINE)
    model = one_token(*case)
    equations = low_degree_equations(graded_source(model), 4)
    assert completeness.further_generators_of_fewer_outputs(model, 4) == ""
    assert completeness.reason_by_height(equations.implicitization, model, "the closure") == ""


def test_too_few_equations_are_said_for_any_map() -> None:
    """The cone over the rational normal curve of degree four, by no equations and by six."""
    s, t = symbols("s t")
    quartic = {f"x_{i}": s ** (4 - i) * t**i for i in range(5)}
    curve = PolynomialMap.from_expressions([s, t], quartic)
    model = as_model(curve)
    source = graded_source(model)
    reasons = []
    for degree in (1, 2):
        low = low_degree_equations(source, degree).implicitization
        reasons.append(completeness.reason_by_height(low, model, "the closure"))
    assert reasons == ["the closure, of codimension ≥ 3, has 0 generators of degree ≤ 1", ""]
