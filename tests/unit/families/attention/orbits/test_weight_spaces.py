"""Ranks of tangent vectors by weights, against those of all directions by the checker."""

from itertools import product

import pytest

from m2bridge.checker.algebra import rank
from m2bridge.families.attention.checker import case as checker
from m2bridge.families.attention.checker.case import Case
from m2bridge.families.attention.checker.evidence import differential
from m2bridge.families.attention.orbits.orbits import Orbit, orbits
from m2bridge.families.attention.orbits.tangents import differential_rank, orbit_dimension
from m2bridge.families.attention.orbits.weight_spaces import WeightSpaces
from m2bridge.families.attention.sizes import LayerSizes

SIZES = [(d, dp, a) for d, dp in product(range(1, 5), range(1, 4)) for a in range(1, d + 1)]


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_ranks_are_those_of_all_directions(size: tuple[int, int, int]) -> None:
    """The checker differentiates in all directions at the same points, and knows no weights."""
    shape = LayerSizes(*size)
    case = Case(*size, 2)
    for orbit in orbits(shape):
        point = checker.representative(orbit.cells)  # type: ignore[arg-type]
        images = differential(point, orbit.cells, case)  # type: ignore[arg-type]
        assert differential_rank(orbit, shape) == rank(images)
        assert orbit_dimension(orbit, shape) == checker.orbit_dimension(orbit.cells, case)  # type: ignore[arg-type]


def test_a_block_for_each_kind_of_weights() -> None:
    """For (2, 2, 1) in d = d' = 4: few directions of 48, whatever the size."""
    shape = LayerSizes(4, 4, 4)
    few = len(list(WeightSpaces.of(Orbit(2, 2, 1), shape).unit_matrices()))
    larger = len(list(WeightSpaces.of(Orbit(9, 9, 4), LayerSizes(20, 20, 20)).unit_matrices()))
    assert few <= 48
    assert larger < 400 < 3 * 20**2


def test_the_row_with_two_places() -> None:
    """For m = 0 the first row of V is e_{r+1} + e_1, and both have one character."""
    spaces = WeightSpaces.of(Orbit(2, 1, 0), LayerSizes(4, 2, 4))
    assert spaces.variables[0] == spaces.variables[2]
    assert len(set(spaces.variables)) == 3
    assert [weight for (k, q), weight in spaces.entries_of_v() if k == 0 and q in (0, 2)] == [
        (),
        (),
    ]
