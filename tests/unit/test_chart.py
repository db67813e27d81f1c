"""The slice of a chart: its parametrization lies in the neuromanifold and has the dimension that is left."""

import pytest

from m2bridge.algebra.jacobian import differential_rank, random_point
from m2bridge.families.attention.chart import chart_slice
from m2bridge.families.attention.formulas import dimension_formula
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.orbits import generic_orbit
from m2bridge.families.attention.reduced_coordinates import function
from m2bridge.families.attention.tangents import orbit_dimension


@pytest.mark.parametrize("case", [(2, 1), (2, 2), (2, 3), (3, 1), (3, 2), (4, 2)])
def test_the_group_accounts_for_the_rest_of_the_dimension(case: tuple[int, ...]) -> None:
    """The scaling and d − 1 + d' − 1 + d − 1 one-parameter groups move the slice through the chart."""
    model = SingleLayerAttention(*case)
    found = chart_slice(model).parametrization
    rank = differential_rank(found, random_point(found, 1000, 1))
    assert rank + 1 + 2 * (model.d - 1) + model.d_out - 1 == dimension_formula(model)
    assert dimension_formula(model) == orbit_dimension(generic_orbit(model), model)


@pytest.mark.parametrize("case", [(2, 1, 1), (3, 2, 1), (3, 2, 2), (3, 2, 3)])
def test_functions_on_the_slice_are_those_of_weights(case: tuple[int, ...]) -> None:
    """With A = (1, 0; −v, A''), V = (1, v; 0, V'') at a point; ``evaluate`` checks the minors."""
    model = SingleLayerAttention(*case)
    found = chart_slice(model)
    names = found.parametrization.source.variables
    rank_one = {name: 2 if name.startswith("A") else 3 + j * j for j, name in enumerate(names)}
    v = [rank_one[f"V_1_{q}"] for q in range(1, model.d)]
    A = {(0, 0): 1} | {(p + 1, 0): -value for p, value in enumerate(v)}
    if model.alpha > 1:
        A |= {(p, i): 2 for p in range(1, model.d) for i in range(1, model.d)}
    V = {(k, q): rank_one[f"V_{k + 1}_{q}"] for k in range(model.d_out) for q in range(1, model.d)} | {(0, 0): 1}
    expected = {"_".join(["c", *(str(i + 1) for i in key)]): value for key, value in function(A, V).items() if value}
    point = tuple(rank_one.values())
    values = zip(found.parametrization.coordinates, found.parametrization.evaluate(point), strict=True)
    assert {name: value for name, value in (*found.fixed.items(), *values) if value} == expected
