"""Tangent bounds from equations of low degree, against the tangent dimensions from all equations."""

import pytest

from m2bridge import Orbit, SingleLayerAttention
from m2bridge.errors import MethodUnavailableError
from m2bridge.families.attention.shape import dimension_formula
from m2bridge.families.attention.tangents import default_degree, tangent_upper_bounds

# Tangent dimensions that Macaulay2 found from all generators, whose degrees are at most 4 here (MATH).
TANGENT = {
    (2, 1, 2): {(1, 1, 0): 6, (1, 1, 1): 6, (2, 1, 1): 5},
    (2, 2, 2): {(1, 1, 0): 9, (1, 1, 1): 9, (1, 2, 1): 7, (2, 1, 1): 7, (2, 2, 2): 7},
    (2, 2, 1): {(1, 1, 0): 7, (1, 1, 1): 7, (1, 2, 1): 6},
    (3, 1, 3): {(1, 1, 0): 15, (1, 1, 1): 18, (2, 1, 0): 11, (2, 1, 1): 11, (3, 1, 1): 11},
}


@pytest.mark.parametrize("case", TANGENT)
def test_bounds_are_the_tangent_dimensions_where_the_equations_are_all(case: tuple[int, int, int]) -> None:
    bounds = tangent_upper_bounds(SingleLayerAttention(*case), 4)
    assert {(o.r, o.s, o.m): bound for o, bound in bounds.items()} == TANGENT[case]


@pytest.mark.parametrize("case", [(2, 2, 2), (3, 1, 3), (3, 1, 2)])
def test_bounds_decrease_with_the_degree_and_stay_above_the_dimension(case: tuple[int, int, int]) -> None:
    model = SingleLayerAttention(*case)
    by_degree = [tangent_upper_bounds(model, degree) for degree in (2, 3, 4)]
    for orbit in by_degree[0]:
        bounds = [bound[orbit] for bound in by_degree]
        assert bounds == sorted(bounds, reverse=True)
        assert bounds[-1] >= dimension_formula(model)


def test_default_degrees() -> None:
    cases = {(2, 1, 2): 4, (3, 2, 3): 4, (4, 1, 3): 4, (3, 3, 3): 3, (4, 4, 4): 2, (10, 10, 10): 0}
    assert {case: default_degree(SingleLayerAttention(*case)) for case in cases} == cases


def test_where_there_is_nothing_to_say() -> None:
    assert tangent_upper_bounds(SingleLayerAttention(6, 6)) == {}
    with pytest.raises(MethodUnavailableError, match="t ≥ 2"):
        tangent_upper_bounds(SingleLayerAttention(2, 2, t=1))
    assert tangent_upper_bounds(SingleLayerAttention(1, 2)) == {Orbit(1, 1, 1): 2}


def test_quartics_prove_smooth_orbits_smooth() -> None:
    """For (3, 2, 3) only rk A = rk V = 1 stays open; for (3, 2, 2) also the orbits with rk A = 1, as they should."""
    for case, undecided in [
        ((3, 2, 3), {(1, 1, 0): 20, (1, 1, 1): 24}),
        ((3, 2, 2), {(1, 1, 0): 20, (1, 1, 1): 24, (1, 2, 0): 14, (1, 2, 1): 14}),
    ]:
        model = SingleLayerAttention(*case)
        bounds = tangent_upper_bounds(model)
        above = {(o.r, o.s, o.m): bound for o, bound in bounds.items() if bound > dimension_formula(model)}
        assert above == undecided
